//! `plimsoll overlap`: fetches weights while operators compute, and says how far from the limit that is.

mod free_order;
mod front;
mod report;
mod speculation;

use crate::cli::{ActivationsArg, OverlapArgs};
use crate::commands::choose;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::output;
use plimsoll::branches::{Planner, SchemeEntry, ordered_program};
use plimsoll::graphs::GraphRun;
use plimsoll::heuristics::overlap::{Prefetch, Worth, fitting, residents};
use plimsoll::model::graph::Graph;
use plimsoll::model::overlap::{
    Activations, Machine, OverlapOptions, OverlapProgram, ScheduleEntry, Scheduler, Time, read_times,
    write_instructions,
};
use plimsoll::model::program::ProgramOptions;
use plimsoll::model::{Budget, Bytes, Entry, Kind, Offsets, Orders};
use plimsoll::overlap::{ScheduleError, Scheduled, bounds, placed_activations, program, schedule};
use plimsoll::report::timeline::Playback;
use plimsoll::run::Limits;
use report::Report;
use std::time::Instant;

/// Runs the command.
pub fn main(args: &OverlapArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entries = chosen(&registry.schedules, &args.schedule)?;
    let solver = choose::named(&registry.offsets, &args.solver, "solver")?;
    let outputs = [&args.trace, &args.gantt, &args.instructions, &args.plot, &args.output];
    output::check_targets(&outputs, &[&args.model.model])?;
    if args.liveness.weights {
        return Err(Failure::input("--weights: here weights are fetched, not held all the time"));
    }
    let machine = machine(args)?;
    if args.free_order {
        return free_order::main(args, &machine, limits_of_schedules(args));
    }
    let import = args.model.read()?;
    let build = Programs { args, graph: &import.graph, machine: &machine, solver };
    if args.front {
        return front::main(&build, &registry, &entries, import.assumed.clone());
    }
    let order = args.order.as_deref().unwrap_or("as-in-file");
    let order = choose::named(&registry.orders, order, "order")?;
    let program = build.resident(build.program(order)?)?;
    let graph = &import.graph;
    let limits = bounds(&program).map_err(Failure::input)?;
    let mut rows = Vec::with_capacity(entries.len());
    for entry in &entries {
        let start = Instant::now();
        let result = schedule(&program, entry, args.setup(), limits_of_schedules(args));
        if let Err(error @ ScheduleError::Refused { .. }) = result {
            return Err(Failure::internal(format!("{}: {error}", entry.name)));
        }
        // Among all, who declines by size is not worth a line.
        let declines = entry.kind == Kind::Exact && matches!(result, Err(ScheduleError::Unfit(_)));
        if declines && args.schedule == "all" {
            continue;
        }
        rows.push(Row { name: entry.name, result, seconds: start.elapsed().as_secs_f64() });
    }
    let best = fastest(&rows);
    if let Some((name, scheduled)) = best {
        store(args, graph, &machine, &program, (name, scheduled))?;
    }
    let guessed = speculation::report(args, graph, &program, &entries, best)?;
    let report = Report::new(graph, &machine, &program, limits, &rows, guessed, import.assumed);
    if let Some(path) = &args.output {
        output::write_file(path, |file| report.write_rows(file))?;
    }
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(code(&rows))
}

/// Makes programs of a graph.
struct Programs<'a> {
    args: &'a OverlapArgs,
    graph: &'a Graph,
    machine: &'a Machine,
    /// Who lays activations out, where it matters.
    solver: &'static Entry<Offsets>,
}

