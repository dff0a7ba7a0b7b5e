//! Reads a proof line by line, and parses its words.

use crate::error::Reason;
use crate::work::Work;
use std::io::{BufRead, Read};
use std::str::SplitAsciiWhitespace;

/// Maximum length of a line in bytes.
const LONGEST_LINE: usize = 1 << 24;

/// The lines of a proof that contain statements.
pub(crate) struct Lines<'a, R> {
    proof: R,
    pub work: &'a Work<'a>,
    /// The number of the current line, counted from 1.
    pub line: u64,
    text: String,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub fn new(proof: R, work: &'a Work<'a>) -> Self {
        Self { proof, work, line: 0, text: String::new() }
    }

    /// Reads the next line that contains a statement. Returns false at the end of the text.
    pub fn next(&mut self) -> Result<bool, Reason> {
        loop {
            self.text.clear();
            self.line += 1;
            let limited = (&mut self.proof).take(LONGEST_LINE as u64 + 1);
            let length = { limited }.read_line(&mut self.text);
            let length = length.map_err(|error| Reason::Unreadable(error.to_string()))?;
            if length > LONGEST_LINE {
                return Err(Reason::LongLine(LONGEST_LINE));
            }
            if length == 0 {
                return Ok(false);
            }
            self.work.permit(length);
            self.work.spend(length)?;
            if !self.text.trim().is_empty() && !self.text.starts_with("c ") {
                return Ok(true);
            }
        }
    }

    pub fn words(&self) -> Words<'_> {
        Words(self.text.split_ascii_whitespace())
    }
}

/// The words of a line.
pub(crate) struct Words<'a>(SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    pub fn word(&mut self, expected: &'static str) -> Result<&'a str, Reason> {
        self.0.next().ok_or(Reason::MissingWord(expected))
    }

    pub fn number(&mut self, expected: &'static str) -> Result<u64, Reason> {
        let word = self.word(expected)?;
        number(word, expected)
    }

    pub fn buffer(&mut self) -> Result<u32, Reason> {
        buffer(self.word("a buffer")?)
    }

    /// Returns all remaining words as buffers.
    pub fn buffers(self) -> Result<Vec<u32>, Reason> {
        self.0.map(buffer).collect()
    }

    /// Returns all remaining words.
    pub fn rest(self) -> SplitAsciiWhitespace<'a> {
        self.0
    }

    pub fn end(mut self) -> Result<(), Reason> {
        let found = self.0.next();
        found.map_or(Ok(()), |word| {
            Err(Reason::Word { expected: "the end of the line", found: word.to_owned() })
        })
    }
}

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
