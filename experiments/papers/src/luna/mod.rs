//! Memory of control-flow graphs: reuse by three strategies, branches merged into blocks, transfers overlapped with
//! computation.

mod against;
mod figures;
mod memory;
mod models;
mod printed;
mod startup;
mod timed;
mod times;

use crate::{Context, Params, ReproduceError, Reproduction, named, sheet};
use models::StandIn;
use plimsoll::branches::{BranchError, Comparison, OrderedProgram, compare, held, ordered_program};
use plimsoll::graphs::{GraphRun, GraphRunError};
use plimsoll::run::Limits;
use plimsoll_model::Bytes;
use plimsoll_model::execution::ExecutionOptions;
use plimsoll_model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll_model::overlap::Machine;
use plimsoll_model::program::ProgramOptions;
pub use printed::Printed;
use serde::{Deserialize, Serialize};
pub use times::PrintedTimes;

/// A graph planned by every scheme.
#[derive(Debug)]
struct Measured {
    comparison: Comparison,
    /// What blocks make a plan hold at a time, however well they are packed.
    held: Bytes,
}

/// A file of the corpora in the place of a model of the paper.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Model {
    pub folder: String,
    pub file: String,
    pub paper: String,
    pub differs: String,
}

/// A way to join two models as the branches of one operator.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Joined {
    pub name: String,
    pub trunk: bool,
    pub handed: bool,
    pub differs: String,
}

/// A generated graph in the place of a model of the paper.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Generated {
    pub paper: String,
    pub family: String,
    pub params: Params,
}

/// A family of generated graphs on which merging is held against the optimum.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Family {
    pub name: String,
    pub seeds: u64,
    pub sets: Vec<Params>,
}

/// What the paper prints, and what is tried beside it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Inputs {
    pub tables: Vec<Printed>,
    pub best_gain: f64,
    pub times: Vec<PrintedTimes>,
    pub best_overlap: u64,
    pub shares: Vec<(String, f64)>,
    pub machine: String,
    pub models: Vec<Model>,
    pub joined: Vec<Joined>,
    pub generated: Vec<Generated>,
    pub families: Vec<Family>,
}

impl Default for Inputs {
    fn default() -> Self {
        sheet::inputs("luna")
    }
}

/// Computes everything again from these inputs.
///
/// # Errors
/// [`ReproduceError`]: a model cannot be read, a run failed, or plans contradict each other.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::of("luna");
    found.fact("inputs", inputs);
    let stand_ins = models::stand_ins(inputs, context, &mut found)?;
    let measure = |one: &StandIn| measure(context, &one.graph, Boundary::Outside, context.limits);
    let measured = stand_ins.iter().map(measure).collect::<Result<Vec<_>, _>>()?;
    memory::tables(inputs, &stand_ins, &measured, &mut found);
    times::arithmetic(&inputs.times, inputs.best_overlap, &mut found);
    let machine = Machine::find(&inputs.machine).map_err(ReproduceError::defect)?;
    overlap(context, &stand_ins, &inputs.times, &machine, &mut found)?;
    figures::draw(context, &inputs.tables, &stand_ins, &measured, &mut found)?;
    against::answer(&against::sample(inputs, context, &stand_ins, measured)?, &mut found);
    found.finish()
}

/// Table 3: ping-pong on a machine, and start-ups.
fn overlap(
    context: &Context<'_>,
    stand_ins: &[StandIn],
    rows: &[PrintedTimes],
    machine: &Machine,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let measured = timed::measure(context, stand_ins, rows, machine)?;
    timed::table(&measured, rows, machine, found);
    startup::startup(&measured, machine, found)
}

fn options(boundary: Boundary) -> ProgramOptions {
    let liveness =
        LivenessOptions { boundary, states: boundary == Boundary::Arena, ..LivenessOptions::default() };
    ProgramOptions { liveness, ..ProgramOptions::default() }
}

/// The program of a graph, operators in the order of the file.
fn in_order<'g>(
    context: &Context<'_>,
    graph: &'g Graph,
    boundary: Boundary,
) -> Result<OrderedProgram<'g>, ReproduceError> {
    let options = options(boundary);
    let order = named(&context.registry.orders, "as-in-file")?;
    let run = GraphRun { liveness: options.liveness, order, setup: context.setup, limits: context.limits };
    ordered_program(graph, &run, options).map_err(|error| branches(graph, &error))
}

/// Plans a graph by every scheme; a broken chain is an error.
fn measure(
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

fn branches(graph: &Graph, error: &BranchError) -> ReproduceError {
    let message = format!("{}: {error}", graph.name());
    if matches!(error, BranchError::Nothing { .. }) {
        ReproduceError::Limit(message)
    } else {
        ReproduceError::Defect(message)
    }
}

fn graphs(error: &GraphRunError) -> ReproduceError {
    let message = error.to_string();
    if matches!(error, GraphRunError::Nothing { .. }) {
        ReproduceError::Limit(message)
    } else {
        ReproduceError::Defect(message)
    }
}
