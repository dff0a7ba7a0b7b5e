//! Sets of buffers that are contiguous because of the exchanges that follow.
//!
//! Some sets of buffers are exchanged as one group in every division between two steps. Such a set, a *bond*,
//! is contiguous at the first of these steps. It is also contiguous at earlier steps, as long as all of its
//! buffers are live, because the distances between them do not change. If a buffer of the bond begins at a
//! step, it takes the place of other buffers. If these are the same in every division, they and the rest of
//! the bond are contiguous at the step before. A sweep can therefore drop arrangements long before the
//! exchange that excludes them.
//!
//! **Loose buffers.** Divisions differ, and free units between the buffers of a bond can be the place of a
//! small buffer at an earlier step. A bond therefore has a set, and some *loose* buffers. At its step, the
//! lowest and the highest buffer of the set have only buffers of the set, loose buffers and free units
//! between them. A tree is thus reduced by the union of the set and some choice of loose buffers. If only one
//! choice is possible, the tree becomes the reduced one. If none is possible, the tree is dropped. A hole has
//! a fixed position, but bonds do not restrict holes. Trees with holes are therefore compared with bonds only
//! without their holes, and never reduced.
//!
//! **Soundness.** Between two neighbouring steps, consider the gaps between the buffers that are live at both
//! steps. The buffers of a gap that end, and those that begin, are a pair of some division. Let a bond hold
//! at the later step.
//! - If a buffer of the set begins in a gap, the ending buffers of the gap join the set at the earlier step,
//!   because the rest of the gap is then between or beside the buffers of the set.
//! - Otherwise, the whole gap is between two buffers of the set, or no part of it is. If it is between them,
//!   all its beginning buffers are loose. Its ending buffers then become loose.
//! - Buffers that are live at both steps stay in the set, or stay loose.
//!
//! The gaps are unknown, so all divisions are considered. The set at the earlier step consists of the buffers
//! that are in it for every division, and the others become loose.

use super::cover::{Chosen, Cover};
use super::exchange::Exchange;
use super::steps::Steps;
use crate::pqtree::{Forest, Leaves, Tree};
use plimsoll_model::Budget;

/// Maximum number of nodes for the divisions between two neighbouring steps.
const MOST_NODES: u64 = 128;

/// Maximum number of loose buffers of a bond. A bond with more of them is of little use.
const MOST_LOOSE: u32 = 3;

/// The groups that end between a step and the next one, each with the group that takes its place.
type Division = Vec<(Leaves, Leaves)>;

/// A set of buffers that are contiguous at a step, except for free units and some of the loose buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bond {
    pub set: Leaves,
    pub loose: Leaves,
}

impl Bond {
    /// Returns a tree of all permutations with this bond.
    fn narrow(self, forest: &mut Forest, tree: Tree) -> Option<Tree> {
        let mut some = self.loose;
        let mut only = None;
        loop {
            let reduced = forest.reduce(tree, self.set | some);
            if reduced.is_some() && only.is_some() {
                return Some(tree);
            }
            only = only.or(reduced);
            if some == 0 {
                return only;
            }
            some = (some - 1) & self.loose;
        }
    }
}

/// The bonds that follow from one exchange.
#[derive(Clone, Debug)]
struct Chain {
    /// The step after the exchange, in the direction of the sweep.
    reason: usize,
    /// The bonds from the step before the exchange to earlier steps.
    bonds: Vec<Bond>,
}

impl Chain {
    /// Returns the step of a bond.
    fn step(&self, bond: usize, backwards: bool) -> usize {
        if backwards { self.reason + 1 + bond } else { self.reason - 1 - bond }
    }
}

/// The bonds of all steps. Sweeps in the two directions use different bonds.
#[derive(Clone, Debug, Default)]
pub(super) struct Bonds {
    /// Per direction.
    chains: [Vec<Chain>; 2],
    /// Per direction and step: the chains that have a bond at the step, each with a flag. The flag is true if
    /// the chain does not have the same bond at the step before.
    at: [Vec<Vec<(usize, bool)>>; 2],
}

