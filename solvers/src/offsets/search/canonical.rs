//! Canonical branching: an exact search that supports every feature of an instance.
//!
//! # Definition
//!
//! Consider an optimal layout with the minimum sum of offsets. None of its unfixed buffers can move down, so
//! each of them lies at the lowest aligned offset above the conflicting buffers below it. Sorting the
//! buffers by (offset, id) turns every such layout into exactly one list, and the search constructs these
//! lists. A state is a prefix of a list. Every unplaced buffer has a *floor*: the lowest aligned offset
//! above the placed buffers that conflict with it. No unplaced buffer will lie below the *level*, which is
//! the offset of the buffer placed last.
//!
//! # Pruning
//!
//! 1. *Level*: the next buffer lies at its floor, which must be at or above the level. This is sound because
//!    lists are sorted by offset.
//! 2. *Hole*: consider an unplaced, unfixed buffer b, and let t be its top if it is placed at its floor. The
//!    offset of the next buffer must be below t. This is sound because all unplaced buffers lie at or above
//!    the next one. If the next one were at or above t, b could move down to its floor, which contradicts the
//!    choice of the layout.
//! 3. *Fixed*: a fixed buffer is placed when its offset is the next in the list. If its floor lies above its
//!    offset, the branch ends. No buffer is placed where it would overlap a conflicting fixed buffer.
//! 4. *Stack*: the unplaced buffers of a clique form a stack. The stack starts at or above both the level and
//!    the lowest floor of these buffers. Its start plus their total size must not exceed the capacity.
//! 5. *Twins*: of the unplaced, unfixed buffers with equal size, alignment and conflicts, the buffer with the
//!    smallest id comes first. This is sound because exchanging twins changes neither the peak nor the sum of
//!    offsets.
//! 6. *Memo*: the possible continuations depend only on the level, the last buffer placed at it, the set of
//!    unplaced buffers and the floors. Failed states are stored with all of these.
//!
//! **Complexity.** For n buffers, a node takes O(n log n + total size of the cliques + number of conflicts)
//! time.
//!
//! **Source.** Moffitt 2023, "`MiniMalloc`" (canonical solutions, monotone floor, dominance by holes),
//! extended to alignments, fixed offsets and arbitrary conflicts.

use super::decide::{Decide, Decision, deepen};
use super::memo::{Key, Memo, mix};
use plimsoll_model::{Budget, BufferId, Bytes, ConflictGraph, Instance, Layout, sections_within};

/// Maximum number of conflict lookups while cliques are extended. An incomplete cover is valid but prunes
/// less.
const CLIQUE_LOOKUPS: usize = 20_000_000;

/// Maximum number of preceding buffers of the same size with which a buffer is compared to find twins.
const TWIN_CANDIDATES: usize = 16;

/// An instance with its conflict graph and a clique cover of the graph.
#[derive(Debug)]
pub(crate) struct Canonical<'a> {
    instance: &'a Instance,
    graph: ConflictGraph,
    /// Sets of mutually conflicting buffers.
    cliques: Vec<Vec<u32>>,
    /// The previous twin of each buffer, if any.
    elder: Vec<Option<u32>>,
}

impl<'a> Canonical<'a> {
    /// Prepares an instance. Returns `None` if the budget `watch` runs out first. The time is O(n log n + c +
    /// m w) for n buffers, c conflicts, and sections with m live buffers in total and at most w each.
    pub fn within(instance: &'a Instance, watch: &mut Budget) -> Option<Self> {
        let graph = ConflictGraph::within(instance, watch)?;
        let cliques = cliques(instance, &graph, watch);
        let elder = elders(instance, &graph, watch);
        watch.check().is_none().then_some(Self { instance, graph, cliques, elder })
    }
}

