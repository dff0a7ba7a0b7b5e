//! The self-reported time of an external planner, from the end of reading the instance to the answer.
//!
//! An argument `NAME=REGEX` describes the printed time of the planner NAME. The single group of REGEX
//! matches the seconds. `^` and `$` match at the start and the end of each line. The last match in standard
//! error counts. If there is none, the last match in standard output counts.

use super::tail::tail;
use regex::{Regex, RegexBuilder};
use std::io;
use std::path::Path;

/// Maximum number of bytes that are searched at the end of each stream.
const TAIL: u64 = 64 << 10;
/// Maximum number of characters of a match that a message quotes.
const SHOWN: usize = 40;

/// The pattern of the printed seconds.
#[derive(Clone, Debug)]
pub struct ElapsedPattern(Regex);

/// The time that an external planner reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// The time in seconds, as printed.
    pub seconds: f64,
    /// The value of one unit in the last printed digit, in seconds, such as 0.001 for `0.004`.
    pub resolution: f64,
}

/// The reason why there is no self-reported time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElapsedError {
    /// The argument or its pattern is invalid.
    #[error("external elapsed '{text}': {why}")]
    Pattern {
        /// The argument as given.
        text: String,
        /// The error in the argument.
        why: String,
    },
    /// No output matches the pattern.
    #[error("no self-reported time: no output matches '{pattern}'")]
    NoMatch {
        /// The pattern that did not match.
        pattern: String,
    },
    /// The group does not match a number of seconds.
    #[error("no self-reported time: '{found}' is not a number of seconds")]
    NotSeconds {
        /// The text that the group matched, cut to 40 characters.
        found: String,
    },
}

impl ElapsedPattern {
    /// Parses the pattern. `text` is the whole argument, which messages quote.
    ///
    /// # Errors
    /// [`ElapsedError::Pattern`] if the pattern is invalid or does not have exactly one group.
    pub fn parse(pattern: &str, text: &str) -> Result<Self, ElapsedError> {
        let wrong = |why: String| ElapsedError::Pattern { text: text.to_owned(), why };
        // The error from the library shows the pattern on several lines. Only its last line states the
        // problem.
        let regex = RegexBuilder::new(pattern).multi_line(true).build().map_err(|error| {
            let error = error.to_string();
            wrong(error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned())
        })?;
        match regex.captures_len() - 1 {
            1 => Ok(Self(regex)),
            groups => Err(wrong(format!("the pattern has {groups} groups instead of one for the seconds"))),
        }
    }

    /// Finds the seconds in the output of a planner. O(characters).
    ///
    /// # Errors
    /// [`ElapsedError::NoMatch`] or [`ElapsedError::NotSeconds`].
    pub fn find(&self, text: &str) -> Result<Elapsed, ElapsedError> {
        let last = self.0.captures_iter(text).last();
        let no_match = || ElapsedError::NoMatch { pattern: self.0.as_str().to_owned() };
        let found = last.and_then(|captures| captures.get(1)).ok_or_else(no_match)?.as_str();
        read(found).ok_or_else(|| ElapsedError::NotSeconds { found: found.chars().take(SHOWN).collect() })
    }

    /// Finds the seconds in the files with the standard output and the standard error of a process.
    pub(super) fn find_in(&self, output: &Path, errors: &Path) -> io::Result<Result<Elapsed, ElapsedError>> {
        Ok(self.find(&format!("{}\n{}", tail(output, TAIL)?, tail(errors, TAIL)?)))
    }
}

/// Parses a number of seconds: digits with at most one decimal point and an optional exponent.
fn read(text: &str) -> Option<Elapsed> {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    if !digits.chars().all(plain) || digits.is_empty() {
        return None;
    }
    let decimals = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite())?;
    let power = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(decimals).ok()?)?;
    Some(Elapsed { seconds, resolution: 10f64.powi(power) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Result<ElapsedPattern, String> {
        ElapsedPattern::parse(text, text).map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_match_counts() {
        let pattern = pattern(r"Elapsed time ([0-9.]+)s").unwrap();
        let text = "I0000 main.cc:163] Elapsed time 0.002s\nElapsed time 4.364s\nother 9.000s";
        let found = pattern.find(text).unwrap();
        assert_eq!(found.seconds.to_bits(), 4.364f64.to_bits());
        assert!((found.resolution - 0.001).abs() < 1e-15);
    }

    #[test]
    fn resolution_is_that_of_the_digits() {
        for (text, seconds, resolution) in
            [("0.000", 0.0, 1e-3), ("12", 12.0, 1.0), ("1.50e-3", 1.5e-3, 1e-5), (".5", 0.5, 0.1)]
        {
            let found = read(text).unwrap();
            assert!((found.seconds - seconds).abs() < 1e-12, "{text}");
            assert!((found.resolution / resolution - 1.0).abs() < 1e-9, "{text}");
        }
        for bad in ["", ".", "-1", "1.2.3", "inf", "nan", "1e", "1e999", "1e99999999999", "4 s"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_missing_or_invalid_time_is_reported() {
        let pattern = pattern("took (.*) s$").unwrap();
        let none = pattern.find("nothing").unwrap_err();
        assert_eq!(none.to_string(), "no self-reported time: no output matches 'took (.*) s$'");
        let odd = pattern.find("took ages s").unwrap_err();
        assert_eq!(odd, ElapsedError::NotSeconds { found: "ages".to_owned() });
    }

    #[test]
    fn lines_have_ends_and_standard_error_comes_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("out"), "0.1s\nrest\n").unwrap();
        std::fs::write(path("err"), "").unwrap();
        let pattern = pattern(r"^([0-9.]+)s$").unwrap();
        let found = || pattern.find_in(&path("out"), &path("err")).unwrap().unwrap().seconds.to_bits();
        assert_eq!(found(), 0.1f64.to_bits());
        std::fs::write(path("err"), "0.2s\n").unwrap();
        assert_eq!(found(), 0.2f64.to_bits());
    }

    #[test]
    fn patterns_have_one_group() {
        assert!(pattern("plain").unwrap_err().contains("has 0 groups instead of one"));
        assert!(pattern("(a)(b)").unwrap_err().contains("has 2 groups instead of one"));
        let error = pattern("(a").unwrap_err();
        assert!(error.contains("unclosed group") && error.lines().count() == 1, "{error}");
    }

    #[test]
    fn only_the_tails_are_searched() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let filler = "x".repeat(TAIL as usize);
        std::fs::write(path("out"), format!("t=1s {filler}")).unwrap();
        std::fs::write(path("err"), "").unwrap();
        let pattern = pattern("t=([0-9]+)s").unwrap();
        assert!(pattern.find_in(&path("out"), &path("err")).unwrap().is_err());
        std::fs::write(path("err"), "t=2s t=3s").unwrap();
        let found = pattern.find_in(&path("out"), &path("err")).unwrap().unwrap();
        assert_eq!(found.seconds.to_bits(), 3f64.to_bits());
    }
}
