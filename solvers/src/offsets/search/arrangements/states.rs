//! The trees that can occur at a step.

use crate::offsets::search::memo::mix;
use crate::pqtree::{Forest, Labels, Leaves, Tree, logarithm};
use hashbrown::HashTable;
use plimsoll_model::{Budget, Stop};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The keys of trees, without duplicates, in order of insertion.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    keys: Vec<u8>,
    /// The end of each key in `keys`.
    ends: Vec<u32>,
    /// Per state: the index of its predecessor among the states of the previous step.
    parents: Vec<u32>,
    /// The hash and the index of each state.
    places: HashTable<(u64, u32)>,
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

    fn has(&self, key: &[u8], hash: u64) -> bool {
        self.places.find(hash, |&(own, at)| own == hash && self.key(at as usize) == key).is_some()
    }

    /// Returns true if the key is present.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.has(key, hash(key))
    }

    /// Adds a state and returns true, unless its key is present. Keys are compared in full.
    pub fn insert(&mut self, key: &[u8], parent: usize) -> bool {
        let hash = hash(key);
        if self.has(key, hash) {
            return false;
        }
        self.places.insert_unique(hash, (hash, self.len() as u32), |&(own, _)| own);
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len() as u32);
        self.parents.push(parent as u32);
        true
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

/// The sets of a tree that are used to compare it with other trees.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    /// The sets that define the tree.
    defining: Vec<Leaves>,
    /// The contiguous sets in ascending order. `bare` contains these sets without their holes.
    contiguous: Vec<Leaves>,
    bare: Vec<Leaves>,
    /// Masks with one bit per set, chosen by hash: `needs` for `defining`, `has` for `contiguous` and
    /// `bare`.
    needs: u128,
    has: u128,
    /// The holes of the tree.
    holes: Leaves,
    permutations: u32,
}

fn bit(set: Leaves) -> u128 {
    1 << (mix(set as u64 ^ mix((set >> 64) as u64)) >> 57)
}

/// Returns a mask with the bit of each set.
fn bits(sets: &[Leaves]) -> u128 {
    sets.iter().fold(0, |bits, &set| bits | bit(set))
}

/// Returns the logarithm of the number of permutations of a tree. A free unit counts as a leaf that may be
/// anywhere.
pub(super) fn permutations(forest: &Forest, tree: Tree, all_holes: Leaves, waste: i64) -> u32 {
    let leaves = forest.leaves(tree);
    let free = waste as u32 - (leaves & all_holes).count_ones();
    let places = leaves.count_ones() + 1;
    forest.permutations(tree) + (places..places + free).map(logarithm).sum::<u32>()
}

impl Sets {
    pub fn of(forest: &Forest, tree: Tree, all_holes: Leaves, waste: i64) -> Self {
        let (mut defining, mut contiguous) = (Vec::new(), Vec::new());
        forest.defining(tree, &mut defining);
        forest.contiguous(tree, &mut contiguous);
        contiguous.sort_unstable();
        let holes = forest.leaves(tree) & all_holes;
        let mut bare = Vec::new();
        if holes != 0 {
            bare.extend(
                contiguous.iter().map(|set| set & !holes).filter(|set| set & set.wrapping_sub(1) != 0),
            );
            bare.sort_unstable();
            bare.dedup();
        }
        let (needs, has) = (bits(&defining), bits(&contiguous) | bits(&bare));
        let permutations = permutations(forest, tree, all_holes, waste);
        Self { defining, contiguous, bare, needs, has, holes, permutations }
    }

    /// Returns true if the sets that define this tree are contiguous in `other`, so that all permutations of
    /// `other` are permutations of this tree. Free units without a place may be anywhere. The holes of
    /// `other` are therefore ignored if this tree has none. Returns false if this tree has holes that differ
    /// from those of `other`.
    pub fn dominates(&self, other: &Self) -> bool {
        if self.needs & !other.has != 0 {
            return false;
        }
        let sets = if self.holes == other.holes {
            &other.contiguous
        } else if self.holes == 0 {
            &other.bare
        } else {
            return false;
        };
        self.defining.iter().all(|set| sets.binary_search(set).is_ok())
    }
}

/// Number of comparisons that are charged as one node of the budget.
const COMPARISONS: usize = 256;

/// Minimum number of trees for which dominated trees are found with an index.
const MANY: usize = 24;

/// Returns the indices of the trees whose permutations are not all contained in another tree, in descending
/// order of the number of permutations.
pub(super) fn undominated(sets: &[Sets], budget: &mut Budget) -> Result<Vec<usize>, Stop> {
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(sets[at].permutations), sets[at].holes.count_ones(), at));
    let mut kept: Vec<usize> = Vec::new();
    if sets.len() < MANY {
        for at in order {
            if !kept.iter().any(|&other| sets[other].dominates(&sets[at])) {
                kept.push(at);
            }
        }
        return Ok(kept);
    }
    // A tree is listed under its rarest defining set.
    let mut count: HashMap<Leaves, u32, BuildHasherDefault<SetHasher>> = HashMap::default();
    for own in sets {
        own.defining.iter().for_each(|&set| *count.entry(set).or_default() += 1);
    }
    for own in sets {
        for set in own.contiguous.iter().chain(&own.bare) {
            if let Some(count) = count.get_mut(set) {
                *count += 1;
            }
        }
    }
    let mut listed: HashMap<Leaves, Vec<u32>, BuildHasherDefault<SetHasher>> = HashMap::default();
    let mut compared = 0;
    for at in order {
        let own = &sets[at];
        let all = [0].into_iter().chain(own.contiguous.iter().copied()).chain(own.bare.iter().copied());
        let mut dominated = false;
        for set in all {
            if let Some(others) = listed.get(&set) {
                compared += others.len();
                if others.iter().any(|&other| sets[other as usize].dominates(own)) {
                    dominated = true;
                    break;
                }
            }
        }
        if compared > COMPARISONS {
            if let Some(stop) = budget.spend((compared / COMPARISONS) as u64) {
                return Err(stop);
            }
            compared = 0;
        }
        if !dominated {
            kept.push(at);
            let rarest = own.defining.iter().min_by_key(|set| (count[*set], **set));
            listed.entry(rarest.copied().unwrap_or(0)).or_default().push(at as u32);
        }
    }
    Ok(kept)
}

/// A hasher for sets of leaves.
#[derive(Clone, Copy, Debug, Default)]
struct SetHasher(u64);

impl Hasher for SetHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("sets are written as u128")
    }
    fn write_u128(&mut self, set: u128) {
        self.0 = mix(set as u64 ^ mix((set >> 64) as u64));
    }
}

/// Returns the states that no other state dominates. If `beam` limits their number, returns those with the
/// most permutations. Also returns the fewest permutations of a state that it kept if it omitted others,
/// otherwise 0.
pub(super) fn reduced(
    states: &States,
    labels: &Labels,
    (holes, waste): (Leaves, i64),
    beam: Option<usize>,
    forest: &mut Forest,
    budget: &mut Budget,
) -> Result<(States, u32), Stop> {
    let mark = forest.mark();
    let sets: Vec<Sets> = (0..states.len())
        .map(|at| {
            let tree = forest.read(states.key(at), labels);
            let sets = Sets::of(forest, tree, holes, waste);
            forest.rewind(mark);
            sets
        })
        .collect();
    let mut kept = undominated(&sets, budget)?;
    let mut least = 0;
    if let Some(most) = beam.filter(|&most| kept.len() > most) {
        kept.truncate(most);
        least = sets[kept[most - 1]].permutations;
    }
    kept.sort_unstable();
    Ok((states.select(&kept), least))
}
