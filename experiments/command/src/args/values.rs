//! Parsers for the values of options.

use crate::failure::Failure;
use plimsoll::model::{Bytes, ParseBytesError, Setup};
use plimsoll::posed::PROBLEMS;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Splits a quantity into its number and its unit, which may be separated by spaces.
fn split_unit(text: &str) -> (&str, &str) {
    let end =
        text.find(|letter: char| letter.is_ascii_alphabetic() || letter == '\u{b5}').unwrap_or(text.len());
    // The exponent of `1e300` is part of the number.
    let end = if text[end..].starts_with(['e', 'E']) { text.len() } else { end };
    (text[..end].trim_end(), &text[end..])
}

/// Parses a non-negative time: a number of seconds, or a number with a unit from `ns` to `h`.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as 5, 5s, 200ms or 2min".to_owned();
    let (number, unit) = split_unit(text);
    let scale = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" | "\u{b5}s" => 1e-6,
        "ns" => 1e-9,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(expected()),
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    if number.is_nan() || number < 0.0 {
        return Err("expected a time of at least 0 seconds".to_owned());
    }
    Duration::try_from_secs_f64(number * scale).map_err(|_| "expected a shorter time".to_owned())
}

/// The time limit that `none` stands for.
pub const NO_LIMIT: Duration = Duration::MAX;

/// Parses a number of seconds, or `none` for [`NO_LIMIT`].
pub fn seconds_or_none(text: &str) -> Result<Duration, String> {
    if text == "none" { Ok(NO_LIMIT) } else { seconds(text).map_err(|reason| format!("{reason}, or none")) }
}

/// Parses a size such as `1048576`, `64k` or `1.5MiB`.
pub fn bytes(text: &str) -> Result<u64, String> {
    text.parse().map(Bytes::get).map_err(|error: ParseBytesError| error.to_string())
}

/// Returns a parser for a size within a range.
pub fn bytes_within(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync {
    move |text| match bytes(text)? {
        size if range.contains(&size) => Ok(size),
        _ if *range.end() == u64::MAX => {
            Err(format!("expected a number of bytes of at least {}", range.start()))
        }
        _ => Err(format!("expected a number of bytes from {} to {}", range.start(), range.end())),
    }
}

/// Parses a number of threads from 1 to 1024.
pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=Setup::MOST_THREADS) => Ok(number),
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

/// Returns the current name of a problem. `text` is its current or a former name.
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
        for bad in ["-1", "nan", "NaN", "inf", "1e300", "", "ten", "5 days", "5m", "ms", "5sms"] {
            assert!(seconds(bad).is_err(), "{bad}");
            assert!(seconds_or_none(bad).is_err(), "{bad}");
        }
        assert_eq!(seconds_or_none("none"), Ok(NO_LIMIT));
        assert_eq!(seconds_or_none("2.5"), Ok(Duration::from_millis(2500)));
    }

    #[test]
    fn times_and_sizes_have_units() {
        for (text, millis) in [
            ("5s", 5_000),
            ("200ms", 200),
            ("1.5 s", 1_500),
            ("2min", 120_000),
            ("1h", 3_600_000),
            ("1e1", 10_000),
        ] {
            assert_eq!(seconds(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(seconds("20us"), Ok(Duration::from_micros(20)));
        assert_eq!((bytes("64k"), bytes("5")), (Ok(64 << 10), Ok(5)));
        assert_eq!(bytes_within(1..=u64::MAX)("0").unwrap_err(), "expected a number of bytes of at least 1");
        assert_eq!(bytes_within(64..=128)("1k").unwrap_err(), "expected a number of bytes from 64 to 128");
    }
}
