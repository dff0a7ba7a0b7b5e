//! Sweeps: lists of trees that contain, step by step, all arrangements that are still possible.

use crate::bond::{Bond, Buffers, narrowed, tree_work};
use crate::error::Reason;
use crate::listed::{Listed, classes};
use crate::tree::{Set, Tree, bits};
use crate::words::buffer;
use crate::work::Work;
use std::collections::{BTreeMap, HashMap};

/// Maximum number of free units at a step.
const MOST_FREE: u32 = 52;

/// Maximum number of buffers that begin between two steps.
const MOST_NEW: usize = 16;

/// A declared buffer that is live at a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live {
    pub buffer: u32,
    /// Size in units.
    pub size: u64,
}

#[derive(Debug)]
struct Step {
    number: u64,
    /// The leaf and the size of each live buffer.
    live: BTreeMap<u32, (Set, u64)>,
    /// Free units at the step.
    free: u64,
    trees: Vec<Tree>,
    /// The bond that stands for the trees.
    bond: Option<Buffers>,
}

impl Step {
    fn leaves(&self) -> Set {
        self.live.values().fold(0, |all, &(leaf, _)| all | leaf)
    }

    fn bond(&self, buffers: &Buffers) -> Bond {
        let leaves = |list: &[u32]| list.iter().fold(0, |all, buffer| all | self.live[buffer].0);
        Bond { set: leaves(&buffers.set), loose: leaves(&buffers.loose) }
    }
}

/// Sweeps over the steps of the statements `at`.
#[derive(Debug)]
pub(crate) struct Sweep {
    /// Bytes per unit.
    pub unit: u64,
    /// The capacity in units.
    capacity: u64,
    /// The bonds of each step, by its number.
    bonds: HashMap<u64, Vec<Buffers>>,
    /// The previous step, whose trees have been checked.
    before: Option<Step>,
    /// The step whose trees are being listed.
    now: Option<Step>,
    /// Number of leaves for the holes of a step, and for those of the next step: the free units of the first
    /// step, which no step exceeds. The other leaves are for buffers.
    holes: u32,
    /// 1 if the holes of the current step use the upper half of the leaves for holes.
    half: u32,
}

impl Sweep {
    pub fn new(unit: u64, capacity: u64) -> Self {
        let (bonds, before, now) = (HashMap::new(), None, None);
        Self { unit, capacity, bonds, before, now, holes: MOST_FREE, half: 0 }
    }

    /// `sweep U`: ends a sweep and starts another one in the same unit. The bonds remain.
    pub fn restart(&mut self, unit: u64, work: &Work<'_>) -> Result<(), Reason> {
        if unit != self.unit {
            return Err(Reason::NotAUnit(unit));
        }
        if self.finish(work)? {
            return Err(Reason::TextAfterProof);
        }
        (self.before, self.now, self.holes, self.half) = (None, None, MOST_FREE, 0);
        Ok(())
    }

    /// Returns the last leaf for buffers, as a set.
    fn last_leaf(&self) -> Set {
        1 << (Set::BITS - 2 * self.holes - 1)
    }

    /// Returns the number of the first leaf for the holes of a step; see [`Sweep::half`].
    fn first_hole(&self, half: u32) -> u32 {
        Set::BITS - (2 - half) * self.holes
    }

