//! Places all buffers end to end, so that no memory is shared.
//!
//! This is the baseline for savings. Buffers without a fixed offset are placed in the order of their ids.
//! Each is placed at or above the end of the previous one, at the lowest aligned address where it overlaps no
//! fixed buffer. A rigid group is placed with its first member, as one block from its base to its highest
//! end. Lifespans are ignored. Without alignments or fixed offsets, the peak is the sum of all
//! sizes. O(n log n) for n buffers.

use plimsoll_model::{Budget, Buffer, Bytes, Instance, Layout, RigidGroup, Stop};

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
    let (mut next, mut end) = (0, Bytes::ZERO);
    let mut offsets: Vec<Option<Bytes>> = instance.buffers().iter().map(Buffer::fixed).collect();
    for id in instance.ids() {
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        // Fixed buffers and members of earlier groups have offsets already.
        if offsets[id.index()].is_some() {
            continue;
        }
        let buffer = instance.buffer(id);
        let group = instance.groups().of(id).map(|(group, _)| &instance.groups().all()[group]);
        let size = group.map_or(buffer.size(), RigidGroup::extent).get();
        let aligned = |from: Bytes| match group {
            Some(group) => group.base_from(from),
            None => from.align_up(buffer.alignment()),
        };
        let aligned = |from| aligned(from).expect("the ceiling leaves space for all buffers");
        let mut start = aligned(end);
        while let Some(&(low, high)) = taken.get(next)
            && low < start.get() + size
        {
            // There is no space below this range for this buffer or for any later one.
            start = start.max(aligned(Bytes::new(high)));
            next += 1;
        }
        match group {
            Some(group) => {
                for &(member, distance) in group.members() {
                    offsets[member.index()] = start.checked_add(distance);
                }
            }
            None => offsets[id.index()] = Some(start),
        }
        end = Bytes::new(start.get() + size);
    }
    Ok(offsets.into_iter().collect::<Option<_>>().map(Layout::new))
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
