//! Timelines: when weights are fetched and operators compute.
//!
//! Activations and weight buffers share a small memory on chip; all weights lie outside of it and are fetched by DMA before
//! their operator runs. A [`TimelineProblem`] is a straight run of operators in a fixed order with their times and
//! bytes, on one [`Machine`]. A [`Timeline`] says when every transfer and every computation starts and ends, and where
//! weights are put. Its value is the *makespan*, an exact [`Time`]. [`check_timeline`] finds everything wrong with one;
//! [`time_bound`] says what no timeline can go below; [`instructions`](Timeline::instructions) are what a
//! runtime needs of it. Weights are fetched in one transfer; to fetch them in parts, an operator is [`sliced`].
//!
//! ```text
//! channel 0  |load a|load b   |  |load c|
//! compute           |a|        b    |   |c      |      load b overlaps a; c waits until a buffer is free
//! ```
//!
//! A graph with branches and loops is an [`OverlapProgram`]: segments, cut where regions begin and end, over which nothing
//! overlaps (SOURCES S0, rules 1 to 5), and a [`Course`] through them.
//!
//! What is left out: fetching inputs and storing outputs of the network, copies between regions, memory
//! banks, contention between channels.

mod bound;
mod check;
mod instructions;
pub(crate) mod machine;
mod prefix_sums;
mod problem;
mod program;
mod residency;
mod resident;
mod time;
mod timeline;

pub use crate::presets::PRESETS;
pub use bound::{TimeBound, TimeWitness, compute_bound, memory_bound, time_bound, transfer_bound};
pub use check::{TimelineViolation, check_timeline};
pub use instructions::{Instruction, ReplayError, replay, write_instructions, write_program};
pub use machine::{Machine, Rates, read_times};
pub use problem::{Dma, TimedOperator, TimelineError, TimelineProblem, sliced};
pub use program::{
    Activations, Course, OverlapError, OverlapOptions, OverlapProgram, OverlapSegment, Piece, RegionOrder,
    WeightBlock,
};
pub use residency::residency_bound;
pub use resident::{Preload, Residency};
pub use time::Time;
pub use timeline::{Slot, Span, Timeline, Transfer};

use crate::budget::Budget;
use crate::outcome::{Claim, Stats, Stop};
use crate::solver::{Kind, SolveError};
use std::fmt;

/// What an algorithm says of a timeline problem: as [`Outcome`](crate::Outcome), with times in place of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineOutcome {
    /// What is proved.
    pub claim: Claim,
    /// The best timeline found.
    pub timeline: Option<Timeline>,
    /// Its end.
    pub makespan: Option<Time>,
    /// What no timeline can go below, and why.
    pub lower_bound: TimeBound,
    /// Why the algorithm ended.
    pub stop: Stop,
    /// Counters.
    pub stats: Stats,
}

impl TimelineOutcome {
    /// Draws the claim: optimal where the makespan meets the bound, infeasible where some operator does not fit on chip
    /// with its own weights, feasible or unknown otherwise.
    pub fn conclude(
        problem: &TimelineProblem,
        timeline: Option<Timeline>,
        lower_bound: TimeBound,
        stop: Stop,
        stats: Stats,
    ) -> Self {
        let makespan = timeline.as_ref().map(Timeline::makespan);
        let claim = match makespan {
            Some(makespan) if makespan == lower_bound.value => Claim::Optimal,
            Some(_) => Claim::Feasible,
            None if problem.too_large().is_some() => Claim::Infeasible,
            None => Claim::Unknown,
        };
        Self { claim, timeline, makespan, lower_bound, stop, stats }
    }
}

/// An algorithm for timelines, fast or exact: what [`Solver`](crate::Solver) is for problems measured in bytes.
pub trait Scheduler: Send + Sync {
    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// Solves within the budget.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] where the buffers it wants do not fit; never for limits or infeasibility.
    fn solve(&self, problem: &TimelineProblem, budget: &mut Budget) -> Result<TimelineOutcome, SolveError>;

    /// The timeline alone: for whoever tries many and asks for bounds afterwards. Heuristics find no bound for it.
    ///
    /// # Errors
    /// As [`solve`](Scheduler::solve).
    fn timeline(
        &self,
        problem: &TimelineProblem,
        budget: &mut Budget,
    ) -> Result<Option<Timeline>, SolveError> {
        Ok(self.solve(problem, budget)?.timeline)
    }
}

/// What a scheduler can be given from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleSetup {
    /// Buffers of `k-buffers`.
    pub buffers: usize,
}

impl Default for ScheduleSetup {
    /// Three buffers.
    fn default() -> Self {
        Self { buffers: 3 }
    }
}

/// One line of the registry.
pub struct ScheduleEntry {
    /// The name users type.
    pub name: &'static str,
    /// Heuristic or exact.
    pub kind: Kind,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Makes one.
    pub build: fn(ScheduleSetup) -> Box<dyn Scheduler>,
}

impl ScheduleEntry {
    /// The word for this problem in tables and files.
    pub const PROBLEM: &'static str = "timelines";
}

impl fmt::Debug for ScheduleEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleEntry")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
