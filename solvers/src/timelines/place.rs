//! Finds addresses for the buffers of a timeline with known times.

use super::node::{Case, Node};
use crate::offsets::search::Search;
use plimsoll_model::timelines::{Span, Time, Timeline, TimelineProblem, Transfer};
use plimsoll_model::{
    Budget, Buffer, Bytes, InstanceBuilder, Layout, Lifespan, OperatorId, Setup, Silent, Solver,
};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Placed {
    At(Timeline),
    Nowhere,
    /// The question is undecided: a limit was reached, or there are too many buffers for an exact search.
    Unknown,
}

/// Node limit of an exact search for addresses.
const PLACE_NODES: u64 = 5_000;

/// Maximum number of buffers for an exact search. With more buffers, only greedy placements are tried.
const MOST_PLACED: usize = 60;

#[derive(Clone, Copy)]
struct Held {
    position: usize,
    /// The operator whose weights the buffer contains. `first` is the first operator that has not ended when
    /// the transfer of these weights starts.
    at: usize,
    first: usize,
    start: u64,
    end: u64,
    size: Bytes,
    /// The address below which activations lie while the buffer is live.
    floor: Bytes,
}

/// A key by which a greedy placement sorts buffers in ascending order.
type Key = fn(&Held) -> (u64, u64);

/// Finds addresses for the buffers of a complete node, first greedily and then by exact search. Returns the
/// timeline if addresses are found.
pub(super) fn placed(case: &Case<'_>, node: &Node, budget: &mut Budget) -> Placed {
    let problem = case.problem;
    let held: Vec<Held> = node
        .starts
        .iter()
        .enumerate()
        .map(|(position, &(at, start, _))| {
            let first = node.running(start).min(at);
            let floor = problem.operators()[first..=at].iter().map(|one| one.activations).max();
            let (size, floor) = (problem.buffer(at), floor.unwrap_or(Bytes::ZERO));
            Held { position, at, first, start, end: node.ends[at], size, floor }
        })
        .collect();
    let keys: [Key; 4] = [
        |one| (one.start, 0),
        |one| (u64::MAX - one.size.get(), one.start),
        |one| (u64::MAX - one.floor.get(), one.start),
        |one| (u64::MAX - (one.end - one.start), one.start),
    ];
    let offsets = keys.into_iter().find_map(|key| {
        let mut order = held.clone();
        order.sort_by_key(key);
        greedy(problem, &order)
    });
    match offsets.map_or_else(|| searched(problem, &held, budget), Ok) {
        Ok(offsets) => Placed::At(timeline(case, node, &offsets)),
        Err(verdict) => verdict,
    }
}

fn timeline(case: &Case<'_>, node: &Node, offsets: &[Bytes]) -> Timeline {
    let problem = case.problem;
    let mut timeline = Timeline::default();
    for (&(at, start, channel), &offset) in node.starts.iter().zip(offsets) {
        timeline.transfers.push(Transfer {
            operator: OperatorId::at(at),
            channel: Some(channel as u32),
            bytes: problem.operators()[at].weights,
            span: Span { start: Time::new(start), end: Time::new(start + case.load[at]) },
            offset,
            size: problem.buffer(at),
        });
    }
    for (&compute, &end) in case.compute.iter().zip(&node.ends) {
        timeline.computations.push(Span { start: Time::new(end - compute), end: Time::new(end) });
    }
    timeline
}

/// Finds addresses by exact search. Returns the offsets in the order of the transfers.
///
/// The steps of the instance are the operators. A weight buffer becomes live at the first operator that has
/// not ended when its transfer starts. It remains live until its own operator ends. Two buffers are
/// simultaneously live if and only if these ranges intersect. The activations of each operator are one
/// buffer, which is live during this operator only and fixed at address 0.
fn searched(problem: &TimelineProblem, held: &[Held], budget: &mut Budget) -> Result<Vec<Bytes>, Placed> {
    if held.len() > MOST_PLACED {
        return Err(Placed::Unknown);
    }
    let life = |from: usize, to: usize| Lifespan::single(from as u64, to as u64).map_err(|_| Placed::Unknown);
    let mut builder = InstanceBuilder::new("timeline");
    for one in held {
        let buffer = Buffer::new(format!("weights {}", one.at), one.size, life(one.first, one.at + 1)?);
        builder = builder.buffer(buffer.aligned(problem.alignment()));
    }
    for (at, one) in problem.operators().iter().enumerate() {
        if one.activations > Bytes::ZERO && held.iter().any(|other| other.first <= at && at <= other.at) {
            let buffer = Buffer::new(format!("activations {at}"), one.activations, life(at, at + 1)?);
            builder = builder.buffer(buffer.fixed_at(Bytes::ZERO));
        }
    }
    let capacity = problem.capacity();
    let instance = builder.capacity(capacity).build().map_err(|_| Placed::Unknown)?;
    let mut part = budget.part(Some(PLACE_NODES), None).with_target(capacity);
    let outcome = Search::new(Setup::default()).solve(&instance, &mut part, &mut Silent);
    budget.spend(part.nodes());
    let outcome = outcome.map_err(|_| Placed::Unknown)?;
    if outcome.lower_bound.value > capacity {
        return Err(Placed::Nowhere);
    }
    let fits = outcome.value.is_some_and(|value| value <= capacity);
    let layout: Layout = outcome.solution.filter(|_| fits).ok_or(Placed::Unknown)?;
    Ok(layout.offsets()[..held.len()].to_vec())
}

/// Places the buffers in the given order, each at the highest free address. Returns the offsets in the order
/// of the transfers, or `None` if a buffer does not fit.
fn greedy(problem: &TimelineProblem, order: &[Held]) -> Option<Vec<Bytes>> {
    let mut offsets = vec![Bytes::ZERO; order.len()];
    for (rank, one) in order.iter().enumerate() {
        let before = order[..rank].iter().filter(|other| other.start < one.end && one.start < other.end);
        let taken =
            before.map(|other| (offsets[other.position].get() + other.size.get(), offsets[other.position]));
        let offset = problem.highest_free(one.size, taken.collect());
        offsets[one.position] = offset.filter(|offset| *offset >= one.floor)?;
    }
    Some(offsets)
}
