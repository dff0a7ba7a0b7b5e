//! Learning in turns with other methods.

use super::{Engine, LearnEnd, LearnRules, Problem};
use crate::search::valley::Reduced;
use crate::search::windows::Proof;
use plimsoll_model::Budget;
use std::cell::OnceCell;

/// Most buffers alive together for learning from the first round on.
const NARROW: usize = 16;

/// An engine that follows the best layout down, whoever finds it.
#[derive(Clone, Debug)]
pub struct Learner<'p> {
    /// Made when it is first asked for; `None` in it where there are too many choices.
    problem: &'p OnceCell<Option<Problem>>,
    reduced: &'p Reduced,
    rules: LearnRules,
    engine: Option<Engine<'p>>,
}

impl<'p> Learner<'p> {
    /// O(1): problem and engine are made when they get their first turn.
    pub fn new(problem: &'p OnceCell<Option<Problem>>, reduced: &'p Reduced, rules: LearnRules) -> Self {
        Self { problem, reduced, rules, engine: None }
    }

    fn problem(&self) -> Option<&'p Problem> {
        self.problem.get_or_init(|| Problem::of(self.reduced)).as_ref()
    }

    /// True where there are few enough choices to learn about.
    pub fn applies(&self) -> bool {
        self.problem().is_some()
    }

    /// True where few enough are alive at a time that learning is mostly better than branching on valleys.
    pub fn is_narrow(&self) -> bool {
        self.problem().is_some_and(|problem| problem.widest() <= NARROW)
    }

    /// Tries for about `nodes` nodes to better the layout `best`, offsets in units, or to prove that there is nothing
    /// up to `high` units.
    pub fn prove(&mut self, high: i64, best: Option<&[i64]>, nodes: u64, budget: &mut Budget) -> Proof {
        let Some(problem) = self.problem().filter(|_| nodes > 0) else { return Proof::Nothing };
        let (reduced, rules) = (self.reduced, self.rules);
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
