//! The trees that a proof lists for a step, and the test whether one of them contains a tree.

use crate::bond::tree_work;
use crate::error::Reason;
use crate::tree::{Set, Tree, bits};
use crate::work::Work;
use std::collections::{BTreeMap, HashMap};

/// The listed trees of a step.
pub(crate) struct Listed {
    trees: Vec<One>,
    /// The positions of listed trees. Each tree is stored under the one of its parts that the fewest trees
    /// have.
    by_part: HashMap<Set, Vec<usize>>,
    /// The leaves of buffers.
    pub buffers: Set,
    /// The first leaf of a hole.
    pub from: u32,
}

/// A listed tree, whose holes are numbered class by class.
struct One {
    /// The sets that define the tree, and the set of its leaves.
    sets: Vec<Set>,
    /// The *parts*: the buffers of each of these sets, and the number of its holes. Sets without a buffer
    /// have no part.
    parts: Vec<(Set, u32)>,
    /// Whether each hole is the first one of its class.
    is_first: Vec<bool>,
}

impl Listed {
    /// Stores trees with these leaves of buffers. `from` is the first leaf of a hole.
    pub fn of(trees: &[Tree], buffers: Set, from: u32, work: &Work<'_>) -> Result<Self, Reason> {
        let mut listed = Self { trees: Vec::new(), by_part: HashMap::new(), buffers, from };
        let mut count: HashMap<Set, usize> = HashMap::new();
        for tree in trees {
            work.spend(4 * tree_work(tree.leaves()))?;
            let one = listed.one(tree);
            one.parts.iter().for_each(|&(part, _)| *count.entry(part).or_default() += 1);
            listed.trees.push(one);
        }
        for (at, one) in listed.trees.iter().enumerate() {
            let rarest = one.parts.iter().map(|&(part, _)| (count[&part], part)).min();
            let (_, part) = rarest.expect("the leaves include all buffers");
            listed.by_part.entry(part).or_default().push(at);
        }
        Ok(listed)
    }

    fn one(&self, tree: &Tree) -> One {
        // The holes of a class get consecutive leaves.
        let classes = classes(tree, tree.leaves() & !self.buffers);
        let holes: Vec<Set> = classes.iter().flat_map(|&class| bits(class)).collect();
        let is_first = classes.iter().flat_map(|&class| bits(class).enumerate().map(|(at, _)| at == 0));
        let place = |leaf: Set| holes.iter().position(|&hole| hole == leaf);
        let name = |leaf| Some(place(leaf).map_or(leaf, |at| 1 << (self.from + at as u32)));
        let named = tree.renamed(&name).expect("no leaf is removed");
        // It is possible that no defining set contains the holes, so the set of all leaves is added.
        let mut sets = vec![named.leaves()];
        named.defining(&mut |set| sets.push(set));
        let parts = sets.iter().map(|&set| self.part(set)).filter(|part| part.0 != 0).collect();
        One { sets, parts, is_first: is_first.collect() }
    }

    /// Returns the buffers and the number of holes in a set.
    fn part(&self, set: Set) -> (Set, u32) {
        (set & self.buffers, (set & !self.buffers).count_ones())
    }

    /// Returns true if all permutations of a tree are permutations of a listed tree. A listed
    /// tree may have fewer holes, because the unit of an omitted hole counts as a free unit, which may be
    /// anywhere. All holes are interchangeable.
    ///
    /// After holes have been omitted, the contiguous sets of the tree are the former ones without these
    /// holes. A set that defines the listed tree must be one of them. Before that, a set with the same
    /// buffers and at least as many holes must therefore be contiguous. Only listed trees that meet this
    /// condition are compared.
    pub fn contains(&self, tree: &Tree, work: &Work<'_>) -> Result<bool, Reason> {
        let mut most: BTreeMap<Set, u32> = BTreeMap::new();
        let mut visit = |set| {
            let (buffers, holes) = self.part(set);
            let most = most.entry(buffers).or_default();
            *most = holes.max(*most);
        };
        tree.contiguous(&mut visit);
        visit(tree.leaves());
        work.spend(tree_work(tree.leaves()) + 8 * most.len())?;
        let classes = classes(tree, tree.leaves() & !self.buffers);
        for &at in most.keys().filter_map(|part| self.by_part.get(part)).flatten() {
            let one = &self.trees[at];
            work.spend(4 * one.parts.len())?;
            let possible =
                one.parts.iter().all(|(part, holes)| most.get(part).is_some_and(|most| most >= holes));
            if possible && self.contained(tree, one, &classes, &mut Vec::new(), work)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tries all ways to name some of the holes as those of a listed tree, and to omit the others. Returns
    /// true if the listed tree then contains the tree.
    ///
    /// The holes of a class are interchangeable in both trees. It is thus enough to name the lowest holes of
    /// each class of the tree, and to give the names of a class in the listed tree to classes of the tree in
    /// ascending order.
    fn contained(
        &self,
        tree: &Tree,
        one: &One,
        classes: &[Set],
        chosen: &mut Vec<Set>,
        work: &Work<'_>,
    ) -> Result<bool, Reason> {
        if let Some(is_first_of_class) = one.is_first.get(chosen.len()) {
            work.spend(classes.len())?;
            let last = chosen.last().filter(|_| !is_first_of_class);
            let from = last.and_then(|last| classes.iter().position(|class| class & last != 0));
            for &class in &classes[from.unwrap_or(0)..] {
                if let Some(hole) = bits(class).find(|hole| !chosen.contains(hole)) {
                    chosen.push(hole);
                    let contained = self.contained(tree, one, classes, chosen, work)?;
                    chosen.pop();
                    if contained {
                        return Ok(true);
                    }
                }
            }
            return Ok(false);
        }
        work.spend(tree_work(tree.leaves()))?;
        let name = |leaf: Set| {
            let hole = chosen.iter().position(|&hole| hole == leaf).map(|at| 1 << (self.from + at as u32));
            if leaf & self.buffers == 0 { hole } else { Some(leaf) }
        };
        let Some(tree) = tree.renamed(&name) else { return Ok(false) };
        let mut contiguous = vec![tree.leaves()];
        tree.contiguous(&mut |set| contiguous.push(set));
        work.spend(4 * contiguous.len())?;
        contiguous.sort_unstable();
        Ok(one.sets.iter().all(|set| contiguous.binary_search(set).is_ok()))
    }
}

/// Returns the classes of interchangeable holes of a tree.
pub(crate) fn classes(tree: &Tree, holes: Set) -> Vec<Set> {
    let mut classes = Vec::new();
    tree.classes(holes, &mut |class| classes.push(class));
    classes
}
