//! Buffers that can be put back at no cost, taken out before a colouring.
//!
//! - A buffer that fits below a bound beside everything it conflicts with is coloured last: whatever its neighbours take, enough is
//!   left (as vertices of low degree in graph colouring).
//! - A buffer whose rivals are all rivals of another one, no smaller, with which it does not conflict, takes addresses of that one.
//!
//! Both are applied again and again to what is left, the *core*. Put back in reverse order, each takes the lowest addresses that no
//! rival has: by the rules they end below the larger of the bound and what the core takes.

use crate::poset::merged;
use plimsoll_model::{BitMatrix, Budget, BufferId, ConflictGraph, Instance};

/// Largest core in which buffers are compared with each other.
const COMPARED: usize = 2_500;

/// What is left, and how to get back.
pub(crate) struct Reduced {
    graph: ConflictGraph,
    /// Buffers that are left, ascending.
    pub core: Vec<usize>,
    /// The others, in the order they were taken out.
    removed: Vec<usize>,
}

impl Reduced {
    /// Takes out what can be put back below `bound` units. O(conflicts + n^2 (n / 64)) at worst, the latter only for small cores.
    /// None where the time of `watch` ends before.
    pub fn of(instance: &Instance, units: &[u64], bound: u64, watch: &mut Budget) -> Option<Self> {
        let graph = ConflictGraph::within(instance, watch)?;
        let n = instance.len();
        let rivals = |at: usize| graph.of_buffer(BufferId::at(at)).iter().map(|id| id.index());
        let mut breadth: Vec<u64> =
            (0..n).map(|at| units[at] + rivals(at).map(|r| units[r]).sum::<u64>()).collect();
        let mut alive = vec![true; n];
        let mut removed = Vec::new();
        let mut todo: Vec<usize> = (0..n).rev().filter(|&at| breadth[at] <= bound).collect();
        loop {
            while let Some(at) = todo.pop() {
                if watch.tick().is_some() {
                    return None;
                }
                if !std::mem::replace(&mut alive[at], false) {
                    continue;
                }
                removed.push(at);
                for rival in rivals(at).filter(|&rival| alive[rival]) {
                    breadth[rival] -= units[at];
                    if breadth[rival] <= bound {
                        todo.push(rival);
                    }
                }
            }
            let core: Vec<usize> = (0..n).filter(|&at| alive[at]).collect();
            let Some(at) = Self::dominated(&graph, &core, units) else {
                return Some(Self { graph, core, removed });
            };
            todo.extend(at);
        }
    }

    /// Buffers that can take addresses of others that stay; none where there are none, or too many to compare.
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
        // Nobody is compared with one that goes: what it takes over must stay.
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

    /// Puts everything back; `ranges` has those of the core.
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
