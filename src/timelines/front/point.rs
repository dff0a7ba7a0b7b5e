//! The attempts to find points of the front. An attempt is kept only if no other attempt dominates it.

use crate::run::Limits;
use crate::timelines::{Draft, ScheduleError, Scheduled};
use plimsoll_heuristics::timelines::{Worth, residents};
use plimsoll_model::Bytes;
use plimsoll_model::timelines::{Machine, OverlapProgram, Time};

/// Numbers of buffers with which `k-buffers` is tried.
pub(super) const BUFFERS: std::ops::RangeInclusive<usize> = 3..=8;

/// Limits of the exact schedules, per segment.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Limits at each capacity except the last, and for the points that other schedules found. There are many
    /// such runs, so these limits can be set lower than `last`.
    pub each: Limits,
    /// Limits at the last capacity, which is the capacity of the machine.
    pub last: Limits,
}

/// A program under one order, with no resident weights.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Name of the order algorithm.
    pub order: &'static str,
    /// The program on the machine.
    pub program: OverlapProgram,
}

/// A point of the front.
#[derive(Clone, Debug)]
pub struct FrontPoint {
    /// On-chip capacity of the timelines in bytes, including resident weights.
    pub memory: Bytes,
    /// Name of the order algorithm.
    pub order: &'static str,
    /// Name of the schedule.
    pub schedule: &'static str,
    /// Number of buffers, for `k-buffers`.
    pub buffers: Option<usize>,
    /// The program with its capacity and resident weights.
    pub program: OverlapProgram,
    /// The checked timelines.
    pub scheduled: Scheduled,
    /// A lower bound on the makespan at this capacity, over all orders and sets of resident weights.
    pub bound: Time,
}

impl FrontPoint {
    /// Returns the makespan of the longest run.
    pub fn makespan(&self) -> Time {
        self.scheduled.makespan
    }
}

/// A candidate point, before it is known to be on the front.
#[derive(Clone, Debug)]
pub(super) struct Try {
    pub memory: Bytes,
    pub order: &'static str,
    pub schedule: &'static str,
    pub buffers: Option<usize>,
    pub program: OverlapProgram,
    pub progress: Progress,
}

/// Timelines with or without bounds. Bounds are computed late because they take longer to compute than a
/// schedule.
#[derive(Clone, Debug)]
pub(super) enum Progress {
    Draft(Draft),
    Bounded(Scheduled),
}

impl Try {
    pub fn makespan(&self) -> Time {
        match &self.progress {
            Progress::Draft(draft) => draft.makespan,
            Progress::Bounded(scheduled) => scheduled.makespan,
        }
    }

    pub fn point(self, bound: Time) -> Result<FrontPoint, ScheduleError> {
        let Self { memory, order, schedule, buffers, program, progress } = self;
        let scheduled = match progress {
            Progress::Draft(draft) => draft.measured(&program)?,
            Progress::Bounded(scheduled) => scheduled,
        };
        if bound > scheduled.makespan {
            let (segment, reason) = (order.to_owned(), "the timeline ends before the lower bound".to_owned());
            return Err(ScheduleError::Refused { segment, reason });
        }
        Ok(FrontPoint { memory, order, schedule, buffers, program, scheduled, bound })
    }
}

/// The attempts that no other attempt dominates, by ascending memory.
#[derive(Debug, Default)]
pub(super) struct Kept(pub Vec<Try>);

impl Kept {
    /// Returns true if no kept attempt with at most this memory is at least as fast.
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

/// A candidate with precomputed data that does not depend on the capacity.
pub(super) struct Ranked<'a> {
    pub candidate: &'a Candidate,
    /// Smallest capacity with which every operator can run, in bytes.
    pub need: Bytes,
    /// Weight blocks ranked by each of [`Worth::ALL`].
    pub orders: [Vec<usize>; 2],
}

impl<'a> Ranked<'a> {
    pub fn new(candidate: &'a Candidate, machine: &Machine) -> Self {
        let program = &candidate.program;
        let orders = Worth::ALL.map(|worth| residents(program, worth, machine.resident_weights));
        Self { candidate, need: needed(program), orders }
    }
}

/// Returns the number of steps in all segments: operators and slices.
pub(super) fn steps(program: &OverlapProgram) -> usize {
    program.segments().iter().map(|segment| segment.problem.len()).sum()
}

/// Returns the smallest capacity in bytes with which every operator can run.
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
