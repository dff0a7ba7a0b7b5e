//! Ejection search: pushes a layout below a target by throwing out whoever is in the way.
//!
//! **Definition.** Given a valid layout, a *target* below its peak is set. Every buffer that ends above the target is taken
//! out and waits. As long as anybody waits, one of the larger ones is put into a gap below the target; where there is
//! none, it is put all the same where it is cheapest, and those in its way are taken out and wait in turn. The
//! *price* of taking a buffer out is its area times its penalty; a buffer's penalty is one plus the number of times it
//! found no gap, so nobody is thrown out for ever by the same neighbours. When nobody waits, the layout is valid and meets
//! the target, and a lower one is set.
//!
//! ```text
//! target ─ ─ ─ ─┌───┐─ ─        ─ ─ ─ ─ ─ ─ ─ ─
//!   ┌────┐      │ x │  ┌──┐     ┌────┐ ┌───┐ ┌──┐    x takes the place of a, which was
//!   │ p  │ ┌─┐  └───┘  │q │     │ p  │ │ x │ │q │    cheapest; a finds another one
//!   │    │ │a│  ┌───┐  │  │     │    │ └───┘ │  │
//! ```
//!
//! The first targets are [`STEP`] of the way from the peak to the bound. After [`Search::patience`] buffers without
//! success the layout is taken back to the best one, the step is halved and the patience doubled.
//!
//! **Invariants.** Whatever is placed is valid: alignments, fixed offsets, gaps, separations and exclusions are kept;
//! fixed buffers are never taken out. The same seed and node limit give the same answer.
//!
//! **Complexity.** Putting a buffer is O(m log m) for m placed buffers that conflict with it, looked up in a time index
//! of linear size; no conflict graph is built. Work is local: only buffers near what ends above the target move,
//! so a million buffers are improved where it matters, at the same speed as a thousand.
//!
//! **Source.** Nagata, Braysy: A powerful route minimization heuristic for the vehicle routing problem with time
//! windows, 2009 (guided ejection search), carried over to offsets; prices and targets are ours.

use crate::gaps::State;
use crate::placement::Fit;
use crate::ranks::Ranks;
use crate::valley::{ValleyWeights, valley_fit};
use plimsoll_model::{
    Budget, Bytes, Instance, Layout, Observer, Offsets, Outcome, SolveError, Solver, Stop, Tracker,
    simple_bound,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Part of the way from the peak to the bound that the first target goes.
const STEP: f64 = 0.3;

/// Of so many waiting buffers, drawn at random, the largest is next.
const DRAWS: usize = 4;

/// Places read between two looks at the clock.
const WORK_STRIDE: usize = 50_000;

/// Buffers put in a run without time and node limit: so many, and so many per buffer.
const EFFORT: (u64, u64) = (20_000, 4);

/// Pushes a layout below falling targets. A node is a buffer put.
#[derive(Clone, Copy, Debug)]
pub struct EjectionSearch {
    /// Seed of all choices.
    pub seed: u64,
}

impl EjectionSearch {
    /// With a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Improves a valid layout until it meets `bound` or the target of the budget, or the budget is spent; the best
    /// layout with its peak, where it is better, and why it ended. Every improvement is reported as it is found.
    pub fn improve(
        &self,
        instance: &Instance,
        start: &Layout,
        bound: Bytes,
        budget: &mut Budget,
        mut better: impl FnMut(&Layout, Bytes),
    ) -> (Option<(Layout, Bytes)>, Stop) {
        if let Some(stop) = budget.check() {
            return (None, stop);
        }
        let ranks = Ranks::of(instance);
        let mut search = Search::new(instance, &ranks, start, self.seed);
        let stop = search.run(bound, budget, &mut better).err().unwrap_or(Stop::Completed);
        let best = search.improved.then(|| {
            let layout = Layout::from_raw(search.best.iter().copied());
            (layout, Bytes::new(search.peak))
        });
        (best, stop)
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
                let (_, stop) = self.improve(input, &start, bound, &mut part, |layout, _| {
                    run.offer(layout.clone());
                });
                budget.spend(part.nodes());
                let stop = if limited || stop != Stop::NodeLimit { stop } else { Stop::Completed };
                run.enough(budget).unwrap_or(stop)
            }
        };
        Ok(run.conclude(stop, budget.nodes() - before))
    }
}

struct Search<'a> {
    state: State<'a>,
    rng: Xoshiro256PlusPlus,
    /// Offsets of the best layout, and its peak.
    best: Vec<u64>,
    peak: u64,
    improved: bool,
    waiting: Vec<u32>,
    /// Buffers put for one target before it is given up.
    patience: u64,
    /// All targets are multiples of this above the bound.
    grain: u64,
    checked: usize,
}

