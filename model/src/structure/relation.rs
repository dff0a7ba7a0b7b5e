//! The relations by name, and sets of conflicting pairs.

use crate::bits::BitMatrix;
use crate::budget::Budget;
use std::fmt;
use std::str::FromStr;

/// Which memories conflict; the [module](super) has the definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Held at a common step of the order.
    Schedule,
    /// Not kept apart by the graph and the order within each of so many streams, at least one.
    ///
    /// Operators take streams in their order. One goes behind the latest operator at the end of a stream that it waits for
    /// anyhow; else to a stream that has none yet; else behind the earliest operator at the end of a stream.
    /// Only that last step makes anybody wait who need not.
    Streams(u32),
    /// Not kept apart by the graph.
    Reachable,
    /// The rules of a patent (SOURCES S2, paragraphs 71 to 78). An operator owns the memory of what it makes. Two operators are
    /// exclusive, that is conflict, where
    /// 1. an edge joins them: what the one makes, the other reads;
    /// 2. they lie on parallel branches that leave one operator, whether or not those meet again: neither
    ///    reaches the other, and somebody reaches both;
    /// 3. one makes an output of the network and precedes the other in execution order.
    ///
    /// A storage is the memory of every operator that makes a tensor of it. What is given is made by an operator of its own,
    /// and all those leave one start; what is held all the time conflicts with everything; scratch is memory of its operator
    /// that nobody reads.
    ///
    /// **Unsafe.** An operator that is followed by `b`, and `b` by `c`, conflicts with `b` only, although a third
    /// one may still read it when `c` runs, or have to read it together with what `c` makes: `c` overwrites what is
    /// needed. Where every tensor has one reader, or all its readers precede whatever comes after any of them,
    /// nothing is overlooked.
    Mutex,
}

impl Relation {
    /// One line on each: its word, and when two may share.
    pub const ABOUT: [(&'static str, &'static str); 4] = [
        ("schedule", "where the steps they are held at are disjoint in the order"),
        ("streams=K", "where all users of one end before the other begins, operators running in K streams"),
        (
            "reachable",
            "where they do in every execution of the graph, operators running as soon or as late as they may",
        ),
        (
            "mutex",
            "where neither an edge nor parallel branches join their operators, and none is an earlier output (a patent): unsafe with skips",
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
                    "streams=K needs a number of at least 1, not '{number}'; known are schedule, streams=K, reachable, mutex"
                )),
            };
        }
        match text {
            "schedule" => Ok(Self::Schedule),
            "reachable" => Ok(Self::Reachable),
            "mutex" => Ok(Self::Mutex),
            _ => Err(format!("unknown relation '{text}'; known are schedule, streams=K, reachable, mutex")),
        }
    }
}

/// A symmetric set of pairs of memories; nobody conflicts with itself. m^2/8 bytes for m memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    bits: BitMatrix,
}

impl Conflicts {
    /// The pairs of `len` memories for which `conflict` holds, asked with the smaller number first; none where `watch`
    /// ends before.
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

    /// Number of memories.
    pub fn len(&self) -> usize {
        self.bits.rows()
    }

    /// True without memories.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether two memories conflict.
    ///
    /// # Panics
    /// If there is no such memory.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.bits.get(a, b)
    }

    /// Number of pairs. O(m^2 / 64).
    pub fn count(&self) -> u64 {
        (0..self.len()).map(|row| self.bits.count(row)).sum::<u64>() / 2
    }

    /// Every pair once, the smaller number first, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.len()).flat_map(|a| self.bits.ones(a).filter(move |&b| a < b).map(move |b| (a, b)))
    }

    /// The pairs that are not in `other`.
    ///
    /// # Panics
    /// If the two are of different sizes.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        assert_eq!(self.len(), other.len(), "relations of the same memories");
        let mut bits = self.bits.clone();
        bits.subtract(&other.bits);
        Self { bits }
    }
}
