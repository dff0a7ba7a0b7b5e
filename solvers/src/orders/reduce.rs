//! Reductions that remove nodes and preserve the optimum, with proof sketches.
//!
//! A node `v` *never relieves* if the storages that it may end are in total no larger than those that it
//! certainly begins. While none of the successors of such a node has run, undoing the node never increases
//! the live bytes. Let `v` run as late as possible, directly before the first of its successors, `u`. This
//! raises the live bytes at no step in between. While `v` itself runs, it needs at most its worst-case
//! requirement in addition to the bytes live before it. Suppose that this requirement is at most the bytes
//! that `v` certainly adds, plus the least requirement of `u`. Then the peak of `u` is at least that of `v`,
//! and `v` can be *delayed* at no cost:
//!
//! - **fuse**: if `u` is the only successor of `v`, both become one node. This collapses chains of
//!   element-wise operators. The mirror image of this rule also applies: if `v` is the only predecessor of
//!   `u`, `u` may run directly after `v`.
//! - **lazy**: a node `v` without predecessors is omitted if all storages that it shares with other nodes
//!   always begin with `v` and are touched by all its successors. Its storages begin with the successor that
//!   runs first, and `v` is reinserted directly before that successor. All successors of `v` must be single
//!   operators. Lazy nodes read only constants. They are always ready, so they would multiply the number of
//!   downsets. The fixed rule of the CANN graph engine (GE) is similar, but does not check these conditions.
//! - **transitive**: edges implied by other edges are removed.
//! - **constants**: bytes that are always live within a part are added to its base ([`Draft::tidied`]).
//! - **divide**: if a node is comparable with all others, every order passes through the downsets directly
//!   before and after it. The peak of the problem is then the highest peak of a part (Ahn et al. 2020).
//! - **narrow**: the problem is cut at downsets that some optimal order passes through
//!   ([`narrow`](super::narrow)).
//! - **hills**: independent parts are solved separately and merged ([`hills`](super::hills)).

use super::draft::{Draft, Reach, Work, count};
use plimsoll_model::orders::OrderProblem;
use plimsoll_model::{Budget, OperatorId};
use std::collections::{HashMap, HashSet, VecDeque};

/// The reductions to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Whether to fuse nodes with their only successor or their only predecessor.
    pub fuse: bool,
    /// Whether to omit *lazy* nodes, which have no predecessors and read only constants.
    pub lazy: bool,
    /// Whether to cut the problem at downsets that every order passes through.
    pub divide: bool,
    /// Whether to cut the problem at downsets that some optimal order passes through.
    pub narrow: bool,
    /// Whether [`Method::Staged`](super::Method::Staged) merges independent parts by their hills and valleys.
    pub hills: bool,
    /// Whether [`Method::Staged`](super::Method::Staged) also solves the problem without small operators at
    /// its end, for a bound.
    pub relax: bool,
}

impl Default for Reductions {
    fn default() -> Self {
        Self { fuse: true, lazy: true, divide: true, narrow: true, hills: true, relax: true }
    }
}

/// The operators of each omitted node. The operators of a node run consecutively, before the first operator
/// that depends on one of them.
pub(super) type Excluded = Vec<Vec<OperatorId>>;

/// Reduces a draft to a fixpoint and adds omitted nodes to `gone`. Ends early if the budget runs out. The
/// time is O(p n e / 64) for p passes, n nodes and e edges. In practice, there are few passes.
pub(super) fn reduce(mut draft: Draft, rules: Reductions, gone: &mut Excluded, budget: &mut Budget) -> Draft {
    let mut reach = Reach::of(&draft);
    thin(&mut draft, &reach);
    let mut before = draft.len() + 1;
    while rules.lazy && draft.len() < before && budget.check().is_none() {
        before = draft.len();
        draft = without_lazy(draft, &reach, gone);
        reach = Reach::of(&draft);
    }
    before = draft.len() + 1;
    while rules.fuse && draft.len() < before && budget.check().is_none() {
        before = draft.len();
        draft = fuse(draft, &reach, budget);
        reach = Reach::of(&draft);
        thin(&mut draft, &reach);
        draft = fuse(draft.reversed(), &reach.reversed(), budget).reversed();
        reach = Reach::of(&draft);
        thin(&mut draft, &reach);
    }
    draft
}

