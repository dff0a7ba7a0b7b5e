//! Schedules of whole graphs: every segment on its own, checked, and put together along the course.

mod front;
mod placed;
mod speculation;

use plimsoll_heuristics::timelines::{Prefetch, Worth, fitting, residents};
use plimsoll_model::graph::Graph;
use plimsoll_model::timelines::{
    Course, Machine, OverlapError, OverlapOptions, OverlapProgram, Piece, RegionOrder, Time, Timeline,
    TimelineProblem, Timelines, check_timeline, compute_bound, memory_bound, time_bound, transfer_bound,
};
use plimsoll_model::{Budget, Bytes, Entry, Problem, Setup, Silent, SolveError, Solver, Stop};

use crate::arithmetic::Arithmetic;
use crate::graphs::OrderedRegion;
use crate::run::{Limits, RunError, run};

pub use front::{Candidate, Effort, Front, FrontPoint, front};
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
    /// The checker rejected an answer, or the algorithm panicked.
    #[error("segment '{segment}': {reason}")]
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
    /// In which arithmetic the bounds of all segments were proved.
    pub arithmetic: Arithmetic,
    /// Most bytes on chip, resident weights included.
    pub peak: Bytes,
    /// Positions of the segments along the longest run.
    pub path: Vec<usize>,
    /// Time of that run in which an operator computes.
    pub computing: Time,
    /// Segments of that run, of which `path` holds the first [`MOST_SEGMENTS`].
    pub segments: u64,
    /// Nodes of all searches.
    pub nodes: u64,
    /// Why the bound holds.
    pub reason: String,
    /// Why the first schedule ended that did not complete.
    pub stop: Stop,
}

/// A program by one schedule, before anybody has asked for bounds. All timelines have passed the checker.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Per segment.
    pub timelines: Vec<Timeline>,
    /// End of the longest run of the program.
    pub makespan: Time,
    /// Most bytes on chip, resident weights included.
    pub peak: Bytes,
}

impl Draft {
    /// `make` makes the timeline of one segment, checked; those with a deadline share the time up to it.
    fn new(
        program: &OverlapProgram,
        limits: Limits,
        mut make: impl FnMut(&TimelineProblem, Limits) -> Result<Timeline, ScheduleError>,
    ) -> Result<Self, ScheduleError> {
        fits(program)?;
        let (mut timelines, mut peak) = (Vec::new(), Bytes::ZERO);
        for (at, segment) in program.segments().iter().enumerate() {
            let left = limits.share(program.segments().len() - at);
            let timeline = make(&segment.problem, left)?;
            peak = peak.max(timeline.peak(&segment.problem));
            timelines.push(timeline);
        }
        let makespan = program.longest(&|at| timelines[at].makespan()).ok_or(ScheduleError::TooLong)?;
        let peak = Bytes::new(peak.get() + program.residency().bytes.get());
        Ok(Self { timelines, makespan, peak })
    }

    /// With a lower bound of every segment.
    fn bounded(
        self,
        program: &OverlapProgram,
        bounds: Vec<Time>,
        nodes: u64,
    ) -> Result<Scheduled, ScheduleError> {
        let Self { timelines, makespan, peak } = self;
        let below = |(timeline, bound): (&Timeline, &Time)| *bound <= timeline.makespan();
        if let Some(at) = timelines.iter().zip(&bounds).position(|pair| !below(pair)) {
            let problem = &program.segments()[at].problem;
            let reason = "it ends before its own bound".to_owned();
            return Err(unanswered(problem, RunError::Refused(vec![reason])));
        }
        let lower_bound = program.longest(&|at| bounds[at]).ok_or(ScheduleError::TooLong)?;
        let path = program.path(&|at| timelines[at].makespan(), MOST_SEGMENTS);
        let times: Vec<Time> = timelines.iter().map(Timeline::makespan).collect();
        let computing: Vec<Time> =
            program.segments().iter().map(|segment| compute_bound(&segment.problem).value).collect();
        let run = Run::along(program.course(), &times, &computing).ok_or(ScheduleError::TooLong)?;
        let Run { computing, segments, .. } = run;
        let arithmetic = Arithmetic::Exact;
        let reason = format!("the bounds of {segments} segments along the longest run");
        Ok(Scheduled {
            reason,
            stop: Stop::Completed,
            timelines,
            bounds,
            makespan,
            lower_bound,
            arithmetic,
            peak,
            path,
            computing,
            segments,
            nodes,
        })
    }

