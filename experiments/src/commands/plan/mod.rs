//! `plimsoll plan`: from a model to a memory plan.

mod compare;
mod program;
mod straight;

use super::choose;
use crate::cli::PlanArgs;
use crate::failure::Failure;
use crate::output;
use plimsoll::branches::{SCHEMES, Scheme, SchemeEntry};
use plimsoll::graphs::{GraphRun, Placement};
use std::time::Duration;

/// Limit of every run of a comparison that was given none.
const COMPARE_LIMIT: Duration = Duration::from_secs(10);

/// Runs the command.
pub fn main(args: &PlanArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let order = choose::named(&registry.orders, &args.order, "order")?;
    let placement = match &args.joint {
        Some(name) => Placement::Joint(choose::named(&registry.joint, name, "joint solver")?),
        None => Placement::After(choose::named(&registry.offsets, &args.solver, "solver")?),
    };
    let scheme = scheme(&args.branches)?;
    let outputs = [&args.instance, &args.orders, &args.output, &args.tensors, &args.plot];
    output::check_targets(&outputs, &[&args.model.model])?;
    let import = args.model.read()?;
    let mut limits = args.effort.limits();
    if args.compare && limits.time.is_none() && limits.nodes.is_none() {
        // Some of the problems compared with are harder than the best: they must not keep it waiting.
        limits.time = Some(COMPARE_LIMIT);
    }
    let run = GraphRun { liveness: args.liveness.options(), order, setup: args.effort.setup(), limits };
    let controlled = import.graph.regions().len() > 1;
    let done = match placement {
        Placement::Joint(_) if controlled => {
            let message = "--joint: order and layout together are not solved where operators own regions";
            Err(Failure::input(message))
        }
        Placement::After(solver) if args.compare => compare::compare(args, &import, &run, &registry, solver),
        Placement::After(solver) if controlled || scheme.scheme == Scheme::Naive => {
            program::plan(args, import, &run, scheme, solver)
        }
        _ => straight::plan(args, import, &run, placement),
    };
    done.map_err(|failure| failure.about(&args.model.model))
}

fn scheme(name: &str) -> Result<&'static SchemeEntry, Failure> {
    SchemeEntry::named(name).ok_or_else(|| {
        let known: Vec<&str> = SCHEMES.iter().map(|entry| entry.name).collect();
        Failure::input(format!("unknown way to plan branches '{name}'; known are {}", known.join(", ")))
    })
}
