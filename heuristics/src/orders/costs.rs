//! The bytes that an operator allocates and frees.
//!
//! In a problem with [first users](OrderProblem::with_first_users), a storage that is not live from the start
//! is allocated by the same operator in every order. The allocated bytes of an operator are therefore known
//! in advance. A storage that is not live at the end is freed by the
//! last of its users in the order.

use plimsoll_model::OperatorId;
use plimsoll_model::orders::{Order, OrderProblem};

/// The costs of operators that do not depend on the order, in bytes.
pub(super) struct Costs {
    /// Bytes that the operator allocates.
    pub begun: Vec<u64>,
    /// Additional live bytes while the operator runs: the allocated bytes and the scratch memory.
    pub need: Vec<u64>,
    /// Total size of all storages that the operator uses.
    pub touched: Vec<u64>,
    /// Live bytes at the first step before any allocation.
    pub at_start: u64,
    /// Live bytes after the last step.
    pub at_end: u64,
}

impl Costs {
    /// Computes the costs of a problem in time linear in its size.
    pub fn of(problem: &OrderProblem) -> Self {
        let mut begun = vec![0; problem.len()];
        for (at, storage) in problem.storages().iter().enumerate() {
            if let Some(first) = problem.first(at) {
                begun[first.index()] += storage.size.get();
            }
        }
        let need = problem.ids().map(|id| begun[id.index()] + problem.scratch(id).get()).collect();
        let size = |at: &u32| problem.storages()[*at as usize].size.get();
        let touched = problem.ids().map(|id| problem.touched(id).iter().map(size).sum()).collect();
        let storages = || problem.storages().iter();
        let at_start = problem.at_first_step().get();
        let at_end = storages().filter(|s| s.to_end).map(|s| s.size.get()).sum();
        Self { begun, need, touched, at_start, at_end }
    }
}

/// Returns the bytes that each operator frees under an order. These are the sizes of the storages of which
/// the operator is the last user. Takes time linear in the size of the problem.
pub(super) fn ended(problem: &OrderProblem, order: &Order) -> Vec<u64> {
    let mut ended = vec![0; problem.len()];
    let mut seen: Vec<bool> = problem.storages().iter().map(|s| s.to_end).collect();
    for &id in order.operators().iter().rev() {
        for &at in problem.touched(id) {
            if !std::mem::replace(&mut seen[at as usize], true) {
                ended[id.index()] += problem.storages()[at as usize].size.get();
            }
        }
    }
    ended
}

/// The bytes that each operator would free if it ran next, updated while an order is built.
pub(super) struct Ending<'a> {
    problem: &'a OrderProblem,
    /// Per storage: the number of users that have not run.
    left: Vec<u32>,
    /// Per storage: the exclusive or of the ids of these users. Once only one user is left, the entry is
    /// the id of that user.
    users: Vec<u32>,
    /// Per operator: the bytes that it frees if it runs next.
    bytes: Vec<u64>,
}

impl<'a> Ending<'a> {
    /// Creates the state before the first step in time linear in the size of the problem.
    pub fn new(problem: &'a OrderProblem) -> Self {
        let storages = problem.storages();
        let left = storages.iter().map(|s| s.users.len() as u32).collect();
        let users =
            storages.iter().map(|s| s.users.iter().fold(0, |users, user| users ^ user.get())).collect();
        let mut ending = Self { problem, left, users, bytes: vec![0; problem.len()] };
        for at in 0..storages.len() {
            ending.last(at);
        }
        ending
    }

    /// Returns the bytes that an operator frees if it runs next.
    pub fn bytes(&self, id: OperatorId) -> u64 {
        self.bytes[id.index()]
    }

    /// Adds the size of a storage to the bytes of its last user that has not run, and returns this user.
    /// Returns `None` if the number of such users is not one, or if the storage is live at the end.
    fn last(&mut self, at: usize) -> Option<OperatorId> {
        let storage = &self.problem.storages()[at];
        if self.left[at] != 1 || storage.to_end {
            return None;
        }
        let user = OperatorId::new(self.users[at]);
        self.bytes[user.index()] += storage.size.get();
        Some(user)
    }

    /// Runs an operator. Calls `changed` for every operator that would now free more bytes, possibly several
    /// times for the same operator. Takes time linear in the number of storages that the operator `id` uses.
    pub fn run(&mut self, id: OperatorId, mut changed: impl FnMut(&Self, OperatorId)) {
        for &at in self.problem.touched(id) {
            self.left[at as usize] -= 1;
            self.users[at as usize] ^= id.get();
            if let Some(user) = self.last(at as usize) {
                changed(self, user);
            }
        }
    }
}
