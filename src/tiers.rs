//! Tier problems of whole graphs, with or without fusion. A solution assigns every tensor to a memory.

use crate::graphs::{GraphRun, GraphRunError, OrderedRegion};
use crate::run::{Limits, run};
use plimsoll_model::fusion::{
    Coverage, Fusion, FusionProblem, Patterns, TooManyMatches, UnitRule, UnitsError,
};
use plimsoll_model::graph::Graph;
use plimsoll_model::orders::{Order, check_order};
use plimsoll_model::tiers::{
    Addresses, TierError, TierMachine, TierOptions, TierProblem, TierRegion, TierTimes,
};
use plimsoll_model::{OperatorId, Setup, Silent, UnitId};
use plimsoll_solvers::fusion::ENTRIES as FUSIONS;

/// The reason why a graph does not define a tier problem on a machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TierCaseError {
    /// A region cannot be ordered.
    #[error(transparent)]
    Order(#[from] GraphRunError),
    /// An operator cannot run on any unit.
    #[error(transparent)]
    Units(#[from] UnitsError),
    /// The patterns match too often to list all matches.
    #[error(transparent)]
    Matches(#[from] TooManyMatches),
    /// The fusion failed.
    #[error("fusion: {0}")]
    Fusion(String),
    /// A size or a time is out of range.
    #[error(transparent)]
    Problem(#[from] TierError),
    /// The graph has no body. This cannot happen for a valid graph.
    #[error("the graph has no body")]
    NoBody,
    /// The total compute time overflows.
    #[error("the total compute time of the operators overflows (64-bit picoseconds)")]
    TooLong,
}

/// The settings under which operators are fused.
#[derive(Clone, Copy, Debug)]
pub struct Fusing<'a> {
    /// The chains of operators that may be fused.
    pub patterns: &'a Patterns,
    /// Whether a group may span several units.
    pub rule: UnitRule,
}

/// The settings under which a graph becomes a tier problem.
#[derive(Clone, Copy, Debug)]
pub struct TierSetting<'a> {
    /// The processing units and memories.
    pub machine: &'a TierMachine,
    /// Liveness options, limits and the order algorithm. If operators are fused, the order of the body is not
    /// used. The liveness options must keep inputs and outputs inside the arena.
    pub run: GraphRun<'a>,
    /// How operators of the body are fused; `None` if each operator runs on its own. Groups run in
    /// topological order. Among the ready groups, the one with the earliest operator comes next.
    pub fusing: Option<Fusing<'a>>,
    /// Whether a plan assigns addresses or only counts bytes.
    pub addresses: Addresses,
    /// True if inputs and outputs of the graph stay off chip.
    pub boundary_off_chip: bool,
}

/// The tier problem of the body of a graph, and the other costs of a run.
#[derive(Clone, Debug)]
pub struct TierCase {
    /// The tier problem. All regions owned by an operator count as one block.
    pub problem: TierProblem,
    /// Times of computations, operator starts and weight transfers.
    pub times: TierTimes,
    /// Number of relations within groups, out of all relations (cross-unit fusion, eq. 3).
    pub coverage: Coverage,
    /// Number of groups.
    pub groups: usize,
}

/// Builds the tier problem of the body of a graph.
///
/// # Errors
/// See [`TierCaseError`].
pub fn tier_case(graph: &Graph, setting: &TierSetting<'_>) -> Result<TierCase, TierCaseError> {
    let units = setting.machine.assign(graph)?;
    let limits = setting.run.limits;
    let mut regions = GraphRun { limits: limits.share(3), ..setting.run }.order(graph)?;
    let Some(body) = regions.pop() else { return Err(TierCaseError::NoBody) };
    let fusion = match setting.fusing {
        None => Fusion::none(graph, Graph::BODY),
        Some(fusing) => fused(graph, &units, fusing, limits.share(2))?,
    };
    let mut groups = vec![usize::MAX; graph.operators().len()];
    for (group, members) in fusion.groups().iter().enumerate() {
        for id in members {
            groups[id.index()] = group;
        }
    }
    let order = if setting.fusing.is_some() { in_groups(&body, &fusion)? } else { body.order.clone() };
    let options = TierOptions {
        addresses: setting.addresses,
        boundary_off_chip: setting.boundary_off_chip,
        groups: Some(&groups),
    };
    let (storages, machine) = (&body.storages, setting.machine);
    let region = TierRegion { graph, storages, order: &order, machine, units: &units };
    let problem = region.problem(options)?;
    let times = region.times(options, setting.run.liveness.weights).ok_or(TierCaseError::TooLong)?;
    Ok(TierCase { problem, times, coverage: fusion.coverage(graph), groups: fusion.groups().len() })
}

/// Returns the fusion of greatest coverage found within the limits.
fn fused(
    graph: &Graph,
    units: &[UnitId],
    fusing: Fusing<'_>,
    limits: Limits,
) -> Result<Fusion, TierCaseError> {
    let own = graph.region(Graph::BODY).operators.iter().map(|id| units[id.index()]);
    let problem =
        FusionProblem::new(graph, Graph::BODY, fusing.patterns, &own.collect::<Vec<_>>(), fusing.rule)?;
    let found = run(&FUSIONS[0], &problem, Setup::default(), limits, &mut Silent);
    let chosen = found.map_err(|error| TierCaseError::Fusion(error.to_string()))?.solution;
    let chosen = chosen.unwrap_or_default();
    let fused = problem.fused(graph, &chosen);
    Ok(fused.map_err(|error| TierCaseError::Fusion(error.to_string()))?.fusion)
}

/// Returns the order that runs the groups one at a time.
fn in_groups(body: &OrderedRegion, fusion: &Fusion) -> Result<Order, TierCaseError> {
    let own = body.storages.operators.iter().enumerate();
    let place: std::collections::HashMap<OperatorId, OperatorId> =
        own.map(|(at, &id)| (id, OperatorId::at(at))).collect();
    let order = Order::new(fusion.groups().iter().flatten().map(|id| place[id]).collect());
    match check_order(&body.storages.problem, &order).first() {
        None => Ok(order),
        Some(fault) => Err(TierCaseError::Fusion(format!("the groups have no valid order: {fault}"))),
    }
}