impl Programs<'_> {
    /// The program under one order, nothing resident.
    fn program(&self, order: &Entry<Orders>) -> Result<OverlapProgram, Failure> {
        let (args, graph) = (self.args, self.graph);
        let (liveness, setup) = (args.liveness.options(), args.effort.setup());
        let limits = if args.front { limits_of_schedules(args) } else { args.effort.limits() };
        let run = GraphRun { liveness, order, setup, limits };
        let make = |regions: &[_], activations| {
            let options = OverlapOptions { trips: args.trips, activations };
            program(graph, regions, self.machine, options).map_err(Failure::input)
        };
        match args.activations {
            ActivationsArg::Alive => make(&run.order(graph)?, Activations::Alive),
            ActivationsArg::Peak => make(&run.order(graph)?, Activations::Peak),
            ActivationsArg::Placed => {
                let options = ProgramOptions { liveness, ..ProgramOptions::default() };
                let ordered = ordered_program(graph, &run, options)?;
                let scheme = SchemeEntry::named("exclusive").expect("it is registered");
                let execution = plimsoll::model::execution::ExecutionOptions::default();
                let planner = Planner { scheme, solver: self.solver, setup, limits, execution };
                let placed = placed_activations(&ordered, &planner)?;
                make(&ordered.regions, Activations::Placed(&placed))
            }
        }
    }

    /// With as many weights on chip as `--resident` has room for: by what makes `prefetch` the faster.
    fn resident(&self, program: OverlapProgram) -> Result<OverlapProgram, Failure> {
        let Some(room) = self.args.resident else { return Ok(program) };
        let (machine, stays) = (self.machine, self.machine.resident_weights);
        if room > machine.capacity.get() {
            let reason = format!("--resident {room}: the machine has {} bytes on chip", machine.capacity);
            return Err(Failure::input(reason));
        }
        let mut best: Option<(Option<Time>, OverlapProgram)> = None;
        for worth in Worth::ALL {
            let order = residents(&program, worth, stays);
            let set = fitting(&program, &order, Bytes::new(room), machine.alignment);
            let with = program.with_resident(machine, &set).map_err(Failure::input)?;
            let time = prefetched(&with);
            let better =
                |(old, _): &(Option<Time>, _)| time.is_some() && old.is_none_or(|old| time < Some(old));
            if best.as_ref().is_none_or(better) {
                best = Some((time, with));
            }
        }
        Ok(best.map_or(program, |(_, with)| with))
    }
}

/// What `prefetch` takes for the longest run; none where it does not fit.
fn prefetched(program: &OverlapProgram) -> Option<Time> {
    let fetched = |problem| Some(Prefetch.timeline(problem, &mut Budget::unlimited()).ok()??.makespan());
    let times: Option<Vec<Time>> =
        program.segments().iter().map(|segment| fetched(&segment.problem)).collect();
    let times = times?;
    program.longest(&|at| times[at])
}

/// Limits of a schedule per segment: those given, else so many nodes that a search takes about a second.
fn limits_of_schedules(args: &OverlapArgs) -> Limits {
    let given = args.effort.limits();
    let none = given.time.is_none() && given.nodes.is_none();
    let nodes = if args.front { FRONT_NODES } else { SEARCH_NODES };
    if none { Limits { nodes: Some(nodes), ..given } } else { given }
}

/// Nodes of a search per segment where no limit is given; and of each where there are many.
const SEARCH_NODES: u64 = 20_000;
const FRONT_NODES: u64 = 1_000;

/// One schedule of the whole program.
struct Row {
    name: &'static str,
    result: Result<Scheduled, ScheduleError>,
    seconds: f64,
}

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
    if rows.iter().any(|row| row.result.is_ok()) {
        return ANSWERED;
    }
    match rows.first() {
        Some(Row { result: Err(ScheduleError::Infeasible { .. }), .. }) => REFUTED,
        _ => NOTHING_FOUND,
    }
}

/// The fastest; of equals the first.
fn fastest(rows: &[Row]) -> Option<(&'static str, &Scheduled)> {
    let found = rows.iter().filter_map(|row| Some((row.name, row.result.as_ref().ok()?)));
    found.min_by_key(|(_, scheduled)| scheduled.makespan)
}

fn store(
    args: &OverlapArgs,
    graph: &Graph,
    machine: &Machine,
    program: &OverlapProgram,
    (name, scheduled): (&str, &Scheduled),
) -> Result<(), Failure> {
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
