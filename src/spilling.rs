//! Spilling in graphs and instances. This module computes the traffic of every tensor. It also decides
//! whether all buffers fit within a capacity, and proves it if they do not.

use crate::graphs::OrderedRegion;
use crate::run::{Limits, RunError, run};
use plimsoll_model::graph::{Alias, AliasKind, Graph, Operator};
use plimsoll_model::orders::OrderError;
use plimsoll_model::{
    BufferId, Bytes, Claim, Entry, Instance, LowerBound, Offsets, Setup, Silent, SolveError, Stop, TensorId,
};
use plimsoll_solvers::spilling::{Fits, Irreducible, fits, irreducible};
use std::collections::HashMap;

/// Node limit of each decision in the search for a minimal set, and of the search for the lowest peak. It
/// applies if neither time nor nodes are limited.
const DECISION_NODES: u64 = 200_000;

/// Returns, for every buffer of the offset problem of a region, the bytes moved if it is spilled; `None` for
/// scratch memory and blocks, which cannot be spilled.
///
/// The operator that produces a tensor writes its bytes, and every operator that consumes it reads them. For
/// an operator with regions, each tensor that its regions capture from outside is read once. A view moves no
/// bytes. Takes time linear in the number of inputs and outputs of all operators.
pub fn graph_traffic(graph: &Graph, region: &OrderedRegion, buffers: usize) -> Vec<Option<Bytes>> {
    let storages = &region.storages;
    let mut place: HashMap<TensorId, usize> = HashMap::new();
    for (at, tensors) in storages.tensors.iter().enumerate() {
        place.extend(tensors.iter().map(|&tensor| (tensor, at)));
    }
    let mut moved = vec![0u64; storages.tensors.len()];
    for &id in &storages.operators {
        let operator = graph.operator(id);
        let mut count = |tensor: TensorId| {
            if let Some(&at) = place.get(&tensor) {
                moved[at] = moved[at].saturating_add(graph.tensor(tensor).bytes.get());
            }
        };
        let shares = |a: TensorId, b: TensorId| place.contains_key(&a) && place.get(&a) == place.get(&b);
        let viewed = views(operator, &shares);
        let written =
            operator.outputs.iter().filter(|output| !viewed.iter().any(|alias| alias.output == **output));
        written.for_each(|&output| count(output));
        // An operator whose outputs are all views does not read the viewed input.
        let only_viewed = |input: &TensorId| {
            viewed.iter().any(|alias| alias.input == *input) && viewed.len() == operator.outputs.len()
        };
        graph.reads(id).into_iter().filter(|input| !only_viewed(input)).for_each(count);
    }
    let mut traffic: Vec<Option<Bytes>> = moved.into_iter().map(|bytes| Some(Bytes::new(bytes))).collect();
    traffic.resize(buffers, None);
    traffic
}

/// Returns the aliases whose output occupies the memory of the input.
fn views<'a>(operator: &'a Operator, shares: &dyn Fn(TensorId, TensorId) -> bool) -> Vec<&'a Alias> {
    let is_view = |alias: &&Alias| alias.kind == AliasKind::View && shares(alias.input, alias.output);
    operator.aliases.iter().filter(is_view).collect()
}

/// Returns the offset problem of an ordered region, with a capacity in bytes.
///
/// # Errors
/// Returns an error if the sizes add up to 2^63 bytes or more.
pub fn region_instance(
    region: &OrderedRegion,
    align: Bytes,
    capacity: Bytes,
) -> Result<Instance, OrderError> {
    Ok(region.storages.problem.instance(&region.order, align)?.with_capacity(Some(capacity)))
}

/// A proof that the buffers do not fit within a capacity, and the peak that they need.
#[derive(Clone, Debug)]
pub struct Shortage {
    /// The lowest known peak without spilling, in bytes. It exceeds the capacity. `None` if no layout was
    /// found within the limits.
    pub peak: Option<Bytes>,
    /// A lower bound on the peak of every layout.
    pub bound: LowerBound,
    /// A set of buffers that do not fit together. It is minimal if its list `doubtful` is empty.
    pub reason: Irreducible,
}

/// Whether all buffers fit within a capacity.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// All buffers fit.
    Met,
    /// Not all buffers fit.
    Short(Box<Shortage>),
    /// The question is undecided; the reason is the limit that was reached.
    Unknown(Stop),
}

/// Decides whether all buffers fit within the capacity. If they do not fit, also searches for the lowest peak
/// and a minimal set of buffers that do not fit together.
///
/// The limits apply separately to each of these three computations. If the limits contain a deadline, the
/// computations share the time until it.
///
/// # Errors
/// Returns an error if an algorithm fails, or if the checker rejects its answer.
pub fn capacity(
    instance: &Instance,
    entry: &Entry<Offsets>,
    setup: Setup,
    limits: Limits,
) -> Result<Capacity, RunError> {
    let solve = |error: SolveError| RunError::Solve(error);
    let reason = match fits(instance, setup, &mut limits.share(3).budget()).map_err(solve)? {
        Fits::Layout(_) => return Ok(Capacity::Met),
        Fits::Unknown(stop) => return Ok(Capacity::Unknown(stop)),
        Fits::Never(reason) => reason,
    };
    let unlimited = limits.time.is_none() && limits.nodes.is_none();
    let all: Vec<BufferId> = instance.ids().collect();
    let patience = unlimited.then_some(DECISION_NODES);
    let mut part = limits.share(2).budget();
    let core = irreducible(instance, &all, &reason, patience, setup, &mut part).map_err(solve)?;
    let free = instance.clone().with_capacity(None);
    let limits = if unlimited { Limits { nodes: Some(DECISION_NODES), ..limits } } else { limits };
    let outcome = run(entry, &free, setup, limits, &mut Silent).result?;
    let found = matches!(outcome.claim, Claim::Optimal | Claim::Feasible);
    let mut bound = outcome.lower_bound;
    bound.raise(reason);
    let peak = outcome.value.filter(|_| found);
    Ok(Capacity::Short(Box::new(Shortage { peak, bound, reason: core })))
}
