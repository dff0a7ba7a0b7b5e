//! Planners that place buffers in one pass, in one order and with one fit. Most published planners are of
//! this kind.
//!
//! | planner | order | fit |
//! |---|---|---|
//! | first-fit-start, first-fit-size, short-first (LUNA) | start, descending size, ascending duration | first |
//! | greedy by size (Pisarchyk and Lee) | descending size | best |
//! | greedy by breadth (Pisarchyk and Lee) | breadth | best |
//! | global decreasing size best fit (XLA) | descending size, then descending duration | best |
//!
//! The [placement engine](crate::offsets::place) guarantees valid layouts. Placing n buffers takes O(n^2) time in
//! the worst case, and linear memory.

use crate::offsets::buffer_orders::Order;
use crate::offsets::placement::{Abandoned, Arrangement, Fit};
use plimsoll_model::{Budget, Instance, Layout, Stop};

/// Places the buffers in one order with one fit. A node is one placed buffer.
pub(crate) fn ordered(
    instance: &Instance,
    (order, fit): (Order, Fit),
    budget: &mut Budget,
) -> Result<Option<Layout>, Stop> {
    let order = order.of(instance, &mut budget.without_node_limit())?;
    let mut arrangement = Arrangement::new(instance);
    match arrangement.run(&order, fit, None, budget) {
        Err(Abandoned::Budget(stop)) => Err(stop),
        // There is no limit on the peak, so only the budget can end a run early.
        Err(Abandoned::Peak) | Ok(_) => Ok(arrangement.layout()),
    }
}
