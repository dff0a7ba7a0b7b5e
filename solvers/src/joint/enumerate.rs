//! Enumerates the orders of a small problem. Of the orders with the same conflicts, the search usually
//! computes a layout for only one.
//!
//! The search is depth-first over topological orders and prunes an order as soon as its live bytes reach the
//! size of the best arena. For a complete order, only the pairs of simultaneously live buffers matter.
//! Suppose that they include all such pairs of an earlier order that allowed no improvement. The complete
//! order then allows none either, because additional conflicts never reduce the memory.

use super::run::{OTHER, Run};
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{Budget, Bytes, Instance, JointProblem, OperatorId, SolveError};

/// Maximum numbers of operators and buffers. Larger problems have too many orders.
const MOST_OPERATORS: usize = 24;
const MOST_BUFFERS: usize = 64;

/// Maximum number of enumeration steps.
const MOST_STEPS: u64 = 2_000_000;

/// Maximum number of failed pair sets that are stored.
const MOST_FAILED: usize = 512;

pub(super) struct Enumeration<'r, 'a> {
    run: &'r mut Run<'a>,
    order: Vec<OperatorId>,
    waiting: Vec<usize>,
    left: Vec<usize>,
    begun: Vec<bool>,
    live: u64,
    steps: u64,
    /// Pair sets whose layouts were no smaller than the best arena when the sets were stored. The sets remain
    /// valid because the best arena only shrinks.
    failed: Vec<Vec<u64>>,
    /// False once a limit or the target has left some order undecided.
    complete: bool,
}

impl<'r, 'a> Enumeration<'r, 'a> {
    /// Returns true if the problem is small enough for enumeration.
    pub fn suits(input: &JointProblem) -> bool {
        let orders = input.orders();
        let scratch = orders.ids().filter(|&id| orders.scratch(id) > Bytes::ZERO).count();
        orders.len() <= MOST_OPERATORS && orders.storages().len() + scratch <= MOST_BUFFERS
    }

    /// Tries all orders. Returns true if this proves the best plan optimal.
    ///
    /// # Errors
    /// If the offset solver fails.
    pub fn run(run: &'r mut Run<'a>, budget: &mut Budget) -> Result<bool, SolveError> {
        let problem = run.known.input.orders();
        let mut own = Self {
            order: Vec::with_capacity(problem.len()),
            waiting: problem.ids().map(|id| problem.predecessors(id).len()).collect(),
            left: problem.storages().iter().map(|s| s.users.len()).collect(),
            begun: problem.storages().iter().map(|s| s.from_start).collect(),
            live: problem.at_first_step().get(),
            run,
            steps: 0,
            failed: Vec::new(),
            complete: true,
        };
        own.extend(budget)?;
        let proved = own.complete;
        if proved {
            own.run.prove();
        }
        Ok(proved)
    }

    fn problem(&self) -> &'a OrderProblem {
        self.run.known.input.orders()
    }

    /// Tries each ready operator as the next one in the order. The recursion is not deep, because problems
    /// have at most [`MOST_OPERATORS`] operators.
    fn extend(&mut self, budget: &mut Budget) -> Result<(), SolveError> {
        self.steps += 1;
        if self.steps > MOST_STEPS || budget.tick().is_some() || self.run.known.is_good(budget) {
            self.complete = false;
        }
        if !self.complete || self.run.known.is_optimal() {
            return Ok(());
        }
        if self.order.len() == self.problem().len() {
            return self.finish(budget);
        }
        for operator in self.problem().ids() {
            if self.waiting[operator.index()] > 0 || self.order.contains(&operator) {
                continue;
            }
            let begins = self.begins(operator);
            let grown: u64 = begins.iter().map(|&at| self.problem().storages()[at].size.get()).sum();
            let peak = self.live + grown + self.problem().scratch(operator).get();
            if self.run.known.value().is_none_or(|best| peak < best.get()) {
                let before = self.live;
                self.push(operator, &begins, grown);
                self.extend(budget)?;
                self.pop(operator, &begins, before);
            }
        }
        Ok(())
    }

    /// Returns the positions of the storages whose lifespans begin when an operator runs next.
    fn begins(&self, operator: OperatorId) -> Vec<usize> {
        let touched = self.problem().touched(operator).iter().map(|&at| at as usize);
        touched.filter(|&at| !self.begun[at]).collect()
    }

    fn push(&mut self, operator: OperatorId, begins: &[usize], grown: u64) {
        let problem = self.problem();
        self.live += grown;
        self.order.push(operator);
        for &at in begins {
            self.begun[at] = true;
        }
        for &at in problem.touched(operator) {
            let at = at as usize;
            self.left[at] -= 1;
            if self.left[at] == 0 && !problem.storages()[at].to_end {
                self.live -= problem.storages()[at].size.get();
            }
        }
        for next in problem.successors(operator) {
            self.waiting[next.index()] -= 1;
        }
    }

    fn pop(&mut self, operator: OperatorId, begins: &[usize], before: u64) {
        let problem = self.problem();
        for next in problem.successors(operator) {
            self.waiting[next.index()] += 1;
        }
        for &at in problem.touched(operator) {
            self.left[at as usize] += 1;
        }
        for &at in begins {
            self.begun[at] = false;
        }
        self.order.pop();
        self.live = before;
    }

    /// Computes a layout of a complete order, unless its conflicts include all conflicts of an earlier order
    /// that allowed no improvement.
    fn finish(&mut self, budget: &mut Budget) -> Result<(), SolveError> {
        let order = Order::new(self.order.clone());
        let instance = self.run.known.input.instance(&order);
        let pairs = pairs(&instance);
        let contains = |failed: &Vec<u64>| failed.iter().zip(&pairs).all(|(few, many)| few & !many == 0);
        if self.failed.iter().any(contains) {
            return Ok(());
        }
        self.run.tried += 1;
        if self.run.place(&order, &instance, OTHER, budget)? {
            if self.failed.len() < MOST_FAILED {
                self.failed.push(pairs);
            }
        } else {
            self.complete = false;
        }
        Ok(())
    }
}

/// Returns a bitset of the pairs of simultaneously live buffers.
fn pairs(instance: &Instance) -> Vec<u64> {
    let n = instance.len();
    let mut bits = vec![0u64; (n * n).div_ceil(64)];
    for a in instance.ids() {
        for b in instance.ids().skip(a.index() + 1) {
            if instance.buffer(a).lifespan().intersects(instance.buffer(b).lifespan()) {
                let at = a.index() * n + b.index();
                bits[at / 64] |= 1 << (at % 64);
            }
        }
    }
    bits
}
