//! Cuts a problem at downsets that some optimal order passes through.
//!
//! Let `M` be a downset. Let `U` be the nodes outside `M` that depend on all nodes of `M`. Let `L` be the
//! nodes of `M` on which all nodes outside `M` depend. Suppose that no downset between `M` and the complement
//! of `U`, and none between `L` and `M`, has fewer live bytes than `M`. Then some order of minimum peak
//! passes through `M`, and the problem can be solved separately before and after `M`.
//!
//! Proof, in which `and` denotes intersection and `or` denotes union: let `D_0, D_1, ...` be the downsets of
//! any order. Until the first node of `U` runs, `D_i or M` lies between `M` and the complement of `U`. The
//! downsets `D_i and M` form a path to `M`. By submodularity,
//! `live(D_i and M) <= live(D_i) + live(M) - live(D_i or M) <= live(D_i)`; the same holds while each node
//! runs. Once a node outside `M` runs, `L` has run, and `D_i and M` lies between `L` and `M`. From then on,
//! the downsets `D_i or M` form a path from `M` to the end, and by the same argument they have no more live
//! bytes than the downsets `D_i`.
//!
//! If a node is comparable with all others, both conditions hold trivially for the downsets directly before
//! and after it. Candidates are the downsets of a greedy order. If a downset near a candidate has fewer live
//! bytes, it becomes the candidate. After a cut, the remaining nodes form a separate problem.

use super::draft::{Draft, Reach};
use super::flow::lower;
use super::net::{Net, bits};
use plimsoll_model::Budget;
use std::collections::BTreeSet;

/// Maximum number of nodes on either side of a candidate that are neither in `U` nor in `L`.
const WIDEST: usize = 400;

/// Maximum number of times that a candidate moves to a downset with fewer live bytes.
const MOST_MOVES: usize = 4;

/// Divisor of the number of nodes since the last cut. The quotient, rounded up to a power of two, is the
/// distance between the downsets that are tried.
const FEW: usize = 128;

/// Cuts a part at suitable downsets found along an order. Ends early if the budget runs out. The time is
/// O(n^2 w / 64), plus a few flows per downset, for n nodes of which at most w are pairwise incomparable.
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
    /// The nodes before the last cut. `ready` contains the nodes that are ready after it.
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
    /// Tries to cut at each downset of an order in turn.
    fn find(&mut self, order: &[u32], budget: &mut Budget) {
        let n = self.net.len();
        // Nodes of the order so far that follow the last cut.
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
        // The remaining nodes follow the last cut.
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

    /// Returns the nodes that are ready once the nodes before the last cut and those in `own` have run.
    fn ready_after(&self, own: &BTreeSet<u32>) -> BTreeSet<u32> {
        let ran = |node: &u32| has(&self.ran, *node) || own.contains(node);
        let next = own.iter().flat_map(|&node| self.net.after[node as usize].iter().copied());
        let fresh = next.filter(|&node| self.net.before[node as usize].iter().all(ran));
        self.ready.iter().copied().chain(fresh).filter(|node| !ran(node)).collect()
    }

    /// Changes `own` until the downset of the nodes before the last cut and those in `own` satisfies both
    /// conditions in the documentation of this module. Returns false if no such downset is found.
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

    /// Returns the nodes outside the downset that do not depend on all of `own`, and the nodes of `own` on
    /// which not all nodes outside depend. Returns `None` if either list has more than [`WIDEST`] nodes.
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

    /// Returns the intersection of the rows of all `nodes`.
    fn common<'b>(&self, nodes: impl Iterator<Item = u32>, row: impl Fn(usize) -> &'b [u64]) -> Vec<u64> {
        let mut all = vec![u64::MAX; self.reach.words];
        for node in nodes {
            all.iter_mut().zip(row(node as usize)).for_each(|(own, row)| *own &= row);
        }
        all
    }
}
