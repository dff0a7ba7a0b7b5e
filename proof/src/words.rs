//! Parses words of a proof.

use crate::error::Reason;

/// Parses a number that consists of digits only. `expected` names it in the error.
pub(crate) fn number<N: std::str::FromStr>(word: &str, expected: &'static str) -> Result<N, Reason> {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    let number = word.parse().ok().filter(|_| digits);
    number.ok_or_else(|| Reason::Word { expected, found: word.to_owned() })
}

/// Parses the number of a buffer.
pub(crate) fn buffer(word: &str) -> Result<u32, Reason> {
    number(word, "the number of a buffer")
}
