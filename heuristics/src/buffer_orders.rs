//! The orders in which heuristics place buffers.
//!
//! Each rule is a sort key. Ties are broken by the additional keys of the rule and then by id, so the
//! instance determines the order. The complexity is O(n log n) for n buffers without gaps in their lifespans,
//! except for [`Order::Conflicts`].

use crate::heat::Heat;
use plimsoll_model::{BufferId, Instance};
use std::cmp::Reverse;

/// A rule that orders buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Ascending first live step, which is the execution order.
    Start,
    /// Descending size.
    Size,
    /// Descending size, then descending duration.
    SizeDuration,
    /// Descending product of size and duration.
    Area,
    /// Descending duration (number of live steps).
    Duration,
    /// Ascending duration (number of live steps).
    ShortDuration,
    /// Descending number of conflicting buffers, then descending size.
    Conflicts,
    /// Descending maximum of the live bytes during the lifespan, then descending size. Buffers that are live
    /// at the most loaded step come first.
    Heat,
    /// Descending live bytes (*breadth*) of the most loaded step of the lifespan. Ties are broken in favour
    /// of the earlier step and then of the larger buffer. Equivalently, all steps are visited in descending
    /// order of breadth, and each step adds its live buffers that are not ordered yet.
    Breadth,
}

impl Order {
    /// Returns all buffers of the instance in this order.
    pub fn of(self, instance: &Instance) -> Vec<BufferId> {
        let size = |id: BufferId| Reverse(instance.buffer(id).size());
        let duration = |id: BufferId| instance.buffer(id).lifespan().duration();
        let mut order: Vec<BufferId> = instance.ids().collect();
        // The ids are ascending and the sorts are stable, so ties are broken by the lower id.
        match self {
            Self::Start => order.sort_by_key(|&id| instance.buffer(id).lifespan().hull().lower),
            Self::Size => order.sort_by_key(|&id| size(id)),
            Self::SizeDuration => order.sort_by_key(|&id| (size(id), Reverse(duration(id)))),
            Self::Area => order.sort_by_cached_key(|&id| Reverse(instance.buffer(id).area())),
            Self::Duration => order.sort_by_cached_key(|&id| Reverse(duration(id))),
            Self::ShortDuration => order.sort_by_cached_key(|&id| duration(id)),
            Self::Conflicts => {
                let conflicts = conflict_counts(instance);
                order.sort_by_key(|&id| (Reverse(conflicts[id.index()]), size(id)));
            }
            Self::Heat => {
                let heat = Heat::of(instance);
                let load = |id| heat.during(instance.buffer(id).lifespan()).load;
                order.sort_by_cached_key(|&id| (Reverse(load(id)), size(id)));
            }
            Self::Breadth => {
                // The first step at which a buffer is visited is the most loaded step of its lifespan.
                let heat = Heat::of(instance);
                order.sort_by_cached_key(|&id| {
                    let peak = heat.during(instance.buffer(id).lifespan());
                    (Reverse(peak.load), peak.step, size(id))
                });
            }
        }
        order
    }
}

/// Returns the number of conflicting buffers for every buffer.
///
/// Overlapping hulls are counted from sorted starts and ends. Separations, exclusions and lifespans with
/// gaps are processed individually. O(n log n + p log p + g n) for n buffers, of which g have gaps, and p
/// separated or excluded pairs.
pub fn conflict_counts(instance: &Instance) -> Vec<u64> {
    let hulls = || instance.buffers().iter().map(|buffer| buffer.lifespan().hull());
    let mut starts: Vec<_> = hulls().map(|hull| hull.lower).collect();
    let mut ends: Vec<_> = hulls().map(|hull| hull.upper).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let mut counts: Vec<u64> = hulls()
        .map(|hull| {
            let begun = starts.partition_point(|&start| start < hull.upper);
            let over = ends.partition_point(|&end| end <= hull.lower);
            (begun - over - 1) as u64
        })
        .collect();
    let lifespan = |id: BufferId| instance.buffer(id).lifespan();
    let gapped: Vec<BufferId> = instance.ids().filter(|&id| lifespan(id).has_gaps()).collect();
    for &a in &gapped {
        for b in instance.ids() {
            // A pair of buffers with gaps is visited twice, but is counted once.
            let counted = lifespan(b).has_gaps() && b <= a;
            let hulls_meet = lifespan(a).hull().intersects(lifespan(b).hull());
            if !counted && hulls_meet && !lifespan(a).intersects(lifespan(b)) {
                counts[a.index()] -= 1;
                counts[b.index()] -= 1;
            }
        }
    }
    for (a, b) in instance.separations().iter().filter(|&(a, b)| !lifespan(a).intersects(lifespan(b))) {
        counts[a.index()] += 1;
        counts[b.index()] += 1;
    }
    for (a, b) in instance.exclusions().iter().filter(|&(a, b)| lifespan(a).intersects(lifespan(b))) {
        counts[a.index()] -= 1;
        counts[b.index()] -= 1;
    }
    counts
}

