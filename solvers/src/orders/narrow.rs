//! Cuts at downsets that some optimal order passes.
//!
//! Let `M` be a downset, `U` the nodes not in `M` that depend on all of `M`, and `L` the nodes of `M` that
//! all others depend on. Suppose no downset between `M` and the complement of `U` has fewer live bytes than
//! `M`, and none between `L` and `M`. Then some order of minimum peak passes `M`, and both sides of it can be
//! solved separately.
//!
//! Proof: let `D_0, D_1, ...` be any order. Up to the step that runs the first node of `U`, `D_i or M` lies
//! between `M` and the complement of `U`. The downsets `D_i and M` lead to `M`, and by submodularity
//! `live(D_i and M) <= live(D_i) + live(M) - live(D_i or M) <= live(D_i)`; the same holds during each node.
//! From the first step that runs a node not in `M`, `L` has run and `D_i and M` lies between `L` and `M`. The
//! downsets `D_i or M` then lead from `M` to the end and are no higher either.
//!
//! If a node is comparable with all others, both conditions are vacuous. Candidates are the downsets of a
//! greedy order and, if a neighbouring downset has fewer live bytes, that one. After a cut the rest is a
//! separate problem.

use super::draft::{Draft, Reach};
use super::flow::lower;
use super::net::{Net, bits};
use plimsoll_model::Budget;
use std::collections::BTreeSet;

/// Largest number of nodes on either side that are neither in `U` nor in `L`.
const WIDEST: usize = 400;

/// Limit on moving a candidate to a downset with fewer live bytes.
const MOST_MOVES: usize = 4;

/// With more nodes since the last cut, only some downsets are tried, ever more sparsely.
const FEW: usize = 128;

/// Cuts a part at safe downsets found along an order. O(n^2 / 64 width) and a few flows per downset; ends
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
    /// The nodes before the last cut, and those ready after it.
    ran: Vec<u64>,
    ready: BTreeSet<u32>,
    /// Per node: the number of cuts before it.
    stage: Vec<u32>,
    made: u32,
}

fn has(row: &[u64], node: u32) -> bool {
    row[node as usize / 64] >> (node % 64) & 1 == 1
}

impl Cuts<'_> {
    /// Tries the downsets of an order in sequence.
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
        // The remaining nodes come after the last cut.
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

    /// The nodes that are ready after the last cut and the nodes in `own`.
    fn ready_after(&self, own: &BTreeSet<u32>) -> BTreeSet<u32> {
        let ran = |node: &u32| has(&self.ran, *node) || own.contains(node);
        let next = own.iter().flat_map(|&node| self.net.after[node as usize].iter().copied());
        let fresh = next.filter(|&node| self.net.before[node as usize].iter().all(ran));
        self.ready.iter().copied().chain(fresh).filter(|node| !ran(node)).collect()
    }

    /// Moves a downset (the last cut and `own`) until both conditions of the module hold. Returns false if no
    /// such downset is found.
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

    /// Nodes that have not run and do not depend on all of `own`, and nodes of `own` that not all remaining
    /// nodes depend on. `None` if there are too many.
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

    /// The intersection of the rows of all these nodes.
    fn common<'b>(&self, nodes: impl Iterator<Item = u32>, row: impl Fn(usize) -> &'b [u64]) -> Vec<u64> {
        let mut all = vec![u64::MAX; self.reach.words];
        for node in nodes {
            all.iter_mut().zip(row(node as usize)).for_each(|(own, row)| *own &= row);
        }
        all
    }
}
