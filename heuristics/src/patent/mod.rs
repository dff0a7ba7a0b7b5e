//! Descending placement inside the memory of placed, non-exclusive operators.
//!
//! **Definition.** Buffers are placed by size descending. Memory is *single* if one placed buffer uses it and
//! *shared* if several do. A buffer takes memory whose users do not conflict with it: first single memory,
//! then shared memory. The remainder is newly requested on top.
//! - `patent_descending` assigns one range per buffer: the lowest range of single memory only. If there is
//!   none, it takes the lowest range that fits below the top, or else the free end below the top with new
//!   memory above it.
//! - [`patent_split`] splits buffers: all free single memory from the lowest address, then shared memory,
//!   then new memory.
//!
//! ```text
//! bytes  0    5    8          20         30         35    38    44   46
//!        │ 4 ──────────────── │ 7 ───────────────── │
//!        │ 1 ─│ 8 ─│          │ 2 ────── │ 3 ─────────────│ 6 ─ │ 5 ─ │
//! ```
//!
//! **Invariants.** Only memory without a conflicting user is taken, so every partial layout is valid. Fixed
//! buffers are placed first.
//!
//! **Complexity.** O(n^2 log n) time, linear memory (split buffers: linear in the
//! number of ranges).
//!
//! **Source.** The memory-planning patent on mutually exclusive operators. The contiguous variant reproduces
//! the 46 M of its worked example.

mod descending;
mod ranges;
mod split_buffers;

pub(crate) use descending::patent_descending;
pub use split_buffers::patent_split;

use plimsoll_model::{BufferId, Instance};
use ranges::Ranges;

#[derive(Clone, Debug, Default)]
struct Memory {
    /// Addresses used by at least one buffer.
    used: Ranges,
    /// Addresses used by several buffers.
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

/// Returns the placement order: fixed buffers first, then size descending, then id.
fn descending(instance: &Instance) -> Vec<BufferId> {
    let mut order = crate::buffer_orders::Order::Size.of(instance);
    order.sort_by_key(|&id| instance.buffer(id).fixed().is_none());
    order
}
