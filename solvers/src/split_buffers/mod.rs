//! Optimal layouts of split buffers. Buffers may be cut into pieces, so a layout is a weighted colouring of
//! the conflict graph.
//!
//! The phases run in this order, until the best layout meets the bound:
//! 1. *bounds*: quick bounds of the offset problem that are also valid for split buffers.
//! 2. *sweep*, if the conflicts are those of intervals. Addresses are assigned step by step. Without
//!    alignments, the peak equals the load and is optimal.
//! 3. *flow*, if compatibility is a partial order. The conflict graph is then perfect, and one maximum flow
//!    gives a clique and a layout of the same size in polynomial time.
//! 4. *greedy*: a placement heuristic from a patent on memory planning.
//! 5. *offsets*: an iterated search for an unsplit layout within part of the budget.
//! 6. *colours*, if neither *sweep* nor *flow* applies. Buffers that can be reinserted at no cost are
//!    removed. Column generation covers the rest by stable sets and provides a dual bound. The solution is
//!    rounded to units.
//!
//! If buffers are aligned, a unit is the least common multiple of all alignments, and sizes are rounded up to
//! units. The outcome is optimal only if the value equals the bound. If offsets are fixed, or if the unit or
//! the total size would be too large, only *bounds*, *greedy* and *offsets* run.

mod colours;
mod reduce;
mod registry;
mod stable;

pub use registry::ENTRIES;

use crate::offsets::bounds::{has_few_conflicts, quick_bound};
use crate::poset::{POSET_BUFFERS, Poset, by_time, compatible, merged};
use colours::{COLOUR_BUFFERS, Colouring, colour};
use plimsoll_heuristics::offsets::{IteratedSearch, descending_split, laid_end_to_end, unsplit};
use plimsoll_model::{
    Budget, Bytes, Instance, LowerBound, Observer, Outcome, Piece, Setup, Silent, SolveError, Solver,
    SplitBuffers, SplitLayout, Stop, Tracker, Witness,
};
use plimsoll_support::lcm;
use reduce::Reduced;
use std::collections::BTreeMap;

/// The solver described in the [module](self). Its name in the registry is `exact`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SplitExact {
    setup: Setup,
}

impl SplitExact {
    /// Creates the solver with the seed of `setup`, which the search for unsplit layouts uses.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

/// Maximum number of conflicts for which column generation builds a graph.
const COLOUR_CONFLICTS: u64 = 8_000_000;

/// Limits of the search for an unsplit layout: nodes in total, nodes per pair of buffers, and the fraction of
/// the remaining time.
const OFFSETS_NODES: u64 = 600_000;
const PAIR_NODES: u64 = 300;
const OFFSETS_TIME: f64 = 0.3;

const NAME: &str = "exact";

/// The address ranges of each buffer, in units.
type Ranges = Vec<Vec<(u64, u64)>>;

struct Phases<'a> {
    setup: Setup,
    instance: &'a Instance,
    budget: &'a mut Budget,
    known: Tracker<'a, SplitBuffers>,
    /// Bytes per unit. `units` contains the sizes of the buffers in units.
    unit: u64,
    units: Vec<u64>,
}

