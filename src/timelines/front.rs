//! The Pareto front of on-chip memory and makespan. The search varies the order, the schedule, the number of
//! buffers and the resident weights.
//!
//! The capacities range from the smallest one with which every operator can run up to the capacity of the
//! machine. At each capacity, every fast schedule is tried on every order, with several shares of the
//! remaining memory for resident weights. At the capacity of the machine, resident sets of any size are
//! tried too.
//!
//! Exact schedules follow, within the limits of [`Effort`] and only if the bounds permit an improvement. They
//! run at every capacity without resident weights, and with the resident sets for which `prefetch` was
//! fastest at this capacity. They also run with the order, the resident set and the capacity of each point
//! that the fast schedules found. These runs precede the attempts with resident sets of any size. The front
//! keeps the points that no other point dominates. Every point is a capacity with timelines scheduled for
//! exactly that capacity, so a request for that capacity reproduces the point.

mod point;
mod search;

use super::ScheduleError;
use plimsoll_model::timelines::{Machine, Time, Timelines, residency_bound};
use plimsoll_model::{Bytes, Entry, Kind};
use point::{BUFFERS, Ranked, Try, steps};
pub use point::{Candidate, Effort, FrontPoint};
use search::Search;
use std::collections::BTreeSet;

/// Maximum number of capacities. Programs with many steps use fewer, but at least [`FEWEST_LEVELS`].
const LEVELS: u64 = 14;
const FEWEST_LEVELS: u64 = 3;
/// Approximate total number of scheduled steps.
const WORK: u64 = 1_200_000;
/// Approximate number of sets of resident weights per capacity.
const SETS: u64 = 20;

/// The Pareto front, by ascending memory and descending makespan.
#[derive(Clone, Debug, Default)]
pub struct Front {
    /// The points that no other point dominates.
    pub points: Vec<FrontPoint>,
    /// The capacities of the search and those of the points, ascending, each with a lower bound on the
    /// makespan.
    pub bounds: Vec<(Bytes, Time)>,
    /// Number of attempts to schedule the whole program.
    pub tried: usize,
}

impl Front {
    /// Returns the fastest point; among equally fast points, the point with the least memory.
    pub fn fastest(&self) -> Option<&FrontPoint> {
        self.points.last()
    }
}

/// Computes the front with the given schedules.
///
/// # Errors
/// Returns [`ScheduleError::Infeasible`] if every order contains an operator that does not fit on chip.
/// Returns another [`ScheduleError`] if the checker rejects an answer or the total time overflows.
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
    // Bounds are computed from the largest capacity down. If the time runs out, smaller capacities inherit
    // the bound of larger ones.
    let memories: BTreeSet<Bytes> = memories.collect();
    let mut watch = effort.each.watch();
    let mut bound_at = |memory: Bytes| match watch.check() {
        None => bound_within(machine, &ranked, memory),
        Some(_) => Time::ZERO,
    };
    let mut bounds: Vec<(Bytes, Time)> =
        memories.into_iter().rev().map(|memory| (memory, bound_at(memory))).collect();
    bounds.reverse();
    // A lower bound at one capacity also holds at every smaller capacity.
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

/// Returns at most `levels` capacities in geometric progression from the smallest to the largest. All except
/// the first and the last are multiples of the alignment.
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

/// Returns a lower bound on the makespan at a capacity over all orders; [`Time::MAX`] if no order fits.
fn bound_within(machine: &Machine, ranked: &[Ranked<'_>], capacity: Bytes) -> Time {
    let small = Machine { capacity, ..machine.clone() };
    let bound = |one: &Candidate| {
        let program = one.program.with_resident(&small, &[]).ok()?;
        residency_bound(&program, &small)
    };
    let fitting = ranked.iter().filter(|one| one.need <= capacity);
    fitting.filter_map(|one| bound(one.candidate)).min().unwrap_or(Time::MAX)
}
