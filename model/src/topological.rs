//! Topological sorting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Sorts the positions `0..n` topologically. Among all ready positions, the lowest comes next. O(n log n + e)
/// for e edges.
///
/// `successors` returns the positions that depend on a position, once per dependency.
///
/// # Errors
/// If there is a cycle, the number of unmet dependencies of each position. The number is positive for
/// positions that are part of a cycle or depend on one.
pub fn topological<I: IntoIterator<Item = usize>>(
    n: usize,
    successors: impl Fn(usize) -> I,
) -> Result<Vec<usize>, Vec<usize>> {
    let mut waiting = vec![0usize; n];
    for at in 0..n {
        for next in successors(at) {
            waiting[next] += 1;
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..n).filter(|&at| waiting[at] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse(at)) = ready.pop() {
        order.push(at);
        for next in successors(at) {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if order.len() == n { Ok(order) } else { Err(waiting) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_ready_comes_first_and_cycles_are_reported() {
        let sort = |lists: &[&[usize]]| topological(lists.len(), |at| lists[at].iter().copied());
        assert_eq!(sort(&[&[], &[0], &[0, 0]]), Ok(vec![1, 2, 0]));
        assert_eq!(sort(&[&[1], &[2], &[1], &[0]]), Err(vec![0, 1, 1, 0]));
        assert_eq!(sort(&[]), Ok(vec![]));
    }
}
