//! The relations by name, and sets of conflicting pairs.

use crate::bits::BitMatrix;
use crate::budget::Budget;
use std::fmt;
use std::str::FromStr;

/// Determines which memories conflict; see the [module](super) for the definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Memories held at a common step of the order conflict.
    Schedule,
    /// Memories conflict unless the graph and the order within each of the given number of streams (at least
    /// one) separate them.
    ///
    /// Operators are assigned to streams in their order. An operator joins the stream whose last operator it
    /// depends on; if there are several, the one with the latest last operator. Otherwise it starts a new
    /// stream, or joins the stream with the earliest last operator. Only the last case adds a wait that the
    /// graph does not require.
    Streams(u32),
    /// Memories conflict unless the graph separates them.
    Reachable,
    /// The rules of the memory-planning patent (paragraphs 71 to 78).
    ///
    /// An operator owns the memory of its outputs. Two operators are exclusive, that is they conflict, if
    /// 1. an edge connects them: one reads an output of the other;
    /// 2. they are on parallel branches from one operator, even if these never meet: neither reaches the
    ///    other, and some operator reaches both;
    /// 3. one produces an output of the network and precedes the other in execution order.
    ///
    /// A storage is owned by every operator that produces a tensor of it. Each memory held from the start is
    /// produced by an operator of its own, and all of these leave one common start. Memory held all the time
    /// conflicts with everything. Scratch is memory of its operator without readers.
    ///
    /// **Unsafe.** If `a` is followed by `b`, and `b` by `c`, then `a` conflicts only with `b`. The output of
    /// `c` may therefore overwrite the output of `a`, although another operator still reads the latter during
    /// or after `c`. Nothing is overlooked if every tensor has one reader, or if all readers of a tensor
    /// precede everything that comes after any of them.
    Mutex,
}

impl Relation {
    /// A name and a one-line description of each relation: the condition under which two memories may share.
    pub const ABOUT: [(&'static str, &'static str); 4] = [
        ("schedule", "if they are held at disjoint steps of the order"),
        ("streams=K", "if all users of one end before the other begins, with operators in K streams"),
        (
            "reachable",
            "if all users of one end before the other begins in every possible execution of the graph",
        ),
        (
            "mutex",
            "if neither an edge nor parallel branches connect their operators, and neither is an earlier output (a patent); unsafe with skip connections",
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

/// A symmetric set of pairs of memories; no memory conflicts with itself. Takes m^2/8 bytes for m memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    bits: BitMatrix,
}

impl Conflicts {
    /// The pairs of `len` memories for which `conflict` returns true, called with the smaller number first.
    /// Returns `None` if `watch` ends first.
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

    pub(super) fn part(&mut self, a: usize, b: usize) {
        self.bits.clear(a, b);
        self.bits.clear(b, a);
    }

    /// The number of memories.
    pub fn len(&self) -> usize {
        self.bits.rows()
    }

    /// Returns true if there are no memories.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if two memories conflict.
    ///
    /// # Panics
    /// If there is no such memory.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.bits.get(a, b)
    }

    /// The number of conflicting pairs. O(m^2 / 64).
    pub fn count(&self) -> u64 {
        (0..self.len()).map(|row| self.bits.count(row)).sum::<u64>() / 2
    }

    /// Every pair once, ascending, the smaller number first.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.len()).flat_map(|a| self.bits.ones(a).filter(move |&b| a < b).map(move |b| (a, b)))
    }

    /// Returns the pairs that are not in `other`.
    ///
    /// # Panics
    /// If the two sets differ in size.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        assert_eq!(self.len(), other.len(), "relations of the same memories");
        let mut bits = self.bits.clone();
        bits.subtract(&other.bits);
        Self { bits }
    }
}
