//! `plimsoll plan`: plans the memory of a model.

mod args;
mod capacity;
mod compare;
mod program;
mod relations;
mod straight;
mod structure;

use super::choose;
use crate::failure::Failure;
use crate::output;
use args::ConflictsArg;
pub use args::PlanArgs;
use plimsoll::Registry;
use plimsoll::branches::{SCHEMES, Scheme, SchemeEntry};
use plimsoll::graphs::{GraphRun, Placement};
use plimsoll::model::{Entry, Orders};

pub fn main(args: &PlanArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let order = choose::named(&registry.orders, &args.order, "order")?;
    if args.conflicts.is_some() {
        return by_conflicts(args, &registry, order);
    }
    let placement = match &args.joint {
        Some(name) => Placement::Joint(choose::named(&registry.joint, name, "joint solver")?),
        None => Placement::After(choose::named(&registry.offsets, &args.solver, "solver")?),
    };
    let scheme = scheme(&args.branches)?;
    let outputs = [&args.instance, &args.orders, &args.output, &args.tensors, &args.plot];
    output::check_targets(&outputs, &[&args.model.model])?;
    let import = args.model.read()?;
    // Some schemes pose harder problems than others, so each scheme gets its own limits.
    let limits = if args.compare { args.effort.limits_each() } else { args.effort.limits() };
    let run = GraphRun { liveness: args.liveness.options(), order, setup: args.effort.setup(), limits };
    let controlled = import.graph.regions().len() > 1;
    let done = match placement {
        Placement::Joint(joint) if controlled => {
            let solver = choose::named(&registry.offsets, &args.solver, "solver")?;
            program::plan(args, &import, &run, &registry, scheme, (solver, Some(joint)))
        }
        Placement::After(solver) if args.compare => compare::compare(args, &import, &run, &registry, solver),
        Placement::After(solver) if controlled || scheme.scheme == Scheme::Naive => {
            program::plan(args, &import, &run, &registry, scheme, (solver, None))
        }
        _ => straight::plan(args, &import, &run, &registry, placement),
    };
    done.map_err(|failure| failure.about(&args.model.model))
}

/// Plans with conflicts derived from the structure of the graph instead of from lifespans.
fn by_conflicts(args: &PlanArgs, registry: &Registry, order: &'static Entry<Orders>) -> Result<u8, Failure> {
    let compared = matches!(args.conflicts, Some(ConflictsArg::Compare));
    let files = [&args.instance, &args.orders, &args.plot];
    if compared && (files.iter().any(|file| file.is_some()) || args.problem.is_some() || args.with_layout) {
        let message = "--conflicts compare solves several problems and does not support --problem, --instance, --orders, --plot or --with-layout";
        return Err(Failure::input(message));
    }
    output::check_targets(&[&args.instance, &args.orders, &args.output, &args.plot], &[&args.model.model])?;
    let import = args.model.read()?;
    let limits = if compared { args.effort.limits_each() } else { args.effort.limits() };
    let run = GraphRun { liveness: args.liveness.options(), order, setup: args.effort.setup(), limits };
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
