//! Lower bounds on the peak, each with a witness that can be checked without this crate's algorithms.
//!
//! - *Load*: the maximum of the live bytes over all steps ([`plimsoll_model::load`]).
//! - *Aligned load*: let all live buffers at a step lie at multiples of `a` bytes. Each of them except the
//!   topmost then occupies its size rounded up to a multiple of `a`. The topmost buffer needs no padding,
//!   which saves at most the largest padding of a live buffer. This bound is computed for every alignment
//!   that occurs and for the greatest common divisor of all alignments. It covers the buffers whose alignment
//!   is a multiple of `a`.
//! - *Clique*: the total size of buffers that conflict pairwise. A search over time finds the heaviest clique
//!   if few constraints are not those of intervals. Otherwise, if buffers that do not conflict are partially
//!   ordered in time, one maximum flow finds it ([`crate::split_buffers`]). If they are not,
//!   [`crate::clique`] searches for a heavy clique. The bound can exceed the load because, with separations
//!   or gaps, the buffers of a clique need not be simultaneously live. With exclusions, the load is not a
//!   valid bound, and the clique bound replaces it.
//! - *Fixed end*: the highest end address of a fixed buffer.

use crate::clique::heaviest_clique;
use crate::clique_in_time::heaviest_in_time;
use crate::poset::{POSET_BUFFERS, Poset};
use plimsoll_model::{
    Budget, BufferId, Bytes, ConflictGraph, Instance, LowerBound, Step, Witness, live_at, simple_bound,
    stack_height,
};
use plimsoll_support::gcd;
use std::collections::BTreeMap;

/// With this many buffers or more, only the clique search over time runs, and conflicts are not counted.
const CLIQUE_BUFFERS: usize = 50_000;

/// Maximum number of conflicts for which a clique of more than [`POSET_BUFFERS`] buffers is searched for in
/// the graph.
const CLIQUE_CONFLICTS: u64 = 1_000_000;

/// Node limit of the exact clique search for up to 200 buffers. Larger instances get fewer nodes because
/// each node costs more.
const CLIQUE_NODES: u64 = 20_000;

/// Node limit of the clique search over time, times the number of buffers.
const TIME_WORK: u64 = 1 << 21;

/// Returns the best of the fast bounds that can be computed within the time of `budget`.
///
/// The time is O(k n log n) for n buffers with k distinct alignments, plus that of a limited clique search if
/// the conflict graph is not an interval graph.
///
/// ```
/// use plimsoll_model::{Budget, Buffer, Bytes, InstanceBuilder, Lifespan, verify_bound};
/// use plimsoll_solvers::offsets::bounds::quick_bound;
///
/// let buffer = |name: &str| Buffer::new(name, 5, Lifespan::single(0, 1).unwrap()).aligned(4);
/// let instance = InstanceBuilder::new("aligned").buffers([buffer("a"), buffer("b")]).build()?;
/// let bound = quick_bound(&instance, &mut Budget::unlimited());
/// assert_eq!(bound.value, Bytes::new(13)); // 5 rounded up to 8, and 5 on top
/// assert!(verify_bound(&instance, &bound).is_ok());
/// # Ok::<(), plimsoll_model::InstanceError>(())
/// ```
pub fn quick_bound(instance: &Instance, budget: &mut Budget) -> LowerBound {
    let mut watch = budget.without_node_limit();
    let mut best = simple_bound(instance);
    if instance.has_alignment() && instance.exclusions().is_empty() {
        best.raise(aligned_load(instance, &mut watch));
    }
    if !instance.is_interval() && watch.check().is_none() {
        best.raise(clique_bound(instance, &mut watch));
    }
    best
}

/// Returns true if at most `most` pairs conflict. Returns false if there are more, or if the budget `watch`
/// runs out first. O(n log n + q) for n buffers, where q pairs with overlapping hulls are tested before the
/// answer is known. Memory is linear.
pub(crate) fn has_few_conflicts(instance: &Instance, most: u64, watch: &mut Budget) -> bool {
    let hull = |id: BufferId| instance.buffer(id).lifespan().hull();
    let mut order: Vec<BufferId> = instance.ids().collect();
    order.sort_by_key(|&id| hull(id).lower);
    let apart = |&(a, b): &(BufferId, BufferId)| !hull(a).intersects(hull(b)) && instance.conflict(a, b);
    let mut count = instance.separations().iter().filter(apart).count() as u64;
    let mut live: Vec<BufferId> = Vec::new();
    for id in order {
        live.retain(|&other| hull(other).upper > hull(id).lower);
        count += live.iter().filter(|&&other| instance.conflict(id, other)).count() as u64;
        if count > most || watch.tick().is_some() {
            return false;
        }
        live.push(id);
    }
    true
}

