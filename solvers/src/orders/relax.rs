//! A relaxation: the problem without small operators at its end.
//!
//! Let some operators be removed from an order. The other operators keep their sequence, which respects the
//! precedences among them. Each storage keeps those of its users that remain, so it is live at no step at
//! which it was not live before. The same holds for a storage that is held from the start or to the end. A
//! storage that loses all its users counts only if it is held throughout. Each remaining operator therefore
//! runs with no more live bytes than before. The lowest peak of the remaining operators is a lower bound on
//! every peak of the whole problem, *whatever operators are removed*.
//!
//! The choice decides how strong the bound is. This module removes operators without remaining successors
//! whose scratch and whose own storages are small. Such an operator can run as soon as its inputs are live,
//! so an order of the rest extends to the whole problem at little cost ([`Rest::extended`]). Many such
//! operators, for example reductions that measure every tensor, multiply the number of downsets.

use plimsoll_model::OperatorId;
use plimsoll_model::orders::{Order, OrderProblem, Storage};

/// An operator is small if its scratch and its own storages have at most the peak divided by this number.
const SMALL: u64 = 4_096;

/// Minimum number of removed operators that branch off. Fewer of them hardly change the number of downsets.
const FEWEST: usize = 8;

/// The problem without some operators.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    /// The problem of the remaining operators.
    pub problem: OrderProblem,
    /// Per remaining operator: its id in the whole problem. The ids are ascending.
    pub kept: Vec<OperatorId>,
    /// The removed operators, ascending.
    pub removed: Vec<OperatorId>,
}

impl Rest {
    /// Removes small operators at the end. `peak` is the peak of a known order. Returns `None` if too few
    /// operators can be removed for the relaxation to be worth its time. The time is linear in the size of
    /// the problem.
    pub fn of(problem: &OrderProblem, peak: u64) -> Option<Self> {
        let is_removed = small_ends(problem, peak / SMALL);
        let removed: Vec<OperatorId> = problem.ids().filter(|id| is_removed[id.index()]).collect();
        let stays = |id: &&OperatorId| !is_removed[id.index()];
        let branches = |id: &&OperatorId| {
            let before = problem.predecessors(**id);
            before.is_empty()
                || before.iter().filter(stays).any(|&id| problem.successors(id).iter().any(|id| stays(&id)))
        };
        let is_worth_it =
            removed.len() < problem.len() && removed.iter().filter(branches).nth(FEWEST - 1).is_some();
        is_worth_it.then(|| Self::without(problem, &removed))
    }

    /// Returns the problem without the given operators, which are ascending. The time is linear in the size
    /// of the problem.
    ///
    /// # Panics
    /// Never: a part of a valid problem is valid.
    pub fn without(problem: &OrderProblem, removed: &[OperatorId]) -> Self {
        let mut place = vec![None; problem.len()];
        let kept: Vec<OperatorId> = problem.ids().filter(|id| removed.binary_search(id).is_err()).collect();
        for (at, id) in kept.iter().enumerate() {
            place[id.index()] = Some(OperatorId::at(at));
        }
        let near = |ids: &[OperatorId]| ids.iter().filter_map(|id| place[id.index()]).collect::<Vec<_>>();
        let names = kept.iter().map(|&id| problem.operator(id).to_owned()).collect();
        let edges = kept.iter().enumerate().flat_map(|(at, &id)| {
            let before = near(problem.predecessors(id));
            before.into_iter().map(move |before| (before, OperatorId::at(at)))
        });
        let storages = problem.storages().iter().filter_map(|storage| {
            let users = near(&storage.users);
            let is_held = !users.is_empty() || storage.from_start && storage.to_end;
            is_held.then(|| Storage { users, ..storage.clone() })
        });
        let scratch = kept.iter().map(|&id| problem.scratch(id)).collect();
        let rest = OrderProblem::new(problem.name(), names, edges, storages.collect(), scratch);
        let problem = rest.expect("a part of a valid problem is valid");
        Self { problem, kept, removed: removed.to_vec() }
    }

    /// Restricts an order of the whole problem to the remaining operators.
    pub fn restricted(&self, order: &Order) -> Order {
        let place = |id: &OperatorId| self.kept.binary_search(id).ok().map(OperatorId::at);
        Order::new(order.operators().iter().filter_map(place).collect())
    }

    /// Extends an order of the remaining operators to the whole problem. Each removed operator runs as late
    /// as possible without extending the lifespan of a storage, or else directly after its predecessors.
    /// O(n log n) for a problem of size n.
    pub fn extended(&self, whole: &OrderProblem, order: &Order) -> Order {
        // An operator with time t runs after the first t remaining operators.
        let mut time = vec![0usize; whole.len()];
        for (at, id) in order.operators().iter().enumerate() {
            time[self.kept[id.index()].index()] = at + 1;
        }
        let stays = |id: &OperatorId| self.removed.binary_search(id).is_err();
        let last =
            |storage: &Storage| storage.users.iter().filter(|id| stays(id)).map(|id| time[id.index()]).max();
        let ends: Vec<Option<usize>> =
            whole.storages().iter().map(|storage| last(storage).filter(|_| !storage.to_end)).collect();
        let sequence = whole.as_in_file();
        for &id in sequence.operators().iter().filter(|id| !stays(id)) {
            let ready = whole.predecessors(id).iter().map(|id| time[id.index()]).max().unwrap_or(0);
            let free = whole.touched(id).iter().filter_map(|&at| ends[at as usize]).min();
            time[id.index()] = free.unwrap_or(self.kept.len()).max(ready);
        }
        // The sequence respects precedences among removed operators with equal times.
        let mut all = sequence.operators().to_vec();
        all.sort_by_key(|id| (time[id.index()], !stays(id)));
        Order::new(all)
    }
}

/// Returns the operators without remaining successors whose scratch and own storages have at most `most`
/// bytes, for each operator. A storage belongs to an operator if no other operator that remains uses it.
fn small_ends(problem: &OrderProblem, most: u64) -> Vec<bool> {
    let mut is_removed = vec![false; problem.len()];
    let mut users: Vec<usize> = problem.storages().iter().map(|storage| storage.users.len()).collect();
    for &id in problem.as_in_file().operators().iter().rev() {
        let own = |&&at: &&u32| {
            let storage = &problem.storages()[at as usize];
            users[at as usize] == 1 && !(storage.from_start && storage.to_end)
        };
        let sizes =
            problem.touched(id).iter().filter(own).map(|&at| problem.storages()[at as usize].size.get());
        let bytes = sizes.sum::<u64>() + problem.scratch(id).get();
        let is_last = problem.successors(id).iter().all(|next| is_removed[next.index()]);
        if is_last && bytes <= most {
            is_removed[id.index()] = true;
            problem.touched(id).iter().for_each(|&at| users[at as usize] -= 1);
        }
    }
    is_removed
}

#[cfg(test)]
mod tests;
