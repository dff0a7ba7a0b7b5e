//! The schedule of sweeps: all starts and directions, with growing limits.

use super::ArrangementRules;
use super::pass::{Limit, PassEnd, Sequence, Trail};
use super::states::States;
use crate::search::valley::Reduced;
use plimsoll_model::{Budget, Stop};

/// A result of sweeps at one capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The capacity is refuted by a range of sections: the first section, and the section after the last.
    Refuted((usize, usize)),
    /// The offsets of a layout in units, in the order of [`Reduced`].
    Layout(Vec<i64>),
}

/// Factor by which the maximum number of states per step grows.
const GROWTH: usize = 4;

/// Refutes capacities. Each call resumes where the previous one ended.
#[derive(Debug)]
pub(super) struct Refuter<'a> {
    reduced: &'a Reduced,
    rules: ArrangementRules,
    capacity: i64,
    sequence: Option<Sequence>,
    /// The steps from which to sweep, each with a flag for backward sweeps.
    starts: Vec<(usize, bool)>,
    /// The index of the next start, and the states of the steps that an interrupted sweep from there has
    /// passed.
    at: usize,
    begun: Trail,
    /// Maximum number of states per step.
    pub(super) most: usize,
    /// The section and direction of the last refutation.
    recent: Option<(usize, bool)>,
    /// Per direction and step: the most distant start from which a sweep reached the step, and the states of
    /// this sweep there.
    reached: [Vec<Option<(usize, States)>>; 2],
    /// The next step at which to compare the sweeps of both directions, after all starts have been tried.
    meeting: usize,
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
            meeting: 0,
        }
    }

    /// Tries to refute a capacity in units within the budget. A sweep over all steps may find a layout
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
        self.sequence = Sequence::at(self.reduced, capacity, self.rules.waste);
        let Some(sequence) = &self.sequence else { return };
        let steps = &sequence.steps.list;
        self.reached = [vec![None; steps.len()], vec![None; steps.len()]];
        self.meeting = 0;
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
                if self.rules.meet {
                    match meet(sequence, &self.reached, &mut self.meeting, budget) {
                        Err(_) => return None,
                        Ok(Some((from, to))) => {
                            return Some(Found::Refuted((section(from), section(to) + 1)));
                        }
                        Ok(None) => self.meeting = 0,
                    }
                }
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
            match sequence.sweep(from, backwards, limit, &mut trail, budget) {
                PassEnd::Refuted(to) => {
                    self.recent = Some((section(from), backwards));
                    let (low, high) = (section(from.min(to)), section(from.max(to)));
                    return Some(Found::Refuted((low, high + 1)));
                }
                // A sweep from a later step has at least the same arrangements.
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
                    keep(&mut self.reached[usize::from(backwards)], from, backwards, trail.states);
                }
                PassEnd::TooMany => {
                    keep(&mut self.reached[usize::from(backwards)], from, backwards, trail.states);
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

/// Keeps the states of a sweep at each step that no sweep with a more distant start has reached.
fn keep(reached: &mut [Option<(usize, States)>], from: usize, backwards: bool, trail: Vec<States>) {
    for (i, states) in trail.into_iter().enumerate().skip(1) {
        let at = if backwards { from - i } else { from + i };
        let longer = |&(other, _): &(usize, States)| if backwards { from > other } else { from < other };
        if reached[at].as_ref().is_none_or(longer) {
            reached[at] = Some((from, states));
        }
    }
}

/// Compares the states at each step from `at` on. Returns the starts of two sweeps that refute the capacity.
fn meet(
    sequence: &Sequence,
    [forwards, backwards]: &[Vec<Option<(usize, States)>>; 2],
    at: &mut usize,
    budget: &mut Budget,
) -> Result<Option<(usize, usize)>, Stop> {
    while *at < forwards.len() {
        if let (Some((from, ahead)), Some((to, behind))) = (&forwards[*at], &backwards[*at])
            && sequence.are_apart(*at, ahead, behind, budget)?
        {
            return Ok(Some((*from, *to)));
        }
        *at += 1;
    }
    Ok(None)
}
