//! A random walk over orders with a low peak of live bytes.

use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{Budget, Bytes, OperatorId};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Number of moves between two examined orders.
const MOVES: usize = 40;

/// Number of orders after which the walk restarts from the first order.
const RESTART: u64 = 64;

pub(super) struct Walk<'a> {
    problem: &'a OrderProblem,
    home: Vec<OperatorId>,
    here: Vec<OperatorId>,
    peak: Bytes,
    rng: SmallRng,
    count: u64,
}

impl<'a> Walk<'a> {
    pub fn new(problem: &'a OrderProblem, home: &Order, seed: u64) -> Self {
        let peak = home.peak(problem);
        let home = home.operators().to_vec();
        let rng = SmallRng::seed_from_u64(seed);
        Self { problem, here: home.clone(), home, peak, rng, count: 0 }
    }

    /// Moves to another order and returns it. A move may raise the peak only if the peak remains below
    /// `best`. The time is O(m s) for m moves and a problem of size s.
    pub fn next(&mut self, best: Option<Bytes>, budget: &mut Budget) -> Order {
        self.count += 1;
        if self.count.is_multiple_of(RESTART) {
            self.here.clone_from(&self.home);
            self.peak = Order::new(self.here.clone()).peak(self.problem);
        }
        for _ in 0..MOVES {
            if self.here.len() < 2 || budget.tick().is_some() {
                break;
            }
            let at = self.rng.random_range(0..self.here.len());
            let (low, high) = self.window(at);
            let to = self.rng.random_range(low..=high);
            let mut next = self.here.clone();
            let operator = next.remove(at);
            next.insert(to, operator);
            let order = Order::new(next);
            let peak = order.peak(self.problem);
            if peak <= self.peak || best.is_some_and(|best| peak < best) {
                self.here = order.operators().to_vec();
                self.peak = peak;
            }
        }
        Order::new(self.here.clone())
    }

    /// Returns the range of positions to which an operator may move while all others keep their order.
    fn window(&self, at: usize) -> (usize, usize) {
        let operator = self.here[at];
        let before = self.problem.predecessors(operator);
        let after = self.problem.successors(operator);
        let low = (0..at)
            .rev()
            .find(|&other| before.binary_search(&self.here[other]).is_ok())
            .map_or(0, |other| other + 1);
        let high = (at + 1..self.here.len()).find(|&other| after.binary_search(&self.here[other]).is_ok());
        (low, high.map_or(self.here.len() - 1, |other| other - 1))
    }
}
