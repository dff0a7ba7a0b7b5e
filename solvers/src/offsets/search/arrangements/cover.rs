//! Finds all successors of a tree: every way to exchange groups between two steps.

use super::exchange::{Exchange, Group};
use super::steps::Steps;
use crate::pqtree::{Forest, Leaves, Tree};
use plimsoll_model::{Budget, Stop};

/// Maximum number of atoms of a tree.
const MOST_ATOMS: usize = 20;

/// The reason for an incomplete list of successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// The tree has too many atoms.
    TooMany,
    /// The callback `found` needs no more successors, or the limit on nodes per tree is reached.
    Enough,
    Stopped(Stop),
}

/// A maximal set of ending leaves that are contiguous in every permutation. A group contains either all or
/// none of these leaves.
#[derive(Clone, Copy, Debug, Default)]
struct Atom {
    leaves: Leaves,
    /// Total size of its buffers.
    size: i64,
    /// Number of its holes.
    holes: i64,
    /// The mask of the preceding interchangeable hole if the atom is a hole and has such a predecessor,
    /// otherwise 0.
    elder: u32,
}

/// A group of leaves that end, and the leaves that take its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub old: Leaves,
    pub new: Leaves,
}

/// The search for the successors of one tree.
pub(super) struct Cover<'a, 'f> {
    pub steps: &'a Steps,
    pub exchange: &'a Exchange,
    pub forest: &'f mut Forest,
    pub budget: &'f mut Budget,
    /// A callback that receives each successor and the exchanged groups. It returns false if it needs no more
    /// successors. Different exchanges may lead to the same tree.
    pub found: &'f mut dyn FnMut(&mut Forest, Tree, &[Chosen]) -> bool,
    /// Number of nodes that may still be spent on the tree. Large groups are tried first, so a limit omits
    /// exchanges of small groups.
    pub most: u64,
    chosen: Vec<Chosen>,
    /// The atoms. Atoms with buffers come first.
    atoms: Vec<Atom>,
    /// The mask of the atoms with buffers.
    required: u32,
}

/// The part of an exchange that remains to be chosen.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// Atoms, as a mask.
    atoms: u32,
    /// Buffers that begin, as a mask.
    new: u32,
    /// Number of free units without a place.
    free: i64,
    /// Number of holes added by the exchanges chosen so far.
    made: i64,
}

impl<'a, 'f> Cover<'a, 'f> {
    pub fn new(
        (steps, exchange): (&'a Steps, &'a Exchange),
        forest: &'f mut Forest,
        budget: &'f mut Budget,
        found: &'f mut dyn FnMut(&mut Forest, Tree, &[Chosen]) -> bool,
    ) -> Self {
        let (chosen, most) = (Vec::new(), u64::MAX);
        Self { steps, exchange, forest, budget, found, most, chosen, atoms: Vec::new(), required: 0 }
    }

    /// Passes each successor of a tree to `found`.
    pub fn run(&mut self, tree: Tree) -> Result<(), Failed> {
        let holes = self.forest.leaves(tree) & self.steps.all_holes();
        let mut sets = Vec::new();
        self.forest.atoms(tree, self.exchange.old | holes, &mut sets);
        if sets.len() > MOST_ATOMS {
            return Err(Failed::TooMany);
        }
        let atom = |&leaves: &Leaves| Atom {
            leaves,
            size: self.exchange.size(leaves),
            holes: i64::from((leaves & holes).count_ones()),
            elder: 0,
        };
        self.atoms = sets.iter().map(atom).collect();
        self.atoms.sort_by_key(|atom| (-atom.size, atom.leaves));
        for (one, next) in self.forest.siblings(tree, holes) {
            let place = |leaf: Leaves| self.atoms.iter().position(|atom| atom.leaves == leaf);
            if let (Some(one), Some(next)) = (place(one), place(next)) {
                self.atoms[next].elder = 1 << one;
            }
        }
        let required = self.atoms.iter().filter(|atom| atom.size > 0).count();
        self.required = (1 << required) - 1;
        let free = self.exchange.waste.0 - i64::from(holes.count_ones());
        let atoms = (1 << self.atoms.len()) - 1;
        self.extend(tree, Rest { atoms, new: self.exchange.new, free, made: 0 })
    }

