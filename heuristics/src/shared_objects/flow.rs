//! Shared objects by minimum-cost flow. Every buffer may inherit the memory of one dead buffer.
//!
//! **Definition** (Lee et al. 2019, *On-device neural net inference with mobile GPUs*, section on memory). A
//! buffer may open an object, at a cost equal to the size of the buffer. Otherwise, it inherits the memory of
//! a buffer whose lifespan ends before its own begins. The cost is then the number of bytes by which the heir
//! is larger than that buffer, or zero if it is not. The memory of each buffer is inherited by at most one
//! other buffer. The cheapest choice is a matching of buffers with predecessors, which is computed as a
//! minimum-cost flow. The chains of the matching are the objects. If sizes along a chain never rise again
//! after they fall, the cost of the chain is the size of its object. Otherwise, the cost is higher, so the
//! plan is not optimal in general.
//!
//! "Ends before" compares hulls of lifespans. The relation is transitive, so members of a chain are never
//! simultaneously live. Gaps and exclusions are not exploited, and a buffer with separations has its own
//! object.
//!
//! **Complexity.** Shortest augmenting paths with potentials need one search per buffer. The time is O(n^3)
//! for n buffers. Memory is linear because costs are computed on demand.

use plimsoll_model::{Budget, BufferId, Instance, PoolId, Stop};

/// Assigns buffers to shared objects by minimum-cost flow. A node is one step of the search for an augmenting
/// path.
pub(crate) fn least_cost_flow(instance: &Instance, budget: &mut Budget) -> Result<Vec<PoolId>, Stop> {
    Ok(chains(instance, &predecessors(instance, budget)?))
}

/// Returns the cost in bytes if `heir` inherits from `from`. Returns `None` if `from` does not end before
/// `heir` begins, or if either has separations.
fn cost(instance: &Instance, heir: usize, from: usize) -> Option<i128> {
    let ids = [heir, from].map(BufferId::at);
    let [heir, from] = ids.map(|id| instance.buffer(id));
    let dead = from.lifespan().hull().upper <= heir.lifespan().hull().lower;
    let separated = || ids.iter().any(|&id| !instance.separations().of(id).is_empty());
    (dead && !separated()).then(|| i128::from(heir.size().get().saturating_sub(from.size().get())))
}

/// The search tree of one augmenting path.
struct Tree {
    /// Per predecessor: the lowest reduced cost of a path to it, and the heir before it on this path.
    reach: Vec<Option<(i128, usize)>>,
    /// Predecessors with a final cost, in the order in which their costs became final.
    done: Vec<usize>,
    is_done: Vec<bool>,
}

/// Returns the buffer from which each buffer inherits in a cheapest matching, or `None` if the buffer opens
/// an object.
fn predecessors(instance: &Instance, budget: &mut Budget) -> Result<Vec<Option<usize>>, Stop> {
    let n = instance.len();
    let mut before: Vec<Option<usize>> = vec![None; n];
    let mut heir_of: Vec<Option<usize>> = vec![None; n];
    // The potentials of heirs and predecessors. The potential of opening an object stays zero, because every
    // buffer may open one.
    let (mut heirs, mut froms) = (vec![0_i128; n], vec![0_i128; n]);
    for root in 0..n {
        let mut tree = Tree { reach: vec![None; n], done: Vec::new(), is_done: vec![false; n] };
        // The cost of the cheapest path so far that opens an object, and the buffer that opens it.
        let mut open: Option<(i128, usize)> = None;
        let (mut heir, mut so_far) = (root, 0_i128);
        let (length, end) = loop {
            if let Some(stop) = budget.tick() {
                return Err(stop);
            }
            let size = i128::from(instance.buffer(BufferId::at(heir)).size().get());
            let opening = so_far + size - heirs[heir];
            if open.is_none_or(|(best, _)| opening < best) {
                open = Some((opening, heir));
            }
            for from in (0..n).filter(|&from| !tree.is_done[from]) {
                let Some(cost) = cost(instance, heir, from) else { continue };
                let length = so_far + cost - heirs[heir] - froms[from];
                if tree.reach[from].is_none_or(|(best, _)| length < best) {
                    tree.reach[from] = Some((length, heir));
                }
            }
            let near = (0..n).filter(|&from| !tree.is_done[from]);
            let near = near.filter_map(|from| Some((tree.reach[from]?.0, from))).min();
            let (opening, opener) = open.unwrap_or((0, root));
            match near {
                Some((length, from)) if length < opening => {
                    (tree.is_done[from], so_far) = (true, length);
                    tree.done.push(from);
                    match heir_of[from] {
                        Some(next) => heir = next,
                        None => break (length, Some(from)),
                    }
                }
                _ => {
                    // The matching is augmented along the path from the buffer that opens an object back to
                    // the root.
                    let freed = before[opener].take();
                    break (opening, freed.filter(|_| opener != root));
                }
            }
        };
        settle(&tree, (root, length), &heir_of, &mut heirs, &mut froms);
        augment(&tree, root, end, &mut before, &mut heir_of);
    }
    Ok(before)
}