    /// With the bounds that hold for every schedule.
    fn measured(self, program: &OverlapProgram) -> Result<Scheduled, ScheduleError> {
        let bounds = program.segments().iter().map(|segment| time_bound(&segment.problem).value).collect();
        self.bounded(program, bounds, 0)
    }
}

/// The longest run through a course.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    time: Time,
    computing: Time,
    segments: u64,
}

impl Run {
    /// When segments take and compute so long; of branches that take as long the first, as in [`OverlapProgram::path`]. None on
    /// overflow.
    fn along(course: &Course, times: &[Time], computing: &[Time]) -> Option<Self> {
        let mut sum = Self::default();
        for piece in course {
            let own = match piece {
                Piece::Segment(at) => Self { time: times[*at], computing: computing[*at], segments: 1 },
                Piece::Branch { courses, .. } => {
                    let mut most: Option<Self> = None;
                    for course in courses {
                        let one = Self::along(course, times, computing)?;
                        most = most.filter(|most| most.time >= one.time).or(Some(one));
                    }
                    most.unwrap_or_default()
                }
                Piece::Loop { condition, body, trips } => {
                    let condition = Self::along(condition, times, computing)?;
                    let body = Self::along(body, times, computing)?;
                    condition.repeated(u64::from(*trips) + 1)?.then(body.repeated(u64::from(*trips))?)?
                }
            };
            sum = sum.then(own)?;
        }
        Some(sum)
    }

    fn then(self, next: Self) -> Option<Self> {
        Some(Self {
            time: self.time.checked_add(next.time)?,
            computing: self.computing.checked_add(next.computing)?,
            segments: self.segments.saturating_add(next.segments),
        })
    }

    fn repeated(self, times: u64) -> Option<Self> {
        Some(Self {
            time: self.time.checked_mul(times)?,
            computing: self.computing.checked_mul(times)?,
            segments: self.segments.saturating_mul(times),
        })
    }
}

/// Why a segment has no timeline.
fn unanswered(problem: &TimelineProblem, error: RunError) -> ScheduleError {
    match error {
        RunError::Solve(error) => ScheduleError::Unfit(error),
        error => ScheduleError::Refused { segment: problem.name().to_owned(), reason: error.to_string() },
    }
}

/// Lower bounds of a program, by reason: of its longest run, from when resident weights are there.
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
    let preload = program.residency().preload;
    let longest = |times: Vec<Time>| {
        let longest = program.longest(&|at| times[at]).ok_or(ScheduleError::TooLong)?;
        Ok(longest.saturating_sub(preload))
    };
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

/// Runs a schedule on every segment, through the checker, and puts the timelines together.
///
/// # Errors
/// See [`ScheduleError`].
pub fn schedule(
    program: &OverlapProgram,
    entry: &Entry<Timelines>,
    setup: Setup,
    limits: Limits,
) -> Result<Scheduled, ScheduleError> {
    let (mut bounds, mut nodes, mut arithmetic) = (Vec::new(), 0u64, Arithmetic::Exact);
    let (mut only, mut stop) = (None, Stop::Completed);
    let draft = Draft::new(program, limits, |problem, limits| {
        let attempt = run(entry, problem, setup, limits, &mut Silent);
        let outcome = attempt.result.map_err(|error| unanswered(problem, error))?;
        let timeline = outcome.solution.ok_or(ScheduleError::Nothing)?;
        bounds.push(outcome.lower_bound.value);
        arithmetic = arithmetic.max(Arithmetic::of(&outcome.lower_bound.witness));
        nodes = nodes.saturating_add(outcome.stats.nodes);
        only = Some(Timelines::explain(problem, &outcome.lower_bound.witness));
        if stop == Stop::Completed {
            stop = outcome.stop;
        }
        Ok(timeline)
    })?;
    let found = draft.bounded(program, bounds, nodes)?;
    let reason = only.filter(|_| found.timelines.len() == 1).unwrap_or_else(|| found.reason.clone());
    Ok(Scheduled { arithmetic, reason, stop, ..found })
}

