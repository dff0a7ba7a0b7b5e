//! Removes buffers that can be reinserted at no cost after a colouring.
//!
//! - Suppose that the total size of a buffer and all its neighbours does not exceed a lower bound. The buffer
//!   can be coloured last because its neighbours always leave enough addresses below the bound. Vertices of
//!   low degree in graph colouring are removed in the same way.
//! - Suppose that two buffers do not conflict, and all neighbours of the first are neighbours of the second.
//!   If the first is no larger than the second, it can use addresses of the second.
//!
//! Both rules are applied repeatedly. The remaining buffers are the *core*. Removed buffers are reinserted in
//! reverse order, each at the lowest addresses that its neighbours do not use. By the rules, these addresses
//! end at or below the larger of the bound and the highest address that the core uses.

use crate::poset::merged;
use plimsoll_model::{Budget, BufferId, ConflictGraph, Instance};
use plimsoll_support::BitMatrix;

/// Maximum number of buffers in a core whose buffers are compared pairwise.
const COMPARED: usize = 2_500;

/// The core and the removed buffers.
pub(crate) struct Reduced {
    graph: ConflictGraph,
    /// The remaining buffers, in ascending order.
    pub core: Vec<usize>,
    /// The removed buffers, in the order of removal.
    removed: Vec<usize>,
}

impl Reduced {
    /// Removes the buffers to which the rules apply with a bound of `bound` units. Returns `None` if the
    /// budget `watch` runs out first. Each round takes O(c) time for c conflicts, and O(n^3 / 64) more if the
    /// core has n buffers and n is at most [`COMPARED`].
    pub fn of(instance: &Instance, units: &[u64], bound: u64, watch: &mut Budget) -> Option<Self> {
        let graph = ConflictGraph::within(instance, watch)?;
        let n = instance.len();
        let rivals = |at: usize| graph.of_buffer(BufferId::at(at)).iter().map(|id| id.index());
        let mut breadth: Vec<u64> =
            (0..n).map(|at| units[at] + rivals(at).map(|r| units[r]).sum::<u64>()).collect();
        let mut live = vec![true; n];
        let mut removed = Vec::new();
        let mut todo: Vec<usize> = (0..n).rev().filter(|&at| breadth[at] <= bound).collect();
        loop {
            while let Some(at) = todo.pop() {
                if watch.tick().is_some() {
                    return None;
                }
                if !std::mem::replace(&mut live[at], false) {
                    continue;
                }
                removed.push(at);
                for rival in rivals(at).filter(|&rival| live[rival]) {
                    breadth[rival] -= units[at];
                    if breadth[rival] <= bound {
                        todo.push(rival);
                    }
                }
            }
            let core: Vec<usize> = (0..n).filter(|&at| live[at]).collect();
            let Some(at) = Self::dominated(&graph, &core, units) else {
                return Some(Self { graph, core, removed });
            };
            todo.extend(at);
        }
    }

    /// Returns the buffers of the core that can use addresses of other buffers, which remain in the core.
    /// Returns `None` if there are none, or if the core is too large.
    fn dominated(graph: &ConflictGraph, core: &[usize], units: &[u64]) -> Option<Vec<usize>> {
        if core.len() > COMPARED {
            return None;
        }
        let mut matrix = BitMatrix::new(core.len(), core.len());
        for (at, &buffer) in core.iter().enumerate() {
            for rival in graph.of_buffer(BufferId::at(buffer)) {
                if let Ok(other) = core.binary_search(&rival.index()) {
                    matrix.set(at, other);
                }
            }
        }
        // A removed buffer cannot offer its addresses because they are assigned only later.
        let mut stays = vec![true; core.len()];
        let mut found = Vec::new();
        for at in 0..core.len() {
            let covered = |other: usize| {
                let rows = matrix.row(at).iter().zip(matrix.row(other));
                rows.into_iter().all(|(own, theirs)| own & !theirs == 0)
            };
            let by = (0..core.len()).find(|&other| {
                let larger = units[core[other]] >= units[core[at]];
                other != at && stays[other] && larger && !matrix.get(at, other) && covered(other)
            });
            if by.is_some() {
                stays[at] = false;
                found.push(core[at]);
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Reinserts all removed buffers into `ranges`, which contains the address ranges of the core.
    pub fn put_back(&self, units: &[u64], ranges: &mut [Vec<(u64, u64)>]) {
        for &at in self.removed.iter().rev() {
            let taken = self.graph.of_buffer(BufferId::at(at)).iter();
            let mut taken: Vec<(u64, u64)> =
                taken.flat_map(|id| ranges[id.index()].iter().copied()).collect();
            taken.sort_unstable();
            let (mut own, mut missing, mut free) = (Vec::new(), units[at], 0);
            for (start, end) in taken {
                let part = missing.min(start.saturating_sub(free));
                if part > 0 {
                    own.push((free, free + part));
                    missing -= part;
                }
                free = free.max(end);
            }
            if missing > 0 {
                own.push((free, free + missing));
            }
            ranges[at] = merged(own);
        }
    }
}
