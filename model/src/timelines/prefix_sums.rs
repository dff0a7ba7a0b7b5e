//! Prefix sums over ranks, with a search for the longest acceptable prefix.

/// A Fenwick tree with `K` sums per rank. Adding an item and searching for a prefix take O(K log n) time for
/// n ranks (Fenwick 1994).
pub(super) struct PrefixSums<const K: usize>(Vec<[u128; K]>);

impl<const K: usize> PrefixSums<K> {
    pub fn new(ranks: usize) -> Self {
        Self(vec![[0; K]; ranks + 1])
    }

    /// Adds an item at a rank, counted from 0.
    pub fn add(&mut self, rank: usize, item: [u64; K]) {
        let mut at = rank + 1;
        while at < self.0.len() {
            for (sum, part) in self.0[at].iter_mut().zip(item) {
                *sum += u128::from(part);
            }
            at += at & at.wrapping_neg();
        }
    }

    /// Returns the length and the sums of the longest prefix for which `accept` returns true. `accept`
    /// receives the length and the sums of a prefix. If it rejects a prefix, it must reject all longer ones
    /// too.
    pub fn prefix(&self, accept: impl Fn(usize, [u128; K]) -> bool) -> (usize, [u128; K]) {
        let (mut at, mut sums) = (0, [0; K]);
        let mut step = self.0.len().next_power_of_two();
        while step > 0 {
            if let Some(part) = self.0.get(at + step) {
                let next = std::array::from_fn(|k| sums[k] + part[k]);
                if accept(at + step, next) {
                    (at, sums) = (at + step, next);
                }
            }
            step /= 2;
        }
        (at, sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_accepted_prefix_is_found() {
        let mut sums = PrefixSums::<2>::new(5);
        for (rank, bytes) in [(3, 4), (0, 1), (4, 8), (1, 2)] {
            sums.add(rank, [bytes, 1]);
        }
        assert_eq!(sums.prefix(|_, _| true), (5, [15, 4]));
        assert_eq!(sums.prefix(|_, [bytes, _]| bytes <= 6), (3, [3, 2]));
        assert_eq!(sums.prefix(|length, _| length <= 4), (4, [7, 3]));
        assert_eq!(sums.prefix(|_, [_, count]| count < 1), (0, [0, 0]));
        assert_eq!(PrefixSums::<1>::new(0).prefix(|_, _| true), (0, [0]));
    }
}