impl Bonds {
    /// Finds all bonds. Spends at most [`MOST_NODES`] nodes per step, and none beyond the budget. If
    /// `is_strict` is true, no buffer is loose, which is unsound.
    pub fn of(steps: &Steps, is_strict: bool, budget: &mut Budget) -> Self {
        let count = steps.list.len();
        let divisions: Vec<Vec<Division>> = (0..count).map(|at| divisions(steps, at, budget)).collect();
        let mut bonds = Self::default();
        for (way, backwards) in [false, true].into_iter().enumerate() {
            let exchanges = Exchanges { steps, divisions: &divisions, backwards, is_strict };
            bonds.chains[way] = exchanges.chains();
            bonds.at[way] = vec![Vec::new(); count];
            for (index, chain) in bonds.chains[way].iter().enumerate() {
                for (i, bond) in chain.bonds.iter().enumerate() {
                    bonds.at[way][chain.step(i, backwards)]
                        .push((index, chain.bonds.get(i + 1) != Some(bond)));
                }
            }
        }
        bonds
    }

    /// Returns the chains that change a tree at a step of a sweep. At other steps, the tree has the bond
    /// already. The first tree of a sweep has none.
    fn applied(&self, (at, backwards): (usize, bool), is_first: bool) -> impl Iterator<Item = &Chain> {
        let way = usize::from(backwards);
        let own = self.at[way].get(at).into_iter().flatten();
        own.filter(move |&&(_, is_new)| is_new || is_first).map(move |&(chain, _)| &self.chains[way][chain])
    }

    /// Returns a tree of all permutations of a tree at a step in which the bonds hold, or `None` if there are
    /// none.
    pub fn narrow(
        &self,
        forest: &mut Forest,
        tree: Tree,
        holes: Leaves,
        (at, backwards): (usize, bool),
        is_first: bool,
    ) -> Option<Tree> {
        let mut chains = self.applied((at, backwards), is_first).peekable();
        if chains.peek().is_none() {
            return Some(tree);
        }
        let leaves = forest.leaves(tree);
        let bare = if leaves & holes == 0 { tree } else { forest.restricted(tree, leaves & !holes)? };
        let narrow = chains.try_fold(bare, |tree, chain| {
            let bond = chain.bonds[chain.reason.abs_diff(at) - 1];
            bond.narrow(forest, tree)
        })?;
        Some(if leaves & holes == 0 { narrow } else { tree })
    }

    /// Returns the first and the last step on which [`Bonds::narrow`] depends.
    pub fn extent(&self, (at, backwards): (usize, bool), is_first: bool) -> (usize, usize) {
        let reasons = self.applied((at, backwards), is_first).map(|chain| chain.reason);
        reasons.fold((at, at), |(first, last), reason| (first.min(reason), last.max(reason)))
    }

    /// Returns the chains with bonds at the steps of a sweep: per chain, the steps from the one after the
    /// exchange to the earliest one of the sweep, with their bonds. The first of these steps has no bond.
    pub fn behind(&self, (from, to): (usize, usize), backwards: bool) -> Vec<Vec<(usize, Option<Bond>)>> {
        let is_within = |at: usize| if backwards { at <= from } else { at >= from };
        let has_passed = |at: usize| if backwards { at >= to } else { at <= to };
        let steps = |chain: &Chain| {
            let bonds =
                chain.bonds.iter().enumerate().map(|(i, &bond)| (chain.step(i, backwards), Some(bond)));
            [(chain.reason, None)].into_iter().chain(bonds).take_while(|&(at, _)| is_within(at)).collect()
        };
        let chains = self.chains[usize::from(backwards)].iter().map(steps);
        let is_used = |steps: &Vec<(usize, Option<Bond>)>| match steps.last() {
            Some(&(at, bond)) => bond.is_some() && has_passed(at),
            None => false,
        };
        chains.filter(is_used).collect()
    }
}

/// The exchanges in one direction. Positions count the steps in this direction.
struct Exchanges<'a> {
    steps: &'a Steps,
    /// Per step: all divisions between the previous step and this one in the order of time. The list is empty
    /// if they are not known.
    divisions: &'a [Vec<Division>],
    backwards: bool,
    /// See [`Bonds::of`].
    is_strict: bool,
}

