//! Orders of minimum peak from hills and valleys: merges independent parts of a problem without a search over
//! their interleavings.
//!
//! The orders are [sequences of segments](plimsoll_heuristics::orders::strings). The sequence of a part is
//! computed as follows, so that it is optimal beside any independent part:
//! - *Components* share neither edges nor storages. Their sequences are merged.
//! - If one node precedes or follows all others, its segment comes first or last. The others may then fall
//!   apart into components.
//! - A storage that all nodes without predecessors touch begins at the start, and one that all nodes without
//!   successors touch ends at the end. It is treated like such a node, so that it does not connect others.
//! - Other parts are searched. Take a downset with the fewest live bytes. From the start to this downset,
//!   take the lowest hill behind which no more bytes are live than before, and go on to the lowest valley
//!   that can be reached without a higher hill. No downset between the ends of this run has fewer live bytes,
//!   so it is a safe run ([`settle`](super::settle)). Repeat this until the downset is reached. From the end
//!   to the downset, do the same with time reversed. The search visits downsets in order of increasing hill.
//!   It is exponential in the worst case, and limited.
//!
//! Without a search, the time is O(d n) for n nodes, d of which precede or follow all other nodes of a
//! component, plus the time of merging.
//!
//! **Source.** Liu 1987 for trees, Abdel-Wahab and Kameda 1978 for series-parallel graphs. The searched parts
//! were added in this project.

use super::draft::{Draft, Store};
use super::flow::lower;
use super::net::{Net, State, bits};
use plimsoll_heuristics::orders::strings::{Chains, Sequence};
use plimsoll_model::Budget;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Maximum number of nodes of a component whose downsets are searched.
const MOST_SEARCHED: usize = 64;

/// Maximum number of nested components, which limits the stack.
const MOST_DEPTH: usize = 200;

/// Number of nodes of a component that are charged as one node of the budget.
const CHARGED: usize = 64;

/// Two differences to the live bytes before a node: their maximum while the node runs, and the live bytes
/// after it.
#[derive(Clone, Copy, Debug)]
struct Effect {
    hill: i64,
    net: i64,
}

impl Effect {
    /// Returns the effect of a node that can run next.
    fn of(state: &State<'_>, node: u32) -> Self {
        let (effect, live) = (state.probe(node), i128::from(state.live));
        let beyond =
            |bytes: u64| i64::try_from(i128::from(bytes) - live).expect("fewer than 2^63 live bytes");
        Self { hill: beyond(effect.peak), net: beyond(effect.live) }
    }

    fn reversed(self) -> Self {
        Self { hill: self.hill - self.net, net: -self.net }
    }
}

/// Returns the component of each node, and the number of components. The time is linear.
fn components(draft: &Draft) -> (Vec<u32>, u32) {
    let users = draft.users();
    let (mut component, mut count) = (vec![u32::MAX; draft.len()], 0);
    let mut seen = vec![false; users.len()];
    for first in 0..draft.len() {
        if component[first] != u32::MAX {
            continue;
        }
        component[first] = count;
        let mut open = vec![first];
        while let Some(at) = open.pop() {
            let touched = draft.nodes[at].iter().flat_map(|work| &work.touch);
            let fresh = touched.filter(|&&s| !std::mem::replace(&mut seen[s as usize], true));
            let near = fresh.flat_map(|&s| &users[s as usize]);
            for &next in near.chain(&draft.before[at]).chain(&draft.after[at]) {
                if std::mem::replace(&mut component[next as usize], count) == u32::MAX {
                    open.push(next as usize);
                }
            }
        }
        count += 1;
    }
    (component, count)
}

/// A piece of a draft, with the numbers of its nodes in the whole draft.
struct Piece {
    draft: Draft,
    names: Vec<u32>,
}

impl Piece {
    /// Returns one piece per stage. All nodes of a stage run before those of the next one, or have nothing in
    /// common with them.
    fn split(self, stage: &[u32], stages: usize) -> Vec<Self> {
        let mut names = vec![Vec::new(); stages];
        stage.iter().zip(self.names).for_each(|(&stage, name)| names[stage as usize].push(name));
        // Stages without nodes are omitted.
        let mut drafts = self.draft.split(stage, stages).into_iter();
        let whole = |names: Vec<u32>| {
            let draft = if names.is_empty() { None } else { drafts.next() };
            Self { draft: draft.unwrap_or_default(), names }
        };
        names.into_iter().map(whole).collect()
    }

