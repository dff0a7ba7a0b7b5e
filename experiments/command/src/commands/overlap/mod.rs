//! `plimsoll overlap`: schedules weight transfers to overlap with computation, and bounds the makespan.

mod args;
mod free_order;
mod front;
mod programs;
mod report;
mod speculation;

use crate::command::{Command, Main, Task};
use crate::commands::choose;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::output;
use crate::signals::First;
use args::ActivationsArg;
pub use args::OverlapArgs;
use plimsoll::model::timelines::Timelines;
use plimsoll::model::{Entry, Kind, Problem as _};
use plimsoll::timelines::{ScheduleError, bounds, schedule};
use plimsoll_lab::report::Basis;
use programs::{Programs, machine, unused_times};
use report::{Given, OverlapReport, Row, fastest, store};
use speculation::Chances;
use std::time::Instant;

impl Command for OverlapArgs {
    const NAME: &str = "overlap";
    const ABOUT: &str = "Schedule weight transfers to overlap with computation, and bound the makespan";
    const TASK: Task = Task::Model;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate lenet5 --out net.json && plimsoll overlap net.json --machine luna",
            "Schedule the weight transfers, and report how long operators wait",
        ),
        (
            "plimsoll overlap net.json --machine ethos-u --algorithm exact --gantt gantt.svg",
            "Draw the schedule of one algorithm",
        ),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const SOLVES: &[(&str, &str)] = &[(Timelines::NAME, "overlap MODEL --machine NAME --algorithm ")];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &OverlapArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entries = chosen(&registry.timelines, &args.algorithm)?;
    if args.solver.is_some() && args.activations != ActivationsArg::Placed {
        return Err(Failure::input("--solver requires --activations placed"));
    }
    let solver = choose::named(&registry.offsets, args.solver.as_deref().unwrap_or("exact"), "solver")?;
    let outputs = [&args.trace, &args.gantt, &args.instructions, &args.plot, &args.output];
    let times = args.times.as_deref().and_then(std::path::Path::to_str);
    let mut inputs = output::files_among([Some(args.machine.as_str()), times].into_iter().flatten());
    inputs.extend(args.model.files());
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
        return front::main(&build, &registry, &entries, &Basis::of(&import));
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
        let result = schedule(&program, entry, args.setup(), left);
        if let Err(error @ ScheduleError::Refused { .. }) = result {
            return Err(Failure::internal(format!("{}: {error}", entry.name)));
        }
        // With `--algorithm all`, an exact schedule that does not support the problem is omitted.
        let declines = entry.kind == Kind::Exact && matches!(result, Err(ScheduleError::Unfit(_)));
        if declines && args.algorithm == "all" {
            continue;
        }
        rows.push(Row { name: entry.name, result, seconds: start.elapsed().as_secs_f64() });
    }
    let best = fastest(&rows);
    if let Some((name, scheduled)) = best {
        store(args, graph, &machine, &program, (name, scheduled));
    }
    let guessed = speculation::report(args, graph, &program, &entries, &chances, limits, best)?;
    let given = Given { build: &build, order: order.name, basis: Basis::of(&import) };
    let report = OverlapReport::new(given, &program, proved, &rows, guessed);
    if let Some(path) = &args.output {
        output::late(report.store(path));
    }
    crate::report::print(&report, args.json)?;
    Ok(code(&rows))
}

/// Returns the schedule with this name, or all schedules for the name `all`.
pub fn chosen(
    all: &[&'static Entry<Timelines>],
    name: &str,
) -> Result<Vec<&'static Entry<Timelines>>, Failure> {
    if name == "all" {
        return Ok(all.to_vec());
    }
    let known: Vec<&str> = all.iter().map(|entry| entry.name).chain(["all"]).collect();
    let found = all.iter().find(|entry| entry.name == name);
    found
        .map(|entry| vec![*entry])
        .ok_or_else(|| choose::unknown("schedule", name, &known, "plimsoll list timelines"))
}

/// Returns the exit code: success if any schedule has timelines. Otherwise, the error of the first schedule
/// decides.
fn code(rows: &[Row]) -> u8 {
    if rows.iter().any(|row| row.result.is_ok()) {
        return ANSWERED;
    }
    match rows.first() {
        Some(Row { result: Err(ScheduleError::Infeasible { .. }), .. }) => REFUTED,
        _ => NOTHING_FOUND,
    }
}
