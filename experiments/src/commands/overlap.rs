//! `plimsoll overlap`: fetches weights while operators compute, and says how far from the limit that is.

use crate::cli::OverlapArgs;
use crate::commands::choose;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::output;
use plimsoll::graphs::GraphRun;
use plimsoll::model::overlap::{
    Machine, OverlapProgram, ScheduleEntry, Time, TimelineProblem, read_times, write_instructions,
};
use plimsoll::model::{Bytes, graph::Graph};
use plimsoll::overlap::{ProgramBounds, ScheduleError, Scheduled, bounds, program, schedule};
use plimsoll::report::percent;
use plimsoll::report::table::{Align, Table};
use plimsoll::report::timeline::Playback;
use plimsoll::run::Limits;
use serde::Serialize;
use std::fmt::Write as _;

/// Runs the command.
pub fn main(args: &OverlapArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let order = choose::named(&registry.orders, &args.order, "order")?;
    let entries = chosen(&registry.schedules, &args.schedule)?;
    let outputs = [&args.trace, &args.gantt, &args.instructions];
    output::check_targets(&outputs, &[&args.model.model])?;
    if args.liveness.weights {
        return Err(Failure::input("--weights: here weights are fetched, not held all the time"));
    }
    let machine = machine(args)?;
    let import = args.model.read()?;
    let graph = &import.graph;
    let run = GraphRun {
        liveness: args.liveness.options(),
        order,
        setup: args.effort.setup(),
        limits: args.effort.limits(),
    };
    let regions = run.order(graph)?;
    let program = program(graph, &regions, &machine, args.options()).map_err(Failure::input)?;
    let limits = bounds(&program).map_err(Failure::input)?;
    let mut rows = Vec::with_capacity(entries.len());
    for entry in entries {
        let result = schedule(&program, entry, args.setup(), limits_of_schedules(args));
        if let Err(error @ ScheduleError::Refused { .. }) = result {
            return Err(Failure::internal(format!("{}: {error}", entry.name)));
        }
        rows.push((entry.name, result));
    }
    store(args, graph, &machine, &program, &rows)?;
    let report = Report::new(graph, &machine, &program, limits, &rows, import.assumed);
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(code(&rows))
}

/// Limits of a schedule per segment: those given, else so many nodes that a search takes about a second.
fn limits_of_schedules(args: &OverlapArgs) -> Limits {
    let given = args.effort.limits();
    let none = given.time.is_none() && given.nodes.is_none();
    if none { Limits { nodes: Some(SEARCH_NODES), ..given } } else { given }
}

/// Nodes of a search per segment where no limit is given.
const SEARCH_NODES: u64 = 20_000;

