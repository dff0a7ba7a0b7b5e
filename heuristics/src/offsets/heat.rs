//! The maximum of the live bytes during the lifespan of a buffer.

use plimsoll_model::{Bytes, Instance, Lifespan, LoadProfile, Step};

/// A structure that finds the most loaded step of a lifespan.
///
/// It is a segment tree over the load profile. If the lifespans have n intervals in total, the tree is built
/// in O(n log n) time with linear memory. A query takes O(log n) time per interval of the lifespan.
#[derive(Clone, Debug)]
pub struct Heat {
    profile: LoadProfile,
    /// Node `i` contains the index of the piece with more live bytes, among those in nodes `2i` and `2i + 1`.
    /// The index of the first leaf is the number of pieces.
    tree: Vec<u32>,
}

/// The most loaded step of a lifespan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Live bytes at the step.
    pub load: Bytes,
    /// The most loaded step, or the earliest one if several are equally loaded.
    pub step: Step,
}

impl Heat {
    /// Builds the tree for an instance.
    ///
    /// # Panics
    /// If the load profile has more than 2^32 pieces.
    pub fn of(instance: &Instance) -> Self {
        let profile = LoadProfile::of(instance);
        let leaves = profile.pieces().len();
        let mut heat = Self { profile, tree: vec![0; 2 * leaves] };
        for leaf in 0..leaves {
            heat.tree[leaves + leaf] = u32::try_from(leaf).expect("the number of pieces fits into 32 bits");
        }
        for node in (1..leaves).rev() {
            heat.tree[node] = heat.hotter(heat.tree[2 * node], heat.tree[2 * node + 1]);
        }
        heat
    }

    /// Returns the piece with more live bytes. Ties are broken in favour of the earlier piece.
    fn hotter(&self, a: u32, b: u32) -> u32 {
        let key = |piece: u32| (self.profile.pieces()[piece as usize].1, std::cmp::Reverse(piece));
        if key(a) >= key(b) { a } else { b }
    }

    /// Returns the most loaded piece in the non-empty range `from..to`.
    fn busiest(&self, from: usize, to: usize) -> u32 {
        let leaves = self.profile.pieces().len();
        let (mut left, mut right) = (from + leaves, to + leaves);
        let mut best = u32::try_from(from).expect("the number of pieces fits into 32 bits");
        while left < right {
            if left % 2 == 1 {
                best = self.hotter(best, self.tree[left]);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                best = self.hotter(best, self.tree[right]);
            }
            (left, right) = (left / 2, right / 2);
        }
        best
    }

    /// Returns the most loaded step of a lifespan of the instance.
    ///
    /// # Panics
    /// If the lifespan belongs to another instance and extends beyond the profile.
    pub fn during(&self, lifespan: &Lifespan) -> Peak {
        let pieces = self.profile.pieces();
        let piece_at = |step: Step| pieces.partition_point(|(interval, _)| interval.upper <= step);
        let mut best: Option<Peak> = None;
        for part in lifespan.intervals() {
            // The borders of lifespans are borders of pieces, unless the live bytes do not change there and
            // the pieces were merged.
            let to = pieces.partition_point(|(interval, _)| interval.lower < part.upper);
            let (interval, load) = pieces[self.busiest(piece_at(part.lower), to) as usize];
            if best.is_none_or(|best| load > best.load) {
                best = Some(Peak { load, step: interval.lower.max(part.lower) });
            }
        }
        best.expect("a lifespan has an interval")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};

    #[test]
    fn heat_agrees_with_a_scan_of_the_profile() {
        for seed in 0..200 {
            let instance = small_instance(SmallParams::with_features(9, seed % 16), seed);
            let (heat, profile) = (Heat::of(&instance), LoadProfile::of(&instance));
            for buffer in instance.buffers() {
                let mut expected = Peak { load: Bytes::ZERO, step: Step::default() };
                let steps = (0..8).map(Step::new).filter(|&step| buffer.lifespan().contains(step));
                for step in steps {
                    if profile.at(step) > expected.load {
                        expected = Peak { load: profile.at(step), step };
                    }
                }
                assert_eq!(heat.during(buffer.lifespan()), expected, "seed {seed}");
            }
        }
    }
}
