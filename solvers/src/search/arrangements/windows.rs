//! The schedule of sweeps: all starts and directions, with growing limits.

use super::pass::{PassEnd, Sequence};
use super::steps::Steps;
use crate::search::valley::Reduced;
use plimsoll_model::Budget;

/// Switches of sweeps over arrangements, for ablation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrangementRules {
    /// Maximum number of wasted units of a section.
    pub waste: usize,
    /// Maximum number of states per step in the first sweeps.
    pub first: usize,
    /// The same for the last sweeps, which limits memory.
    pub last: usize,
}

impl Default for ArrangementRules {
    fn default() -> Self {
        Self { waste: 4, first: 256, last: 1 << 14 }
    }
}

/// Factor by which the number of states grows.
const GROWTH: usize = 4;

/// Refutes capacities. Each call resumes where the previous one ended.
#[derive(Debug)]
pub(crate) struct Arrangements<'a> {
    reduced: &'a Reduced,
    rules: ArrangementRules,
    capacity: i64,
    sequence: Option<Sequence>,
    /// The steps from which to sweep, each with a flag for backward sweeps.
    starts: Vec<(usize, bool)>,
    /// The next start.
    at: usize,
    /// Maximum number of states per step.
    pub(super) most: usize,
    /// The section and direction of the last refutation.
    recent: Option<(usize, bool)>,
}

impl<'a> Arrangements<'a> {
    /// Creates the schedule in O(1).
    pub fn new(reduced: &'a Reduced, rules: ArrangementRules) -> Self {
        Self {
            reduced,
            rules,
            capacity: -1,
            sequence: None,
            starts: Vec::new(),
            at: 0,
            most: rules.first,
            recent: None,
        }
    }

    /// Returns true if most sections are at the load. The optimum is then often above the load.
    pub fn is_flat(&self) -> bool {
        let load = &self.reduced.load;
        let most = load.iter().max();
        2 * load.iter().filter(|&own| Some(own) == most).count() > load.len()
    }

    /// Tries to refute a capacity in units with at most `nodes` nodes. Returns the first section that proves
    /// it, and the section after the last.
    pub fn refute(&mut self, capacity: i64, nodes: u64, budget: &mut Budget) -> Option<(usize, usize)> {
        if self.capacity != capacity {
            self.aim(capacity);
        }
        let mut part = budget.part(Some(nodes), None);
        let found = self.run(&mut part);
        budget.spend(part.nodes());
        found
    }

    fn aim(&mut self, capacity: i64) {
        self.capacity = capacity;
        (self.at, self.most) = (0, self.rules.first);
        self.starts.clear();
        let load = self.reduced.load.iter().copied().max().unwrap_or(0);
        let waste = usize::try_from(capacity - load).ok().filter(|&waste| waste <= self.rules.waste);
        self.sequence = waste.and_then(|waste| Steps::of(self.reduced, capacity, waste)).map(Sequence::new);
        let Some(sequence) = &self.sequence else { return };
        let steps = &sequence.steps.list;
        let last = steps.len() - 1;
        self.starts = (0..last).map(|at| (at, false)).chain((1..=last).map(|at| (at, true))).collect();
        let recent = self.recent;
        self.starts.sort_by_key(|&(at, backwards)| {
            (recent != Some((steps[at].section, backwards)), steps[at].leaves.count_ones(), at, backwards)
        });
    }

    fn run(&mut self, budget: &mut Budget) -> Option<(usize, usize)> {
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
            match sequence.sweep(from, backwards, self.most, budget) {
                PassEnd::Refuted(to) => {
                    self.recent = Some((section(from), backwards));
                    let (low, high) = (section(from.min(to)), section(from.max(to)));
                    return Some((low, high + 1));
                }
                // A sweep from a later step has at least the same arrangements.
                PassEnd::Through => {
                    let useless = |&(at, other): &(usize, bool)| {
                        other == backwards && if backwards { at <= from } else { at >= from }
                    };
                    let before = self.starts[..self.at].iter().filter(|start| useless(start)).count();
                    self.starts.retain(|start| !useless(start));
                    self.at -= before;
                }
                PassEnd::TooMany => self.at += 1,
                PassEnd::Stopped(_) => return None,
            }
        }
        None
    }
}