    /// `at T`: ends the list of trees of the current step and starts the list of step `number`.
    pub fn at(&mut self, number: u64, live: &[Live], work: &Work<'_>) -> Result<(), Reason> {
        self.settle(work)?;
        let is_first = self.before.is_none();
        let load = live.iter().try_fold(0u64, |sum, one| sum.checked_add(one.size));
        let free = load.and_then(|load| self.capacity.checked_sub(load));
        let free = free.filter(|&free| free <= u64::from(self.holes)).ok_or(Reason::NotFull(number))?;
        if is_first {
            self.holes = free as u32;
        }
        let mut step = Step { number, live: BTreeMap::new(), free, trees: Vec::new(), bond: None };
        let known = |buffer: &u32| self.before.as_ref().and_then(|before| before.live.get(buffer));
        let mut used = self.before.as_ref().map_or(0, Step::leaves);
        for one in live {
            let leaf = match known(&one.buffer) {
                Some(&(leaf, _)) => leaf,
                None => !used & used.wrapping_add(1),
            };
            if leaf == 0 || leaf > self.last_leaf() {
                return Err(Reason::TooManyLive(number));
            }
            used |= leaf;
            step.live.insert(one.buffer, (leaf, one.size));
        }
        if step.live.is_empty() {
            return Err(Reason::NotFull(number));
        }
        self.half ^= 1;
        if is_first {
            let (buffers, bonds) = (step.leaves(), self.bonds_of(&step, work)?);
            step.trees.extend(narrowed(&Tree::all(buffers), buffers, &bonds, work)?);
            self.before = Some(step);
        } else {
            self.now = Some(step);
        }
        Ok(())
    }