impl<'a> Search<'a> {
    fn new(instance: &'a Instance, ranks: &'a Ranks, start: &Layout, seed: u64) -> Self {
        let mut state = State::new(instance, ranks);
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
            improved: false,
            waiting: Vec::new(),
            patience: 20_000 + n / 4,
            grain: instance.grain().get(),
            checked: 0,
        }
    }

    /// Sets lower and lower targets; the error says why it ended before the bound was met.
    fn run(
        &mut self,
        bound: Bytes,
        budget: &mut Budget,
        better: &mut impl FnMut(&Layout, Bytes),
    ) -> Result<(), Stop> {
        let mut step = STEP;
        let bound = bound.get();
        while self.peak > bound {
            if let Some(stop) = budget.check() {
                return Err(stop);
            }
            let down = ((self.peak - bound) as f64 * step) as u64;
            let target = (self.peak - down.max(1)) / self.grain * self.grain;
            if self.attempt(target.max(bound), budget)? {
                self.improved = true;
                let layout = Layout::from_raw(self.best.iter().copied());
                better(&layout, Bytes::new(self.peak));
                if budget.reaches_target(Bytes::new(self.peak)) {
                    return Err(Stop::Target);
                }
            } else {
                self.restore();
                step /= 2.0;
                self.patience *= 2;
            }
        }
        Ok(())
    }

    /// Tries to bring every buffer below the target; true where that worked, and the best layout is the new one.
    fn attempt(&mut self, target: u64, budget: &mut Budget) -> Result<bool, Stop> {
        self.waiting.clear();
        for id in 0..self.best.len() as u32 {
            if self.state.end(id).is_some_and(|end| end > target) {
                if self.state.is_fixed(id) {
                    return Ok(false);
                }
                self.waiting.push(id);
            }
        }
        for at in 0..self.waiting.len() {
            self.state.take(self.waiting[at]);
        }
        let mut puts = 0;
        while !self.waiting.is_empty() {
            if puts == self.patience {
                return Ok(false);
            }
            puts += 1;
            if let Some(stop) = self.tick(budget) {
                return Err(stop);
            }
            let id = self.next();
            self.state.face(id);
            let fit = if self.rng.random_bool(0.5) { Fit::First } else { Fit::Best };
            if let Some(offset) = self.state.gap(id, fit, target) {
                self.state.put(id, offset);
            } else if !self.state.evict(id, target, &mut self.rng, &mut self.waiting) {
                self.waiting.push(id);
            }
        }
        self.peak = 0;
        for (id, offset) in (0u32..).zip(&mut self.best) {
            *offset = self.state.offset(id).expect("nobody waits");
            self.peak = self.state.end(id).expect("nobody waits").max(self.peak);
        }
        Ok(true)
    }

    /// Counts a buffer; reads the clock by the work done, as one buffer may meet thousands of others.
    fn tick(&mut self, budget: &mut Budget) -> Option<Stop> {
        let stop = budget.tick();
        if stop.is_none() && self.state.work - self.checked > WORK_STRIDE {
            self.checked = self.state.work;
            return budget.check();
        }
        stop
    }

    /// Takes one of the larger waiting buffers.
    fn next(&mut self) -> u32 {
        let mut chosen = self.rng.random_range(0..self.waiting.len());
        for _ in 1..DRAWS.min(self.waiting.len()) {
            let other = self.rng.random_range(0..self.waiting.len());
            if self.state.weight(self.waiting[other]) > self.state.weight(self.waiting[chosen]) {
                chosen = other;
            }
        }
        self.waiting.swap_remove(chosen)
    }

    /// Back to the best layout.
    fn restore(&mut self) {
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
    fn every_layout_on_the_way_is_valid_and_lower() {
        for seed in 0..200 {
            let instance = small_instance(SmallParams::with_features(14, seed % 16), seed);
            let start = valley_fit(&instance, ValleyWeights::default(), &mut Budget::unlimited()).unwrap();
            let mut last = start.peak(&instance);
            let bound = simple_bound(&instance).value;
            let search = EjectionSearch::new(seed);
            let mut budget = Budget::unlimited().with_node_limit(2000);
            let (best, _) = search.improve(&instance, &start, bound, &mut budget, |layout, peak| {
                assert_eq!(check_layout(&instance, layout), [], "seed {seed}");
                assert_eq!(layout.peak(&instance), peak);
                assert!(bound <= peak && peak < last);
                last = peak;
            });
            assert!(best.is_none_or(|(layout, peak)| peak == last && layout.peak(&instance) == peak));
        }
    }
}
