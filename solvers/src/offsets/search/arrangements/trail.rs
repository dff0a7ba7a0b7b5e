//! Reads a layout back from the states of a sweep.

use super::cover::{Chosen, Cover, Failed};
use super::pass::Sequence;
use super::states::States;
use crate::offsets::search::valley::Reduced;
use crate::pqtree::{Forest, MOST_LEAVES, Tree};
use plimsoll_model::Budget;

/// Leaves from bottom to top.
type Order = Vec<u8>;

impl Sequence {
    /// Returns the offsets of a layout that follows the states of a sweep over all steps. Returns `None` if
    /// the buffers that are live at no step do not fit beside the others, if buffers overlap in a section
    /// that is not a step, or if the exchange between two states cannot be found. `trail` contains the states
    /// of the steps in the order of the sweep.
    pub fn layout(
        &self,
        trail: &[States],
        backwards: bool,
        reduced: &Reduced,
        capacity: i64,
    ) -> Option<Vec<i64>> {
        let step = |i: usize| if backwards { trail.len() - 1 - i } else { i };
        let mut forest = Forest::default();
        let mut offsets: Vec<Option<i64>> = vec![None; reduced.len()];
        let mut at = 0;
        let last = trail.len() - 1;
        let tree = forest.read(trail[last].key(at), self.steps.list[step(last)].labels(backwards));
        let mut order = Vec::new();
        forest.frontier(tree, &[0; MOST_LEAVES], &mut order);
        self.put(&order, step(last), &mut offsets);
        for i in (1..=last).rev() {
            let parent = trail[i].parent(at);
            forest.clear();
            let labels = self.steps.list[step(i)].labels(backwards);
            let child = forest.read(trail[i].key(at), labels);
            let stored = forest.canonical(child, labels);
            let before =
                forest.read(trail[i - 1].key(parent), self.steps.list[step(i - 1)].labels(backwards));
            let (real, groups) =
                self.find(&mut forest, before, trail[i].key(at), (step(i - 1), backwards))?;
            self.rename(step(i), &stored, &real, &mut order, &mut offsets);
            let mut place = [0; MOST_LEAVES];
            for (at, &leaf) in order.iter().enumerate() {
                place[leaf as usize] = at as u32 + 1;
            }
            let mut tree = before;
            for &Chosen { old, new } in &groups {
                if old == 0 {
                    continue;
                }
                tree = forest.reduce(tree, old)?;
                let from = order.iter().position(|&leaf| new >> leaf & 1 == 1)? as u32 + 1;
                (0..MOST_LEAVES).filter(|leaf| old >> leaf & 1 == 1).for_each(|leaf| place[leaf] = from);
            }
            order.clear();
            forest.frontier(tree, &place, &mut order);
            self.put(&order, step(i - 1), &mut offsets);
            at = parent;
        }
        let layout = completed(reduced, offsets, capacity);
        let every_section = self.steps.list.len() == reduced.sections;
        debug_assert!(layout.is_some() || !every_section, "the layout of a sweep over all sections is valid");
        layout
    }

    /// Exchanges leaves with equal labels in `order` and `offsets`. A stored state may represent a successor
    /// that has the same key but other leaves. `stored` and `real` are the leaves of the stored state and of
    /// the successor, in the order of the key.
    fn rename(&self, at: usize, stored: &[u8], real: &[u8], order: &mut [u8], offsets: &mut [Option<i64>]) {
        let mut renamed = [0; MOST_LEAVES];
        for (&a, &b) in stored.iter().zip(real) {
            renamed[a as usize] = b;
        }
        for leaf in order {
            *leaf = renamed[*leaf as usize];
        }
        let live = &self.steps.list[at].live;
        let buffer = |leaf: u8| live.iter().find(|&&b| self.steps.leaf_of(b) == leaf);
        let moved: Vec<(u32, Option<i64>)> = live
            .iter()
            .filter_map(|&b| Some((*buffer(renamed[self.steps.leaf_of(b) as usize])?, offsets[b as usize])))
            .collect();
        for (b, offset) in moved {
            offsets[b as usize] = offset;
        }
    }

    /// Finds the exchange that leads from a tree to a successor with the given key. Returns the leaves of
    /// the successor in the order of the key, and the exchanged groups.
    fn find(
        &self,
        forest: &mut Forest,
        from: Tree,
        key: &[u8],
        (at, backwards): (usize, bool),
    ) -> Option<(Order, Vec<Chosen>)> {
        let exchange = self.exchange(at, backwards)?;
        let next = if backwards { at - 1 } else { at + 1 };
        let labels = self.steps.list[next].labels(backwards);
        let mut result = None;
        let mut own = Vec::new();
        let holes = self.steps.all_holes();
        let mut found = |forest: &mut Forest, tree: Tree, groups: &[Chosen]| {
            let Some(tree) = self.bonds.narrow(forest, tree, holes, (next, backwards), false) else {
                return true;
            };
            own.clear();
            forest.write(tree, labels, &mut own);
            if own == key {
                result = Some((forest.canonical(tree, labels), groups.to_vec()));
            }
            result.is_none()
        };
        let mut budget = Budget::unlimited();
        match Cover::new((&self.steps, exchange), forest, &mut budget, &mut found).run(from) {
            Ok(()) | Err(Failed::Enough) => {}
            Err(Failed::TooMany | Failed::Stopped(_)) => return None,
        }
        result
    }

    /// Assigns offsets to those buffers of a step that have none yet, from bottom to top.
    fn put(&self, order: &[u8], at: usize, offsets: &mut [Option<i64>]) {
        let step = &self.steps.list[at];
        let mut cursor = 0;
        for &leaf in order {
            let Some(&b) = step.live.iter().find(|&&b| self.steps.leaf_of(b) == leaf) else {
                cursor += 1;
                continue;
            };
            let offset = *offsets[b as usize].get_or_insert(cursor);
            cursor = offset + self.steps.size(b);
        }
    }
}

/// Places the remaining buffers at the lowest free offsets, in descending order of size times duration.
/// Returns all offsets if they form a layout within the capacity.
fn completed(reduced: &Reduced, mut offsets: Vec<Option<i64>>, capacity: i64) -> Option<Vec<i64>> {
    let spans = &reduced.spans;
    let meet = |a: usize, b: usize| spans[a].start < spans[b].end && spans[b].start < spans[a].end;
    let mut rest: Vec<usize> = (0..spans.len()).filter(|&b| offsets[b].is_none()).collect();
    rest.sort_by_key(|&b| (-spans[b].size * i64::from(spans[b].end - spans[b].start), b));
    let taken = |b: usize, offsets: &[Option<i64>]| {
        let others = (0..spans.len()).filter(|&other| other != b && meet(b, other) && spans[other].size > 0);
        let mut taken: Vec<(i64, i64)> = others
            .filter_map(|other| offsets[other].map(|offset| (offset, offset + spans[other].size)))
            .collect();
        taken.sort_unstable();
        taken
    };
    for b in rest {
        let mut low = 0;
        for (from, to) in taken(b, &offsets) {
            if from >= low + spans[b].size {
                break;
            }
            low = low.max(to);
        }
        if low + spans[b].size > capacity {
            return None;
        }
        offsets[b] = Some(low);
    }
    let sound = (0..spans.len()).all(|b| {
        let Some(offset) = offsets[b] else { return false };
        let end = offset + spans[b].size;
        end <= capacity
            && taken(b, &offsets).iter().all(|&(from, to)| to <= offset || end <= from || from == to)
    });
    if sound { offsets.into_iter().collect() } else { None }
}
