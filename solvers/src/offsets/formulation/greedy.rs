//! An initial layout by first fit.

use super::part::{Part, Rigid};
use plimsoll_model::common_base;

/// Returns the best of three first-fit placements: in descending order of size, of size times number of
/// conflicts, and of number of conflicts.
///
/// Fixed buffers come first and keep their offsets. Every other buffer is placed at the lowest allowed offset
/// at which it overlaps no conflicting placed buffer. A rigid group is placed when its first member is due,
/// at the lowest base at which all members fit. Without groups, each order takes O(n log n + c log c) time
/// for n buffers and c conflicts.
pub(super) fn place(part: &Part) -> Vec<i64> {
    let degree = |i: usize| part.neighbours[i].len() as i128;
    let size = |i: usize| i128::from(part.size[i]);
    let keys: [&dyn Fn(usize) -> i128; 3] = [&size, &|i| size(i) * degree(i), &degree];
    let layouts = keys.iter().map(|key| {
        let mut order: Vec<usize> = (0..part.len()).collect();
        order.sort_by_key(|&i| (part.fixed[i].is_none(), std::cmp::Reverse(key(i)), i));
        first_fit(part, &order)
    });
    layouts.min_by_key(|offsets| part.peak(offsets)).expect("three orders")
}

fn first_fit(part: &Part, order: &[usize]) -> Vec<i64> {
    let mut offsets: Vec<Option<i64>> = vec![None; part.len()];
    for &i in order.iter().filter(|&&i| part.fixed[i].is_some()) {
        offsets[i] = part.fixed[i];
    }
    for &i in order {
        match part.rigid_of[i] {
            _ if offsets[i].is_some() => {}
            None => offsets[i] = Some(lowest(part, &offsets, i, 0)),
            Some(group) => {
                let group = &part.rigid[group];
                let base = lowest_base(part, &offsets, group);
                group.members.iter().for_each(|&(member, distance)| offsets[member] = Some(base + distance));
            }
        }
    }
    offsets.into_iter().map(|offset| offset.expect("every buffer is in the order")).collect()
}

/// Returns the lowest allowed offset at or above `from` at which a buffer overlaps no conflicting placed one.
fn lowest(part: &Part, offsets: &[Option<i64>], i: usize, from: i64) -> i64 {
    let mut taken: Vec<(i64, i64)> = part.neighbours[i]
        .iter()
        .filter_map(|&j| offsets[j].map(|offset| (offset, offset + part.size[j])))
        .collect();
    taken.sort_unstable();
    let aligned = |at: i64| (at + part.align[i] - 1) / part.align[i] * part.align[i];
    let mut at = aligned(from);
    for (start, end) in taken {
        if at + part.size[i] <= start {
            break;
        }
        if end > at {
            at = aligned(end);
        }
    }
    at
}

/// Returns the lowest base of a rigid group at which all members fit.
fn lowest_base(part: &Part, offsets: &[Option<i64>], group: &Rigid) -> i64 {
    let next = |&(member, distance): &(usize, i64), base: i64| {
        Some(group.base_from(lowest(part, offsets, member, base + distance) - distance))
    };
    common_base(&group.members, group.residue, next).expect("there is always a higher base")
}
