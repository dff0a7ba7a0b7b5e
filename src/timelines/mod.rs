//! Timelines of whole graphs. Every segment is scheduled and checked separately, and the results are combined
//! along the control tree.

mod front;
mod placed;
mod speculation;

use plimsoll_heuristics::timelines::{Prefetch, Worth, fitting, residents};
use plimsoll_model::graph::Graph;
use plimsoll_model::timelines::{
    ControlTree, Machine, OverlapError, OverlapOptions, OverlapProgram, Piece, RegionOrder, Time, Timeline,
    TimelineProblem, Timelines, check_timeline, compute_bound, memory_bound, time_bound, transfer_bound,
};
use plimsoll_model::{
    Budget, Bytes, Entry, Problem, Setup, Silent, SolveError, Solver, Stop, WitnessSummary,
};

use crate::arithmetic::Arithmetic;
use crate::graphs::OrderedRegion;
use crate::run::{Limits, RunError, run};

pub use front::{Candidate, Effort, Front, FrontPoint, front};
pub use placed::placed_activations;
pub use speculation::{Guess, Speculated, Speculation, speculate};

/// Maximum number of segments that [`Scheduled::path`] contains.
pub const MOST_SEGMENTS: usize = 100_000;

/// The reason why a schedule produced no timelines for a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// No schedule can run the program: an operator does not fit into on-chip memory.
    #[error(
        "operator '{operator}' needs {activations} bytes of activations and {weights} bytes of weights on chip, \
         but the capacity is {capacity} bytes"
    )]
    Infeasible {
        /// Name of the operator.
        operator: String,
        /// Bytes of activations while it runs.
        activations: Bytes,
        /// Bytes of its weights, rounded up to the alignment.
        weights: Bytes,
        /// Capacity of the on-chip memory, in bytes.
        capacity: Bytes,
    },
    /// This schedule does not support the program, or failed.
    #[error("{0}")]
    Unfit(SolveError),
    /// The schedule found no timeline within the limits.
    #[error("nothing found within the limits")]
    Nothing,
    /// The checker rejected an answer, or the algorithm panicked.
    #[error("segment '{segment}': {reason}")]
    Refused {
        /// Name of the segment.
        segment: String,
        /// The first violation, or the panic message.
        reason: String,
    },
    /// The total time of all segments overflows.
    #[error("the total time of the program overflows (64-bit picoseconds)")]
    TooLong,
}

/// The timelines of a program under one schedule, with bounds. All timelines have passed the checker.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// One timeline per segment.
    pub timelines: Vec<Timeline>,
    /// A lower bound on the makespan of each segment. The scheduling algorithm proved it, or it was computed
    /// without running that algorithm.
    pub bounds: Vec<Time>,
    /// End of the longest run of the program.
    pub makespan: Time,
    /// A lower bound on the makespan of the program.
    pub lower_bound: Time,
    /// The weakest arithmetic in which the bound of a segment was proved.
    pub arithmetic: Arithmetic,
    /// Peak on-chip bytes, including resident weights.
    pub peak: Bytes,
    /// Indices of the segments along the longest run.
    pub path: Vec<usize>,
    /// The total time during which operators compute in the longest run.
    pub computing: Time,
    /// Number of segments of the longest run; `path` contains the first [`MOST_SEGMENTS`].
    pub segments: u64,
    /// Total search nodes.
    pub nodes: u64,
    /// The reason why the lower bound holds.
    pub reason: String,
    /// The same reason, as data.
    pub witness: WitnessSummary,
    /// Termination reason of the first segment whose schedule did not complete; `Completed` if all did.
    pub stop: Stop,
}

/// The timelines of a program under one schedule, without bounds. All timelines have passed the checker.
#[derive(Clone, Debug)]
pub struct Draft {
    /// One timeline per segment.
    pub timelines: Vec<Timeline>,
    /// End of the longest run of the program.
    pub makespan: Time,
    /// Peak on-chip bytes, including resident weights.
    pub peak: Bytes,
}

impl Draft {
    /// Builds a draft with `make`, which returns the checked timeline of one segment. If there is a deadline,
    /// the segments share the time until it.
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

    /// Adds the lower bounds of all segments.
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
            let reason = "the timeline ends before its own lower bound".to_owned();
            return Err(unanswered(problem, RunError::Refused(vec![reason])));
        }
        let lower_bound = program.longest(&|at| bounds[at]).ok_or(ScheduleError::TooLong)?;
        let path = program.path(&|at| timelines[at].makespan(), MOST_SEGMENTS);
        let times: Vec<Time> = timelines.iter().map(Timeline::makespan).collect();
        let computing: Vec<Time> =
            program.segments().iter().map(|segment| compute_bound(&segment.problem).value).collect();
        let run = Run::along(program.control_tree(), &times, &computing).ok_or(ScheduleError::TooLong)?;
        let Run { computing, segments, .. } = run;
        let arithmetic = Arithmetic::Exact;
        let reason = format!("the bounds of {segments} segments along the longest run");
        let witness = WitnessSummary::combined(
            "longest-run",
            "segments",
            usize::try_from(segments).unwrap_or(usize::MAX),
        );
        Ok(Scheduled {
            reason,
            witness,
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

    /// Adds the bounds that are valid for every schedule.
    fn measured(self, program: &OverlapProgram) -> Result<Scheduled, ScheduleError> {
        let bounds = program.segments().iter().map(|segment| time_bound(&segment.problem).value).collect();
        self.bounded(program, bounds, 0)
    }
}

/// Totals of the longest run through a control tree.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    time: Time,
    computing: Time,
    segments: u64,
}