impl Phases<'_> {
    /// Runs one phase and records its duration in seconds, unless the instance is already settled.
    fn phase<T>(&mut self, name: &str, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.settled().is_some() {
            return None;
        }
        self.known.observer.phase(name);
        let since = self.budget.elapsed().as_secs_f64();
        let done = run(self);
        self.known.book(name, since, self.budget);
        Some(done)
    }

    /// Returns the reason to stop if no further work is needed.
    fn settled(&self) -> Option<Stop> {
        if self.instance.capacity().is_some_and(|capacity| self.known.bound.value > capacity) {
            return Some(Stop::Completed);
        }
        self.known.enough(self.budget)
    }

    /// Offers a layout whose addresses are given in units. A buffer may use only part of its last unit.
    fn offer_ranges(&mut self, ranges: Ranges) {
        let pieces = ranges.into_iter().zip(self.instance.buffers()).map(|(own, buffer)| {
            let mut missing = buffer.size().get();
            let piece = |(start, end): (u64, u64)| {
                let length = missing.min((end - start) * self.unit);
                missing -= length;
                Piece { start: Bytes::new(start * self.unit), length: Bytes::new(length) }
            };
            merged(own).into_iter().map(piece).filter(|piece| piece.length > Bytes::ZERO).collect()
        });
        let layout = SplitLayout::new(pieces.collect());
        self.known.offer(layout);
    }

    /// Assigns the lowest free addresses to every buffer when it begins, and frees them when it ends. Returns
    /// false if time runs out. The time is O(p log n) for n buffers with p pieces in total.
    fn sweep(&mut self) -> bool {
        let mut watch = self.budget.without_node_limit();
        let lifespans = self.instance.buffers().iter().map(|b| b.lifespan().hull());
        let mut events: Vec<(u64, bool, usize)> = lifespans
            .enumerate()
            .flat_map(|(at, hull)| [(hull.lower.get(), true, at), (hull.upper.get(), false, at)])
            .collect();
        events.sort_unstable();
        let mut ranges: Ranges = vec![Vec::new(); self.instance.len()];
        let (mut free, mut top) = (BTreeMap::<u64, u64>::new(), 0);
        for (_, begins, at) in events {
            if watch.tick().is_some() {
                return false;
            }
            if !begins {
                for &(start, end) in &ranges[at] {
                    give_back(&mut free, start, end);
                }
                continue;
            }
            let mut missing = self.units[at];
            while missing > 0 {
                let (start, end) = free.pop_first().unwrap_or((top, top + missing));
                let part = missing.min(end - start);
                ranges[at].push((start, start + part));
                missing -= part;
                top = top.max(start + part);
                if start + part < end {
                    free.insert(start + part, end);
                }
            }
        }
        self.offer_ranges(ranges);
        true
    }

    /// Offers the layout of a maximum flow. Returns false if compatibility is not a partial order or if time
    /// runs out.
    fn flow(&mut self) -> bool {
        let watch = &mut self.budget.without_node_limit();
        let Some(poset) = Poset::of(self.instance, watch) else { return false };
        let weights: Vec<u64> = poset.order.iter().map(|&at| self.units[at]).collect();
        let Some(chains) = poset.solve(&weights, watch) else { return false };
        let mut ranges: Ranges = vec![Vec::new(); weights.len()];
        for (at, own) in chains.ranges(&weights).into_iter().enumerate() {
            ranges[poset.order[at]] = own;
        }
        self.offer_ranges(ranges);
        true
    }

    fn greedy(&mut self) {
        if let Ok(layout) = descending_split(self.instance, &mut self.budget.part(None, None)) {
            self.known.offer(layout);
        }
    }

    /// Searches for an unsplit layout, which is a special case of a split layout. The lower bound that the
    /// search reports is not used.
    fn offsets(&mut self) -> Result<(), SolveError> {
        let few = (self.instance.len() as u64).pow(2).saturating_mul(PAIR_NODES);
        let wanted = OFFSETS_NODES.min(few);
        let nodes = self.budget.nodes_left().map_or(wanted, |left| wanted.min(left / 4));
        let time = self.budget.time_share(OFFSETS_TIME);
        let mut part = self.budget.part(Some(nodes), time).with_target(self.known.bound.value);
        let search = IteratedSearch::new(self.setup.seed);
        let outcome = search.solve(self.instance, &mut part, &mut Silent)?;
        self.budget.spend(part.nodes());
        if let Some(layout) = outcome.solution {
            self.known.offer(unsplit(self.instance, &layout));
        }
        Ok(())
    }

    fn colours(&mut self) {
        // The bound does not take rounding to units into account, so it is rounded down to whole units.
        let known = self.known.bound.value.get() / self.unit;
        let watch = &mut self.budget.without_node_limit();
        let Some(reduced) = Reduced::of(self.instance, &self.units, known, watch) else { return };
        self.known.stats.count("core", reduced.core.len() as u64);
        if reduced.core.len() > COLOUR_BUFFERS {
            return;
        }
        let mut inside = vec![false; self.instance.len()];
        for &at in &reduced.core {
            inside[at] = true;
        }
        let mut order = by_time(self.instance);
        order.retain(|&at| inside[at]);
        let Some(compatible) = compatible(self.instance, &order, watch) else { return };
        let demands: Vec<u64> = order.iter().map(|&at| self.units[at]).collect();
        let found = colour(&compatible, &demands, if self.unit == 1 { known } else { 0 }, self.budget);
        let colouring = found.colouring.unwrap_or_default();
        let mut ranges = self.addresses(&order, &demands, &colouring);
        reduced.put_back(&self.units, &mut ranges);
        self.offer_ranges(ranges);
        if self.unit == 1 {
            let witness = Witness::Search { solver: NAME.to_owned() };
            self.known.raise(LowerBound::new(Bytes::new(found.bound), witness));
        }
    }

    /// Converts a colouring to addresses by stacking its classes.
    fn addresses(&self, order: &[usize], demands: &[u64], colouring: &Colouring) -> Ranges {
        let mut ranges: Ranges = vec![Vec::new(); self.instance.len()];
        let (mut missing, mut floor) = (demands.to_vec(), 0);
        for (set, units) in &colouring.classes {
            for &at in set {
                let part = missing[at].min(*units);
                missing[at] -= part;
                if part > 0 {
                    ranges[order[at]].push((floor, floor + part));
                }
            }
            floor += units;
        }
        ranges
    }
}