    /// Returns the piece without a node that runs first or last.
    fn without(self, node: u32, is_first: bool) -> Self {
        let mut stage = vec![u32::from(is_first); self.names.len()];
        stage[node as usize] = u32::from(!is_first);
        self.split(&stage, 2).swap_remove(usize::from(is_first))
    }

    /// Returns the components.
    fn components(self) -> Vec<Self> {
        let (component, count) = components(&self.draft);
        if count <= 1 { vec![self] } else { self.split(&component, count as usize) }
    }

    /// Returns the effect of a node that runs first.
    fn first(&self, node: u32) -> Effect {
        let net = Net::of(&self.draft);
        Effect::of(&State::new(&net), node)
    }

    /// Sets a flag of all storages that every node of `nodes` touches. Returns their total size, or `None` if
    /// there is no such storage without the flag.
    fn hold(&mut self, nodes: &[u32], flag: fn(&mut Store) -> &mut bool) -> Option<i64> {
        let nodes: Vec<_> = nodes.iter().map(|&node| &self.draft.nodes[node as usize]).collect();
        let (first, others) = nodes.split_first()?;
        let mut all: Vec<u32> = first.iter().flat_map(|work| work.touch.clone()).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|s| others.iter().all(|node| node.iter().any(|work| work.touch.contains(s))));
        let mut bytes = None;
        for s in all {
            let store = &mut self.draft.stores[s as usize];
            if !std::mem::replace(flag(store), true) {
                *bytes.get_or_insert(0) += store.size as i64;
            }
        }
        if bytes.is_some() {
            self.draft = std::mem::take(&mut self.draft).tidied();
        }
        bytes
    }

    /// Finds a sequence by a search over all downsets. Returns `None` if the piece is too large or the budget
    /// runs out.
    fn searched(self, chains: &mut Chains, budget: &mut Budget) -> Option<Sequence> {
        if self.draft.len() > MOST_SEARCHED {
            return None;
        }
        let all: Vec<u32> = (0..self.draft.len() as u32).collect();
        let lowest = lower(&Net::of(&self.draft), &|_| false, &all).unwrap_or_default();
        let mut stage = vec![1; all.len()];
        for &node in &lowest {
            stage[node as usize] = 0;
        }
        let mut parts = self.split(&stage, 2);
        let after = parts.pop()?;
        let mut jobs = parts.pop()?.descent(budget)?;
        let back = Self { draft: after.draft.reversed(), names: after.names }.descent(budget)?;
        jobs.extend(back.into_iter().rev().map(|(job, effect)| (job, effect.reversed())));
        let single = |(job, Effect { hill, net })| Sequence::single(job, hill, net);
        Some(jobs.into_iter().map(single).fold(Sequence::default(), |all, job| all.then(job, chains)))
    }

    /// Returns all nodes in an order of [runs](next_run). The live bytes are lowest at the end.
    fn descent(self, budget: &mut Budget) -> Option<Vec<(u32, Effect)>> {
        let net = Net::of(&self.draft);
        let mut state = State::new(&net);
        let mut jobs = Vec::new();
        while state.left > 0 {
            for node in next_run(&net, state.done[0], budget)? {
                jobs.push((self.names[node as usize], Effect::of(&state, node)));
                state.run(node);
            }
        }
        Some(jobs)
    }
}

/// Returns the nodes of the run with the lowest hill after the downset `from`, or `None` if the budget runs
/// out. A run ends with no more live bytes than before it.
fn next_run(net: &Net, from: u64, budget: &mut Budget) -> Option<Vec<u32>> {
    let mut state = State::new(net);
    state.load(&[from]);
    let ground = state.live;
    // The highest peak on the way to a downset, the downset, and its last node.
    let mut open = BinaryHeap::from([Reverse((0, from, u32::MAX))]);
    let mut last: HashMap<u64, u32> = HashMap::new();
    let mut best: Option<(u64, Reverse<u32>, u64)> = None;
    let mut hill = u64::MAX;
    while let Some(Reverse((peak, downset, node))) = open.pop() {
        if peak > hill {
            break;
        }
        if last.contains_key(&downset) {
            continue;
        }
        last.insert(downset, node);
        if budget.tick().is_some() {
            return None;
        }
        state.load(&[downset]);
        if downset != from && state.live <= ground {
            hill = peak;
            let own = (state.live, Reverse(downset.count_ones()), downset);
            best = best.map_or(Some(own), |best| Some(best.min(own)));
        }
        let all = || bits(&state.ready).map(|node| (state.probe(node), node));
        // A node that does not increase the live bytes and fits is a safe run.
        let free = all().find(|(effect, _)| effect.live <= state.live && effect.peak <= peak);
        for (effect, node) in all().filter(|next| free.is_none_or(|free| free == *next)) {
            open.push(Reverse((peak.max(effect.peak), downset | 1 << node, node)));
        }
    }
    let (_, _, mut at) = best?;
    let mut nodes = Vec::new();
    while at != from {
        let node = last[&at];
        nodes.push(node);
        at &= !(1 << node);
    }
    nodes.reverse();
    Some(nodes)
}

