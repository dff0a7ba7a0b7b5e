//! The default solver: certify cheaply, search only where that leaves a gap.
//!
//! In this order, ending as soon as the best layout meets the bound, which is then proved without further ado:
//! 1. *bounds*;
//! 2. *orders*: one placement per order, each given up as soon as it reaches the best;
//! 3. *sprint*: some ten thousand nodes of [`Search`] aimed at the bound, which settles most instances of moderate size;
//! 4. *iterate*: an iterated search over orders, which settles most large ones and gives the rest a good layout early;
//! 5. *search*: [`Search`] until the end.

use crate::bounds::quick_bound;
use crate::search::Search;
use crate::search::minimise::Progress;
use plimsoll_heuristics::{Fit, IteratedSearch, Order, place};
use plimsoll_model::{
    Budget, Bytes, Instance, Layout, LowerBound, Observer, Offsets, Outcome, Setup, Silent, SolveError,
    Solver, Stats,
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

/// Above this many buffers there is no sprint: few nodes would not even place them all.
const SPRINT_BUFFERS: usize = 5_000;
const SPRINT_NODES: u64 = 60_000;

/// Placements of the iterated search: so many, and so many per buffer.
const ITERATE_PLACEMENTS: (u64, u64) = (400_000, 100);

/// What the phases share.
struct Phases<'a> {
    setup: Setup,
    instance: &'a Instance,
    budget: &'a mut Budget,
    observer: &'a mut dyn Observer<Offsets>,
    progress: Progress,
    stats: Stats,
}

impl Phases<'_> {
    /// Runs one phase and books its seconds, unless there is nothing left to do.
    fn phase(
        &mut self,
        name: &str,
        run: impl FnOnce(&mut Self) -> Result<(), SolveError>,
    ) -> Result<(), SolveError> {
        if self.progress.settled(self.instance, self.budget).is_some() {
            return Ok(());
        }
        self.observer.phase(name);
        let since = self.budget.elapsed().as_secs_f64();
        let done = run(self);
        self.stats.phases.push((name.to_owned(), self.budget.elapsed().as_secs_f64() - since));
        done
    }

    /// Searches within a part of the budget, or all of it.
    fn search(&mut self, nodes: Option<u64>) {
        let mut part = self.budget.part(nodes, None);
        let start = std::mem::replace(&mut self.progress, Progress::nothing());
        let search = Search::new(self.setup);
        self.progress = search.improve(self.instance, start.best, start.bound, &mut part, self.observer);
        self.budget.spend(part.nodes());
    }

    fn iterate(&mut self) -> Result<(), SolveError> {
        let (once, per_buffer) = ITERATE_PLACEMENTS;
        let wanted = once + per_buffer * self.instance.len() as u64;
        let nodes = self.budget.nodes_left().map_or(wanted, |left| wanted.min(left / 4));
        let mut part = self.budget.part(Some(nodes), self.budget.time_left().map(|left| left / 4));
        // Incumbents are compared with ours before anybody is told.
        let outcome = IteratedSearch::new(self.setup.seed).solve(self.instance, &mut part, &mut Silent)?;
        self.budget.spend(part.nodes());
        if let (Some(layout), Some(value)) = (outcome.solution, outcome.value)
            && self.progress.value().is_none_or(|best| value < best)
        {
            self.observer.incumbent(&layout, value);
            self.progress.best = Some((layout, value));
        }
        Ok(())
    }
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
        let (progress, stats) = (Progress::nothing(), Stats::default());
        let mut phases = Phases { setup: self.setup, instance, budget, observer, progress, stats };
        phases.phase("bounds", |p| {
            p.progress.bound = quick_bound(p.instance);
            p.observer.bound(&p.progress.bound);
            Ok(())
        })?;
        phases.phase("orders", |p| {
            p.progress.best = try_orders(p.instance, &p.progress.bound, p.budget, p.observer);
            Ok(())
        })?;
        if instance.len() <= SPRINT_BUFFERS {
            phases.phase("sprint", |p| {
                p.search(Some(SPRINT_NODES));
                Ok(())
            })?;
        }
        phases.phase("iterate", Phases::iterate)?;
        phases.phase("search", |p| {
            p.search(None);
            Ok(())
        })?;
        let Phases { progress, mut stats, budget, .. } = phases;
        stats.nodes = budget.nodes();
        let stop = progress.settled(instance, budget).or_else(|| budget.check()).unwrap_or(progress.stop);
        Ok(Outcome::conclude(progress.best, progress.bound, instance.capacity(), stop, stats))
    }
}
