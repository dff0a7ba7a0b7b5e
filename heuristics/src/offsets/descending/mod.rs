//! Descending placement inside the memory of placed buffers, as in the patent on mutually exclusive
//! operators.
//!
//! **Definition.** Buffers are placed by descending size. The *top* is the highest end of a placed buffer.
//! Memory below the top is *shared* if several placed buffers use it, and otherwise *single*. A buffer is
//! placed in memory whose users do not conflict with it, preferably in single memory, otherwise in shared
//! memory. Bytes that do not fit there are placed in new memory above the top.
//! - `descending_contiguous` assigns one range to every buffer. It prefers the lowest sufficient range that
//!   consists only of single memory. Otherwise, it uses the lowest sufficient range below the top. If neither
//!   exists, the buffer begins directly above the highest conflicting buffer and extends into new memory.
//! - [`descending_split`] splits buffers. It uses single memory, then shared memory, and then new memory, each in
//!   ascending order of address.
//!
//! ```text
//! bytes  0    5    8          20         30         35    38    44   46
//!        │ 4 ──────────────── │ 7 ───────────────── │
//!        │ 1 ─│ 8 ─│          │ 2 ────── │ 3 ─────────────│ 6 ─ │ 5 ─ │
//! ```
//!
//! **Invariants.** Only memory without a conflicting user is assigned, so every partial layout is valid.
//! Fixed buffers are placed first.
//!
//! **Complexity.** The time is O(n^2 log n) for n buffers. The memory required is linear in the number of
//! buffers or, for split buffers, in the number of pieces.
//!
//! **Source.** The memory-planning patent on mutually exclusive operators. The contiguous variant reproduces
//! the result of the patent's worked example, 46 M.

mod contiguous;
mod ranges;
mod split;

pub(crate) use contiguous::descending_contiguous;
pub use split::descending_split;

use plimsoll_model::{Budget, BufferId, Instance, Stop};
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

/// Returns the placement order: fixed buffers first, then descending size, then ascending id.
fn descending(instance: &Instance, watch: &mut Budget) -> Result<Vec<BufferId>, Stop> {
    let mut order = crate::offsets::Order::Size.of(instance, watch)?;
    order.sort_by_key(|&id| instance.buffer(id).fixed().is_none());
    Ok(order)
}
