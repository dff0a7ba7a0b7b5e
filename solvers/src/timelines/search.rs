//! A depth-first search that branches on the next transfer.

use super::memo::Memo;
use super::node::{Case, Node};
use super::place::{Placed, placed};
use plimsoll_model::timelines::Timeline;
use plimsoll_model::{Budget, Stop};

/// Maximum number of candidates that are sorted by their bound before branching.
const MOST_CHOICES: usize = 48;

pub(super) struct Search<'a> {
    pub case: &'a Case<'a>,
    pub best: Option<Timeline>,
    /// The proved lower bound.
    pub floor: u64,
    /// The smallest makespan among the orders of transfers for whose buffers no addresses were found.
    pub counted: u64,
    /// The number of orders of transfers for whose buffers no addresses were found.
    pub unplaced: u64,
    memo: Memo,
    /// Number of nodes charged per node of the search.
    multiplier: u64,
}

/// A candidate for the next transfer: operator, start, channel.
type Choice = (usize, u64, usize);

impl<'a> Search<'a> {
    pub fn new(case: &'a Case<'a>, best: Option<Timeline>, floor: u64) -> Self {
        let count = case.len() as u64;
        let multiplier = 1 + count * count / 10_000;
        Self { case, best, floor, counted: u64::MAX, unplaced: 0, memo: Memo::default(), multiplier }
    }

    /// Returns the makespan of the best timeline, or `u64::MAX` if there is none. Nodes whose bound reaches
    /// this makespan are pruned.
    pub fn limit(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |best| best.makespan().get())
    }

    /// Searches all completions of a node. Returns the reason if the search stops early.
    pub fn descend(&mut self, node: &Node, budget: &mut Budget) -> Option<Stop> {
        if self.limit() <= self.floor {
            return None;
        }
        if let Some(stop) = budget.spend(self.multiplier) {
            return Some(stop);
        }
        if node.starts.len() == self.case.weighted.len() {
            if node.last() < self.limit() {
                self.leaf(node, budget);
            }
            return None;
        }
        if self.memo.has_better(self.case, node) {
            return None;
        }
        let mut choices: Vec<(u64, Choice)> =
            self.choices(node).into_iter().map(|choice| (0, choice)).collect();
        let is_few = choices.len() <= MOST_CHOICES;
        if is_few {
            for (bound, choice) in &mut choices {
                *bound = self.after(node, *choice).bound(self.case);
            }
            choices.sort_by_key(|&(bound, _)| bound);
        }
        for (bound, choice) in choices {
            if bound >= self.limit() {
                continue;
            }
            let next = self.after(node, choice);
            if !is_few && next.bound(self.case) >= self.limit() {
                continue;
            }
            let stop = crate::offsets::search::deepen(|| self.descend(&next, budget));
            if stop.is_some() {
                return stop;
            }
        }
        None
    }

    fn after(&self, node: &Node, (at, start, channel): Choice) -> Node {
        node.started_on(self.case, at, start, channel)
    }

    /// Returns the candidates for the next transfer. If some completion of the node is optimal, so is a
    /// completion whose next transfer is a candidate.
    fn choices(&self, node: &Node) -> Vec<Choice> {
        let case = self.case;
        if node.calm {
            // The only candidate is the transfer of the first operator whose transfer has not started, on any
            // channel. Of channels that are free at the same time, only the first is tried.
            let at = node.open(case).next();
            let mut free: Vec<(u64, usize)> = node.free.iter().copied().zip(0..).collect();
            free.sort_unstable();
            free.dedup_by_key(|&mut (free, _)| free);
            return at.into_iter().flat_map(|at| free.iter().map(move |&(free, c)| (at, free, c))).collect();
        }
        let (now, channel) = node.next();
        let mut seen: Vec<(i64, u64)> = Vec::new();
        let mut choices = Vec::new();
        for at in node.open(case) {
            let kind = (case.size[at], case.load[at]);
            if seen.contains(&kind) {
                continue;
            }
            seen.push(kind);
            if let Some(start) = node.earliest(case, at, now) {
                choices.push((at, start, channel));
            }
        }
        choices
    }

    fn leaf(&mut self, node: &Node, budget: &mut Budget) {
        if let Placed::At(timeline) = placed(self.case, node, budget) {
            self.best = Some(timeline);
        } else {
            self.counted = self.counted.min(node.last());
            self.unplaced += 1;
        }
    }
}

/// A search over every order of transfers and every start time that addresses may require. It is needed
/// because no free address range may be large enough for a buffer even though enough bytes are free in total.
///
/// In some optimal timeline, no transfer can start earlier with the same addresses and the same order of
/// starts. Each transfer then starts when a channel is free, when the previous transfer starts, or when an
/// operator ends whose buffer or activations occupy the same addresses. The transfer of this operator
/// started earlier, because operators that wait for later transfers end later.
pub(super) struct PlacedSearch<'a> {
    pub case: &'a Case<'a>,
    pub best: Option<Timeline>,
    /// The proved lower bound.
    pub floor: u64,
    /// The smallest makespan of a node for which the existence of addresses is undecided.
    pub open: u64,
}

impl PlacedSearch<'_> {
    fn limit(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |best| best.makespan().get())
    }

    /// Searches all completions of a node, like [`Search::descend`].
    pub fn descend(&mut self, node: &Node, budget: &mut Budget) -> Option<Stop> {
        if self.limit() <= self.floor {
            return None;
        }
        if let Some(stop) = budget.spend(1) {
            return Some(stop);
        }
        if node.bound(self.case) >= self.limit() {
            return None;
        }
        if node.starts.len() == self.case.weighted.len() {
            match placed(self.case, node, budget) {
                Placed::At(timeline) => self.best = Some(timeline),
                Placed::Nowhere => {}
                Placed::Unknown => self.open = self.open.min(node.last()),
            }
            return None;
        }
        let (now, channel) = node.next();
        for at in node.open(self.case) {
            let Some(earliest) = node.earliest(self.case, at, now) else { continue };
            let later = node.ends[node.running(earliest)..].iter().copied();
            let mut starts: Vec<u64> = std::iter::once(earliest).chain(later).collect();
            starts.dedup();
            for start in starts {
                let next = node.started_on(self.case, at, start, channel);
                let stop = crate::offsets::search::deepen(|| self.descend(&next, budget));
                if stop.is_some() {
                    return stop;
                }
            }
        }
        None
    }
}
