//! Learning in turns with other methods.

use super::{Engine, LearnEnd, LearnRules, Problem};
use crate::search::valley::Reduced;
use crate::windows::Proof;
use plimsoll_model::Budget;

/// Most buffers alive together for learning from the first round on.
const NARROW: usize = 16;

/// An engine that follows the best layout down, whoever finds it.
#[derive(Clone, Debug)]
pub struct Learner<'p> {
    problem: &'p Problem,
    reduced: &'p Reduced,
    rules: LearnRules,
    engine: Option<Engine<'p>>,
}

impl<'p> Learner<'p> {
    /// O(1): the engine is made when it gets its first turn.
    pub fn new(problem: &'p Problem, reduced: &'p Reduced, rules: LearnRules) -> Self {
        Self { problem, reduced, rules, engine: None }
    }

    /// True where few enough are alive at a time that learning is mostly better than branching on valleys.
    pub fn is_narrow(&self) -> bool {
        self.problem.widest() <= NARROW
    }

    /// Tries for about `nodes` nodes to better the layout `best`, offsets in units, or to prove that there is nothing
    /// up to `high` units.
    pub fn prove(&mut self, high: i64, best: Option<&[i64]>, nodes: u64, budget: &mut Budget) -> Proof {
        if nodes == 0 {
            return Proof::Nothing;
        }
        let (problem, reduced, rules) = (self.problem, self.reduced, self.rules);
        let engine = self.engine.get_or_insert_with(|| Engine::new(problem, reduced, high, rules));
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
                // The layout first; what is impossible stays so.
                LearnEnd::Impossible | LearnEnd::Stopped(_) => break,
            }
        }
        budget.spend(part.nodes());
        found
    }
}
