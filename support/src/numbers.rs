//! Functions on whole numbers, indices and bytes.

use std::fmt::Write as _;

/// Returns the greatest common divisor. `gcd(0, x)` is `x`.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the greatest divisor of all lengths that also divides every alignment by which it is not
/// divisible. It is at least 1. Some optimal layout has only offsets that are multiples of it, if the lengths
/// are sizes and fixed offsets.
pub fn common_grain(
    lengths: impl Iterator<Item = u64>,
    alignments: &(impl Iterator<Item = u64> + Clone),
) -> u64 {
    let mut grain = lengths.fold(0, gcd).max(1);
    loop {
        // An alignment that divides the grain may cease to do so when the grain shrinks.
        let next = alignments.clone().filter(|a| !grain.is_multiple_of(*a)).fold(grain, gcd);
        if next == grain {
            return grain;
        }
        grain = next;
    }
}

/// Returns the least common multiple of two positive numbers; `None` on overflow.
pub fn lcm(a: u64, b: u64) -> Option<u64> {
    (a / gcd(a, b)).checked_mul(b)
}

/// Returns the representative of the set that contains `at`, in a union-find forest given by parents. The
/// search halves the path that it follows.
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

/// Formats bytes as hexadecimal text, two digits per byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gcd_of_zero_is_the_other() {
        assert_eq!(gcd(0, 12), 12);
        assert_eq!(gcd(18, 12), 6);
        assert_eq!((lcm(18, 12), lcm(1, 7), lcm(u64::MAX, 2)), (Some(36), Some(7), None));
    }
}
