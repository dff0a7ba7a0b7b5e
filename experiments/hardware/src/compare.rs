//! Compares predicted and measured makespans.

use super::cold::{Cold, Link};
use super::execute::Executor;
use super::fit::median;
use super::kernel::Work;
use super::work::Executable;
use plimsoll::graphs::GraphRun;
use plimsoll::run::Limits;
use plimsoll::timelines::{ScheduleError, program, schedule};
use plimsoll_lab::report::share;
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::timelines::{
    Instruction, Machine, OverlapOptions, OverlapProgram, Time, TimelineProblem, Timelines,
};
use plimsoll_model::{Bytes, Entry, Orders, Setup};
use serde::Serialize;
use std::fmt::Display;
use std::time::Duration;

/// Maximum size of the on-chip memory that a comparison allocates.
const MOST_CAPACITY: Bytes = Bytes::new(1 << 34);

/// Settings of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The machine used for scheduling and prediction.
    pub machine: &'a Machine,
    /// The link through which weights are fetched.
    pub link: Link,
    /// Number of counted runs per schedule, after one warm-up run.
    pub repeat: u32,
    /// On-chip bytes in addition to the peak of the activations. If set, the peak plus these bytes replaces
    /// the capacity of the machine.
    pub slack: Option<Bytes>,
    /// Number of buffers of the schedule `k-buffers`.
    pub buffers: usize,
    /// Limits for computing each schedule.
    pub limits: Limits,
    /// Graphs are skipped if the predicted total time of all runs of all schedules, including the warm-up
    /// runs, exceeds this duration.
    pub most: Option<Duration>,
}

/// The reason why a graph was not measured. The message names the graph.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The graph cannot be executed here, or would take too long.
    #[error("{0}")]
    Skipped(String),
    /// An algorithm or the executor failed.
    #[error("{0}")]
    Defect(String),
}

/// A run of a schedule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The name of the graph.
    pub graph: String,
    /// The name of the schedule.
    pub schedule: &'static str,
    /// The number of the run, counted from 1.
    pub run: u32,
    /// The predicted makespan.
    pub predicted_seconds: f64,
    /// The measured makespan, which is the end of the last computation.
    pub measured_seconds: f64,
    /// Total computation time of all operators.
    pub computing_seconds: f64,
    /// Total time of all transfers.
    pub fetching_seconds: f64,
}

/// The results of all runs of one schedule of one graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScheduleComparison {
    /// The name of the graph.
    pub graph: String,
    /// The name of the schedule.
    pub schedule: &'static str,
    /// The predicted makespan.
    pub predicted_seconds: f64,
    /// The median of the measured makespans.
    pub measured_seconds: f64,
    /// The shortest measured makespan.
    pub least_seconds: f64,
    /// The longest measured makespan.
    pub most_seconds: f64,
    /// Difference between the prediction and the median, in percent of the median. It is positive if the
    /// prediction is too high.
    pub error_percent: f64,
    /// Predicted reduction of the makespan relative to `synchronous`, in percent.
    pub predicted_gain_percent: Option<f64>,
    /// Measured reduction of the median makespan relative to `synchronous`, in percent.
    pub measured_gain_percent: Option<f64>,
}

/// The measurements of one graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// All counted runs, in the order of execution.
    pub samples: Vec<Sample>,
    /// One entry per schedule that has a timeline.
    pub comparisons: Vec<ScheduleComparison>,
    /// Number of operators after slicing.
    pub steps: usize,
    /// Size of the on-chip memory, in bytes.
    pub capacity: Bytes,
    /// Skipped schedules, with the reasons.
    pub notes: Vec<String>,
}

/// A schedule with its instruction list.
struct Planned {
    name: &'static str,
    predicted: Time,
    list: Vec<Instruction>,
}

/// The program and the schedules of one graph.
struct Case {
    program: OverlapProgram,
    works: Vec<Work>,
    planned: Vec<Planned>,
    notes: Vec<String>,
}

impl Case {
    fn problem(&self) -> &TimelineProblem {
        &self.program.segments()[0].problem
    }

    /// Returns the total predicted time of running every schedule once, in seconds.
    fn seconds(&self) -> f64 {
        self.planned.iter().map(|one| one.predicted.seconds()).sum()
    }
}

