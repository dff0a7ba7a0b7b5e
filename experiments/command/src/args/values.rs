//! Parsers for the values of options.

use crate::failure::Failure;
use plimsoll::posed::PROBLEMS;
use std::time::Duration;

/// Parses a non-negative number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if number.is_nan() || number < 0.0 {
        return Err("expected a number of seconds of at least 0".to_owned());
    }
    Duration::try_from_secs_f64(number).map_err(|_| "expected a smaller number of seconds".to_owned())
}

/// The time limit that `none` stands for.
pub const NO_LIMIT: Duration = Duration::MAX;

/// Parses a number of seconds, or `none` for [`NO_LIMIT`].
pub fn seconds_or_none(text: &str) -> Result<Duration, String> {
    if text == "none" { Ok(NO_LIMIT) } else { seconds(text).map_err(|reason| format!("{reason}, or none")) }
}

/// Parses a whole number of bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a number of bytes, digits only".to_owned())
}

/// Parses a number of threads from 1 to 1024.
pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1024) => Ok(number),
        _ => Err("expected a number of threads from 1 to 1024".to_owned()),
    }
}

/// Parses `NAME=VALUE` with a whole number.
pub fn dimension(text: &str) -> Result<(String, u64), String> {
    let expected = || "expected NAME=VALUE with a whole number, as in batch=1".to_owned();
    let (name, value) = text.rsplit_once('=').ok_or_else(expected)?;
    if name.is_empty() {
        return Err(expected());
    }
    Ok((name.to_owned(), value.parse().map_err(|_| expected())?))
}

/// Returns a copy of the pairs, or an error if a name occurs twice.
pub fn once<T: Clone>(option: &str, pairs: &[(String, T)]) -> Result<Vec<(String, T)>, Failure> {
    let twice =
        pairs.iter().enumerate().find(|(at, pair)| pairs[..*at].iter().any(|other| other.0 == pair.0));
    match twice {
        Some((_, (name, _))) => Err(Failure::input(format!("{option} '{name}' is given twice"))),
        None => Ok(pairs.to_vec()),
    }
}

/// Returns the problem with this name, current or former.
pub fn problem(text: &str) -> Result<&'static str, String> {
    let known = || format!("unknown problem (known: {})", PROBLEMS.join(", "));
    plimsoll::posed::problem(text).ok_or_else(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_finite_and_not_negative() {
        assert_eq!(seconds("0.005"), Ok(Duration::from_millis(5)));
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        for bad in ["-1", "nan", "NaN", "inf", "1e300", "", "ten"] {
            assert!(seconds(bad).is_err(), "{bad}");
            assert!(seconds_or_none(bad).is_err(), "{bad}");
        }
        assert_eq!(seconds_or_none("none"), Ok(NO_LIMIT));
        assert_eq!(seconds_or_none("2.5"), Ok(Duration::from_millis(2500)));
    }
}