/// Returns the live buffers of every section, and a clique around every separation. If there are exclusions,
/// several cliques cover a section.
///
/// The list is incomplete if the budget `watch` runs out.
fn cliques(instance: &Instance, graph: &ConflictGraph, watch: &mut Budget) -> Vec<Vec<u32>> {
    let mut cliques: Vec<Vec<u32>> = Vec::new();
    let mut lookups = 0;
    let mut grow = |seeds: &[BufferId], candidates: &[BufferId]| {
        let mut members = seeds.to_vec();
        for &id in candidates {
            lookups += members.len();
            if lookups > CLIQUE_LOOKUPS {
                break;
            }
            if members.iter().all(|&m| graph.conflict(m, id)) {
                members.push(id);
            }
        }
        members
    };
    let mut add = |members: &[BufferId]| cliques.push(members.iter().map(|id| id.get()).collect());
    for section in sections_within(instance, watch) {
        if watch.tick().is_some() {
            return cliques;
        }
        if instance.exclusions().is_empty() {
            add(&section.buffers);
            continue;
        }
        // The largest buffers come first because heavy cliques prune the most.
        let mut by_size = section.buffers;
        by_size.sort_by_key(|&id| (std::cmp::Reverse(instance.buffer(id).size()), id));
        let mut covered = vec![false; instance.len()];
        for &id in &by_size {
            if !covered[id.index()] {
                let members = grow(&[id], &by_size);
                for member in &members {
                    covered[member.index()] = true;
                }
                add(&members);
            }
        }
    }
    for (a, b) in instance.separations().iter().take_while(|_| watch.tick().is_none()) {
        add(&grow(&[a, b], graph.of_buffer(a)));
    }
    cliques
}

/// Returns, for each unfixed buffer, the twin with the next smaller id, if any.
///
/// Twins are unfixed, have equal size and alignment, and conflict with the same other buffers. They may
/// conflict with each other. Some twins are missing if the budget `watch` runs out, or if too many other
/// buffers have the same size (see [`TWIN_CANDIDATES`]).
fn elders(instance: &Instance, graph: &ConflictGraph, watch: &mut Budget) -> Vec<Option<u32>> {
    let alike = |a: BufferId, b: BufferId| {
        let (x, y) = (instance.buffer(a), instance.buffer(b));
        let others = |of: BufferId, not: BufferId| graph.of_buffer(of).iter().filter(move |&&id| id != not);
        x.size() == y.size()
            && x.alignment() == y.alignment()
            && x.fixed().is_none()
            && y.fixed().is_none()
            && others(a, b).eq(others(b, a))
    };
    let mut by_size: Vec<BufferId> = instance.ids().collect();
    by_size.sort_by_key(|&id| (instance.buffer(id).size(), graph.of_buffer(id).len(), id));
    let mut elder = vec![None; instance.len()];
    for (at, &id) in by_size.iter().enumerate() {
        if watch.tick().is_some() {
            break;
        }
        let before = by_size[..at].iter().rev().take(TWIN_CANDIDATES);
        let same_size =
            before.take_while(|&&other| instance.buffer(other).size() == instance.buffer(id).size());
        elder[id.index()] = same_size.filter(|&&other| alike(other, id)).map(|other| other.get()).max();
    }
    elder
}

enum End {
    Fits,
    Impossible,
    Pause,
}

/// A search at one capacity.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    problem: &'a Canonical<'a>,
    capacity: u64,
    size: Vec<u64>,
    floor: Vec<u64>,
    placed: Vec<Option<u64>>,
    /// The offset and the index of the buffer placed last, or `(0, None)` if none is placed.
    level: (u64, Option<u32>),
    trail: Vec<(u32, u64)>,
    memo: Memo,
    value: Vec<u64>,
}

