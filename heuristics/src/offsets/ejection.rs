//! Ejection search. It lowers the peak of a layout: high buffers move down, and the buffers in their way are
//! ejected and placed again.
//!
//! **Definition.** Given a valid layout, the search sets a *target* below its peak. Every buffer that ends
//! above the target is removed and becomes pending. While buffers are pending, one with a large area is
//! placed into a gap below the target. If there is no gap, it is placed at the cheapest offset, and the
//! buffers in its way are ejected and become pending. The *cost* of ejecting a buffer is its area times its
//! penalty. The penalty, which is one plus the number of times that no gap was found for the buffer, prevents
//! neighbours from ejecting each other forever. When no buffer is pending, the layout is valid and meets the
//! target, and the search sets a lower target.
//!
//! ```text
//! target ─ ─ ─ ─┌───┐─ ─        ─ ─ ─ ─ ─ ─ ─ ─
//!   ┌────┐      │ x │  ┌──┐     ┌────┐ ┌───┐ ┌──┐    x ejects a, the cheapest buffer
//!   │ p  │ ┌─┐  └───┘  │q │     │ p  │ │ x │ │q │    in its way; a becomes pending
//!   │    │ │a│  ┌───┐  │  │     │    │ └───┘ │  │
//! ```
//!
//! Each target lies below the peak by a fraction of the distance from the peak to the bound, initially
//! [`STEP`]. After [`Ejection::patience`] placements without success, the search restores the best layout,
//! halves the fraction and doubles the patience.
//!
//! **Invariants.** The partial layout is always valid: it respects alignments, fixed offsets, gaps,
//! separations and exclusions. Fixed buffers are never ejected. The same seed and node limit give the same
//! answer.
//!
//! **Complexity.** Placing a buffer is O(m log m) for m placed buffers that conflict with it. These buffers
//! are found in a time index of linear size, and no conflict graph is built. The work is local, since only
//! the removed buffers and the buffers near them move. A placement costs about the same for a million buffers
//! as for a thousand.
//!
//! **Source.** Nagata, Braysy: A powerful route minimization heuristic for the vehicle routing problem with
//! time windows, 2009 (guided ejection search), applied to offsets. The costs and targets were developed in
//! this project.

use crate::offsets::gaps::State;
use crate::offsets::placement::Fit;
use crate::offsets::report::or_fallback;
use crate::offsets::valley::{ValleyWeights, valley_fit};
use crate::ranks::Ranks;
use plimsoll_model::{
    Budget, Bytes, Instance, Layout, Observer, Offsets, Outcome, SolveError, Solver, Stop, Tracker,
    simple_bound,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::borrow::Cow;

/// Distance of the first target from the peak, as a fraction of the distance from the peak to the bound.
const STEP: f64 = 0.3;

/// Number of pending buffers that are drawn at random. The drawn buffer with the largest area is placed next.
const DRAWS: usize = 4;

/// Increase of [`State::work`] between two checks of the clock.
const WORK_STRIDE: usize = 50_000;

/// Maximum number of placements in a run without a time or node limit: a constant plus a number per buffer.
const EFFORT: (u64, u64) = (20_000, 4);

/// Ejection search for the offset problem. A node is one placement.
///
/// The search starts from a valley-fit layout and ejects buffers to meet ever lower targets for the peak.
#[derive(Clone, Copy, Debug)]
pub struct EjectionSearch {
    /// Seed of all random choices.
    pub seed: u64,
}

impl EjectionSearch {
    /// Creates a search with the given seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl Solver<Offsets> for EjectionSearch {
    fn name(&self) -> &'static str {
        "ejection-search"
    }

    fn solve(
        &self,
        input: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        let (mut run, before) = (Tracker::start(input, simple_bound(input), observer), budget.nodes());
        let stop = match valley_fit(input, ValleyWeights::default(), budget) {
            Err(stop) => stop,
            Ok(start) => {
                run.offer(start.clone());
                let bound = run.bound.value;
                let limited = budget.time_left().is_some() || budget.nodes_left().is_some();
                let effort = EFFORT.0 + EFFORT.1 * input.len() as u64;
                let mut part = budget.part((!limited).then_some(effort), None);
                let mut ejection = Ejection::new(input, &start, self.seed);
                let stop = ejection.run(bound, &mut part, |layout, _| {
                    run.offer(layout.clone());
                });
                budget.spend(part.nodes());
                let stop = if limited || stop != Stop::NodeLimit { stop } else { Stop::Completed };
                run.enough(budget).unwrap_or(stop)
            }
        };
        or_fallback(&mut run, stop);
        Ok(run.conclude(stop, budget.nodes() - before))
    }
}

