//! A sweep from one step, in one direction.

use super::cover::{Cover, Failed};
use super::exchange::Exchange;
use super::states::{Sets, States, reduced, undominated};
use super::steps::Steps;
use crate::pqtree::Forest;
use plimsoll_model::{Budget, Stop};
use std::sync::OnceLock;

/// Number of states before dominance per state after it.
const RAW: usize = 4;

/// The steps at one capacity, and the exchanges between them.
#[derive(Debug)]
pub(super) struct Sequence {
    pub steps: Steps,
    /// The exchanges from each step, forwards and backwards.
    exchanges: Vec<[OnceLock<Option<Exchange>>; 2]>,
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
    pub fn new(steps: Steps) -> Self {
        let exchanges = steps.list.iter().map(|_| [OnceLock::new(), OnceLock::new()]).collect();
        Self { steps, exchanges }
    }

    fn exchange(&self, at: usize, backwards: bool) -> Option<&Exchange> {
        let next = if backwards { at - 1 } else { at + 1 };
        let cell = &self.exchanges[at][usize::from(backwards)];
        cell.get_or_init(|| Exchange::of(&self.steps, at, next)).as_ref()
    }

    /// Sweeps from all arrangements of the step `from`, with at most `most` states per step. One node of the
    /// budget is one chosen group.
    pub fn sweep(&self, from: usize, backwards: bool, most: usize, budget: &mut Budget) -> PassEnd {
        let mut forest = Forest::default();
        let first = &self.steps.list[from];
        let tree = forest.universal(first.leaves);
        let mut key = Vec::new();
        forest.write(tree, first.labels(backwards), &mut key);
        let mut states = States::default();
        states.insert(&key, 0);
        let last = if backwards { 0 } else { self.steps.list.len() - 1 };
        let mut at = from;
        while at != last {
            states = match self.advance(&states, at, backwards, most, &mut forest, budget) {
                Ok(states) => states,
                Err(end) => return end,
            };
            at = if backwards { at - 1 } else { at + 1 };
            if states.len() == 0 {
                return PassEnd::Refuted(at);
            }
        }
        PassEnd::Through
    }

    /// Returns the states at the next step.
    fn advance(
        &self,
        states: &States,
        at: usize,
        backwards: bool,
        most: usize,
        forest: &mut Forest,
        budget: &mut Budget,
    ) -> Result<States, PassEnd> {
        let exchange = self.exchange(at, backwards).ok_or(PassEnd::TooMany)?;
        let before = self.steps.list[at].labels(backwards);
        let next = if backwards { at - 1 } else { at + 1 };
        let after = self.steps.list[next].labels(backwards);
        let holes = self.steps.all_holes();
        let mut all = States::default();
        let mut key = Vec::new();
        for parent in 0..states.len() {
            forest.clear();
            let tree = forest.read(states.key(parent), before);
            let mut siblings = States::default();
            let mut sets: Vec<Sets> = Vec::new();
            let mut found = |forest: &Forest, tree| {
                key.clear();
                forest.write(tree, after, &mut key);
                let known = siblings.len();
                siblings.insert(&key, parent);
                if siblings.len() > known {
                    sets.push(Sets::of(forest, tree, holes));
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
            if all.len() > most * RAW {
                return Err(PassEnd::TooMany);
            }
        }
        forest.clear();
        let kept = reduced(&all, after, holes, forest, budget).map_err(PassEnd::Stopped)?;
        if kept.len() > most { Err(PassEnd::TooMany) } else { Ok(kept) }
    }
}