impl<'a> Engine<'a> {
    /// Creates a search for layouts of at most `capacity` bytes. The seed varies the order of the branches.
    pub fn new(problem: &'a Canonical<'a>, capacity: Bytes, seed: u64, memo_bytes: usize) -> Self {
        let size: Vec<u64> = problem.instance.buffers().iter().map(|b| b.size().get()).collect();
        let value = (0..size.len() as u64).map(|b| if seed == 0 { 0 } else { mix(seed ^ mix(b)) }).collect();
        Self {
            problem,
            capacity: capacity.get(),
            floor: vec![0; size.len()],
            placed: vec![None; size.len()],
            size,
            level: (0, None),
            trail: Vec::new(),
            memo: Memo::new(memo_bytes),
            value,
        }
    }

    /// Searches until a layout is found, the capacity is proved infeasible, or the budget runs out.
    pub fn run(&mut self, budget: &mut Budget) -> Decision {
        if let Some(stop) = budget.check() {
            return Decision::Stopped(stop);
        }
        let end = self.solve(self.size.len(), budget);
        let layout = Layout::from_raw(self.placed.iter().map(|offset| offset.unwrap_or(0)));
        self.placed.fill(None);
        self.floor.fill(0);
        self.level = (0, None);
        self.trail.clear();
        match (end, budget.check()) {
            (End::Fits, _) => Decision::Fits(layout),
            (End::Impossible, _) => Decision::Impossible,
            (End::Pause, stop) => Decision::Stopped(stop.expect("a search pauses only for its budget")),
        }
    }

    /// Returns the offset that `b` would have if it were placed next: its fixed offset, otherwise its floor.
    fn place_of(&self, b: usize) -> u64 {
        let buffer = &self.problem.instance.buffers()[b];
        match buffer.fixed() {
            Some(offset) => offset.get(),
            None => self.floor[b].next_multiple_of(buffer.alignment().get()),
        }
    }

    fn is_fixed(&self, b: usize) -> bool {
        self.problem.instance.buffers()[b].fixed().is_some()
    }

    fn solve(&mut self, left: usize, budget: &mut Budget) -> End {
        if left == 0 {
            return End::Fits;
        }
        if budget.tick().is_some() {
            return End::Pause;
        }
        let Some(next) = self.candidates() else {
            return End::Impossible;
        };
        let hash = self.hash();
        let problem = self.problem;
        let (floor, placed, level) = (&self.floor, &self.placed, self.level);
        let known = self.memo.contains(hash, |key| write_key(problem, floor, placed, level, key));
        if known {
            return End::Impossible;
        }
        for (offset, b) in next {
            let (level, mark) = (self.level, self.trail.len());
            self.place(b, offset);
            match deepen(|| self.solve(left - 1, budget)) {
                End::Impossible => self.undo(b, level, mark),
                other => return other,
            }
        }
        let (floor, placed, level) = (&self.floor, &self.placed, self.level);
        self.memo.insert(hash, |key| write_key(problem, floor, placed, level, key));
        End::Impossible
    }

    /// Returns the buffers that may come next, with their offsets, in the order in which they are tried.
    /// Returns `None` if the state is infeasible.
    fn candidates(&self) -> Option<Vec<(u64, usize)>> {
        let unplaced = || (0..self.size.len()).filter(|&b| self.placed[b].is_none());
        let (level, last) = self.level;
        // The next buffer must lie below `horizon` (rule 2) and must not come after `first_fixed` (rule 3).
        let (mut horizon, mut first_fixed) = (u64::MAX, (u64::MAX, usize::MAX));
        for b in unplaced() {
            let place = self.place_of(b);
            if self.is_fixed(b) {
                if self.floor[b] > place || place < level || place + self.size[b] > self.capacity {
                    return None;
                }
                first_fixed = first_fixed.min((place, b));
            } else {
                if place.max(level) + self.size[b] > self.capacity {
                    return None;
                }
                horizon = horizon.min(place + self.size[b]);
            }
        }
        if !self.stacks_fit() {
            return None;
        }
        let mut next: Vec<(u64, usize)> = unplaced()
            .map(|b| (self.place_of(b), b))
            .filter(|&(place, b)| {
                let in_turn = place > level || (place == level && last.is_none_or(|last| b > last as usize));
                let elder = self.problem.elder[b].is_none_or(|elder| self.placed[elder as usize].is_some());
                // The horizon does not exclude the buffer that defines it, because the top of a buffer is
                // above its offset.
                in_turn
                    && place < horizon
                    && (place, b) <= first_fixed
                    && elder
                    && self.clear_of_fixed(b, place)
            })
            .collect();
        next.sort_unstable_by_key(|&(place, b)| {
            (place, std::cmp::Reverse(self.size[b] ^ self.value[b] >> 32), b)
        });
        Some(next)
    }

