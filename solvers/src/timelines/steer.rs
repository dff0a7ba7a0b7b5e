//! Constructs timelines that fetch in the order of the operators, with channels chosen so that a target
//! makespan remains feasible.
//!
//! Transfers are assigned to channels in the order of the operators. Each transfer starts as early as memory
//! allows once its channel is free. Transfers on different channels need not start in order. With two
//! channels, [`Pair`] determines which channels keep a makespan feasible without regard to memory. The
//! transfer uses the first of these channels that is free. If memory delays a transfer, feasibility is
//! recomputed. With more than two channels, every transfer uses the first free channel.

use super::node::{Case, Node};
use super::pair::{Pair, Steps};
use plimsoll_model::{Budget, Stop};

/// Maximum number of bisection steps in the search for an attainable makespan.
const MOST_TRIES: usize = 24;

/// A rule for choosing channels from some operator on.
struct Way {
    steps: Steps,
    /// The position of that operator among the operators with weights.
    from: usize,
    /// The work of each channel since that operator.
    works: [i64; 2],
}

/// Returns a timeline that aims at the makespan `target` and exceeds it as little as this method can achieve.
/// Returns `None` if the budget runs out first or if memory does not suffice. `tails` contains the computing
/// time from each operator on.
pub(super) fn steered(case: &Case<'_>, tails: &[u64], target: u64, budget: &mut Budget) -> Option<Node> {
    let mut node = Node::root(case);
    let mut makespan = target;
    let mut way: Option<Way> = None;
    for (place, &at) in case.weighted.iter().enumerate() {
        if budget.spend(1).is_some() {
            return None;
        }
        if let [first, second] = node.free[..] {
            let pair = Pair::after(case, tails, &case.weighted[place..], [first, second]);
            let is_finer = |way: &Way| way.steps.unit > pair.unit && pair.is_exact();
            if way.as_ref().is_none_or(is_finer) {
                makespan = met(&pair, makespan, first.max(second) + tails[0], case, budget)?;
                way = pair.steps(makespan).map(|steps| Way { steps, from: place, works: [0; 2] });
            }
        }
        let mut channels: Vec<usize> = (0..case.channels).collect();
        channels.sort_by_key(|&channel| node.free[channel]);
        let mut channel = channels[0];
        if let Some(way) = &mut way {
            let after =
                |&channel: &usize| Some((channel, way.steps.after(place - way.from, way.works, channel)?));
            if let Some((chosen, works)) = channels.iter().find_map(after) {
                (channel, way.works) = (chosen, works);
            }
        }
        let start = node.earliest(case, at, node.free[channel])?;
        if start > node.free[channel] {
            way = None;
        }
        node = node.started_on(case, at, start, channel);
    }
    Some(node)
}

/// Returns a makespan at or above `lower` that is attainable without regard to memory and close to the
/// minimum. Returns `None` if a limit other than the node limit is reached first. Nodes are counted, but the
/// node limit is checked only between two operators.
fn met(pair: &Pair<'_>, lower: u64, busy: u64, case: &Case<'_>, budget: &mut Budget) -> Option<u64> {
    let mut meets = |makespan: u64| match budget.spend(pair.multiplier()) {
        None | Some(Stop::NodeLimit) => Some(pair.meets(makespan)),
        Some(_) => None,
    };
    if meets(lower)? {
        return Some(lower);
    }
    // Increase the makespan in growing steps, and then bisect.
    let latest = lower.max(busy + case.load.iter().sum::<u64>());
    let (mut lower, mut upper, mut step) = (lower, lower, (lower / 1_000_000).max(1));
    loop {
        upper = upper.saturating_add(step).min(latest);
        if upper == latest || meets(upper)? {
            break;
        }
        lower = upper;
        step = step.saturating_mul(4);
    }
    for _ in 0..MOST_TRIES {
        let middle = lower + (upper - lower) / 2;
        if middle == lower {
            break;
        }
        if meets(middle)? {
            upper = middle;
        } else {
            lower = middle;
        }
    }
    Some(upper)
}
