//! Instances whose compatible buffers are partially ordered in time.
//!
//! Suppose that for any two buffers without a conflict, one ends before the other begins. Suppose also that
//! the relation "ends before and does not conflict" is transitive. Then the conflict graph is perfect, and
//! the minimum memory with split buffers is the weight of the heaviest antichain (Dilworth 1950, with
//! weights). An antichain is a clique of the conflict graph. One maximum flow computes both the memory and
//! the antichain: every byte that a buffer passes on to a later one is saved. Interval instances have both
//! properties, and so do those that [`structure`](plimsoll_model::structure) derives under `schedule`,
//! `streams=K` and `reachable`.

use crate::network::{INFINITE, Network};
use plimsoll_model::{Budget, ConflictGraph, Instance};
use plimsoll_support::{BitMatrix, ones};

/// The maximum number of buffers of an instance that is tested for a partial order.
pub(crate) const POSET_BUFFERS: usize = 4_000;

/// Buffers in a linear extension of the partial order, and the pairs of buffers in which one can reuse the
/// memory of the other.
#[derive(Clone, Debug)]
pub(crate) struct Poset {
    /// The index of the buffer at each position.
    pub order: Vec<usize>,
    /// Row `at` contains the positions that can reuse the memory of position `at`. All of them are higher,
    /// and the relation is transitive.
    later: BitMatrix,
}

/// Returns the buffers in an order in which every buffer precedes all buffers that begin after its end.
pub(crate) fn by_time(instance: &Instance) -> Vec<usize> {
    let mut order: Vec<usize> = (0..instance.len()).collect();
    order.sort_by_key(|&at| {
        let hull = instance.buffers()[at].lifespan().hull();
        (hull.lower, hull.upper, at)
    });
    order
}

/// Returns the pairs of positions in `order` whose buffers may share memory, as a symmetric matrix. Returns
/// `None` if the budget `watch` runs out first. The time is O(n^2 + m log m + c log c) for n positions, m
/// buffers in the instance and c conflicts.
pub(crate) fn compatible(instance: &Instance, order: &[usize], watch: &mut Budget) -> Option<BitMatrix> {
    let n = order.len();
    // Buffers that are not in `order` share the position `n`.
    let mut position = vec![n; instance.len()];
    for (at, &buffer) in order.iter().enumerate() {
        position[buffer] = at;
    }
    let mut compatible = BitMatrix::new(n, n);
    let graph = ConflictGraph::within(instance, watch)?;
    let mut open = vec![true; n + 1];
    for (at, &buffer) in order.iter().enumerate() {
        if watch.tick().is_some() {
            return None;
        }
        let rivals = graph.of_buffer(plimsoll_model::BufferId::at(buffer));
        for id in rivals {
            open[position[id.index()]] = false;
        }
        for other in (0..n).filter(|&other| open[other] && other != at) {
            compatible.set(at, other);
        }
        for id in rivals {
            open[position[id.index()]] = true;
        }
    }
    Some(compatible)
}

impl Poset {
    /// Returns the partial order of an instance. Returns `None` if the instance has none or is too large, or
    /// if the budget `watch` runs out first. The time is O(n^3 / 64) at worst for n buffers.
    pub fn of(instance: &Instance, watch: &mut Budget) -> Option<Self> {
        let n = instance.len();
        if n > POSET_BUFFERS {
            return None;
        }
        let order = by_time(instance);
        let compatible = compatible(instance, &order, watch)?;
        let hull = |at: usize| instance.buffers()[order[at]].lifespan().hull();
        let mut later = BitMatrix::new(n, n);
        for at in 0..n {
            for other in compatible.ones(at).filter(|&other| other > at) {
                if hull(at).upper > hull(other).lower {
                    return None;
                }
                later.set(at, other);
            }
        }
        let transitive = |at: usize| {
            let own = later.row(at);
            watch.tick().is_none()
                && later
                    .ones(at)
                    .all(|next| later.row(next).iter().zip(own).all(|(far, own)| far & !own == 0))
        };
        (0..n).all(transitive).then_some(Self { order, later })
    }

    /// Returns the immediate successors of a position.
    fn covers(&self, at: usize) -> Vec<usize> {
        let mut left = self.later.row(at).to_vec();
        let mut covers = Vec::new();
        // Successors have higher positions, so the lowest remaining one has no remaining predecessor.
        let lowest = |left: &[u64]| ones(left).next();
        while let Some(next) = lowest(&left) {
            covers.push(next);
            left[next / 64] &= !(1 << (next % 64));
            left.iter_mut().zip(self.later.row(next)).for_each(|(word, far)| *word &= !far);
        }
        covers
    }

