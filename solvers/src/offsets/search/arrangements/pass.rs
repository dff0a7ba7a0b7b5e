//! A sweep from one step, in one direction.

use super::ArrangementRules;
use super::bonds::Bonds;
use super::cover::{Chosen, Cover, Failed};
use super::exchange::Exchange;
use super::states::{Sets, States, permutations, reduced, undominated};
use super::steps::Steps;
use crate::offsets::search::valley::Reduced;
use crate::pqtree::{Forest, Tree};
use plimsoll_model::{Budget, Stop};
use std::sync::OnceLock;

/// Minimum number of steps between a state and the start of a sweep in the other direction. If the start is
/// nearer, the state is not compared with that sweep.
const NEAREST: usize = 2;

/// Maximum number of nodes per state of a beam.
const BEAM_NODES: u64 = 500;

/// Ratio of the limit on states before dominated states are removed to the limit afterwards.
const RAW: usize = 4;

/// The steps at one capacity, and the exchanges between them.
#[derive(Debug)]
pub(super) struct Sequence {
    pub steps: Steps,
    /// The exchanges from each step, forwards and backwards.
    exchanges: Vec<[OnceLock<Option<Exchange>>; 2]>,
    /// Empty if the rule is not in use.
    pub bonds: Bonds,
}

/// The maximum number of states per step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub most: usize,
    /// Whether a sweep with more states continues with those that have the most permutations, instead of
    /// ending.
    pub beam: bool,
    /// Number of nodes after which a sweep stops. It passes the step that it has begun, so that no work is
    /// repeated when it continues.
    pub nodes: u64,
}

/// The states of the steps that a sweep passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    pub states: Vec<States>,
    /// The first and the last step on which the states depend.
    pub extent: (usize, usize),
    /// True if the sweep dropped states that no other state dominates.
    partial: bool,
}

impl Trail {
    fn extend(&mut self, (first, last): (usize, usize)) {
        self.extent = (self.extent.0.min(first), self.extent.1.max(last));
    }
}

/// All states that one sweep has at one step.
#[derive(Clone, Debug)]
pub(super) struct Reached {
    pub states: States,
    /// The step at which the sweep began.
    pub from: usize,
    /// The first and the last step on which the states depend.
    pub extent: (usize, usize),
}

/// The result of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassEnd {
    /// No arrangement remains.
    Refuted,
    /// Arrangements remain at the last step that the sweep can reach.
    Through,
    /// There are too many states or exchanges, or a beam has no states left.
    TooMany,
    Stopped(Stop),
}

impl Sequence {
    /// Selects the steps at a capacity. Returns `None` if the capacity is below the load or more than
    /// `rules.waste` units above it, or if [`Steps::of`] selects no steps. If `alike` is false, no two
    /// buffers are interchangeable.
    pub fn at(reduced: &Reduced, capacity: i64, rules: ArrangementRules, alike: bool) -> Option<Self> {
        let load = reduced.highest_load();
        let own = usize::try_from(capacity - load).ok().filter(|&own| own <= rules.waste)?;
        let steps = Steps::of(reduced, capacity, (rules.leaves, own), alike)?;
        let exchanges = steps.list.iter().map(|_| [OnceLock::new(), OnceLock::new()]).collect();
        Some(Self { steps, exchanges, bonds: Bonds::default() })
    }

    pub fn exchange(&self, at: usize, backwards: bool) -> Option<&Exchange> {
        let next = if backwards { at - 1 } else { at + 1 };
        let cell = &self.exchanges[at][usize::from(backwards)];
        cell.get_or_init(|| Exchange::of(&self.steps, at, next)).as_ref()
    }

    /// Removes all groups of several beginning buffers. This is unsound.
    pub fn forget_large_groups(&mut self) {
        for at in 0..self.steps.list.len() {
            for (way, neighbour) in [at.checked_add(1), at.checked_sub(1)].into_iter().enumerate() {
                if let Some(next) = neighbour.filter(|&next| next < self.steps.list.len()) {
                    let exchange = Exchange::of(&self.steps, at, next).map(Exchange::without_large_groups);
                    self.exchanges[at][way] = exchange.into();
                }
            }
        }
    }

