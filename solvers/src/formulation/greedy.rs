//! An initial layout by first fit.

use super::part::Part;

/// Returns the best of three first-fit placements: in descending order of size, of size times number of
/// conflicts, and of number of conflicts.
///
/// Fixed buffers come first and keep their offsets. Every other buffer is placed at the lowest allowed offset
/// at which it overlaps no conflicting placed buffer. Each order takes O(n log n + c log c) time for n
/// buffers and c conflicts.
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
    for &i in order {
        offsets[i] = part.fixed[i].or_else(|| {
            let mut taken: Vec<(i64, i64)> = part.neighbours[i]
                .iter()
                .filter_map(|&j| offsets[j].map(|offset| (offset, offset + part.size[j])))
                .collect();
            taken.sort_unstable();
            let mut at = 0;
            for (start, end) in taken {
                if at + part.size[i] <= start {
                    break;
                }
                if end > at {
                    at = (end + part.align[i] - 1) / part.align[i] * part.align[i];
                }
            }
            Some(at)
        });
    }
    offsets.into_iter().map(|offset| offset.expect("every buffer is in the order")).collect()
}
