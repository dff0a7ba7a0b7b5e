//! Bridges: inequalities that contain only order variables and link two cliques that share a buffer.
//!
//! Let `j` be a member of a clique S. The members of S below `j` support it, and those above lie on it. Let
//! `o_j` be the offset of `j`, and let `slack_S` be the allowed peak minus the weight of S. Let `u_S` be the
//! total size of the members of S below `j`. Then `u_S <= o_j <= u_S + slack_S`. If two cliques S and T both
//! contain `j`, then `u_S <= u_T + slack_T`. The sizes of common members cancel:
//!
//! ```text
//!   over S \ T: sum s_i [i below j]   +   over T \ S: sum s_i [i above j]   <=   slack_T + weight of T \ S
//!
//!   |  c  ||  e  |      S = {a, b, c}, T = {a', b, e}: the sizes of a and a' differ by at most the
//!   |--- b ------|      slack. If both cliques fill the peak, these sizes are equal.
//!   |  a  || a'  |
//! ```
//!
//! A bridge links orders at different steps without mentioning offsets. If cliques fill the peak, as in a
//! perfect packing, a bridge is a subset-sum condition and decides the order of most pairs.

use super::part::Part;
use plimsoll_model::Budget;

/// The inequality `sum of size [order] <= most`. `[order]` is 1 if the two buffers of the term have the given
/// order, otherwise 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bridge {
    /// Per term: the index of the pair, `true` for the order "first below second", and the size in units.
    pub terms: Vec<(usize, bool, i64)>,
    /// The right-hand side, in units.
    pub most: i64,
}

/// Calls `add` with bridges that can be violated, in ascending order of slack. Stops after about `count`
/// bridges or when the time of `watch` runs out. The other constraints imply all bridges, so any number of
/// bridges may be omitted. The time is O(q^2 k + count x k) for q cliques of at most k members.
pub(crate) fn bridges(
    part: &Part,
    upper: i64,
    count: usize,
    watch: &mut Budget,
    mut add: impl FnMut(Bridge),
) {
    let weight = |clique: &[usize]| clique.iter().map(|&i| part.size[i]).sum::<i64>();
    let mut targets: Vec<(i64, usize)> =
        part.cliques.iter().enumerate().map(|(at, clique)| (upper - weight(clique), at)).collect();
    targets.sort_unstable();
    let mut found = 0;
    for (slack, to_at) in targets {
        let to = &part.cliques[to_at];
        for (at, from) in part.cliques.iter().enumerate() {
            if found >= count || watch.tick().is_some() {
                return;
            }
            let (only_from, only_to) = (without(from, to), without(to, from));
            // The cliques share no buffer, or the bridge cannot be violated.
            if at == to_at || only_to.len() == to.len() || weight(&only_from) <= slack {
                continue;
            }
            for &j in from.iter().filter(|j| to.binary_search(j).is_ok()) {
                let below = |i: usize, yes: bool| {
                    let pair = part.pair(i, j).expect("members of a clique conflict");
                    (pair, (i < j) == yes, part.size[i])
                };
                let terms = only_from.iter().map(|&i| below(i, true));
                let terms = terms.chain(only_to.iter().map(|&i| below(i, false))).collect();
                add(Bridge { terms, most: slack + weight(&only_to) });
                found += 1;
            }
        }
    }
}

fn without(a: &[usize], b: &[usize]) -> Vec<usize> {
    a.iter().copied().filter(|i| b.binary_search(i).is_err()).collect()
}
