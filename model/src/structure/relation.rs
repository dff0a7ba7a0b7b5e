//! The relations by name, and sets of conflicting pairs.

use crate::budget::Budget;
use plimsoll_support::BitMatrix;
use std::fmt;
use std::str::FromStr;

/// Determines which allocations conflict. See the [module](super) for the definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Allocations conflict if they are held at a common step of the order.
    Schedule,
    /// Allocations conflict unless the graph, together with the order within each stream, implies that one
    /// is before the other. The field is the number of streams, which must be at least one.
    ///
    /// Operators are assigned to streams in their order. If an operator depends on the last operator of a
    /// stream, it joins that stream. Of several such streams, it joins the one whose last operator is latest.
    /// Otherwise it starts a new stream or, if all streams are in use, joins the stream whose last operator
    /// is earliest. Only this last case adds a dependency that the graph does not require.
    Streams(u32),
    /// Allocations conflict unless the graph alone implies that one is before the other.
    Reachable,
    /// The rules of the memory-planning patent (paragraphs 71 to 78).
    ///
    /// An operator owns the allocations of its outputs. Two operators exclude each other, so that their
    /// allocations conflict, if
    /// 1. an edge connects them: one reads an output of the other;
    /// 2. they are on parallel branches that start at a common operator, even if these branches never join:
    ///    neither operator reaches the other, and some operator reaches both;
    /// 3. one produces an output of the network and precedes the other in execution order.
    ///
    /// A storage is owned by every operator that produces one of its tensors. Each allocation held from the
    /// start is treated as the output of an operator of its own, and all these operators have one common
    /// predecessor. An allocation held for the whole run conflicts with all others. Scratch is treated as an
    /// output of its operator that no operator reads.
    ///
    /// **Unsafe.** In a chain of operators `a`, `b` and `c`, `a` conflicts only with `b`. The output of `c`
    /// may therefore overwrite the output of `a`, even if an operator reads the output of `a` during or
    /// after `c`. The rules are safe if every tensor has one reader, or if all readers of a tensor precede
    /// all operators that follow any of these readers.
    Mutex,
}

impl Relation {
    /// The name and a one-line description of each relation. The description is the condition under which
    /// two allocations may share addresses.
    pub const ABOUT: [(&'static str, &'static str); 4] = [
        ("schedule", "if they are live at disjoint steps of the order"),
        (
            "streams=K",
            "if all users of one finish before any user of the other starts, with operators in K streams",
        ),
        (
            "reachable",
            "if all users of one finish before any user of the other starts, in every possible execution of the graph",
        ),
        (
            "mutex",
            "if neither an edge nor parallel branches connect their operators, and neither tensor is a network output produced before the other (rules of a patent); unsafe with skip connections",
        ),
    ];
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schedule => f.pad("schedule"),
            Self::Streams(streams) => f.pad(&format!("streams={streams}")),
            Self::Reachable => f.pad("reachable"),
            Self::Mutex => f.pad("mutex"),
        }
    }
}

impl FromStr for Relation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(number) = text.strip_prefix("streams=") {
            return match number.parse() {
                Ok(streams) if streams > 0 => Ok(Self::Streams(streams)),
                _ => Err(format!(
                    "streams=K requires a number of at least 1; found '{number}'; the relations are schedule, streams=K, reachable, mutex"
                )),
            };
        }
        match text {
            "schedule" => Ok(Self::Schedule),
            "reachable" => Ok(Self::Reachable),
            "mutex" => Ok(Self::Mutex),
            _ => Err(format!(
                "unknown relation '{text}'; the relations are schedule, streams=K, reachable, mutex"
            )),
        }
    }
}

/// A symmetric set of pairs of allocations. No allocation conflicts with itself. The set occupies m^2/8
/// bytes for m allocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    bits: BitMatrix,
}

impl Conflicts {
    /// Returns the pairs of `len` allocations for which `conflict` returns true. `conflict` is called with
    /// the smaller index first. If the budget `watch` is exhausted before the set is complete, returns
    /// `None`.
    pub(super) fn where_true(
        len: usize,
        watch: &mut Budget,
        conflict: impl Fn(usize, usize) -> bool,
    ) -> Option<Self> {
        let mut bits = BitMatrix::new(len, len);
        for a in 0..len {
            if watch.check().is_some() {
                return None;
            }
            for b in a + 1..len {
                if conflict(a, b) {
                    bits.set(a, b);
                    bits.set(b, a);
                }
            }
        }
        Some(Self { bits })
    }

    /// Returns all pairs of `len` allocations.
    pub(super) fn all(len: usize) -> Self {
        Self { bits: BitMatrix::full(len) }
    }

    pub(super) fn part(&mut self, a: usize, b: usize) {
        self.bits.clear(a, b);
        self.bits.clear(b, a);
    }

    /// Returns the number of allocations.
    pub fn len(&self) -> usize {
        self.bits.rows()
    }

    /// Returns true if there are no allocations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if two allocations conflict.
    ///
    /// # Panics
    /// If an allocation does not exist.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.bits.get(a, b)
    }

    /// Returns the number of conflicting pairs. O(m^2 / 64) for m allocations.
    pub fn count(&self) -> u64 {
        (0..self.len()).map(|row| self.bits.count(row)).sum::<u64>() / 2
    }

    /// Returns every pair once, in ascending order, with the smaller index first.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.len()).flat_map(|a| self.bits.ones(a).filter(move |&b| a < b).map(move |b| (a, b)))
    }

    /// Returns the pairs that are not in `other`.
    ///
    /// # Panics
    /// If the two sets are defined on different numbers of allocations.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        assert_eq!(self.len(), other.len(), "relations on the same allocations");
        let mut bits = self.bits.clone();
        bits.subtract(&other.bits);
        Self { bits }
    }
}
