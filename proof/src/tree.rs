//! PQ-trees: all permutations of a set in which given subsets are contiguous.

/// A set of leaves, one bit each.
pub(crate) type Set = u128;

/// A PQ-tree. The children of an ordered node (Q-node) may only be reversed. Those of other nodes (P-nodes)
/// may be permuted. The tree represents all orders of its leaves that these moves produce.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Leaf(Set),
    Node { ordered: bool, children: Vec<Tree>, leaves: Set },
}

/// Whether a set contains none, some or all of the leaves of a tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Part {
    None,
    Some,
    All,
}

impl Tree {
    /// Returns the tree with these children. There must be at least one child.
    pub fn new(ordered: bool, mut children: Vec<Self>) -> Self {
        if children.len() == 1 {
            return children.remove(0);
        }
        let leaves = children.iter().fold(0, |all, child| all | child.leaves());
        Self::Node { ordered: ordered && children.len() > 2, children, leaves }
    }

    /// Returns the tree of all permutations of a nonempty set.
    pub fn all(set: Set) -> Self {
        Self::new(false, bits(set).map(Self::Leaf).collect())
    }

    pub fn leaves(&self) -> Set {
        match self {
            Self::Leaf(leaf) => *leaf,
            Self::Node { leaves, .. } => *leaves,
        }
    }

    /// Splits a set of leaves into classes, and calls `found` for each class. The leaves of a class are
    /// children of the same P-node, so an exchange of two of them does not change the tree.
    pub fn classes(&self, among: Set, found: &mut impl FnMut(Set)) {
        let (ordered, children) = self.parts();
        let (mut all, mut rest) = (0, among & self.leaves());
        for child in children {
            match child {
                Self::Leaf(leaf) if !ordered => all |= leaf & among,
                _ => child.classes(among, found),
            }
            rest &= !child.leaves();
        }
        // A leaf has no children, so it is its own class.
        if all | rest != 0 {
            found(all | rest);
        }
    }

    fn parts(&self) -> (bool, &[Self]) {
        match self {
            Self::Leaf(_) => (false, &[]),
            Self::Node { ordered, children, .. } => (*ordered, children),
        }
    }

    fn part(&self, set: Set) -> Part {
        match self.leaves() & set {
            0 => Part::None,
            common if common == self.leaves() => Part::All,
            _ => Part::Some,
        }
    }

    /// Returns the tree of the permutations in which a nonempty set is contiguous. Returns `None` if there
    /// are none. Takes O(leaves) time.
    pub fn reduced(&self, set: Set) -> Option<Self> {
        self.with_block(set, None)
    }

    /// Like [`Tree::reduced`], but replaces the set by the block `by`.
    pub fn replaced(&self, set: Set, by: &Self) -> Option<Self> {
        self.with_block(set, Some(by))
    }

    fn with_block(&self, set: Set, by: Option<&Self>) -> Option<Self> {
        if self.leaves() == set {
            return Some(by.unwrap_or(self).clone());
        }
        let (ordered, children) = self.parts();
        if let Some(at) = children.iter().position(|child| set & !child.leaves() == 0) {
            let mut children = children.to_vec();
            children[at] = children[at].with_block(set, by)?;
            return Some(Self::new(ordered, children));
        }
        let keeps = by.is_none();
        if !ordered {
            let [outside, partial, inside] = self.split(set);
            let mut ends = partial.iter().map(|child| child.lined_up(set, keeps));
            let mut middle = ends.next().unwrap_or(Some(Vec::new()))?;
            let last = ends.next().unwrap_or(Some(Vec::new()))?;
            if ends.next().is_some() {
                return None;
            }
            match by {
                Some(by) => middle.push(by.clone()),
                None => middle.extend(joined(inside)),
            }
            middle.extend(last.into_iter().rev());
            return Some(Self::new(false, outside.into_iter().chain([Self::new(true, middle)]).collect()));
        }
        let from = children.iter().position(|child| child.part(set) != Part::None)?;
        let to = children.iter().rposition(|child| child.part(set) != Part::None)?;
        if children[from + 1..to].iter().any(|child| child.part(set) != Part::All) {
            return None;
        }
        let side = |child: &Self| match child.part(set) {
            Part::All => Some(if keeps { vec![child.clone()] } else { Vec::new() }),
            _ => child.lined_up(set, keeps),
        };
        let mut sequence = children[..from].to_vec();
        sequence.extend(side(&children[from])?);
        match by {
            Some(by) => sequence.push(by.clone()),
            None => sequence.extend_from_slice(&children[from + 1..to]),
        }
        sequence.extend(side(&children[to])?.into_iter().rev());
        sequence.extend_from_slice(&children[to + 1..]);
        Some(Self::new(true, sequence))
    }

    /// Returns the children of which a set contains no, some and all leaves.
    fn split(&self, set: Set) -> [Vec<Self>; 3] {
        let children = |part| self.parts().1.iter().filter(move |child| child.part(set) == part);
        [Part::None, Part::Some, Part::All].map(|part| children(part).cloned().collect())
    }

