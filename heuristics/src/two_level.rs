//! GE's two-level block reuse.
//!
//! **Definition.** Level 1 merges buffers of equal size (and alignment) that do not conflict into *blocks*, in execution
//! order, each joining the first block that takes it. Level 2 goes through the blocks by size descending. The
//! largest left becomes a *host* on top of the hosts before it; every later block whose life does not
//! conflict with the host's lies inside the host's addresses, at the lowest aligned start free of conflicts with
//! the guests already there, if one remains. A guest may so lie inside a guest, to any depth. The peak is the
//! sum of the hosts, but for alignment.
//!
//! ```text
//! bytes    0       1024      2048      3072      4096 4608
//! host     │ E ──────────────────────────────── │ D ─ │
//! guests   │ B ────────────── │ A, C ─ │
//! ```
//!
//! **Invariants.** Fixed buffers are placed first, as obstacles that belong to no block; a host avoids those it
//! conflicts with. Everything is placed through an [`Arrangement`], so all rules of the model hold.
//!
//! **Complexity.** Level 1 O(n b) for b blocks, level 2 O(h b) gap searches for h hosts. Linear memory.
//!
//! **Source.** S4, CANN's graph engine; its worked example gives 4608.

use crate::buffer_orders::Order;
use crate::placement::{Arrangement, Fit};
use plimsoll_model::{Budget, BufferId, Bytes, Instance, Layout, Step, Stop};
use std::cmp::Reverse;

/// Buffers of one size and alignment that never conflict; they share one offset.
#[derive(Clone, Debug)]
struct Block {
    size: Bytes,
    alignment: Bytes,
    members: Vec<BufferId>,
    /// After the last step at which a member is alive.
    over: Step,
}

/// Merges equal sizes, then packs smaller blocks into larger ones. A node is a buffer or a block looked at.
pub(crate) fn two_level(instance: &Instance, budget: &mut Budget) -> Result<Option<Layout>, Stop> {
    let blocks = merge_equal(instance, budget)?;
    pack(instance, blocks, budget)
}

/// Level 1. Blocks by size descending, then by alignment, then by first member in execution order.
fn merge_equal(instance: &Instance, budget: &mut Budget) -> Result<Vec<Block>, Stop> {
    let mut order = Order::Start.of(instance);
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

/// True where no member conflicts with `id`, which starts no earlier than any of them; `plain` where conflicts
/// are overlaps of single intervals.
fn takes(instance: &Instance, plain: bool, block: &Block, id: BufferId) -> bool {
    let after = block.over <= instance.buffer(id).lifespan().hull().lower;
    if plain {
        return after;
    }
    (after && instance.separations().of(id).is_empty())
        || block.members.iter().all(|&member| !instance.conflict(member, id))
}

/// Level 2.
fn pack(instance: &Instance, blocks: Vec<Block>, budget: &mut Budget) -> Result<Option<Layout>, Stop> {
    let mut arrangement = Arrangement::new(instance);
    let (mut waiting, mut top) = (blocks, Bytes::ZERO);
    while !waiting.is_empty() {
        let host = waiting.remove(0);
        // A host begins above all hosts before it; only obstacles can be in its way.
        let start = lowest(&arrangement, &host, top, None).expect("the open gap takes every block");
        put(&mut arrangement, &host, start);
        top = Bytes::new(start.get() + host.size.get());
        let limit = Bytes::new(top.get() + 1);
        let mut left = Vec::with_capacity(waiting.len());
        for block in waiting {
            if let Some(stop) = budget.tick() {
                return Err(stop);
            }
            match lowest(&arrangement, &block, start, Some(limit)) {
                Some(offset) => put(&mut arrangement, &block, offset),
                None => left.push(block),
            }
        }
        waiting = left;
    }
    Ok(arrangement.layout())
}

/// The lowest offset at or above `from` that suits every member.
fn lowest(arrangement: &Arrangement, block: &Block, from: Bytes, below: Option<Bytes>) -> Option<Bytes> {
    let mut offset = from.align_up(block.alignment)?;
    // Each search only moves up; once all agree in one round, nobody objects.
    let mut agreed = 0;
    for &member in block.members.iter().cycle() {
        let found = arrangement.find(member, Fit::First, offset, below)?;
        agreed = if found == offset { agreed + 1 } else { 1 };
        offset = found;
        if agreed == block.members.len() {
            break;
        }
    }
    Some(offset)
}

fn put(arrangement: &mut Arrangement, block: &Block, offset: Bytes) {
    for &member in &block.members {
        arrangement.put(member, offset);
    }
}
