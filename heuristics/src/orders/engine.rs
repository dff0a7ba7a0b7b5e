//! The order of the CANN graph engine. It starts from an ordinary order and moves some operators to later
//! steps.
//!
//! *Fixed rule*: if the memory of all inputs of an operator is never reused, the operator moves to just
//! before its first consumer. The delay costs nothing. *Dynamic rule*: let L1 be the latest end of the
//! lifespans of the input tensors of an operator, and L2 the first use of its outputs. If L1 > L2, the
//! operator moves to just before L2, because the input that ends at L1 is live beyond L2 anyway.
//!
//! The CANN whitepaper does not specify the ordinary order. It names breadth-first, depth-first and reverse
//! depth-first order, and its example is depth-first with the left branch first. It also does not specify the
//! sequence in which operators are visited. Here, the ordinary order is a parameter. The operators are
//! visited once, from the last to the first, and the effects of earlier moves are taken into account. The
//! producers of a moved operator can thus also be moved. Operators only move to later steps.
//!
//! An order problem has storages but no tensor types. An input is a storage that the operator uses but does
//! not allocate. The memory of a storage that is live from the first step to the last is never reused. The
//! memory of tensors outside the arena is never reused either, but the problem does not contain them. The
//! fixed rule therefore applies to operators that have no predecessors and whose inputs are all live from
//! the first step to the last. The dynamic rule considers the other inputs. If such an input is live at the
//! end, its lifespan counts as infinite. The dynamic rule may extend the lifespans of other inputs and thus
//! raise the peak. This is a property of the published rule.

use plimsoll_model::OperatorId;
use plimsoll_model::orders::{Order, OrderProblem};
use std::cmp::Reverse;

/// The rules that change the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adjust {
    /// Operators whose inputs are all constant move to just before their first consumer.
    Fixed,
    /// Operators move to later steps if an input is live beyond the new step anyway.
    Dynamic,
    /// Both rules.
    Both,
}

/// Initial distance between neighbouring labels.
const GAP: u64 = 1 << 32;

/// A sequence of operators. Moving an operator before another is O(1), except for occasional relabelling.
struct Line {
    /// Per operator: its label. Labels increase along the sequence.
    label: Vec<u64>,
    /// The predecessor of every operator in the sequence. The last entry belongs to the end marker.
    before: Vec<u32>,
    /// The successor of every operator in the sequence.
    after: Vec<u32>,
}

impl Line {
    fn new(order: &Order) -> Self {
        let n = order.operators().len();
        let mut line =
            Self { label: vec![0; n + 1], before: vec![n as u32; n + 1], after: vec![n as u32; n + 1] };
        for &id in order.operators() {
            line.insert(id.get(), n as u32);
        }
        line.relabel();
        line
    }

    fn end(&self) -> u32 {
        self.label.len() as u32 - 1
    }

    fn insert(&mut self, one: u32, next: u32) {
        let before = self.before[next as usize];
        self.before[one as usize] = before;
        self.after[one as usize] = next;
        self.after[before as usize] = one;
        self.before[next as usize] = one;
    }

    fn relabel(&mut self) {
        let mut at = self.after[self.end() as usize];
        let mut label = GAP;
        while at != self.end() {
            self.label[at as usize] = label;
            label += GAP;
            at = self.after[at as usize];
        }
    }

    /// Moves `one` directly before `next`.
    fn move_before(&mut self, one: OperatorId, next: OperatorId) {
        let (one, next) = (one.get(), next.get());
        let (before, after) = (self.before[one as usize], self.after[one as usize]);
        self.after[before as usize] = after;
        self.before[after as usize] = before;
        self.insert(one, next);
        let before = self.before[one as usize];
        let low = if before == self.end() { 0 } else { self.label[before as usize] };
        let label = low.midpoint(self.label[next as usize]);
        self.label[one as usize] = label;
        if label == low {
            self.relabel();
        }
    }

    fn at(&self, id: OperatorId) -> u64 {
        self.label[id.index()]
    }

    fn order(&self) -> Order {
        let mut order = Vec::with_capacity(self.label.len() - 1);
        let mut at = self.after[self.end() as usize];
        while at != self.end() {
            order.push(OperatorId::new(at));
            at = self.after[at as usize];
        }
        Order::new(order)
    }
}

