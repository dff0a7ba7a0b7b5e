//! `plimsoll spill`: chooses which buffers to spill to a slower tier if the capacity is too small.

mod args;
mod input;
mod report;
mod traffic;

use super::{choose, contest};
use crate::failure::{Failure, code};
use crate::output;
use crate::report::Report;
pub use args::SpillArgs;
use input::{Input, failed, input, need};
use plimsoll::Registry;
use plimsoll::model::{
    Buffer, BufferId, Bytes, Entry, Offsets, Outcome, Piece, Problem as _, Silent, Spill, SpillProblem,
    Spilling, load,
};
use plimsoll::run::{Limits, run};
use plimsoll_lab::machine::Machine;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::row::Row;
use serde_json::json;
use std::io;

pub fn main(args: &SpillArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entry = choose::named(&registry.spilling, &args.solver, "solver for spilling")?;
    args.check()?;
    let mut inputs = args.model.files();
    inputs.extend(args.traffic.as_deref());
    output::check_targets(&[&args.output, &args.plot], &inputs)?;
    let effort = args.effort;
    let limits = if args.compare { effort.limits_each().from_now() } else { effort.limits() };
    let input = input(args, &registry, limits)?;
    let done = if args.compare {
        compared(args, &registry, &input)
    } else {
        spill(args, &registry, entry, limits, &input)
    };
    done.map_err(|failure| failure.about(&args.model.model))
}

fn compared(args: &SpillArgs, registry: &Registry, input: &Input) -> Result<u8, Failure> {
    let (problem, effort) = (&input.problem, args.effort);
    let instance = problem.instance();
    let need = need(args, registry, instance, effort.limits_each().from_now())?;
    let about = Row {
        instance: instance.name().to_owned(),
        buffers: Some(instance.len()),
        load: Some(load(instance).0.get()),
        ..Row::on(&Machine::here())
    };
    let limits = || effort.limits_each().from_now();
    let records =
        contest::compare::<Spilling>(registry, problem, &about, (effort, contest::Stops::AtLimits), limits)?;
    let mut report = Report::of_graph(json!({ "instance": instance.name() }), &input.basis);
    report.push(&report::need_text(input, &need));
    contest::print::<Spilling>(report, &records, args.output.as_ref(), args.json)
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
    let outcome = run(entry, problem, args.effort.setup(), limits, &mut Silent).map_err(failed)?;
    store(args, entry.name, problem, &outcome);
    let mut report = report::report(args, entry.name, input, &need, &outcome, outcome.stats.seconds);
    if !input.assumptions.is_empty() {
        report.assuming(&input.assumptions);
    }
    if args.with_layout {
        let spill = outcome.solution.as_ref();
        report.layout(spill.map(|spill| |file: &mut dyn io::Write| write_places(problem, spill, file)));
    }
    report.print(args.json)?;
    Ok(code(outcome.claim))
}

fn store(args: &SpillArgs, solver: &str, problem: &SpillProblem, outcome: &Outcome<Spilling>) {
    let Some(spill) = &outcome.solution else {
        if args.output.is_some() || args.plot.is_some() {
            output::complain("no solution found, so --output and --plot write nothing");
        }
        return;
    };
    if let Some(path) = &args.output {
        output::late(output::write_file(path, |file| write_places(problem, spill, file)));
    }
    if let Some(path) = &args.plot {
        // Without an offset, a buffer has no piece: it is drawn as spilled.
        let place = |(buffer, offset): (&Buffer, &Option<Bytes>)| match offset {
            Some(start) if !buffer.is_empty() => vec![Piece { start: *start, length: buffer.size() }],
            _ => Vec::new(),
        };
        let instance = problem.instance();
        let pieces: Vec<_> = instance.buffers().iter().zip(spill.offsets()).map(place).collect();
        let drawn = instance.clone().with_capacity(Some(problem.capacity()));
        let kept: Vec<BufferId> = instance.ids().filter(|id| spill.offsets()[id.index()].is_some()).collect();
        let bound = plimsoll::model::load(&instance.induced(&kept)).0;
        let map = Map::new(&drawn, Offsets::NAME, solver, &pieces, bound);
        output::late(output::write_picture(path, |file| map.write(file)));
    }
}

/// Writes one row per buffer.
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
