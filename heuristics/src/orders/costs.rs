//! What running an operator begins and ends.
//!
//! A storage is begun by one operator in every order, so what running an operator begins is known beforehand. Who ends
//! it is whoever of its users comes last.

use plimsoll_model::OperatorId;
use plimsoll_model::orders::{Order, OrderProblem};

/// Bytes per operator, the same in every order.
pub(super) struct Costs {
    /// Bytes it begins to hold.
    pub begun: Vec<u64>,
    /// Bytes alive more than before while it runs: what it begins, and its scratch.
    pub need: Vec<u64>,
    /// Bytes of all storages it touches.
    pub touched: Vec<u64>,
    /// Bytes held at the first step before it begins any.
    pub at_start: u64,
    /// Bytes held after the last step.
    pub at_end: u64,
}

impl Costs {
    /// O(size).
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

/// Bytes each operator ends to hold under an order: of the storages whose last user it is. O(size).
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

/// What each operator would end if it ran next, while an order grows.
pub(super) struct Ending<'a> {
    problem: &'a OrderProblem,
    /// Per storage: users that have not run.
    left: Vec<u32>,
    /// Per storage: their numbers, combined by exclusive or: with one left, its number.
    who: Vec<u32>,
    /// Per operator: bytes it ends if it runs next.
    bytes: Vec<u64>,
}

impl<'a> Ending<'a> {
    /// Before the first step. O(size).
    pub fn new(problem: &'a OrderProblem) -> Self {
        let storages = problem.storages();
        let left = storages.iter().map(|s| s.users.len() as u32).collect();
        let who = storages.iter().map(|s| s.users.iter().fold(0, |who, user| who ^ user.get())).collect();
        let mut ending = Self { problem, left, who, bytes: vec![0; problem.len()] };
        for at in 0..storages.len() {
            ending.last(at);
        }
        ending
    }

    /// Bytes an operator ends if it runs next.
    pub fn bytes(&self, id: OperatorId) -> u64 {
        self.bytes[id.index()]
    }

    /// Where one user is left, it ends the storage.
    fn last(&mut self, at: usize) -> Option<OperatorId> {
        let storage = &self.problem.storages()[at];
        if self.left[at] != 1 || storage.to_end {
            return None;
        }
        let user = OperatorId::new(self.who[at]);
        self.bytes[user.index()] += storage.size.get();
        Some(user)
    }

    /// Runs an operator; `changed` is told of those who now end more, perhaps several times. O(storages touched).
    pub fn run(&mut self, id: OperatorId, mut changed: impl FnMut(&Self, OperatorId)) {
        for &at in self.problem.touched(id) {
            self.left[at as usize] -= 1;
            self.who[at as usize] ^= id.get();
            if let Some(user) = self.last(at as usize) {
                changed(self, user);
            }
        }
    }
}
