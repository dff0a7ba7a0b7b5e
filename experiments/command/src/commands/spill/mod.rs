//! `plimsoll spill`: chooses which buffers to spill to a slower tier if the capacity is too small.

mod args;
mod input;
mod report;
mod traffic;

use super::{choose, contest};
use crate::command::{Command, Main, Task};
use crate::failure::{Failure, code};
use crate::output;
use crate::signals::First;
pub use args::SpillArgs;
use input::{Input, failed, input, need};
use plimsoll::Registry;
use plimsoll::model::{
    Buffer, BufferId, Bytes, Entry, Offsets, Outcome, Piece, Problem as _, Silent, SpillProblem, Spilling,
    load,
};
use plimsoll::run::{Limits, run};
use plimsoll_lab::machine::Machine;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::row::Row;
use report::{Head, SpillReport, places};

impl Command for SpillArgs {
    const NAME: &str = "spill";
    const ABOUT: &str = "Choose which buffers to spill to a slower tier if the capacity is too small";
    const TASK: Task = Task::Instance;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate above-load --out a.csv && plimsoll spill a.csv --capacity 200KiB --time-limit 2",
            "Choose the buffers to spill so that the others fit into 200 KiB",
        ),
        (
            "plimsoll generate lenet5 --out net.json && plimsoll spill net.json --capacity 16KiB --compare --time-limit 1",
            "Compare all algorithms on the activations of a model",
        ),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const SOLVES: &[(&str, &str)] = &[(Spilling::NAME, "spill INSTANCE --capacity BYTES --algorithm ")];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &SpillArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let entry = choose::named(&registry.spilling, &args.algorithm, "solver for spilling")?;
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
    let head = Head { instance: instance.name(), basis: &input.basis, input, need: &need };
    contest::print::<Spilling>(head, &records, args.output.as_ref(), args.json)
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
    let report = SpillReport::new(args, entry.name, input, &need, (&outcome, outcome.stats.seconds));
    crate::report::print(&report, args.json)?;
    Ok(code(outcome.claim))
}

fn store(args: &SpillArgs, algorithm: &str, problem: &SpillProblem, outcome: &Outcome<Spilling>) {
    let Some(spill) = &outcome.solution else {
        if args.output.is_some() || args.plot.is_some() {
            output::complain("no solution found, so --output and --plot write nothing");
        }
        return;
    };
    if let Some(path) = &args.output {
        output::late(output::write_file(path, |file| places(problem, spill).write(file)));
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
        let map = Map::new(&drawn, Offsets::NAME, algorithm, &pieces, bound);
        output::late(output::write_picture(path, |file| map.write(file)));
    }
}
