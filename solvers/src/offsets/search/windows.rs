//! Proves bounds above the load on windows, which are ranges of sections to which lifespans are clipped.
//!
//! Clipping lifespans to a *window* of sections is a relaxation: a layout of the instance, restricted to the
//! window, has the same or a smaller peak. A capacity that is infeasible for a window is infeasible for the
//! instance. The cause of infeasibility is usually a short period of time.
//!
//! Two methods refute a capacity in a window:
//! - A *sweep* ([`crate::offsets::search::sweep`]) is used if few buffers are live. It proceeds backwards or forwards
//!   from a section until no state remains. The end of the window need not be known in advance, because the
//!   sweep stops when the contradiction is complete. Sweeps start first from the sections with the fewest
//!   live buffers because these have the fewest orders.
//! - *Valley branching* ([`crate::offsets::search::valley`]) is used where too many buffers are live for a sweep. It
//!   runs on windows of 4, 8, 16, ... sections, the tightest first.
//!
//! A sweep over all sections is not a relaxation and finds the optimum itself. Capacities are tried from just
//! below the peak of the best layout down to the bound. Refuting any of these capacities raises the bound,
//! and refuting the highest finishes the search.
//!
//! **Source.** This project. Clipping to a window is the relaxation that energetic reasoning uses to bound
//! schedules.

use crate::offsets::search::Decision;
use crate::offsets::search::sweep::{Pass, Sections, SweepEnd};
use crate::offsets::search::tree::Rules;
use crate::offsets::search::valley::{Engine, Reduced};
use plimsoll_model::Budget;

/// Switches for proofs on windows, for ablation studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowRules {
    /// Whether to sweep over all sections.
    pub whole: bool,
    /// Whether to sweep over all sections with a beam to find better layouts.
    pub beam: bool,
    /// Whether to sweep in both directions from the sections with at most `widest` live buffers.
    pub sweeps: bool,
    /// Whether to use valley branching if too many buffers are live for a sweep.
    pub branching: bool,
    /// Maximum number of live buffers in a section from which a sweep may start.
    pub widest: usize,
    /// Number of sections that a sweep looks ahead.
    ///
    /// This is sound because only buffers that are live at a later section can fill the distances there (see
    /// [`crate::offsets::search::sweep`]).
    pub ahead: usize,
    /// Memory limit for the states of a sweep, in bytes.
    pub bytes: usize,
}

impl Default for WindowRules {
    fn default() -> Self {
        Self {
            whole: true,
            beam: true,
            sweeps: true,
            branching: true,
            widest: 12,
            ahead: 2,
            bytes: 512 << 20,
        }
    }
}

/// Result of an attempt to improve the bound or the layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The minimum peak of the instance, and optimal offsets, in units.
    Least {
        peak: i64,
        /// Offset of each buffer, in the order of [`Reduced`].
        offsets: Vec<i64>,
    },
    /// A lower bound on the peak, proved on the sections of `window` alone.
    Bound {
        /// The lower bound in units.
        bound: i64,
        /// The first section, and the section after the last.
        window: (usize, usize),
    },
    /// A layout that is better but not proved optimal, with its peak and offsets in units.
    Better {
        peak: i64,
        /// Offset of each buffer, in the order of [`Reduced`].
        offsets: Vec<i64>,
    },
    /// Neither a better bound nor a better layout.
    Nothing,
}

impl Proof {
    /// Returns the peak of the layout, in units.
    pub fn peak(&self) -> Option<i64> {
        match self {
            Self::Least { peak, .. } | Self::Better { peak, .. } => Some(*peak),
            Self::Bound { .. } | Self::Nothing => None,
        }
    }

    /// Returns true if the proof excludes layouts within `high` units.
    pub fn excludes(&self, high: i64) -> bool {
        matches!(self, Self::Bound { bound, .. } if *bound > high)
    }
}

/// A method that raises a lower bound. It keeps what it has learnt between calls.
pub(super) trait Raise: std::fmt::Debug {
    /// Tries to raise a bound from `low` units to more than `high` units, with about `nodes` nodes.
    fn raise(&mut self, range: (i64, i64), nodes: u64, budget: &mut Budget) -> Vec<Proof>;
}

/// Maximum number of sections of a sweep that is not over all sections. Longer windows would be slow to set
/// up and are rarely needed.
const LONGEST_SWEEP: usize = 256;

/// Minimum node limit of a sweep that is not over all sections.
const SHORTEST_SWEEP: u64 = 300;

/// Minimum node limit of valley branching per window.
const SHORTEST_BRANCHING: u64 = 300;