impl Exchanges<'_> {
    /// Returns the step at a position.
    fn at(&self, position: usize) -> usize {
        if self.backwards { self.divisions.len() - 1 - position } else { position }
    }

    fn leaves(&self, position: usize) -> Leaves {
        self.steps.list[self.at(position)].leaves
    }

    /// Returns the divisions between the previous position and this one: the groups that end, and the groups
    /// that begin.
    fn divisions(&self, position: usize) -> impl Iterator<Item = Division> {
        let list = &self.divisions[if self.backwards { self.at(position) + 1 } else { position }];
        let turned = |&(old, new): &(Leaves, Leaves)| if self.backwards { (new, old) } else { (old, new) };
        list.iter().map(move |division| division.iter().map(turned).collect())
    }

    fn chains(&self) -> Vec<Chain> {
        let mut chains = Vec::new();
        // The bonds of each position that are known already.
        let mut known: Vec<Vec<Bond>> = vec![Vec::new(); self.divisions.len()];
        for position in 1..self.divisions.len() {
            for bond in self.exchanged(position) {
                let bonds = self.follow(bond, position - 1, &mut known);
                if !bonds.is_empty() {
                    chains.push(Chain { reason: self.at(position), bonds });
                }
            }
        }
        chains
    }

    /// Returns the bonds at the previous position that are exchanged as one group in every division.
    fn exchanged(&self, position: usize) -> Vec<Bond> {
        let divisions: Vec<Division> = self.divisions(position).collect();
        if divisions.is_empty() {
            return Vec::new();
        }
        let mut sets = vec![self.leaves(position - 1) & !self.leaves(position)];
        for division in &divisions {
            let split = |set: &Leaves| division.iter().map(|pair| set & pair.0).collect::<Vec<_>>();
            sets = sets.iter().flat_map(split).filter(|set| set.count_ones() > 1).collect();
        }
        let bond = |set: Leaves| {
            let groups = divisions.iter().flatten().map(|pair| pair.0).filter(|old| old & set != 0);
            Bond { set, loose: groups.fold(0, |all, old| all | old) & !set }
        };
        sets.into_iter().map(bond).collect()
    }

    /// Returns a bond at a position, and those that follow from it at earlier positions, except those in
    /// `known`.
    fn follow(&self, bond: Bond, mut position: usize, known: &mut [Vec<Bond>]) -> Vec<Bond> {
        let mut bonds = Vec::new();
        let mut next = Some(bond);
        while let Some(mut bond) = next {
            if self.is_strict {
                bond.loose = 0;
            }
            let is_useful = bond.set.count_ones() > 1 && bond.loose.count_ones() <= MOST_LOOSE;
            if !is_useful || known[position].contains(&bond) {
                break;
            }
            known[position].push(bond);
            bonds.push(bond);
            next = self.before(bond, position);
            position = position.saturating_sub(1);
        }
        bonds
    }

    /// Returns the bond at the previous position that follows from a bond. Returns `None` if the divisions
    /// are not known.
    fn before(&self, bond: Bond, position: usize) -> Option<Bond> {
        let live = self.leaves(position.checked_sub(1)?);
        // The buffers in the set for every division, and all others.
        let mut result: Option<(Leaves, Leaves)> = None;
        for division in self.divisions(position) {
            let (mut set, mut loose) = (bond.set & live, bond.loose & live);
            for (old, new) in division {
                if new & bond.set != 0 {
                    set |= old;
                } else if new & !bond.loose == 0 {
                    loose |= old;
                }
            }
            result = Some(result.map_or((set, set | loose), |(core, all)| (core & set, all | set | loose)));
        }
        result.map(|(set, all)| Bond { set, loose: all & !set })
    }
}

