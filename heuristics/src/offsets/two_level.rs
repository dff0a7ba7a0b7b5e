//! The two-level block reuse of the CANN graph engine.
//!
//! **Definition.** Level 1 merges buffers of equal size and alignment that do not conflict into *blocks*. In
//! execution order, each buffer joins the first block without a conflict. Level 2 processes the blocks by
//! descending size. The largest remaining block becomes a *host* above the previous hosts. Every later block
//! that does not conflict with the host becomes a *guest* inside the addresses of the host, if there is
//! space. The guest is placed at the lowest aligned offset at which it does not collide with earlier guests.
//! Guests may be inside other guests to any depth. Without fixed buffers or alignment padding, the peak is
//! the sum of the sizes of the hosts.
//!
//! ```text
//! bytes    0       1024      2048      3072      4096 4608
//! host     │ E ──────────────────────────────── │ D ─ │
//! guests   │ B ────────────── │ A, C ─ │
//! ```
//!
//! **Invariants.** Fixed buffers are placed first. They belong to no block, and hosts and guests avoid fixed
//! buffers with which they conflict. All buffers are placed through an [`Arrangement`], which guarantees a
//! valid layout.
//!
//! **Complexity.** Level 1 is O(n b) for n buffers and b blocks. Level 2 makes O(h b) attempts for h hosts. A
//! successful attempt needs at least one gap search per member of the block. Memory is linear.
//!
//! **Source.** The CANN whitepaper. The peak of its worked example is 4608.

use crate::offsets::buffer_orders::Order;
use crate::offsets::placement::{Arrangement, Fit};
use plimsoll_model::{Budget, BufferId, Bytes, Instance, Layout, Step, Stop};
use std::cmp::Reverse;

/// Buffers of the same size and alignment that do not conflict. They get the same offset.
#[derive(Clone, Debug)]
struct Block {
    size: Bytes,
    alignment: Bytes,
    members: Vec<BufferId>,
    /// The first step after the lifespans of all members.
    over: Step,
}

/// Merges buffers of equal size, then packs smaller blocks into larger ones. A node is one visited buffer or
/// block.
pub(crate) fn two_level(instance: &Instance, budget: &mut Budget) -> Result<Option<Layout>, Stop> {
    let blocks = merge_equal(instance, budget)?;
    pack(instance, blocks, budget)
}

/// Merges buffers into blocks (level 1). Returns the blocks by descending size, then by descending alignment,
/// and then by their first member in execution order.
fn merge_equal(instance: &Instance, budget: &mut Budget) -> Result<Vec<Block>, Stop> {
    let mut order = Order::Start.of(instance, &mut budget.without_node_limit())?;
    order.retain(|&id| instance.buffer(id).fixed().is_none());
    let kind = |id: BufferId| (instance.buffer(id).size(), instance.buffer(id).alignment());
    order.sort_by_key(|&id| Reverse(kind(id)));
    let plain = instance.is_interval();
    let mut blocks: Vec<Block> = Vec::new();
    for group in order.chunk_by(|&a, &b| kind(a) == kind(b)) {
        let first = blocks.len();
        for &id in group {
            if let Some(stop) = budget.tick() {
                return Err(stop);
            }
            let hull = instance.buffer(id).lifespan().hull();
            let free = blocks[first..].iter_mut().find(|block| takes(instance, plain, block, id));
            if let Some(block) = free {
                block.members.push(id);
                block.over = block.over.max(hull.upper);
            } else {
                let (size, alignment) = kind(id);
                blocks.push(Block { size, alignment, members: vec![id], over: hull.upper });
            }
        }
    }
    Ok(blocks)
}

/// Returns true if no member conflicts with `id`, which must start no earlier than any member. `plain` means
/// that conflicts are overlaps of single intervals.
fn takes(instance: &Instance, plain: bool, block: &Block, id: BufferId) -> bool {
    let after = block.over <= instance.buffer(id).lifespan().hull().lower;
    if plain {
        return after;
    }
    (after && instance.separations().of(id).is_empty())
        || block.members.iter().all(|&member| !instance.conflict(member, id))
}

/// Packs the blocks (level 2) and returns the layout.
fn pack(instance: &Instance, blocks: Vec<Block>, budget: &mut Budget) -> Result<Option<Layout>, Stop> {
    let mut arrangement = Arrangement::new(instance);
    let (mut pending, mut top) = (blocks, Bytes::ZERO);
    let mut watch = budget.without_node_limit();
    while !pending.is_empty() {
        let host = pending.remove(0);
        // A host begins above all previous hosts, so only fixed buffers can be in its way.
        let start =
            lowest(&arrangement, &host, (top, None), &mut watch)?.expect("the open gap is large enough");
        put(&mut arrangement, &host, start);
        top = Bytes::new(start.get() + host.size.get());
        let limit = Bytes::new(top.get() + 1);
        let mut left = Vec::with_capacity(pending.len());
        for block in pending {
            if let Some(stop) = budget.tick() {
                return Err(stop);
            }
            match lowest(&arrangement, &block, (start, Some(limit)), &mut watch)? {
                Some(offset) => put(&mut arrangement, &block, offset),
                None => left.push(block),
            }
        }
        pending = left;
    }
    Ok(arrangement.layout())
}

/// Returns the lowest offset at or above `from` that is free for every member, if one lies below the limit.
fn lowest(
    arrangement: &Arrangement,
    block: &Block,
    (from, below): (Bytes, Option<Bytes>),
    watch: &mut Budget,
) -> Result<Option<Bytes>, Stop> {
    let Some(mut offset) = from.align_up(block.alignment) else { return Ok(None) };
    // Every search can only raise the offset. The offset is valid once all members have accepted it in
    // succession.
    let mut agreed = 0;
    for &member in block.members.iter().cycle() {
        if let Some(stop) = watch.check() {
            return Err(stop);
        }
        let Some(found) = arrangement.find(member, Fit::First, offset, below) else { return Ok(None) };
        agreed = if found == offset { agreed + 1 } else { 1 };
        offset = found;
        if agreed == block.members.len() {
            break;
        }
    }
    Ok(Some(offset))
}

fn put(arrangement: &mut Arrangement, block: &Block, offset: Bytes) {
    for &member in &block.members {
        arrangement.put(member, offset);
    }
}