/// Maximum number of capacities that are tried per call. The first is just below the peak of the best layout,
/// and the following ones approach the bound.
const ATTEMPTS: u32 = 4;

/// A search that refutes capacities on windows. Each call resumes where the previous one ended.
#[derive(Debug)]
pub(crate) struct Windows<'a> {
    sections: Sections<'a>,
    reduced: &'a Reduced,
    rules: WindowRules,
    seed: u64,
    /// True if few enough buffers are live in every section for a sweep.
    narrow: bool,
    /// Node limit of the previous beam sweeps.
    beamed: u64,
    /// Starting sections of sweeps, each with a flag for backward sweeps. Initially, the sections with the
    /// fewest live buffers come first.
    starts: Vec<(usize, bool)>,
    /// Windows on which to branch at the capacity `tight_at`, the tightest last.
    tight: Vec<(usize, usize)>,
    tight_at: i64,
    width: usize,
}

impl<'a> Windows<'a> {
    /// Lists the starting sections. The time is O(s log s + m) for s sections with m live buffers in total.
    pub fn new(reduced: &'a Reduced, rules: WindowRules, seed: u64) -> Self {
        let sections = Sections::of(reduced);
        let narrow = (0..sections.len()).all(|s| sections.width(s).is_some());
        let mut starts: Vec<(usize, bool)> = Vec::new();
        if rules.sweeps {
            let few = |&s: &usize| sections.width(s).is_some_and(|width| width <= rules.widest);
            let inner = (0..sections.len()).filter(few);
            starts.extend(inner.flat_map(|s| [(s, false), (s, true)]));
            starts.retain(|&(s, backwards)| s != if backwards { sections.len() - 1 } else { 0 } || !narrow);
            starts.sort_by_key(|&(s, backwards)| (sections.width(s), -reduced.load[s], s, backwards));
        }
        let tight = Vec::new();
        Self { sections, reduced, rules, seed, narrow, beamed: 0, starts, tight, tight_at: -1, width: 2 }
    }

    /// Returns true if a sweep over all sections is possible.
    pub fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// Tries to settle the range of capacities from `low` to `high` units, or part of it, with about `nodes`
    /// nodes.
    pub fn prove(&mut self, low: i64, high: i64, nodes: u64, budget: &mut Budget) -> Proof {
        if self.narrow && self.rules.beam && nodes > self.beamed {
            self.beamed = nodes;
            if let Some((peak, offsets)) = self.beam(high, nodes, budget) {
                return Proof::Better { peak, offsets };
            }
        }
        let mut asked = None;
        for attempt in 0..ATTEMPTS {
            let last = attempt == ATTEMPTS - 1 || !self.narrow && attempt > 0;
            let capacity = if last { low } else { low + ((high - low) >> (2 * attempt)) };
            if budget.check().is_some() || asked == Some(capacity) {
                break;
            }
            asked = Some(capacity);
            let proof = self.attempt(capacity, nodes, budget);
            if !matches!(proof, Proof::Nothing) {
                return proof;
            }
        }
        Proof::Nothing
    }

    /// Tries to decide one capacity.
    fn attempt(&mut self, capacity: i64, nodes: u64, budget: &mut Budget) -> Proof {
        let all = (0, self.sections.len());
        if self.narrow && self.rules.whole {
            for backwards in [false, true] {
                match self.sweep(all, backwards, capacity, nodes / 4, budget) {
                    SweepEnd::Least { peak, offsets } => return Proof::Least { peak, offsets },
                    SweepEnd::Impossible { next, refuted } => {
                        return Proof::Bound { bound: next, window: refuted };
                    }
                    SweepEnd::TooMany | SweepEnd::Stopped(_) => {}
                }
            }
        }
        if let Some(proof) = self.sweep_from_within(capacity, nodes / 2, budget) {
            return proof;
        }
        if self.rules.branching && !self.narrow {
            return self.branch(capacity, nodes / 2, budget);
        }
        Proof::Nothing
    }

    /// Runs a beam sweep in each direction. Returns the lowest peak found and its offsets, if a layout within
    /// `high` units was found.
    fn beam(&mut self, high: i64, nodes: u64, budget: &mut Budget) -> Option<(i64, Vec<i64>)> {
        let window = (0, self.sections.len());
        let live: usize = (0..self.sections.len()).filter_map(|s| self.sections.width(s)).max()?;
        let steps = (self.reduced.len() * live * 2) as u64;
        let (bytes, ahead) = (self.rules.bytes, self.rules.ahead);
        let beam =
            Some(usize::try_from(nodes / steps.max(1)).unwrap_or(usize::MAX)).filter(|&most| most >= 4);
        beam?;
        let (mut best, mut capacity) = (None, high);
        for backwards in [false, true] {
            let mut part = budget.part(Some(nodes), None);
            let pass = Pass { sections: &self.sections, window, backwards, capacity, bytes, ahead, beam };
            if let SweepEnd::Least { peak, offsets } = pass.run(&mut part) {
                best = Some((peak, offsets));
                capacity = peak - 1;
            }
            budget.spend(part.nodes());
        }
        best
    }