/// A resumable ejection search.
#[derive(Debug)]
pub struct Ejection<'a> {
    state: State<'a>,
    rng: Xoshiro256PlusPlus,
    /// The offsets of the last complete layout.
    best: Vec<u64>,
    /// The peak of this layout.
    peak: u64,
    /// The target that is being attempted, and the number of placements so far.
    attempt: Option<(u64, u64)>,
    pending: Vec<u32>,
    /// Distance of the next target from the peak, as a fraction of the distance from the peak to the bound.
    step: f64,
    /// Number of placements after which a target is abandoned.
    patience: u64,
    /// The grain of the instance in bytes. Targets above the bound are multiples of it.
    grain: u64,
    checked: usize,
}

impl<'a> Ejection<'a> {
    /// Creates a search that starts from a valid layout.
    pub fn new(instance: &'a Instance, start: &Layout, seed: u64) -> Self {
        let mut state = State::new(instance, Cow::Owned(Ranks::of(instance)));
        let best: Vec<u64> = start.offsets().iter().map(|offset| offset.get()).collect();
        for (id, &offset) in (0u32..).zip(&best) {
            if !state.is_fixed(id) {
                state.put(id, offset);
            }
        }
        let n = instance.len() as u64;
        Self {
            state,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            best,
            peak: start.peak(instance).get(),
            attempt: None,
            pending: Vec::new(),
            step: STEP,
            patience: 20_000 + n / 4,
            grain: instance.grain().get(),
            checked: 0,
        }
    }

    /// Lowers the peak of its own layout until it meets `bound` or the target of the budget, or the budget is
    /// exhausted. Returns the termination reason. `better` is called for every improvement. Another call
    /// resumes the search.
    pub fn run(&mut self, bound: Bytes, budget: &mut Budget, mut better: impl FnMut(&Layout, Bytes)) -> Stop {
        let bound = bound.get();
        while self.peak > bound {
            if let Some(stop) = budget.check() {
                return stop;
            }
            let begun = self.attempt.take().or_else(|| self.begin(bound).map(|target| (target, 0)));
            let Some((target, puts)) = begun else {
                self.give_up();
                continue;
            };
            match self.place_pending((target, puts), budget) {
                Err(stop) => return stop,
                Ok(false) => self.give_up(),
                Ok(true) => {
                    self.adopt();
                    let layout = Layout::from_raw(self.best.iter().copied());
                    better(&layout, Bytes::new(self.peak));
                    if budget.reaches_target(Bytes::new(self.peak)) {
                        return Stop::Target;
                    }
                }
            }
        }
        Stop::Completed
    }

    /// Removes every buffer that ends above the next target. Returns the target, or `None` if a fixed buffer
    /// ends above it.
    fn begin(&mut self, bound: u64) -> Option<u64> {
        self.restore();
        let down = ((self.peak - bound) as f64 * self.step) as u64;
        let target = ((self.peak - down.max(1)) / self.grain * self.grain).max(bound);
        for id in 0..self.best.len() as u32 {
            if self.state.end(id).is_some_and(|end| end > target) {
                if self.state.is_fixed(id) {
                    return None;
                }
                self.pending.push(id);
            }
        }
        for at in 0..self.pending.len() {
            self.state.take(self.pending[at]);
        }
        Some(target)
    }

    /// Makes the next target easier.
    fn give_up(&mut self) {
        self.step /= 2.0;
        self.patience *= 2;
    }

