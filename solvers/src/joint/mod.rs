//! Order and offsets together: the smallest arena over all orders (after `MODeL`, Steiner et al. 2022, which joins both in
//! one integer program).
//!
//! [`JointExact`] takes the order with the least bytes alive, which bounds every arena, and places its tensors. Where
//! both meet, the plan is optimal and nothing else need be looked at, which is the rule. Where the layout leaves holes, it tries
//! other orders that have fewer bytes alive than the best arena: all of them where they are few, then a random walk.

mod enumerate;
mod walk;

use crate::exact::Exact;
use crate::order::{Method, OrderSolver};
use enumerate::Enumeration;
use plimsoll_model::order::Order;
use plimsoll_model::{
    Budget, Bytes, Instance, Joint, JointPlan, JointProblem, LowerBound, Observer, Outcome, Problem, Setup,
    Silent, SolveError, Solver, Stats, Stop, Witness,
};
use std::collections::HashSet;
use walk::Walk;

/// The name in the registry and in witnesses.
const NAME: &str = "exact";

/// The part of the time left that goes to the first order, and to its layout.
const FIRST_SHARE: f64 = 0.4;

/// Nodes for the layout of the first order, and of any other.
const FIRST_NODES: u64 = 2_000_000;
const OTHER_NODES: u64 = 50_000;

/// Candidates looked at by the walk where nothing else limits it.
const WALKED: u64 = 2_000;

/// Sets of lifespans laid out that the walk remembers.
const MOST_KEYS: usize = 100_000;

/// Least arena over all orders.
#[derive(Clone, Copy, Debug, Default)]
pub struct JointExact {
    setup: Setup,
}

impl JointExact {
    /// With a seed and threads.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

impl Solver<Joint> for JointExact {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &self,
        input: &JointProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Joint>,
    ) -> Result<Outcome<JointPlan>, SolveError> {
        let mut run = Run::new(self.setup, input, observer);
        let first = run.first_order(budget)?;
        run.place(&first, &input.instance(&first), FIRST_NODES, budget)?;
        let mut complete = false;
        if !run.is_over(budget) && Enumeration::suits(input) {
            run.observer.phase("enumerate");
            complete = Enumeration::run(&mut run, budget)?;
        }
        if !complete && !run.is_over(budget) {
            run.observer.phase("walk");
            let mut seen = HashSet::from([lifespans(&input.instance(&first))]);
            let mut walk = Walk::new(&input.orders, &first, self.setup.seed);
            // With a time or node limit the walk goes on until that ends it.
            let limited = budget.time_left().is_some() || budget.nodes_left().is_some();
            while (limited || run.tried < WALKED) && !run.is_over(budget) {
                let candidate = walk.next(run.value(), budget);
                run.tried += 1;
                let instance = input.instance(&candidate);
                if seen.len() >= MOST_KEYS || seen.insert(lifespans(&instance)) {
                    run.place(&candidate, &instance, OTHER_NODES, budget)?;
                }
            }
        }
        Ok(run.conclude(budget))
    }
}

/// One run: the best plan, the bound, whom to tell.
pub(crate) struct Run<'a> {
    setup: Setup,
    input: &'a JointProblem,
    observer: &'a mut dyn Observer<Joint>,
    best: Option<(JointPlan, Bytes)>,
    bound: LowerBound,
    tried: u64,
    stats: Stats,
}

impl<'a> Run<'a> {
    fn new(setup: Setup, input: &'a JointProblem, observer: &'a mut dyn Observer<Joint>) -> Self {
        let (best, stats) = (None, Stats::default());
        Self { setup, input, observer, best, bound: LowerBound::trivial(), tried: 0, stats }
    }

    fn value(&self) -> Option<Bytes> {
        self.best.as_ref().map(|&(_, value)| value)
    }

    fn is_optimal(&self) -> bool {
        self.value() == Some(self.bound.value)
    }

    fn is_over(&self, budget: &mut Budget) -> bool {
        let good = self.value().is_some_and(|value| budget.reaches_target(value));
        self.is_optimal() || good || budget.check().is_some()
    }

    /// The order with the fewest bytes alive that can be found, whose bound holds for arenas too.
    fn first_order(&mut self, budget: &mut Budget) -> Result<Order, SolveError> {
        self.observer.phase("order");
        let since = budget.elapsed().as_secs_f64();
        let mut part = budget.part(None, budget.time_left().map(|left| left.mul_f64(FIRST_SHARE)));
        let solver = OrderSolver::new(self.setup, Method::Staged);
        let outcome = solver.solve(&self.input.orders, &mut part, &mut Silent)?;
        budget.spend(part.nodes());
        self.stats.phases.push(("order".to_owned(), budget.elapsed().as_secs_f64() - since));
        if self.bound.raise(outcome.lower_bound) {
            self.observer.bound(&self.bound);
        }
        Ok(outcome.solution.unwrap_or_else(|| self.input.orders.as_in_file()))
    }

    /// Lays an order out, and keeps the plan where it is better. True where no layout of this order beats the best plan
    /// known now.
    fn place(
        &mut self,
        order: &Order,
        instance: &Instance,
        nodes: u64,
        budget: &mut Budget,
    ) -> Result<bool, SolveError> {
        if self.value().is_some_and(|best| plimsoll_model::load(instance).0 >= best) {
            return Ok(true);
        }
        let mut part = budget.part(Some(nodes), budget.time_left().map(|left| left.mul_f64(FIRST_SHARE)));
        let outcome = Exact::new(self.setup).solve(instance, &mut part, &mut Silent)?;
        budget.spend(part.nodes().min(nodes));
        if let (Some(layout), Some(value)) = (outcome.solution, outcome.value)
            && self.value().is_none_or(|best| value < best)
        {
            let plan = JointPlan { order: order.clone(), layout };
            if let Some(fault) = Joint::check(self.input, &plan).first() {
                return Err(SolveError::Machinery { solver: NAME, reason: fault.to_string() });
            }
            self.observer.incumbent(&plan, value);
            self.best = Some((plan, value));
        }
        Ok(self.value().is_some_and(|best| outcome.lower_bound.value >= best))
    }

    /// Every order was tried and none allows less than the best.
    fn prove(&mut self) {
        if let Some(value) = self.value() {
            self.bound.raise(LowerBound::new(value, Witness::Search { solver: NAME.to_owned() }));
            self.observer.bound(&self.bound);
        }
    }

    fn conclude(mut self, budget: &mut Budget) -> Outcome<JointPlan> {
        self.stats.nodes = budget.nodes();
        self.stats.count("orders", self.tried);
        let target = self.value().is_some_and(|value| budget.reaches_target(value));
        let stop = if self.is_optimal() {
            Stop::Completed
        } else if target {
            Stop::Target
        } else {
            budget.check().unwrap_or(Stop::Completed)
        };
        Outcome::conclude(self.best, self.bound, None, stop, self.stats)
    }
}

/// When every buffer is alive: all that tells two offset problems of one joint problem apart.
fn lifespans(instance: &Instance) -> Vec<(u64, u64)> {
    let hull = |buffer: &plimsoll_model::Buffer| {
        let hull = buffer.lifespan().hull();
        (hull.lower.get(), hull.upper.get())
    };
    instance.buffers().iter().map(hull).collect()
}
