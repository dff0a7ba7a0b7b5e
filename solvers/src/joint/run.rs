//! The state of a run over orders: the best plan and the bound.

use crate::offsets::Exact;
use crate::orders::{Method, OrderSolver};
use plimsoll_model::orders::Order;
use plimsoll_model::{
    Budget, Instance, Joint, JointPlan, JointProblem, LowerBound, Observer, Outcome, Setup, Silent,
    SolveError, Solver, Stop, Tracker, Witness,
};

/// Fraction of the remaining time for finding the first order, and for each layout.
pub(super) const FIRST_SHARE: f64 = 0.4;

/// Limits of the search for the layout of a later order: nodes, and the fraction of the remaining time.
pub(super) const OTHER: (u64, f64) = (50_000, FIRST_SHARE);

/// A run that tries orders and places their buffers.
pub(crate) struct Run<'a> {
    name: &'static str,
    setup: Setup,
    pub known: Tracker<'a, Joint>,
    pub tried: u64,
}

impl<'a> Run<'a> {
    pub fn new(
        name: &'static str,
        setup: Setup,
        input: &'a JointProblem,
        observer: &'a mut dyn Observer<Joint>,
    ) -> Self {
        Self { name, setup, known: Tracker::new(input, LowerBound::trivial(), observer), tried: 0 }
    }

    pub fn is_over(&self, budget: &mut Budget) -> bool {
        self.known.enough(budget).or_else(|| budget.check()).is_some()
    }

    /// Returns the order with the lowest peak of live bytes that the order solver finds, or the file order if
    /// it finds none. Adopts the lower bound of the order solver, which holds for the peaks of all orders and
    /// therefore also for arenas.
    pub fn first_order(&mut self, budget: &mut Budget) -> Result<Order, SolveError> {
        self.known.observer.phase("order");
        let since = budget.elapsed().as_secs_f64();
        let mut part = budget.part(None, budget.time_share(FIRST_SHARE));
        let solver = OrderSolver::new(self.setup, Method::Staged);
        let outcome = solver.solve(self.known.input.orders(), &mut part, &mut Silent)?;
        budget.spend(part.nodes());
        self.known.book("order", since, budget);
        self.known.raise(outcome.lower_bound);
        Ok(outcome.solution.unwrap_or_else(|| self.known.input.orders().as_in_file()))
    }

    /// Computes a layout of an order within a node limit and a fraction of the remaining time, and adopts the
    /// plan if it is better. Returns true if it is proved that no layout of this order is better than the
    /// best plan.
    pub fn place(
        &mut self,
        order: &Order,
        instance: &Instance,
        (nodes, share): (u64, f64),
        budget: &mut Budget,
    ) -> Result<bool, SolveError> {
        if self.known.value().is_some_and(|best| plimsoll_model::load(instance).0 >= best) {
            return Ok(true);
        }
        let mut part = budget.part(Some(nodes), budget.time_share(share));
        let outcome = Exact::new(self.setup).solve(instance, &mut part, &mut Silent)?;
        budget.spend(part.nodes().min(nodes));
        if let (Some(layout), Some(value)) = (outcome.solution, outcome.value)
            && self.known.value().is_none_or(|best| value < best)
        {
            self.known.accept(self.name, JointPlan { order: order.clone(), layout })?;
        }
        Ok(self.known.value().is_some_and(|best| outcome.lower_bound.value >= best))
    }

    /// Records that every order was tried and that none allows a better plan than the best one.
    pub fn prove(&mut self) {
        if let Some(value) = self.known.value() {
            self.known.raise(LowerBound::new(value, Witness::Search { solver: self.name.to_owned() }));
        }
    }

    /// Builds the outcome. The termination reason is `stop`, unless the value of the best plan equals the
    /// bound or reaches the target, or the budget has run out.
    pub fn conclude(mut self, budget: &mut Budget, stop: Stop) -> Outcome<Joint> {
        self.known.stats.count("orders", self.tried);
        let stop = self.known.enough(budget).or_else(|| budget.check()).unwrap_or(stop);
        self.known.conclude(stop, budget.nodes())
    }
}