impl Run {
    /// Computes the totals from the times of all segments. Among branches of equal time, the first one
    /// counts, as in [`OverlapProgram::path`]. Returns `None` on overflow.
    fn along(control_tree: &ControlTree, times: &[Time], computing: &[Time]) -> Option<Self> {
        let mut sum = Self::default();
        for piece in control_tree {
            let own = match piece {
                Piece::Segment(at) => Self { time: times[*at], computing: computing[*at], segments: 1 },
                Piece::Branch { control_trees, .. } => {
                    let mut most: Option<Self> = None;
                    for control_tree in control_trees {
                        let one = Self::along(control_tree, times, computing)?;
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

/// Converts the error of a run into the error of a schedule.
fn unanswered(problem: &TimelineProblem, error: RunError) -> ScheduleError {
    match error {
        RunError::Solve(error) => ScheduleError::Unfit(error),
        error => ScheduleError::Refused { segment: problem.name().to_owned(), reason: error.to_string() },
    }
}

/// Lower bounds on the longest run of a program, one per reason. Each is the greatest sum of bounds of
/// segments along a control path. They exclude the time to preload resident weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramBounds {
    /// The bound of a segment is the sum of its compute times.
    pub compute: Time,
    /// The bound of a segment is a maximum over its operators with weights. For each of them, the time of all
    /// transfers up to and including its own is added to the time of all computations from it on.
    pub transfers: Time,
    /// The bound of a segment accounts for transfers that start late because the weights do not fit on chip
    /// beside earlier operators.
    pub memory: Time,
}

/// Builds the program of a graph from its ordered regions, innermost first.
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

/// Computes the lower bounds of a program.
///
/// # Errors
/// Returns [`ScheduleError::TooLong`] if a sum of times overflows.
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

/// Runs a schedule on every segment, checks the timelines and combines them.
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
        let outcome = run(entry, problem, setup, limits, &mut Silent);
        let outcome = outcome.map_err(|error| unanswered(problem, error))?;
        let timeline = outcome.solution.ok_or(ScheduleError::Nothing)?;
        bounds.push(outcome.lower_bound.value);
        arithmetic = arithmetic.max(Arithmetic::of(&outcome.lower_bound.witness));
        nodes = nodes.saturating_add(outcome.stats.nodes);
        let witness = &outcome.lower_bound.witness;
        only =
            Some((Timelines::explain(problem, witness), WitnessSummary::of::<Timelines>(problem, witness)));
        if stop == Stop::Completed {
            stop = outcome.stop;
        }
        Ok(timeline)
    })?;
    let found = draft.bounded(program, bounds, nodes)?;
    let whole = (found.reason.clone(), found.witness.clone());
    let (reason, witness) = only.filter(|_| found.timelines.len() == 1).unwrap_or(whole);
    Ok(Scheduled { arithmetic, reason, witness, stop, ..found })
}

/// Runs a schedule on every segment and checks the timelines, without computing bounds.
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
    Draft::new(program, limits, |problem, limits| checked_timeline(problem, schedule.as_ref(), limits))
}

/// Returns a checked timeline of one segment, without bounds.
fn checked_timeline(
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

/// Returns the makespan of `prefetch` without checking its timelines. Returns `None` if an operator does not
/// fit or the total time overflows. Takes O(n) time for a segment with n operators.
pub fn prefetched(program: &OverlapProgram) -> Option<Time> {
    let fetched = |problem| Some(Prefetch.solution(problem, &mut Budget::unlimited()).ok()??.makespan());
    let times: Option<Vec<Time>> =
        program.segments().iter().map(|segment| fetched(&segment.problem)).collect();
    let times = times?;
    program.longest(&|at| times[at])
}

/// Returns the program with weights resident in at most `space` bytes of on-chip memory.
///
/// Blocks are chosen greedily by each [`Worth`]; the choice with the lower makespan of `prefetch` is
/// returned.
///
/// # Errors
/// See [`OverlapError`].
pub fn resident_within(
    program: &OverlapProgram,
    machine: &Machine,
    space: Bytes,
) -> Result<OverlapProgram, OverlapError> {
    let mut best: Option<(Option<Time>, OverlapProgram)> = None;
    for worth in Worth::ALL {
        let order = residents(program, worth, machine.resident_weights);
        let set = fitting(program, &order, space, machine.alignment);
        let with = program.with_resident(machine, &set)?;
        let time = prefetched(&with);
        let better = |(old, _): &(Option<Time>, _)| time.is_some() && old.is_none_or(|old| time < Some(old));
        if best.as_ref().is_none_or(better) {
            best = Some((time, with));
        }
    }
    Ok(best.map_or_else(|| program.clone(), |(_, with)| with))
}

/// Checks that every operator fits into on-chip memory.
///
/// # Errors
/// Returns [`ScheduleError::Infeasible`] with the first operator that does not fit.
pub fn fits(program: &OverlapProgram) -> Result<(), ScheduleError> {
    program.segments().iter().try_for_each(|segment| problem_fits(&segment.problem))
}

/// Checks that every operator of one segment fits into on-chip memory.
///
/// # Errors
/// Returns [`ScheduleError::Infeasible`] with the first operator that does not fit.
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