/// Removes edges that are implied by other edges.
fn thin(draft: &mut Draft, reach: &Reach) {
    for at in 0..draft.len() {
        let list = draft.before[at].clone();
        let follows = |a: u32| list.iter().any(|&b| reach.precedes(a, b));
        draft.before[at].retain(|&a| !follows(a));
        let list = draft.after[at].clone();
        let follows = |a: u32| list.iter().any(|&b| reach.precedes(b, a));
        draft.after[at].retain(|&a| !follows(a));
    }
}

/// Bounds on the bytes that a node needs in addition to the bytes live before it. They are valid for any set
/// of nodes that have run.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// Upper bound on the bytes that the most expensive step of the node needs. `least` is the lower bound.
    most: i128,
    least: i128,
    /// Lower bound on the live bytes that the node adds.
    adds: i128,
}

struct View<'a> {
    draft: Draft,
    reach: &'a Reach,
    users: Vec<Vec<u32>>,
}

impl<'a> View<'a> {
    fn of(draft: Draft, reach: &'a Reach) -> Self {
        let users = draft.users();
        Self { draft, reach, users }
    }

    fn others(&self, node: u32, s: u32) -> impl Iterator<Item = u32> {
        self.users[s as usize].iter().copied().filter(move |&user| user != node)
    }

    /// Returns whether a node can be the first to touch a storage, and whether it always is.
    fn begins(&self, node: u32, s: u32) -> (bool, bool) {
        let begun = self.draft.stores[s as usize].begun;
        let may = !begun && !self.others(node, s).any(|user| self.reach.precedes(user, node));
        (may, may && self.others(node, s).all(|user| self.reach.precedes(node, user)))
    }

    /// Returns whether a node can be the last to touch a storage, and whether it always is.
    fn ends(&self, node: u32, s: u32) -> (bool, bool) {
        let kept = self.draft.stores[s as usize].kept;
        let may = !kept && !self.others(node, s).any(|user| self.reach.precedes(node, user));
        (may, may && self.others(node, s).all(|user| self.reach.precedes(user, node)))
    }

    /// Returns the bounds of a node. The time is linear in the number of storages that it touches, plus the
    /// number of their users.
    fn range(&self, node: u32) -> Range {
        let works = &self.draft.nodes[node as usize];
        let mut last: HashMap<u32, usize> = HashMap::new();
        for (at, work) in works.iter().enumerate() {
            last.extend(work.touch.iter().map(|&s| (s, at)));
        }
        let mut seen = HashSet::new();
        let (mut most, mut least) = (i128::MIN, i128::MIN);
        let (mut high, mut low) = (0i128, 0i128);
        for (at, work) in works.iter().enumerate() {
            for &s in work.touch.iter().filter(|&&s| seen.insert(s)) {
                let size = i128::from(self.draft.stores[s as usize].size);
                let (may, must) = self.begins(node, s);
                high += if may { size } else { 0 };
                low += if must { size } else { 0 };
            }
            most = most.max(high + i128::from(work.scratch));
            least = least.max(low + i128::from(work.scratch));
            for &s in work.touch.iter().filter(|&s| last.get(s) == Some(&at)) {
                let size = i128::from(self.draft.stores[s as usize].size);
                let (may, must) = self.ends(node, s);
                high -= if must { size } else { 0 };
                low -= if may { size } else { 0 };
            }
        }
        Range { most, least, adds: low }
    }
}

/// Returns true if `v` can be delayed at no cost until directly before `u`.
fn delays(v: Range, u: Range) -> bool {
    v.adds >= 0 && v.most <= v.adds + u.least
}

