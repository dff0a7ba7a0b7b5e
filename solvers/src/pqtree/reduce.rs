//! Makes a set of leaves contiguous.

use super::{Forest, Kind, Leaves, Node, Tree};

/// How much of a node belongs to the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    None,
    Some,
    All,
}

impl Forest {
    /// Returns the tree of those permutations in which `set` is contiguous, or `None` if there are none. The
    /// set must be a nonempty subset of the leaves.
    pub fn reduce(&mut self, tree: Tree, set: Leaves) -> Option<Tree> {
        self.open.clear();
        self.narrow(tree, set, None)
    }

    /// Makes `set` contiguous, as [`Forest::reduce`] does, and then replaces it with the tree `by`. Returns
    /// `None` if `set` is contiguous in no permutation. The leaves of `by` must not occur in the rest of the
    /// tree.
    pub fn exchange(&mut self, tree: Tree, set: Leaves, by: Tree) -> Option<Tree> {
        self.open.clear();
        self.narrow(tree, set, Some(by))
    }

    fn part(&self, tree: Tree, set: Leaves) -> Part {
        let leaves = self.leaves(tree);
        match leaves & set {
            0 => Part::None,
            all if all == leaves => Part::All,
            _ => Part::Some,
        }
    }

    /// Reduces a node that contains the whole set.
    fn narrow(&mut self, at: Tree, set: Leaves, by: Option<Tree>) -> Option<Tree> {
        let node = self.nodes[at as usize];
        if node.leaves == set {
            return Some(by.unwrap_or(at));
        }
        let whole = (node.from..node.to).find(|&i| self.leaves(self.child(i)) & set == set);
        match (whole, node.kind) {
            (Some(whole), kind) => {
                let child = self.child(whole);
                let new = self.narrow(child, set, by)?;
                if new == child {
                    return Some(at);
                }
                let base = self.open.len();
                for i in node.from..node.to {
                    self.open.push(if i == whole { new } else { self.child(i) });
                }
                Some(self.close(kind, base))
            }
            (None, Kind::P) => self.narrow_p(node, set, by),
            (None, Kind::Q) => self.narrow_q(node, set, by),
            (None, Kind::Leaf) => unreachable!("the set is a subset of the leaves"),
        }
    }

    /// Reduces a P-node with several children that contain parts of the set. The full children become part of
    /// a new child, between at most two partial ones.
    fn narrow_p(&mut self, node: Node, set: Leaves, by: Option<Tree>) -> Option<Tree> {
        let mut partial = [None; 2];
        let mut partials = 0;
        let base = self.open.len();
        for i in node.from..node.to {
            let child = self.child(i);
            match self.part(child, set) {
                Part::All => self.open.push(child),
                Part::Some if partials == 2 => return None,
                Part::Some => {
                    partial[partials] = Some(child);
                    partials += 1;
                }
                Part::None => {}
            }
        }
        let full = if self.open.len() > base { Some(self.close(Kind::P, base)) } else { None };
        if let Some(first) = partial[0]
            && !self.line_up(first, set, by.is_none())
        {
            return None;
        }
        self.open.extend(by.or(full));
        if let Some(second) = partial[1] {
            let from = self.open.len();
            if !self.line_up(second, set, by.is_none()) {
                return None;
            }
            self.open[from..].reverse();
        }
        let middle = self.close(Kind::Q, base);
        for i in node.from..node.to {
            let child = self.child(i);
            if self.part(child, set) == Part::None {
                self.open.push(child);
            }
        }
        self.open.push(middle);
        Some(self.close(Kind::P, base))
    }

    /// Reduces a Q-node with several children that contain parts of the set.
    fn narrow_q(&mut self, node: Node, set: Leaves, by: Option<Tree>) -> Option<Tree> {
        let touched = |i: &u32| self.leaves(self.child(*i)) & set != 0;
        let first = (node.from..node.to).find(touched)?;
        let last = (node.from..node.to).rev().find(touched)?;
        if (first + 1..last).any(|i| self.part(self.child(i), set) != Part::All) {
            return None;
        }
        let base = self.open.len();
        self.open.extend(node.from..first);
        self.open[base..].iter_mut().for_each(|i| *i = self.children[*i as usize]);
        let child = self.child(first);
        if self.part(child, set) == Part::Some {
            if !self.line_up(child, set, by.is_none()) {
                return None;
            }
        } else if by.is_none() {
            self.open.push(child);
        }
        match by {
            Some(by) => self.open.push(by),
            None => (first + 1..last).for_each(|i| self.open.push(self.children[i as usize])),
        }
        let child = self.child(last);
        if self.part(child, set) == Part::Some {
            let from = self.open.len();
            if !self.line_up(child, set, by.is_none()) {
                return None;
            }
            self.open[from..].reverse();
        } else if by.is_none() {
            self.open.push(child);
        }
        (last + 1..node.to).for_each(|i| self.open.push(self.children[i as usize]));
        Some(self.close(Kind::Q, base))
    }

    /// Appends the parts of a partial node to the open children, in a fixed sequence that ends with the
    /// leaves of the set. If `keep` is false, the leaves of the set are omitted. Returns false if no such
    /// sequence exists.
    fn line_up(&mut self, at: Tree, set: Leaves, keep: bool) -> bool {
        let node = self.nodes[at as usize];
        match node.kind {
            Kind::Leaf => unreachable!("a leaf is not partial"),
            Kind::P => self.line_up_p(node, set, keep),
            Kind::Q => self.line_up_q(node, set, keep),
        }
    }

    fn line_up_p(&mut self, node: Node, set: Leaves, keep: bool) -> bool {
        let mut partial = None;
        let base = self.open.len();
        for i in node.from..node.to {
            let child = self.child(i);
            match self.part(child, set) {
                Part::None => self.open.push(child),
                Part::Some if partial.is_some() => return false,
                Part::Some => partial = Some(child),
                Part::All => {}
            }
        }
        if self.open.len() > base {
            let rest = self.close(Kind::P, base);
            self.open.push(rest);
        }
        if let Some(partial) = partial
            && !self.line_up(partial, set, keep)
        {
            return false;
        }
        if keep {
            let base = self.open.len();
            for i in node.from..node.to {
                let child = self.child(i);
                if self.part(child, set) == Part::All {
                    self.open.push(child);
                }
            }
            if self.open.len() > base {
                let full = self.close(Kind::P, base);
                self.open.push(full);
            }
        }
        true
    }

    fn line_up_q(&mut self, node: Node, set: Leaves, keep: bool) -> bool {
        let count = node.to - node.from;
        let backwards = self.part(self.child(node.from), set) == Part::All
            || self.part(self.child(node.to - 1), set) == Part::None;
        let mut inside = false;
        for i in 0..count {
            let child = self.child(if backwards { node.to - 1 - i } else { node.from + i });
            match self.part(child, set) {
                Part::All => {
                    inside = true;
                    if keep {
                        self.open.push(child);
                    }
                }
                _ if inside => return false,
                Part::None => self.open.push(child),
                Part::Some => {
                    inside = true;
                    if !self.line_up(child, set, keep) {
                        return false;
                    }
                }
            }
        }
        true
    }
}
