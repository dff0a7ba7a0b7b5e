//! List scheduling, which repeatedly runs the ready operator with the best key.

use super::costs::{Costs, Ending};
use super::walk::schedule;
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{Budget, OperatorId, Stop};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The growth of live bytes, the freed bytes (most first), and the id.
type GrowthKey = (i64, Reverse<u64>, OperatorId);

/// Runs the ready operator with the smallest growth of live bytes at each step. O(s log n) for n operators,
/// and s edges and uses of storages in total.
pub(super) fn greedy(problem: &OrderProblem, budget: &mut Budget) -> Result<Order, Stop> {
    struct State<'a> {
        ending: Ending<'a>,
        keys: Vec<Option<GrowthKey>>,
        ready: BTreeSet<GrowthKey>,
    }
    let costs = Costs::of(problem);
    let key = |ending: &Ending, id: OperatorId| {
        let ended = ending.bytes(id);
        (costs.begun[id.index()] as i64 - ended as i64, Reverse(ended), id)
    };
    let ready = BTreeSet::new();
    let mut state = State { ending: Ending::new(problem), keys: vec![None; problem.len()], ready };
    let push = |state: &mut State, fresh: &[OperatorId]| {
        for &id in fresh {
            let key = key(&state.ending, id);
            state.keys[id.index()] = Some(key);
            state.ready.insert(key);
        }
    };
    let pop = |state: &mut State| {
        let (_, _, id) = state.ready.pop_first()?;
        let State { ending, keys, ready } = state;
        keys[id.index()] = None;
        ending.run(id, |ending, other| {
            if let Some(old) = keys[other.index()] {
                let new = key(ending, other);
                ready.remove(&old);
                ready.insert(new);
                keys[other.index()] = Some(new);
            }
        });
        Some(id)
    };
    schedule(problem, budget, &mut state, push, pop)
}

/// Runs the ready operator with the lowest resulting peak at each step. Ties are broken by the smallest
/// growth and then by the lowest id.
///
/// Operators that fit under the current peak are tied. All other operators are compared by the bytes that
/// they need while they run. Operators are ranked by need once, and a tree over the ranks stores the
/// smallest growth of the ready operators. The initial peak includes the bytes that are live at the end.
/// O(s log n) for n operators, and s edges and uses of storages in total.
pub(super) fn least_peak(problem: &OrderProblem, budget: &mut Budget) -> Result<Order, Stop> {
    struct State<'a> {
        ending: Ending<'a>,
        tree: MinTree,
        live: u64,
        peak: u64,
    }
    let costs = Costs::of(problem);
    let need = |id: OperatorId| costs.need[id.index()];
    let mut by_need: Vec<OperatorId> = problem.ids().collect();
    by_need.sort_by_key(|&id| (need(id), id));
    let mut rank = vec![0usize; problem.len()];
    for (at, id) in by_need.iter().enumerate() {
        rank[id.index()] = at;
    }
    let key =
        |ending: &Ending, id: OperatorId| (costs.begun[id.index()] as i64 - ending.bytes(id) as i64, id);
    let mut state = State {
        ending: Ending::new(problem),
        tree: MinTree::new(problem.len()),
        live: costs.at_start,
        peak: problem.at_start().get().max(costs.at_end),
    };
    let push = |state: &mut State, fresh: &[OperatorId]| {
        for &id in fresh {
            state.tree.set(rank[id.index()], Some(key(&state.ending, id)));
        }
    };
    let pop = |state: &mut State| {
        let space = state.peak - state.live;
        let fitting = by_need.partition_point(|&id| need(id) <= space);
        let (_, id) = state.tree.least(0, fitting).or_else(|| {
            let least = need(by_need[state.tree.first()?]);
            let from = by_need.partition_point(|&id| need(id) < least);
            let to = by_need.partition_point(|&id| need(id) <= least);
            state.tree.least(from, to)
        })?;
        let State { ending, tree, live, peak } = state;
        *peak = (*peak).max(*live + need(id));
        *live = *live + costs.begun[id.index()] - ending.bytes(id);
        tree.set(rank[id.index()], None);
        ending.run(id, |ending, other| {
            if tree.get(rank[other.index()]).is_some() {
                tree.set(rank[other.index()], Some(key(ending, other)));
            }
        });
        Some(id)
    };
    schedule(problem, budget, &mut state, push, pop)
}

