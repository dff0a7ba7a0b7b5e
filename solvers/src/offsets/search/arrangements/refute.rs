//! Schedules sweeps from all starts in both directions, with growing limits.

use super::ArrangementRules;
use super::bonds::Bonds;
use super::pass::{Limit, PassEnd, Reached, Sequence, Trail};
use crate::offsets::search::valley::Reduced;
use crate::offsets::search::windows::Proof;
use plimsoll_model::Budget;

/// A result of sweeps at one capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The capacity is refuted by a range of sections: the first section, and the section after the last.
    Refuted((usize, usize)),
    /// The offsets of a layout in units, in the order of [`Reduced`].
    Layout(Vec<i64>),
}

/// Factor by which the maximum number of states per step grows.
pub(super) const GROWTH: usize = 4;

/// A step from which to sweep in one direction.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// Index of the step.
    at: usize,
    backwards: bool,
    /// Maximum number of states per step in the next sweep.
    most: usize,
    /// See [`cost`]. 0 before the first sweep.
    cost: u64,
}

/// Returns the cost of a sweep with a number of nodes that passed a number of steps. A sweep that passes many
/// steps is the most likely to end without states, so its cost decreases with the fourth power of that
/// number.
fn cost(nodes: u64, passed: usize) -> u64 {
    /// Costs are integers, so they are scaled.
    const SCALE: u64 = 1 << 20;
    nodes.saturating_mul(SCALE) / (passed as u64).pow(4)
}

/// A schedule of sweeps that refute capacities. Each call resumes where the previous one ended.
#[derive(Debug)]
pub(super) struct Refuter<'a> {
    reduced: &'a Reduced,
    rules: ArrangementRules,
    capacity: i64,
    sequence: Option<Sequence>,
    starts: Vec<Start>,
    /// The index of the start whose sweep was interrupted, the states of the steps that the sweep has passed,
    /// and the nodes that it has spent.
    begun: Option<(usize, Trail, u64)>,
    /// The first section and the direction of the last sweep that refuted a capacity.
    recent: Option<(usize, bool)>,
    /// Per step: the states of the forward sweep with the earliest start, and of the backward sweep with the
    /// latest start.
    reached: [Vec<Option<Reached>>; 2],
}

impl<'a> Refuter<'a> {
    /// Creates the schedule in O(1).
    pub fn new(reduced: &'a Reduced, rules: ArrangementRules) -> Self {
        Self {
            reduced,
            rules,
            capacity: -1,
            sequence: None,
            starts: Vec::new(),
            begun: None,
            recent: None,
            reached: [Vec::new(), Vec::new()],
        }
    }

    /// Tries to refute a capacity, in units, until `nodes` nodes are spent or the budget runs out. A sweep
    /// over all steps may find a layout instead.
    pub fn refute(&mut self, capacity: i64, nodes: u64, budget: &mut Budget) -> Option<Found> {
        if self.capacity != capacity {
            self.aim(capacity, budget);
        }
        self.run(nodes, budget)
    }

    /// Refutes capacities from `low` to `high` units, in ascending order. Ends at the first that has a layout
    /// or is not refuted before `nodes` nodes are spent or the budget runs out.
    pub fn raise(&mut self, (low, high): (i64, i64), nodes: u64, budget: &mut Budget) -> Vec<Proof> {
        let mut proofs = Vec::new();
        let end = budget.nodes().saturating_add(nodes);
        for capacity in low..=high {
            match self.refute(capacity, end.saturating_sub(budget.nodes()), budget) {
                Some(Found::Refuted(window)) => proofs.push(Proof::Bound { bound: capacity + 1, window }),
                Some(Found::Layout(offsets)) => {
                    proofs.push(Proof::Better { peak: capacity, offsets });
                    break;
                }
                None => break,
            }
        }
        proofs
    }

