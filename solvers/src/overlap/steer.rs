//! Timelines in the order of the operators, channels chosen by what is still possible.
//!
//! Operators' weights are fetched in order, each on a channel as early as there is room, from the time on when the channel is free:
//! several channels need not start in order. With two channels the choice goes by [`Pair`]: of the channels that leave the rest
//! possible within a makespan, memory apart, the one free first; where memory holds a transfer back, what is possible is
//! found anew. With more channels the one on which weights arrive first is taken.

use super::node::{Case, Node};
use super::pair::{Pair, Steps, tails};
use plimsoll_model::Budget;

/// A timeline that ends at `target` or as little later as it knows how; none where the budget ends before.
pub(super) fn steered(case: &Case<'_>, target: u64, budget: &mut Budget) -> Option<Node> {
    let tails = tails(case);
    let mut node = Node::root(case);
    let mut makespan = target;
    let mut steps: Option<(Steps, usize, [i64; 2])> = None;
    for (position, &at) in case.weighted.iter().enumerate() {
        if budget.spend(1).is_some() {
            return None;
        }
        let mut channels: Vec<usize> = (0..case.channels).collect();
        channels.sort_by_key(|&channel| node.free[channel]);
        let free = || [node.free[0], node.free[case.channels - 1]];
        let pair = Pair::after(case, &tails, &case.weighted[position..], free());
        let finer = steps.as_ref().is_some_and(|(steps, ..)| steps.unit > pair.unit && pair.is_exact());
        if case.channels == 2 && (steps.is_none() || finer) {
            let free = free();
            let mut found = pair.steps(makespan);
            budget.spend(pair.price());
            if found.is_none() {
                // As little later as possible.
                let all: u64 = case.load.iter().sum();
                let latest = free[0].max(free[1]) + all + tails[0];
                let mut step = (makespan / 100_000).max(1);
                let mut upper = makespan;
                while found.is_none() && upper < latest {
                    upper = (upper + step).min(latest);
                    step *= 4;
                    found = pair.steps(upper);
                    budget.spend(pair.price());
                }
                let mut lower = makespan + 1;
                makespan = upper;
                for _ in 0..24 {
                    if lower >= makespan || budget.spend(pair.price()).is_some() {
                        break;
                    }
                    let middle = lower + (makespan - lower) / 2;
                    match pair.steps(middle) {
                        Some(better) => (found, makespan) = (Some(better), middle),
                        None => lower = middle + 1,
                    }
                }
            }
            steps = found.map(|found| (found, position, [0; 2]));
        }
        let start = |channel: usize| node.earliest(case, at, node.free[channel]);
        let mut chosen = None;
        if let Some((steps, from, works)) = &mut steps {
            for &channel in &channels {
                if let Some(after) = steps.after(position - *from, *works, channel) {
                    chosen = Some((channel, start(channel)?));
                    *works = after;
                    break;
                }
            }
        }
        let (channel, begin) = match chosen {
            Some(chosen) => chosen,
            None => (channels[0], start(channels[0])?),
        };
        if begin > node.free[channel] {
            steps = None;
        }
        node = node.started_on(case, at, begin, channel);
    }
    Some(node)
}
