//! Compares the states of a sweep with those of a sweep in the other direction.

use super::pass::Sequence;
use super::states::States;
use crate::pqtree::{Forest, Leaves, MOST_LEAVES, Tree};
use plimsoll_model::{Budget, Stop};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of renamings of interchangeable leaves that are tried.
const MOST_RENAMINGS: usize = 64;

/// Sweeps are not compared if one has more than [`LEAST_LISTS`] states, and this many times as many as the
/// other. Preparing the states would take longer than the comparison saves.
const MOST_LISTS: usize = 8;
const LEAST_LISTS: usize = 1000;

/// Average number of nodes per compared state. When these nodes are spent, the other states are kept.
const NODES: u64 = 16;

/// Number of states that are tried first because they share an arrangement with a recent state.
const RECENT: usize = 4;

/// The new leaf of each old leaf.
type Renaming = [u8; MOST_LEAVES];

impl Sequence {
    /// Returns the indices of the states of a sweep at the step `at` that share an arrangement with a state
    /// of `others` if holes are ignored. `others` contains all states of a sweep in the other direction at
    /// this step. Some states without such an arrangement may remain. Returns `None` if too many leaves are
    /// interchangeable or `others` has too many states.
    pub fn meeting(
        &self,
        (at, backwards): (usize, bool),
        states: &States,
        others: &States,
        budget: &mut Budget,
    ) -> Result<Option<Vec<usize>>, Stop> {
        let step = &self.steps.list[at];
        let (own, other) = (step.labels(backwards), step.labels(!backwards));
        let Some(renamings) = renamings([other.classes(), own.classes()], step.leaves) else {
            return Ok(None);
        };
        if others.len() * renamings.len() > LEAST_LISTS + MOST_LISTS * states.len() {
            return Ok(None);
        }
        let mut forest = Forest::default();
        let mut lists: Vec<Vec<Leaves>> = Vec::with_capacity(others.len() * renamings.len());
        for state in 0..others.len() {
            forest.clear();
            let tree = forest.read(others.key(state), other);
            let tree = forest.restricted(tree, step.leaves).expect("some buffer is live");
            let mut sets = Vec::new();
            forest.defining(tree, &mut sets);
            lists.extend(renamings.iter().map(|names| sets.iter().map(|&set| renamed(set, names)).collect()));
            if let Some(stop) = budget.spend(renamings.len() as u64) {
                return Err(stop);
            }
        }
        // Sorting makes lists with a common prefix adjacent, so each set of the prefix is reduced only once.
        let mut count: BTreeMap<Leaves, u32> = BTreeMap::new();
        lists.iter().flatten().for_each(|&set| *count.entry(set).or_default() += 1);
        for list in &mut lists {
            list.sort_by_key(|set| (Reverse(count[set]), *set));
            list.dedup();
        }
        lists.sort();
        lists.dedup();
        let end = budget.nodes() + NODES * states.len() as u64;
        let mut kept = Vec::new();
        // States of one parent often share arrangements with the same state.
        let mut recent: Vec<&[Leaves]> = Vec::new();
        for state in 0..states.len() {
            if budget.nodes() >= end {
                kept.extend(state..states.len());
                break;
            }
            forest.clear();
            let tree = forest.read(states.key(state), own);
            let tree = forest.restricted(tree, step.leaves).expect("some buffer is live");
            let mark = forest.mark();
            let hit = recent.iter().position(|list| {
                let met = list.iter().try_fold(tree, |tree, &set| forest.reduce(tree, set)).is_some();
                forest.rewind(mark);
                met
            });
            if let Some(stop) = budget.spend(recent.len() as u64) {
                return Err(stop);
            }
            let found = match hit {
                Some(at) => Some(recent.remove(at)),
                None => meets(&mut forest, tree, &lists, 0, budget)?,
            };
            if let Some(list) = found {
                kept.push(state);
                recent.truncate(RECENT - 1);
                recent.insert(0, list);
            }
        }
        Ok(Some(kept))
    }
}

/// Returns a list whose sets can all be contiguous in a tree at the same time. The lists are sorted, and all
/// of them begin with the same `depth` sets.
fn meets<'l>(
    forest: &mut Forest,
    tree: Tree,
    lists: &'l [Vec<Leaves>],
    depth: usize,
    budget: &mut Budget,
) -> Result<Option<&'l [Leaves]>, Stop> {
    // If a list ends at this depth, it comes first.
    if lists[0].len() == depth {
        return Ok(Some(&lists[0]));
    }
    let mut rest = lists;
    while let Some(first) = rest.first() {
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        let set = first[depth];
        let (same, others) = rest.split_at(rest.partition_point(|list| list[depth] <= set));
        let mark = forest.mark();
        if let Some(next) = forest.reduce(tree, set)
            && let Some(list) = meets(forest, next, same, depth + 1, budget)?
        {
            return Ok(Some(list));
        }
        forest.rewind(mark);
        rest = others;
    }
    Ok(None)
}

fn renamed(set: Leaves, names: &Renaming) -> Leaves {
    let mut rest = set;
    let mut new = 0;
    while rest != 0 {
        new |= 1 << names[rest.trailing_zeros() as usize];
        rest &= rest - 1;
    }
    new
}

/// Returns all renamings that first permute the leaves within each class of one list, then within each class
/// of the other list. Returns `None` if there are too many. Leaves outside `live` are not renamed.
fn renamings(classes: [Vec<Vec<u8>>; 2], live: Leaves) -> Option<Vec<Renaming>> {
    let mut all: Vec<Renaming> = vec![std::array::from_fn(|leaf| leaf as u8)];
    for class in classes.into_iter().flatten().filter(|class| live >> class[0] & 1 == 1) {
        // Exchanging each pair of leaves in turn gives all permutations.
        for i in 1..class.len() {
            let before = all.len();
            for j in 0..i {
                for at in 0..before {
                    let exchange = |leaf: u8| match leaf {
                        leaf if leaf == class[i] => class[j],
                        leaf if leaf == class[j] => class[i],
                        leaf => leaf,
                    };
                    all.push(all[at].map(exchange));
                }
            }
            if all.len() > MOST_RENAMINGS {
                return None;
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamings_are_all_products_of_permutations() {
        let count = |one: &[&[u8]], two: &[&[u8]]| {
            let lists = [one, two].map(|list| list.iter().map(|class| class.to_vec()).collect());
            renamings(lists, 0xFF).map(|all| all.len())
        };
        assert_eq!(count(&[], &[]), Some(1));
        assert_eq!(count(&[&[0, 1, 2], &[3, 4]], &[]), Some(12));
        // Permutations of {0, 1}, then of {1, 2}: four of the six permutations of {0, 1, 2}.
        assert_eq!(count(&[&[0, 1]], &[&[1, 2]]), Some(4));
        assert_eq!(count(&[&[0, 1]], &[&[0, 1]]), Some(2));
        assert_eq!(count(&[&[8, 9]], &[]), Some(1));
        assert_eq!(count(&[&[0, 1, 2, 3, 4]], &[]), None);
    }
}