/// Returns a valid order in which the rules have moved operators to later steps. Takes time linear in the
/// size of the problem, plus O(n) time for n operators whenever 32 of them have been moved before the same
/// operator.
pub(super) fn adjust(problem: &OrderProblem, order: &Order, rules: Adjust) -> Order {
    let mut line = Line::new(order);
    let last = |line: &Line, at: usize| {
        problem.storages()[at].users.iter().copied().max_by_key(|&user| line.at(user))
    };
    let mut last: Vec<Option<OperatorId>> = (0..problem.storages().len()).map(|at| last(&line, at)).collect();
    for &id in order.operators().iter().rev() {
        let first_use =
            problem.successors(id).iter().copied().min_by_key(|&user| (line.at(user), Reverse(user)));
        let Some(first_use) = first_use else { continue };
        let fixed = rules != Adjust::Dynamic && only_never_reused(problem, id);
        let dynamic = rules != Adjust::Fixed && {
            let end = |at: usize| {
                last[at].filter(|_| !problem.storages()[at].to_end).map_or(u64::MAX, |user| line.at(user))
            };
            inputs(problem, id).map(end).max().is_some_and(|end| end > line.at(first_use))
        };
        if fixed || dynamic {
            line.move_before(id, first_use);
            for &at in problem.touched(id) {
                let last = &mut last[at as usize];
                if last.is_none_or(|user| line.at(user) < line.at(id)) {
                    *last = Some(id);
                }
            }
        }
    }
    line.order()
}

/// Returns the storages that an operator uses but does not allocate, except those that are live at all
/// steps.
fn inputs(problem: &OrderProblem, id: OperatorId) -> impl Iterator<Item = usize> {
    let touched = problem.touched(id).iter().map(|&at| at as usize);
    touched.filter(move |&at| {
        let storage = &problem.storages()[at];
        problem.first(at) != Some(id) && !(storage.from_start && storage.to_end)
    })
}

fn only_never_reused(problem: &OrderProblem, id: OperatorId) -> bool {
    problem.predecessors(id).is_empty() && inputs(problem, id).next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::graphs::{SmallOrderParams, small_order_problem};
    use plimsoll_model::Bytes;
    use plimsoll_model::orders::{Storage, check_order};

    /// Applies the definition to a list.
    fn plain(problem: &OrderProblem, order: &Order, rules: Adjust) -> Order {
        let mut list = order.operators().to_vec();
        for &id in order.operators().iter().rev() {
            let at = |list: &[OperatorId], one: OperatorId| list.iter().position(|&id| id == one).unwrap();
            let Some(l2) = problem.successors(id).iter().map(|&user| at(&list, user)).min() else { continue };
            let reused: Vec<&Storage> = (0..problem.storages().len())
                .filter(|&one| problem.first(one) != Some(id))
                .map(|one| &problem.storages()[one])
                .filter(|s| s.users.contains(&id) && !(s.from_start && s.to_end))
                .collect();
            let ends = reused.iter().map(|s| {
                let last = s.users.iter().map(|&user| at(&list, user)).max().unwrap();
                if s.to_end { list.len() } else { last }
            });
            let dynamic = rules != Adjust::Fixed && ends.max().is_some_and(|l1| l1 > l2);
            let fixed = rules != Adjust::Dynamic && problem.predecessors(id).is_empty() && reused.is_empty();
            if dynamic || fixed {
                let from = at(&list, id);
                list.insert(l2, id);
                list.remove(from);
            }
        }
        Order::new(list)
    }

    #[test]
    fn linked_moves_agree_with_list_moves() {
        let mut moved = [0; 3];
        for seed in 0..600 {
            let problem = small_order_problem(SmallOrderParams::with_features(14, seed % 32), seed);
            let order = problem.as_in_file();
            for (at, rules) in [Adjust::Fixed, Adjust::Dynamic, Adjust::Both].into_iter().enumerate() {
                let adjusted = adjust(&problem, &order, rules);
                assert_eq!(adjusted, plain(&problem, &order, rules), "seed {seed} {rules:?}");
                assert_eq!(check_order(&problem, &adjusted), [], "seed {seed} {rules:?}");
                moved[at] += usize::from(adjusted != order);
            }
        }
        assert!(moved.iter().all(|&moved| moved > 100), "{moved:?}");
    }

    /// Moves operators before one operator until no label is left between that operator and its
    /// predecessor.
    #[test]
    fn many_moves_before_one_operator_force_relabelling() {
        let n = 200u32;
        let id = OperatorId::new;
        let storage = |at: u32| Storage {
            name: at.to_string(),
            size: Bytes::new(1),
            users: vec![id(at), id(n)],
            from_start: false,
            to_end: false,
        };
        let names = vec![String::new(); n as usize + 1];
        let edges = (0..n).map(|at| (id(at), id(n)));
        let scratch = vec![Bytes::ZERO; n as usize + 1];
        let problem =
            OrderProblem::new("crowded", names, edges, (0..n).map(storage).collect(), scratch).unwrap();
        let order = problem.as_in_file();
        assert_eq!(adjust(&problem, &order, Adjust::Fixed), plain(&problem, &order, Adjust::Fixed));
    }
}