/// Adds a range to the free ranges and merges it with adjacent ones.
fn give_back(free: &mut BTreeMap<u64, u64>, start: u64, end: u64) {
    let (mut start, mut end) = (start, end);
    if let Some((&below, &touches)) = free.range(..start).next_back()
        && touches == start
    {
        free.remove(&below);
        start = below;
    }
    if let Some(above) = free.remove(&end) {
        end = above;
    }
    free.insert(start, end);
}

/// Returns the least common multiple of all alignments, or `None` if it exceeds both the largest alignment
/// and 2^20.
fn unit(instance: &Instance) -> Option<u64> {
    let largest = instance.buffers().iter().map(|b| b.alignment().get()).max().unwrap_or(1);
    instance.buffers().iter().try_fold(1u64, |unit, buffer| {
        let unit = lcm(unit, buffer.alignment().get())?;
        (unit <= largest.max(1 << 20)).then_some(unit)
    })
}

impl Solver<SplitBuffers> for SplitExact {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<SplitBuffers>,
    ) -> Result<Outcome<SplitBuffers>, SolveError> {
        let unit = if instance.has_fixed() { None } else { unit(instance) };
        let bytes = unit.unwrap_or(1);
        let units = instance.buffers().iter().map(|b| b.size().get().div_ceil(bytes)).collect();
        let known = Tracker::new(instance, LowerBound::trivial(), observer);
        let mut phases = Phases { setup: self.setup, instance, budget, known, unit: bytes, units };
        let bound = quick_bound(instance, phases.budget);
        phases.known.raise(bound);
        // The sum of the rounded sizes must also fit into 63 bits.
        let fits =
            phases.units.iter().try_fold(0u64, |sum, units| sum.checked_add(units.checked_mul(bytes)?));
        let cuttable = unit.is_some() && fits.is_some_and(|sum| i64::try_from(sum).is_ok());
        if instance.is_empty() {
            phases.known.offer(SplitLayout::new(Vec::new()));
        }
        let mut solved = false;
        if cuttable && instance.is_interval() {
            solved = phases.phase("sweep", Phases::sweep).unwrap_or(true);
        } else if cuttable && instance.len() <= POSET_BUFFERS {
            solved = phases.phase("flow", Phases::flow).unwrap_or(true);
        }
        if !solved || unit != Some(1) {
            phases.phase("greedy", Phases::greedy);
            phases.phase("offsets", Phases::offsets).transpose()?;
        }
        let mut watch = phases.budget.without_node_limit();
        let mut few = || has_few_conflicts(instance, COLOUR_CONFLICTS, &mut watch);
        if cuttable && !solved && phases.budget.check().is_none() && few() {
            phases.phase("colours", Phases::colours);
        }
        if phases.known.best.is_none()
            && phases.budget.check().is_some()
            && let Some(layout) = laid_end_to_end(instance)
        {
            phases.known.offer(unsplit(instance, &layout));
        }
        let stop = phases.settled().or_else(|| phases.budget.check()).unwrap_or(Stop::Completed);
        Ok(phases.known.conclude(stop, phases.budget.nodes()))
    }
}
