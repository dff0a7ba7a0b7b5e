//! Hulls of lifespans, in which steps are replaced by their ranks. Only the order of steps matters, and
//! ranks fit into 32 bits.

use plimsoll_model::Instance;

/// The hull of every buffer as a half-open interval of ranks. Only steps at which some hull begins or ends
/// have a rank.
///
/// The ranks for n buffers are computed in O(n log n) time with linear memory.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    /// The first rank in the hull of every buffer.
    pub lower: Vec<u32>,
    /// The first rank after the hull of every buffer.
    pub upper: Vec<u32>,
    /// Number of ranks from the first start (inclusive) to the last end (exclusive), at least 1.
    pub count: u32,
}

impl Ranks {
    pub fn of(instance: &Instance) -> Self {
        let n = instance.len();
        let mut events: Vec<(u64, u32)> = Vec::with_capacity(2 * n);
        for (id, buffer) in instance.ids().zip(instance.buffers()) {
            let hull = buffer.lifespan().hull();
            events.push((hull.lower.get(), id.get()));
            events.push((hull.upper.get(), id.get()));
        }
        events.sort_unstable();
        let (mut lower, mut upper) = (vec![u32::MAX; n], vec![0u32; n]);
        let mut count = 0u32;
        for chunk in events.chunk_by(|a, b| a.0 == b.0) {
            for &(_, id) in chunk {
                // A hull begins before it ends, so its start is visited first.
                let begin = &mut lower[id as usize];
                if *begin == u32::MAX {
                    *begin = count;
                } else {
                    upper[id as usize] = count;
                }
            }
            count += 1;
        }
        Self { lower, upper, count: count.saturating_sub(1).max(1) }
    }

    /// Returns the number of ranks in the hull of a buffer.
    pub fn duration(&self, at: usize) -> u32 {
        self.upper[at] - self.lower[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};

    #[test]
    fn ranks_keep_the_order_of_steps() {
        for seed in 0..100 {
            let instance = small_instance(SmallParams::with_features(12, seed % 16), seed);
            let ranks = Ranks::of(&instance);
            let hull = |at: usize| instance.buffers()[at].lifespan().hull();
            for a in 0..instance.len() {
                assert!(ranks.upper[a] <= ranks.count && ranks.duration(a) > 0);
                for b in 0..instance.len() {
                    assert_eq!(ranks.lower[a] < ranks.upper[b], hull(a).lower < hull(b).upper);
                    assert_eq!(ranks.lower[a] < ranks.lower[b], hull(a).lower < hull(b).lower);
                }
            }
        }
    }
}