    /// `tree ..`: adds a tree to the list of the current step: `(..)` for a node whose children may be
    /// permuted, `[..]` for a node whose children may be reversed, the numbers of buffers, and `*` for a
    /// hole.
    pub fn tree<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), Reason> {
        let holes = self.first_hole(self.half);
        let step = self.now.as_mut().filter(|step| step.bond.is_none()).ok_or(Reason::Misplaced("tree"))?;
        let wrong = |found: &str| Reason::Word { expected: "a tree", found: found.to_owned() };
        let mut open: Vec<(bool, Vec<Tree>)> = Vec::new();
        let (mut seen, mut count, mut done) = (0, 0, None);
        for word in words {
            if done.is_some() {
                return Err(wrong(word));
            }
            let node = match word {
                "(" | "[" => {
                    open.push((word == "[", Vec::new()));
                    continue;
                }
                ")" | "]" => {
                    let (ordered, children) = open.pop().ok_or_else(|| wrong(word))?;
                    if children.is_empty() || ordered != (word == "]") {
                        return Err(wrong(word));
                    }
                    Tree::new(ordered, children)
                }
                _ => {
                    let leaf = if word == "*" {
                        count += 1;
                        if count > step.free {
                            return Err(wrong(word));
                        }
                        1 << (holes + count as u32 - 1)
                    } else {
                        let buffer = buffer(word)?;
                        step.live.get(&buffer).ok_or_else(|| wrong(word))?.0
                    };
                    if seen & leaf != 0 {
                        return Err(wrong(word));
                    }
                    seen |= leaf;
                    Tree::Leaf(leaf)
                }
            };
            match open.last_mut() {
                Some((_, children)) => children.push(node),
                None => done = Some(node),
            }
        }
        let all = step.leaves();
        match done {
            Some(tree) if seen & all == all => step.trees.push(tree),
            _ => return Err(Reason::MissingWord("all live buffers")),
        }
        Ok(())
    }

    /// `bond I .. | K ..`: lists the trees of the current step in which the buffers `I ..` are contiguous,
    /// apart from some of the buffers `K ..`. If this list is complete, later sweeps use the bond at this
    /// step.
    pub fn bond<'a>(&mut self, words: impl Iterator<Item = &'a str>, work: &Work<'_>) -> Result<(), Reason> {
        let step = self.now.as_mut().filter(|step| step.trees.is_empty()).ok_or(Reason::Misplaced("bond"))?;
        let mut buffers = Buffers::default();
        let (mut seen, mut is_loose) = (0, false);
        for word in words {
            let wrong = || Reason::Word { expected: "a live buffer", found: word.to_owned() };
            if word == "|" && !is_loose && seen != 0 {
                is_loose = true;
                continue;
            }
            let buffer = buffer(word)?;
            let leaf = step.live.get(&buffer).ok_or_else(wrong)?.0;
            if seen & leaf != 0 {
                return Err(wrong());
            }
            seen |= leaf;
            let list = if is_loose { &mut buffers.loose } else { &mut buffers.set };
            list.push(buffer);
        }
        if seen == 0 {
            return Err(Reason::MissingWord("a live buffer"));
        }
        step.trees = step.bond(&buffers).trees(step.leaves(), work)?;
        step.bond = Some(buffers);
        Ok(())
    }

    /// Returns the bonds of a step that are known so far.
    fn bonds_of(&self, step: &Step, work: &Work<'_>) -> Result<Vec<Bond>, Reason> {
        let known = self.bonds.get(&step.number).map(Vec::as_slice).unwrap_or_default();
        work.spend(known.len() * step.live.len())?;
        Ok(known.iter().map(|bond| step.bond(bond)).collect())
    }

    /// Ends the sweep. Returns true if no arrangement is left.
    pub fn finish(&mut self, work: &Work<'_>) -> Result<bool, Reason> {
        self.settle(work)?;
        Ok(self.before.as_ref().is_some_and(|before| before.trees.is_empty()))
    }

    /// Checks that every successor of a tree of the previous step is contained in a tree of the current step.
    fn settle(&mut self, work: &Work<'_>) -> Result<(), Reason> {
        let (Some(before), Some(now)) = (&self.before, &self.now) else { return Ok(()) };
        let stays = |buffer: &&u32| now.live.contains_key(buffer);
        let old: Vec<(Set, u64)> =
            before.live.iter().filter(|(buffer, _)| !stays(buffer)).map(|(_, &one)| one).collect();
        let new: Vec<(Set, u64)> = now
            .live
            .iter()
            .filter(|(buffer, _)| !before.live.contains_key(buffer))
            .map(|(_, &one)| one)
            .collect();
        if new.len() > MOST_NEW {
            return Err(Reason::TooManyLive(now.number));
        }
        work.spend(16 << new.len())?;
        let mut groups: Vec<(Set, u64)> = vec![(0, 0)];
        for &(leaf, size) in &new {
            groups.extend_from_within(..);
            let half = groups.len() / 2;
            groups[half..].iter_mut().for_each(|group| *group = (group.0 | leaf, group.1 + size));
        }
        groups.sort_unstable_by_key(|&(leaves, size)| (size, leaves));
        let listed = Listed::of(&now.trees, now.leaves(), self.first_hole(self.half), work)?;
        let bonds = self.bonds_of(now, work)?;
        for (at, tree) in before.trees.iter().enumerate() {
            let holes = tree.leaves() & !before.leaves();
            let mut successors = Successors {
                old: &old,
                groups: &groups,
                most_holes: now.free,
                listed: &listed,
                bonds: &bonds,
                work,
                unlisted: Reason::Unlisted { step: now.number, tree: at },
            };
            let set = |list: &[(Set, u64)]| list.iter().fold(0, |all, &(leaf, _)| all | leaf);
            let free = before.free - u64::from(holes.count_ones());
            successors.extend(tree, Rest { old: set(&old), holes, new: set(&new), free, made: 0 })?;
        }
        if let Some(bond) = &now.bond {
            self.bonds.entry(now.number).or_default().push(bond.clone());
        }
        self.before = self.now.take();
        Ok(())
    }
}

/// The buffers, holes and free units that remain to be exchanged.
#[derive(Clone, Copy)]
struct Rest {
    old: Set,
    holes: Set,
    new: Set,
    free: u64,
    /// Number of holes added so far.
    made: u64,
}

struct Successors<'a> {
    /// The buffers that end.
    old: &'a [(Set, u64)],
    /// All subsets of the buffers that begin, each with its total size, in ascending order of this size.
    groups: &'a [(Set, u64)],
    most_holes: u64,
    listed: &'a Listed,
    /// The bonds of the current step.
    bonds: &'a [Bond],
    work: &'a Work<'a>,
    unlisted: Reason,
}

