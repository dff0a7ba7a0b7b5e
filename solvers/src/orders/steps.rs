//! The range of steps at which each operator may run, given the precedences (ASAP to ALAP).

use plimsoll_model::OperatorId;
use plimsoll_model::orders::OrderProblem;

/// The earliest and the latest step of each operator in any order.
pub(crate) struct Windows {
    pub earliest: Vec<usize>,
    pub latest: Vec<usize>,
}

impl Windows {
    /// Computes the windows from the numbers of ancestors and descendants. The time is O(n (n + e)) for n
    /// operators and e edges.
    pub fn of(problem: &OrderProblem) -> Self {
        let reach = |id: OperatorId, next: &dyn Fn(OperatorId) -> Vec<OperatorId>| {
            let mut seen = vec![false; problem.len()];
            let mut todo = next(id);
            let mut count = 0;
            while let Some(at) = todo.pop() {
                if !std::mem::replace(&mut seen[at.index()], true) {
                    count += 1;
                    todo.extend(next(at));
                }
            }
            count
        };
        let before = |id| reach(id, &|at| problem.predecessors(at).to_vec());
        let after = |id| problem.len() - 1 - reach(id, &|at| problem.successors(at).to_vec());
        Self { earliest: problem.ids().map(before).collect(), latest: problem.ids().map(after).collect() }
    }

    /// Returns the number of free variables, one per operator and step of its window except the last.
    pub fn free(&self) -> usize {
        self.earliest.iter().zip(&self.latest).map(|(earliest, latest)| latest - earliest).sum()
    }
}
