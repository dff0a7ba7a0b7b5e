//! The variant of the patent's placement that assigns one address range to every buffer.

use super::ranges::Ranges;
use super::{Memory, descending};
use plimsoll_model::{Budget, BufferId, Bytes, Instance, Layout, Stop};

/// Places buffers by descending size. Addresses below the top that are used by at most one placed buffer are
/// preferred over shared and new addresses. A node is one placed buffer.
pub(crate) fn descending_contiguous(
    instance: &Instance,
    budget: &mut Budget,
) -> Result<Option<Layout>, Stop> {
    let mut memory = Memory::default();
    let mut placed: Vec<(BufferId, u64, u64)> = Vec::with_capacity(instance.len());
    let mut offsets = vec![Bytes::ZERO; instance.len()];
    for id in descending(instance, &mut budget.without_node_limit())? {
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        let buffer = instance.buffer(id);
        let size = buffer.size().get();
        let offset = buffer.fixed().map_or_else(
            || {
                let rivals = placed.iter().filter(|&&(other, ..)| instance.conflict(id, other));
                let taken: Vec<(u64, u64)> = rivals.map(|&(_, start, end)| (start, end)).collect();
                choose(&memory, taken, size, buffer.alignment().get())
            },
            Bytes::get,
        );
        memory.take(offset, offset + size);
        placed.push((id, offset, offset + size));
        offsets[id.index()] = Bytes::new(offset);
    }
    Ok(Some(Layout::new(offsets)))
}

/// Returns the offset for a buffer that must avoid the ranges `taken`.
fn choose(memory: &Memory, taken: Vec<(u64, u64)>, size: u64, alignment: u64) -> u64 {
    let fitting = |free: (u64, u64)| {
        let start = free.0.next_multiple_of(alignment);
        (start.saturating_add(size) <= free.1).then_some(start)
    };
    let mut avoided = memory.shared.parts().to_vec();
    avoided.extend_from_slice(&taken);
    let single = Ranges::union(avoided).free_below(memory.top).find_map(fitting);
    // If nothing fits below the top, this finds the free range that extends beyond it.
    let any = || Ranges::union(taken).free_below(u64::MAX).find_map(fitting);
    single.or_else(any).expect("addresses above the top are free")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_memory_is_preferred_to_shared_and_new() {
        let mut memory = Memory::default();
        memory.take(0, 20);
        memory.take(0, 5);
        assert_eq!(choose(&memory, vec![], 3, 1), 5);
        assert_eq!(choose(&memory, vec![], 3, 8), 8);
        assert_eq!(choose(&memory, vec![(5, 20)], 3, 1), 0);
        assert_eq!(choose(&memory, vec![(0, 17)], 6, 1), 17);
        assert_eq!(choose(&memory, vec![(0, 20)], 6, 8), 24);
    }
}
