//! Memory of control-flow graphs (LUNA paper): reuse with three strategies, branches merged into blocks, and
//! transfers overlapped with computation.

mod against;
mod figures;
mod inputs;
mod measured;
mod memory;
mod models;
mod printed;
mod startup;
mod timed;
mod times;

use crate::{Context, ReproduceError, Reproduction};
pub use inputs::{Family, Generated, Inputs, Joined, Model};
use measured::measure;
use models::StandIn;
use plimsoll_model::graph::Boundary;
use plimsoll_model::timelines::Machine;
pub use printed::Printed;
pub use times::PrintedTimes;

/// Recomputes the results from these inputs.
///
/// # Errors
/// [`ReproduceError`] if a model cannot be read, a run fails, or plans contradict each other.
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

/// Computes table 3: the gain of ping-pong on a machine, and how this gain depends on the setup latency.
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