/// The computation of sequences.
struct Merge<'a> {
    chains: Chains,
    /// The number of jobs so far. Jobs after the nodes only begin or end storages.
    jobs: u32,
    budget: &'a mut Budget,
}

impl Merge<'_> {
    fn job(&mut self, hill: i64, net: i64) -> Sequence {
        self.jobs += 1;
        Sequence::single(self.jobs - 1, hill, net)
    }

    /// Returns the sequence of a piece, or `None` if the limits are reached.
    fn sequence(&mut self, mut piece: Piece, depth: usize) -> Option<Sequence> {
        let free = |lists: &[Vec<u32>]| -> Vec<u32> {
            (0..).zip(lists).filter(|(_, list)| list.is_empty()).map(|(at, _)| at).collect()
        };
        // Sequences that come first, and those that come last, in reversed order.
        let (mut first, mut last) = (Sequence::default(), Vec::new());
        while piece.draft.len() > 0 {
            let charge = 1 + (piece.draft.len() / CHARGED) as u64;
            if depth > MOST_DEPTH || self.budget.spend(charge).is_some() {
                return None;
            }
            let mut components = piece.components();
            if components.len() > 1 {
                let mut middle = Sequence::default();
                for piece in components {
                    middle = middle.beside(self.sequence(piece, depth + 1)?);
                }
                first = first.then(middle, &mut self.chains);
                break;
            }
            piece = components.pop()?;
            let (sources, sinks) = (free(&piece.draft.before), free(&piece.draft.after));
            if let [source] = sources[..] {
                let Effect { hill, net } = piece.first(source);
                let job = Sequence::single(piece.names[source as usize], hill, net);
                first = first.then(job, &mut self.chains);
                piece = piece.without(source, true);
            } else if let [sink] = sinks[..] {
                let back = Piece { draft: piece.draft.reversed(), names: Vec::new() };
                let Effect { hill, net } = back.first(sink).reversed();
                last.push(Sequence::single(piece.names[sink as usize], hill, net));
                piece = piece.without(sink, false);
            } else if let Some(bytes) = piece.hold(&sources, |store| &mut store.begun) {
                let job = self.job(bytes, bytes);
                first = first.then(job, &mut self.chains);
            } else if let Some(bytes) = piece.hold(&sinks, |store| &mut store.kept) {
                last.push(self.job(0, -bytes));
            } else {
                let middle = piece.searched(&mut self.chains, self.budget)?;
                first = first.then(middle, &mut self.chains);
                break;
            }
        }
        Some(last.into_iter().rev().fold(first, |all, next| all.then(next, &mut self.chains)))
    }
}

/// Returns true if a draft consists of several components. The time is linear.
pub(super) fn falls_apart(draft: &Draft) -> bool {
    components(draft).1 > 1
}

/// Returns an order of minimum peak of the nodes of a draft, or `None` if the limits are reached.
pub(super) fn by_hills(draft: &Draft, budget: &mut Budget) -> Option<Vec<u32>> {
    let sizes = draft.stores.iter().map(|store| u128::from(store.size));
    let scratch = draft.works().map(|work| u128::from(work.scratch)).max().unwrap_or(0);
    i64::try_from(sizes.sum::<u128>() + scratch).ok()?;
    let nodes = draft.len() as u32;
    let chains = Chains::new(draft.len() + 2 * draft.stores.len());
    let mut merge = Merge { chains, jobs: nodes, budget };
    let names = (0..nodes).collect();
    let sequence = merge.sequence(Piece { draft: draft.clone(), names }, 0)?;
    let jobs = sequence.segments().flat_map(|segment| merge.chains.jobs(segment));
    Some(jobs.filter(|&job| job < nodes).collect())
}
