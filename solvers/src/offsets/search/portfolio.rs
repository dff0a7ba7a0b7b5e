//! Runs several searches at one capacity, each on its own thread.
//!
//! Every member has its own seed and node quota. If several members have a result, that of the member with
//! the lowest index is used. A member with a result cancels those with a higher index, while those with a
//! lower index finish their quota. The result and the node count therefore depend only on the seed, the node
//! limit and the number of members, unless time is limited.

use super::{Decide, Decision};
use plimsoll_model::{Budget, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs `run` on every item, each on its own thread, and returns the results in the order of the items. A
/// single item needs no thread. A panic of a thread continues in the caller.
pub(super) fn on_threads<T: Send, R: Send>(
    items: impl ExactSizeIterator<Item = T>,
    run: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    if items.len() == 1 {
        return items.map(run).collect();
    }
    std::thread::scope(|scope| {
        let run = &run;
        // Start all threads before waiting for the first.
        let started: Vec<_> = items.map(|item| scope.spawn(move || run(item))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, R>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(join).collect()
    })
}

/// Runs every member for at most `nodes` nodes and charges the nodes to the budget. Nodes of members after
/// the one whose verdict is returned are not charged.
pub(super) fn decide(members: &mut [Box<dyn Decide + '_>], nodes: u64, budget: &mut Budget) -> Decision {
    let mut nodes = nodes;
    let mut members = members;
    if let Some(left) = budget.nodes_left() {
        // The node limit applies to all members together.
        let able = members.len().min(usize::try_from(left).unwrap_or(usize::MAX)).max(1);
        members = &mut members[..able];
        nodes = nodes.min(left / able as u64);
    }
    let flags: Vec<Arc<AtomicBool>> = members.iter().map(|_| Arc::default()).collect();
    let run = |at: usize, member: &mut Box<dyn Decide + '_>, budget: &Budget| {
        let mut part = budget.part(Some(nodes), None).with_cancel(Arc::clone(&flags[at]));
        let verdict = member.decide(&mut part);
        if !matches!(verdict, Decision::Stopped(_)) {
            flags[at + 1..].iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
        }
        (verdict, part.nodes())
    };
    let shared = &*budget;
    let answers = on_threads(members.iter_mut().enumerate(), |(at, member)| run(at, member, shared));
    let mut spent = 0;
    for (verdict, nodes) in answers {
        spent += nodes;
        if !matches!(verdict, Decision::Stopped(_)) {
            budget.spend(spent);
            return verdict;
        }
    }
    // No member has a result because all reached their quota or the budget ran out.
    Decision::Stopped(budget.spend(spent).unwrap_or(Stop::NodeLimit))
}
