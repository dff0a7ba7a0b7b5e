//! Places all buffers end to end, so that no memory is shared.
//!
//! This is the baseline for savings. Buffers without a fixed offset are placed in the order of their ids.
//! Each is placed at or above the end of the previous one, at the lowest aligned address where it overlaps no
//! fixed buffer. Lifespans are ignored. Without alignments or fixed offsets, the peak is the sum of all
//! sizes. O(n log n) for n buffers.

use plimsoll_model::{Budget, Bytes, Instance, Layout, Stop};

/// Places all buffers end to end. Every run that reaches a limit too early can return this layout. Returns
/// `None` if fixed offsets contradict each other, since no layout exists then. O(n log n) for n buffers.
pub fn laid_end_to_end(instance: &Instance) -> Option<Layout> {
    if instance.contradiction().is_some() {
        return None;
    }
    end_to_end(instance, &mut Budget::unlimited()).ok().flatten()
}

/// Places all buffers end to end. A node is one buffer.
pub(crate) fn end_to_end(instance: &Instance, budget: &mut Budget) -> Result<Option<Layout>, Stop> {
    let mut taken: Vec<(u64, u64)> = instance
        .buffers()
        .iter()
        .filter_map(|buffer| {
            let offset = buffer.fixed()?.get();
            Some((offset, offset + buffer.size().get()))
        })
        .collect();
    taken.sort_unstable();
    let (mut next, mut end) = (0, 0u64);
    let mut offsets = Vec::with_capacity(instance.len());
    for buffer in instance.buffers() {
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        if let Some(offset) = buffer.fixed() {
            offsets.push(offset);
            continue;
        }
        let mut start = end.next_multiple_of(buffer.alignment().get());
        while let Some(&(low, high)) = taken.get(next)
            && low < start + buffer.size().get()
        {
            // There is no space below this range for this buffer or for any later one.
            start = start.max(high.next_multiple_of(buffer.alignment().get()));
            next += 1;
        }
        offsets.push(Bytes::new(start));
        end = start + buffer.size().get();
    }
    Ok(Some(Layout::new(offsets)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::{Buffer, InstanceBuilder, Lifespan};

    #[test]
    fn fixed_buffers_are_skipped() {
        let buffer = |name: &str, size: u64| Buffer::new(name, size, Lifespan::single(0, 1).unwrap());
        let instance = InstanceBuilder::new("t")
            .buffer(buffer("a", 3))
            .buffer(buffer("b", 4).aligned(4))
            .buffer(buffer("c", 2).fixed_at(4))
            .buffer(buffer("d", 1))
            .build()
            .unwrap();
        let layout = end_to_end(&instance, &mut Budget::unlimited()).unwrap().unwrap();
        assert_eq!(layout, Layout::from_raw([0, 8, 4, 12]));
    }
}
