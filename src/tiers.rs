//! Tensors of whole graphs in tiers of memory: fused or not, placed, checked.

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
use plimsoll_solvers::FUSIONS;

/// Why a graph has no tier problem on a machine.
#[derive(Debug, thiserror::Error)]
pub enum TierCaseError {
    /// It cannot be ordered.
    #[error(transparent)]
    Order(#[from] GraphRunError),
    /// An operator that no unit runs.
    #[error(transparent)]
    Units(#[from] UnitsError),
    /// Too much to fuse.
    #[error(transparent)]
    Matches(#[from] TooManyMatches),
    /// Fusing failed.
    #[error("fusion: {0}")]
    Fusion(String),
    /// Sizes or times out of range.
    #[error(transparent)]
    Problem(#[from] TierError),
    /// Never: a graph has a body.
    #[error("a graph without a body")]
    NoBody,
    /// Computations longer than time can say.
    #[error("operators compute longer than time can say")]
    TooLong,
}

/// How operators are fused.
#[derive(Clone, Copy, Debug)]
pub struct Fusing<'a> {
    /// What may be fused.
    pub patterns: &'a Patterns,
    /// Whether groups may span units.
    pub rule: UnitRule,
}

/// How a problem is made of a graph.
#[derive(Clone, Copy, Debug)]
pub struct TierSetting<'a> {
    /// Units and memories.
    pub machine: &'a TierMachine,
    /// Liveness, and the order where nothing is fused. Inputs and outputs must be inside the arena.
    pub run: GraphRun<'a>,
    /// How operators of the body are fused; none where each runs on its own. Groups run in the order in which they are complete.
    pub fusing: Option<Fusing<'a>>,
    /// Whether plans need addresses.
    pub addresses: Addresses,
    /// True where inputs and outputs of the graph stay off chip.
    pub boundary_off_chip: bool,
}

/// The problem of the body of a graph, with what a run takes besides.
#[derive(Clone, Debug)]
pub struct TierCase {
    /// Regions that operators own are blocks in it.
    pub problem: TierProblem,
    /// Computations, starts, weights.
    pub times: TierTimes,
    /// Relations within groups (S3, eq. 3).
    pub coverage: Coverage,
    /// Groups there are.
    pub groups: usize,
}

/// The problem of a graph.
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

/// The fusion of greatest coverage that the limits allow.
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
    let chosen = found.result.map_err(|error| TierCaseError::Fusion(error.to_string()))?.solution;
    let chosen = chosen.unwrap_or_default();
    let fused = problem.fused(graph, &chosen);
    Ok(fused.map_err(|error| TierCaseError::Fusion(error.to_string()))?.fusion)
}

/// Group after group.
fn in_groups(body: &OrderedRegion, fusion: &Fusion) -> Result<Order, TierCaseError> {
    let own = body.storages.operators.iter().enumerate();
    let place: std::collections::HashMap<OperatorId, OperatorId> =
        own.map(|(at, &id)| (id, OperatorId::at(at))).collect();
    let order = Order::new(fusion.groups().iter().flatten().map(|id| place[id]).collect());
    match check_order(&body.storages.problem, &order).first() {
        None => Ok(order),
        Some(fault) => Err(TierCaseError::Fusion(format!("its groups are in no order: {fault}"))),
    }
}
