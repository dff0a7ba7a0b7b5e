//! One run over orders: the best plan so far and the bound.

use crate::exact::Exact;
use crate::order::{Method, OrderSolver};
use plimsoll_model::order::Order;
use plimsoll_model::{
    Budget, Bytes, Instance, Joint, JointPlan, JointProblem, LowerBound, Observer, Outcome, Problem, Setup,
    Silent, SolveError, Solver, Stats, Stop, Witness,
};

/// The part of the time left that goes to the first order, and to each layout.
pub(super) const FIRST_SHARE: f64 = 0.4;

/// Nodes for the layout of any other, and the part of the time left.
pub(super) const OTHER: (u64, f64) = (50_000, FIRST_SHARE);

/// One run: the best plan, the bound, whom to tell.
pub(crate) struct Run<'a> {
    name: &'static str,
    setup: Setup,
    pub input: &'a JointProblem,
    pub observer: &'a mut dyn Observer<Joint>,
    best: Option<(JointPlan, Bytes)>,
    bound: LowerBound,
    pub tried: u64,
    stats: Stats,
}

impl<'a> Run<'a> {
    pub fn new(
        name: &'static str,
        setup: Setup,
        input: &'a JointProblem,
        observer: &'a mut dyn Observer<Joint>,
    ) -> Self {
        let (best, stats) = (None, Stats::default());
        Self { name, setup, input, observer, best, bound: LowerBound::trivial(), tried: 0, stats }
    }

    pub fn value(&self) -> Option<Bytes> {
        self.best.as_ref().map(|&(_, value)| value)
    }

    pub fn is_optimal(&self) -> bool {
        self.value() == Some(self.bound())
    }

    pub fn is_good(&self, budget: &Budget) -> bool {
        self.value().is_some_and(|value| budget.reaches_target(value))
    }

    pub fn is_over(&self, budget: &mut Budget) -> bool {
        self.is_optimal() || self.is_good(budget) || budget.check().is_some()
    }

    /// What no arena can go below, bytes.
    pub fn bound(&self) -> Bytes {
        self.bound.value
    }

    /// Takes over a bound where it is higher.
    pub fn raise(&mut self, bound: LowerBound) {
        if self.bound.raise(bound) {
            self.observer.bound(&self.bound);
        }
    }

    /// The order with the fewest bytes alive that can be found, whose bound holds for arenas too.
    pub fn first_order(&mut self, budget: &mut Budget) -> Result<Order, SolveError> {
        self.observer.phase("order");
        let since = budget.elapsed().as_secs_f64();
        let mut part = budget.part(None, budget.time_left().map(|left| left.mul_f64(FIRST_SHARE)));
        let solver = OrderSolver::new(self.setup, Method::Staged);
        let outcome = solver.solve(self.input.orders(), &mut part, &mut Silent)?;
        budget.spend(part.nodes());
        self.stats.phases.push(("order".to_owned(), budget.elapsed().as_secs_f64() - since));
        self.raise(outcome.lower_bound);
        Ok(outcome.solution.unwrap_or_else(|| self.input.orders().as_in_file()))
    }

    /// Lays an order out with at most so many nodes and such a part of the time left, and keeps the plan where it is
    /// better. True where no layout of this order beats the best plan known now.
    pub fn place(
        &mut self,
        order: &Order,
        instance: &Instance,
        (nodes, share): (u64, f64),
        budget: &mut Budget,
    ) -> Result<bool, SolveError> {
        if self.value().is_some_and(|best| plimsoll_model::load(instance).0 >= best) {
            return Ok(true);
        }
        let mut part = budget.part(Some(nodes), budget.time_left().map(|left| left.mul_f64(share)));
        let outcome = Exact::new(self.setup).solve(instance, &mut part, &mut Silent)?;
        budget.spend(part.nodes().min(nodes));
        if let (Some(layout), Some(value)) = (outcome.solution, outcome.value)
            && self.value().is_none_or(|best| value < best)
        {
            let plan = JointPlan { order: order.clone(), layout };
            if let Some(fault) = Joint::check(self.input, &plan).first() {
                return Err(SolveError::Machinery { solver: self.name, reason: fault.to_string() });
            }
            self.observer.incumbent(&plan, value);
            self.best = Some((plan, value));
        }
        Ok(self.value().is_some_and(|best| outcome.lower_bound.value >= best))
    }

    /// Every order was tried and none allows less than the best.
    pub fn prove(&mut self) {
        if let Some(value) = self.value() {
            self.raise(LowerBound::new(value, Witness::Search { solver: self.name.to_owned() }));
        }
    }

    /// What is known, and why the run ended: `stop` where nothing else did end it.
    pub fn conclude(mut self, budget: &mut Budget, stop: Stop) -> Outcome<Joint> {
        self.stats.nodes = budget.nodes();
        self.stats.count("orders", self.tried);
        let stop = if self.is_optimal() {
            Stop::Completed
        } else if self.is_good(budget) {
            Stop::Target
        } else {
            budget.check().unwrap_or(stop)
        };
        Outcome::conclude(self.best, self.bound, None, stop, self.stats)
    }
}
