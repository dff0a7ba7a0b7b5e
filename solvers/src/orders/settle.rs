//! Runs that lose nothing.
//!
//! Let no step exceed a limit. From a downset `D` let `W` be nodes that can run one after the other within the limit, and
//! let `alive(D + W) <= alive(X)` for every downset `X` between `D` and `D + W`. Then `D` can be completed within the
//! limit only if `D + W` can: where `D = D_0, D_1, ...` completes `D`, so does `D_0 + W, D_1 + W, ...`, since
//! `alive(D_i + W) <= alive(D_i) + alive(D + W) - alive(D_i and (D + W)) <= alive(D_i)`, and likewise during each node.
//!
//! A single node that does not raise what is alive is such a `W` (a *free* node), and so is a *chain* whose every node
//! waits for the one before it, cut where what is alive is down to where it began: between `D` and the whole there are
//! only its prefixes. This is Liu's hill and valley on a path (Liu 1987), wherever a path is found.

use super::net::{State, bits};

/// Which runs are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// Nodes that do not raise what is alive.
    pub free: bool,
    /// Chains of at most so many nodes that end no higher than they began; 0 for none.
    pub chain: usize,
}

impl Default for Settling {
    fn default() -> Self {
        Self { free: true, chain: 6 }
    }
}

/// Runs whatever loses nothing under the limit until nothing is left, and adds it to the trail, each with what was alive
/// before.
///
/// What is run here loses nothing under any higher limit either. So where downsets are searched like this under a limit
/// in vain, no order has a lower peak than the least step that was refused at a settled downset.
pub(super) fn settle(state: &mut State<'_>, limit: u64, rules: Settling, trail: &mut Vec<(u32, u64)>) {
    while rules.free && run_free(state, limit, trail)
        || rules.chain > 0 && run_chain(state, limit, rules.chain, trail)
    {}
}

/// Runs one node that does not raise what is alive; false where there is none within the limit.
fn run_free(state: &mut State<'_>, limit: u64, trail: &mut Vec<(u32, u64)>) -> bool {
    let free = |node: &u32| {
        let effect = state.probe(*node);
        effect.alive <= state.alive && effect.peak <= limit
    };
    let Some(node) = bits(&state.ready).find(free) else { return false };
    trail.push((node, state.alive));
    state.run(node);
    true
}

/// Runs one chain that ends no higher than it began; false where none is found within the limit.
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
            for (node, alive) in trail.drain(from..).rev() {
                state.unrun(node, alive);
            }
        }
    }
    false
}

/// Runs a chain from a node on; true where it ended no higher than it began.
fn descend(state: &mut State<'_>, node: u32, limit: u64, most: usize, trail: &mut Vec<(u32, u64)>) -> bool {
    let (ground, from) = (state.alive, trail.len());
    let mut next = Some((state.probe(node), node));
    while let Some((effect, node)) = next.take() {
        if effect.peak > limit {
            return false;
        }
        trail.push((node, state.alive));
        state.run(node);
        if state.alive <= ground {
            return true;
        }
        if trail.len() - from < most {
            let ready = state.net.after[node as usize].iter().copied().filter(|&next| state.is_ready(next));
            next = ready
                .map(|next| (state.probe(next), next))
                .min_by_key(|&(effect, next)| (effect.peak > limit, effect.alive, next));
        }
    }
    false
}