/// Fuses nodes with their only successor if this does not raise the optimum.
///
/// The successor represents both nodes. Predecessors of the successor then precede both nodes. The first node
/// has no other successor. Reachability therefore need not be recomputed.
fn fuse(draft: Draft, reach: &Reach, budget: &mut Budget) -> Draft {
    let mut queue: VecDeque<u32> = draft.sorted().into_iter().rev().collect();
    let mut view = View::of(draft, reach);
    let mut ranges: Vec<Option<Range>> = vec![None; view.draft.len()];
    let mut gone = vec![false; view.draft.len()];
    let mut looks = 0usize;
    while let Some(v) = queue.pop_front() {
        looks += 1;
        if looks.is_multiple_of(256) && budget.check().is_some() {
            break;
        }
        let [u] = view.draft.after[v as usize][..] else { continue };
        if gone[v as usize] {
            continue;
        }
        for node in [u, v] {
            if ranges[node as usize].is_none() {
                ranges[node as usize] = Some(view.range(node));
            }
        }
        if let (Some(first), Some(second)) = (ranges[v as usize], ranges[u as usize])
            && delays(first, second)
        {
            queue.extend(&view.draft.before[v as usize]);
            queue.push_back(u);
            view.join(v, u);
            gone[v as usize] = true;
            ranges[u as usize] = None;
        }
    }
    let (draft, _) = without(view.draft, &gone);
    draft
}

impl View<'_> {
    /// Prepends a node to its only successor.
    fn join(&mut self, v: u32, u: u32) {
        let works = std::mem::take(&mut self.draft.nodes[v as usize]);
        for &s in works.iter().flat_map(|work| &work.touch) {
            let users = &mut self.users[s as usize];
            users.retain(|&user| user != v && user != u);
            let at = users.partition_point(|&user| user < u);
            users.insert(at, u);
        }
        self.draft.nodes[u as usize].splice(0..0, works);
        self.draft.before[u as usize].retain(|&node| node != v);
        for node in std::mem::take(&mut self.draft.before[v as usize]) {
            let list = &self.draft.before[u as usize];
            let follows = list.contains(&node) || list.iter().any(|&other| self.reach.precedes(node, other));
            let after = &mut self.draft.after[node as usize];
            after.retain(|&next| next != v);
            if !follows {
                after.push(u);
                self.draft.before[u as usize].push(node);
            }
        }
        self.draft.after[v as usize].clear();
    }
}

/// Removes the nodes in `gone`. Returns the remaining draft and the operators of the removed nodes.
fn without(mut draft: Draft, gone: &[bool]) -> (Draft, Vec<Vec<Work>>) {
    let mut place = vec![None; draft.len()];
    for (left, at) in (0..draft.len()).filter(|&at| !gone[at]).enumerate() {
        place[at] = Some(left as u32);
    }
    let keep = |lists: &[Vec<u32>]| -> Vec<Vec<u32>> {
        let left = lists.iter().zip(gone).filter(|&(_, &gone)| !gone);
        left.map(|(list, _)| list.iter().filter_map(|&other| place[other as usize]).collect()).collect()
    };
    (draft.before, draft.after) = (keep(&draft.before), keep(&draft.after));
    let mut dropped = Vec::new();
    let mut nodes = Vec::with_capacity(draft.before.len());
    for (node, gone) in std::mem::take(&mut draft.nodes).into_iter().zip(gone) {
        if *gone { dropped.push(node) } else { nodes.push(node) }
    }
    draft.nodes = nodes;
    (draft.tidied(), dropped)
}

/// Omits the lazy nodes and adds them to `excluded`.
fn without_lazy(draft: Draft, reach: &Reach, excluded: &mut Excluded) -> Draft {
    let view = View::of(draft, reach);
    let gone: Vec<bool> = (0..view.draft.len() as u32).map(|v| view.is_lazy(v)).collect();
    let (draft, dropped) = without(view.draft, &gone);
    excluded.extend(dropped.iter().map(|node| node.iter().map(|work| work.operator).collect()));
    draft
}

