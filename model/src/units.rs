//! Typed ids and units, so that the meaning of a number is part of its type.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

macro_rules! unit {
    ($(#[$meta:meta])* $name:ident($repr:ty)) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name($repr);

        impl $name {
            /// Creates the value from a plain number.
            #[inline]
            pub const fn new(raw: $repr) -> Self {
                Self(raw)
            }

            /// Returns the plain number.
            #[inline]
            pub const fn get(self) -> $repr {
                self.0
            }
        }

        impl From<$repr> for $name {
            #[inline]
            fn from(raw: $repr) -> Self {
                Self(raw)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

macro_rules! index {
    ($(#[$meta:meta])* $name:ident) => {
        unit!($(#[$meta])* $name(u32));

        impl $name {
            /// Creates the id of the item at `position`.
            ///
            /// # Panics
            /// If `position` does not fit into 32 bits. Instances never become that large.
            #[inline]
            pub fn at(position: usize) -> Self {
                Self(u32::try_from(position).expect("ids fit 32 bits"))
            }

            /// Returns the position of the item in its list.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

unit!(
    /// A number of bytes: a size, an offset, a peak or a bound.
    Bytes(u64)
);
unit!(
    /// A point in time, such as a position in an order. Intervals of steps are half-open.
    Step(u64)
);
index!(
    /// The index of a buffer in an instance.
    BufferId
);
index!(
    /// The index of a shared object in a plan.
    PoolId
);

index!(
    /// The index of a tensor in a graph.
    TensorId
);
index!(
    /// The index of an operator in a graph or in an order problem.
    OperatorId
);
index!(
    /// The index of a region in a graph. The first region is the body.
    RegionId
);
index!(
    /// The index of a processing unit in a list of units.
    UnitId
);
index!(
    /// The index of a tier in a machine.
    TierId
);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Self = Self(0);

    /// Returns the smallest multiple of `alignment` that is at least `self`; `None` on overflow.
    ///
    /// # Panics
    /// If `alignment` is zero.
    #[inline]
    pub fn align_up(self, alignment: Self) -> Option<Self> {
        self.0.checked_next_multiple_of(alignment.0).map(Self)
    }

    /// Returns the sum; `None` on overflow.
    #[inline]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }
}

/// The reason why a string is not a size in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseBytesError {
    /// The string is not a number with an optional unit.
    #[error("expected a size such as 1048576, 64k, 1.5MiB or 2GB")]
    Malformed,
    /// The unit differs from a known one only in the case of its letters.
    #[error(
        "unknown unit '{unit}': write {number}{binary} for a power of 1024, or {number}{decimal} for a power \
         of 1000"
    )]
    Unit {
        /// The number before the unit.
        number: String,
        /// The unit as written.
        unit: String,
        /// The unit that was probably intended, as a power of 1024.
        binary: &'static str,
        /// The same unit as a power of 1000.
        decimal: &'static str,
    },
    /// The size is not a whole number of bytes.
    #[error("expected a whole number of bytes")]
    Fraction,
    /// The size is above 2^64 - 1 bytes.
    #[error("expected less than 2^64 bytes")]
    TooLarge,
}

/// Parses a whole number of bytes, or a decimal number with a unit, optionally separated by spaces. `KiB`,
/// `MiB` and `GiB`, and the letters `k`, `m` and `g` in either case, stand for powers of 1024. `kB` or `KB`,
/// `MB` and `GB` stand for powers of 1000, and `B` stands for one byte.
impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, ParseBytesError> {
        use ParseBytesError::{Fraction, Malformed, TooLarge};
        let end = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = (text[..end].trim_end_matches(' '), &text[end..]);
        let scale: u64 = match unit {
            "" | "B" => 1,
            "k" | "K" | "KiB" => 1 << 10,
            "m" | "M" | "MiB" => 1 << 20,
            "g" | "G" | "GiB" => 1 << 30,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            _ => return Err(unknown_unit(number, unit)),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        // 18 fractional digits fit into the arithmetic below. Longer fractions are rejected.
        if !is_digits(whole) || !is_digits(fraction) || fraction.len() > 18 {
            return Err(Malformed);
        }
        let whole: u64 = whole.parse().map_err(|_| TooLarge)?;
        let parts = 10u128.pow(fraction.len() as u32);
        let more = fraction.parse::<u128>().map_err(|_| Malformed)? * u128::from(scale);
        if more % parts != 0 {
            return Err(Fraction);
        }
        let total = u128::from(whole) * u128::from(scale) + more / parts;
        u64::try_from(total).map(Self::new).map_err(|_| TooLarge)
    }
}

/// Returns the error for an unknown unit, with the known units that were probably intended.
fn unknown_unit(number: &str, unit: &str) -> ParseBytesError {
    let (binary, decimal) = match unit.to_lowercase().as_str() {
        "kb" | "kib" => ("KiB", "kB"),
        "mb" | "mib" => ("MiB", "MB"),
        "gb" | "gib" => ("GiB", "GB"),
        _ => return ParseBytesError::Malformed,
    };
    ParseBytesError::Unit { number: number.to_owned(), unit: unit.to_owned(), binary, decimal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn align_up_rounds_to_the_next_multiple() {
        assert_eq!(Bytes(0).align_up(Bytes(8)), Some(Bytes(0)));
        assert_eq!(Bytes(1).align_up(Bytes(8)), Some(Bytes(8)));
        assert_eq!(Bytes(16).align_up(Bytes(8)), Some(Bytes(16)));
        assert_eq!(Bytes(u64::MAX).align_up(Bytes(8)), None);
    }

    #[test]
    fn sizes_may_have_units() {
        for (text, size) in [
            ("0", 0),
            ("1048576", 1 << 20),
            ("64k", 64 << 10),
            ("64KiB", 64 << 10),
            ("1.5MiB", 3 << 19),
            ("1 GiB", 1 << 30),
            ("2GB", 2_000_000_000),
            ("0.5kB", 500),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(text.parse(), Ok(Bytes::new(size)), "{text}");
        }
        for bad in
            ["", "k", "-1", "1.", ".5", "1e3", "1,5k", "1.3", "0.0001k", "20000000000G", "5 s", "1_000", "+1"]
        {
            assert!(bad.parse::<Bytes>().is_err(), "{bad}");
        }
        let error = "64kb".parse::<Bytes>().unwrap_err().to_string();
        let units = "write 64KiB for a power of 1024, or 64kB for a power of 1000";
        assert_eq!(error, format!("unknown unit 'kb': {units}"));
    }
}
