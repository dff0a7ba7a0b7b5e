//! Orders that cost next to nothing, to have something to improve on.

use super::net::{Net, State, bits};
use super::settle::{Settling, settle};

/// What is preferred among nodes that raise what is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The lowest peak so far, then the least alive.
    Peak,
    /// The least alive.
    Alive,
    /// Whatever waits for the node that ran last.
    Depth,
}

/// The best of a few greedy orders and the topological order lowest numbers first. O(n width) probes each.
pub(super) fn greedy(net: &Net, backwards: &Net, sorted: Vec<u32>) -> (Vec<u32>, u64) {
    let mut best = (net.peak(&sorted), sorted);
    for rule in [Rule::Peak, Rule::Alive, Rule::Depth] {
        for (turned, net_of) in [(false, net), (true, backwards)] {
            let mut order = one(net_of, rule);
            if turned {
                order.reverse();
            }
            let peak = net.peak(&order);
            if peak < best.0 {
                best = (peak, order);
            }
        }
    }
    (best.1, best.0)
}

fn one(net: &Net, rule: Rule) -> Vec<u32> {
    let mut state = State::new(net);
    let mut trail: Vec<(u32, u64)> = Vec::with_capacity(net.len());
    let mut peak = state.alive;
    let free = Settling { free: true, chain: 0 };
    loop {
        settle(&mut state, peak, free, &mut trail);
        let last = trail.last().map(|&(node, _)| node);
        let follows = |node: u32| last.is_some_and(|last| net.after[last as usize].contains(&node));
        let choice = bits(&state.ready).min_by_key(|&node| {
            let effect = state.probe(node);
            match rule {
                Rule::Peak => (effect.peak.max(peak), effect.alive, node),
                Rule::Alive => (effect.alive, effect.peak, node),
                Rule::Depth => (u64::from(!follows(node)), effect.peak.max(peak), node),
            }
        });
        let Some(node) = choice else {
            return trail.into_iter().map(|(node, _)| node).collect();
        };
        trail.push((node, state.alive));
        peak = peak.max(state.run(node).peak);
    }
}
