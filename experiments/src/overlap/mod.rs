//! Schedules of whole graphs: every segment on its own, checked, and put together along the course.

mod front;
mod placed;
mod speculation;

use plimsoll_model::graph::Graph;
use plimsoll_model::overlap::{
    Machine, OverlapError, OverlapOptions, OverlapProgram, RegionOrder, ScheduleEntry, ScheduleSetup,
    Scheduler, Time, Timeline, TimelineProblem, check_timeline, compute_bound, memory_bound, transfer_bound,
};
use plimsoll_model::{Bytes, SolveError};

use crate::graphs::OrderedRegion;
use crate::run::Limits;

pub use front::{Candidate, Front, FrontPoint, front};
pub use placed::placed_activations;
pub use speculation::{Guess, Speculated, Speculation, speculate};

/// Segments of a path that are laid out one by one for pictures and sums.
pub const MOST_SEGMENTS: usize = 100_000;

/// Why a program has no timelines by a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// No schedule can run it.
    #[error(
        "operator '{operator}' needs {activations} bytes of activations and {weights} of weights on chip, \
         where there are {capacity}"
    )]
    Infeasible {
        /// Its name.
        operator: String,
        /// Bytes of activations while it runs.
        activations: Bytes,
        /// Bytes of its weights, rounded up.
        weights: Bytes,
        /// Bytes on chip.
        capacity: Bytes,
    },
    /// This schedule cannot.
    #[error("{0}")]
    Unfit(SolveError),
    /// Nothing found within the limits.
    #[error("nothing found within the limits")]
    Nothing,
    /// The checker refused an answer, or its numbers disagree with the timeline.
    #[error("segment '{segment}': the checker refused the answer: {reason}")]
    Refused {
        /// Which segment.
        segment: String,
        /// Why.
        reason: String,
    },
    /// All segments together leave the range of time.
    #[error("the program takes longer than time can say")]
    TooLong,
}

/// A program by one schedule. All timelines have passed the checker.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// Per segment.
    pub timelines: Vec<Timeline>,
    /// Lower bound of every segment, by this schedule or in general.
    pub bounds: Vec<Time>,
    /// End of the longest run of the program.
    pub makespan: Time,
    /// What no timelines of the segments can go below.
    pub lower_bound: Time,
    /// Most bytes on chip, resident weights included.
    pub peak: Bytes,
    /// Positions of the segments along the longest run.
    pub path: Vec<usize>,
    /// Time of that run in which an operator computes; where it has more than [`MOST_SEGMENTS`] segments, of the first.
    pub computing: Time,
}

/// Lower bounds of a program, by reason: of its longest run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramBounds {
    /// All computations.
    pub compute: Time,
    /// All transfers up to an operator and computations from it on.
    pub transfers: Time,
    /// What does not fit on chip at once is fetched later.
    pub memory: Time,
}

/// The program of a graph whose regions are in order, innermost first.
///
/// # Errors
/// See [`OverlapError`].
pub fn program(
    graph: &Graph,
    regions: &[OrderedRegion],
    machine: &Machine,
    options: OverlapOptions<'_>,
) -> Result<OverlapProgram, OverlapError> {
    let orders: Vec<RegionOrder<'_>> =
        regions.iter().rev().map(|one| RegionOrder { storages: &one.storages, order: &one.order }).collect();
    OverlapProgram::new(graph, &orders, machine, options)
}

/// The bounds of a program.
///
/// # Errors
/// [`ScheduleError::TooLong`].
pub fn bounds(program: &OverlapProgram) -> Result<ProgramBounds, ScheduleError> {
    let longest = |times: Vec<Time>| program.longest(&|at| times[at]).ok_or(ScheduleError::TooLong);
    let problems = || program.segments().iter().map(|segment| &segment.problem);
    Ok(ProgramBounds {
        compute: longest(problems().map(|problem| compute_bound(problem).value).collect())?,
        transfers: longest(
            problems()
                .map(|problem| transfer_bound(problem).map_or(Time::ZERO, |bound| bound.value))
                .collect(),
        )?,
        memory: longest(problems().map(|problem| memory_bound(problem).value).collect())?,
    })
}

/// Runs a schedule on every segment, checks what it says, and puts it together.
///
/// # Errors
/// See [`ScheduleError`].
pub fn schedule(
    program: &OverlapProgram,
    entry: &ScheduleEntry,
    setup: ScheduleSetup,
    limits: Limits,
) -> Result<Scheduled, ScheduleError> {
    fits(program)?;
    let scheduler = (entry.build)(setup);
    let (mut timelines, mut bounds) = (Vec::new(), Vec::new());
    let mut peak = Bytes::ZERO;
    for segment in program.segments() {
        let (timeline, bound) = solved(&segment.problem, scheduler.as_ref(), limits)?;
        peak = peak.max(timeline.peak(&segment.problem));
        bounds.push(bound);
        timelines.push(timeline);
    }
    let time = |at: usize| timelines[at].makespan();
    let makespan = program.longest(&time).ok_or(ScheduleError::TooLong)?;
    let lower_bound = program.longest(&|at| bounds[at]).ok_or(ScheduleError::TooLong)?;
    let peak = Bytes::new(peak.get() + program.residency().bytes.get());
    let path = program.path(&time, MOST_SEGMENTS);
    let computing = |&at: &usize| compute_bound(&program.segments()[at].problem).value;
    let computing = path.iter().map(computing).sum();
    Ok(Scheduled { timelines, bounds, makespan, lower_bound, peak, path, computing })
}

/// Finds the first operator that no schedule can run.
///
/// # Errors
/// [`ScheduleError::Infeasible`] with it.
pub fn fits(program: &OverlapProgram) -> Result<(), ScheduleError> {
    let mut problems = program.segments().iter().map(|segment| &segment.problem);
    let Some((problem, at)) = problems.find_map(|problem| Some((problem, problem.too_large()?))) else {
        return Ok(());
    };
    let one = &problem.operators()[at];
    Err(ScheduleError::Infeasible {
        operator: one.name.clone(),
        activations: one.activations,
        weights: problem.buffer(at),
        capacity: problem.capacity(),
    })
}

/// A checked timeline of one segment that fits, and the lower bound with it.
fn solved(
    problem: &TimelineProblem,
    scheduler: &dyn Scheduler,
    limits: Limits,
) -> Result<(Timeline, Time), ScheduleError> {
    let outcome = scheduler.solve(problem, &mut limits.budget()).map_err(ScheduleError::Unfit)?;
    let timeline = outcome.timeline.ok_or(ScheduleError::Nothing)?;
    let refused = |reason: String| ScheduleError::Refused { segment: problem.name().to_owned(), reason };
    if let Some(first) = check_timeline(problem, &timeline).first() {
        return Err(refused(first.to_string()));
    }
    if outcome.makespan != Some(timeline.makespan()) || outcome.lower_bound.value > timeline.makespan() {
        return Err(refused("its makespan is not that of the timeline, or below its own bound".to_owned()));
    }
    Ok((timeline, outcome.lower_bound.value))
}