/// The same without bounds.
///
/// # Errors
/// See [`ScheduleError`].
pub fn draft(
    program: &OverlapProgram,
    entry: &Entry<Timelines>,
    setup: Setup,
    limits: Limits,
) -> Result<Draft, ScheduleError> {
    let schedule = (entry.build)(setup);
    Draft::new(program, limits, |problem, limits| made(problem, schedule.as_ref(), limits))
}

/// A valid timeline of one segment, without bounds.
fn made(
    problem: &TimelineProblem,
    schedule: &dyn Solver<Timelines>,
    limits: Limits,
) -> Result<Timeline, ScheduleError> {
    let found = schedule.solution(problem, &mut limits.budget()).map_err(ScheduleError::Unfit)?;
    let timeline = found.ok_or(ScheduleError::Nothing)?;
    match check_timeline(problem, &timeline).first() {
        Some(first) => Err(unanswered(problem, RunError::Refused(vec![first.to_string()]))),
        None => Ok(timeline),
    }
}

/// What `prefetch` takes for the longest run, not checked; none where it does not fit. O(n) for each segment.
pub fn prefetched(program: &OverlapProgram) -> Option<Time> {
    let fetched = |problem| Some(Prefetch.solution(problem, &mut Budget::unlimited()).ok()??.makespan());
    let times: Option<Vec<Time>> =
        program.segments().iter().map(|segment| fetched(&segment.problem)).collect();
    let times = times?;
    program.longest(&|at| times[at])
}

/// The program with as many weights on chip as fit into so many bytes: of what saves most by either [`Worth`], that with which
/// `prefetch` is the faster.
///
/// # Errors
/// See [`OverlapError`].
pub fn resident_within(
    program: &OverlapProgram,
    machine: &Machine,
    room: Bytes,
) -> Result<OverlapProgram, OverlapError> {
    let mut best: Option<(Option<Time>, OverlapProgram)> = None;
    for worth in Worth::ALL {
        let order = residents(program, worth, machine.resident_weights);
        let set = fitting(program, &order, room, machine.alignment);
        let with = program.with_resident(machine, &set)?;
        let time = prefetched(&with);
        let better = |(old, _): &(Option<Time>, _)| time.is_some() && old.is_none_or(|old| time < Some(old));
        if best.as_ref().is_none_or(better) {
            best = Some((time, with));
        }
    }
    Ok(best.map_or_else(|| program.clone(), |(_, with)| with))
}

/// Finds the first operator that no schedule can run.
///
/// # Errors
/// [`ScheduleError::Infeasible`] with it.
pub fn fits(program: &OverlapProgram) -> Result<(), ScheduleError> {
    program.segments().iter().try_for_each(|segment| problem_fits(&segment.problem))
}

/// The same for one straight piece.
///
/// # Errors
/// [`ScheduleError::Infeasible`] with the operator.
pub fn problem_fits(problem: &TimelineProblem) -> Result<(), ScheduleError> {
    let Some(at) = problem.too_large() else { return Ok(()) };
    let one = &problem.operators()[at];
    Err(ScheduleError::Infeasible {
        operator: one.name.clone(),
        activations: one.activations,
        weights: problem.buffer(at),
        capacity: problem.capacity(),
    })
}
