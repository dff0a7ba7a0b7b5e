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

use crate::buffer_orders::Order;
use crate::placement::{Abandoned, Arrangement, Fit};
use plimsoll_model::{Budget, Instance, Layout, Stop};

/// Places buffers in one order by one fit. A node is a buffer placed.
pub(crate) fn ordered(
    instance: &Instance,
    (order, fit): (Order, Fit),
    budget: &mut Budget,
) -> Result<Option<Layout>, Stop> {
    let mut arrangement = Arrangement::new(instance);
    match arrangement.run(&order.of(instance), fit, None, budget) {
        Err(Abandoned::Budget(stop)) => Err(stop),
        // Without a limit the peak is never a reason.
        Err(Abandoned::Peak) | Ok(_) => Ok(arrangement.layout()),
    }
}