/// Returns the logarithm to base 2 of a positive number, with an error below 1e-9. Uses only basic
/// arithmetic, so the result is bit-identical on every machine.
pub(crate) fn log2(number: u64) -> f64 {
    let exponent = number.max(1).ilog2();
    let mantissa = number.max(1) as f64 / (1u64 << exponent) as f64;
    // ln m = 2 artanh((m - 1) / (m + 1)), |argument| <= 1/3.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let (mut term, mut sum) = (s, 0.0);
    for odd in (1..18).step_by(2) {
        sum += term / f64::from(odd);
        term *= s * s;
    }
    f64::from(exponent) + 2.0 * sum * std::f64::consts::LOG2_E
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::{ConflictGraph, Step};

    #[test]
    fn conflict_counts_agree_with_the_graph() {
        for seed in 0..300 {
            let instance = small_instance(SmallParams::with_features(11, seed % 16), seed);
            let graph = ConflictGraph::of(&instance);
            let expected: Vec<u64> = instance.ids().map(|id| graph.of_buffer(id).len() as u64).collect();
            assert_eq!(conflict_counts(&instance), expected, "seed {seed}");
        }
    }

    const ALL: [Order; 9] = [
        Order::Start,
        Order::Size,
        Order::SizeDuration,
        Order::Area,
        Order::Duration,
        Order::ShortDuration,
        Order::Conflicts,
        Order::Heat,
        Order::Breadth,
    ];

    #[test]
    fn every_order_is_a_permutation() {
        for seed in 0..64 {
            let instance = small_instance(SmallParams::with_features(7, seed % 16), seed);
            for order in ALL {
                let mut ids = order.of(&instance);
                ids.sort_unstable();
                assert!(ids.into_iter().eq(instance.ids()));
            }
        }
    }

    /// Compares the order with the definition of greedy by breadth, evaluated step by step.
    #[test]
    fn breadth_order_agrees_with_its_definition() {
        for seed in 0..200 {
            let instance = small_instance(SmallParams::with_features(9, seed % 16), seed);
            let live = |step: u64| {
                let contains = |&id: &BufferId| instance.buffer(id).lifespan().contains(Step::new(step));
                instance.ids().filter(contains).collect::<Vec<_>>()
            };
            let breadth =
                |step: u64| -> u64 { live(step).iter().map(|&id| instance.buffer(id).size().get()).sum() };
            let mut steps: Vec<u64> = (0..8).collect();
            steps.sort_by_key(|&step| (Reverse(breadth(step)), step));
            let mut expected: Vec<BufferId> = Vec::new();
            for step in steps {
                let mut here = live(step);
                here.retain(|id| !expected.contains(id));
                here.sort_by_key(|&id| Reverse(instance.buffer(id).size()));
                expected.extend(here);
            }
            assert_eq!(Order::Breadth.of(&instance), expected, "seed {seed}");
        }
    }

    #[test]
    fn log2_is_close() {
        for number in [1, 2, 3, 5, 1000, 123_456_789, u64::MAX / 3] {
            assert!((log2(number) - (number as f64).log2()).abs() < 1e-8, "{number}");
        }
    }
}
