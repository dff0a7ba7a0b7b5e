use super::args::SpillArgs;
use super::traffic;
use crate::commands::choose;
use crate::commands::subject::at_step;
use crate::failure::Failure;
use plimsoll::Registry;
use plimsoll::assumptions::{Assumption, assumptions};
use plimsoll::graphs::GraphRun;
use plimsoll::model::csv::Pins;
use plimsoll::model::{Bytes, Entry, Instance, Offsets, SpillProblem, Witness, written_and_read};
use plimsoll::run::{Limits, RunError};
use plimsoll::spilling::{Capacity, capacity, graph_traffic, region_instance};
use plimsoll_lab::report::Basis;
use std::fmt::Display;

/// The problem to solve, and the basis of its sizes.
pub struct Input {
    pub problem: SpillProblem,
    pub basis: Basis,
    /// The assumptions on which claims about a graph rest; empty for an instance.
    pub assumptions: Vec<Assumption>,
    /// What happens at each step of a graph; empty for an instance.
    steps: Vec<String>,
    /// The origin of the capacity: the file name or an option.
    pub capacity_from: Option<&'static str>,
}

impl Input {
    /// Describes a witness with the names of its buffers. If the witness is a step of a graph, the
    /// description ends with what happens at that step.
    pub fn words(&self, witness: &Witness) -> String {
        at_step(witness.in_words(self.problem.instance()), witness, &self.steps)
    }
}

/// Reads the instance, or reads the graph and orders its operators, and determines the traffic of the
/// buffers.
pub fn input(args: &SpillArgs, registry: &Registry, limits: Limits) -> Result<Input, Failure> {
    let about = |failure: Failure| failure.about(&args.model.model);
    let wrong = |reason: &dyn Display| about(Failure::input(reason));
    let (instance, mut traffic, basis, steps, assumptions) = if args.is_instance() {
        let instance = args.input.read(&args.model.model, Pins::Fixed)?.value;
        if instance.capacity().is_none() {
            return Err(wrong(
                &"spill requires a capacity, in the file name (X.1048576.csv) or with --capacity",
            ));
        }
        let traffic = written_and_read(&instance);
        (instance, traffic, Basis::default(), Vec::new(), Vec::new())
    } else {
        let capacity = args.input.capacity.ok_or_else(|| wrong(&"a graph requires --capacity"))?;
        let order = choose::named(&registry.orders, args.order.as_deref().unwrap_or("exact"), "order")?;
        let import = args.model.read()?;
        let liveness = args.liveness.options();
        let ordering = GraphRun { liveness, order, setup: args.effort.setup(), limits: limits.share(3) };
        let regions = ordering.with_final_order().order(&import.graph);
        let regions = regions.map_err(|error| about(error.into()))?;
        let body = regions.last().ok_or_else(|| Failure::internal("the graph has no body"))?;
        let instance = region_instance(body, liveness.align, Bytes::new(capacity));
        let instance = instance.map_err(|error| wrong(&error))?;
        let traffic = graph_traffic(&import.graph, body, instance.len());
        // Buffers are spilled, so this assumption does not hold.
        let mut assumptions = assumptions(&liveness, &import.graph);
        assumptions.retain(|assumption| *assumption != Assumption::Resident);
        (instance, traffic, Basis::of(&import), body.steps(&import.graph), assumptions)
    };
    if let Some(path) = &args.traffic {
        traffic::read(path, &instance, &mut traffic)?;
    }
    for id in &args.keep {
        traffic[traffic::named(&instance, id).map_err(about)?.index()] = None;
    }
    let capacity_from = args.input.capacity_from(&instance);
    let problem = SpillProblem::new(instance, traffic).map_err(|error| wrong(&error))?;
    Ok(Input { problem, basis, assumptions, steps, capacity_from })
}

/// Determines whether all buffers fit without spilling.
pub fn need(
    args: &SpillArgs,
    registry: &Registry,
    instance: &Instance,
    limits: Limits,
) -> Result<Capacity, Failure> {
    let offsets: &Entry<Offsets> = choose::named(&registry.offsets, "exact", "solver")?;
    capacity(instance, offsets, args.effort.setup(), limits).map_err(failed)
}

pub fn failed(error: RunError) -> Failure {
    match &error {
        RunError::Solve(plimsoll::model::SolveError::Unsupported { .. }) => Failure::input(error),
        _ => Failure::internal(error),
    }
}