    /// Computes the minimum memory, the clique that proves it, and the transfers of memory between positions.
    /// `weights` is indexed by position. This takes one maximum flow. For n positions, the network has 2 n +
    /// 2 vertices, three arcs per position, and one arc from each position to each of its immediate
    /// successors. Returns `None` if the budget `watch` runs out first.
    pub fn solve(&self, weights: &[u64], watch: &mut Budget) -> Option<Chains> {
        let n = self.order.len();
        let mut network = Network::default();
        let (source, sink) = (network.place(), network.place());
        let gives: Vec<u32> = (0..n).map(|_| network.place()).collect();
        let takes: Vec<u32> = (0..n).map(|_| network.place()).collect();
        let given: Vec<u32> = (0..n).map(|at| network.arc(source, gives[at], weights[at])).collect();
        let taken: Vec<u32> = (0..n).map(|at| network.arc(takes[at], sink, weights[at])).collect();
        let mut passes = Vec::new();
        for (at, &gives) in gives.iter().enumerate() {
            if watch.tick().is_some() {
                return None;
            }
            network.arc(takes[at], gives, INFINITE);
            for next in self.covers(at) {
                passes.push((at, next, network.arc(gives, takes[next], INFINITE)));
            }
        }
        let saved = network.most_within(source, sink, watch)?;
        let level = network.levels(source);
        let reached = |place: u32| level[place as usize] != u32::MAX;
        let clique = (0..n).filter(|&at| reached(gives[at]) && !reached(takes[at])).collect();
        let flow = |arcs: &[u32]| arcs.iter().map(|&arc| network.flow(arc)).collect();
        let passes = passes.into_iter().map(|(from, to, arc)| (from, to, network.flow(arc)));
        Some(Chains {
            total: weights.iter().sum::<u64>() - saved,
            clique,
            given: flow(&given),
            taken: flow(&taken),
            passes: passes.filter(|&(_, _, amount)| amount > 0).collect(),
        })
    }
}

/// The minimum memory, a clique that proves it, and the transfers of memory between positions.
#[derive(Clone, Debug)]
pub(crate) struct Chains {
    pub total: u64,
    /// Positions that conflict pairwise and whose weights add up to `total`.
    pub clique: Vec<usize>,
    /// Per position: bytes of its own memory that it passes on.
    given: Vec<u64>,
    /// Per position: bytes that it receives from earlier positions and uses.
    taken: Vec<u64>,
    /// Transfers as (from, to, bytes), in ascending order.
    passes: Vec<(usize, usize, u64)>,
}

impl Chains {
    /// Returns the address ranges `[start, end)` of every position. The ranges of a position are disjoint and
    /// in ascending order.
    pub fn ranges(&self, weights: &[u64]) -> Vec<Vec<(u64, u64)>> {
        let n = weights.len();
        let mut arrived: Vec<Vec<(u64, u64)>> = vec![Vec::new(); n];
        let mut ranges = Vec::with_capacity(n);
        let (mut top, mut next) = (0, 0);
        for at in 0..n {
            let mut passing = merged(std::mem::take(&mut arrived[at]));
            let mut own = cut(&mut passing, self.taken[at]);
            let fresh = weights[at] - self.taken[at];
            if fresh > 0 {
                own.push((top, top + fresh));
                top += fresh;
            }
            own = merged(own);
            let mut handed = own.clone();
            passing.extend(cut(&mut handed, self.given[at]));
            passing = merged(passing);
            while let Some(&(_, to, amount)) = self.passes.get(next).filter(|pass| pass.0 == at) {
                let part = cut(&mut passing, amount);
                arrived[to].extend(part);
                next += 1;
            }
            ranges.push(own);
        }
        debug_assert_eq!(top, self.total, "the peak of the ranges is the total");
        ranges
    }
}

/// Sorts ranges and merges adjacent ones.
pub(crate) fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Removes `amount` addresses from `ranges` and returns them. They come from the shortest range that is long
/// enough. If there is none, the longest ranges are used first.
fn cut(ranges: &mut Vec<(u64, u64)>, amount: u64) -> Vec<(u64, u64)> {
    let (mut taken, mut missing) = (Vec::new(), amount);
    while missing > 0 {
        let length = |at: &usize| ranges[*at].1 - ranges[*at].0;
        let enough = (0..ranges.len()).filter(|at| length(at) >= missing).min_by_key(length);
        let Some(at) =
            enough.or_else(|| (0..ranges.len()).max_by_key(|at| (length(at), std::cmp::Reverse(*at))))
        else {
            debug_assert!(false, "the ranges contain fewer addresses than requested");
            break;
        };
        let (start, end) = ranges[at];
        let part = missing.min(end - start);
        taken.push((start, start + part));
        missing -= part;
        if start + part == end {
            ranges.remove(at);
        } else {
            ranges[at].0 = start + part;
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};
    use std::time::Duration;

    #[test]
    fn no_order_is_derived_without_time() {
        let instance = small_instance(SmallParams::with_features(9, 0), 1);
        let over = || Budget::unlimited().with_time_limit(Duration::ZERO);
        let free = || Budget::unlimited();
        assert!(Poset::of(&instance, &mut over()).is_none());
        assert!(compatible(&instance, &by_time(&instance), &mut over()).is_none());
        let poset = Poset::of(&instance, &mut free()).unwrap();
        let weights = vec![1; instance.len()];
        assert!(poset.solve(&weights, &mut over()).is_none());
        assert!(poset.solve(&weights, &mut free()).is_some());
    }
}
