//! Runs clause learning in alternation with other methods.

use super::{Engine, LearnEnd, LearnRules, Problem};
use crate::offsets::search::valley::Reduced;
use crate::offsets::search::windows::Proof;
use plimsoll_model::Budget;
use std::sync::OnceLock;

/// Maximum number of simultaneously live buffers for which learning starts in the first round.
const NARROW: usize = 16;

/// A clause-learning search at capacities just below the peak of the best layout, whichever method found that
/// layout.
#[derive(Clone, Debug)]
pub struct Learner<'p> {
    /// The problem for learning, built on first use; `None` if it is too large.
    problem: &'p OnceLock<Option<Problem>>,
    reduced: &'p Reduced,
    rules: LearnRules,
    engine: Option<Engine<'p>>,
}

impl<'p> Learner<'p> {
    /// Creates a learner in O(1). The problem and the engine are built on first use.
    pub fn new(problem: &'p OnceLock<Option<Problem>>, reduced: &'p Reduced, rules: LearnRules) -> Self {
        Self { problem, reduced, rules, engine: None }
    }

    fn problem(&self) -> Option<&'p Problem> {
        self.problem.get_or_init(|| Problem::of(self.reduced)).as_ref()
    }

    /// Returns true if the problem is small enough for learning.
    pub fn applies(&self) -> bool {
        self.problem().is_some()
    }

    /// Returns true if so few buffers are simultaneously live that learning is usually faster than valley
    /// branching.
    pub fn is_narrow(&self) -> bool {
        self.applies() && self.reduced.widest() <= NARROW
    }

    /// Tries to improve the layout `best` (offsets in units), or to prove that no layout within `high` units
    /// exists. Uses about `nodes` nodes.
    pub fn prove(&mut self, high: i64, best: Option<&[i64]>, nodes: u64, budget: &mut Budget) -> Proof {
        let Some(problem) = self.problem().filter(|_| nodes > 0) else { return Proof::Nothing };
        let (reduced, rules) = (self.reduced, self.rules);
        let engine = self.engine.get_or_insert_with(|| Engine::new(problem, high, rules));
        if let Some(best) = best.filter(|_| engine.runs() == 0 || high < engine.capacity()) {
            engine.suggest(best);
        }
        engine.aim(high);
        let mut part = budget.part(Some(nodes), None);
        let mut found = Proof::Nothing;
        loop {
            match engine.run(&mut part) {
                LearnEnd::Fits { offsets, peak } => {
                    engine.suggest(&offsets);
                    engine.aim(peak - 1);
                    found = Proof::Better { peak, offsets };
                }
                LearnEnd::Impossible if found == Proof::Nothing => {
                    found = Proof::Bound { bound: engine.capacity() + 1, window: (0, reduced.sections) };
                    break;
                }
                // The layout is returned first. The next call reports at once that the lower capacity is
                // infeasible.
                LearnEnd::Impossible | LearnEnd::Stopped(_) => break,
            }
        }
        budget.spend(part.nodes());
        found
    }
}
