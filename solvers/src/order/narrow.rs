//! Cuts at downsets that some order passes without loss.
//!
//! Let `M` be a downset, `U` the nodes not in `M` that wait for all of `M`, and `L` the nodes of `M` that all the others
//! wait for. If no downset between `M` and all but `U` has less alive than `M`, and none between `L` and `M`, then some
//! order of least peak passes `M`, and both sides of it can be solved by themselves:
//!
//! Let `D_0, D_1, ...` be any order. Up to the step that runs the first node of `U`, all of `M` has run and
//! `D_i or M` lies between `M` and all but `U`; so the downsets `D_i and M` lead to `M`, and by submodularity
//! `alive(D_i and M) <= alive(D_i) + alive(M) - alive(D_i or M) <= alive(D_i)`, and likewise during each node. From the
//! first step that runs a node not in `M` on, `L` has run and `D_i and M` lies between `L` and `M`; so the downsets
//! `D_i or M` lead from `M` to the end, no higher either.
//!
//! Where a node is comparable with all others, both conditions are empty. Cuts along one order do not disturb each
//! other: within a part there are fewer downsets to compare with.

use super::draft::{Draft, Reach};
use super::flow::is_least;
use super::greedy::greedy;
use super::net::{Net, State};
use plimsoll_model::Budget;

/// Parts of fewer nodes are not cut.
const FEWEST_NODES: usize = 2;

/// Most nodes on either side that are neither in `U` nor in `L`.
const WIDEST: usize = 400;

/// Cuts a part at downsets of a greedy order that lose nothing. O(n^2 / 64 width) and two flows per downset.
pub(super) fn narrow(draft: Draft, budget: &mut Budget) -> Vec<Draft> {
    if draft.len() < FEWEST_NODES {
        return vec![draft];
    }
    let back = draft.reversed();
    let (net, turned) = (Net::of(&draft), Net::of(&back));
    let (order, _) = greedy(&net, &turned, draft.sorted(), budget);
    let reach = Reach::of(&draft);
    let cuts = Cuts { net: &net, turned: &turned, reach: &reach, order: &order }.find(budget);
    let mut stage = vec![0u32; draft.len()];
    let mut now = 0;
    for (at, &node) in order.iter().enumerate() {
        now += u32::from(at > 0 && cuts[at]);
        stage[node as usize] = now;
    }
    draft.split(&stage, now as usize + 1)
}

struct Cuts<'a> {
    net: &'a Net,
    turned: &'a Net,
    reach: &'a Reach,
    order: &'a [u32],
}

impl Cuts<'_> {
    /// Per position of the order: whether the nodes before it are such a downset.
    fn find(&self, budget: &mut Budget) -> Vec<bool> {
        let n = self.order.len();
        let mut place = vec![0usize; n];
        self.order.iter().enumerate().for_each(|(at, &node)| place[node as usize] = at);
        let mut state = State::new(self.net);
        let mut alive = vec![state.alive];
        alive.extend(self.order.iter().map(|&node| state.run(node).alive).collect::<Vec<_>>());
        // Nodes none of whose successors ran.
        let mut last: std::collections::BTreeSet<u32> = std::collections::BTreeSet::new();
        let mut first: std::collections::BTreeSet<u32> =
            (0..n as u32).filter(|&node| self.net.before[node as usize].is_empty()).collect();
        let mut cuts = vec![false; n];
        for at in 0..n {
            if budget.check().is_some() {
                break;
            }
            let (before, next) = (at.checked_sub(1).map(|at| self.order[at]), self.order[at]);
            if let Some(before) = before {
                let all = self.common(&last, |node| self.reach.after(node));
                let none = self.common(&first, |node| self.reach.before(node));
                let within = |row: &[u64], node: u32| row[node as usize / 64] >> (node % 64) & 1 == 1;
                let quick = (within(&all, next) || alive[at + 1] >= alive[at])
                    && (within(&none, before) || alive[at - 1] >= alive[at]);
                cuts[at] =
                    quick && self.holds(at, &place, &|node| within(&all, node), &|node| within(&none, node));
            }
            first.remove(&next);
            for &after in &self.net.after[next as usize] {
                if self.net.before[after as usize].iter().all(|&node| place[node as usize] <= at) {
                    first.insert(after);
                }
            }
            self.net.before[next as usize].iter().for_each(|node| {
                last.remove(node);
            });
            last.insert(next);
        }
        cuts
    }

    fn common<'b>(
        &self,
        nodes: &std::collections::BTreeSet<u32>,
        row: impl Fn(usize) -> &'b [u64],
    ) -> Vec<u64> {
        let mut all = vec![u64::MAX; self.reach.words];
        for &node in nodes {
            all.iter_mut().zip(row(node as usize)).for_each(|(own, row)| *own &= row);
        }
        all
    }

    /// Both conditions, by minimum cuts.
    fn holds(
        &self,
        at: usize,
        place: &[usize],
        later: &dyn Fn(u32) -> bool,
        earlier: &dyn Fn(u32) -> bool,
    ) -> bool {
        let after: Vec<u32> =
            self.order[at..].iter().copied().filter(|&node| !later(node)).take(WIDEST + 1).collect();
        let before: Vec<u32> =
            self.order[..at].iter().copied().filter(|&node| !earlier(node)).take(WIDEST + 1).collect();
        after.len() <= WIDEST
            && before.len() <= WIDEST
            && is_least(self.net, &|node| place[node as usize] < at, &after)
            && is_least(self.turned, &|node| place[node as usize] >= at, &before)
    }
}