/// Returns all divisions between the step before `at` and `at`. Returns an empty list if there is no such
/// step, or if finding them takes too long.
fn divisions(steps: &Steps, at: usize, budget: &mut Budget) -> Vec<Division> {
    let list = &steps.list;
    if at == 0 || list[at - 1].reach != list[at].reach {
        return Vec::new();
    }
    let (before, after) = (list[at - 1].leaves, list[at].leaves);
    // The fewer buffers end, the fewer sets of them are tried.
    let backwards = (after & !before).count_ones() < (before & !after).count_ones();
    let (from, to) = if backwards { (at, at - 1) } else { (at - 1, at) };
    // If interchangeable buffers began in one order only, some divisions would be missing.
    let Some(exchange) = Exchange::of(steps, from, to).map(Exchange::without_elders) else {
        return Vec::new();
    };
    let mut forest = Forest::default();
    let tree = forest.universal(list[from].leaves);
    let mut all: Vec<Division> = Vec::new();
    let mut found = |_: &mut Forest, _: Tree, groups: &[Chosen]| {
        let pair = |group: &Chosen| {
            let (old, new) = (group.old & (before | after), group.new & (before | after));
            if backwards { (new, old) } else { (old, new) }
        };
        let mut division: Division = groups.iter().map(pair).collect();
        division.sort_unstable();
        if !all.contains(&division) {
            all.push(division);
        }
        true
    };
    let mut cover = Cover::new((steps, &exchange), &mut forest, budget, &mut found);
    cover.most = MOST_NODES;
    if cover.run(tree).is_err() { Vec::new() } else { all }
}

#[cfg(test)]
mod tests {
    use super::super::tests::flat;
    use super::*;
    use crate::offsets::search::valley::Reduced;
    use crate::pqtree::MOST_LEAVES;

    /// Maximum number of layouts per instance and capacity.
    const MOST_LAYOUTS: u32 = 2_000;

    /// Calls `visit` with layouts within a capacity, until `left` layouts have been visited.
    fn visit_layouts(
        reduced: &Reduced,
        capacity: i64,
        offsets: &mut Vec<i64>,
        left: &mut u32,
        visit: &mut impl FnMut(&[i64]),
    ) {
        let Some(span) = reduced.spans.get(offsets.len()) else {
            *left -= 1;
            return visit(offsets);
        };
        for offset in 0..=capacity - span.size {
            let is_free = offsets.iter().zip(&reduced.spans).all(|(&other, of)| {
                of.end <= span.start || other + of.size <= offset || offset + span.size <= other
            });
            if is_free && *left > 0 {
                offsets.push(offset);
                visit_layouts(reduced, capacity, offsets, left, visit);
                offsets.pop();
            }
        }
    }

    /// Asserts that a layout has all bonds of a direction.
    fn assert_bonds(steps: &Steps, bonds: &Bonds, backwards: bool, offsets: &[i64]) {
        for chain in &bonds.chains[usize::from(backwards)] {
            for (i, bond) in chain.bonds.iter().enumerate() {
                let live = &steps.list[chain.step(i, backwards)].live;
                let within = |set| live.iter().filter(move |&&b| steps.leaf(b) & set != 0);
                let offset = |&b: &u32| offsets[b as usize];
                let from = within(bond.set).map(offset).min().unwrap();
                let to = within(bond.set).map(offset).max().unwrap();
                let foreign = within(!(bond.set | bond.loose)).map(offset).find(|at| (from..to).contains(at));
                assert_eq!(foreign, None, "{chain:?} {i} {offsets:?}");
            }
        }
    }

    #[test]
    fn every_layout_has_all_bonds() {
        let (mut checked, mut long, mut loose) = (0, 0, 0);
        for seed in 0..150 {
            let instance = flat(3 + seed as usize % 3, 6, 0.6, (1, 7), seed);
            let reduced = Reduced::of(&instance).unwrap();
            for waste in 0..3 {
                let capacity = reduced.highest_load() + waste;
                let leaves = (MOST_LEAVES, waste as usize);
                let Some(steps) = Steps::of(&reduced, capacity, leaves, false) else { continue };
                let bonds = Bonds::of(&steps, false, &mut Budget::unlimited());
                let mut left = MOST_LAYOUTS;
                visit_layouts(&reduced, capacity, &mut Vec::new(), &mut left, &mut |offsets| {
                    for backwards in [false, true] {
                        assert_bonds(&steps, &bonds, backwards, offsets);
                    }
                    checked += bonds.chains.iter().flatten().count();
                });
                let all = bonds.chains.iter().flatten();
                long += all.clone().filter(|chain| chain.bonds.len() > 1).count();
                loose += all.flat_map(|chain| &chain.bonds).filter(|bond| bond.loose != 0).count();
            }
        }
        assert!(checked > 10_000 && long > 100 && loose > 100, "{checked} {long} {loose}");
    }
}
