//! One order, one fit, one pass: most published planners are of this kind.
//!
//! | planner | order | fit |
//! |---|---|---|
//! | sequential, large-first, short-first (LUNA) | start, size, duration ascending | first |
//! | greedy by size (Pisarchyk and Lee) | size | best |
//! | greedy by breadth (Pisarchyk and Lee) | breadth | best |
//! | global decreasing size best fit (XLA) | size, duration | best |
//!
//! Correct by the [placement engine](crate::place); O(n^2) at worst, linear memory.

use crate::orders::Order;
use crate::placement::{Abandoned, Arrangement, Fit};
use crate::report::Run;
use plimsoll_model::{Budget, Instance, Observer, Offsets, Outcome, SolveError, Solver};

/// Places buffers in one order by one fit. A node is a buffer placed.
#[derive(Clone, Copy, Debug)]
pub struct Ordered {
    /// Its name in the registry.
    pub name: &'static str,
    /// The order.
    pub order: Order,
    /// The gap taken.
    pub fit: Fit,
}

impl Solver<Offsets> for Ordered {
    fn name(&self) -> &'static str {
        self.name
    }

    fn solve(
        &self,
        input: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        let run = Run::offsets(input, budget, observer);
        let order = self.order.of(input);
        let mut arrangement = Arrangement::new(input);
        let layout = match arrangement.run(&order, self.fit, None, budget) {
            Err(Abandoned::Budget(stop)) => Err(stop),
            // Without a limit the peak is never a reason.
            Err(Abandoned::Peak) | Ok(_) => Ok(arrangement.layout()),
        };
        Ok(run.conclude_single(layout, budget))
    }
}
