//! The variant of the patent's placement that splits buffers.

use super::ranges::Ranges;
use super::{Memory, descending};
use plimsoll_model::{Budget, Bytes, Instance, Piece, SplitLayout, Stop};

/// Places buffers by descending size and splits them across free ranges. A node is one placed buffer.
///
/// Every piece starts at an aligned address. Free bytes before that address stay unused.
///
/// # Errors
/// The termination reason if the budget is exhausted before all buffers are placed.
pub fn descending_split(instance: &Instance, budget: &mut Budget) -> Result<SplitLayout, Stop> {
    let mut memory = Memory::default();
    let mut pieces: Vec<Vec<(u64, u64)>> = vec![Vec::new(); instance.len()];
    let mut placed = Vec::with_capacity(instance.len());
    for id in descending(instance, &mut budget.without_node_limit())? {
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        let buffer = instance.buffer(id);
        let size = buffer.size().get();
        let own = buffer.fixed().map_or_else(
            || {
                let rivals = placed.iter().filter(|&&other| instance.conflict(id, other));
                let taken = rivals.flat_map(|other| pieces[other.index()].iter().copied()).collect();
                cut(&memory, taken, size, buffer.alignment().get())
            },
            |offset| vec![(offset.get(), offset.get() + size)],
        );
        for &(start, end) in &own {
            memory.take(start, end);
        }
        pieces[id.index()] = own;
        placed.push(id);
    }
    let piece =
        |&(start, end): &(u64, u64)| Piece { start: Bytes::new(start), length: Bytes::new(end - start) };
    Ok(SplitLayout::new(pieces.iter().map(|own| own.iter().map(piece).collect()).collect()))
}

/// Returns the pieces of a buffer that must avoid the ranges `taken`, in ascending order.
fn cut(memory: &Memory, mut taken: Vec<(u64, u64)>, size: u64, alignment: u64) -> Vec<(u64, u64)> {
    let (mut pieces, mut shortfall) = (Vec::new(), size);
    let mut gather = |avoided: Vec<(u64, u64)>, top: u64, pieces: &mut Vec<(u64, u64)>| {
        for (start, end) in Ranges::union(avoided).free_below(top) {
            if shortfall == 0 {
                break;
            }
            let start = start.next_multiple_of(alignment);
            let end = end.min(start.saturating_add(shortfall));
            if start < end {
                pieces.push((start, end));
                shortfall -= end - start;
            }
        }
    };
    let mut avoided = memory.shared.parts().to_vec();
    avoided.extend_from_slice(&taken);
    gather(avoided, memory.top, &mut pieces);
    taken.extend_from_slice(&pieces);
    gather(taken, memory.top, &mut pieces);
    // The remainder goes into new memory, so everything below the top counts as taken.
    gather(vec![(0, memory.top)], u64::MAX, &mut pieces);
    pieces.sort_unstable();
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fill_single_then_shared_then_new_memory() {
        let mut memory = Memory::default();
        memory.take(0, 20);
        memory.take(4, 8);
        assert_eq!(cut(&memory, vec![(10, 20)], 5, 1), [(0, 4), (8, 9)]);
        assert_eq!(cut(&memory, vec![(10, 20)], 9, 1), [(0, 4), (4, 7), (8, 10)]);
        assert_eq!(cut(&memory, vec![(10, 20)], 12, 8), [(0, 4), (8, 10), (24, 30)]);
        assert_eq!(cut(&Memory::default(), vec![], 3, 4), [(0, 3)]);
    }
}
