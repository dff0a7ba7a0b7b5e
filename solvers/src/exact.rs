//! The default solver: certify cheaply, search only where that leaves a gap.
//!
//! Bounds first, then one placement per order, each given up as soon as it reaches the best; whenever the best layout
//! meets the bound the answer is proved without a search. What is left goes to [`crate::search::Search`].

use crate::bounds::quick_bound;
use crate::search::Search;
use plimsoll_heuristics::{Fit, Order, place};
use plimsoll_model::{
    Budget, Bytes, Instance, Layout, LowerBound, Observer, Offsets, Outcome, Setup, SolveError, Solver,
    Stats, Stop,
};

/// Bounds, orders, then search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact {
    setup: Setup,
}

/// Orders of the first phase, the most promising first.
const ORDERS: [(Order, Fit); 8] = [
    (Order::Area, Fit::First),
    (Order::SizeDuration, Fit::Best),
    (Order::Size, Fit::First),
    (Order::Breadth, Fit::Best),
    (Order::Duration, Fit::First),
    (Order::Area, Fit::Best),
    (Order::Conflicts, Fit::First),
    (Order::Start, Fit::First),
];

impl Exact {
    /// With a seed and threads for the search.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

/// Places along each order until the bound or the target is met; the best layout found.
fn try_orders(
    instance: &Instance,
    bound: &LowerBound,
    budget: &mut Budget,
    observer: &mut dyn Observer<Offsets>,
) -> Option<(Layout, Bytes)> {
    let mut best: Option<(Layout, Bytes)> = None;
    for (order, fit) in ORDERS {
        if budget.check().is_some() {
            break;
        }
        let below = best.as_ref().map(|&(_, peak)| peak);
        let Some(layout) = place(instance, &order.of(instance), fit, below) else {
            continue;
        };
        let peak = layout.peak(instance);
        observer.incumbent(&layout, peak);
        best = Some((layout, peak));
        if peak == bound.value || budget.reaches_target(peak) {
            break;
        }
    }
    best
}

impl Solver<Offsets> for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Layout>, SolveError> {
        let mut stats = Stats::default();
        observer.phase("bounds");
        let bound = quick_bound(instance);
        observer.bound(&bound);
        stats.phases.push(("bounds".to_owned(), budget.elapsed().as_secs_f64()));
        let impossible = instance.capacity().is_some_and(|capacity| bound.value > capacity);
        if impossible {
            return Ok(Outcome::conclude(None, bound, instance.capacity(), Stop::Completed, stats));
        }
        observer.phase("orders");
        let since = budget.elapsed().as_secs_f64();
        let best = try_orders(instance, &bound, budget, observer);
        stats.phases.push(("orders".to_owned(), budget.elapsed().as_secs_f64() - since));
        observer.phase("search");
        let since = budget.elapsed().as_secs_f64();
        let progress = Search::new(self.setup).improve(instance, best, bound, budget, observer);
        stats.phases.push(("search".to_owned(), budget.elapsed().as_secs_f64() - since));
        stats.nodes = budget.nodes();
        Ok(Outcome::conclude(progress.best, progress.bound, instance.capacity(), progress.stop, stats))
    }
}
