//! Instances whose compatible buffers follow each other in time: a partial order.
//!
//! Where two buffers that do not conflict always have one that ends before the other begins, and "ends before and does not
//! conflict" is transitive, the conflict graph is perfect: the least memory for scattered layouts is the weight of the heaviest
//! antichain, a clique of conflicts (Dilworth 1950, with weights). Both come from one flow: bytes that a buffer hands on
//! to a later one are saved. So it is for intervals, and for what
//! [`structure`](plimsoll_model::structure) derives as `schedule`, `streams=K` and `reachable`.

use crate::network::{INFINITE, Network};
use plimsoll_model::{BitMatrix, Budget, ConflictGraph, Instance, ones};

/// Most buffers for which partial orders are looked for.
pub(crate) const POSET_BUFFERS: usize = 4_000;

/// Buffers by position in an order that never goes back, and who can follow whom.
#[derive(Clone, Debug)]
pub(crate) struct Poset {
    /// Per position: the buffer.
    pub order: Vec<usize>,
    /// Per position: positions that can take over its memory, all higher; transitive.
    later: BitMatrix,
}

/// Buffers in an order in which whoever ends before another begins comes first.
pub(crate) fn by_time(instance: &Instance) -> Vec<usize> {
    let mut order: Vec<usize> = (0..instance.len()).collect();
    order.sort_by_key(|&at| {
        let hull = instance.buffers()[at].lifespan().hull();
        (hull.lower, hull.upper, at)
    });
    order
}

/// Who can share with whom among those in `order`, by position there: symmetric. O(n^2 + conflicts). None where the time
/// of `watch` ends before.
pub(crate) fn compatible(instance: &Instance, order: &[usize], watch: &mut Budget) -> Option<BitMatrix> {
    let n = order.len();
    // Those that are not in the order share a place behind it.
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
    /// The partial order of an instance, if it has one and the time of `watch` suffices to tell. O(n^3 / 64) at worst.
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

    /// Who follows a position with nobody in between.
    fn covers(&self, at: usize) -> Vec<usize> {
        let mut left = self.later.row(at).to_vec();
        let mut covers = Vec::new();
        // Positions ascend in the order: the lowest left is behind nobody that is left.
        let lowest = |left: &[u64]| ones(left).next();
        while let Some(next) = lowest(&left) {
            covers.push(next);
            left[next / 64] &= !(1 << (next % 64));
            left.iter_mut().zip(self.later.row(next)).for_each(|(word, far)| *word &= !far);
        }
        covers
    }

    /// The least memory, with the clique that shows it and who hands on how much to whom. `weights` are by position.
    /// One flow on 2 n places and the covering pairs. None where the time of `watch` ends before.
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

/// Who takes over memory from whom, by position.
#[derive(Clone, Debug)]
pub(crate) struct Chains {
    pub total: u64,
    /// Positions in mutual conflict whose weights add up to that.
    pub clique: Vec<usize>,
    /// Own memory handed on.
    given: Vec<u64>,
    /// Memory taken over.
    taken: Vec<u64>,
    /// From, to, how much; ascending.
    passes: Vec<(usize, usize, u64)>,
}

impl Chains {
    /// Addresses for every position: ranges `[start, end)`, ascending and disjoint. What is handed on is addresses.
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
        debug_assert_eq!(top, self.total, "everything new is counted");
        ranges
    }
}

/// Ranges in order, those that touch as one.
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

/// Takes `amount` addresses out of `ranges`: one range that is just as long or the shortest that is longer, else the longest
/// first.
fn cut(ranges: &mut Vec<(u64, u64)>, amount: u64) -> Vec<(u64, u64)> {
    let (mut taken, mut missing) = (Vec::new(), amount);
    while missing > 0 {
        let length = |at: &usize| ranges[*at].1 - ranges[*at].0;
        let enough = (0..ranges.len()).filter(|at| length(at) >= missing).min_by_key(length);
        let Some(at) =
            enough.or_else(|| (0..ranges.len()).max_by_key(|at| (length(at), std::cmp::Reverse(*at))))
        else {
            debug_assert!(false, "more is taken than there is");
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
    fn nothing_is_told_of_an_order_without_time() {
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
