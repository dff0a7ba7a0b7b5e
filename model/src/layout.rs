//! Answers: one offset per buffer, scattered pieces, or pools.

use crate::instance::Instance;
use crate::units::{BufferId, Bytes, PoolId};

/// One offset per buffer: the answer to the offset problem.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    offsets: Vec<Bytes>,
}

impl Layout {
    /// Offsets by buffer position, in bytes.
    pub fn new(offsets: Vec<Bytes>) -> Self {
        Self { offsets }
    }

    /// Offsets by buffer position, as raw numbers of bytes.
    pub fn from_raw(offsets: impl IntoIterator<Item = u64>) -> Self {
        Self::new(offsets.into_iter().map(Bytes::new).collect())
    }

    /// All offsets, by buffer position.
    pub fn offsets(&self) -> &[Bytes] {
        &self.offsets
    }

    /// The offset of one buffer.
    pub fn offset(&self, id: BufferId) -> Bytes {
        self.offsets[id.index()]
    }

    /// The peak: max of offset + size over buffers with bytes, 0 for none. Saturates, so a nonsense layout has a huge
    /// peak.
    pub fn peak(&self, instance: &Instance) -> Bytes {
        let tops = instance
            .buffers()
            .iter()
            .zip(&self.offsets)
            .filter(|(buffer, _)| !buffer.is_empty())
            .map(|(buffer, offset)| offset.get().saturating_add(buffer.size().get()));
        Bytes::new(tops.max().unwrap_or(0))
    }
}

/// A range of addresses `[start, start + length)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// First address, bytes.
    pub start: Bytes,
    /// Number of bytes, never zero.
    pub length: Bytes,
}

impl Piece {
    /// First address after the piece; saturates.
    pub fn end(self) -> Bytes {
        Bytes::new(self.start.get().saturating_add(self.length.get()))
    }
}

/// Buffers cut into pieces that may lie apart (SOURCES S2, scattered placement).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitLayout {
    pieces: Vec<Vec<Piece>>,
}

impl SplitLayout {
    /// Pieces by buffer position.
    pub fn new(pieces: Vec<Vec<Piece>>) -> Self {
        Self { pieces }
    }

    /// The pieces of every buffer.
    pub fn pieces(&self) -> &[Vec<Piece>] {
        &self.pieces
    }

    /// The highest end of any piece.
    pub fn peak(&self) -> Bytes {
        let ends = self.pieces.iter().flatten().map(|piece| piece.end());
        ends.max().unwrap_or(Bytes::ZERO)
    }
}

/// Every buffer in one pool; a pool serves one buffer at a time. The answer to the shared-object problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPlan {
    assignment: Vec<PoolId>,
    sizes: Vec<Bytes>,
}

impl PoolPlan {
    /// `assignment[i]` is the pool of buffer `i`, `sizes[p]` the bytes of pool `p`.
    pub fn new(assignment: Vec<PoolId>, sizes: Vec<Bytes>) -> Self {
        Self { assignment, sizes }
    }

    /// Objects as large as their largest member, rounded up to `alignment` bytes.
    ///
    /// # Panics
    /// If `alignment` is zero, or a rounded size overflows (sizes of an instance do not).
    pub fn fitted(instance: &Instance, assignment: Vec<PoolId>, alignment: Bytes) -> Self {
        let pools = assignment.iter().map(|pool| pool.index() + 1).max();
        let mut sizes = vec![Bytes::ZERO; pools.unwrap_or(0)];
        for (buffer, pool) in instance.buffers().iter().zip(&assignment) {
            let size = buffer.size().align_up(alignment).expect("sizes are far below 2^64");
            let pool = &mut sizes[pool.index()];
            *pool = size.max(*pool);
        }
        Self { assignment, sizes }
    }

    /// The pool of every buffer.
    pub fn assignment(&self) -> &[PoolId] {
        &self.assignment
    }

    /// The bytes of every pool.
    pub fn sizes(&self) -> &[Bytes] {
        &self.sizes
    }

    /// Sum of the pool sizes; saturates.
    pub fn total(&self) -> Bytes {
        let total = self.sizes.iter().fold(0u64, |sum, size| sum.saturating_add(size.get()));
        Bytes::new(total)
    }
}
