//! The simplest bound on the peak of every order: what is alive while one operator runs, whatever the order.

use super::problem::{OrderProblem, Storage};
use crate::bound::{LowerBound, Witness};
use crate::units::{Bytes, OperatorId};

/// The simplest bound: while an operator runs, whatever it touches is alive, and so is what is begun before it and used
/// after it in any order; what is held at the first or last step. O(n e / 64) time with one bit per pair of operators,
/// or, above [`REACH_OPERATORS`] operators, O(size) by what each touches alone.
pub fn around_bound(problem: &OrderProblem) -> LowerBound {
    let mut best = LowerBound::new(problem.at_start(), Witness::Start);
    best.raise(LowerBound::new(problem.at_end(), Witness::End));
    for (operator, bytes) in problem.ids().zip(around_bytes(problem)) {
        best.raise(LowerBound::new(Bytes::new(bytes), Witness::Around { operator }));
    }
    best
}

/// Per operator: bytes that are alive while it runs, whatever the order, as [`around_bound`] counts them.
pub fn around_bytes(problem: &OrderProblem) -> Vec<u64> {
    if problem.len() > REACH_OPERATORS { touched(problem) } else { around(problem) }
}

/// Up to so many operators all pairs are looked at.
pub const REACH_OPERATORS: usize = 20_000;

/// Per operator: bytes it touches, what is always held, its scratch.
fn touched(problem: &OrderProblem) -> Vec<u64> {
    let always = |s: &Storage| s.from_start && s.to_end;
    let base: u64 = problem.storages().iter().filter(|s| always(s)).map(|s| s.size.get()).sum();
    let own = |id: OperatorId| {
        let storages = problem.touched(id).iter().map(|&at| &problem.storages()[at as usize]);
        let sizes = storages.filter(|s| !always(s)).map(|s| s.size.get());
        base + sizes.sum::<u64>() + problem.scratch(id).get()
    };
    problem.ids().map(own).collect()
}

/// Per operator: bytes alive while it runs in any order.
///
/// A storage is alive at an operator where that is at or after its beginning and at or before one of its users. Sets of
/// operators are rows of bits: per storage the descendants of its first user, cut with the ancestors of any user.
fn around(problem: &OrderProblem) -> Vec<u64> {
    let n = problem.len();
    let words = n.div_ceil(64);
    let order = problem.as_in_file();
    let close = |ids: &mut dyn Iterator<Item = OperatorId>, next: &dyn Fn(OperatorId) -> Vec<OperatorId>| {
        let mut rows = vec![0u64; n * words];
        for id in ids {
            let mut row = vec![0u64; words];
            row[id.index() / 64] |= 1 << (id.index() % 64);
            for other in next(id) {
                let theirs = &rows[other.index() * words..][..words];
                row.iter_mut().zip(theirs).for_each(|(own, their)| *own |= their);
            }
            rows[id.index() * words..][..words].copy_from_slice(&row);
        }
        rows
    };
    let ids = order.operators();
    let before = close(&mut ids.iter().copied(), &|id| problem.predecessors(id).to_vec());
    let after = close(&mut ids.iter().rev().copied(), &|id| problem.successors(id).to_vec());
    let mut alive: Vec<u64> = problem.ids().map(|id| problem.scratch(id).get()).collect();
    let mut row = vec![0u64; words];
    for (at, storage) in problem.storages().iter().enumerate() {
        row.fill(if storage.to_end { u64::MAX } else { 0 });
        if !storage.to_end {
            for user in &storage.users {
                let theirs = &before[user.index() * words..][..words];
                row.iter_mut().zip(theirs).for_each(|(own, their)| *own |= their);
            }
        }
        if let Some(first) = problem.first(at) {
            let theirs = &after[first.index() * words..][..words];
            row.iter_mut().zip(theirs).for_each(|(own, their)| *own &= their);
        }
        for (word, &bits) in row.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let id = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if id < n {
                    alive[id] += storage.size.get();
                }
            }
        }
    }
    alive
}
