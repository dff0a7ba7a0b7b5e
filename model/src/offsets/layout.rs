//! Answers to the problems on buffers: offsets, split buffers, and shared objects.

use crate::instance::Instance;
use crate::units::{BufferId, Bytes, PoolId};

/// The answer to the offset problem: one offset per buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    offsets: Vec<Bytes>,
}

impl Layout {
    /// Creates a layout from offsets in bytes, indexed by buffer.
    pub fn new(offsets: Vec<Bytes>) -> Self {
        Self { offsets }
    }

    /// Creates a layout from plain numbers of bytes, indexed by buffer.
    pub fn from_raw(offsets: impl IntoIterator<Item = u64>) -> Self {
        Self::new(offsets.into_iter().map(Bytes::new).collect())
    }

    /// Returns all offsets in bytes, indexed by buffer.
    pub fn offsets(&self) -> &[Bytes] {
        &self.offsets
    }

    /// Returns the offset of one buffer in bytes.
    pub fn offset(&self, id: BufferId) -> Bytes {
        self.offsets[id.index()]
    }

    /// Returns the peak in bytes: the maximum of offset + size over all buffers of non-zero size, or 0 if
    /// there are none. The sum saturates, so a layout with an overflow has a peak of 2^64 - 1 bytes.
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
    /// The first address, in bytes.
    pub start: Bytes,
    /// The number of bytes. It is never zero in a valid layout.
    pub length: Bytes,
}

impl Piece {
    /// Returns the first address after the piece. The sum saturates.
    pub fn end(self) -> Bytes {
        Bytes::new(self.start.get().saturating_add(self.length.get()))
    }
}

/// The answer to the split-buffer problem: every buffer is divided into pieces that need not be contiguous
/// (memory-planning patent).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitLayout {
    pieces: Vec<Vec<Piece>>,
}

impl SplitLayout {
    /// Creates a layout from pieces, indexed by buffer.
    pub fn new(pieces: Vec<Vec<Piece>>) -> Self {
        Self { pieces }
    }

    /// Returns the pieces of all buffers, indexed by buffer.
    pub fn pieces(&self) -> &[Vec<Piece>] {
        &self.pieces
    }

    /// Returns the peak in bytes: the highest end of any piece.
    pub fn peak(&self) -> Bytes {
        let ends = self.pieces.iter().flatten().map(|piece| piece.end());
        ends.max().unwrap_or(Bytes::ZERO)
    }
}

/// The answer to the shared-object problem: every buffer has an object to itself while it is live, so an
/// object contains at most one buffer at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPlan {
    assignment: Vec<PoolId>,
    sizes: Vec<Bytes>,
}

impl PoolPlan {
    /// The maximum total size of a valid plan. Sums of sizes are limited as in instances.
    pub const MOST: Bytes = Bytes::new(i64::MAX as u64);

    /// Creates a plan in which buffer `i` uses object `assignment[i]` and object `p` has `sizes[p]` bytes.
    pub fn new(assignment: Vec<PoolId>, sizes: Vec<Bytes>) -> Self {
        Self { assignment, sizes }
    }

    /// Creates a plan in which each object is as large as its largest buffer, rounded up to a multiple of
    /// `alignment` bytes.
    ///
    /// # Panics
    /// If `alignment` is zero. Rounding the sizes of an instance never overflows.
    pub fn fitted(instance: &Instance, assignment: Vec<PoolId>, alignment: Bytes) -> Self {
        let objects = assignment.iter().map(|pool| pool.index() + 1).max();
        let mut sizes = vec![Bytes::ZERO; objects.unwrap_or(0)];
        for (buffer, pool) in instance.buffers().iter().zip(&assignment) {
            let size = buffer.size().align_up(alignment).expect("sizes are far below 2^64");
            let pool = &mut sizes[pool.index()];
            *pool = size.max(*pool);
        }
        Self { assignment, sizes }
    }

    /// Returns the object of every buffer, indexed by buffer.
    pub fn assignment(&self) -> &[PoolId] {
        &self.assignment
    }

    /// Returns the size of every object in bytes, indexed by object.
    pub fn sizes(&self) -> &[Bytes] {
        &self.sizes
    }

    /// Returns the sum of the object sizes in bytes. The sum saturates. The plan is then invalid, since the
    /// sum exceeds [`PoolPlan::MOST`].
    pub fn total(&self) -> Bytes {
        let total = self.sizes.iter().fold(0u64, |sum, size| sum.saturating_add(size.get()));
        Bytes::new(total)
    }
}