    fn aim(&mut self, capacity: i64, budget: &mut Budget) {
        self.capacity = capacity;
        self.begun = None;
        self.starts.clear();
        self.sequence = Sequence::at(self.reduced, capacity, self.rules, true);
        if let Some(sequence) = self.sequence.as_mut().filter(|_| self.rules.bonds) {
            sequence.bonds = Bonds::of(&sequence.steps, false, budget);
        }
        let Some(sequence) = &self.sequence else { return };
        let steps = &sequence.steps.list;
        self.reached = [vec![None; steps.len()], vec![None; steps.len()]];
        let start = |(at, backwards)| Start { at, backwards, most: self.rules.first, cost: 0 };
        self.starts = sequence.steps.starts().map(start).collect();
        let recent = self.recent;
        self.starts.sort_by_key(|&Start { at, backwards, .. }| {
            (recent != Some((steps[at].section, backwards)), steps[at].leaves.count_ones(), at, backwards)
        });
    }

    /// Sweeps from the start with the lowest cost. The limit on states of a start grows from sweep to sweep.
    fn run(&mut self, nodes: u64, budget: &mut Budget) -> Option<Found> {
        let sequence = self.sequence.as_ref()?;
        let finish = budget.nodes().saturating_add(nodes);
        let section = |at: usize| sequence.steps.list[at].section;
        while !self.starts.is_empty() && budget.nodes() < finish {
            let cheapest =
                || (0..self.starts.len()).min_by_key(|&at| (self.starts[at].cost, at)).unwrap_or(0);
            let (index, mut trail, spent) =
                self.begun.take().unwrap_or_else(|| (cheapest(), Trail::default(), 0));
            let Start { at: from, backwards, most, .. } = self.starts[index];
            let limit = Limit { most, beam: false, nodes: finish - budget.nodes() };
            let others = if self.rules.meet { &self.reached[usize::from(!backwards)][..] } else { &[] };
            let since = budget.nodes();
            let end = sequence.sweep(from, backwards, limit, others, &mut trail, budget);
            let nodes = spent + budget.nodes() - since;
            match end {
                PassEnd::Refuted => {
                    self.recent = Some((section(from), backwards));
                    let (first, last) = trail.extent;
                    return Some(Found::Refuted((section(first), section(last) + 1)));
                }
                // A sweep in this direction from a step further along would retain at least the same
                // arrangements.
                PassEnd::Through => {
                    if trail.states.len() == sequence.steps.list.len()
                        && let Some(offsets) =
                            sequence.layout(&trail.states, backwards, self.reduced, self.capacity)
                    {
                        return Some(Found::Layout(offsets));
                    }
                    let end = sequence.steps.end(from, backwards);
                    let passed = from.min(end)..=from.max(end);
                    self.starts.retain(|start| start.backwards != backwards || !passed.contains(&start.at));
                    keep(&mut self.reached[usize::from(backwards)], from, backwards, trail);
                }
                PassEnd::TooMany => {
                    let start = &mut self.starts[index];
                    start.cost = cost(nodes, trail.states.len());
                    start.most *= GROWTH;
                    if start.most > self.rules.last {
                        self.starts.remove(index);
                    }
                    keep(&mut self.reached[usize::from(backwards)], from, backwards, trail);
                }
                PassEnd::Stopped(_) => {
                    self.begun = Some((index, trail, nodes));
                    return None;
                }
            }
        }
        None
    }
}

/// Stores the states of a sweep at each step that no sweep with a more distant start has reached. Of two
/// sweeps with the same start, the one with fewer states is kept.
fn keep(reached: &mut [Option<Reached>], from: usize, backwards: bool, trail: Trail) {
    let extent = trail.extent;
    for (i, states) in trail.states.into_iter().enumerate().skip(1) {
        let at = if backwards { from - i } else { from + i };
        let better = |other: &Reached| match (from == other.from, backwards) {
            (true, _) => states.len() < other.states.len(),
            (false, true) => from > other.from,
            (false, false) => from < other.from,
        };
        if reached[at].as_ref().is_none_or(better) {
            reached[at] = Some(Reached { states, from, extent });
        }
    }
}