    /// Returns the leaves outside a set as a fixed sequence of trees, such that all leaves of the set can
    /// come after them. If `keeps` is true, the leaves of the set follow. Returns `None` if this is
    /// impossible.
    fn lined_up(&self, set: Set, keeps: bool) -> Option<Vec<Self>> {
        let (ordered, children) = self.parts();
        let [mut outside, partial, mut inside] = self.split(set);
        if partial.len() > 1 {
            return None;
        }
        if !ordered {
            (outside, inside) = (joined(outside), joined(inside));
        } else if !children.is_sorted_by_key(|child| child.part(set)) {
            if !children.iter().rev().is_sorted_by_key(|child| child.part(set)) {
                return None;
            }
            outside.reverse();
            inside.reverse();
        }
        let mut sequence = outside;
        if let Some(child) = partial.first() {
            sequence.extend(child.lined_up(set, keeps)?);
        }
        sequence.extend(inside.into_iter().filter(|_| keeps));
        Some(sequence)
    }

    /// Returns trees that together represent all permutations of this tree with a block inserted at any
    /// place.
    pub fn insertions(&self, by: &Self) -> Vec<Self> {
        let mut trees = Vec::new();
        match self.parts() {
            (_, []) => trees.push(Self::new(false, vec![self.clone(), by.clone()])),
            (true, children) => {
                let at = |at: usize| Self::new(true, with(children, at, by));
                trees.extend([at(0), at(children.len())]);
            }
            (false, _) => {}
        }
        self.insert_within(by, &mut |tree| trees.push(tree));
        trees
    }

    /// Inserts a block at every place between two leaves, and before and after the leaves of every P-node.
    fn insert_within(&self, by: &Self, found: &mut dyn FnMut(Self)) {
        let (ordered, children) = self.parts();
        if ordered {
            (1..children.len()).for_each(|at| found(Self::new(true, with(children, at, by))));
        } else if !children.is_empty() {
            found(Self::new(false, with(children, 0, by)));
        }
        for (at, child) in children.iter().enumerate() {
            child.insert_within(by, &mut |tree| {
                let mut children = children.to_vec();
                children[at] = tree;
                found(Self::new(ordered, children));
            });
        }
    }

    /// Calls `found` with sets of at least two leaves whose contiguity defines the tree.
    pub fn defining(&self, found: &mut dyn FnMut(Set)) {
        let (ordered, children) = self.parts();
        for (at, child) in children.iter().enumerate() {
            if let Self::Node { leaves, .. } = child {
                found(*leaves);
                child.defining(found);
            }
            if ordered && at > 0 {
                found(children[at - 1].leaves() | child.leaves());
            }
        }
    }

    /// Calls `found` with all sets of at least two leaves that are contiguous in every permutation.
    pub fn contiguous(&self, found: &mut dyn FnMut(Set)) {
        let (ordered, children) = self.parts();
        if !children.is_empty() {
            found(self.leaves());
        }
        for (at, child) in children.iter().enumerate() {
            child.contiguous(found);
            let mut run = child.leaves();
            for next in children[at + 1..].iter().take_while(|_| ordered) {
                run |= next.leaves();
                found(run);
            }
        }
    }

    /// Replaces leaves by other leaves, or removes those for which `name` returns `None`. Returns `None` if
    /// no leaf is left.
    pub fn renamed(&self, name: &dyn Fn(Set) -> Option<Set>) -> Option<Self> {
        match self {
            Self::Leaf(leaf) => name(*leaf).map(Self::Leaf),
            Self::Node { ordered, children, .. } => {
                let children: Vec<Self> = children.iter().filter_map(|child| child.renamed(name)).collect();
                if children.is_empty() { None } else { Some(Self::new(*ordered, children)) }
            }
        }
    }
}

/// Returns at most one tree, which has all permutations of the trees.
fn joined(trees: Vec<Tree>) -> Vec<Tree> {
    if trees.is_empty() { trees } else { vec![Tree::new(false, trees)] }
}

/// Returns the elements of a set.
pub(crate) fn bits(mut set: Set) -> impl Iterator<Item = Set> {
    std::iter::from_fn(move || {
        let lowest = set & set.wrapping_neg();
        set ^= lowest;
        (lowest != 0).then_some(lowest)
    })
}