type Growth = (i64, OperatorId);

/// A complete binary tree for range minima over positions that are set and cleared.
struct MinTree {
    leaves: usize,
    least: Vec<Option<Growth>>,
}

impl MinTree {
    fn new(positions: usize) -> Self {
        let leaves = positions.next_power_of_two();
        Self { leaves, least: vec![None; 2 * leaves] }
    }

    fn get(&self, at: usize) -> Option<Growth> {
        self.least[self.leaves + at]
    }

    fn set(&mut self, at: usize, key: Option<Growth>) {
        let mut node = self.leaves + at;
        self.least[node] = key;
        while node > 1 {
            node /= 2;
            self.least[node] = smaller(self.least[2 * node], self.least[2 * node + 1]);
        }
    }

    /// Returns the minimum over the positions `[lower, upper)`.
    fn least(&self, lower: usize, upper: usize) -> Option<Growth> {
        let (mut lower, mut upper) = (self.leaves + lower, self.leaves + upper);
        let mut best = None;
        while lower < upper {
            if lower % 2 == 1 {
                best = smaller(best, self.least[lower]);
                lower += 1;
            }
            if upper % 2 == 1 {
                upper -= 1;
                best = smaller(best, self.least[upper]);
            }
            lower /= 2;
            upper /= 2;
        }
        best
    }

    /// Returns the first position that is set.
    fn first(&self) -> Option<usize> {
        self.least[1]?;
        let mut node = 1;
        while node < self.leaves {
            node = 2 * node + usize::from(self.least[2 * node].is_none());
        }
        Some(node - self.leaves)
    }
}

fn smaller(a: Option<Growth>, b: Option<Growth>) -> Option<Growth> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::graphs::{SmallOrderParams, small_order_problem};

    /// Implements the definitions. Every candidate is evaluated from scratch at every step.
    fn plain<K: Ord>(
        problem: &OrderProblem,
        key: impl Fn(u64, u64, i64, i64, u64, OperatorId) -> K,
    ) -> Vec<OperatorId> {
        let size = |at: &u32| problem.storages()[*at as usize].size.get() as i64;
        let costs = Costs::of(problem);
        let (mut live, mut peak) = (costs.at_start, problem.at_start().get().max(costs.at_end));
        let mut order: Vec<OperatorId> = Vec::new();
        while order.len() < problem.len() {
            let ready = problem.ids().filter(|id| {
                !order.contains(id) && problem.predecessors(*id).iter().all(|before| order.contains(before))
            });
            let figures = |id: OperatorId| {
                let begun = problem.touched(id).iter().filter(|&&at| problem.first(at as usize) == Some(id));
                let begun: i64 = begun.map(size).sum();
                let ends = |at: &&u32| {
                    let storage = &problem.storages()[**at as usize];
                    !storage.to_end && storage.users.iter().all(|user| *user == id || order.contains(user))
                };
                let ended: i64 = problem.touched(id).iter().filter(ends).map(size).sum();
                (begun, ended, problem.scratch(id).get())
            };
            let best = ready.min_by_key(|&id| {
                let (begun, ended, scratch) = figures(id);
                key(live, peak, begun, ended, scratch, id)
            });
            let id = best.unwrap();
            let (begun, ended, scratch) = figures(id);
            peak = peak.max(live + begun as u64 + scratch);
            live = live + begun as u64 - ended as u64;
            order.push(id);
        }
        order
    }

    #[test]
    fn lists_agree_with_their_definitions() {
        for seed in 0..400 {
            let problem = small_order_problem(SmallOrderParams::with_features(12, seed % 32), seed);
            let problem = problem.with_first_users().into_owned();
            let expected = plain(&problem, |_, _, begun, ended, _, id| (begun - ended, Reverse(ended), id));
            let budget = &mut Budget::unlimited();
            assert_eq!(greedy(&problem, budget).unwrap().operators(), expected, "seed {seed}");
            let expected = plain(&problem, |live, peak, begun, ended, scratch, id| {
                (peak.max(live + begun as u64 + scratch), begun - ended, id)
            });
            assert_eq!(least_peak(&problem, budget).unwrap().operators(), expected, "seed {seed}");
        }
    }
}
