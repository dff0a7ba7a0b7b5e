//! Memory on chip against makespan: what can be had for how much, over orders, schedules, buffers and resident weights.
//!
//! For capacities from the least that any operator needs up to that of the machine, and for several shares of what is
//! left for resident weights, every schedule is tried on every order; what is as small and as fast as no other stays.
//! Every point is a capacity with timelines made for it, so that it can be had again by asking for that capacity.

use super::{Draft, ScheduleError, Scheduled, draft, schedule};
use crate::run::Limits;
use plimsoll_heuristics::overlap::{Worth, resident_sets, residents};
use plimsoll_model::overlap::{
    Machine, OverlapError, OverlapProgram, ScheduleEntry, ScheduleSetup, Time, residency_bound,
};
use plimsoll_model::{Bytes, Kind};
use std::collections::BTreeMap;

/// Capacities looked at, and how many where steps are many.
const LEVELS: u64 = 14;
const FEWEST_LEVELS: u64 = 3;
/// Steps scheduled in all, roughly; and of points that are there already, with sets that differ a little.
const WORK: u64 = 1_200_000;
const POLISH: u64 = 400_000;
/// Shares of the memory that nothing else needs, in eighths, that resident weights may take.
const SHARES: [u64; 4] = [2, 4, 6, 8];
/// Sets of resident weights per capacity, roughly.
const SETS: u64 = 20;
/// Buffers that `k-buffers` is given.
const BUFFERS: std::ops::RangeInclusive<usize> = 3..=8;

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

    /// With the bounds that hold for every schedule, where it has none.
    fn bounded(self) -> Result<Self, ScheduleError> {
        let Made::Draft(draft) = self.made else { return Ok(self) };
        let made = Made::Bounded(draft.measured(&self.program)?);
        Ok(Self { made, ..self })
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

/// Looks for the front; `exact` schedules are tried on what the others leave, within the limits for each segment.
///
/// # Errors
/// [`ScheduleError::Infeasible`] where some operator does not fit on chip whatever is done, and what the checker refuses.
pub fn front(
    machine: &Machine,
    candidates: &[Candidate],
    entries: &[&'static ScheduleEntry],
    limits: Limits,
) -> Result<Front, ScheduleError> {
    let mut search = Search { machine, limits, kept: Kept::default(), tried: 0 };
    let ranked: Vec<Ranked<'_>> = candidates.iter().map(|one| Ranked::new(one, machine)).collect();
    let least = ranked.iter().map(|one| one.need).min().unwrap_or(Bytes::ZERO);
    if least > machine.capacity {
        candidates.iter().try_for_each(|one| super::fits(&one.program))?;
    }
    let (exact, fast): (Vec<_>, Vec<_>) =
        entries.iter().copied().partition(|entry| entry.kind == Kind::Exact);
    let steps: usize =
        candidates.iter().flat_map(|one| one.program.segments()).map(|one| one.problem.len()).sum();
    let per_level = (steps as u64).max(1) * (fast.len() + BUFFERS.count()) as u64 * SETS;
    let levels = (WORK / per_level).clamp(FEWEST_LEVELS, LEVELS);
    let capacities = levels_between(least, machine.capacity, levels, machine.alignment);
    for &capacity in &capacities {
        for one in ranked.iter().filter(|one| one.need <= capacity) {
            search.level(one, capacity, &fast)?;
        }
    }
    if let Some(entry) = fast.iter().find(|entry| entry.name == "prefetch") {
        let mut left = POLISH;
        while search.polish(&ranked, entry, &mut left)? {}
    }
    for entry in exact {
        search.improve(entry)?;
    }
    let Search { kept: Kept(kept), tried, .. } = search;
    let memories = capacities.into_iter().chain(kept.iter().map(|one| one.memory));
    let bounds: BTreeMap<Bytes, Time> =
        memories.map(|memory| (memory, bound_within(machine, &ranked, memory))).collect();
    let points: Result<Vec<FrontPoint>, ScheduleError> = kept
        .into_iter()
        .map(|one| {
            let bound = bounds[&one.memory];
            one.point(bound)
        })
        .collect();
    Ok(Front { points: points?, bounds: bounds.into_iter().collect(), tried })
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

struct Search<'a> {
    machine: &'a Machine,
    limits: Limits,
    kept: Kept,
    tried: usize,
}

impl Search<'_> {
    /// Everything with one capacity in one order.
    fn level(
        &mut self,
        ranked: &Ranked<'_>,
        capacity: Bytes,
        entries: &[&'static ScheduleEntry],
    ) -> Result<(), ScheduleError> {
        let one = ranked.candidate;
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for order in &ranked.orders {
            for set in resident_sets(&one.program, order, capacity, self.machine.alignment, &SHARES) {
                if !sets.contains(&set) {
                    sets.push(set);
                }
            }
        }
        for set in sets {
            for entry in entries {
                let buffers = if entry.name == "k-buffers" { BUFFERS } else { 0..=0 };
                for buffers in buffers {
                    self.attempt(one, &set, capacity, entry, buffers)?;
                }
            }
        }
        Ok(())
    }

    /// One schedule; where it leaves memory free, once more without that.
    fn attempt(
        &mut self,
        one: &Candidate,
        set: &[usize],
        capacity: Bytes,
        entry: &'static ScheduleEntry,
        buffers: usize,
    ) -> Result<(), ScheduleError> {
        let Some((found, peak)) = self.made(one, set, capacity, entry, buffers)? else { return Ok(()) };
        let tight = peak.align_up(self.machine.alignment).filter(|tight| *tight < capacity);
        let makespan = found.makespan();
        self.kept.insert(found);
        if let Some(tight) = tight.filter(|tight| self.kept.wants(*tight, makespan))
            && let Some((found, _)) = self.made(one, set, tight, entry, buffers)?
        {
            self.kept.insert(found);
        }
        Ok(())
    }

    /// The timelines of one schedule and their peak; none where it does not fit.
    fn made(
        &mut self,
        one: &Candidate,
        set: &[usize],
        memory: Bytes,
        entry: &'static ScheduleEntry,
        buffers: usize,
    ) -> Result<Option<(Try, Bytes)>, ScheduleError> {
        let small = Machine { capacity: memory, ..self.machine.clone() };
        let program = match one.program.with_resident(&small, set) {
            Ok(program) => program,
            Err(OverlapError::Resident { .. }) => return Ok(None),
            Err(_) => return Err(ScheduleError::TooLong),
        };
        self.tried += 1;
        match draft(&program, entry, ScheduleSetup { buffers }, self.limits) {
            Ok(draft) => {
                let buffers = (entry.name == "k-buffers").then_some(buffers);
                let (order, schedule, peak) = (one.order, entry.name, draft.peak);
                let made = Made::Draft(draft);
                Ok(Some((Try { memory, order, schedule, buffers, program, made }, peak)))
            }
            Err(error @ (ScheduleError::Refused { .. } | ScheduleError::TooLong)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// On every point: one block more or less on chip, or one instead of another. True where that made a point better and
    /// there is work left.
    fn polish(
        &mut self,
        ranked: &[Ranked<'_>],
        entry: &'static ScheduleEntry,
        left: &mut u64,
    ) -> Result<bool, ScheduleError> {
        let mut better = false;
        for point in self.kept.0.clone() {
            let Some(of) = ranked.iter().find(|of| of.candidate.order == point.order) else { continue };
            let one = of.candidate;
            let steps: usize = one.program.segments().iter().map(|segment| segment.problem.len()).sum();
            for set in neighbours(&point.program.residency().blocks, &of.orders[0]) {
                let price = steps as u64 + 1;
                if *left < price {
                    return Ok(false);
                }
                *left -= price;
                let Some((found, _)) = self.made(one, &set, point.memory, entry, 0)? else { continue };
                if self.kept.wants(found.memory, found.makespan()) {
                    self.kept.insert(found);
                    better = true;
                    break;
                }
            }
        }
        Ok(better)
    }

    /// An exact schedule on every point.
    fn improve(&mut self, entry: &'static ScheduleEntry) -> Result<(), ScheduleError> {
        let kept = std::mem::take(&mut self.kept.0).into_iter();
        self.kept.0 = kept.map(Try::bounded).collect::<Result<_, _>>()?;
        for point in self.kept.0.clone() {
            let makespan = point.makespan();
            if matches!(&point.made, Made::Bounded(of) if of.lower_bound == makespan) {
                continue;
            }
            self.tried += 1;
            match schedule(&point.program, entry, ScheduleSetup::default(), self.limits) {
                Ok(scheduled) if scheduled.makespan < makespan => {
                    let (schedule, buffers, made) = (entry.name, None, Made::Bounded(scheduled));
                    self.kept.insert(Try { schedule, buffers, made, ..point });
                }
                Err(error @ ScheduleError::Refused { .. }) => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Sets with one block more, one less, or one exchanged for another, those worth most first.
fn neighbours(set: &[usize], order: &[usize]) -> Vec<Vec<usize>> {
    let without = |gone: usize| set.iter().copied().filter(move |&at| at != gone);
    let outside: Vec<usize> = order.iter().copied().filter(|at| !set.contains(at)).collect();
    let more = outside.iter().map(|&new| set.iter().copied().chain([new]).collect());
    let less = set.iter().map(|&gone| without(gone).collect());
    let exchanged =
        outside.iter().flat_map(|&new| set.iter().map(move |&gone| without(gone).chain([new]).collect()));
    more.chain(exchanged).chain(less).collect()
}