impl Successors<'_> {
    /// Exchanges the first remaining buffer that ends, in every possible way. If there is none, exchanges the
    /// first remaining buffer that begins. If neither remains, checks that a listed tree contains the result.
    fn extend(&mut self, tree: &Tree, rest: Rest) -> Result<(), Reason> {
        self.work.spend(tree_work(tree.leaves()))?;
        if rest.old != 0 {
            let first = rest.old & rest.old.wrapping_neg();
            let mut others: Vec<Set> = bits(rest.old & !first).collect();
            others.extend(classes(tree, rest.holes));
            return subsets(&others, first, &mut |group| self.exchange(tree, group, rest, 0));
        }
        let first = rest.new & rest.new.wrapping_neg();
        if first == 0 {
            if self.listed.contains(tree, self.work)? {
                return Ok(());
            }
            let Some(narrow) = narrowed(tree, self.listed.buffers, self.bonds, self.work)? else {
                return Ok(());
            };
            let contained = self.listed.contains(&narrow, self.work)?;
            return if contained { Ok(()) } else { Err(self.unlisted.clone()) };
        }
        subsets(&classes(tree, rest.holes), 0, &mut |group| match group {
            0 => Ok(()),
            _ => self.exchange(tree, group, rest, first),
        })?;
        let groups = self.groups;
        self.work.spend(groups.len())?;
        for &(leaves, size) in groups.iter().take_while(|group| group.1 <= rest.free) {
            if leaves & !rest.new == 0 && leaves & first != 0 {
                let places = 2 * tree.leaves().count_ones() as usize;
                self.work.spend(places * tree_work(tree.leaves()))?;
                for next in tree.insertions(&Tree::all(leaves)) {
                    self.extend(&next, Rest { new: rest.new & !leaves, free: rest.free - size, ..rest })?;
                }
            }
        }
        Ok(())
    }

    /// Exchanges a set of leaves for every set of beginning buffers that contains `with` and has the same
    /// size after holes or free units are added.
    fn exchange(&mut self, tree: &Tree, set: Set, rest: Rest, with: Set) -> Result<(), Reason> {
        self.work.spend(8 + self.old.len())?;
        let ended = self.old.iter().filter(|&&(leaf, _)| leaf & set != 0).map(|&(_, size)| size).sum::<u64>();
        let size = ended + u64::from((set & rest.holes).count_ones());
        let (groups, low) = (self.groups, size.saturating_sub(self.most_holes - rest.made));
        let from = groups.partition_point(|group| group.1 < low);
        let to = groups.partition_point(|group| group.1 <= size + rest.free);
        self.work.spend(to.saturating_sub(from))?;
        for &(leaves, new) in &groups[from..to.max(from)] {
            if leaves & !rest.new != 0 || leaves & with != with {
                continue;
            }
            let made = size.saturating_sub(new);
            let holes =
                (0..made).fold(0, |all, at| all | 1 << (u64::from(self.listed.from) + rest.made + at));
            self.work.spend(tree_work(tree.leaves()))?;
            let Some(next) = tree.replaced(set, &Tree::all(leaves | holes)) else { return Ok(()) };
            let left = Rest {
                old: rest.old & !set,
                holes: rest.holes & !set,
                new: rest.new & !leaves,
                free: rest.free - new.saturating_sub(size),
                made: rest.made + made,
            };
            self.extend(&next, left)?;
        }
        Ok(())
    }
}

/// Visits `with`, joined with subsets of the classes. Any number of leaves is taken from each class, but
/// always the lowest ones, since others would give the same result.
fn subsets(
    classes: &[Set],
    with: Set,
    visit: &mut impl FnMut(Set) -> Result<(), Reason>,
) -> Result<(), Reason> {
    let Some((&class, rest)) = classes.split_first() else { return visit(with) };
    subsets(rest, with, visit)?;
    let mut some = with;
    bits(class).try_for_each(|leaf| {
        some |= leaf;
        subsets(rest, some, visit)
    })
}
