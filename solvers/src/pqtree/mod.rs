//! PQ-trees, which represent all permutations of a set in which given subsets are contiguous.
//!
//! # Definition
//!
//! The leaves of a PQ-tree are the elements. The children of a *P-node* may be permuted in any way, and those
//! of a *Q-node* may only be reversed. The tree represents all orders of its leaves that these moves produce.
//! Every family of subsets that can be contiguous at the same time has exactly one such tree, up to these
//! moves.
//!
//! ```text
//!        P               Subsets {a, b, c}, {b, c, d} and {e, f}.
//!      /   \             The orders are a (bc) d (ef), d (bc) a (ef), (ef) a (bc) d, (ef) d (bc) a,
//!     Q     P            with both orders of b and c, and of e and f.
//!   / | \   |\
//!  a  P  d  e f
//!     |\
//!     b c
//! ```
//!
//! [`Forest::reduce`] makes a further subset contiguous, and [`Forest::exchange`] also replaces it with
//! another tree. Trees share nodes: both operations create only the nodes on the paths from the root to the
//! subset, in time linear in the number of their children. A set of leaves is a mask of 128 bits. A Q-node
//! has at least three children.
//!
//! [`Forest::write`] writes a canonical key. The key does not distinguish leaves with equal labels.
//!
//! **Source.** Booth, Lueker, *Testing for the consecutive ones property, interval graphs, and graph
//! planarity using PQ-tree algorithms*, Journal of Computer and System Sciences 13, 1976. The recursion from
//! the root is simpler than their templates. It takes time linear in the number of leaves instead of the
//! size of the subset.

mod key;
mod reduce;
mod sets;

pub(crate) use key::{Labels, words};
pub(crate) use sets::logarithm;

/// A set of leaves, one bit each.
pub(crate) type Leaves = u128;

/// Maximum number of leaves.
pub(crate) const MOST_LEAVES: usize = 128;

/// A node of a [`Forest`], and the tree below it.
pub(crate) type Tree = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Leaf,
    P,
    Q,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    /// The children are `children[from..to]` of the forest.
    from: u32,
    to: u32,
    leaves: Leaves,
}

/// PQ-trees that share nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forest {
    nodes: Vec<Node>,
    children: Vec<Tree>,
    /// Children of nodes that are not finished yet.
    open: Vec<Tree>,
}

/// The numbers of nodes and children of a forest at some time, to which it can be truncated later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize, usize);

impl Forest {
    pub fn mark(&self) -> Mark {
        Mark(self.nodes.len(), self.children.len())
    }

    /// Forgets all trees created since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        self.nodes.truncate(mark.0);
        self.children.truncate(mark.1);
        self.open.clear();
    }

    /// Forgets all trees.
    pub fn clear(&mut self) {
        self.rewind(Mark(0, 0));
    }

    pub fn leaf(&mut self, leaf: u8) -> Tree {
        self.push(Node { kind: Kind::Leaf, from: u32::from(leaf), to: u32::from(leaf), leaves: 1 << leaf })
    }

    /// Returns the tree of all permutations of a nonempty set.
    pub fn universal(&mut self, mut leaves: Leaves) -> Tree {
        let base = self.open.len();
        while leaves != 0 {
            let leaf = self.leaf(leaves.trailing_zeros() as u8);
            self.open.push(leaf);
            leaves &= leaves - 1;
        }
        self.close(Kind::P, base)
    }

    pub fn leaves(&self, tree: Tree) -> Leaves {
        self.nodes[tree as usize].leaves
    }

    fn push(&mut self, node: Node) -> Tree {
        self.nodes.push(node);
        self.nodes.len() as Tree - 1
    }

    /// Creates a node from the children that were opened since `base`. One child needs no node. A Q-node
    /// with two children becomes a P-node, because it has the same permutations.
    fn close(&mut self, kind: Kind, base: usize) -> Tree {
        match self.open.len() - base {
            0 => unreachable!("a node has children"),
            1 => self.open.pop().expect("there is one"),
            count => {
                let from = self.children.len() as u32;
                self.children.extend(self.open.drain(base..));
                let to = self.children.len() as u32;
                let leaves = (from..to).fold(0, |all, i| all | self.leaves(self.children[i as usize]));
                let kind = if count == 2 { Kind::P } else { kind };
                self.push(Node { kind, from, to, leaves })
            }
        }
    }

    fn child(&self, i: u32) -> Tree {
        self.children[i as usize]
    }
}

#[cfg(test)]
mod tests;
