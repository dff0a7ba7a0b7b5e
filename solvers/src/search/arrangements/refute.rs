//! Schedules sweeps from all starts in both directions, with growing limits.

use super::ArrangementRules;
use super::pass::{Limit, PassEnd, Reached, Sequence, Trail};
use crate::search::valley::Reduced;
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

/// A schedule of sweeps that refute capacities. Each call resumes where the previous one ended.
#[derive(Debug)]
pub(super) struct Refuter<'a> {
    reduced: &'a Reduced,
    rules: ArrangementRules,
    capacity: i64,
    sequence: Option<Sequence>,
    /// The steps from which to sweep, each with a flag for backward sweeps.
    starts: Vec<(usize, bool)>,
    /// The index of the next start. If the sweep from this start was interrupted, `begun` contains the
    /// states of the steps that the sweep has passed.
    at: usize,
    begun: Trail,
    /// Maximum number of states per step.
    pub(super) most: usize,
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
            at: 0,
            begun: Trail::default(),
            most: rules.first,
            recent: None,
            reached: [Vec::new(), Vec::new()],
        }
    }

    /// Tries to refute a capacity, in units, within the budget. A sweep over all steps may find a layout
    /// instead.
    pub fn refute(&mut self, capacity: i64, budget: &mut Budget) -> Option<Found> {
        if self.capacity != capacity {
            self.aim(capacity);
        }
        self.run(budget)
    }

    fn aim(&mut self, capacity: i64) {
        self.capacity = capacity;
        (self.at, self.most) = (0, self.rules.first);
        self.begun = Trail::default();
        self.starts.clear();
        self.sequence = Sequence::at(self.reduced, capacity, self.rules.waste, true);
        let Some(sequence) = &self.sequence else { return };
        let steps = &sequence.steps.list;
        self.reached = [vec![None; steps.len()], vec![None; steps.len()]];
        let last = steps.len() - 1;
        self.starts = (0..last).map(|at| (at, false)).chain((1..=last).map(|at| (at, true))).collect();
        let recent = self.recent;
        self.starts.sort_by_key(|&(at, backwards)| {
            (recent != Some((steps[at].section, backwards)), steps[at].leaves.count_ones(), at, backwards)
        });
    }

    fn run(&mut self, budget: &mut Budget) -> Option<Found> {
        let sequence = self.sequence.as_ref()?;
        let section = |at: usize| sequence.steps.list[at].section;
        while !self.starts.is_empty() {
            if self.at == self.starts.len() {
                self.at = 0;
                self.most *= GROWTH;
            }
            if self.most > self.rules.last {
                self.starts.clear();
                break;
            }
            let (from, backwards) = self.starts[self.at];
            let limit = Limit { most: self.most, beam: false };
            let mut trail = std::mem::take(&mut self.begun);
            let others = if self.rules.meet { &self.reached[usize::from(!backwards)][..] } else { &[] };
            match sequence.sweep(from, backwards, limit, others, &mut trail, budget) {
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
                    let useless = |&(at, other): &(usize, bool)| {
                        other == backwards && if backwards { at <= from } else { at >= from }
                    };
                    let before = self.starts[..self.at].iter().filter(|start| useless(start)).count();
                    self.starts.retain(|start| !useless(start));
                    self.at -= before;
                    keep(&mut self.reached[usize::from(backwards)], from, backwards, trail);
                }
                PassEnd::TooMany => {
                    keep(&mut self.reached[usize::from(backwards)], from, backwards, trail);
                    self.at += 1;
                }
                PassEnd::Stopped(_) => {
                    self.begun = trail;
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
