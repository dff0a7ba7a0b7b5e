//! The quantities that problems optimise.

use crate::time::Time;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::fmt;

/// A quantity to optimise. Smaller values are better.
pub trait Value: Copy + Ord + fmt::Debug + fmt::Display + Serialize + Send + Sync + 'static {
    /// The unit of the number in files.
    const UNIT: &'static str;

    /// Returns the number stored in files, in [`Value::UNIT`].
    fn number(self) -> u64;

    /// Converts a number from a file to a value.
    fn of_number(number: u64) -> Self;

    /// Formats the value with its unit.
    fn with_unit(self) -> String {
        format!("{self} {}", Self::UNIT)
    }
}

/// Returns the distance between a value and its bound in percent of the bound. Both numbers must have the
/// same unit. Returns `None` if the bound is zero and the value is not.
pub fn gap_percent(value: u64, bound: u64) -> Option<f64> {
    match (value.abs_diff(bound), bound) {
        (0, _) => Some(0.0),
        (_, 0) => None,
        (distance, bound) => Some(distance as f64 * 100.0 / bound as f64),
    }
}

impl Value for Bytes {
    const UNIT: &'static str = "bytes";

    fn number(self) -> u64 {
        self.get()
    }

    fn of_number(number: u64) -> Self {
        Self::new(number)
    }
}

impl Value for Time {
    const UNIT: &'static str = "picoseconds";

    fn number(self) -> u64 {
        self.get()
    }

    fn of_number(number: u64) -> Self {
        Self::new(number)
    }

    /// Formats the time. This text already contains a unit.
    fn with_unit(self) -> String {
        self.to_string()
    }
}

/// A number of optimised relations. More relations are better, so a larger number compares as less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Relations(usize);

impl Relations {
    /// Creates the value from a plain number.
    pub const fn new(count: usize) -> Self {
        Self(count)
    }

    /// Returns the plain number.
    pub const fn get(self) -> usize {
        self.0
    }
}

impl Ord for Relations {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        Reverse(self.0).cmp(&Reverse(other.0))
    }
}

impl PartialOrd for Relations {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Relations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Value for Relations {
    const UNIT: &'static str = "relations";

    fn number(self) -> u64 {
        self.0 as u64
    }

    fn of_number(number: u64) -> Self {
        Self(number as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_values_compare_as_less() {
        assert!(Bytes::new(4) < Bytes::new(6) && Time::new(4) < Time::new(6));
        assert!(Relations::new(6) < Relations::new(4));
    }

    #[test]
    fn gaps_are_relative_to_the_bound() {
        assert_eq!(gap_percent(0, 0), Some(0.0));
        assert_eq!(gap_percent(5, 0), None);
        assert_eq!((gap_percent(110, 100), gap_percent(3, 4)), (Some(10.0), Some(25.0)));
    }

    #[test]
    fn values_name_their_unit() {
        assert_eq!(Bytes::new(4).with_unit(), "4 bytes");
        assert_eq!(Time::new(4).with_unit(), "4 ps");
        assert_eq!(Relations::new(4).with_unit(), "4 relations");
    }
}
