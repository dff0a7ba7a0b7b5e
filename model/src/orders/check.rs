//! The checker for orders. It checks precedences, and recomputes lifespans and peaks from the definitions.
//!
//! The checker shares no code with [`Order::peak`](super::Order::peak). It determines the first and the last
//! step of every storage and recomputes the live bytes at every step.

use super::problem::{Order, OrderProblem};
use crate::bound::{BoundError, LowerBound, Witness};
use crate::offsets::check::Violation;
use crate::units::{Bytes, OperatorId};

/// Returns all violations of an order: operators that are missing, repeated, unknown, or placed before an
/// operator that they depend on. O(n + e) for n operators and e edges.
pub fn check_order(problem: &OrderProblem, order: &Order) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut step: Vec<Option<usize>> = vec![None; problem.len()];
    for (at, &operator) in order.operators().iter().enumerate() {
        match step.get_mut(operator.index()) {
            None => violations.push(Violation::NoSuchOperator { operator, operators: problem.len() }),
            Some(step) => {
                if let Some(first) = step.replace(at) {
                    let name = problem.operator(operator).to_owned();
                    violations.push(Violation::OperatorTwice { operator, name, first, second: at });
                }
            }
        }
    }
    for operator in problem.ids() {
        let name = || problem.operator(operator).to_owned();
        let Some(at) = step[operator.index()] else {
            violations.push(Violation::OperatorMissing { operator, name: name() });
            continue;
        };
        for &before in problem.predecessors(operator) {
            if let Some(earlier) = step[before.index()]
                && earlier >= at
            {
                violations.push(Violation::Precedence {
                    before,
                    before_name: problem.operator(before).to_owned(),
                    before_step: earlier,
                    after: operator,
                    after_name: name(),
                    after_step: at,
                });
            }
        }
    }
    violations
}

/// Computes the peak of a valid order from the changes in the live bytes at each step.
pub(crate) fn recomputed_peak(problem: &OrderProblem, order: &Order) -> Bytes {
    let n = order.operators().len();
    let mut step = vec![0usize; problem.len()];
    for (at, operator) in order.operators().iter().enumerate() {
        step[operator.index()] = at;
    }
    let mut change = vec![0i128; n.max(1) + 1];
    let mut given = 0i128;
    for storage in problem.storages() {
        given += if storage.from_start { i128::from(storage.size.get()) } else { 0 };
        if storage.users.is_empty() && !storage.to_end {
            continue;
        }
        let steps = || storage.users.iter().map(|user| step[user.index()]);
        let lower = if storage.from_start { 0 } else { steps().min().unwrap_or(0) };
        let upper = if storage.to_end { n.max(1) } else { steps().max().unwrap_or(0) + 1 };
        change[lower] += i128::from(storage.size.get());
        change[upper] -= i128::from(storage.size.get());
    }
    // Inputs are live before the first operator, even if nothing uses them.
    let (mut live, mut peak) = (0i128, given);
    for (at, change) in change[..n.max(1)].iter().enumerate() {
        live += change;
        let scratch = order.operators().get(at).map_or(0, |&id| i128::from(problem.scratch(id).get()));
        peak = peak.max(live + scratch);
    }
    Bytes::new(u64::try_from(peak).unwrap_or(u64::MAX))
}

/// Confirms a bound on the peak of every order by recomputing the value that its witness proves. The time is
/// linear in the size of the problem.
///
/// # Errors
/// The first reason why the witness does not prove the bound.
pub fn confirm_order_bound(problem: &OrderProblem, bound: &LowerBound) -> Result<(), BoundError> {
    let sum = |held: &dyn Fn(&super::Storage) -> bool| {
        let sizes = problem.storages().iter().filter(|s| held(s)).map(|s| u128::from(s.size.get()));
        Bytes::new(u64::try_from(sizes.sum::<u128>()).unwrap_or(0))
    };
    let shown = match &bound.witness {
        Witness::Trivial => Bytes::ZERO,
        Witness::Start => sum(&|s| s.from_start),
        Witness::End => sum(&|s| s.to_end),
        Witness::Around { operator } => bytes_around(problem, *operator)?,
        Witness::Search { solver } => return Err(BoundError::NotCheckable(solver.clone())),
        Witness::Without { operators, solver } => {
            if let Some(&operator) = operators.iter().find(|operator| operator.index() >= problem.len()) {
                return Err(BoundError::BadOperator(operator));
            }
            return Err(BoundError::NotCheckable(solver.clone()));
        }
        other => return Err(BoundError::Foreign(problem.explain(other))),
    };
    bound.shown_by(shown)
}

/// Returns the bytes that are live in every order while an operator runs, including the scratch of the
/// operator.
///
/// A storage counts if it has begun and is still needed. It has begun if it is held from the start, or if the
/// operator or one of its ancestors uses it. It is still needed if it is held to the end, or if the operator
/// or one of its descendants uses it.
fn bytes_around(problem: &OrderProblem, operator: OperatorId) -> Result<Bytes, BoundError> {
    if operator.index() >= problem.len() {
        return Err(BoundError::BadOperator(operator));
    }
    let reach = |next: &dyn Fn(OperatorId) -> Vec<OperatorId>| {
        let mut seen = vec![false; problem.len()];
        let mut todo = vec![operator];
        while let Some(at) = todo.pop() {
            if !std::mem::replace(&mut seen[at.index()], true) {
                todo.extend(next(at));
            }
        }
        seen
    };
    let before = reach(&|at| problem.predecessors(at).to_vec());
    let after = reach(&|at| problem.successors(at).to_vec());
    let live = problem.storages().iter().filter(|s| {
        (s.from_start || s.users.iter().any(|user| before[user.index()]))
            && (s.to_end || s.users.iter().any(|user| after[user.index()]))
    });
    let sum: u128 =
        live.map(|s| u128::from(s.size.get())).sum::<u128>() + u128::from(problem.scratch(operator).get());
    Ok(Bytes::new(u64::try_from(sum).unwrap_or(0)))
}
