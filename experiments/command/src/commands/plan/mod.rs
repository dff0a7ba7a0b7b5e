//! `plimsoll plan`: plans the memory of a model.

mod alternatives;
mod args;
mod capacity;
mod compare;
mod micro;
mod places;
mod program;
mod relations;
mod straight;
mod structure;
mod write;

use super::choose;
use crate::args::EffortArgs;
use crate::command::{Command, Main, Task};
use crate::failure::Failure;
use crate::output;
use crate::signals::First;
use alternatives::Alternatives;
pub use alternatives::Tried;
pub use args::PlanArgs;
use args::{ConflictsArg, ControlArgs};
use plimsoll::Registry;
use plimsoll::branches::{SCHEMES, Scheme, SchemeEntry};
use plimsoll::datasets::ModelFormat;
use plimsoll::graphs::{GraphRun, Placement};
use plimsoll::model::graph::{Graph, LivenessOptions};
use plimsoll::model::{Entry, Joint, Orders, Problem as _};
use plimsoll::run::Limits;

impl Command for PlanArgs {
    const NAME: &str = "plan";
    const ABOUT: &str = "Plan the memory of a model: order its operators, then place its tensors";
    const TASK: Task = Task::Model;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate squeezenet --out net.json && plimsoll plan net.json",
            "Order the operators and place the tensors",
        ),
        ("plimsoll plan net.json --output layout.csv --plot layout.svg", "Write and draw the layout"),
    ];
    const HAS_PROGRESS: bool = true;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const SOLVES: &[(&str, &str)] = &[(Joint::NAME, "plan MODEL --joint=")];
    const MAIN: Main<Self> = |args, _| main(args);
}

pub fn main(args: &PlanArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let order = choose::named(&registry.orders, &args.order, "order")?;
    if args.conflicts.is_some() {
        return by_conflicts(args, &registry, order);
    }
    let placement = match &args.joint {
        Some(name) => Placement::Joint(choose::named(&registry.joint, name, "joint solver")?),
        None => Placement::After(choose::named(&registry.offsets, &args.algorithm, "algorithm")?),
    };
    let scheme = scheme(&args.branches)?;
    let placement_file = places::target(args.tensors.as_ref(), args.format)?.map(|(path, _)| path);
    let outputs = [&args.instance, &args.orders, &args.output, &placement_file, &args.write, &args.plot];
    output::check_targets(&outputs, &args.model.files())?;
    let written = write::format(args.write.as_deref(), &args.model.model)?;
    let import = args.model.read()?;
    // Some schemes pose harder problems than others, so each scheme gets its own limits.
    let limits = if args.compare { args.effort.limits_each() } else { args.effort.limits() };
    if written == Some(ModelFormat::TfLite) {
        write::check(args, &import)?;
    }
    let is_micro = micro::is_planned(args, &import, written);
    let liveness = micro::liveness(args, &import, is_micro)?;
    let liveness = LivenessOptions { captured: args.control.is_alias(), ..liveness };
    let run = GraphRun { liveness, order, setup: args.effort.setup(), limits }.with_final_order();
    let alternatives = Alternatives {
        args,
        import: &import,
        run: &run,
        registry: &registry,
        scheme,
        placement,
        plan,
        is_micro,
    };
    let done = match placement {
        Placement::After(solver) if args.compare => compare::compare(args, &import, &run, &registry, solver),
        _ if is_program(&import.graph, scheme) => program::plan(&alternatives),
        _ => straight::plan(&alternatives),
    };
    done.map_err(|failure| failure.about(&args.model.model))
}

/// Plans a graph without printing a report.
fn plan(
    asked: &Alternatives<'_>,
    graph: &Graph,
    placement: Placement<'_>,
    limits: Limits,
) -> Result<Tried, Failure> {
    let run = GraphRun { limits, ..*asked.run };
    match placement {
        Placement::Joint(joint) if graph.regions().len() > 1 => {
            let solver = choose::named(&asked.registry.offsets, &asked.args.algorithm, "algorithm")?;
            program::tried(asked.args.control, graph, &run, asked.scheme, (solver, Some(joint)))
        }
        Placement::After(solver) if is_program(graph, asked.scheme) => {
            program::tried(asked.args.control, graph, &run, asked.scheme, (solver, None))
        }
        _ => straight::tried(graph, &run, placement),
    }
}

/// Orders a graph with the default algorithms and places its tensors, without printing a report.
pub fn over_orders(graph: &Graph, liveness: LivenessOptions, effort: EffortArgs) -> Result<Tried, Failure> {
    let registry = plimsoll::registry();
    let order = choose::named(&registry.orders, "exact", "order")?;
    let solver = choose::named(&registry.offsets, "exact", "solver")?;
    let run = GraphRun { liveness, order, setup: effort.setup(), limits: effort.limits() };
    let scheme = scheme("exclusive")?;
    if is_program(graph, scheme) {
        program::tried(ControlArgs::default(), graph, &run, scheme, (solver, None))
    } else {
        straight::tried(graph, &run, Placement::After(solver))
    }
}

/// Returns true if a graph is planned as a program, in which all regions form one sequence of points.
fn is_program(graph: &Graph, scheme: &SchemeEntry) -> bool {
    graph.regions().len() > 1 || scheme.scheme == Scheme::Naive
}

/// Plans with conflicts derived from the structure of the graph instead of from lifespans.
fn by_conflicts(args: &PlanArgs, registry: &Registry, order: &'static Entry<Orders>) -> Result<u8, Failure> {
    let compared = matches!(args.conflicts, Some(ConflictsArg::Compare));
    let files = [&args.instance, &args.orders, &args.plot];
    if compared && (files.iter().any(|file| file.is_some()) || args.problem.is_some() || args.with_layout) {
        let message = "--conflicts compare solves several problems and does not support --problem, --instance, --orders, --plot or --with-layout";
        return Err(Failure::input(message));
    }
    output::check_targets(&[&args.instance, &args.orders, &args.output, &args.plot], &args.model.files())?;
    let import = args.model.read()?;
    let limits = if compared { args.effort.limits_each() } else { args.effort.limits() };
    let run = GraphRun { liveness: args.liveness.options(), order, setup: args.effort.setup(), limits };
    let run = run.with_final_order();
    let done = match args.conflicts {
        Some(ConflictsArg::By(relation)) => structure::plan(args, &import, &run, relation, registry),
        _ => relations::relations(args, &import, &run, registry),
    };
    done.map_err(|failure| failure.about(&args.model.model))
}

fn scheme(name: &str) -> Result<&'static SchemeEntry, Failure> {
    SchemeEntry::named(name).ok_or_else(|| {
        let known: Vec<&str> = SCHEMES.iter().map(|entry| entry.name).collect();
        Failure::input(format!("--branches: unknown scheme '{name}' (known: {})", known.join(", ")))
    })
}
