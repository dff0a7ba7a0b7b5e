//! Time in whole picoseconds, so that makespans are exact and reproducible on any machine.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Picoseconds per second.
const SECOND: u64 = 1_000_000_000_000;

/// A point in time or a duration, in picoseconds. The 64-bit range covers 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(u64);

impl Time {
    /// The start of a run, or a duration of zero.
    pub const ZERO: Self = Self(0);
    /// The largest representable time.
    pub const MAX: Self = Self(u64::MAX);
    /// The limit on the sum of all durations of a problem: half of the range, so that no sum overflows.
    pub const LONGEST: Self = Self(u64::MAX / 2);

    /// Creates a time from picoseconds.
    pub const fn new(picoseconds: u64) -> Self {
        Self(picoseconds)
    }

    /// Returns the time in picoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Converts seconds to the nearest picosecond. Returns `None` if the value is negative, is not a number,
    /// or reaches [`Time::LONGEST`].
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let picoseconds = (seconds * SECOND as f64).round();
        let fits = picoseconds >= 0.0 && picoseconds < Self::LONGEST.0 as f64;
        (fits && seconds >= 0.0).then_some(Self(picoseconds as u64))
    }

    /// Returns the time to process `amount` units at `rate` units per second, rounded up. Returns `None` on
    /// overflow or if the rate is zero.
    pub fn at_rate(amount: u64, rate: u64) -> Option<Self> {
        let picoseconds =
            (u128::from(amount) * u128::from(SECOND)).checked_add(u128::from(rate.checked_sub(1)?))?;
        u64::try_from(picoseconds / u128::from(rate)).ok().map(Self)
    }

    pub(crate) fn at_rate_down(amount: u64, rate: u64) -> Option<Self> {
        let picoseconds = (u128::from(amount) * u128::from(SECOND)).checked_div(u128::from(rate))?;
        u64::try_from(picoseconds).ok().map(Self)
    }

    /// Returns the time in seconds, for display.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }

    /// Returns the sum; `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Returns the product; `None` on overflow.
    pub fn checked_mul(self, factor: u64) -> Option<Self> {
        self.0.checked_mul(factor).map(Self)
    }

    /// Returns the difference, or zero if it would be negative.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Adds two durations of the same problem. The validation of the problem ensures that their sum does not
/// exceed [`Time::LONGEST`].
impl std::ops::Add for Time {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.checked_add(other.0).expect("problems validate that their times add up"))
    }
}

impl std::iter::Sum for Time {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, |sum, time| sum + time)
    }
}

/// Prints the time in the largest unit in which it is at least one, as in `12.345 ms`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("s", SECOND), ("ms", SECOND / 1000), ("µs", SECOND / 1_000_000), ("ns", 1000)];
        let text = match units.iter().find(|(_, size)| self.0 >= *size) {
            Some((unit, size)) => format!("{:.3} {unit}", self.0 as f64 / *size as f64),
            None => format!("{} ps", self.0),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_picoseconds() {
        assert_eq!(Time::from_seconds(1e-6), Some(Time(1_000_000)));
        assert_eq!(Time::from_seconds(0.0), Some(Time::ZERO));
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Time::from_seconds(bad), None, "{bad}");
        }
        assert_eq!(Time::at_rate(3, 2_000_000_000_000), Some(Time(2)));
        assert_eq!(Time::at_rate(1 << 60, u64::MAX), Some(Time(62_500_000_001)));
        assert_eq!(Time::at_rate(u64::MAX, 1), None);
        assert_eq!(Time::at_rate(1, 0), None);
        assert_eq!(Time::at_rate(0, 7), Some(Time::ZERO));
        assert_eq!(Time::at_rate_down(3, 2_000_000_000_000), Some(Time(1)));
        assert_eq!(Time::at_rate_down(1, 0), None);
    }

    #[test]
    fn times_are_printed_with_a_unit() {
        let text = |ps| Time(ps).to_string();
        assert_eq!([text(0), text(999), text(1500)], ["0 ps", "999 ps", "1.500 ns"]);
        assert_eq!(text(12_345_678_901), "12.346 ms");
        assert_eq!(text(2 * SECOND), "2.000 s");
    }
}
