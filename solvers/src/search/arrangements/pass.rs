//! A sweep from one step, in one direction.

use super::cover::{Chosen, Cover, Failed};
use super::exchange::Exchange;
use super::states::{Sets, States, reduced, undominated};
use super::steps::Steps;
use crate::pqtree::{Forest, Tree};
use crate::search::valley::Reduced;
use plimsoll_model::{Budget, Stop};
use std::sync::OnceLock;

/// Maximum number of states of a step before dominated states are removed, as a multiple of the maximum
/// afterwards.
const RAW: usize = 4;

/// The steps at one capacity, and the exchanges between them.
#[derive(Debug)]
pub(super) struct Sequence {
    pub steps: Steps,
    /// The exchanges from each step, forwards and backwards.
    exchanges: Vec<[OnceLock<Option<Exchange>>; 2]>,
}

/// The maximum number of states per step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub most: usize,
    /// Keep the states with most permutations if there are more, instead of ending the sweep.
    pub beam: bool,
}

/// The states of the steps that a sweep passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    pub states: Vec<States>,
    /// True if states were dropped that no other state dominates.
    partial: bool,
}

/// The result of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassEnd {
    /// No arrangement is left at this step.
    Refuted(usize),
    /// Arrangements are left at the last step.
    Through,
    /// There are too many states, or too many exchanges.
    TooMany,
    Stopped(Stop),
}

impl Sequence {
    /// Selects the steps at a capacity. Returns `None` if it is more than `waste` units above the load, or if
    /// there are too few steps.
    pub fn at(reduced: &Reduced, capacity: i64, waste: usize) -> Option<Self> {
        let load = reduced.load.iter().copied().max().unwrap_or(0);
        let own = usize::try_from(capacity - load).ok().filter(|&own| own <= waste)?;
        let steps = Steps::of(reduced, capacity, own)?;
        let exchanges = steps.list.iter().map(|_| [OnceLock::new(), OnceLock::new()]).collect();
        Some(Self { steps, exchanges })
    }

    pub fn exchange(&self, at: usize, backwards: bool) -> Option<&Exchange> {
        let next = if backwards { at - 1 } else { at + 1 };
        let cell = &self.exchanges[at][usize::from(backwards)];
        cell.get_or_init(|| Exchange::of(&self.steps, at, next)).as_ref()
    }

    /// Sweeps from all arrangements of the step `from`, or continues a sweep. One node of the budget is one
    /// chosen group. `trail` receives the states of all steps that the sweep passed.
    pub fn sweep(
        &self,
        from: usize,
        backwards: bool,
        limit: Limit,
        trail: &mut Trail,
        budget: &mut Budget,
    ) -> PassEnd {
        let mut forest = Forest::default();
        if trail.states.is_empty() {
            let first = &self.steps.list[from];
            let tree = forest.universal(first.leaves);
            let mut key = Vec::new();
            forest.write(tree, first.labels(backwards), &mut key);
            let mut states = States::default();
            states.insert(&key, 0);
            trail.states.push(states);
        }
        let last = if backwards { 0 } else { self.steps.list.len() - 1 };
        let step = |passed: usize| if backwards { from - passed } else { from + passed };
        while step(trail.states.len() - 1) != last {
            let at = step(trail.states.len() - 1);
            let before = &trail.states[trail.states.len() - 1];
            let states = match self.advance(before, at, backwards, limit, &mut forest, budget) {
                Ok((states, all)) => {
                    trail.partial |= !all;
                    states
                }
                Err(end) => return end,
            };
            if states.len() == 0 {
                let at = step(trail.states.len());
                return if trail.partial { PassEnd::TooMany } else { PassEnd::Refuted(at) };
            }
            trail.states.push(states);
        }
        PassEnd::Through
    }

    /// Returns the states at the next step, and whether these are all.
    fn advance(
        &self,
        states: &States,
        at: usize,
        backwards: bool,
        limit: Limit,
        forest: &mut Forest,
        budget: &mut Budget,
    ) -> Result<(States, bool), PassEnd> {
        let exchange = self.exchange(at, backwards).ok_or(PassEnd::TooMany)?;
        let before = self.steps.list[at].labels(backwards);
        let next = if backwards { at - 1 } else { at + 1 };
        let after = self.steps.list[next].labels(backwards);
        let holes = self.steps.all_holes();
        let mut all = States::default();
        let mut complete = true;
        let mut key = Vec::new();
        for parent in 0..states.len() {
            forest.clear();
            let tree = forest.read(states.key(parent), before);
            let mut siblings = States::default();
            let mut sets: Vec<Sets> = Vec::new();
            let mut found = |forest: &Forest, tree: Tree, _: &[Chosen]| {
                key.clear();
                forest.write(tree, after, &mut key);
                let known = siblings.len();
                siblings.insert(&key, parent);
                if siblings.len() > known {
                    sets.push(Sets::of(forest, tree, holes, exchange.waste.1));
                }
            };
            let mut cover = Cover::new((&self.steps, exchange), forest, budget, &mut found);
            cover.run(tree).map_err(|failed| match failed {
                Failed::TooMany => PassEnd::TooMany,
                Failed::Stopped(stop) => PassEnd::Stopped(stop),
            })?;
            for child in undominated(&sets, budget).map_err(PassEnd::Stopped)? {
                all.insert(siblings.key(child), parent);
            }
            if all.len() > limit.most * RAW {
                if !limit.beam {
                    return Err(PassEnd::TooMany);
                }
                forest.clear();
                all = reduced(&all, after, (holes, exchange.waste.1), Some(limit.most), forest, budget)
                    .map_err(PassEnd::Stopped)?;
                complete = false;
            }
        }
        forest.clear();
        let beam = limit.beam.then_some(limit.most);
        let kept = reduced(&all, after, (holes, exchange.waste.1), beam, forest, budget)
            .map_err(PassEnd::Stopped)?;
        if kept.len() > limit.most {
            Err(PassEnd::TooMany)
        } else {
            complete &= kept.len() < limit.most;
            Ok((kept, complete))
        }
    }
}
