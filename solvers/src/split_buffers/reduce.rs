//! Removes buffers that can be reinserted for free, before a colouring.
//!
//! - A buffer that fits below a bound beside all its neighbours is coloured last: whatever they take, enough
//!   is left (like vertices of low degree in graph colouring).
//! - A buffer whose neighbours are all neighbours of another, no smaller buffer that it does not conflict
//!   with takes addresses of that buffer.
//!
//! Both rules are applied repeatedly; the rest is the *core*. Reinserted in reverse order, each buffer takes
//! the lowest addresses free of its neighbours. By the rules, these end below the larger of the bound and the
//! core's total.

use crate::poset::merged;
use plimsoll_model::{BitMatrix, Budget, BufferId, ConflictGraph, Instance};

/// Largest core in which buffers are compared pairwise.
const COMPARED: usize = 2_500;

/// The core and the removed buffers.
pub(crate) struct Reduced {
    graph: ConflictGraph,
    /// Remaining buffers, ascending.
    pub core: Vec<usize>,
    /// Removed buffers, in the order of removal.
    removed: Vec<usize>,
}

impl Reduced {
    /// Removes buffers that can be reinserted below `bound` units. O(conflicts + n^2 (n / 64)) at worst, the
    /// latter only for small cores. `None` if the time of `watch` ends first.
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

    /// Buffers that can take addresses of remaining ones; `None` if there are none, or too many to compare.
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
        // A removed buffer cannot be a host: the addresses it provides must stay.
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

    /// Reinserts everything; `ranges` holds those of the core.
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
