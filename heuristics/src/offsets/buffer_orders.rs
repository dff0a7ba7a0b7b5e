//! The orders in which heuristics place buffers.
//!
//! Each rule is a sort key. Ties are broken by the additional keys of the rule and then by id, so the
//! instance determines the order. The complexity is O(n log n) for lifespans with n intervals, except for
//! [`Order::Conflicts`].

use crate::offsets::heat::Heat;
use plimsoll_model::{Budget, BufferId, Instance, Stop};
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
    /// Returns all buffers of the instance in this order. Ties are broken by the lower id.
    ///
    /// # Errors
    /// The reason to stop if the budget `watch` is exhausted first. No nodes are counted.
    pub fn of(self, instance: &Instance, watch: &mut Budget) -> Result<Vec<BufferId>, Stop> {
        let size = |id: BufferId| Reverse(instance.buffer(id).size());
        let duration = |id: BufferId| instance.buffer(id).lifespan().duration();
        match self {
            Self::Start => sorted(instance, watch, |id| instance.buffer(id).lifespan().hull().lower),
            Self::Size => sorted(instance, watch, size),
            Self::SizeDuration => sorted(instance, watch, |id| (size(id), Reverse(duration(id)))),
            Self::Area => sorted(instance, watch, |id| Reverse(instance.buffer(id).area())),
            Self::Duration => sorted(instance, watch, |id| Reverse(duration(id))),
            Self::ShortDuration => sorted(instance, watch, duration),
            Self::Conflicts => {
                let conflicts = conflict_counts(instance, watch)?;
                sorted(instance, watch, |id| (Reverse(conflicts[id.index()]), size(id)))
            }
            Self::Heat => {
                let heat = Heat::of(instance);
                let load = |id| heat.during(instance.buffer(id).lifespan()).load;
                sorted(instance, watch, |id| (Reverse(load(id)), size(id)))
            }
            Self::Breadth => {
                // The first step at which a buffer is visited is the most loaded step of its lifespan.
                let heat = Heat::of(instance);
                sorted(instance, watch, |id| {
                    let peak = heat.during(instance.buffer(id).lifespan());
                    (Reverse(peak.load), peak.step, size(id))
                })
            }
        }
    }
}

/// Number of buffers between two checks of the clock.
const STRIDE: usize = 1 << 12;

/// Returns the buffers in ascending order of a key, and of the id if keys are equal.
fn sorted<K: Ord>(
    instance: &Instance,
    watch: &mut Budget,
    key: impl Fn(BufferId) -> K,
) -> Result<Vec<BufferId>, Stop> {
    let mut keyed = Vec::with_capacity(instance.len());
    for id in instance.ids() {
        if id.index() % STRIDE == 0
            && let Some(stop) = watch.check()
        {
            return Err(stop);
        }
        keyed.push((key(id), id));
    }
    keyed.sort_unstable();
    Ok(keyed.into_iter().map(|(_, id)| id).collect())
}

/// Returns the number of conflicting buffers for every buffer.
///
/// Overlapping hulls are counted from sorted starts and ends. The buffers inside the gaps of others are
/// counted by sweeps. Separations, exclusions, and pairs of buffers that both have gaps are processed
/// individually. O(n log n + p log p + q) for lifespans with n intervals, p separated or excluded pairs, and
/// q pairs of buffers with gaps whose hulls overlap.
///
/// # Errors
/// The reason to stop if the budget `watch` is exhausted first. No nodes are counted.
pub fn conflict_counts(instance: &Instance, watch: &mut Budget) -> Result<Vec<u64>, Stop> {
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
    let (gapped, whole): (Vec<BufferId>, Vec<BufferId>) =
        instance.ids().partition(|&id| lifespan(id).has_gaps());
    if !gapped.is_empty() {
        part_inside_gaps(instance, &gapped, &whole, &mut counts);
        part_interleaved(instance, gapped, watch, &mut counts)?;
    }
    for (a, b) in instance.separations().iter().filter(|&(a, b)| !lifespan(a).intersects(lifespan(b))) {
        counts[a.index()] += 1;
        counts[b.index()] += 1;
    }
    for (a, b) in instance.exclusions().iter().filter(|&(a, b)| lifespan(a).intersects(lifespan(b))) {
        counts[a.index()] -= 1;
        counts[b.index()] -= 1;
    }
    Ok(counts)
}

/// Subtracts the pairs of a buffer with gaps and a buffer without gaps that lies inside one of these gaps.
fn part_inside_gaps(instance: &Instance, gapped: &[BufferId], whole: &[BufferId], counts: &mut [u64]) {
    let gaps: Vec<(BufferId, (u64, u64))> = gapped
        .iter()
        .flat_map(|&id| {
            let parts = instance.buffer(id).lifespan().intervals().windows(2);
            parts.map(move |pair| (id, (pair[0].upper.get(), pair[1].lower.get())))
        })
        .collect();
    let hull = |&id: &BufferId| {
        let hull = instance.buffer(id).lifespan().hull();
        (hull.lower.get(), hull.upper.get())
    };
    let inner: Vec<(u64, u64)> = whole.iter().map(hull).collect();
    let outer: Vec<(u64, u64)> = gaps.iter().map(|&(_, gap)| gap).collect();
    for (&(id, _), inside) in gaps.iter().zip(inside(&inner, &outer)) {
        counts[id.index()] -= inside;
    }
    // With both ends mirrored, the gaps around a lifespan are those inside it.
    let mirrored = |&(lower, upper): &(u64, u64)| (u64::MAX - lower, u64::MAX - upper);
    let (inner, outer): (Vec<_>, Vec<_>) =
        (inner.iter().map(mirrored).collect(), outer.iter().map(mirrored).collect());
    for (id, around) in whole.iter().zip(inside(&outer, &inner)) {
        counts[id.index()] -= around;
    }
}

