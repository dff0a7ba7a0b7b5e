//! Pairs of buffers.

use crate::units::BufferId;
use std::collections::BTreeMap;

/// A symmetric set of pairs of buffers, kept as sorted neighbour lists; empty costs nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    neighbours: BTreeMap<BufferId, Vec<BufferId>>,
}

impl Pairs {
    pub(crate) fn insert(&mut self, a: BufferId, b: BufferId) {
        for (from, to) in [(a, b), (b, a)] {
            let list = self.neighbours.entry(from).or_default();
            if let Err(place) = list.binary_search(&to) {
                list.insert(place, to);
            }
        }
    }

    /// True where there is no pair.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// True where `a` and `b` are a pair. O(log n).
    #[inline]
    pub fn contains(&self, a: BufferId, b: BufferId) -> bool {
        !self.neighbours.is_empty() && self.of(a).binary_search(&b).is_ok()
    }

    /// The partners of `a`, ascending.
    pub fn of(&self, a: BufferId) -> &[BufferId] {
        self.neighbours.get(&a).map_or(&[], Vec::as_slice)
    }

    /// Every pair once, the smaller id first, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (BufferId, BufferId)> + '_ {
        self.neighbours
            .iter()
            .flat_map(|(&a, list)| list.iter().filter(move |&&b| a < b).map(move |&b| (a, b)))
    }
}
