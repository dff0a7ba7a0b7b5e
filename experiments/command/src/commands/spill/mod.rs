//! `plimsoll spill`: what goes to the slower tier where memory does not suffice.

mod compare;
mod report;
mod traffic;

use super::choose;
use crate::cli::SpillArgs;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::output;
use plimsoll::Registry;
use plimsoll::graphs::GraphRun;
use plimsoll::model::{
    BufferId, Bytes, Claim, Entry, Instance, Offsets, Outcome, Silent, Spill, SpillProblem, Spilling,
    written_and_read,
};
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll::run::{Attempt, Limits, RunError, run};
use plimsoll::spill::{Capacity, capacity, graph_traffic, region_instance};
use plimsoll_lab::report::Basis;
use plimsoll_lab::report::svg;
use report::Report;
use std::io;

/// What is to be solved, and what was assumed on the way.
struct Input {
    problem: SpillProblem,
    basis: Basis,
}

/// Runs the command.
pub fn main(args: &SpillArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entry = choose::named(&registry.spilling, &args.solver, "solver for spilling")?;
    args.check()?;
    let inputs: Vec<&std::path::Path> =
        [Some(args.model.model.as_path()), args.traffic.as_deref()].into_iter().flatten().collect();
    output::check_targets(&[&args.output, &args.plot], &inputs)?;
    let effort = args.effort;
    let limits = if args.compare { effort.limits_each().from_now() } else { effort.limits() };
    let done = input(args, &registry, limits).and_then(|input| {
        if args.compare {
            compare::compare(args, &registry, &input)
        } else {
            spill(args, &registry, entry, limits, &input)
        }
    });
    done.map_err(|failure| failure.about(&args.model.model))
}

fn spill(
    args: &SpillArgs,
    registry: &Registry,
    entry: &'static Entry<Spilling>,
    limits: Limits,
    input: &Input,
) -> Result<u8, Failure> {
    let problem = &input.problem;
    let need = need(args, registry, problem.instance(), limits.share(2))?;
    let attempt = run(entry, problem, args.effort.setup(), limits, &mut Silent);
    let (outcome, seconds) = answer(attempt)?;
    store(args, entry.name, problem, &outcome)?;
    let report = Report::new(args, entry.name, input, &need, &outcome, seconds);
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(match outcome.claim {
        Claim::Optimal | Claim::Feasible => ANSWERED,
        Claim::Infeasible => REFUTED,
        Claim::Unknown => NOTHING_FOUND,
    })
}

/// The outcome of a run, and its seconds.
fn answer(attempt: Attempt<Spilling>) -> Result<(Outcome<Spilling>, f64), Failure> {
    let outcome = attempt.result.map_err(failed)?;
    Ok((outcome, attempt.seconds))
}

fn failed(error: RunError) -> Failure {
    match &error {
        RunError::Solve(plimsoll::model::SolveError::Unsupported { .. }) => Failure::input(error),
        _ => Failure::internal(error),
    }
}

/// Whether everything fits without spilling.
fn need(
    args: &SpillArgs,
    registry: &Registry,
    instance: &Instance,
    limits: Limits,
) -> Result<Capacity, Failure> {
    let offsets: &Entry<Offsets> = choose::named(&registry.offsets, "exact", "solver")?;
    capacity(instance, offsets, args.effort.setup(), limits).map_err(failed)
}

/// Reads the instance or the graph, and what its buffers would move.
fn input(args: &SpillArgs, registry: &Registry, limits: Limits) -> Result<Input, Failure> {
    let (instance, mut traffic, basis) = if args.is_instance() {
        let instance = args.input.read(&args.model.model)?;
        if instance.capacity().is_none() {
            return Err(Failure::input(
                "a capacity is needed: in the file name (X.1048576.csv) or with --capacity",
            ));
        }
        let traffic = written_and_read(&instance);
        (instance, traffic, Basis::default())
    } else {
        let capacity = args.input.capacity.ok_or_else(|| Failure::input("a graph needs --capacity"))?;
        let order = choose::named(&registry.orders, args.order.as_deref().unwrap_or("exact"), "order")?;
        let import = args.model.read()?;
        let liveness = args.liveness.options();
        let ordering = GraphRun { liveness, order, setup: args.effort.setup(), limits: limits.share(3) };
        let regions = ordering.order(&import.graph)?;
        let body = regions.last().ok_or_else(|| Failure::internal("a graph without a body"))?;
        let instance = region_instance(body, liveness.align, Bytes::new(capacity)).map_err(Failure::input)?;
        let traffic = graph_traffic(&import.graph, body, instance.len());
        (instance, traffic, Basis::of(&import))
    };
    if let Some(path) = &args.traffic {
        traffic::read(path, &instance, &mut traffic)?;
    }
    for id in &args.keep {
        traffic[traffic::named(&instance, id)?.index()] = None;
    }
    let problem = SpillProblem::new(instance, traffic).map_err(Failure::input)?;
    Ok(Input { problem, basis })
}

fn store(
    args: &SpillArgs,
    solver: &str,
    problem: &SpillProblem,
    outcome: &Outcome<Spilling>,
) -> Result<(), Failure> {
    let Some(spill) = &outcome.solution else {
        if args.output.is_some() || args.plot.is_some() {
            output::complain("nothing was found, so neither a table nor a map is written");
        }
        return Ok(());
    };
    if let Some(path) = &args.output {
        output::write_file(path, |file| write_places(problem, spill, file))?;
    }
    if let Some(path) = &args.plot {
        let kept: Vec<BufferId> =
            problem.instance().ids().filter(|id| spill.offsets()[id.index()].is_some()).collect();
        let part = problem.instance().induced(&kept);
        let layout = plimsoll::model::Layout::new(spill.offsets().iter().flatten().copied().collect());
        let pieces = Offsets::pieces(&part, &layout);
        let map = svg::Map {
            instance: &part,
            problem: ProblemKind::Offsets,
            algorithm: solver,
            pieces: &pieces,
            bound: plimsoll::model::load(&part).0,
            groups: None,
        };
        output::write_file(path, |file| map.write(file))?;
    }
    Ok(())
}

/// One row per buffer.
fn write_places(problem: &SpillProblem, spill: &Spill, file: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(["id", "lower", "upper", "size", "traffic", "tier", "offset"])?;
    for (id, offset) in problem.instance().ids().zip(spill.offsets()) {
        let b = problem.instance().buffer(id);
        let hull = b.lifespan().hull();
        let number = |bytes: Option<Bytes>| bytes.map_or_else(String::new, |bytes| bytes.to_string());
        let tier = if offset.is_some() { "chip" } else { "slow" };
        writer.write_record([
            b.name(),
            &hull.lower.to_string(),
            &hull.upper.to_string(),
            &b.size().to_string(),
            &number(problem.traffic(id)),
            tier,
            &number(*offset),
        ])?;
    }
    writer.flush()
}