    /// Places the pending buffers below the target, after `puts` earlier placements. Returns false if the
    /// target is abandoned.
    fn place_pending(&mut self, (target, mut puts): (u64, u64), budget: &mut Budget) -> Result<bool, Stop> {
        while !self.pending.is_empty() {
            if puts == self.patience {
                return Ok(false);
            }
            if let Some(stop) = self.tick(budget) {
                self.attempt = Some((target, puts));
                return Err(stop);
            }
            puts += 1;
            let id = self.next();
            self.state.select(id);
            let fit = if self.rng.random_bool(0.5) { Fit::First } else { Fit::Best };
            if let Some(offset) = self.state.gap(id, fit, target) {
                self.state.put(id, offset);
            } else if !self.state.evict(id, target, &mut self.rng, &mut self.pending) {
                self.pending.push(id);
            }
        }
        Ok(true)
    }

    /// Adopts the current layout, which is complete.
    fn adopt(&mut self) {
        self.peak = 0;
        for (id, offset) in (0u32..).zip(&mut self.best) {
            *offset = self.state.offset(id).expect("no buffer is pending");
            self.peak = self.state.end(id).expect("no buffer is pending").max(self.peak);
        }
    }

    /// Counts a placement. Also checks the clock whenever [`State::work`] has grown by more than
    /// [`WORK_STRIDE`], since one placement may read thousands of index entries.
    fn tick(&mut self, budget: &mut Budget) -> Option<Stop> {
        let stop = budget.tick();
        if stop.is_none() && self.state.work - self.checked > WORK_STRIDE {
            self.checked = self.state.work;
            return budget.check();
        }
        stop
    }

    /// Draws up to [`DRAWS`] pending buffers at random, and removes and returns the one with the largest
    /// area.
    fn next(&mut self) -> u32 {
        let mut chosen = self.rng.random_range(0..self.pending.len());
        for _ in 1..DRAWS.min(self.pending.len()) {
            let other = self.rng.random_range(0..self.pending.len());
            if self.state.weight(self.pending[other]) > self.state.weight(self.pending[chosen]) {
                chosen = other;
            }
        }
        self.pending.swap_remove(chosen)
    }

    /// Restores the last complete layout.
    fn restore(&mut self) {
        self.pending.clear();
        for (id, &offset) in (0u32..).zip(&self.best) {
            match self.state.offset(id) {
                Some(own) if own == offset => continue,
                Some(_) => self.state.take(id),
                None => {}
            }
            self.state.put(id, offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::{check_layout, simple_bound};

    #[test]
    fn every_improvement_is_valid_and_lower() {
        for seed in 0..200 {
            let instance = small_instance(SmallParams::with_features(14, seed % 16), seed);
            let start = valley_fit(&instance, ValleyWeights::default(), &mut Budget::unlimited()).unwrap();
            let mut last = start.peak(&instance);
            let bound = simple_bound(&instance).value;
            let mut best = None;
            let mut budget = Budget::unlimited().with_node_limit(2000);
            Ejection::new(&instance, &start, seed).run(bound, &mut budget, |layout, peak| {
                assert_eq!(check_layout(&instance, layout), [], "seed {seed}");
                assert_eq!(layout.peak(&instance), peak);
                assert!(bound <= peak && peak < last);
                last = peak;
                best = Some((layout.clone(), peak));
            });
            assert!(best.is_none_or(|(layout, peak)| peak == last && layout.peak(&instance) == peak));
        }
    }

    #[test]
    fn a_paused_search_finds_the_same_layouts() {
        for seed in 0..50 {
            let instance = small_instance(SmallParams::with_features(14, seed % 16), seed);
            let start = valley_fit(&instance, ValleyWeights::default(), &mut Budget::unlimited()).unwrap();
            let bound = simple_bound(&instance).value;
            let layouts = |slices: u64, nodes: u64| {
                let (mut search, mut found) = (Ejection::new(&instance, &start, seed), Vec::new());
                for _ in 0..slices {
                    let mut part = Budget::unlimited().with_node_limit(nodes);
                    search.run(bound, &mut part, |layout, _| found.push(layout.clone()));
                }
                found
            };
            assert_eq!(layouts(400, 5), layouts(1, 2000), "seed {seed}");
        }
    }
}
