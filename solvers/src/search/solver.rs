//! The solver `search`.

use super::canonical::{self, Canonical};
use super::minimise::{Factory, Minimiser, Progress};
use super::valley::{self, Reduced, Rules};
use crate::bounds::quick_bound;
use plimsoll_heuristics::{Fit, Order, place};
use plimsoll_model::{
    Budget, Bytes, Instance, Layout, Observer, Offsets, Outcome, Setup, SolveError, Solver, Stats, Stop,
};
use std::collections::BTreeMap;

/// Stack of the searching thread: one frame per buffer placed.
const STACK_PER_BUFFER: usize = 4 << 10;
const STACK_AT_LEAST: usize = 64 << 20;

/// Parameters of [`Search`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchParams {
    /// Use canonical branching also where valley branching would do.
    pub canonical: bool,
    /// Switches of valley branching.
    pub rules: Rules,
}

/// Our own branch and bound: proves optima, improves layouts on the way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Search {
    setup: Setup,
    params: SearchParams,
}

impl Search {
    /// With default parameters.
    pub fn new(setup: Setup) -> Self {
        Self { setup, params: SearchParams::default() }
    }

    /// With other parameters.
    #[must_use]
    pub fn with_params(mut self, params: SearchParams) -> Self {
        self.params = params;
        self
    }

    /// Improves on `best`, a valid layout, and on `progress.bound`, until both meet or the budget is spent.
    pub(crate) fn improve(
        &self,
        instance: &Instance,
        progress: Progress,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Progress {
        let name = "search";
        let seed = self.setup.seed;
        let reduced = if self.params.canonical { None } else { Reduced::of(instance) };
        let minimise = |grain: u64, factory: &Factory<'_>, budget: &mut Budget, observer: &mut dyn Observer<Offsets>| {
            let engines = BTreeMap::new();
            Minimiser { instance, name, grain, factory, observer, progress, engines }.run(budget)
        };
        if let Some(reduced) = reduced {
            let rules = self.params.rules;
            let factory = |capacity: Bytes| -> Box<dyn super::Decide + '_> {
                let units = (capacity.get() / reduced.grain) as i64;
                Box::new(valley::Engine::new(&reduced, units, rules, seed))
            };
            minimise(reduced.grain, &factory, budget, observer)
        } else {
            let problem = Canonical::of(instance);
            let factory = |capacity: Bytes| -> Box<dyn super::Decide + '_> {
                Box::new(canonical::Engine::new(&problem, capacity, seed))
            };
            minimise(instance.grain().get(), &factory, budget, observer)
        }
    }
}