/// Returns the clique bound: the largest of the stack heights of a heavy clique. There is one stack height
/// for each alignment in the clique, and one for the greatest common divisor of these alignments.
///
/// The searches are limited, so the clique may not be the heaviest. If the time of `budget` runs out before
/// one is found, the bound is trivial.
pub fn clique_bound(instance: &Instance, budget: &mut Budget) -> LowerBound {
    let Some(clique) = clique(instance, &mut budget.without_node_limit()) else {
        return LowerBound::trivial();
    };
    let mut best = LowerBound::trivial();
    for alignment in divisors(instance, &clique) {
        let aligned: Vec<BufferId> = clique
            .iter()
            .copied()
            .filter(|&id| instance.buffer(id).alignment().get().is_multiple_of(alignment))
            .collect();
        if let Some(height) = stack_height(instance, &aligned, Bytes::new(alignment)) {
            let witness = if alignment == 1 {
                Witness::Clique { buffers: aligned }
            } else {
                Witness::AlignedClique { buffers: aligned, alignment: Bytes::new(alignment) }
            };
            best.raise(LowerBound::new(height, witness));
        }
    }
    best
}

/// Returns the buffers of a heavy clique in ascending order, or `None` if the time of `watch` runs out before
/// one is found.
fn clique(instance: &Instance, watch: &mut Budget) -> Option<Vec<BufferId>> {
    let n = instance.len();
    let nodes = (TIME_WORK / (n as u64).max(1)).max(2);
    let found = heaviest_in_time(instance, &mut watch.part(Some(nodes), None));
    let mut few = || n <= POSET_BUFFERS || has_few_conflicts(instance, CLIQUE_CONFLICTS, watch);
    if found.proved || n >= CLIQUE_BUFFERS || !few() {
        return (found.weight > 0).then_some(found.members);
    }
    let in_graph = clique_of_graph(instance, watch);
    let weight = |ids: &[BufferId]| ids.iter().map(|&id| instance.buffer(id).size().get()).sum::<u64>();
    let lighter = in_graph.as_ref().is_none_or(|ids| weight(ids) < found.weight);
    if lighter { Some(found.members) } else { in_graph }
}

/// Returns the buffers of a heavy clique of the conflict graph in ascending order, or `None` if the time of
/// `watch` runs out first.
fn clique_of_graph(instance: &Instance, watch: &mut Budget) -> Option<Vec<BufferId>> {
    let weights: Vec<u64> = instance.buffers().iter().map(|b| b.size().get()).collect();
    let Some(poset) = Poset::of(instance, watch) else {
        let graph = ConflictGraph::within(instance, watch)?;
        let nodes = CLIQUE_NODES * 200 / (graph.len() as u64).max(200);
        return Some(heaviest_clique(&graph, &weights, &mut watch.part(Some(nodes), None)).members);
    };
    let by_position: Vec<u64> = poset.order.iter().map(|&at| weights[at]).collect();
    let clique = poset.solve(&by_position, watch)?.clique;
    let mut members: Vec<BufferId> = clique.into_iter().map(|at| BufferId::at(poset.order[at])).collect();
    members.sort_unstable();
    Some(members)
}

