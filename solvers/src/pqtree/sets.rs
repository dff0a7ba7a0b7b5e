//! The sets that are contiguous in all permutations of a tree.

use super::{Forest, Kind, Leaves, Tree};

/// Number of bits of the fractional part of logarithms.
const FRACTION: f64 = 1024.0;

impl Forest {
    /// Appends sets whose contiguity defines the tree: those of all nodes except the root and leaves, and
    /// those of neighbours in Q-nodes.
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

    /// Appends all sets of at least two leaves that are contiguous in every permutation: those of all nodes
    /// except the root, and those of runs of children of Q-nodes.
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

    /// Returns the natural logarithm of the number of permutations, as a fixed-point number.
    pub fn permutations(&self, tree: Tree) -> u32 {
        let node = self.nodes[tree as usize];
        let ways = match node.kind {
            Kind::Leaf => return 0,
            Kind::P => (2..=node.to - node.from).map(|n| (f64::from(n).ln() * FRACTION).round() as u32).sum(),
            Kind::Q => (2f64.ln() * FRACTION).round() as u32,
        };
        (node.from..node.to).fold(ways, |sum, i| sum + self.permutations(self.child(i)))
    }

    /// Lists neighbouring leaves of `set` that are children of the same P-node. They can change places in
    /// every permutation.
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
