//! Safe runs: steps that can be taken at once without losing any order within a limit.
//!
//! Fix a limit on every step. From a downset `D`, let `W` be nodes that can run in sequence within the limit,
//! with `live(D + W) <= live(X)` for every downset `X` between `D` and `D + W`. Then `D` can be completed
//! within the limit only if `D + W` can. If `D = D_0, D_1, ...` completes `D`, so does `D_0 + W, D_1 + W,
//! ...`, because `live(D_i + W) <= live(D_i) + live(D + W) - live(D_i and (D + W)) <= live(D_i)`, and
//! likewise during each node.
//!
//! A single node that does not raise the live bytes is such a `W` (a *free* node). So is a *chain* in which
//! every node depends on the previous one, cut where the live bytes are back at their initial value: only its
//! prefixes lie between. This is Liu's hill-valley argument on a path (Liu 1987), applied wherever a path
//! occurs.

use super::net::{State, bits};

/// The kinds of safe runs to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// Nodes that do not raise the live bytes.
    pub free: bool,
    /// Chains of at most this many nodes that end no higher than they began; 0 disables them.
    pub chain: usize,
}

impl Default for Settling {
    fn default() -> Self {
        Self { free: true, chain: 6 }
    }
}

/// Applies safe runs under the limit until none is left, and appends them to the trail with the live bytes
/// before each node.
///
/// A run that is safe here is safe under any higher limit. If a search under a limit fails, no order has a
/// lower peak than the lowest step rejected at a settled downset.
pub(super) fn settle(state: &mut State<'_>, limit: u64, rules: Settling, trail: &mut Vec<(u32, u64)>) {
    while rules.free && run_free(state, limit, trail)
        || rules.chain > 0 && run_chain(state, limit, rules.chain, trail)
    {}
}

/// Runs one node that does not raise the live bytes; false if there is none within the limit.
fn run_free(state: &mut State<'_>, limit: u64, trail: &mut Vec<(u32, u64)>) -> bool {
    let free = |node: &u32| {
        let effect = state.probe(*node);
        effect.live <= state.live && effect.peak <= limit
    };
    let Some(node) = bits(&state.ready).find(free) else { return false };
    trail.push((node, state.live));
    state.run(node);
    true
}

/// Runs one chain that ends no higher than it began; false if none is found within the limit.
fn run_chain(state: &mut State<'_>, limit: u64, most: usize, trail: &mut Vec<(u32, u64)>) -> bool {
    for word in 0..state.ready.len() {
        let mut ready = state.ready[word];
        while ready != 0 {
            let node = word as u32 * 64 + ready.trailing_zeros();
            ready &= ready - 1;
            let from = trail.len();
            if descend(state, node, limit, most, trail) {
                return true;
            }
            for (node, live) in trail.drain(from..).rev() {
                state.unrun(node, live);
            }
        }
    }
    false
}

/// Runs a chain from a node; true if it ended no higher than it began.
fn descend(state: &mut State<'_>, node: u32, limit: u64, most: usize, trail: &mut Vec<(u32, u64)>) -> bool {
    let (ground, from) = (state.live, trail.len());
    let mut next = Some((state.probe(node), node));
    while let Some((effect, node)) = next.take() {
        if effect.peak > limit {
            return false;
        }
        trail.push((node, state.live));
        state.run(node);
        if state.live <= ground {
            return true;
        }
        if trail.len() - from < most {
            let ready = state.net.after[node as usize].iter().copied().filter(|&next| state.is_ready(next));
            next = ready
                .map(|next| (state.probe(next), next))
                .min_by_key(|&(effect, next)| (effect.peak > limit, effect.live, next));
        }
    }
    false
}
