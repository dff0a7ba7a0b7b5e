//! The assignment of operators to streams.

use crate::orders::Order;
use crate::units::OperatorId;
use plimsoll_support::BitMatrix;

/// For each operator, returns the next operator in the same stream, if any. O(n s) for n operators and s
/// streams.
///
/// Operators are assigned to streams greedily in their order. If an operator depends on the last operators
/// of some streams, it joins the one of these streams whose last operator is latest. Otherwise it goes into
/// an empty stream. If no stream is empty, it joins the stream whose last operator is earliest.
pub(super) fn next(
    order: &Order,
    step: &[usize],
    reach: &BitMatrix,
    streams: u32,
) -> Vec<Option<OperatorId>> {
    let mut next = vec![None; step.len()];
    let mut ends: Vec<OperatorId> = Vec::new();
    let when = |ends: &[OperatorId], stream: usize| step[ends[stream].index()];
    for &id in order.operators() {
        let behind = (0..ends.len()).filter(|&stream| reach.get(ends[stream].index(), id.index()));
        let chosen = behind.max_by_key(|&stream| when(&ends, stream));
        let free = ends.len() < streams as usize;
        let Some(stream) = chosen.or_else(|| {
            let earliest = || (0..ends.len()).min_by_key(|&stream| when(&ends, stream));
            if free { None } else { earliest() }
        }) else {
            ends.push(id);
            continue;
        };
        next[ends[stream].index()] = Some(id);
        ends[stream] = id;
    }
    next
}
