//! Graph traversals that ignore sizes, and two orders of `PyTorch` Inductor.

use super::costs::Costs;
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{Budget, OperatorId, Stop};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The operator that runs first among those that become ready at the same step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The operator with the lowest id.
    Left,
    /// The operator with the highest id.
    Right,
}

/// Builds an order from the operators that `next` picks. `ready` receives the operators that become ready at
/// the same step, by ascending id.
pub(super) fn schedule<S>(
    problem: &OrderProblem,
    budget: &mut Budget,
    state: &mut S,
    mut ready: impl FnMut(&mut S, &[OperatorId]),
    mut next: impl FnMut(&mut S) -> Option<OperatorId>,
) -> Result<Order, Stop> {
    let mut blocked: Vec<usize> = problem.ids().map(|id| problem.predecessors(id).len()).collect();
    let mut fresh: Vec<OperatorId> = problem.ids().filter(|id| blocked[id.index()] == 0).collect();
    ready(state, &fresh);
    let mut order = Vec::with_capacity(problem.len());
    while let Some(id) = next(state) {
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        order.push(id);
        fresh.clear();
        for &after in problem.successors(id) {
            blocked[after.index()] -= 1;
            if blocked[after.index()] == 0 {
                fresh.push(after);
            }
        }
        ready(state, &fresh);
    }
    Ok(Order::new(order))
}

/// Runs the ready operator with the lowest id at each step.
pub(super) fn file(problem: &OrderProblem, budget: &mut Budget) -> Result<Order, Stop> {
    let mut heap = BinaryHeap::new();
    let push =
        |heap: &mut BinaryHeap<_>, fresh: &[OperatorId]| heap.extend(fresh.iter().copied().map(Reverse));
    schedule(problem, budget, &mut heap, push, |heap| heap.pop().map(|Reverse(id)| id))
}

/// Runs the operator that has been ready longest at each step.
pub(super) fn breadth(problem: &OrderProblem, budget: &mut Budget) -> Result<Order, Stop> {
    let mut queue = VecDeque::new();
    schedule(problem, budget, &mut queue, |queue, fresh| queue.extend(fresh), VecDeque::pop_front)
}

/// Runs the operator that has been ready for the shortest time at each step.
pub(super) fn depth(problem: &OrderProblem, side: Side, budget: &mut Budget) -> Result<Order, Stop> {
    let push = |stack: &mut Vec<OperatorId>, fresh: &[OperatorId]| match side {
        Side::Left => stack.extend(fresh.iter().rev()),
        Side::Right => stack.extend(fresh),
    };
    schedule(problem, budget, &mut Vec::new(), push, Vec::pop)
}

/// Traverses the graph depth-first from the sinks, highest ids first. The result is reversed, so ties are
/// broken in favour of the lower id.
pub(super) fn reverse_depth(problem: &OrderProblem, budget: &mut Budget) -> Result<Order, Stop> {
    let mut blocked: Vec<usize> = problem.ids().map(|id| problem.successors(id).len()).collect();
    let mut stack: Vec<OperatorId> = problem.ids().filter(|id| blocked[id.index()] == 0).collect();
    let mut order = Vec::with_capacity(problem.len());
    while let Some(id) = stack.pop() {
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        order.push(id);
        for &before in problem.predecessors(id) {
            blocked[before.index()] -= 1;
            if blocked[before.index()] == 0 {
                stack.push(before);
            }
        }
    }
    order.reverse();
    Ok(Order::new(order))
}

/// Always runs the ready operator whose sorted list of predecessor steps is lexicographically smallest.
/// Sources therefore come first.
pub(super) fn predecessor_steps(problem: &OrderProblem, budget: &mut Budget) -> Result<Order, Stop> {
    struct State {
        heap: BinaryHeap<Reverse<(Vec<u32>, OperatorId)>>,
        step: Vec<u32>,
        next: u32,
    }
    let mut state = State { heap: BinaryHeap::new(), step: vec![0; problem.len()], next: 0 };
    let push = |state: &mut State, fresh: &[OperatorId]| {
        for &id in fresh {
            let mut steps: Vec<u32> =
                problem.predecessors(id).iter().map(|before| state.step[before.index()]).collect();
            steps.sort_unstable();
            state.heap.push(Reverse((steps, id)));
        }
    };
    let pop = |state: &mut State| {
        let Reverse((_, id)) = state.heap.pop()?;
        state.step[id.index()] = state.next;
        state.next += 1;
        Some(id)
    };
    schedule(problem, budget, &mut state, push, pop)
}

/// Visits the operators in ascending order of bytes used. The producers of an operator are visited before it,
/// depth-first and in the same order.
pub(super) fn light_reads(problem: &OrderProblem, budget: &mut Budget) -> Result<Order, Stop> {
    let costs = Costs::of(problem);
    let mut ids: Vec<OperatorId> = problem.ids().collect();
    ids.sort_by_key(|id| (costs.touched[id.index()], *id));
    let mut rank = vec![0u32; problem.len()];
    for (at, id) in ids.iter().enumerate() {
        rank[id.index()] = at as u32;
    }
    let producers = |id: OperatorId| {
        let mut list = problem.predecessors(id).to_vec();
        list.sort_by_key(|before| Reverse(rank[before.index()]));
        list
    };
    let mut seen = vec![false; problem.len()];
    let mut order = Vec::with_capacity(problem.len());
    // The operators being visited, each with the producers not yet considered. The next producer is last.
    let mut stack: Vec<(OperatorId, Vec<OperatorId>)> = Vec::new();
    for root in ids {
        if !std::mem::replace(&mut seen[root.index()], true) {
            stack.push((root, producers(root)));
        }
        while let Some((id, left)) = stack.last_mut() {
            if let Some(before) = left.pop() {
                if !std::mem::replace(&mut seen[before.index()], true) {
                    stack.push((before, producers(before)));
                }
                continue;
            }
            order.push(*id);
            stack.pop();
            if let Some(stop) = budget.tick() {
                return Err(stop);
            }
        }
    }
    Ok(Order::new(order))
}