    fn sweep(
        &self,
        window: (usize, usize),
        backwards: bool,
        capacity: i64,
        nodes: u64,
        budget: &mut Budget,
    ) -> SweepEnd {
        let (bytes, ahead) = (self.rules.bytes, self.rules.ahead);
        let mut part = budget.part(Some(nodes), None);
        let end = Pass { sections: &self.sections, window, backwards, capacity, bytes, ahead, beam: None }
            .run(&mut part);
        budget.spend(part.nodes());
        end
    }

    /// Runs the sweeps in `starts` until one refutes the capacity. Each sweep gets an equal share of the
    /// nodes.
    fn sweep_from_within(&mut self, capacity: i64, nodes: u64, budget: &mut Budget) -> Option<Proof> {
        let share = (nodes / self.starts.len().max(1) as u64).max(SHORTEST_SWEEP);
        let until = budget.nodes() + nodes;
        for at in 0..self.starts.len() {
            if budget.nodes() >= until || budget.check().is_some() {
                // The next call resumes here.
                self.starts.rotate_left(at);
                break;
            }
            let (s, backwards) = self.starts[at];
            let window = if backwards {
                ((s + 1).saturating_sub(LONGEST_SWEEP), s + 1)
            } else {
                (s, (s + LONGEST_SWEEP).min(self.sections.len()))
            };
            if let SweepEnd::Impossible { next, refuted } =
                self.sweep(window, backwards, capacity, share, budget)
            {
                // A start that refutes one capacity probably refutes the next one as well, so try it first.
                self.starts[..=at].rotate_right(1);
                return Some(Proof::Bound { bound: next, window: refuted });
            }
        }
        None
    }

    /// Runs valley branching on windows, the tightest first. The width doubles after all windows of one width
    /// have been tried, and starts again from 4 after the widest.
    fn branch(&mut self, capacity: i64, nodes: u64, budget: &mut Budget) -> Proof {
        let until = budget.nodes() + nodes;
        let share = (nodes / 16).max(SHORTEST_BRANCHING);
        while budget.nodes() < until && budget.check().is_none() {
            if self.tight_at != capacity {
                (self.tight_at, self.width) = (capacity, 2);
                self.tight.clear();
            }
            let Some((from, to)) = self.tight.pop() else {
                if self.width >= self.sections.len() {
                    self.width = 2;
                }
                self.width *= 2;
                self.list_windows(capacity);
                continue;
            };
            let clipped = self.reduced.clipped(from, to);
            let rules = Rules { memo_bytes: self.rules.bytes / 8, ..Rules::default() };
            let mut part = budget.part(Some(share), None);
            let verdict = Engine::new(&clipped, capacity, rules, self.seed).run(&mut part);
            budget.spend(part.nodes().max(SHORTEST_BRANCHING / 10));
            if verdict == Decision::Impossible {
                self.tight.push((from, to));
                self.tight_at = capacity + 1;
                return Proof::Bound { bound: capacity + 1, window: (from, to) };
            }
        }
        Proof::Nothing
    }

