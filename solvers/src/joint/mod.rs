//! Finds an order and offsets with the smallest arena over all orders. The problem is that of `MODeL`
//! (Steiner et al. 2022), which solves it with one integer program.
//!
//! [`JointExact`] first searches for an order with the minimum peak of live bytes and places its tensors. The
//! minimum peak is a lower bound on the size of every arena. Usually, the size of the arena equals this
//! bound, and the plan is optimal. Otherwise, the solver tries other orders whose peak of live bytes is below
//! the size of the best arena. On small problems, it first tries to enumerate all such orders. If it cannot
//! try all of them, it tries those that a random walk visits.

mod enumerate;
#[cfg(feature = "ilp")]
mod ilp;
mod registry;
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

pub use registry::ENTRIES;
pub(crate) use run::Run;

/// The name in the registry and in witnesses.
const NAME: &str = "exact";

/// Node limit of the search for the layout of the first order.
const FIRST_NODES: u64 = 2_000_000;

/// Maximum number of orders that the solver tries if no limit is set.
const WALKED: u64 = 2_000;

/// Maximum number of orders whose lifespans the walk stores. An order whose lifespans are already stored is
/// not placed.
const MOST_KEYS: usize = 100_000;

/// The solver for the minimum arena over all orders. Its name in the registry is `exact`.
#[derive(Clone, Copy, Debug, Default)]
pub struct JointExact {
    setup: Setup,
}

impl JointExact {
    /// Creates the solver with the seed and thread count of `setup`.
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
        // With a time or node limit, the search continues until that limit.
        let limited = budget.time_to_end().is_some() || budget.nodes_left().is_some();
        let first = run.first_order(budget)?;
        let mut complete = is_only(input.orders(), &first);
        // If only one order exists, its layout gets the whole budget of a limited run.
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

/// Returns true if the precedences allow only this order.
fn is_only(problem: &OrderProblem, order: &Order) -> bool {
    order.operators().windows(2).all(|pair| problem.successors(pair[0]).binary_search(&pair[1]).is_ok())
}

/// Returns the lifespans of all buffers. The offset problems of one joint problem differ only in these
/// lifespans.
fn lifespans(instance: &Instance) -> Vec<(u64, u64)> {
    let hull = |buffer: &plimsoll_model::Buffer| {
        let hull = buffer.lifespan().hull();
        (hull.lower.get(), hull.upper.get())
    };
    instance.buffers().iter().map(hull).collect()
}
