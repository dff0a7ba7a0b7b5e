//! Order and offsets together: the smallest arena over all orders (after `MODeL`, Steiner et al. 2022, which joins both in
//! one integer program).
//!
//! [`JointExact`] takes the order with the least bytes alive, which bounds every arena, and places its tensors. Where
//! both meet, the plan is optimal and nothing else need be looked at, which is the rule. Where the layout leaves holes, it tries
//! other orders that have fewer bytes alive than the best arena: all of them where they are few, then a random walk.

mod enumerate;
mod run;
mod walk;

use enumerate::Enumeration;
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{
    Budget, Instance, Joint, JointProblem, Observer, Outcome, Setup, SolveError, Solver, Stop,
};
use run::{FIRST_SHARE, OTHER};
use std::collections::HashSet;
use walk::Walk;

pub(crate) use run::Run;

/// The name in the registry and in witnesses.
const NAME: &str = "exact";

/// Nodes for the layout of the first order.
const FIRST_NODES: u64 = 2_000_000;

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
            run.known.observer.phase("enumerate");
            complete = Enumeration::run(&mut run, budget)?;
        }
        if !complete && !run.is_over(budget) {
            run.known.observer.phase("walk");
            let mut seen = HashSet::from([lifespans(&input.instance(&first))]);
            let mut walk = Walk::new(input.orders(), &first, self.setup.seed);
            while (limited || run.tried < WALKED) && !run.is_over(budget) {
                let candidate = walk.next(run.known.value(), budget);
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

/// When every buffer is alive: all that tells two offset problems of one joint problem apart.
fn lifespans(instance: &Instance) -> Vec<(u64, u64)> {
    let hull = |buffer: &plimsoll_model::Buffer| {
        let hull = buffer.lifespan().hull();
        (hull.lower.get(), hull.upper.get())
    };
    instance.buffers().iter().map(hull).collect()
}
