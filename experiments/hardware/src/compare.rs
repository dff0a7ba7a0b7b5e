//! Predicted makespans beside measured ones.

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

/// The largest memory on chip that is set aside.
const MOST_CAPACITY: Bytes = Bytes::new(1 << 34);

/// How schedules are measured.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// What predicts.
    pub machine: &'a Machine,
    /// How weights are fetched.
    pub link: Link,
    /// Runs that count, of every schedule; one more is not counted.
    pub repeat: u32,
    /// Bytes on chip beside the most activations, in place of the machine's capacity.
    pub room: Option<Bytes>,
    /// Buffers of `k-buffers`.
    pub buffers: usize,
    /// Limits of a schedule.
    pub limits: Limits,
    /// Graphs that would take longer, by what is predicted, are left out.
    pub most: Option<Duration>,
}

/// Why a graph was not measured; the message names it.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// It cannot be executed here, or would take too long.
    #[error("{0}")]
    LeftOut(String),
    /// An algorithm, or the executor, is at fault.
    #[error("{0}")]
    Defect(String),
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Which graph.
    pub graph: String,
    /// Which schedule.
    pub schedule: &'static str,
    /// Which run, from 1.
    pub run: u32,
    /// What was predicted.
    pub predicted_seconds: f64,
    /// Until the last operator had computed.
    pub measured_seconds: f64,
    /// Sum over operators.
    pub computing_seconds: f64,
    /// Sum over transfers.
    pub fetching_seconds: f64,
}

/// All runs of one schedule of one graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Which graph.
    pub graph: String,
    /// Which schedule.
    pub schedule: &'static str,
    /// What was predicted.
    pub predicted_seconds: f64,
    /// Median over runs.
    pub measured_seconds: f64,
    /// The fastest run.
    pub least_seconds: f64,
    /// The slowest run.
    pub most_seconds: f64,
    /// How far the prediction lies above the median, percent of it.
    pub error_percent: f64,
    /// How far the prediction lies below that of `synchronous`, percent.
    pub predicted_gain_percent: Option<f64>,
    /// How far the median lies below that of `synchronous`, percent.
    pub measured_gain_percent: Option<f64>,
}

/// What was found out about one graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Every run.
    pub samples: Vec<Sample>,
    /// One for each schedule that has a timeline.
    pub comparisons: Vec<Comparison>,
    /// Operators and slices.
    pub steps: usize,
    /// Bytes on chip.
    pub capacity: Bytes,
    /// Schedules that were left out, and why.
    pub notes: Vec<String>,
}

/// A schedule with its list.
struct Planned {
    name: &'static str,
    predicted: Time,
    list: Vec<Instruction>,
}

/// What is run for one graph.
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

    /// Seconds of one run of every schedule.
    fn seconds(&self) -> f64 {
        self.planned.iter().map(|one| one.predicted.seconds()).sum()
    }
}

/// Schedules a graph, runs every schedule, and compares. `told` is called before every run.
///
/// # Errors
/// See [`CompareError`].
pub fn compare(
    graph: &Graph,
    entries: &[&'static Entry<Timelines>],
    settings: Settings<'_>,
    cold: &Cold,
    told: &mut dyn FnMut(&str),
) -> Result<Measured, CompareError> {
    let case = plan(graph, entries, settings)?;
    let name = graph.name();
    let seconds = case.seconds() * f64::from(settings.repeat + 1);
    if let Some(most) = settings.most.map(|most| most.as_secs_f64()).filter(|most| seconds > *most) {
        let [all, most] = [seconds, most].map(|seconds| Time::from_seconds(seconds).unwrap_or(Time::MAX));
        let why = format!("graph '{name}' would take {all}, more than the {most} allowed");
        return Err(CompareError::LeftOut(why));
    }
    let executor = Executor { problem: case.problem(), works: &case.works, cold, link: settings.link };
    let mut samples = Vec::new();
    let lists: Vec<&[Instruction]> = case.planned.iter().map(|one| one.list.as_slice()).collect();
    let found = executor.rounds(
        &lists,
        settings.repeat,
        |run, at| told(&format!("{name}: {}, run {run} of {}", case.planned[at].name, settings.repeat)),
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

/// The program of a graph on the machine, with every schedule's list.
fn plan(
    graph: &Graph,
    entries: &[&'static Entry<Timelines>],
    settings: Settings<'_>,
) -> Result<Case, CompareError> {
    let left_out = |why: &dyn Display| CompareError::LeftOut(format!("graph '{}': {why}", graph.name()));
    let executable = Executable::new(graph).map_err(CompareError::LeftOut)?;
    let registry = plimsoll::registry();
    let order = registry.find::<Orders>("as-in-file");
    let run = GraphRun {
        liveness: LivenessOptions::default(),
        order: order.expect("the order of the file is in the registry"),
        setup: Setup::default(),
        limits: Limits::default(),
    };
    let graph = &executable.graph;
    let regions = run.order(graph).map_err(|error| left_out(&error))?;
    let mut machine = settings.machine.clone();
    let build = |machine: &Machine| {
        program(graph, &regions, machine, OverlapOptions::default()).map_err(|error| left_out(&error))
    };
    let mut program = build(&machine)?;
    if let Some(room) = settings.room {
        let activations = program.segments()[0].problem.activations();
        machine.capacity = Bytes::new(activations.get().saturating_add(room.get()));
        program = build(&machine)?;
    }
    if machine.capacity > MOST_CAPACITY {
        let why = "bytes on chip are more than the 16 GiB that are set aside here; see --room";
        return Err(left_out(&format_args!("{} {why}", machine.capacity)));
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

/// Samples of one graph by schedule, in their order.
fn comparisons(samples: &[Sample]) -> Vec<Comparison> {
    let mut names: Vec<&'static str> = Vec::new();
    for one in samples {
        if !names.contains(&one.schedule) {
            names.push(one.schedule);
        }
    }
    let mut all: Vec<Comparison> = names.iter().filter_map(|name| comparison(samples, name)).collect();
    let reference = all.iter().find(|one| one.schedule == "synchronous");
    if let Some((predicted, measured)) = reference.map(|one| (one.predicted_seconds, one.measured_seconds)) {
        for one in &mut all {
            one.predicted_gain_percent = share(predicted - one.predicted_seconds, predicted);
            one.measured_gain_percent = share(measured - one.measured_seconds, measured);
        }
    }
    all
}

fn comparison(samples: &[Sample], schedule: &str) -> Option<Comparison> {
    let own: Vec<&Sample> = samples.iter().filter(|one| one.schedule == schedule).collect();
    let first = own.first()?;
    let measured = || own.iter().map(|one| one.measured_seconds);
    let middle = median(measured())?;
    Some(Comparison {
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

/// The median of the errors without their signs, percent.
pub fn median_error(comparisons: &[Comparison]) -> Option<f64> {
    median(comparisons.iter().map(|one| one.error_percent.abs()))
}
