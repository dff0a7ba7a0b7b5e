//! Safe runs: sequences of nodes that can run next without loss. If some order stays within the limit, then
//! some order that runs these nodes next does so too.
//!
//! Fix a limit on the bytes live at every step. Let `W` be nodes that can run in sequence within the limit
//! from a downset `D`. Suppose that `live(D + W) <= live(X)` for every downset `X` between `D` and `D + W`.
//! If `D` can be completed within the limit, so can `D + W`. Proof, in which `+` denotes union and `and`
//! denotes intersection: let `D = D_0, D_1, ...` complete `D` within the limit. Then `D_0 + W, D_1 + W, ...`
//! completes `D + W` within the limit, because
//! `live(D_i + W) <= live(D_i) + live(D + W) - live(D_i and (D + W)) <= live(D_i)`. The same holds while each
//! node runs.
//!
//! Two kinds of sequences satisfy this condition. A *free* node is a single node that does not increase the
//! live bytes. In a *chain*, every node depends on the previous one, and the last node is the first after
//! which no more bytes are live than before the chain. Only prefixes of the chain lie between `D` and `D +
//! W`. This applies Liu's hill-valley argument (Liu 1987) to any path.

use super::net::{State, bits};

/// The kinds of safe runs to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// Whether to look for single nodes that do not increase the live bytes.
    pub free: bool,
    /// Maximum number of nodes of a chain. The value 0 disables chains.
    pub chain: usize,
}

impl Default for Settling {
    fn default() -> Self {
        Self { free: true, chain: 6 }
    }
}

/// Applies safe runs within the limit until none remains. Appends their nodes to the trail, each with the
/// live bytes before it.
///
/// A run that is safe within a limit is safe within any higher limit. If a search within a limit fails, the
/// lowest peak of a rejected step is therefore a lower bound on the peak of every order.
pub(super) fn settle(state: &mut State<'_>, limit: u64, rules: Settling, trail: &mut Vec<(u32, u64)>) {
    while rules.free && run_free(state, limit, trail)
        || rules.chain > 0 && run_chain(state, limit, rules.chain, trail)
    {}
}

/// Runs one node that does not increase the live bytes. Returns false if there is none within the limit.
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

/// Runs one chain after which no more bytes are live than before it. Returns false if none is found within
/// the limit.
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

/// Runs a chain that begins with `node`. Returns true if no more bytes are live after it than before it.
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
