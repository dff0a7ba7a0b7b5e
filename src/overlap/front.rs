//! Memory on chip against makespan: what can be had for how much, over orders, schedules, buffers and resident weights.
//!
//! For capacities from the least that any operator needs up to that of the machine, and for several shares of what is
//! left for resident weights, every fast schedule is tried on every order; at the machine's capacity also with the weights that
//! are worth most, up to any size. Exact schedules follow: at every capacity with nothing resident and with the sets that made
//! `prefetch` the fastest there, and on all points found so far, as long as [`Effort`] lasts and only where bounds leave
//! something to find. What is as small and as fast as no other stays. Every point is a capacity with timelines made for it, so
//! that it can be had again by asking for that capacity.

mod search;

use super::{Draft, ScheduleError, Scheduled};
use crate::run::Limits;
use plimsoll_heuristics::overlap::{Worth, residents};
use plimsoll_model::overlap::{Machine, OverlapProgram, Time, Timelines, residency_bound};
use plimsoll_model::{Bytes, Entry, Kind};
use search::Search;
use std::collections::BTreeSet;

/// Capacities looked at, and how many where steps are many.
const LEVELS: u64 = 14;
const FEWEST_LEVELS: u64 = 3;
/// Steps scheduled in all, roughly.
const WORK: u64 = 1_200_000;
/// Sets of resident weights per capacity, roughly.
const SETS: u64 = 20;
/// Buffers that `k-buffers` is given.
const BUFFERS: std::ops::RangeInclusive<usize> = 3..=8;

/// What searches of exact schedules may spend, for each segment.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// At most capacities: they are many.
    pub each: Limits,
    /// At the machine's capacity.
    pub last: Limits,
}

/// A program under one order, nothing resident.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Who ordered.
    pub order: &'static str,
    /// The program on the machine.
    pub program: OverlapProgram,
}

/// Something that can be had.
#[derive(Clone, Debug)]
pub struct FrontPoint {
    /// Bytes on chip that the timelines were made for, resident weights included.
    pub memory: Bytes,
    /// Who ordered.
    pub order: &'static str,
    /// Which schedule.
    pub schedule: &'static str,
    /// Buffers, of `k-buffers`.
    pub buffers: Option<usize>,
    /// The program: its residency and capacity.
    pub program: OverlapProgram,
    /// Timelines that have passed the checker.
    pub scheduled: Scheduled,
    /// Nothing is faster with so much memory in any of the orders, whatever is resident.
    pub bound: Time,
}

impl FrontPoint {
    /// Its makespan.
    pub fn makespan(&self) -> Time {
        self.scheduled.makespan
    }
}

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

/// What a point is before it is known to stay.
#[derive(Clone, Debug)]
struct Try {
    memory: Bytes,
    order: &'static str,
    schedule: &'static str,
    buffers: Option<usize>,
    program: OverlapProgram,
    made: Made,
}

/// Timelines, with bounds once somebody has asked for them: they take longer than a schedule.
#[derive(Clone, Debug)]
enum Made {
    Draft(Draft),
    Bounded(Scheduled),
}

impl Try {
    fn makespan(&self) -> Time {
        match &self.made {
            Made::Draft(draft) => draft.makespan,
            Made::Bounded(scheduled) => scheduled.makespan,
        }
    }

    fn point(self, bound: Time) -> Result<FrontPoint, ScheduleError> {
        let Self { memory, order, schedule, buffers, program, made } = self;
        let scheduled = match made {
            Made::Draft(draft) => draft.measured(&program)?,
            Made::Bounded(scheduled) => scheduled,
        };
        if bound > scheduled.makespan {
            let (segment, reason) = (order.to_owned(), "it ends before the bound".to_owned());
            return Err(ScheduleError::Refused { segment, reason });
        }
        Ok(FrontPoint { memory, order, schedule, buffers, program, scheduled, bound })
    }
}

/// Tries that nothing so small and so fast beats, by ascending memory.
#[derive(Debug, Default)]
struct Kept(Vec<Try>);

impl Kept {
    /// True where nothing so small is as fast.
    fn wants(&self, memory: Bytes, makespan: Time) -> bool {
        let before = self.0.partition_point(|one| one.memory <= memory);
        before.checked_sub(1).is_none_or(|at| self.0[at].makespan() > makespan)
    }

    fn insert(&mut self, one: Try) {
        if !self.wants(one.memory, one.makespan()) {
            return;
        }
        self.0.retain(|other| other.memory < one.memory || other.makespan() < one.makespan());
        let at = self.0.partition_point(|other| other.memory < one.memory);
        self.0.insert(at, one);
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

/// A candidate, and what does not depend on the capacity.
struct Ranked<'a> {
    candidate: &'a Candidate,
    /// Least capacity with which every operator runs.
    need: Bytes,
    /// Blocks by [`Worth::ALL`].
    orders: [Vec<usize>; 2],
}

impl<'a> Ranked<'a> {
    fn new(candidate: &'a Candidate, machine: &Machine) -> Self {
        let program = &candidate.program;
        let orders = Worth::ALL.map(|worth| residents(program, worth, machine.resident_weights));
        Self { candidate, need: needed(program), orders }
    }
}

/// Operators and slices in all segments.
fn steps(program: &OverlapProgram) -> usize {
    program.segments().iter().map(|segment| segment.problem.len()).sum()
}

/// Least capacity with which every operator runs.
fn needed(program: &OverlapProgram) -> Bytes {
    let problems = program.segments().iter().map(|segment| &segment.problem);
    let needs = problems.flat_map(|problem| {
        (0..problem.len()).map(|at| {
            // Buffers begin at multiples of the alignment above the activations.
            let activations = problem.operators()[at].activations;
            let floor = if problem.load(at).is_some() {
                activations.align_up(problem.alignment())
            } else {
                Some(activations)
            };
            Bytes::new(floor.unwrap_or(activations).get().saturating_add(problem.buffer(at).get()))
        })
    });
    needs.max().unwrap_or(Bytes::ZERO)
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
