//! The simplest lower bound on the peak of every order: the bytes that are live while an operator runs,
//! whatever the order.

use super::problem::{OrderProblem, Storage};
use crate::bound::{LowerBound, Witness};
use crate::units::{Bytes, OperatorId};

/// Returns the simplest lower bound on the peak of every order.
///
/// While an operator runs, two kinds of storages are live: those that it uses, and those that begin before it
/// and are used after it in every order. The storages held at the first step and at the last step give two
/// further bounds. O(n (e + u) / 64) time for n operators, e edges and u users of storages, and two bits of
/// memory per pair of operators. Above [`REACH_OPERATORS`] operators, only the storages that an operator uses
/// and those held for the whole run are counted, in linear time.
pub fn around_bound(problem: &OrderProblem) -> LowerBound {
    let mut best = LowerBound::new(problem.at_start(), Witness::Start);
    best.raise(LowerBound::new(problem.at_end(), Witness::End));
    for (operator, bytes) in problem.ids().zip(around_bytes(problem)) {
        best.raise(LowerBound::new(Bytes::new(bytes), Witness::Around { operator }));
    }
    best
}

/// Returns for each operator the bytes that are live in every order while the operator runs, as counted by
/// [`around_bound`].
pub fn around_bytes(problem: &OrderProblem) -> Vec<u64> {
    if problem.len() > REACH_OPERATORS { touched(problem) } else { around(problem) }
}

/// The maximum number of operators for which all pairs are considered.
pub const REACH_OPERATORS: usize = 20_000;

/// Returns for each operator the bytes that it uses, including its scratch, plus the bytes that are always
/// held.
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

/// Returns for each operator the bytes that are live in every order while the operator runs.
///
/// In every order, a storage is live while an operator runs if it has begun and is still needed. It has
/// begun if it is held from the start, or if the operator is a user of the storage or a descendant of a user.
/// It is still needed if it is held to the end, or if the operator is a user or an ancestor of a user.
/// Consider a storage held neither from the start nor to the end. It is live during each operator that is a
/// descendant of some user of the storage and an ancestor of some user. Each operator counts as its own
/// ancestor and descendant. Sets of operators are stored as bitsets.
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
    let mut live: Vec<u64> = problem.ids().map(|id| problem.scratch(id).get()).collect();
    let (mut row, mut begun) = (vec![0u64; words], vec![0u64; words]);
    for (at, storage) in problem.storages().iter().enumerate() {
        row.fill(if storage.to_end { u64::MAX } else { 0 });
        if !storage.to_end {
            for user in &storage.users {
                let theirs = &before[user.index() * words..][..words];
                row.iter_mut().zip(theirs).for_each(|(own, their)| *own |= their);
            }
        }
        if !storage.from_start {
            // Usually, one user precedes all others, and whatever follows any user follows that one.
            let first = problem.first(at);
            begun.fill(0);
            for user in first.iter().chain(storage.users.iter().filter(|_| first.is_none())) {
                let theirs = &after[user.index() * words..][..words];
                begun.iter_mut().zip(theirs).for_each(|(own, their)| *own |= their);
            }
            row.iter_mut().zip(&begun).for_each(|(own, begun)| *own &= begun);
        }
        for (word, &bits) in row.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let id = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if id < n {
                    live[id] += storage.size.get();
                }
            }
        }
    }
    live
}