/// Schedules a graph, runs every schedule, and compares the makespans. `before` is called before every run.
///
/// # Errors
/// See [`CompareError`].
pub fn compare(
    graph: &Graph,
    entries: &[&'static Entry<Timelines>],
    settings: Settings<'_>,
    cold: &Cold,
    before: &mut dyn FnMut(&str),
) -> Result<Measured, CompareError> {
    let case = plan(graph, entries, settings)?;
    let name = graph.name();
    let seconds = case.seconds() * f64::from(settings.repeat + 1);
    if let Some(most) = settings.most.map(|most| most.as_secs_f64()).filter(|most| seconds > *most) {
        let [all, most] = [seconds, most].map(|seconds| Time::from_seconds(seconds).unwrap_or(Time::MAX));
        let why = format!("graph '{name}' would run for {all}, but the limit is {most}");
        return Err(CompareError::Skipped(why));
    }
    let executor = Executor { problem: case.problem(), works: &case.works, cold, link: settings.link };
    let mut samples = Vec::new();
    let lists: Vec<&[Instruction]> = case.planned.iter().map(|one| one.list.as_slice()).collect();
    let found = executor.rounds(
        &lists,
        settings.repeat,
        |run, at| before(&format!("{name}: {}, run {run} of {}", case.planned[at].name, settings.repeat)),
        |run, at, execution| {
            let one = &case.planned[at];
            samples.push(Sample {
                graph: name.to_owned(),
                schedule: one.name,
                run,
                predicted_seconds: one.predicted.seconds(),
                measured_seconds: execution.makespan.as_secs_f64(),
                computing_seconds: execution.computations.iter().map(|one| one.seconds()).sum(),
                fetching_seconds: execution.transfers.iter().map(|one| one.span.seconds()).sum(),
            });
        },
    );
    found.map_err(|(at, error)| {
        let wrong = || "results differ from those of a run without transfers".to_owned();
        let why = error.map_or_else(wrong, |error| error.to_string());
        CompareError::Defect(format!("graph '{name}', {}: {why}", case.planned[at].name))
    })?;
    let (steps, capacity) = (case.problem().len(), case.problem().capacity());
    Ok(Measured { comparisons: comparisons(&samples), samples, steps, capacity, notes: case.notes })
}

/// Builds the program of a graph for the machine, and the instruction list of every schedule.
fn plan(
    graph: &Graph,
    entries: &[&'static Entry<Timelines>],
    settings: Settings<'_>,
) -> Result<Case, CompareError> {
    let skipped = |why: &dyn Display| CompareError::Skipped(format!("graph '{}': {why}", graph.name()));
    let executable = Executable::new(graph).map_err(CompareError::Skipped)?;
    let registry = plimsoll::registry();
    let order = registry.find::<Orders>("as-in-file");
    let run = GraphRun {
        liveness: LivenessOptions::default(),
        order: order.expect("the registry contains the file order"),
        setup: Setup::default(),
        limits: Limits::default(),
    };
    let graph = &executable.graph;
    let regions = run.order(graph).map_err(|error| skipped(&error))?;
    let mut machine = settings.machine.clone();
    let build = |machine: &Machine| {
        program(graph, &regions, machine, OverlapOptions::default()).map_err(|error| skipped(&error))
    };
    let mut program = build(&machine)?;
    if let Some(slack) = settings.slack {
        let activations = program.segments()[0].problem.activations();
        machine.capacity = Bytes::new(activations.get().saturating_add(slack.get()));
        program = build(&machine)?;
    }
    if machine.capacity > MOST_CAPACITY {
        let why = "bytes of on-chip memory exceed the limit of 16 GiB; see --slack";
        return Err(skipped(&format_args!("{} {why}", machine.capacity)));
    }
    let works = executable.in_order(&regions[0], machine.slice);
    let (mut planned, mut notes) = (Vec::new(), Vec::new());
    for entry in entries {
        let setup = Setup { buffers: settings.buffers, ..Setup::default() };
        match schedule(&program, entry, setup, settings.limits) {
            Ok(scheduled) => planned.push(Planned {
                name: entry.name,
                predicted: scheduled.makespan,
                list: scheduled.timelines[0].instructions(),
            }),
            Err(source @ ScheduleError::Refused { .. }) => {
                let why = format!("graph '{}', {}: {source}", graph.name(), entry.name);
                return Err(CompareError::Defect(why));
            }
            Err(reason) => notes.push(format!("{}, {}: {reason}", graph.name(), entry.name)),
        }
    }
    Ok(Case { program, works, planned, notes })
}

/// Returns one comparison per schedule of a graph, in the order of the first sample of each schedule.
fn comparisons(samples: &[Sample]) -> Vec<ScheduleComparison> {
    let mut names: Vec<&'static str> = Vec::new();
    for one in samples {
        if !names.contains(&one.schedule) {
            names.push(one.schedule);
        }
    }
    let mut all: Vec<ScheduleComparison> =
        names.iter().filter_map(|name| comparison(samples, name)).collect();
    let reference = all.iter().find(|one| one.schedule == "synchronous");
    if let Some((predicted, measured)) = reference.map(|one| (one.predicted_seconds, one.measured_seconds)) {
        for one in &mut all {
            one.predicted_gain_percent = share(predicted - one.predicted_seconds, predicted);
            one.measured_gain_percent = share(measured - one.measured_seconds, measured);
        }
    }
    all
}

fn comparison(samples: &[Sample], schedule: &str) -> Option<ScheduleComparison> {
    let own: Vec<&Sample> = samples.iter().filter(|one| one.schedule == schedule).collect();
    let first = own.first()?;
    let measured = || own.iter().map(|one| one.measured_seconds);
    let middle = median(measured())?;
    Some(ScheduleComparison {
        graph: first.graph.clone(),
        schedule: first.schedule,
        predicted_seconds: first.predicted_seconds,
        measured_seconds: middle,
        least_seconds: measured().fold(f64::INFINITY, f64::min),
        most_seconds: measured().fold(0.0, f64::max),
        error_percent: share(first.predicted_seconds - middle, middle)?,
        predicted_gain_percent: None,
        measured_gain_percent: None,
    })
}

/// Returns the median of the absolute errors, in percent.
pub fn median_error(comparisons: &[ScheduleComparison]) -> Option<f64> {
    median(comparisons.iter().map(|one| one.error_percent.abs()))
}
