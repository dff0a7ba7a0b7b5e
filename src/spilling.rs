//! Spilling in graphs and instances. This module computes the traffic of every tensor. It also decides
//! whether all buffers fit within a capacity, and proves it if they do not.

use crate::graphs::OrderedRegion;
use crate::run::{Limits, RunError, run};
use plimsoll_model::graph::{Alias, AliasKind, Graph};
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
    let mut place: HashMap<TensorId, (usize, i64)> = HashMap::new();
    for (at, members) in storages.tensors.iter().enumerate() {
        place.extend(members.iter().map(|one| (one.tensor, (at, one.offset.get() as i64))));
    }
    let bytes = |tensor: TensorId| graph.tensor(tensor).bytes.get();
    let lies_there = |view: &&Alias| {
        let (input, output) = (place.get(&view.input), place.get(&view.output));
        let distance = graph.displacement(view);
        view.kind != AliasKind::InPlace
            && input.is_some_and(|&(at, offset)| output == Some(&(at, offset + distance)))
    };
    let mut moved = vec![0u64; storages.tensors.len()];
    for &id in &storages.operators {
        let operator = graph.operator(id);
        let mut count = |tensor: TensorId, bytes: u64| {
            if let Some(&(at, _)) = place.get(&tensor) {
                moved[at] = moved[at].saturating_add(bytes);
            }
        };
        let views: Vec<&Alias> = operator.aliases.iter().filter(lies_there).collect();
        // The bytes of an output that the operator does not write, because they lie in inputs.
        let viewed = |output: TensorId| -> u64 {
            let own = views.iter().filter(|view| view.output == output);
            own.map(|view| bytes(view.input)).sum::<u64>().min(bytes(output))
        };
        operator.outputs.iter().for_each(|&output| count(output, bytes(output) - viewed(output)));
        let copies_nothing = operator.outputs.iter().all(|&output| viewed(output) == bytes(output));
        let is_read = |input: &TensorId| {
            let is_part = |view: &&Alias| bytes(view.input) < bytes(view.output);
            !views.iter().any(|view| view.input == *input && (copies_nothing || is_part(view)))
        };
        graph.reads(id).into_iter().filter(is_read).for_each(|input| count(input, bytes(input)));
    }
    let mut traffic: Vec<Option<Bytes>> = moved.into_iter().map(|bytes| Some(Bytes::new(bytes))).collect();
    traffic.resize(buffers, None);
    traffic
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
    let outcome = run(entry, &free, setup, limits, &mut Silent)?;
    let found = matches!(outcome.claim, Claim::Optimal | Claim::Feasible);
    let mut bound = outcome.lower_bound;
    bound.raise(reason);
    let peak = outcome.value.filter(|_| found);
    Ok(Capacity::Short(Box::new(Shortage { peak, bound, reason: core })))
}