type Row = (&'static str, Result<Scheduled, ScheduleError>);

/// The schedule of a name, or all.
pub fn chosen(all: &[&'static ScheduleEntry], name: &str) -> Result<Vec<&'static ScheduleEntry>, Failure> {
    if name == "all" {
        return Ok(all.to_vec());
    }
    let known: Vec<&str> = all.iter().map(|entry| entry.name).chain(["all"]).collect();
    let found = all.iter().find(|entry| entry.name == name);
    found.map(|entry| vec![*entry]).ok_or_else(|| choose::unknown("schedule", name, &known))
}

fn machine(args: &OverlapArgs) -> Result<Machine, Failure> {
    let mut machine = Machine::find(&args.machine).map_err(Failure::input)?;
    if let Some(capacity) = args.capacity {
        machine.capacity = Bytes::new(capacity);
    }
    if let Some(times) = &args.times {
        machine.times = read_times(times).map_err(Failure::input)?;
    }
    if let Some(slice) = args.slice {
        machine.slice = (slice > 0).then_some(Bytes::new(slice));
    }
    Ok(machine)
}

/// Answered where any schedule fits; else why the first does not.
fn code(rows: &[Row]) -> u8 {
    if rows.iter().any(|(_, result)| result.is_ok()) {
        return ANSWERED;
    }
    match rows.first() {
        Some((_, Err(ScheduleError::Infeasible { .. }))) => REFUTED,
        _ => NOTHING_FOUND,
    }
}

/// The fastest; of equals the first.
fn fastest(rows: &[Row]) -> Option<(&'static str, &Scheduled)> {
    let found = rows.iter().filter_map(|(name, result)| Some((*name, result.as_ref().ok()?)));
    found.min_by_key(|(_, scheduled)| scheduled.makespan)
}

fn store(
    args: &OverlapArgs,
    graph: &Graph,
    machine: &Machine,
    program: &OverlapProgram,
    rows: &[Row],
) -> Result<(), Failure> {
    let Some((name, scheduled)) = fastest(rows) else { return Ok(()) };
    let (machine, graph) = (machine.name.as_str(), graph.name());
    let playback = Playback { graph, machine, schedule: name, program, scheduled };
    if let Some(path) = &args.trace {
        output::write_file(path, |file| playback.write_trace(file))?;
    }
    if let Some(path) = &args.gantt {
        output::write_file(path, |file| playback.write_gantt(file))?;
    }
    if let Some(path) = &args.instructions {
        let segments = program.segments().iter().zip(&scheduled.timelines);
        let lists = segments.map(|(segment, timeline)| (&segment.problem, timeline.instructions()));
        output::write_file(path, |file| write_instructions(lists, file))?;
    }
    Ok(())
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Report {
    graph: String,
    machine: String,
    capacity: u64,
    channels: u32,
    operators: usize,
    /// Operators and slices of operators that are scheduled.
    steps: usize,
    segments: usize,
    weights: u64,
    activations: u64,
    lower_bound_ps: u64,
    lower_bound_seconds: f64,
    compute_bound_ps: u64,
    transfer_bound_ps: u64,
    memory_bound_ps: u64,
    best: Option<&'static str>,
    schedules: Vec<ScheduleRow>,
    assumed: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
struct ScheduleRow {
    schedule: &'static str,
    claim: &'static str,
    makespan_ps: Option<u64>,
    makespan_seconds: Option<f64>,
    /// Above the bound, in percent of it.
    gap_percent: Option<f64>,
    /// Below `synchronous`, in percent of it.
    gain_percent: Option<f64>,
    /// Share of the makespan in which nothing computes, percent.
    waiting_percent: Option<f64>,
    peak: Option<u64>,
    /// Why there is no timeline.
    reason: Option<String>,
}

impl ScheduleRow {
    fn new(
        name: &'static str,
        result: &Result<Scheduled, ScheduleError>,
        bound: Time,
        reference: Option<Time>,
    ) -> Self {
        match result {
            Err(error) => {
                let claim =
                    if matches!(error, ScheduleError::Infeasible { .. }) { "infeasible" } else { "unknown" };
                Self { schedule: name, claim, reason: Some(error.to_string()), ..Self::default() }
            }
            Ok(one) => Self {
                schedule: name,
                claim: if one.makespan == bound { "optimal" } else { "feasible" },
                makespan_ps: Some(one.makespan.get()),
                makespan_seconds: Some(one.makespan.seconds()),
                gap_percent: share(one.makespan.saturating_sub(bound), bound),
                gain_percent: reference.and_then(|reference| gain(reference, one.makespan)),
                waiting_percent: share(one.makespan.saturating_sub(one.computing), one.makespan),
                peak: Some(one.peak.get()),
                reason: None,
            },
        }
    }
}

/// One time in percent of another; none of zero.
fn share(part: Time, whole: Time) -> Option<f64> {
    (whole > Time::ZERO).then(|| part.get() as f64 * 100.0 / whole.get() as f64)
}

fn gain(reference: Time, time: Time) -> Option<f64> {
    (reference > Time::ZERO)
        .then(|| (reference.get() as f64 - time.get() as f64) * 100.0 / reference.get() as f64)
}

impl Report {
    fn new(
        graph: &Graph,
        machine: &Machine,
        program: &OverlapProgram,
        limits: ProgramBounds,
        rows: &[Row],
        assumed: Vec<String>,
    ) -> Self {
        let problems = || program.segments().iter().map(|segment| &segment.problem);
        // A schedule may have proved more than the bounds that are always there.
        let proved = rows.iter().filter_map(|(_, result)| Some(result.as_ref().ok()?.lower_bound));
        let bound = proved.max().unwrap_or(limits.compute.max(limits.transfers).max(limits.memory));
        let reference = rows.iter().find(|(name, _)| *name == "synchronous");
        let reference = reference.and_then(|(_, result)| Some(result.as_ref().ok()?.makespan));
        let weights = problems().flat_map(TimelineProblem::operators).map(|one| one.weights.get());
        Self {
            graph: graph.name().to_owned(),
            machine: machine.name.clone(),
            capacity: machine.capacity.get(),
            channels: machine.channels,
            operators: graph.operators().len(),
            steps: problems().map(TimelineProblem::len).sum(),
            segments: program.segments().len(),
            weights: weights.sum(),
            activations: problems().map(|problem| problem.activations().get()).max().unwrap_or(0),
            lower_bound_ps: bound.get(),
            lower_bound_seconds: bound.seconds(),
            compute_bound_ps: limits.compute.get(),
            transfer_bound_ps: limits.transfers.get(),
            memory_bound_ps: limits.memory.get(),
            best: fastest(rows).map(|(name, _)| name),
            schedules: rows
                .iter()
                .map(|(name, result)| ScheduleRow::new(name, result, bound, reference))
                .collect(),
            assumed,
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.assumed {
            let _ = writeln!(text, "assumed      {line}");
        }
        let time = |picoseconds| Time::new(picoseconds).to_string();
        let (steps, segments) = (self.steps, self.segments);
        let _ = writeln!(
            text,
            "graph        {}: {} operators, {steps} steps in {segments} segments",
            self.graph, self.operators
        );
        let _ = writeln!(
            text,
            "machine      {}: {} bytes on chip, DMA channels {}",
            self.machine, self.capacity, self.channels
        );
        let _ = writeln!(
            text,
            "memory       {} bytes of activations at most, {} of weights to fetch",
            self.activations, self.weights
        );
        let _ = writeln!(
            text,
            "lower bound  {} (compute {}, transfers {}, memory {})",
            time(self.lower_bound_ps),
            time(self.compute_bound_ps),
            time(self.transfer_bound_ps),
            time(self.memory_bound_ps),
        );
        text.push('\n');
        text.push_str(&self.table());
        let mut told = Vec::new();
        for row in &self.schedules {
            // What no schedule can do is the same for all.
            if let Some(reason) = row.reason.as_deref().filter(|reason| !told.contains(reason)) {
                told.push(reason);
                let who = if row.claim == "infeasible" { "infeasible" } else { row.schedule };
                let _ = writeln!(text, "\n{who}: {reason}");
            }
        }
        text
    }

    fn table(&self) -> String {
        let mut table = Table::new([
            ("schedule", Align::Left),
            ("makespan", Align::Right),
            ("gap %", Align::Right),
            ("gain %", Align::Right),
            ("waiting %", Align::Right),
            ("on chip", Align::Right),
            ("claim", Align::Left),
        ]);
        let digits = |number: Option<f64>| number.map_or("-".to_owned(), percent);
        for row in &self.schedules {
            table.row([
                row.schedule.to_owned(),
                row.makespan_ps.map_or("-".to_owned(), |time| Time::new(time).to_string()),
                digits(row.gap_percent),
                digits(row.gain_percent),
                digits(row.waiting_percent),
                row.peak.map_or("-".to_owned(), |peak| peak.to_string()),
                row.claim.to_owned(),
            ]);
        }
        table.text()
    }
}
