//! Symmetric sets of pairs of buffers.

use crate::units::BufferId;
use std::collections::BTreeMap;

/// A symmetric set of pairs of buffers, stored as sorted neighbour lists. An empty set allocates nothing.
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

    /// Returns true if there are no pairs.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// Returns true if `a` and `b` form a pair. O(log n) for n pairs.
    #[inline]
    pub fn contains(&self, a: BufferId, b: BufferId) -> bool {
        !self.neighbours.is_empty() && self.of(a).binary_search(&b).is_ok()
    }

    /// Returns the pairs for which `keep` is true. `keep` is symmetric.
    pub(crate) fn filtered(&self, keep: impl Fn(BufferId, BufferId) -> bool) -> Self {
        let partners = |(&a, list): (&BufferId, &Vec<BufferId>)| {
            let kept: Vec<BufferId> = list.iter().copied().filter(|&b| keep(a, b)).collect();
            (!kept.is_empty()).then_some((a, kept))
        };
        Self { neighbours: self.neighbours.iter().filter_map(partners).collect() }
    }

    /// Returns the partners of `a`, ascending.
    pub fn of(&self, a: BufferId) -> &[BufferId] {
        self.neighbours.get(&a).map_or(&[], Vec::as_slice)
    }

    /// Returns every pair once, in ascending order, with the smaller id first.
    pub fn iter(&self) -> impl Iterator<Item = (BufferId, BufferId)> + '_ {
        self.neighbours
            .iter()
            .flat_map(|(&a, list)| list.iter().filter(move |&&b| a < b).map(move |&b| (a, b)))
    }
}
