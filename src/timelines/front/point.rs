//! What is tried for the front, and what of it is kept.

use crate::run::Limits;
use crate::timelines::{Draft, ScheduleError, Scheduled};
use plimsoll_heuristics::timelines::{Worth, residents};
use plimsoll_model::Bytes;
use plimsoll_model::timelines::{Machine, OverlapProgram, Time};

/// Buffers that `k-buffers` is given.
pub(super) const BUFFERS: std::ops::RangeInclusive<usize> = 3..=8;

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

/// What a point is before it is known to stay.
#[derive(Clone, Debug)]
pub(super) struct Try {
    pub memory: Bytes,
    pub order: &'static str,
    pub schedule: &'static str,
    pub buffers: Option<usize>,
    pub program: OverlapProgram,
    pub made: Made,
}

/// Timelines, with bounds once somebody has asked for them: they take longer than a schedule.
#[derive(Clone, Debug)]
pub(super) enum Made {
    Draft(Draft),
    Bounded(Scheduled),
}

impl Try {
    pub fn makespan(&self) -> Time {
        match &self.made {
            Made::Draft(draft) => draft.makespan,
            Made::Bounded(scheduled) => scheduled.makespan,
        }
    }

    pub fn point(self, bound: Time) -> Result<FrontPoint, ScheduleError> {
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
pub(super) struct Kept(pub Vec<Try>);

impl Kept {
    /// True where nothing so small is as fast.
    pub fn wants(&self, memory: Bytes, makespan: Time) -> bool {
        let before = self.0.partition_point(|one| one.memory <= memory);
        before.checked_sub(1).is_none_or(|at| self.0[at].makespan() > makespan)
    }

    pub fn insert(&mut self, one: Try) {
        if !self.wants(one.memory, one.makespan()) {
            return;
        }
        self.0.retain(|other| other.memory < one.memory || other.makespan() < one.makespan());
        let at = self.0.partition_point(|other| other.memory < one.memory);
        self.0.insert(at, one);
    }
}

/// A candidate, and what does not depend on the capacity.
pub(super) struct Ranked<'a> {
    pub candidate: &'a Candidate,
    /// Least capacity with which every operator runs.
    pub need: Bytes,
    /// Blocks by [`Worth::ALL`].
    pub orders: [Vec<usize>; 2],
}

impl<'a> Ranked<'a> {
    pub fn new(candidate: &'a Candidate, machine: &Machine) -> Self {
        let program = &candidate.program;
        let orders = Worth::ALL.map(|worth| residents(program, worth, machine.resident_weights));
        Self { candidate, need: needed(program), orders }
    }
}

/// Operators and slices in all segments.
pub(super) fn steps(program: &OverlapProgram) -> usize {
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
