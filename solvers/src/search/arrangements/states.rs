//! The trees that can occur at a step.

use crate::pqtree::{Forest, Labels, Leaves, Tree};
use crate::search::memo::{PassThrough, mix};
use plimsoll_model::{Budget, Stop};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Trees by their keys, without duplicates, in order of insertion.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    keys: Vec<u8>,
    /// The end of each key in `keys`.
    ends: Vec<u32>,
    /// The state before it, by index.
    parents: Vec<u32>,
    /// The last state with a hash, and per state the previous one with the same hash plus one.
    last: HashMap<u64, u32, BuildHasherDefault<PassThrough>>,
    previous: Vec<u32>,
}

fn hash(key: &[u8]) -> u64 {
    key.chunks(8).fold(key.len() as u64, |hash, bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        mix(hash.rotate_left(23) ^ u64::from_le_bytes(word))
    })
}

impl States {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn key(&self, at: usize) -> &[u8] {
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.keys[from as usize..self.ends[at] as usize]
    }

    pub fn parent(&self, at: usize) -> usize {
        self.parents[at] as usize
    }

    /// Adds a state unless it is known. Keys are compared in full.
    pub fn insert(&mut self, key: &[u8], parent: usize) {
        let hash = hash(key);
        let mut at = self.last.get(&hash).map_or(0, |&last| last + 1);
        let first = at;
        while at != 0 {
            if self.key(at as usize - 1) == key {
                return;
            }
            at = self.previous[at as usize - 1];
        }
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len() as u32);
        self.parents.push(parent as u32);
        self.previous.push(first);
        self.last.insert(hash, self.len() as u32 - 1);
    }

    /// Returns the states with the given indices.
    pub fn select(&self, kept: &[usize]) -> Self {
        let mut selected = Self::default();
        for &at in kept {
            selected.insert(self.key(at), self.parent(at));
        }
        selected
    }
}

/// The sets of a tree, by which it is compared with others.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    defining: Vec<Leaves>,
    /// In ascending order.
    contiguous: Vec<Leaves>,
    /// One bit per set, by hash.
    needs: u128,
    has: u128,
    permutations: u32,
}

/// Returns a mask with the bit of each set.
fn bits(sets: &[Leaves]) -> u128 {
    sets.iter().fold(0, |bits, &set| bits | 1 << (mix(set as u64 ^ mix((set >> 64) as u64)) >> 57))
}

impl Sets {
    pub fn of(forest: &Forest, tree: Tree) -> Self {
        let (mut defining, mut contiguous) = (Vec::new(), Vec::new());
        forest.defining(tree, &mut defining);
        forest.contiguous(tree, &mut contiguous);
        contiguous.sort_unstable();
        let (needs, has) = (bits(&defining), bits(&contiguous));
        Self { defining, contiguous, needs, has, permutations: forest.permutations(tree) }
    }

    /// Returns true if all permutations of `other` are permutations of this tree: the sets that define this
    /// tree are contiguous in the other.
    pub fn dominates(&self, other: &Self) -> bool {
        self.needs & !other.has == 0
            && self.defining.iter().all(|set| other.contiguous.binary_search(set).is_ok())
    }
}

/// Comparisons that count as one node of the budget.
const COMPARISONS: usize = 1_024;

/// Returns the trees of which no other has all permutations, the trees with most permutations first.
pub(super) fn undominated(sets: &[Sets], budget: &mut Budget) -> Result<Vec<usize>, Stop> {
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(sets[at].permutations), at));
    let mut kept: Vec<usize> = Vec::new();
    let mut compared = 0;
    for at in order {
        compared += kept.len();
        if compared > COMPARISONS {
            compared = 0;
            if let Some(stop) = budget.tick() {
                return Err(stop);
            }
        }
        if !kept.iter().any(|&other| sets[other].dominates(&sets[at])) {
            kept.push(at);
        }
    }
    Ok(kept)
}

/// Returns the states that no other state dominates.
pub(super) fn reduced(
    states: &States,
    labels: &Labels,
    forest: &mut Forest,
    budget: &mut Budget,
) -> Result<States, Stop> {
    let mark = forest.mark();
    let sets: Vec<Sets> = (0..states.len())
        .map(|at| {
            let tree = forest.read(states.key(at), labels);
            let sets = Sets::of(forest, tree);
            forest.rewind(mark);
            sets
        })
        .collect();
    let mut kept = undominated(&sets, budget)?;
    kept.sort_unstable();
    Ok(states.select(&kept))
}