/// For each query `(lower, upper)`, returns the number of intervals that begin at or after `lower` and end at
/// or before `upper`. O(n log n) for n intervals and queries.
fn inside(intervals: &[(u64, u64)], queries: &[(u64, u64)]) -> Vec<u64> {
    let mut ends: Vec<u64> = intervals.iter().map(|&(_, upper)| upper).collect();
    ends.sort_unstable();
    let mut late: Vec<(u64, u64)> = intervals.to_vec();
    late.sort_unstable();
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_unstable_by_key(|&at| std::cmp::Reverse(queries[at].0));
    // A Fenwick tree over the ranks of the ends.
    let mut tree = vec![0u64; ends.len() + 1];
    let mut found = vec![0; queries.len()];
    for at in order {
        let (lower, upper) = queries[at];
        while let Some((_, end)) = late.pop_if(|&mut (start, _)| start >= lower) {
            let mut node = ends.partition_point(|&other| other < end) + 1;
            while node < tree.len() {
                tree[node] += 1;
                node += node & node.wrapping_neg();
            }
        }
        let mut node = ends.partition_point(|&end| end <= upper);
        while node > 0 {
            found[at] += tree[node];
            node &= node - 1;
        }
    }
    found
}

/// Subtracts the pairs of buffers with gaps whose hulls overlap, but which are never live together.
fn part_interleaved(
    instance: &Instance,
    mut gapped: Vec<BufferId>,
    watch: &mut Budget,
    counts: &mut [u64],
) -> Result<(), Stop> {
    let lifespan = |id: BufferId| instance.buffer(id).lifespan();
    gapped.sort_by_key(|&id| lifespan(id).hull().lower);
    let mut open: Vec<BufferId> = Vec::new();
    for id in gapped {
        if let Some(stop) = watch.check() {
            return Err(stop);
        }
        open.retain(|&other| lifespan(other).hull().upper > lifespan(id).hull().lower);
        for &other in &open {
            if !lifespan(id).intersects(lifespan(other)) {
                counts[id.index()] -= 1;
                counts[other.index()] -= 1;
            }
        }
        open.push(id);
    }
    Ok(())
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
    use plimsoll_model::{Buffer, ConflictGraph, InstanceBuilder, Interval, Lifespan, Step};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn conflict_counts_agree_with_the_graph() {
        for seed in 0..300 {
            let instance = small_instance(SmallParams::with_features(11, seed % 16), seed);
            let graph = ConflictGraph::of(&instance);
            let expected: Vec<u64> = instance.ids().map(|id| graph.of_buffer(id).len() as u64).collect();
            assert_eq!(conflict_counts(&instance, &mut Budget::unlimited()), Ok(expected), "seed {seed}");
        }
    }

    /// Returns buffers with up to three gaps each, many of which contain whole buffers or interleave with
    /// others.
    fn with_gaps(count: u64, seed: u64) -> Instance {
        let mut state = seed;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let buffers = (0..count).map(|at| {
            let (mut step, mut parts) = (next(60), Vec::new());
            for _ in 0..=next(4) {
                let end = step + 1 + next(9);
                parts.push(Interval::new(step, end));
                step = end + 1 + next(12);
            }
            Buffer::new(at.to_string(), 1 + next(9), Lifespan::from_intervals(parts).unwrap())
        });
        let builder = InstanceBuilder::new("gaps").buffers(buffers.collect::<Vec<_>>());
        builder.separate(0, 3).separate(1, 7).exclude(2, 5).exclude(4, 6).build().unwrap()
    }

    #[test]
    fn conflict_counts_of_interleaved_lifespans_agree_with_the_graph() {
        for seed in 0..100 {
            let instance = with_gaps(8 + seed % 70, seed);
            let graph = ConflictGraph::of(&instance);
            let expected: Vec<u64> = instance.ids().map(|id| graph.of_buffer(id).len() as u64).collect();
            assert_eq!(conflict_counts(&instance, &mut Budget::unlimited()), Ok(expected), "seed {seed}");
        }
    }

    #[test]
    fn every_order_ends_on_request() {
        let instance = with_gaps(40, 1);
        let flag = Arc::new(AtomicBool::new(true));
        let cancelled = Budget::unlimited().with_cancel(flag);
        for order in ALL {
            assert_eq!(order.of(&instance, &mut cancelled.clone()), Err(Stop::Interrupted), "{order:?}");
        }
        assert_eq!(conflict_counts(&instance, &mut cancelled.clone()), Err(Stop::Interrupted));
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
                let mut ids = order.of(&instance, &mut Budget::unlimited()).unwrap();
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
            assert_eq!(Order::Breadth.of(&instance, &mut Budget::unlimited()), Ok(expected), "seed {seed}");
        }
    }

    #[test]
    fn log2_is_close() {
        for number in [1, 2, 3, 5, 1000, 123_456_789, u64::MAX / 3] {
            assert!((log2(number) - (number as f64).log2()).abs() < 1e-8, "{number}");
        }
    }
}