    /// Sweeps from all arrangements of the step `from`, or continues a sweep. One node of the budget is one
    /// chosen group. `trail` receives the states of all steps that the sweep passed. Drops each state that
    /// has no arrangement in common with the states of `others`, which sweeps in the other direction have
    /// reached.
    pub fn sweep(
        &self,
        from: usize,
        backwards: bool,
        limit: Limit,
        others: &[Option<Reached>],
        trail: &mut Trail,
        budget: &mut Budget,
    ) -> PassEnd {
        let mut forest = Forest::default();
        if trail.states.is_empty() {
            let first = &self.steps.list[from];
            let tree = forest.universal(first.leaves);
            trail.extent = self.bonds.extent((from, backwards), true);
            let tree = self.bonds.narrow(&mut forest, tree, 0, (from, backwards), true);
            let Some(tree) = tree else { return PassEnd::Refuted };
            let mut key = Vec::new();
            forest.write(tree, first.labels(backwards), &mut key);
            let mut states = States::default();
            states.insert(&key, 0);
            trail.states.push(states);
        }
        let last = self.steps.end(from, backwards);
        let step = |passed: usize| if backwards { from - passed } else { from + passed };
        let since = budget.nodes();
        while step(trail.states.len() - 1) != last {
            let at = step(trail.states.len() - 1);
            let before = &trail.states[trail.states.len() - 1];
            let (mut states, all) = match self.advance(before, at, backwards, limit, &mut forest, budget) {
                Ok(next) => next,
                Err(end) => return end,
            };
            let next = step(trail.states.len());
            if let Some(Some(other)) = others.get(next).filter(|_| states.len() > 0)
                && other.from.abs_diff(next) >= NEAREST
            {
                match self.meeting((next, backwards), &states, &other.states, budget) {
                    Err(stop) => return PassEnd::Stopped(stop),
                    Ok(Some(kept)) if kept.len() < states.len() => {
                        states = states.select(&kept);
                        trail.extend(other.extent);
                    }
                    Ok(_) => {}
                }
            }
            trail.partial |= !all;
            trail.extend(self.bonds.extent((next, backwards), false));
            if states.len() == 0 {
                return if trail.partial { PassEnd::TooMany } else { PassEnd::Refuted };
            }
            trail.states.push(states);
            if step(trail.states.len() - 1) != last && budget.nodes() - since >= limit.nodes {
                return PassEnd::Stopped(Stop::NodeLimit);
            }
        }
        PassEnd::Through
    }

    /// Returns the states at the next step, and whether the list is complete.
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
        // Without waste, few siblings dominate others, so comparing all states once is faster.
        let compares = limit.beam || exchange.waste != (0, 0);
        let mut all = States::default();
        let mut complete = true;
        // A beam with enough states needs no state with fewer permutations than all of them.
        let mut least = 0;
        let mut key = Vec::new();
        for parent in 0..states.len() {
            forest.clear();
            let tree = forest.read(states.key(parent), before);
            let mut siblings = States::default();
            let mut sets: Vec<Sets> = Vec::new();
            let earlier = all.len();
            let mut found = |forest: &mut Forest, tree: Tree, _: &[Chosen]| {
                let Some(tree) = self.bonds.narrow(forest, tree, holes, (next, backwards), false) else {
                    return true;
                };
                if least > 0 && permutations(forest, tree, holes, exchange.waste.1) < least {
                    return true;
                }
                key.clear();
                forest.write(tree, after, &mut key);
                if !compares {
                    all.insert(&key, parent);
                } else if !all.contains(&key) && siblings.insert(&key, parent) {
                    sets.push(Sets::of(forest, tree, holes, exchange.waste.1));
                }
                limit.beam || siblings.len().max(all.len() - earlier) <= limit.most * RAW * RAW
            };
            let mut cover = Cover::new((&self.steps, exchange), forest, budget, &mut found);
            cover.most = if limit.beam { BEAM_NODES } else { u64::MAX };
            match cover.run(tree) {
                Ok(()) => {}
                Err(Failed::Enough) if limit.beam => complete = false,
                Err(Failed::Enough | Failed::TooMany) => return Err(PassEnd::TooMany),
                Err(Failed::Stopped(stop)) => return Err(PassEnd::Stopped(stop)),
            }
            for child in undominated(&sets, budget).map_err(PassEnd::Stopped)? {
                all.insert(siblings.key(child), parent);
            }
            if all.len() > limit.most * RAW {
                if !limit.beam {
                    return Err(PassEnd::TooMany);
                }
                forest.clear();
                let kept = reduced(&all, after, (holes, exchange.waste.1), Some(limit.most), forest, budget);
                (all, least) = kept.map_err(PassEnd::Stopped)?;
                complete = false;
            }
        }
        forest.clear();
        let beam = limit.beam.then_some(limit.most);
        let (kept, _) = reduced(&all, after, (holes, exchange.waste.1), beam, forest, budget)
            .map_err(PassEnd::Stopped)?;
        if kept.len() > limit.most {
            Err(PassEnd::TooMany)
        } else {
            complete &= kept.len() < limit.most;
            Ok((kept, complete))
        }
    }
}