/// Updates the potentials. Reduced costs stay non-negative, and they stay zero along the matching.
fn settle(
    tree: &Tree,
    (root, length): (usize, i128),
    heir_of: &[Option<usize>],
    heirs: &mut [i128],
    froms: &mut [i128],
) {
    heirs[root] += length;
    for &from in &tree.done {
        let rest = length - tree.reach[from].map_or(length, |(reached, _)| reached);
        froms[from] -= rest;
        if let Some(heir) = heir_of[from] {
            heirs[heir] += rest;
        }
    }
}

/// Augments the matching along the path: each heir receives the predecessor that follows it on the path and
/// releases its previous predecessor.
fn augment(
    tree: &Tree,
    root: usize,
    end: Option<usize>,
    before: &mut [Option<usize>],
    heir_of: &mut [Option<usize>],
) {
    let mut free = end;
    while let Some(from) = free {
        let heir = tree.reach[from].map_or(root, |(_, heir)| heir);
        free = before[heir].replace(from).filter(|_| heir != root);
        heir_of[from] = Some(heir);
    }
}

/// Returns the chains as shared objects, numbered in the order in which their first buffers start.
fn chains(instance: &Instance, before: &[Option<usize>]) -> Vec<PoolId> {
    let mut order: Vec<usize> = (0..before.len()).collect();
    order.sort_by_key(|&at| instance.buffer(BufferId::at(at)).lifespan().hull().lower);
    let mut pools: Vec<Option<PoolId>> = vec![None; before.len()];
    let mut count = 0;
    for at in order {
        // A predecessor begins earlier, so its object is already known.
        let inherited = before[at].and_then(|from| pools[from]);
        pools[at] = Some(inherited.unwrap_or_else(|| {
            count += 1;
            PoolId::at(count - 1)
        }));
    }
    pools.into_iter().map(|pool| pool.unwrap_or(PoolId::new(0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::{Buffer, Bytes, InstanceBuilder, Lifespan, PoolPlan, Problem, SharedObjects};

    fn total(instance: &Instance, before: &[Option<usize>]) -> i128 {
        let of = |at: usize| match before[at] {
            Some(from) => cost(instance, at, from).expect("the predecessor ends before"),
            None => i128::from(instance.buffer(BufferId::at(at)).size().get()),
        };
        (0..before.len()).map(of).sum()
    }

    /// Enumerates all matchings and returns the lowest cost.
    fn least(instance: &Instance, at: usize, used: &mut Vec<bool>) -> i128 {
        if at == instance.len() {
            return 0;
        }
        let size = i128::from(instance.buffer(BufferId::at(at)).size().get());
        let mut best = size + least(instance, at + 1, used);
        for from in 0..instance.len() {
            if let Some(cost) = cost(instance, at, from).filter(|_| !used[from]) {
                used[from] = true;
                best = best.min(cost + least(instance, at + 1, used));
                used[from] = false;
            }
        }
        best
    }

    #[test]
    fn matching_has_least_cost() {
        for seed in 0..300 {
            let instance = small_instance(SmallParams::with_features(1 + seed as usize % 7, seed % 16), seed);
            let before = predecessors(&instance, &mut Budget::unlimited()).unwrap();
            let mut used = vec![false; instance.len()];
            assert_eq!(total(&instance, &before), least(&instance, 0, &mut used), "{instance:?}");
            let plan = PoolPlan::fitted(&instance, chains(&instance, &before), Bytes::new(1));
            assert_eq!(SharedObjects::check(&instance, &plan), [], "{instance:?}");
            let opened = before.iter().filter(|from| from.is_none()).count();
            assert_eq!(plan.sizes().len(), opened);
            assert!(i128::from(plan.total().get()) <= total(&instance, &before));
        }
    }

    #[test]
    fn cost_can_exceed_the_total_size() {
        // With the sizes 4, 1 and 4, a single chain would cost 4 + 0 + 3, although its object needs only 4
        // bytes.
        let buffers = [4, 1, 4].into_iter().zip(0_u64..).map(|(size, at): (u64, u64)| {
            Buffer::new(format!("{at}"), size, Lifespan::single(at, at + 1).unwrap())
        });
        let instance = InstanceBuilder::new("t").buffers(buffers).build().unwrap();
        let before = predecessors(&instance, &mut Budget::unlimited()).unwrap();
        let plan = PoolPlan::fitted(&instance, chains(&instance, &before), Bytes::new(1));
        assert_eq!(total(&instance, &before), 4 + 1);
        assert_eq!(plan.total().get(), 5);
    }

    #[test]
    fn sizes_near_the_limit_do_not_overflow() {
        let huge = 1 << 58;
        let buffers = (0..4_u64)
            .map(|at| Buffer::new(format!("{at}"), huge - at, Lifespan::single(at, at + 1).unwrap()));
        let instance = InstanceBuilder::new("t").buffers(buffers).build().unwrap();
        let before = predecessors(&instance, &mut Budget::unlimited()).unwrap();
        assert_eq!(total(&instance, &before), i128::from(huge));
    }
}