    /// Lists overlapping windows of the current width, sorted by descending slack.
    fn list_windows(&mut self, capacity: i64) {
        let last = self.sections.len().saturating_sub(self.width);
        let step = (self.width / 2).max(1);
        let slack = |&(from, to): &(usize, usize)| -> i128 {
            self.reduced.load[from..to].iter().map(|load| i128::from(capacity - load)).sum()
        };
        let starts = (0..last).step_by(step).chain([last]);
        let mut windows: Vec<(usize, usize)> =
            starts.map(|from| (from, (from + self.width).min(self.sections.len()))).collect();
        windows.sort_by_key(|window| (std::cmp::Reverse(slack(window)), std::cmp::Reverse(*window)));
        self.tight = windows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::search::{Branching, Search, SearchParams};
    use plimsoll_datasets::{AboveLoadParams, hard_above_load};
    use plimsoll_model::{
        Buffer, Bytes, Claim, Instance, InstanceBuilder, Lifespan, Setup, Silent, Solver, Stop, Witness,
        load, sections,
    };

    /// Returns an instance of the buffers that are live between the steps `lower` and `upper`, with lifespans
    /// clipped to this window.
    fn clipped(instance: &Instance, lower: u64, upper: u64) -> Instance {
        let clip = |b: &Buffer| {
            let hull = b.lifespan().hull();
            let life = Lifespan::single(hull.lower.get().max(lower), hull.upper.get().min(upper)).ok()?;
            Some(Buffer::new(b.name(), b.size(), life))
        };
        InstanceBuilder::new("window").buffers(instance.buffers().iter().filter_map(clip)).build().unwrap()
    }

    fn made(buffers: u64, live: u64, seed: u64) -> Instance {
        let params = AboveLoadParams { buffers, live, bytes: 64, unit: 1, turnover: 3 };
        hard_above_load(params, seed).unwrap().instance
    }

    /// Returns the best bound, in units, that searches on windows prove within the budget, the sections on
    /// which it was proved, and the termination reason if the budget ran out. `low` is a known lower bound
    /// and `high` the peak of a known layout, in units.
    fn window_bound(
        reduced: &Reduced,
        rules: WindowRules,
        (mut low, high): (i64, i64),
        budget: &mut Budget,
    ) -> (i64, Option<(usize, usize)>, Option<Stop>) {
        let mut windows = Windows::new(reduced, rules, 0);
        let (mut nodes, mut shown) = (10_000, None);
        while low < high {
            if let Some(stop) = budget.check() {
                return (low, shown, Some(stop));
            }
            match windows.prove(low, high - 1, nodes, budget) {
                Proof::Least { peak, .. } => return (peak, Some((0, reduced.sections)), None),
                Proof::Bound { bound, window } => (low, shown) = (bound.min(high), Some(window)),
                Proof::Better { .. } => {}
                Proof::Nothing => nodes *= 2,
            }
        }
        (low, shown, None)
    }

    /// Confirms refuted windows by canonical branching, which shares no code with sweeps or valley
    /// branching.
    #[test]
    fn refuted_windows_are_refuted_by_another_method() {
        let mut above = 0;
        for seed in 0..12 {
            let instance = made(60, 5, seed);
            let reduced = Reduced::of(&instance).unwrap();
            let high = 64 + seed as i64 % 3;
            for rules in [
                WindowRules { whole: false, ..WindowRules::default() },
                WindowRules { whole: false, beam: false, sweeps: false, ..WindowRules::default() },
            ] {
                let mut windows = Windows::new(&reduced, rules, seed);
                windows.narrow = rules.sweeps;
                let mut budget = Budget::unlimited();
                let Proof::Bound { bound, window } = windows.prove(64, high, 50_000, &mut budget) else {
                    continue;
                };
                let steps = sections(&instance);
                let lower = steps[window.0].interval.lower.get();
                let upper = steps[window.1 - 1].interval.upper.get();
                let part = clipped(&instance, lower, upper).with_capacity(Some(Bytes::new(bound as u64 - 1)));
                let params = SearchParams {
                    branching: Branching::Canonical,
                    windows: None,
                    learn: None,
                    ..SearchParams::default()
                };
                let reference = Search::new(Setup::default()).with_params(params);
                let mut budget = Budget::unlimited().with_node_limit(2_000_000);
                let claim = reference.solve(&part, &mut budget, &mut Silent).unwrap().claim;
                assert!(matches!(claim, Claim::Infeasible | Claim::Unknown), "seed {seed}: {claim}");
                above += u32::from(claim == Claim::Infeasible);
            }
        }
        assert!(above >= 6, "only {above} windows were confirmed");
    }

    /// Uses an instance of two thousand buffers. The first bound is proved without sweeps over all sections.
    #[test]
    fn windows_give_bounds_above_the_load_of_large_instances() {
        let params = AboveLoadParams { buffers: 2_000, live: 9, bytes: 1 << 20, unit: 1 << 10, turnover: 3 };
        let instance = hard_above_load(params, 1).unwrap().instance;
        let reduced = Reduced::of(&instance).unwrap();
        let low = *reduced.load.iter().max().unwrap();
        let mut budget = Budget::unlimited().with_node_limit(1_000_000);
        let rules = WindowRules { whole: false, beam: false, ..WindowRules::default() };
        let (bound, window, _) = window_bound(&reduced, rules, (low, low + 64), &mut budget);
        assert!(bound > low && window.is_some(), "{bound} units, the load is {low}");
        let outcome = Search::default()
            .solve(&instance, &mut Budget::unlimited().with_node_limit(1_000_000), &mut Silent)
            .unwrap();
        assert!(outcome.lower_bound.value > load(&instance).0);
        assert!(matches!(outcome.lower_bound.witness, Witness::Window { .. } | Witness::Search { .. }));
    }
}
