//! Placed buffers in ascending order of offset, stored in blocks that a scan can skip.
//!
//! A block holds up to [`BLOCK`] buffers as a structure of arrays. Its [`Head`] contains the lowest offset,
//! the highest end and the hull of the lifespans. Invariants: blocks and the buffers within them are sorted
//! by offset, no block is empty, and heads are exact. Insertion is O(BLOCK + number of blocks), and memory is
//! linear in the number of buffers.
//!
//! ```text
//! heads    | first 0   | first 96  | first 480 |     tested first, contiguous in memory
//! blocks   | 0 0 16 64 | 96 96 128 | 480       |     scanned only if the hull overlaps the query
//! ```

/// Maximum number of buffers per block. It is large enough for vectorised comparison and small enough to make
/// skipping worthwhile.
pub(super) const BLOCK: usize = 128;

/// Number of lifespans compared at a time.
const CHUNK: usize = 32;

/// The hull of a lifespan as a half-open interval of ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hull {
    pub lower: u32,
    pub upper: u32,
}

/// The summary of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Lowest offset.
    pub first: u64,
    /// Highest end.
    pub top: u64,
    /// Hull of all lifespans.
    pub hull: Hull,
}

/// Up to [`BLOCK`] buffers, sorted by offset. Unused entries have an empty lifespan, so they overlap nothing.
#[derive(Clone, Debug)]
pub(super) struct Block {
    len: usize,
    offsets: [u64; BLOCK],
    ends: [u64; BLOCK],
    lowers: [u32; BLOCK],
    uppers: [u32; BLOCK],
    ids: [u32; BLOCK],
}

/// A placed buffer, as a scan visits it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub id: u32,
    pub offset: u64,
    pub end: u64,
}

impl Block {
    fn empty() -> Self {
        Self {
            len: 0,
            offsets: [0; BLOCK],
            ends: [0; BLOCK],
            lowers: [u32::MAX; BLOCK],
            uppers: [0; BLOCK],
            ids: [0; BLOCK],
        }
    }

    fn insert(&mut self, placed: Placed, hull: Hull) {
        let at = self.offsets[..self.len].partition_point(|&offset| offset <= placed.offset);
        let moved = at..self.len;
        self.offsets.copy_within(moved.clone(), at + 1);
        self.ends.copy_within(moved.clone(), at + 1);
        self.lowers.copy_within(moved.clone(), at + 1);
        self.uppers.copy_within(moved.clone(), at + 1);
        self.ids.copy_within(moved, at + 1);
        self.offsets[at] = placed.offset;
        self.ends[at] = placed.end;
        self.lowers[at] = hull.lower;
        self.uppers[at] = hull.upper;
        self.ids[at] = placed.id;
        self.len += 1;
    }

    /// Moves the upper half into a new block.
    fn split(&mut self) -> Self {
        let (keep, mut upper) = (self.len / 2, Self::empty());
        upper.len = self.len - keep;
        upper.offsets[..upper.len].copy_from_slice(&self.offsets[keep..self.len]);
        upper.ends[..upper.len].copy_from_slice(&self.ends[keep..self.len]);
        upper.lowers[..upper.len].copy_from_slice(&self.lowers[keep..self.len]);
        upper.uppers[..upper.len].copy_from_slice(&self.uppers[keep..self.len]);
        upper.ids[..upper.len].copy_from_slice(&self.ids[keep..self.len]);
        self.lowers[keep..].fill(u32::MAX);
        self.uppers[keep..].fill(0);
        self.len = keep;
        upper
    }

    fn head(&self) -> Head {
        Head {
            first: self.offsets[0],
            top: self.ends[..self.len].iter().copied().max().unwrap_or(0),
            hull: Hull {
                lower: self.lowers.iter().copied().min().unwrap_or(u32::MAX),
                upper: self.uppers.iter().copied().max().unwrap_or(0),
            },
        }
    }

    /// Visits every buffer whose hull overlaps `query`, in ascending order of offset, until `visit` returns
    /// true. Returns true if `visit` did.
    pub(super) fn meet(&self, query: Hull, mut visit: impl FnMut(Placed) -> bool) -> bool {
        for from in (0..self.len).step_by(CHUNK) {
            let mut hits = [0u8; CHUNK];
            let hulls = self.lowers[from..from + CHUNK].iter().zip(&self.uppers[from..from + CHUNK]);
            for (hit, (&lower, &upper)) in hits.iter_mut().zip(hulls) {
                *hit = u8::from(lower < query.upper) & u8::from(query.lower < upper);
            }
            for (word, bytes) in hits.chunks_exact(8).enumerate() {
                let mut bits = bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
                while bits != 0 {
                    let at = from + 8 * word + bits.trailing_zeros() as usize / 8;
                    bits &= bits - 1;
                    let placed = Placed { id: self.ids[at], offset: self.offsets[at], end: self.ends[at] };
                    if visit(placed) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    heads: Vec<Head>,
    /// The blocks are boxed, so that a split moves pointers instead of kilobytes.
    #[expect(clippy::vec_box, reason = "inserting in the middle moves every later block")]
    blocks: Vec<Box<Block>>,
}

impl Blocks {
    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.blocks.clear();
    }

    pub(super) fn insert(&mut self, placed: Placed, hull: Hull) {
        if self.blocks.is_empty() {
            self.blocks.push(Box::new(Block::empty()));
            self.heads.push(Head { first: placed.offset, top: 0, hull: Hull { lower: u32::MAX, upper: 0 } });
        }
        let mut at = self.heads.partition_point(|head| head.first <= placed.offset).saturating_sub(1);
        if self.blocks[at].len == BLOCK {
            let upper = self.blocks[at].split();
            self.heads[at] = self.blocks[at].head();
            self.heads.insert(at + 1, upper.head());
            self.blocks.insert(at + 1, Box::new(upper));
            at += usize::from(self.heads[at + 1].first <= placed.offset);
        }
        self.blocks[at].insert(placed, hull);
        let head = &mut self.heads[at];
        head.first = head.first.min(placed.offset);
        head.top = head.top.max(placed.end);
        head.hull.lower = head.hull.lower.min(hull.lower);
        head.hull.upper = head.hull.upper.max(hull.upper);
    }

    /// Returns the heads and the blocks in ascending order of offset.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Head, &Block)> {
        self.heads.iter().zip(self.blocks.iter().map(Box::as_ref))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stay_sorted_and_heads_exact() {
        let mut blocks = Blocks::default();
        let mut raw = 1u64;
        for id in 0..1000u32 {
            raw = raw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let offset = raw >> 54;
            let lower = (raw >> 20 & 63) as u32;
            let placed = Placed { id, offset, end: offset + 1 + (raw >> 30 & 15) };
            blocks.insert(placed, Hull { lower, upper: lower + 3 });
        }
        let (mut count, mut last) = (0, 0);
        for (head, block) in blocks.iter() {
            let exact = block.head();
            assert_eq!((head.first, head.top), (exact.first, exact.top));
            assert_eq!((head.hull.lower, head.hull.upper), (exact.hull.lower, exact.hull.upper));
            block.meet(Hull { lower: 0, upper: u32::MAX }, |placed| {
                assert!(placed.offset >= last);
                last = placed.offset;
                count += 1;
                false
            });
        }
        assert_eq!(count, 1000);
    }
}
