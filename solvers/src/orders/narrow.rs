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
//! Where a node is comparable with all others, both conditions are empty. Candidates are the downsets of a greedy order,
//! and, where one of those has less alive in its way, that one. After a cut the rest is a problem by itself.

use super::draft::{Draft, Reach};
use super::flow::lower;
use super::net::{Net, bits};
use plimsoll_model::Budget;
use std::collections::BTreeSet;

/// Most nodes on either side that are neither in `U` nor in `L`.
const WIDEST: usize = 400;

/// A candidate is moved to what has less alive at most so many times.
const MOST_MOVES: usize = 4;

/// Beyond so many nodes since the last cut, only some downsets are tried: ever fewer.
const FEW: usize = 128;

/// Cuts a part at downsets that lose nothing, found along an order. O(n^2 / 64 width) and a few flows per downset; ends
/// early with the budget.
pub(super) fn narrow(draft: Draft, order: &[u32], budget: &mut Budget) -> Vec<Draft> {
    let (net, turned) = (Net::of(&draft), Net::of(&draft.reversed()));
    let reach = Reach::of(&draft);
    let ready = (0..draft.len() as u32).filter(|&node| net.before[node as usize].is_empty()).collect();
    let stage = vec![0; draft.len()];
    let ran = vec![0; reach.words];
    let mut cuts = Cuts { net: &net, turned: &turned, reach: &reach, ran, ready, stage, made: 0 };
    cuts.find(order, budget);
    let Cuts { stage, made, .. } = cuts;
    draft.split(&stage, made as usize + 1)
}

struct Cuts<'a> {
    net: &'a Net,
    turned: &'a Net,
    reach: &'a Reach,
    /// The last cut, and what is ready after it.
    ran: Vec<u64>,
    ready: BTreeSet<u32>,
    /// Per node: how many cuts come before it.
    stage: Vec<u32>,
    made: u32,
}

fn has(row: &[u64], node: u32) -> bool {
    row[node as usize / 64] >> (node % 64) & 1 == 1
}

impl Cuts<'_> {
    /// Tries the downsets of an order one after the other.
    fn find(&mut self, order: &[u32], budget: &mut Budget) {
        let n = self.net.len();
        // Nodes that ran after the last cut.
        let mut since: BTreeSet<u32> = BTreeSet::new();
        for &node in order {
            if has(&self.ran, node) {
                continue;
            }
            since.insert(node);
            if !since.len().is_multiple_of((since.len() / FEW).next_power_of_two()) {
                continue;
            }
            if budget.check().is_some() {
                break;
            }
            let mut own = since.clone();
            if self.settle(&mut own) && !own.is_empty() && self.count() + own.len() < n {
                self.cut(&own);
                since.retain(|node| !own.contains(node));
            }
        }
        // What is left comes after the last cut.
        let left: Vec<u32> = (0..n as u32).filter(|&node| !has(&self.ran, node)).collect();
        for node in left {
            self.stage[node as usize] = self.made;
        }
    }

    fn count(&self) -> usize {
        super::draft::count(&self.ran)
    }

    fn cut(&mut self, own: &BTreeSet<u32>) {
        for &node in own {
            self.ran[node as usize / 64] |= 1 << (node % 64);
            self.stage[node as usize] = self.made;
        }
        self.made += 1;
        self.ready = self.ready_after(own);
    }

    /// What is ready after the last cut and these nodes.
    fn ready_after(&self, own: &BTreeSet<u32>) -> BTreeSet<u32> {
        let ran = |node: &u32| has(&self.ran, *node) || own.contains(node);
        let next = own.iter().flat_map(|&node| self.net.after[node as usize].iter().copied());
        let fresh = next.filter(|&node| self.net.before[node as usize].iter().all(ran));
        self.ready.iter().copied().chain(fresh).filter(|node| !ran(node)).collect()
    }

    /// Moves a downset, which is the last cut and `own`, until both conditions hold; false where they do not.
    fn settle(&self, own: &mut BTreeSet<u32>) -> bool {
        for _ in 0..=MOST_MOVES {
            let Some((after, before)) = self.sides(own) else { return false };
            let ran = |node: u32| has(&self.ran, node) || own.contains(&node);
            if let Some(more) = lower(self.net, &ran, &after) {
                own.extend(more);
            } else if let Some(less) = lower(self.turned, &|node| !ran(node), &before) {
                own.retain(|node| !less.contains(node));
            } else {
                return true;
            }
        }
        false
    }

    /// Nodes that have not run and do not wait for all of `own`; nodes of `own` that not all of those left wait for.
    /// None where there are too many.
    fn sides(&self, own: &BTreeSet<u32>) -> Option<(Vec<u32>, Vec<u32>)> {
        let inner = |node: &u32| self.net.after[*node as usize].iter().any(|next| own.contains(next));
        let last = own.iter().copied().filter(|node| !inner(node));
        let later = self.common(last, |node| self.reach.after(node));
        let ready = self.ready_after(own);
        let earlier = self.common(ready.into_iter(), |node| self.reach.before(node));
        let n = self.net.len();
        let mut free: Vec<u64> = (0..self.reach.words).map(|word| !later[word] & !self.ran[word]).collect();
        if !n.is_multiple_of(64) {
            free[n / 64] &= (1 << (n % 64)) - 1;
        }
        for &node in own {
            free[node as usize / 64] &= !(1 << (node % 64));
        }
        let after: Vec<u32> = bits(&free).take(WIDEST + 1).collect();
        let before: Vec<u32> = own.iter().copied().filter(|&node| !has(&earlier, node)).collect();
        (after.len() <= WIDEST && before.len() <= WIDEST).then_some((after, before))
    }

    /// The bits that the rows of all these nodes have.
    fn common<'b>(&self, nodes: impl Iterator<Item = u32>, row: impl Fn(usize) -> &'b [u64]) -> Vec<u64> {
        let mut all = vec![u64::MAX; self.reach.words];
        for node in nodes {
            all.iter_mut().zip(row(node as usize)).for_each(|(own, row)| *own &= row);
        }
        all
    }
}