/// Returns the distinct alignments of `ids` and their greatest common divisor, ascending.
fn divisors(instance: &Instance, ids: &[BufferId]) -> Vec<u64> {
    let mut found: Vec<u64> = ids.iter().map(|&id| instance.buffer(id).alignment().get()).collect();
    found.push(found.iter().copied().fold(0, gcd).max(1));
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the aligned load: the largest stack height over all steps, and over all alignments that occur and
/// their greatest common divisor.
fn aligned_load(instance: &Instance, watch: &mut Budget) -> LowerBound {
    let ids: Vec<BufferId> = instance.ids().collect();
    let mut best = LowerBound::trivial();
    for alignment in divisors(instance, &ids).into_iter().filter(|&a| a > 1) {
        if watch.check().is_some() {
            break;
        }
        let (value, step) = highest_stack(instance, alignment);
        if value > best.value {
            let mut buffers = live_at(instance, step);
            buffers.retain(|&id| instance.buffer(id).alignment().get().is_multiple_of(alignment));
            let witness = Witness::AlignedClique { buffers, alignment: Bytes::new(alignment) };
            best.raise(LowerBound::new(value, witness));
        }
    }
    best
}

/// Returns the largest stack height of the live buffers whose alignment is a multiple of `alignment`, and
/// the step at which it occurs. Sweeps over the steps and maintains the sum of the rounded sizes of the live
/// buffers and the multiset of their paddings.
fn highest_stack(instance: &Instance, alignment: u64) -> (Bytes, Step) {
    let mut events: Vec<(Step, bool, u64, u64)> = Vec::new();
    for b in instance.buffers() {
        if b.alignment().get().is_multiple_of(alignment) {
            let size = b.size().get();
            let rounded = size.next_multiple_of(alignment);
            for part in b.lifespan().intervals() {
                events.push((part.lower, true, rounded, rounded - size));
                events.push((part.upper, false, rounded, rounded - size));
            }
        }
    }
    events.sort_unstable();
    let mut best = (Bytes::ZERO, Step::default());
    let (mut sum, mut roundings) = (0u64, BTreeMap::<u64, usize>::new());
    for (step, starts, rounded, rounding) in events {
        if !starts {
            sum -= rounded;
            if let Some(count) = roundings.get_mut(&rounding) {
                *count -= 1;
                if *count == 0 {
                    roundings.remove(&rounding);
                }
            }
            continue;
        }
        sum += rounded;
        *roundings.entry(rounding).or_default() += 1;
        let saved = roundings.last_key_value().map_or(0, |(&rounding, _)| rounding);
        if sum - saved > best.0.get() {
            best = (Bytes::new(sum - saved), step);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::{Buffer, InstanceBuilder, Lifespan, verify_bound};

    #[test]
    fn every_bound_is_shown_by_its_witness() {
        for seed in 0..400 {
            let t = small_instance(SmallParams::with_features(7, seed % 16), seed);
            let bound = quick_bound(&t, &mut Budget::unlimited());
            assert_eq!(verify_bound(&t, &bound), Ok(()), "seed {seed}: {bound:?}");
        }
    }

    #[test]
    fn conflicts_are_counted_up_to_a_limit() {
        for seed in 0..200 {
            let t = small_instance(SmallParams::with_features(12, seed % 16), seed);
            let count = ConflictGraph::of(&t).edges() as u64;
            let few = |most| has_few_conflicts(&t, most, &mut Budget::unlimited());
            assert!(few(count) && (count == 0 || !few(count - 1)), "seed {seed}");
            let late = &mut Budget::unlimited().with_time_limit(std::time::Duration::ZERO);
            assert!(!has_few_conflicts(&t, count, late), "seed {seed}");
        }
    }

    #[test]
    fn exclusive_buffers_do_not_add_up() {
        let buffer = |name: &str, size: u64| Buffer::new(name, size, Lifespan::single(0, 4).unwrap());
        let t = InstanceBuilder::new("branches")
            .buffers([buffer("then", 7), buffer("else", 5), buffer("outer", 2)])
            .exclude(0, 1)
            .build()
            .unwrap();
        assert_eq!(quick_bound(&t, &mut Budget::unlimited()).value.get(), 9);
    }

    #[test]
    fn separated_buffers_form_cliques() {
        let buffers = [5u64, 7, 9].map(|size| (size.to_string(), Bytes::new(size)));
        let t = Instance::from_conflicts("triangle", buffers, [(0, 1), (1, 2), (2, 0)]).unwrap();
        let bound = quick_bound(&t, &mut Budget::unlimited());
        assert_eq!(bound.value.get(), 21);
        assert!(matches!(bound.witness, Witness::Clique { .. }));
    }
}
