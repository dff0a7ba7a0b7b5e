//! Spilling of graphs and instances: what tensors would move, whether a capacity can be met, and the reason where not.

use crate::graphs::OrderedRegion;
use crate::run::{Limits, RunError, run};
use plimsoll_model::graph::{Alias, AliasKind, Graph, Operator};
use plimsoll_model::orders::OrderError;
use plimsoll_model::{
    BufferId, Bytes, Claim, Entry, Instance, LowerBound, Offsets, Setup, Silent, SolveError, Stop, TensorId,
};
use plimsoll_solvers::spilling::{Fits, Irreducible, fits, irreducible};
use std::collections::HashMap;

/// Nodes of every decision about a set that may not fit, where no limit is given.
const PATIENCE: u64 = 200_000;

/// Bytes moved per storage of a region, and per block that operators need while they run: none of these may be spilled.
///
/// Every operator that makes a tensor writes its bytes, every operator that reads it reads them, and one that owns regions
/// reads once what they read from outside. A view moves nothing. O(what operators read and make).
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
        let made =
            operator.outputs.iter().filter(|output| !viewed.iter().any(|alias| alias.output == **output));
        made.for_each(|&output| count(output));
        // What is only looked at in another shape is not read.
        let only_viewed = |input: &TensorId| {
            viewed.iter().any(|alias| alias.input == *input) && viewed.len() == operator.outputs.len()
        };
        graph.reads(id).into_iter().filter(|input| !only_viewed(input)).for_each(count);
    }
    let mut traffic: Vec<Option<Bytes>> = moved.into_iter().map(|bytes| Some(Bytes::new(bytes))).collect();
    traffic.resize(buffers, None);
    traffic
}

/// Outputs that are their input's memory.
fn views<'a>(operator: &'a Operator, shares: &dyn Fn(TensorId, TensorId) -> bool) -> Vec<&'a Alias> {
    let is_view = |alias: &&Alias| alias.kind == AliasKind::View && shares(alias.input, alias.output);
    operator.aliases.iter().filter(is_view).collect()
}

/// The offset problem of a region in order, with a capacity.
///
/// # Errors
/// Sizes whose sum leaves 63 bits.
pub fn region_instance(
    region: &OrderedRegion,
    align: Bytes,
    capacity: Bytes,
) -> Result<Instance, OrderError> {
    Ok(region.storages.problem.instance(&region.order, align)?.with_capacity(Some(capacity)))
}

/// What a capacity lacks, and why.
#[derive(Clone, Debug)]
pub struct Shortage {
    /// The least peak known without spilling; above the capacity. None where nothing was found within the limits.
    pub peak: Option<Bytes>,
    /// No layout is lower than this.
    pub bound: LowerBound,
    /// Buffers that do not fit together.
    pub reason: Irreducible,
}

/// Whether everything fits.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// It does.
    Met,
    /// It does not.
    Short(Box<Shortage>),
    /// Undecided within the limits.
    Unknown(Stop),
}

/// Decides whether everything fits within the capacity; if not, finds by how much it does not, and buffers of which none can
/// be left out. Each of the three steps within the limits; those with a deadline share the time up to it.
///
/// # Errors
/// Broken machinery, or an answer that the checker refused.
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
    let patience = unlimited.then_some(PATIENCE);
    let mut part = limits.share(2).budget();
    let core = irreducible(instance, &all, &reason, patience, setup, &mut part).map_err(solve)?;
    let free = instance.clone().with_capacity(None);
    let limits = if unlimited { Limits { nodes: Some(PATIENCE), ..limits } } else { limits };
    let outcome = run(entry, &free, setup, limits, &mut Silent).result?;
    let found = matches!(outcome.claim, Claim::Optimal | Claim::Feasible);
    let mut bound = outcome.lower_bound;
    bound.raise(reason);
    let peak = outcome.value.filter(|_| found);
    Ok(Capacity::Short(Box::new(Shortage { peak, bound, reason: core })))
}