impl View<'_> {
    /// Returns true if a node has no predecessors and can be delayed, at no cost, until directly before the
    /// first of its successors.
    fn is_lazy(&self, v: u32) -> bool {
        let (waits, next) = (&self.draft.before[v as usize], &self.draft.after[v as usize]);
        // The node is reinserted before one of its successors. Each of them must be a single operator that
        // touches all storages of the node, except private ones.
        let single = |u: &u32| self.draft.nodes[*u as usize].len() == 1;
        if !waits.is_empty() || next.is_empty() || !next.iter().all(single) {
            return false;
        }
        let touch: HashSet<u32> =
            self.draft.nodes[v as usize].iter().flat_map(|work| work.touch.iter().copied()).collect();
        // A private storage is live only while the node runs. The range of the node accounts for it.
        let own = |s: u32| {
            let store = self.draft.stores[s as usize];
            self.users[s as usize].len() == 1 && !store.begun && !store.kept
        };
        let touches = |u: u32, s: u32| self.users[s as usize].binary_search(&u).is_ok();
        let mut shared = touch.into_iter().filter(|&s| !own(s));
        let range = self.range(v);
        range.adds >= 0
            && shared.all(|s| self.begins(v, s).1 && next.iter().all(|&u| touches(u, s)))
            // A node that needs at most the bytes that it adds can run before any successor.
            && (range.most <= range.adds || next.iter().all(|&u| delays(range, self.range(u))))
    }
}

/// Splits a draft at the downsets that every order passes through. The parts are in execution order. The time
/// is O(n (n + e) / 64) for n nodes and e edges.
pub(super) fn divide(draft: Draft) -> Vec<Draft> {
    let reach = Reach::of(&draft);
    let n = draft.len();
    let all = |at: &usize| count(reach.before(*at)) + count(reach.after(*at)) + 1 == n;
    let mut cuts: Vec<(usize, usize)> = (0..n).filter(all).map(|at| (count(reach.before(at)), at)).collect();
    cuts.sort_unstable();
    // Odd stages are the cut nodes; even stages lie between them.
    let mut stage = vec![0u32; n];
    for (turn, &(_, cut)) in cuts.iter().enumerate() {
        super::net::bits(reach.after(cut)).for_each(|node| stage[node as usize] = 2 * turn as u32 + 2);
        stage[cut] = 2 * turn as u32 + 1;
    }
    draft.split(&stage, 2 * cuts.len() + 1)
}

/// Inserts the omitted operators into an order. The time is linear in the size of the problem unless
/// operators have many omitted predecessors.
pub(super) fn complete(problem: &OrderProblem, gone: &Excluded, order: &[OperatorId]) -> Vec<OperatorId> {
    let mut group = vec![usize::MAX; problem.len()];
    for (at, list) in gone.iter().enumerate() {
        for id in list {
            group[id.index()] = at;
        }
    }
    let mut done = vec![false; problem.len()];
    let mut whole = Vec::with_capacity(problem.len());
    let mut todo: Vec<OperatorId> = Vec::new();
    for &id in order {
        todo.push(id);
        while let Some(&next) = todo.last() {
            // A node that was omitted later may itself have omitted predecessors, so it is handled first.
            let missing = problem.predecessors(next).iter().filter(|id| !done[id.index()]);
            let wanted = missing.max_by_key(|id| group[id.index()]);
            // An omitted operator runs together with the other operators of its node.
            let members = gone.get(group[next.index()]).map_or(&[][..], Vec::as_slice);
            let earlier = members.iter().take_while(|&&id| id != next).find(|id| !done[id.index()]);
            if let Some(&first) = wanted.or(earlier) {
                todo.push(first);
                continue;
            }
            todo.pop();
            if !std::mem::replace(&mut done[next.index()], true) {
                whole.push(next);
                let later = members.iter().rev().filter(|id| !done[id.index()]);
                todo.extend(later.copied().collect::<Vec<_>>());
            }
        }
    }
    whole
}
