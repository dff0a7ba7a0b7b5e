//! Searches for layouts by sweeps that keep only some of the states at each step.

use super::ArrangementRules;
use super::pass::{Limit, PassEnd, Sequence, Trail};
use crate::offsets::search::valley::Reduced;
use plimsoll_model::Budget;

/// Maximum number of states per step in the first and in the last sweep.
const FIRST: usize = 64;
const LAST: usize = 1 << 15;

/// A search for a layout at one capacity. Each call resumes where the previous one ended.
#[derive(Debug)]
pub(super) struct Beam {
    capacity: i64,
    sequence: Option<Sequence>,
    /// Maximum number of states per step in the next sweep, and the direction of that sweep.
    width: usize,
    backwards: bool,
    /// The states of all steps that an interrupted sweep has passed so far.
    begun: Trail,
}

impl Beam {
    pub fn new(reduced: &Reduced, capacity: i64, rules: ArrangementRules) -> Self {
        let sequence = Sequence::at(reduced, capacity, rules, true);
        let sequence = sequence.filter(|sequence| sequence.steps.is_connected());
        Self { capacity, sequence, width: FIRST, backwards: false, begun: Trail::default() }
    }

    /// Sweeps in both directions with a growing number of states, until `nodes` nodes are spent. Returns the
    /// offsets of a layout within the capacity, in units. Returns `None` if the sweeps find none or the
    /// budget runs out.
    pub fn search(&mut self, reduced: &Reduced, nodes: u64, budget: &mut Budget) -> Option<Vec<i64>> {
        let sequence = self.sequence.as_ref()?;
        let end = budget.nodes().saturating_add(nodes);
        while self.width <= LAST && budget.nodes() < end {
            let from = if self.backwards { sequence.steps.list.len() - 1 } else { 0 };
            let limit = Limit { most: self.width, beam: true, nodes: end - budget.nodes() };
            let mut trail = std::mem::take(&mut self.begun);
            match sequence.sweep(from, self.backwards, limit, &[], &mut trail, budget) {
                PassEnd::Stopped(_) => {
                    self.begun = trail;
                    return None;
                }
                PassEnd::Through => {
                    let found = sequence.layout(&trail.states, self.backwards, reduced, self.capacity);
                    if found.is_some() {
                        return found;
                    }
                }
                // Wider sweeps would end in the same way.
                PassEnd::Refuted => self.width = LAST,
                PassEnd::TooMany => {}
            }
            self.width *= if self.backwards { 2 } else { 1 };
            self.backwards = !self.backwards;
        }
        None
    }
}
