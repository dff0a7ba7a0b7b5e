//! Ranks numbers. In every unit, a better number has a lower rank.

use plimsoll_model::{Relations, Value};

/// Returns the rank of a number in the given unit, which must be the unit of a [`Value`]. The better of two
/// numbers has the lower rank, and a bound with a higher rank than a valid value is wrong. The rank of a
/// rank is the original number.
pub fn rank(unit: &str, number: u64) -> u64 {
    if unit == Relations::UNIT { u64::MAX - number } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::Bytes;
    use plimsoll_model::timelines::Time;

    fn ranked_as_compared<V: Value>() {
        let numbers = [0, 1, 4, 6];
        for (a, b) in numbers.into_iter().flat_map(|a| numbers.map(|b| (a, b))) {
            let compared = V::of_number(a).cmp(&V::of_number(b));
            assert_eq!(rank(V::UNIT, a).cmp(&rank(V::UNIT, b)), compared, "{a} and {b} {}", V::UNIT);
            assert_eq!(rank(V::UNIT, rank(V::UNIT, a)), a);
        }
    }

    #[test]
    fn numbers_are_ranked_as_values_compare() {
        ranked_as_compared::<Bytes>();
        ranked_as_compared::<Time>();
        ranked_as_compared::<Relations>();
    }
}
