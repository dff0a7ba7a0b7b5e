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
use plimsoll::model::graph::Graph;
use plimsoll::model::overlap::{
    Activations, Machine, OverlapOptions, OverlapProgram, Timelines, read_times, write_program,
};
use plimsoll::model::program::ProgramOptions;
use plimsoll::model::{Bytes, Entry, Kind, Offsets, Orders};
use plimsoll::overlap::{
    Effort, ScheduleError, Scheduled, bounds, placed_activations, program, resident_within, schedule,
};
use plimsoll::run::Limits;
use plimsoll_lab::report::Basis;
use plimsoll_lab::report::timeline::Playback;
use report::Report;
use speculation::Chances;
use std::time::Instant;

/// Runs the command.
pub fn main(args: &OverlapArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entries = chosen(&registry.timelines, &args.schedule)?;
    if args.solver.is_some() && args.activations != ActivationsArg::Placed {
        return Err(Failure::input("--solver: nobody is asked without --activations placed"));
    }
    let solver = choose::named(&registry.offsets, args.solver.as_deref().unwrap_or("exact"), "solver")?;
    let outputs = [&args.trace, &args.gantt, &args.instructions, &args.plot, &args.output];
    let times = args.times.as_deref().and_then(std::path::Path::to_str);
    let mut inputs = output::files_among([Some(args.machine.as_str()), times].into_iter().flatten());
    inputs.push(&args.model.model);
    output::check_targets(&outputs, &inputs)?;
    let machine = machine(args)?;
    if args.free_order {
        return free_order::main(args, &machine);
    }
    let mut import = args.model.read()?;
    import.assumed.extend(unused_times(args, &machine, &import.graph)?);
    let chances = Chances::read(&import.graph, &args.chance)?;
    let limits = args.effort.limits();
    let build = Programs { args, limits, graph: &import.graph, machine: &machine, solver };
    if args.front {
        return front::main(&build, &registry, &entries, Basis::of(&import));
    }
    let order = args.order.as_deref().unwrap_or("as-in-file");
    let order = choose::named(&registry.orders, order, "order")?;
    let program = build.resident(build.program(order, limits.share(2))?)?;
    let graph = &import.graph;
    let proved = bounds(&program).map_err(Failure::input)?;
    let mut rows = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        let start = Instant::now();
        let left = limits.share(entries.len() - at);
        let result = schedule(&program, entry, args.setup(), limits_of_schedules(args, left));
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
    let by = limits_of_schedules(args, limits);
    let guessed = speculation::report(args, graph, &program, &entries, &chances, by, best)?;
    let report = Report::new(graph, &machine, &program, proved, &rows, guessed, Basis::of(&import));
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
    /// Of the whole command.
    limits: Limits,
    graph: &'a Graph,
    machine: &'a Machine,
    /// Who lays activations out, where it matters.
    solver: &'static Entry<Offsets>,
}

impl Programs<'_> {
    /// The program under one order, nothing resident.
    fn program(&self, order: &Entry<Orders>, limits: Limits) -> Result<OverlapProgram, Failure> {
        let (args, graph) = (self.args, self.graph);
        let (liveness, setup) = (args.liveness.options(), args.effort.setup());
        let limits = if args.front { effort(args, limits).each } else { limits };
        // A layout takes the other half.
        let stages = if args.activations == ActivationsArg::Placed { 2 } else { 1 };
        let run = GraphRun { liveness, order, setup, limits: limits.share(stages) };
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
        let machine = self.machine;
        if room > machine.capacity.get() {
            let reason = format!("--resident {room}: the machine has {} bytes on chip", machine.capacity);
            return Err(Failure::input(reason));
        }
        resident_within(&program, machine, Bytes::new(room)).map_err(Failure::input)
    }
}

/// Limits of schedules: those given, else beside the time so many nodes per segment that a search takes about a second.
fn limits_of_schedules(args: &OverlapArgs, limits: Limits) -> Limits {
    limits_or(args, limits, SEARCH_NODES)
}

/// The same for a front, with fewer nodes where schedules are many.
fn effort(args: &OverlapArgs, limits: Limits) -> Effort {
    Effort { each: limits_or(args, limits, FRONT_NODES), last: limits_or(args, limits, SEARCH_NODES) }
}

fn limits_or(args: &OverlapArgs, limits: Limits, nodes: u64) -> Limits {
    if args.effort.is_default() { Limits { nodes: Some(nodes), ..limits } } else { limits }
}

/// Nodes of a search per segment where no limit is given; and of each where there are many.
pub const SEARCH_NODES: u64 = 20_000;
const FRONT_NODES: u64 = 1_000;

/// One schedule of the whole program.
struct Row {
    name: &'static str,
    result: Result<Scheduled, ScheduleError>,
    seconds: f64,
}

/// The schedule of a name, or all.
pub fn chosen(
    all: &[&'static Entry<Timelines>],
    name: &str,
) -> Result<Vec<&'static Entry<Timelines>>, Failure> {
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

/// Refuses `--times` for operators that are not there; such times of the machine's file are told, as it may serve several
/// graphs.
fn unused_times(args: &OverlapArgs, machine: &Machine, graph: &Graph) -> Result<Option<String>, Failure> {
    let names = machine.unused_times(graph);
    let Some(first) = names.first() else { return Ok(None) };
    let more = if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
    let what = format!("no operator that computes is called '{first}'{more}");
    match &args.times {
        Some(path) => Err(Failure::input(format!("--times {}: {what}", path.display()))),
        None => Ok(Some(format!("{what}: measured times that are not used"))),
    }
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
        output::write_file(path, |file| write_program(program, &scheduled.timelines, file))?;
    }
    Ok(())
}