    /// Checks rule 4. Gaps that alignments cause within a stack are ignored.
    fn stacks_fit(&self) -> bool {
        self.problem.cliques.iter().all(|clique| {
            let (mut base, mut sum) = (u64::MAX, 0u64);
            for &b in clique {
                let b = b as usize;
                if self.placed[b].is_none() {
                    base = base.min(self.place_of(b).max(self.level.0));
                    sum += self.size[b];
                }
            }
            sum == 0 || base + sum <= self.capacity
        })
    }

    /// Returns true if `b` at offset `place` would not overlap any conflicting fixed buffer that is not yet
    /// placed.
    fn clear_of_fixed(&self, b: usize, place: u64) -> bool {
        let end = place + self.size[b];
        self.problem.graph.of_buffer(BufferId::at(b)).iter().all(|other| {
            let o = other.index();
            let fixed = self.problem.instance.buffers()[o].fixed();
            let Some(fixed) = fixed.filter(|_| self.placed[o].is_none()) else {
                return true;
            };
            end <= fixed.get() || fixed.get() + self.size[o] <= place
        })
    }

    fn place(&mut self, b: usize, offset: u64) {
        self.placed[b] = Some(offset);
        self.level = (offset, Some(b as u32));
        let top = offset + self.size[b];
        let problem = self.problem;
        for other in problem.graph.of_buffer(BufferId::at(b)) {
            let o = other.index();
            if self.placed[o].is_none() && self.floor[o] < top {
                self.trail.push((o as u32, self.floor[o]));
                self.floor[o] = top;
            }
        }
    }

    fn undo(&mut self, b: usize, level: (u64, Option<u32>), mark: usize) {
        for (o, floor) in self.trail.drain(mark..).rev() {
            self.floor[o as usize] = floor;
        }
        self.placed[b] = None;
        self.level = level;
    }

    fn hash(&self) -> u64 {
        let mut hash = mix(self.level.0 << 20 ^ last_number(self.level) | 1 << 63);
        for b in 0..self.size.len() {
            if self.placed[b].is_none() {
                hash ^= mix(self.floor[b] << 20 ^ b as u64);
            }
        }
        hash
    }
}

/// Returns the number of the buffer placed last, counted from 1, or 0 if there is none.
fn last_number(level: (u64, Option<u32>)) -> u64 {
    level.1.map_or(0, |last| u64::from(last) + 1)
}

/// Writes the key of a state; see rule 6.
fn write_key(
    problem: &Canonical<'_>,
    floor: &[u64],
    placed: &[Option<u64>],
    level: (u64, Option<u32>),
    key: &mut Key,
) {
    key.put(level.0);
    // The last buffer matters only for buffers at the same offset.
    key.put(last_number(level));
    for b in 0..problem.instance.len() {
        if placed[b].is_none() {
            key.put(b as u64);
            key.put(floor[b]);
        }
    }
}

impl Decide for Engine<'_> {
    fn decide(&mut self, budget: &mut Budget) -> Decision {
        self.run(budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};
    use std::time::Duration;

    #[test]
    fn nothing_is_prepared_without_time() {
        let instance = small_instance(SmallParams::with_features(9, 15), 1);
        let mut over = Budget::unlimited().with_time_limit(Duration::ZERO);
        assert!(Canonical::within(&instance, &mut over).is_none());
        assert!(Canonical::within(&instance, &mut Budget::unlimited()).is_some());
    }
}
