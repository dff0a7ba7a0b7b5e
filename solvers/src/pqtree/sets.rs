//! The sets that are contiguous in all permutations of a tree.

use super::{Forest, Kind, Leaves, MOST_LEAVES, Tree};
use std::sync::LazyLock;

/// Returns the natural logarithm of a number up to 256, as a fixed-point number with ten fractional bits.
pub(crate) fn logarithm(number: u32) -> u32 {
    static TABLE: LazyLock<[u32; 257]> =
        LazyLock::new(|| std::array::from_fn(|n| (n.max(1) as f64).ln().mul_add(1024.0, 0.5) as u32));
    TABLE[number as usize]
}

impl Forest {
    /// Appends sets whose contiguity defines the tree: the set of every inner node except the root, and the
    /// union of every two neighbouring children of a Q-node.
    pub fn defining(&self, tree: Tree, sets: &mut Vec<Leaves>) {
        let node = self.nodes[tree as usize];
        for i in node.from..node.to {
            if node.kind == Kind::Leaf {
                return;
            }
            let child = self.child(i);
            if self.nodes[child as usize].kind != Kind::Leaf {
                sets.push(self.leaves(child));
                self.defining(child, sets);
            }
            if node.kind == Kind::Q && i > node.from {
                sets.push(self.leaves(self.child(i - 1)) | self.leaves(child));
            }
        }
    }

    /// Appends all sets of at least two leaves that are contiguous in every permutation, except the set of
    /// all leaves: the set of every inner node, and the union of every run of children of a Q-node.
    pub fn contiguous(&self, tree: Tree, sets: &mut Vec<Leaves>) {
        let node = self.nodes[tree as usize];
        if node.kind == Kind::Leaf {
            return;
        }
        for i in node.from..node.to {
            let child = self.child(i);
            if self.nodes[child as usize].kind != Kind::Leaf {
                sets.push(self.leaves(child));
                self.contiguous(child, sets);
            }
            if node.kind == Kind::Q {
                let mut run = self.leaves(child);
                for j in i + 1..node.to {
                    run |= self.leaves(self.child(j));
                    if run != node.leaves {
                        sets.push(run);
                    }
                }
            }
        }
    }

    /// Appends the maximal subsets of `set` that are contiguous in every permutation.
    pub fn atoms(&self, tree: Tree, set: Leaves, atoms: &mut Vec<Leaves>) {
        let node = self.nodes[tree as usize];
        if node.leaves & !set == 0 {
            atoms.push(node.leaves);
            return;
        }
        if node.leaves & set == 0 {
            return;
        }
        let mut run = 0;
        for i in node.from..node.to {
            let child = self.child(i);
            let leaves = self.leaves(child);
            let full = leaves & !set == 0;
            if full && node.kind == Kind::Q {
                run |= leaves;
                continue;
            }
            if run != 0 {
                atoms.push(std::mem::take(&mut run));
            }
            if leaves & set != 0 {
                self.atoms(child, set, atoms);
            }
        }
        if run != 0 {
            atoms.push(run);
        }
    }

    /// Appends trees whose permutations together are those of `tree` with the block `by` inserted at every
    /// place.
    pub fn insertions(&mut self, tree: Tree, by: Tree, trees: &mut Vec<Tree>) {
        self.open.clear();
        let node = self.nodes[tree as usize];
        if node.kind != Kind::P {
            // Insert the block at both ends of the tree.
            let pair = [tree, by];
            match node.kind {
                Kind::Leaf => {
                    self.open.extend(pair);
                    trees.push(self.close(Kind::P, 0));
                    return;
                }
                _ => {
                    for at in [node.from, node.to] {
                        trees.push(self.inserted(node, at, by));
                    }
                }
            }
        }
        self.insert_within(tree, by, trees);
    }

    /// Appends trees with `by` inserted at every place between two leaves of a tree, and before and after the
    /// leaves of every P-node.
    fn insert_within(&mut self, tree: Tree, by: Tree, trees: &mut Vec<Tree>) {
        let node = self.nodes[tree as usize];
        match node.kind {
            Kind::Leaf => return,
            Kind::P => {
                // As a further child of a P-node, the block takes every place among the other children.
                trees.push(self.inserted(node, node.to, by));
            }
            Kind::Q => {
                for at in node.from + 1..node.to {
                    trees.push(self.inserted(node, at, by));
                }
            }
        }
        for i in node.from..node.to {
            let mut inner = Vec::new();
            self.insert_within(self.child(i), by, &mut inner);
            for new in inner {
                let base = self.open.len();
                for j in node.from..node.to {
                    self.open.push(if i == j { new } else { self.child(j) });
                }
                trees.push(self.close(node.kind, base));
            }
        }
    }

