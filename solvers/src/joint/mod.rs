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
use plimsoll_model::order::{Order, OrderProblem};
use plimsoll_model::{
    Budget, Bytes, Instance, Joint, JointPlan, JointProblem, LowerBound, Observer, Outcome, Problem, Setup,
    Silent, SolveError, Solver, Stats, Stop, Witness,
};
use std::collections::HashSet;
use walk::Walk;

/// The name in the registry and in witnesses.
const NAME: &str = "exact";

/// The part of the time left that goes to the first order, and to each layout.
const FIRST_SHARE: f64 = 0.4;

/// Nodes for the layout of the first order.
const FIRST_NODES: u64 = 2_000_000;

/// Nodes for the layout of any other, and the part of the time left.
const OTHER: (u64, f64) = (50_000, FIRST_SHARE);

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
    ) -> Result<Outcome<Joint>, SolveError> {
        let mut run = Run::new(NAME, self.setup, input, observer);
        // With a time or node limit the search goes on until that ends it.
        let limited = budget.time_left().is_some() || budget.nodes_left().is_some();
        let first = run.first_order(budget)?;
        let mut complete = is_only(input.orders(), &first);
        // Where there is no other order, its layout gets all there is.
        let (nodes, share) = if complete { (u64::MAX, 1.0) } else { (FIRST_NODES, FIRST_SHARE) };
        let nodes = if limited { nodes } else { FIRST_NODES };
        if run.place(&first, &input.instance(&first), (nodes, share), budget)? && complete {
            run.prove();
        }
        if !complete && !run.is_over(budget) && Enumeration::suits(input) {
            run.observer.phase("enumerate");
            complete = Enumeration::run(&mut run, budget)?;
        }
        if !complete && !run.is_over(budget) {
            run.observer.phase("walk");
            let mut seen = HashSet::from([lifespans(&input.instance(&first))]);
            let mut walk = Walk::new(input.orders(), &first, self.setup.seed);
            while (limited || run.tried < WALKED) && !run.is_over(budget) {
                let candidate = walk.next(run.value(), budget);
                run.tried += 1;
                let instance = input.instance(&candidate);
                if seen.len() >= MOST_KEYS || seen.insert(lifespans(&instance)) {
                    run.place(&candidate, &instance, OTHER, budget)?;
                }
            }
        }
        Ok(run.conclude(budget, Stop::Completed))
    }
}

/// True where precedences leave no other order.
fn is_only(problem: &OrderProblem, order: &Order) -> bool {
    order.operators().windows(2).all(|pair| problem.successors(pair[0]).binary_search(&pair[1]).is_ok())
}

/// One run: the best plan, the bound, whom to tell.
pub(crate) struct Run<'a> {
    /// Of the solver.
    name: &'static str,
    setup: Setup,
    input: &'a JointProblem,
    observer: &'a mut dyn Observer<Joint>,
    best: Option<(JointPlan, Bytes)>,
    bound: LowerBound,
    tried: u64,
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

    fn is_optimal(&self) -> bool {
        self.value() == Some(self.bound())
    }

    fn is_good(&self, budget: &Budget) -> bool {
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
    fn first_order(&mut self, budget: &mut Budget) -> Result<Order, SolveError> {
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
    fn prove(&mut self) {
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

/// When every buffer is alive: all that tells two offset problems of one joint problem apart.
fn lifespans(instance: &Instance) -> Vec<(u64, u64)> {
    let hull = |buffer: &plimsoll_model::Buffer| {
        let hull = buffer.lifespan().hull();
        (hull.lower.get(), hull.upper.get())
    };
    instance.buffers().iter().map(hull).collect()
}
