//! Memory of control-flow graphs: reuse by three strategies, branches merged into blocks, transfers overlapped with
//! computation (SOURCES S0).

mod against;
mod answer;
mod figures;
mod models;
mod printed;
mod rows;
mod startup;
mod tables;
mod timed;
mod times;

use super::{Context, ReproduceError, Reproduction, named};
use models::StandIn;
use plimsoll::branches::{Comparison, OrderedProgram, compare, held, ordered_program};
use plimsoll::graphs::GraphRun;
use plimsoll::run::Limits;
use plimsoll_model::Bytes;
use plimsoll_model::execution::ExecutionOptions;
use plimsoll_model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll_model::overlap::Machine;
use plimsoll_model::program::ProgramOptions;

/// A graph planned by every scheme.
#[derive(Debug)]
struct Measured {
    comparison: Comparison,
    /// What blocks make a plan hold at a time, however well they are packed.
    held: Bytes,
}

pub use printed::Printed;
pub use times::PrintedTimes;

/// What the paper prints, and how much is tried beside it.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Tables 1 and 2.
    pub tables: Vec<Printed>,
    /// The best gain of merging that text and abstract claim, percent.
    pub best_gain: f64,
    /// Table 3.
    pub times: Vec<PrintedTimes>,
    /// The best gain of overlap that abstract and conclusion claim, percent.
    pub best_overlap: u64,
    /// Shares of memory at run time that intermediate tensors take, as cited in the introduction: network, percent.
    pub shares: Vec<(&'static str, f64)>,
    /// The machine of table 3, a preset.
    pub machine: &'static str,
    /// Seeds per set of parameters of the generated graphs, at most.
    pub seeds: u64,
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            tables: printed::PRINTED.to_vec(),
            best_gain: 5.9,
            times: times::ROWS.to_vec(),
            best_overlap: 29,
            shares: vec![("Inception v3", 37.0), ("MobileNet v2", 63.0)],
            machine: "luna",
            seeds: u64::MAX,
        }
    }
}

/// Computes everything again.
pub(super) fn run(context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    reproduce(&Inputs::default(), context)
}

/// Computes everything again from these inputs.
///
/// # Errors
/// [`ReproduceError`]: a model cannot be read, a run failed, or plans contradict each other.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    let Inputs { tables, times: rows, .. } = inputs;
    printed::arithmetic(tables, inputs.best_gain, &mut found);
    times::arithmetic(rows, inputs.best_overlap, &mut found);
    times::splits(rows, &mut found);
    found.section("What stands in for the paper's models");
    let stand_ins = models::stand_ins(context, &mut found)?;
    found.line("the paper's models are not public");
    found.line("inputs, outputs, states and weights lie outside of the arena, as in the paper; views share memory; operators run in the order of the file; what a branch makes is copied to the result of its operator, and loops hold their state as long as they run");
    let measure = |one: &StandIn| measure(context, &one.graph, Boundary::Outside, context.limits);
    let measured = stand_ins.iter().map(measure).collect::<Result<Vec<_>, _>>()?;
    rows::memory(inputs, &stand_ins, &measured, &mut found);
    tables::before(tables, &stand_ins, &measured, &mut found);
    tables::after(tables, &stand_ins, &measured, &mut found);
    overlap(context, &stand_ins, rows, &Machine::find(inputs.machine)?, &mut found)?;
    rows::claims(inputs, &mut found);
    figures::draw(context, tables, &stand_ins, &measured, &mut found)?;
    let sampled = against::sample(context, &stand_ins, measured, inputs.seeds.min(context.seeds))?;
    answer::answer(&sampled, &mut found);
    Ok(found)
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
    rows::times(rows, &measured, machine, found);
    timed::table(&measured, rows, machine, found);
    timed::write(&measured, rows, found);
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
    ordered_program(graph, &run, options).map_err(|source| branches(graph, source))
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
        .map_err(|source| branches(graph, source))?;
    if let Some(broken) = comparison.broken() {
        let (graph, source) = (graph.name().to_owned(), Box::new(broken));
        return Err(ReproduceError::Contradiction { graph, source });
    }
    let held = held(&program).map_err(|source| branches(graph, source.into()))?;
    Ok(Measured { comparison, held })
}

fn branches(graph: &Graph, source: plimsoll::branches::BranchError) -> ReproduceError {
    ReproduceError::Branches { graph: graph.name().to_owned(), source: Box::new(source) }
}