fn with(children: &[Tree], at: usize, by: &Tree) -> Vec<Tree> {
    let mut children = children.to_vec();
    children.insert(at, by.clone());
    children
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    type Order = Vec<u32>;

    fn orders(tree: &Tree) -> BTreeSet<Order> {
        let (ordered, children) = match tree {
            Tree::Leaf(leaf) => return BTreeSet::from([vec![leaf.trailing_zeros()]]),
            Tree::Node { ordered, children, .. } => (*ordered, children),
        };
        let mut sequences: Vec<Vec<&Tree>> = vec![vec![]];
        for child in children {
            let places = |s: &Vec<&Tree>| if ordered { s.len()..s.len() + 1 } else { 0..s.len() + 1 };
            let put = |s: &Vec<_>, at: usize| [&s[..at], &[child], &s[at..]].concat();
            sequences = sequences.iter().flat_map(|s| places(s).map(move |at| put(s, at))).collect();
        }
        let mut all = BTreeSet::new();
        for sequence in sequences {
            let mut prefixes: BTreeSet<Order> = BTreeSet::from([vec![]]);
            for child in &sequence {
                let own = orders(child);
                prefixes =
                    prefixes.iter().flat_map(|p| own.iter().map(move |o| [&p[..], o].concat())).collect();
            }
            let reversed = prefixes.iter().map(|p| p.iter().rev().copied().collect()).collect::<Vec<Order>>();
            all.extend(prefixes);
            all.extend(reversed);
        }
        all
    }

    fn is_contiguous(order: &[u32], set: Set) -> bool {
        let at: Vec<usize> = (0..order.len()).filter(|&i| set >> order[i] & 1 == 1).collect();
        at.last().is_none_or(|last| last - at[0] + 1 == at.len())
    }

    /// Pseudo-random trees of six leaves.
    fn trees() -> Vec<Tree> {
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        (0..60)
            .map(|_| {
                let mut parts: Vec<Tree> = (0..6).map(|leaf| Tree::Leaf(1 << leaf)).collect();
                while parts.len() > 1 {
                    let count = 2 + next(parts.len() as u64 - 1) as usize;
                    let mut children = Vec::new();
                    for _ in 0..count {
                        children.push(parts.remove(next(parts.len() as u64) as usize));
                    }
                    parts.push(Tree::new(next(2) == 0, children));
                }
                parts.remove(0)
            })
            .collect()
    }

    #[test]
    fn operations_agree_with_lists_of_permutations() {
        let by = Tree::Leaf(1 << 9);
        for tree in trees() {
            let all = orders(&tree);
            for set in 1..64 {
                let block = |order: &Order| {
                    let first = order.iter().position(|&leaf| set >> leaf & 1 == 1).unwrap();
                    let outside = |&&leaf: &&u32| set >> leaf & 1 == 0;
                    let before = order[..first].iter().copied();
                    before.chain([9]).chain(order[first..].iter().filter(outside).copied()).collect::<Order>()
                };
                let expected: BTreeSet<Order> =
                    all.iter().filter(|o| is_contiguous(o, set)).map(block).collect();
                let found = tree.replaced(set, &by).map(|tree| orders(&tree)).unwrap_or_default();
                assert_eq!(found, expected, "{tree:?} {set:b}");
                let expected = all.iter().filter(|order| is_contiguous(order, set)).cloned().collect();
                let found = tree.reduced(set).map(|tree| orders(&tree)).unwrap_or_default();
                assert_eq!(found, expected, "{tree:?} {set:b}");
                let kept =
                    |order: &Order| order.iter().copied().filter(|&leaf| set >> leaf & 1 == 1).collect();
                let restricted = tree.renamed(&|leaf| (leaf & set != 0).then_some(leaf)).unwrap();
                assert_eq!(orders(&restricted), all.iter().map(kept).collect(), "{tree:?} {set:b}");
            }
            let mut classes = Vec::new();
            tree.classes(63, &mut |class| classes.push(class));
            assert_eq!(classes.iter().map(|class| class.count_ones()).sum::<u32>(), 6);
            for pair in classes.iter().flat_map(|&class| bits(class).zip(bits(class).skip(1))) {
                let swap = |leaf| if leaf & (pair.0 | pair.1) == 0 { leaf } else { leaf ^ pair.0 ^ pair.1 };
                assert_eq!(orders(&tree.renamed(&|leaf| Some(swap(leaf))).unwrap()), all, "{tree:?}");
            }
            let mut contiguous = BTreeSet::new();
            tree.contiguous(&mut |set| contiguous.extend([set]));
            let expected =
                (1..64u128).filter(|s| s.count_ones() > 1 && all.iter().all(|o| is_contiguous(o, *s)));
            assert_eq!(contiguous, expected.collect(), "{tree:?}");
            let mut defining = Vec::new();
            tree.defining(&mut |set| defining.push(set));
            let inside = orders(&Tree::all(63));
            let defined = inside.into_iter().filter(|o| defining.iter().all(|&s| is_contiguous(o, s)));
            assert_eq!(defined.collect::<BTreeSet<_>>(), all, "{tree:?}");
            let inserted: BTreeSet<Order> = tree.insertions(&by).iter().flat_map(orders).collect();
            let put = |o: &Order, at: usize| [&o[..at], &[9], &o[at..]].concat();
            assert_eq!(
                inserted,
                all.iter().flat_map(|o| (0..7).map(move |at| put(o, at))).collect(),
                "{tree:?}"
            );
        }
    }
}
