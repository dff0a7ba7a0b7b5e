//! Typed ids and units, so that the meaning of a number is part of its type.

use serde::{Deserialize, Serialize};
use std::fmt;

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

/// Returns the greatest common divisor. `gcd(0, x)` is `x`.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the representative of the set of `at` in a union-find forest of parents, with path halving.
///
/// # Panics
/// If a parent is out of range.
pub fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
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
    fn gcd_of_zero_is_the_other() {
        assert_eq!(gcd(0, 12), 12);
        assert_eq!(gcd(18, 12), 6);
    }
}
