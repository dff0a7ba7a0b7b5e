//! Descending placement inside the memory of placed, non-exclusive operators.
//!
//! **Definition.** Buffers are placed by size descending. Memory of placed buffers is *single* where one of them uses
//! it and *shared* where several do. A buffer takes memory whose users it does not conflict with: single memory
//! first, since that is what its users have left; then shared memory; and what is still missing is newly
//! requested on top.
//! - `patent_descending` keeps a buffer in one piece: the lowest range that is single throughout; else the lowest
//!   that fits below the top; else the lowest of all, the free rest below the top and the remainder above it.
//! - [`patent_scattered`] cuts it: all free single memory from below, then shared memory, then new memory.
//!
//! ```text
//! bytes  0    5    8          20         30         35    38    44   46
//!        │ 4 ──────────────── │ 7 ───────────────── │
//!        │ 1 ─│ 8 ─│          │ 2 ────── │ 3 ─────────────│ 6 ─ │ 5 ─ │
//! ```
//!
//! **Invariants.** Only memory without a conflicting user is taken, so every prefix is a valid layout. Fixed buffers
//! are placed first. **Complexity.** O(n^2 log n) time, linear memory (scattered: linear in the pieces).
//!
//! **Source.** S2, a patent on memory management by mutually exclusive operators: the contiguous variant gives its
//! worked example's 46 M exactly.

mod descending;
mod ranges;
mod split_buffers;

pub(crate) use descending::patent_descending;
pub use split_buffers::patent_scattered;

use plimsoll_model::{BufferId, Instance};
use ranges::Ranges;

#[derive(Clone, Debug, Default)]
struct Memory {
    /// Used by somebody.
    used: Ranges,
    /// Used by several.
    shared: Ranges,
    top: u64,
}

impl Memory {
    fn take(&mut self, start: u64, end: u64) {
        for (start, end) in self.used.within(start, end) {
            self.shared.insert(start, end);
        }
        self.used.insert(start, end);
        self.top = self.top.max(end);
    }
}

/// Fixed buffers first, then size descending, ids ascending.
fn descending(instance: &Instance) -> Vec<BufferId> {
    let mut order = crate::buffer_orders::Order::Size.of(instance);
    order.sort_by_key(|&id| instance.buffer(id).fixed().is_none());
    order
}
