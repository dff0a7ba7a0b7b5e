//! Parses numbers and the ends of lifespans, in the ways in which other programs write them.

use super::error::CsvErrorKind;

/// Parses a non-negative integer: decimal digits, optionally followed by a fraction of zeros as in `25.0`, or
/// hexadecimal digits after `0x`. Signs, blanks and other fractions are rejected.
pub(super) fn parse_number(text: &str, expected: &'static str) -> Result<u64, CsvErrorKind> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (whole(text), 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(CsvErrorKind::BadValue { value: text.to_owned(), expected });
    }
    u64::from_str_radix(digits, radix).map_err(|_| CsvErrorKind::TooLarge(text.to_owned()))
}

/// Returns the part of a number before its fraction if the fraction is zero, and otherwise the whole text.
fn whole(text: &str) -> &str {
    let zero = |fraction: &str| fraction.bytes().all(|digit| digit == b'0');
    text.split_once('.').filter(|(_, fraction)| zero(fraction)).map_or(text, |(whole, _)| whole)
}

/// Returns true if the end of a lifespan states that the buffer is live to the last step.
pub fn is_open(end: &str) -> bool {
    let word = end.to_ascii_lowercase();
    whole(&word) == "-1" || ["", "none", "null", "nan", "inf", "+inf", "infinity"].contains(&word.as_str())
}
