//! The buffers that end and begin between two neighbouring steps.

use super::steps::Steps;
use crate::pqtree::Leaves;

/// Maximum number of buffers that begin between two steps.
const MOST_NEW: usize = 16;

/// A set of buffers that begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The buffers, as a mask.
    pub mask: u32,
    pub leaves: Leaves,
    pub size: i64,
}

/// The buffers that end and begin between two neighbouring steps.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// The leaves of the buffers that end.
    pub old: Leaves,
    /// The leaf and the size of each buffer that ends.
    pub sizes: Vec<(Leaves, i64)>,
    /// The mask of all buffers that begin.
    pub new: u32,
    /// All sets of buffers that begin, in ascending order of size.
    groups: Vec<Group>,
    /// Per buffer that begins: the mask of the preceding buffer with the same label, or 0.
    elder: Vec<u32>,
    /// Number of wasted units at each of the two steps: free units and holes.
    pub waste: (i64, i64),
}

impl Exchange {
    /// Returns the exchange between the steps `from` and `to`, or `None` if too many buffers begin.
    pub fn of(steps: &Steps, from: usize, to: usize) -> Option<Self> {
        let (a, b) = (&steps.list[from], &steps.list[to]);
        let only = |own: &[u32], other: &[u32]| {
            let mut only: Vec<u32> =
                own.iter().copied().filter(|buffer| other.binary_search(buffer).is_err()).collect();
            only.sort_by_key(|&buffer| (-steps.size(buffer), buffer));
            only
        };
        let (old, new) = (only(&a.live, &b.live), only(&b.live, &a.live));
        if new.len() > MOST_NEW {
            return None;
        }
        let mut groups = vec![Group { mask: 0, leaves: 0, size: 0 }];
        for (i, &b) in new.iter().enumerate() {
            for at in 0..groups.len() {
                let Group { mask, leaves, size } = groups[at];
                let (leaves, size) = (leaves | steps.leaf(b), size + steps.size(b));
                groups.push(Group { mask: mask | 1 << i, leaves, size });
            }
        }
        groups.sort_by_key(|group| (group.size, group.mask));
        let labels = b.labels(to < from);
        let kind = |i: usize| labels.label(steps.leaf(new[i]).trailing_zeros() as u8);
        let elder = |i: usize| (0..i).rev().find(|&j| kind(j) == kind(i)).map_or(0, |j| 1 << j);
        Some(Self {
            old: old.iter().fold(0, |all, &b| all | steps.leaf(b)),
            sizes: old.iter().map(|&b| (steps.leaf(b), steps.size(b))).collect(),
            new: (1 << new.len()) - 1,
            groups,
            elder: (0..new.len()).map(elder).collect(),
            waste: (a.waste as i64, b.waste as i64),
        })
    }

    /// Removes all groups of several buffers. This is unsound.
    pub fn without_large_groups(mut self) -> Self {
        self.groups.retain(|group| group.mask.count_ones() <= 1);
        self
    }

    /// Makes all buffers that begin distinct.
    pub fn without_elders(mut self) -> Self {
        self.elder.fill(0);
        self
    }

    /// Returns the total size of those buffers in `leaves` that end.
    pub fn size(&self, leaves: Leaves) -> i64 {
        self.sizes.iter().filter(|&&(leaf, _)| leaf & leaves != 0).map(|&(_, size)| size).sum()
    }

    /// Returns all sets of beginning buffers whose total size is from `low` to `high`.
    pub fn groups(&self, low: i64, high: i64) -> &[Group] {
        let from = self.groups.partition_point(|group| group.size < low);
        let count = self.groups[from..].partition_point(|group| group.size <= high);
        &self.groups[from..from + count]
    }

    /// Returns true if the group contains a buffer but omits an earlier, interchangeable buffer that is in
    /// `left`.
    pub fn skips_elder(&self, group: u32, left: u32) -> bool {
        let mut rest = group;
        while rest != 0 {
            let elder = self.elder[rest.trailing_zeros() as usize];
            if elder & left & !group != 0 {
                return true;
            }
            rest &= rest - 1;
        }
        false
    }
}
