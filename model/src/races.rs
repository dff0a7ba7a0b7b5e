//! Checks that a placement is safe under concurrent execution, using only the precedences of operators.
//!
//! The check is independent of [`structure`](crate::structure): it uses no transitive closure, no instance
//! and no separations. An *allocation* is a storage or the scratch of an operator.

use crate::budget::Budget;
use crate::claim::Stop;
use crate::offsets::Piece;
use crate::orders::OrderProblem;
use crate::units::{Bytes, OperatorId};
use crate::words::byte_count;
use plimsoll_support::BitMatrix;
use std::collections::HashMap;
use std::fmt;

/// Two allocations that share an address, although no precedences separate their users in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The index of the allocation that would be overwritten. If only one of the two allocations must begin
    /// after the other has begun, the victim is the one that begins first. Otherwise, the victim is the one
    /// with the smaller index. Storages have the lowest indices, followed by scratch.
    pub victim: usize,
    /// The index of the allocation that overlaps the victim.
    pub intruder: usize,
    /// The names of the victim and the intruder.
    pub names: [String; 2],
    /// The number of bytes that the two allocations share.
    pub shared: Bytes,
    /// An operator that uses the victim and need not run before the intruder begins. `None` if the intruder
    /// is held from the start. Also `None` if all users of the victim must run first; the victim is then
    /// needed at the end.
    pub reader: Option<String>,
    /// The operator at which the intruder begins; `None` if the intruder is held from the start.
    pub writer: Option<String>,
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([victim, intruder], shared) = (&self.names, byte_count(self.shared));
        write!(f, "'{victim}' and '{intruder}' share {shared}: ")?;
        match (&self.reader, &self.writer) {
            (_, None) => write!(f, "'{intruder}' is held from the start"),
            (None, Some(writer)) => {
                write!(f, "'{victim}' is needed at the end, but '{writer}' overwrites it")
            }
            (Some(reader), Some(writer)) if reader == writer => {
                write!(f, "'{reader}' uses both simultaneously")
            }
            (Some(reader), Some(writer)) => {
                write!(f, "'{reader}' needs '{victim}', but '{writer}' need not wait for '{reader}'")
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Held {
    name: String,
    users: Vec<OperatorId>,
    /// The operator at which the allocation begins; `None` if the allocation is held from the start.
    first: Option<OperatorId>,
    to_end: bool,
}

/// Finds every pair of allocations that share an address although their users may overlap in time.
///
/// Two allocations may share an address only if all users of one finish before any user of the other starts.
/// The precedences of `problem` and the pairs in `added` must imply this. See [`Precedences`].
///
/// # Panics
/// If `pieces` does not have one list per allocation, or if `added` contains unknown operators.
pub fn races(problem: &OrderProblem, added: &[(OperatorId, OperatorId)], pieces: &[Vec<Piece>]) -> Vec<Race> {
    Precedences::of(problem, added).races(pieces)
}

/// Returns all allocations: the storages, followed by the scratch of operators.
fn memories(problem: &OrderProblem) -> Vec<Held> {
    let storages = problem.storages().iter().enumerate().map(|(at, storage)| Held {
        name: storage.name.clone(),
        users: storage.users.clone(),
        first: problem.first(at),
        to_end: storage.to_end,
    });
    let scratch = problem.ids().filter(|&id| problem.scratch(id).get() > 0).map(|id| Held {
        name: format!("scratch of {}", problem.operator(id)),
        users: vec![id],
        first: Some(id),
        to_end: false,
    });
    storages.chain(scratch).collect()
}

/// For each operator, returns the number of users of an allocation that must end before the operator starts.
fn reached_by(held: &Held, after: &[Vec<OperatorId>]) -> Vec<u32> {
    let mut counts = vec![0; after.len()];
    let mut seen = vec![usize::MAX; after.len()];
    for (mark, user) in held.users.iter().enumerate() {
        let mut todo = vec![*user];
        while let Some(at) = todo.pop() {
            for &next in &after[at.index()] {
                if std::mem::replace(&mut seen[next.index()], mark) != mark {
                    counts[next.index()] += 1;
                    todo.push(next);
                }
            }
        }
    }
    counts
}

/// Returns the number of addresses shared by two ascending lists of ranges.
fn shared(one: &[Piece], other: &[Piece]) -> u64 {
    let (mut i, mut j, mut sum) = (0, 0, 0u64);
    while let (Some(x), Some(y)) = (one.get(i), other.get(j)) {
        sum += x.end().min(y.end()).get().saturating_sub(x.start.max(y.start).get());
        if x.end() <= y.end() {
            i += 1;
        } else {
            j += 1;
        }
    }
    sum
}

/// The pairs of allocations that may overlap in time, derived from precedences. These pairs are computed
/// once and used for any number of placements.
#[derive(Clone, Debug)]
pub struct Precedences<'a> {
    problem: &'a OrderProblem,
    held: Vec<Held>,
    /// Per operator: its direct successors.
    after: Vec<Vec<OperatorId>>,
    /// True at (a, b) if all users of allocation a must end before allocation b begins.
    before: BitMatrix,
    /// True at (a, b) if allocation b must begin after allocation a has begun: a is held from the start but
    /// b is not, or some user of a must end before b begins.
    behind: BitMatrix,
}

impl<'a> Precedences<'a> {
    /// Derives the possible overlaps from the precedences of `problem` and the pairs in `added`. For m
    /// allocations with u uses in total, n operators and e edges, O(m (m + n) + u (m + n + e)).
    ///
    /// # Panics
    /// If `added` contains unknown operators.
    pub fn of(problem: &'a OrderProblem, added: &[(OperatorId, OperatorId)]) -> Self {
        Self::within(problem, added, &mut Budget::unlimited()).expect("an unlimited budget does not run out")
    }

    /// Derives the possible overlaps as [`Precedences::of`] does, within the budget `watch`.
    ///
    /// # Errors
    /// The termination reason, if the budget is exhausted.
    ///
    /// # Panics
    /// The same as for [`Precedences::of`].
    pub fn within(
        problem: &'a OrderProblem,
        added: &[(OperatorId, OperatorId)],
        watch: &mut Budget,
    ) -> Result<Self, Stop> {
        let mut after: Vec<Vec<OperatorId>> =
            problem.ids().map(|id| problem.successors(id).to_vec()).collect();
        for &(a, b) in added {
            after[a.index()].push(b);
        }
        let held = memories(problem);
        let mut before = BitMatrix::new(held.len(), held.len());
        let mut behind = before.clone();
        for (a, one) in held.iter().enumerate() {
            if let Some(stop) = watch.tick() {
                return Err(stop);
            }
            let reached = reached_by(one, &after);
            let late = |user: &OperatorId| reached[user.index()] as usize == one.users.len();
            for (b, other) in held.iter().enumerate() {
                let Some(first) = other.first else { continue };
                if !one.to_end && other.users.iter().all(late) {
                    before.set(a, b);
                }
                if one.first.is_none() || reached[first.index()] > 0 {
                    behind.set(a, b);
                }
            }
        }
        Ok(Self { problem, held, after, before, behind })
    }

    /// Finds every pair of allocations that share an address and may be needed simultaneously, sorted by
    /// victim and intruder.
    ///
    /// `pieces` lists the address ranges of each allocation: first those of the storages, then those of the
    /// scratch of every operator that needs scratch. O(m^2 p + n (n + e)) for m allocations of p pieces each,
    /// n operators and e edges.
    ///
    /// # Panics
    /// If `pieces` does not have one list per allocation.
    pub fn races(&self, pieces: &[Vec<Piece>]) -> Vec<Race> {
        assert_eq!(self.held.len(), pieces.len(), "addresses of every allocation");
        let mut sorted = pieces.to_vec();
        for own in &mut sorted {
            own.sort_unstable();
        }
        let hull = |own: &Vec<Piece>| {
            let end = own.iter().map(|piece| piece.end()).max().unwrap_or_default();
            (own.first().map_or(end, |piece| piece.start), end)
        };
        let hulls: Vec<(Bytes, Bytes)> = sorted.iter().map(hull).collect();
        let mut found = Vec::new();
        let mut walks = HashMap::new();
        for a in 0..self.held.len() {
            for b in a + 1..self.held.len() {
                let apart = hulls[a].1 <= hulls[b].0 || hulls[b].1 <= hulls[a].0;
                if apart || self.before.get(a, b) || self.before.get(b, a) {
                    continue;
                }
                let shared = shared(&sorted[a], &sorted[b]);
                if shared > 0 {
                    found.push(self.race(a, b, shared, &mut walks));
                }
            }
        }
        found.sort_by_key(|race| (race.victim, race.intruder));
        found
    }

    /// Describes a race: which allocation is overwritten, and which allocation overwrites it.
    fn race(&self, a: usize, b: usize, shared: u64, walks: &mut HashMap<OperatorId, Vec<u64>>) -> Race {
        // If only one of the allocations must begin after the other has begun, that allocation is the
        // intruder. Otherwise the second allocation is the intruder.
        let turned = self.behind.get(b, a) && !self.behind.get(a, b);
        let (victim, intruder) = if turned { (b, a) } else { (a, b) };
        let (one, other) = (&self.held[victim], &self.held[intruder]);
        let mut waits = |writer: OperatorId, user: OperatorId| {
            let behind = walks.entry(user).or_insert_with(|| self.waiting_for(user));
            behind[writer.index() / 64] >> (writer.index() % 64) & 1 == 1
        };
        let reader =
            other.first.and_then(|writer| one.users.iter().copied().find(|&user| !waits(writer, user)));
        let name = |id: OperatorId| self.problem.operator(id).to_owned();
        Race {
            victim,
            intruder,
            names: [one.name.clone(), other.name.clone()],
            shared: Bytes::new(shared),
            reader: reader.map(name),
            writer: other.first.map(name),
        }
    }

    /// Returns the set of operators that depend on an operator, as bits.
    fn waiting_for(&self, one: OperatorId) -> Vec<u64> {
        let (mut todo, mut seen) = (vec![one], vec![0u64; self.after.len().div_ceil(64)]);
        while let Some(at) = todo.pop() {
            for &next in &self.after[at.index()] {
                let (word, bit) = (&mut seen[next.index() / 64], 1 << (next.index() % 64));
                if *word & bit == 0 {
                    *word |= bit;
                    todo.push(next);
                }
            }
        }
        seen
    }
}
