//! Plans graphs with every scheme.

use crate::{Context, ReproduceError, named};
use plimsoll::branches::{BranchError, OrderedProgram, SchemeComparison, compare, held, ordered_program};
use plimsoll::graphs::{GraphRun, GraphRunError};
use plimsoll::run::Limits;
use plimsoll_model::Bytes;
use plimsoll_model::execution::ExecutionOptions;
use plimsoll_model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll_model::program::ProgramOptions;

/// The plans of a graph for every scheme.
#[derive(Debug)]
pub(super) struct Measured {
    pub comparison: SchemeComparison,
    /// The maximum total size of simultaneously live blocks and tensors in bytes, which is a lower bound on
    /// the arena of every layout with blocks.
    pub held: Bytes,
}

pub(super) fn options(boundary: Boundary) -> ProgramOptions {
    let liveness =
        LivenessOptions { boundary, states: boundary == Boundary::Arena, ..LivenessOptions::default() };
    ProgramOptions { liveness, ..ProgramOptions::default() }
}

/// Returns the program of a graph, with operators in file order.
pub(super) fn in_order<'g>(
    context: &Context<'_>,
    graph: &'g Graph,
    boundary: Boundary,
) -> Result<OrderedProgram<'g>, ReproduceError> {
    let options = options(boundary);
    let order = named(&context.registry.orders, "as-in-file")?;
    let run = GraphRun { liveness: options.liveness, order, setup: context.setup, limits: context.limits };
    ordered_program(graph, &run, options).map_err(|error| branches(graph, &error))
}

/// Plans a graph with every scheme. An inconsistency between schemes is an error.
pub(super) fn measure(
    context: &Context<'_>,
    graph: &Graph,
    boundary: Boundary,
    limits: Limits,
) -> Result<Measured, ReproduceError> {
    let program = in_order(context, graph, boundary)?.program;
    let exact = named(&context.registry.offsets, "exact")?;
    let execution = ExecutionOptions { seed: context.setup.seed, ..ExecutionOptions::default() };
    let comparison = compare(&program, context.registry, &[exact], context.setup, limits, execution)
        .map_err(|error| branches(graph, &error))?;
    if let Some(broken) = comparison.broken() {
        return Err(ReproduceError::on(graph.name())(broken));
    }
    let held = held(&program).map_err(|error| branches(graph, &error.into()))?;
    Ok(Measured { comparison, held })
}

pub(super) fn branches(graph: &Graph, error: &BranchError) -> ReproduceError {
    let message = format!("{}: {error}", graph.name());
    if matches!(error, BranchError::Nothing { .. }) {
        ReproduceError::Limit(message)
    } else {
        ReproduceError::Defect(message)
    }
}

pub(super) fn graphs(error: &GraphRunError) -> ReproduceError {
    let message = error.to_string();
    if matches!(error, GraphRunError::Nothing { .. }) {
        ReproduceError::Limit(message)
    } else {
        ReproduceError::Defect(message)
    }
}