    /// Returns a copy of a node with one more child before the child `at`.
    fn inserted(&mut self, node: super::Node, at: u32, by: Tree) -> Tree {
        let base = self.open.len();
        for i in node.from..node.to {
            if i == at {
                self.open.push(by);
            }
            self.open.push(self.child(i));
        }
        if at == node.to {
            self.open.push(by);
        }
        self.close(node.kind, base)
    }

    /// Returns the tree of the permutations restricted to the leaves in `kept`, or `None` if the tree
    /// contains none of these leaves.
    pub fn restricted(&mut self, tree: Tree, kept: Leaves) -> Option<Tree> {
        let node = self.nodes[tree as usize];
        if node.leaves & !kept == 0 {
            return Some(tree);
        }
        if node.leaves & kept == 0 {
            return None;
        }
        let base = self.open.len();
        for i in node.from..node.to {
            let child = self.restricted(self.child(i), kept);
            self.open.extend(child);
        }
        (self.open.len() > base).then(|| self.close(node.kind, base))
    }

    /// Appends the leaves in the order of some permutation. If a permutation visits them in ascending order
    /// of `place`, that one is chosen.
    pub fn frontier(&self, tree: Tree, place: &[u32; MOST_LEAVES], order: &mut Vec<u8>) {
        let node = self.nodes[tree as usize];
        if node.kind == Kind::Leaf {
            order.push(node.from as u8);
            return;
        }
        let mut parts: Vec<Vec<u8>> = (node.from..node.to)
            .map(|i| {
                let mut part = Vec::new();
                self.frontier(self.child(i), place, &mut part);
                part
            })
            .collect();
        let first = |part: &Vec<u8>| part.iter().map(|&leaf| place[leaf as usize]).min();
        let last = |part: &Vec<u8>| part.iter().map(|&leaf| place[leaf as usize]).max();
        if node.kind == Kind::P {
            parts.sort_by_key(|part| (first(part), last(part)));
        } else if parts
            .windows(2)
            .any(|pair| first(&pair[0]) > first(&pair[1]) || last(&pair[0]) > last(&pair[1]))
        {
            parts.reverse();
        }
        order.extend(parts.into_iter().flatten());
    }

    /// Returns the natural logarithm of the number of permutations, as a fixed-point number.
    pub fn permutations(&self, tree: Tree) -> u32 {
        let node = self.nodes[tree as usize];
        let ways = match node.kind {
            Kind::Leaf => return 0,
            Kind::P => (2..=node.to - node.from).map(logarithm).sum(),
            Kind::Q => logarithm(2),
        };
        (node.from..node.to).fold(ways, |sum, i| sum + self.permutations(self.child(i)))
    }

    /// Returns pairs of leaves of `set` that are children of the same P-node. Each leaf is paired with the
    /// next one. Exchanging the two leaves of a pair turns every permutation of the tree into another
    /// permutation of it.
    pub fn siblings(&self, tree: Tree, set: Leaves) -> Vec<(Leaves, Leaves)> {
        let mut pairs = Vec::new();
        if set.count_ones() > 1 {
            self.list_siblings(tree, set, &mut pairs);
        }
        pairs
    }

    fn list_siblings(&self, tree: Tree, set: Leaves, pairs: &mut Vec<(Leaves, Leaves)>) {
        let node = self.nodes[tree as usize];
        if node.kind == Kind::Leaf || (node.leaves & set).count_ones() < 2 {
            return;
        }
        let mut previous = None;
        for i in node.from..node.to {
            let child = self.nodes[self.child(i) as usize];
            if child.kind != Kind::Leaf {
                self.list_siblings(self.child(i), set, pairs);
            } else if node.kind == Kind::P && child.leaves & set != 0 {
                pairs.extend(previous.map(|previous| (previous, child.leaves)));
                previous = Some(child.leaves);
            }
        }
    }
}
