//! Memory on chip against makespan: what can be had for how much, over orders, schedules, buffers and resident weights.
//!
//! For capacities from the least that any operator needs up to that of the machine, and for several shares of what is
//! left for resident weights, every fast schedule is tried on every order; at the machine's capacity also with the weights that
//! are worth most, up to any size. Exact schedules follow: at every capacity with nothing resident and with the sets that made
//! `prefetch` the fastest there, and on all points found so far, as long as [`Effort`] lasts and only where bounds leave
//! something to find. What is as small and as fast as no other stays. Every point is a capacity with timelines made for it, so
//! that it can be had again by asking for that capacity.

mod point;
mod search;

use super::ScheduleError;
use plimsoll_model::timelines::{Machine, Time, Timelines, residency_bound};
use plimsoll_model::{Bytes, Entry, Kind};
use point::{BUFFERS, Ranked, Try, steps};
pub use point::{Candidate, Effort, FrontPoint};
use search::Search;
use std::collections::BTreeSet;

/// Capacities looked at, and how many where steps are many.
const LEVELS: u64 = 14;
const FEWEST_LEVELS: u64 = 3;
/// Steps scheduled in all, roughly.
const WORK: u64 = 1_200_000;
/// Sets of resident weights per capacity, roughly.
const SETS: u64 = 20;
/// What can be had, by ascending memory and descending makespan.
#[derive(Clone, Debug, Default)]
pub struct Front {
    /// The points.
    pub points: Vec<FrontPoint>,
    /// Capacities looked at, ascending, and what nothing in them goes below.
    pub bounds: Vec<(Bytes, Time)>,
    /// Schedules of the whole program that were made.
    pub tried: usize,
}

impl Front {
    /// The fastest, with the least memory of those.
    pub fn fastest(&self) -> Option<&FrontPoint> {
        self.points.last()
    }
}

/// Looks for the front with these schedules.
///
/// # Errors
/// [`ScheduleError::Infeasible`] where some operator does not fit on chip whatever is done, and what the checker refuses.
pub fn front(
    machine: &Machine,
    candidates: &[Candidate],
    entries: &[&'static Entry<Timelines>],
    effort: Effort,
) -> Result<Front, ScheduleError> {
    let ranked: Vec<Ranked<'_>> = candidates.iter().map(|one| Ranked::new(one, machine)).collect();
    let least = ranked.iter().map(|one| one.need).min().unwrap_or(Bytes::ZERO);
    if least > machine.capacity {
        candidates.iter().try_for_each(|one| super::fits(&one.program))?;
    }
    let (exact, fast): (Vec<_>, Vec<_>) =
        entries.iter().copied().partition(|entry| entry.kind == Kind::Exact);
    let steps: usize = candidates.iter().map(|one| steps(&one.program)).sum();
    let per_level = (steps as u64).max(1) * (fast.len() + BUFFERS.count()) as u64 * SETS;
    let levels = (WORK / per_level).clamp(FEWEST_LEVELS, LEVELS);
    let capacities = levels_between(least, machine.capacity, levels, machine.alignment);
    let search = Search::new(machine, effort, fast, exact);
    let (kept, tried) = search.run(&ranked, &capacities)?;
    let memories = capacities.into_iter().chain(kept.iter().map(|one| one.memory));
    // From the largest down: where the time ends, less memory has the bound of more.
    let memories: BTreeSet<Bytes> = memories.collect();
    let mut watch = effort.each.watch();
    let mut bound_at = |memory: Bytes| match watch.check() {
        None => bound_within(machine, &ranked, memory),
        Some(_) => Time::ZERO,
    };
    let mut bounds: Vec<(Bytes, Time)> =
        memories.into_iter().rev().map(|memory| (memory, bound_at(memory))).collect();
    bounds.reverse();
    // What nothing in so much memory goes below, nothing in less does.
    for at in (1..bounds.len()).rev() {
        bounds[at - 1].1 = bounds[at - 1].1.max(bounds[at].1);
    }
    let bound_of = |memory| bounds[bounds.partition_point(|&(other, _)| other < memory)].1;
    let point = |one: Try| {
        let bound = bound_of(one.memory);
        one.point(bound)
    };
    let points: Result<Vec<FrontPoint>, ScheduleError> = kept.into_iter().map(point).collect();
    Ok(Front { points: points?, bounds, tried })
}

/// So many capacities from the least to the largest, at equal ratios, multiples of the alignment but for the ends.
fn levels_between(least: Bytes, most: Bytes, levels: u64, alignment: Bytes) -> Vec<Bytes> {
    let ratio = most.get() as f64 / least.get().max(1) as f64;
    let mut all: Vec<Bytes> = (1..levels.saturating_sub(1))
        .map(|level| {
            let bytes = least.get().max(1) as f64 * ratio.powf(level as f64 / (levels - 1) as f64);
            Bytes::new((bytes as u64).next_multiple_of(alignment.get()))
        })
        .filter(|bytes| (least..=most).contains(bytes))
        .chain([least, most])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What nothing in any of the orders goes below with so much memory; [`Time::MAX`] where no order fits.
fn bound_within(machine: &Machine, ranked: &[Ranked<'_>], capacity: Bytes) -> Time {
    let small = Machine { capacity, ..machine.clone() };
    let bound = |one: &Candidate| {
        let program = one.program.with_resident(&small, &[]).ok()?;
        residency_bound(&program, &small)
    };
    let fitting = ranked.iter().filter(|one| one.need <= capacity);
    fitting.filter_map(|one| bound(one.candidate)).min().unwrap_or(Time::MAX)
}