    fn tick(&mut self) -> Result<(), Failed> {
        if self.most == 0 {
            return Err(Failed::Enough);
        }
        self.most -= 1;
        self.budget.tick().map_or(Ok(()), |stop| Err(Failed::Stopped(stop)))
    }

    /// Chooses the group of the first remaining atom with buffers. If there is none, chooses the group of
    /// the first remaining buffer that begins.
    fn extend(&mut self, tree: Tree, rest: Rest) -> Result<(), Failed> {
        self.tick()?;
        let required = rest.atoms & self.required;
        if required != 0 {
            let first = required & required.wrapping_neg();
            let others = rest.atoms & !first;
            let mut more = others;
            // Try all subsets of the other atoms.
            loop {
                self.place(tree, first | more, rest, 0)?;
                if more == 0 {
                    return Ok(());
                }
                more = (more - 1) & others;
            }
        } else if rest.new != 0 {
            let first = rest.new & rest.new.wrapping_neg();
            let mut group = rest.atoms;
            while group != 0 {
                self.place(tree, group, rest, first)?;
                group = (group - 1) & rest.atoms;
            }
            self.insert(tree, rest, first)
        } else if (self.found)(self.forest, tree, &self.chosen) {
            Ok(())
        } else {
            Err(Failed::Enough)
        }
    }

    /// Exchanges a group of atoms for every set of beginning buffers that contains the mask `with` and has a
    /// possible size.
    fn place(&mut self, tree: Tree, group: u32, rest: Rest, with: u32) -> Result<(), Failed> {
        let (mut set, mut size, mut holes) = (0, 0, 0);
        let mut left = group;
        while left != 0 {
            let atom = &self.atoms[left.trailing_zeros() as usize];
            if atom.elder & rest.atoms & !group != 0 {
                return Ok(());
            }
            set |= atom.leaves;
            size += atom.size;
            holes += atom.holes;
            left &= left - 1;
        }
        let exchange = self.exchange;
        let (low, high) = (size + holes - (exchange.waste.1 - rest.made), size + holes + rest.free);
        for &Group { mask, leaves, size: other } in exchange.groups(low, high) {
            if mask & !rest.new != 0 || mask & with != with || exchange.skips_elder(mask, rest.new) {
                continue;
            }
            let made = (size + holes - other).max(0);
            let used = (other - size - holes).max(0);
            let new = self.steps.holes(rest.made + made, true) & !self.steps.holes(rest.made, true);
            let mark = self.forest.mark();
            let by = self.forest.universal(leaves | new);
            // Whether the exchange is possible depends on `set` alone, not on the buffers that begin.
            let Some(next) = self.forest.exchange(tree, set, by) else {
                self.forest.rewind(mark);
                return self.tick();
            };
            let left = Rest {
                atoms: rest.atoms & !group,
                new: rest.new & !mask,
                free: rest.free - used,
                made: rest.made + made,
            };
            self.chosen.push(Chosen { old: set, new: leaves | new });
            self.extend(next, left)?;
            self.chosen.pop();
            self.forest.rewind(mark);
        }
        Ok(())
    }

    /// Inserts each set of beginning buffers that contains the mask `with` and fits into the free units, at
    /// every place of the tree.
    fn insert(&mut self, tree: Tree, rest: Rest, with: u32) -> Result<(), Failed> {
        let exchange = self.exchange;
        for &Group { mask, leaves, size } in exchange.groups(1, rest.free) {
            if mask & !rest.new != 0 || mask & with != with || exchange.skips_elder(mask, rest.new) {
                continue;
            }
            let mark = self.forest.mark();
            let by = self.forest.universal(leaves);
            let mut trees = Vec::new();
            self.forest.insertions(tree, by, &mut trees);
            self.chosen.push(Chosen { old: 0, new: leaves });
            for next in trees {
                self.extend(next, Rest { new: rest.new & !mask, free: rest.free - size, ..rest })?;
            }
            self.chosen.pop();
            self.forest.rewind(mark);
        }
        Ok(())
    }
}
