//! The default solver: certify cheaply, search only where that leaves a gap.
//!
//! In this order, ending as soon as the best layout meets the bound, which is then proved without further ado:
//! 1. *bounds*;
//! 2. *orders*: one placement per order, each given up as soon as it reaches the best; where the sprint will not do, what
//!    ends above the bound is moved to the front a few times; between small and large, and without a time limit, there is a first short
//!    *iterate*;
//! 3. *sprint*: some ten thousand nodes of [`Search`] aimed at the bound, which settles most instances of moderate size; left out where
//!    buffers are separated, more than a few;
//! 4. *eject*: an ejection search on the best layout, before the sprint where the instance is not small;
//! 5. *iterate*: an iterated search over orders, which settles some that are left and gives the rest a good layout early;
//! 6. *search*: [`Search`] until the end.
//!
//! From [`HUGE_BUFFERS`] on, time and memory of orders and search are out of reach: there are only placements by
//! valleys, and ejection search until the end.

use crate::bounds::quick_bound;
use crate::search::Search;
use crate::search::minimise::Progress;
use plimsoll_heuristics::{
    Arrangement, EjectionSearch, Fit, IteratedSearch, Order, ValleyWeights, long_first, valley_fit,
};
use plimsoll_model::{
    Budget, BufferId, Bytes, Instance, Layout, Observer, Offsets, Outcome, Setup, Silent, SolveError, Solver,
    Stats,
};
use std::time::Duration;

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

/// Orders that are improved by moving to the front what ends above the bound, and how often.
const BLAMED: [(Order, Fit); 2] = [(Order::Heat, Fit::First), (Order::Size, Fit::First)];
const BLAMES: usize = 6;

/// Up to so many buffers the sprint comes before the ejection search.
const SMALL_BUFFERS: usize = 500;

/// Time for a first placement where the limits allow none.
const FIRST_PLACEMENT: Duration = Duration::from_millis(250);

/// From so many buffers on there is neither a sequence of orders nor a search.
const HUGE_BUFFERS: usize = 50_000;

/// Buffers put by the ejection search where time is not limited: so many, and so many per buffer.
const EJECT_PUTS: (u64, u64) = (100_000, 20);

/// Buffers put on small instances, and the part of the time left that it may take on others.
const SMALL_PUTS: u64 = 4_000;
const EJECT_TIME: f64 = 0.75;

/// Above this many buffers there is no sprint: few nodes would not even place them all.
const SPRINT_BUFFERS: usize = 5_000;
const SPRINT_NODES: u64 = 60_000;

/// Up to so many buffers the sprint comes first even where some are separated.
const FEW_BUFFERS: usize = 24;

/// Placements of the iterated search, in buffers put: so many, and so many per buffer; and the part of the time left.
const ITERATE: (u64, u64, f64) = (400_000, 100, 0.5);

/// The same for its short turn before the ejection search, which seldom reaches the bound itself.
const ITERATE_BRIEFLY: (u64, u64, f64) = (100_000, 100, 1.0);

struct Phases<'a> {
    setup: Setup,
    instance: &'a Instance,
    budget: &'a mut Budget,
    observer: &'a mut dyn Observer<Offsets>,
    progress: Progress,
    /// A layout with the longest buffers at the bottom, where that seemed worth while.
    long: Option<Layout>,
    stats: Stats,
}

impl Phases<'_> {
    /// Runs one phase and books its seconds, unless there is nothing left to do.
    fn phase<T>(&mut self, name: &str, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.is_settled() {
            return None;
        }
        self.observer.phase(name);
        let since = self.budget.elapsed().as_secs_f64();
        let done = run(self);
        self.stats.phases.push((name.to_owned(), self.budget.elapsed().as_secs_f64() - since));
        Some(done)
    }

    fn is_settled(&self) -> bool {
        self.progress.settled(self.instance, self.budget).is_some()
    }

    /// True where no further placement is to be started.
    fn is_over(&mut self) -> bool {
        self.is_settled() || self.budget.check().is_some()
    }

    /// Keeps a layout where it is better.
    fn offer(&mut self, layout: Layout) {
        let peak = layout.peak(self.instance);
        if self.progress.value().is_none_or(|best| peak < best) {
            self.observer.incumbent(&layout, peak);
            self.progress.best = Some((layout, peak));
        }
    }

    fn bounds(&mut self) {
        self.progress.bound = quick_bound(self.instance, self.budget);
        self.observer.bound(&self.progress.bound);
    }

    /// The limits that end a placement: time and requests to stop, but not nodes, of which a placement is none.
    fn limits(&self) -> Budget {
        self.budget.without_node_limit()
    }

    /// Placements until the bound or the target is met.
    fn orders(&mut self) {
        let mut arrangement = Arrangement::new(self.instance);
        if self.instance.len() > SMALL_BUFFERS && !self.is_over() {
            let mut limits = self.limits();
            self.valley(&mut limits);
        }
        if self.instance.len() > SPRINT_BUFFERS {
            for (order, fit) in BLAMED {
                self.blame(&mut arrangement, order, fit);
            }
        }
        for (order, fit) in ORDERS {
            if self.is_over() {
                break;
            }
            let below = self.progress.value();
            self.place(&mut arrangement, &order.of(self.instance), fit, below, &mut self.limits());
        }
        // A run that ends early still has an answer, where one placement is a matter of a moment.
        if self.progress.best.is_none() && !self.is_settled() {
            let moment = &mut Budget::unlimited().with_time_limit(FIRST_PLACEMENT);
            let (order, fit) = ORDERS[0];
            self.place(&mut arrangement, &order.of(self.instance), fit, None, moment);
        }
    }

    /// One placement; true where it was finished below `below`.
    fn place(
        &mut self,
        arrangement: &mut Arrangement<'_>,
        order: &[BufferId],
        fit: Fit,
        below: Option<Bytes>,
        limits: &mut Budget,
    ) -> bool {
        let placed = arrangement.run(order, fit, below, limits).is_ok();
        if placed && let Some(layout) = arrangement.layout() {
            self.offer(layout);
        }
        placed
    }

    /// Places along an order again and again, what ended above the bound first.
    fn blame(&mut self, arrangement: &mut Arrangement<'_>, order: Order, fit: Fit) {
        if self.is_over() {
            return;
        }
        let (instance, bound) = (self.instance, self.progress.bound.value);
        let mut order = order.of(instance);
        for _ in 0..BLAMES {
            if self.is_over() || !self.place(arrangement, &order, fit, None, &mut self.limits()) {
                return;
            }
            // A stable sort: the rest keeps its order.
            order.sort_by_key(|&id| {
                let end = arrangement.offset(id).and_then(|at| at.checked_add(instance.buffer(id).size()));
                end.is_some_and(|end| end <= bound)
            });
        }
    }

    fn valley(&mut self, limits: &mut Budget) {
        if let Ok(layout) = valley_fit(self.instance, ValleyWeights::default(), limits) {
            self.offer(layout);
        }
    }

    /// One or two placements by valleys, for the largest instances.
    fn valleys(&mut self) {
        let mut part = self.budget.part(None, None);
        self.valley(&mut part);
        if !self.is_settled() {
            self.long = long_first(self.instance, self.setup.seed, &mut part);
            if let Some(long) = self.long.clone() {
                self.offer(long);
            }
        }
        self.budget.spend(part.nodes());
    }

    /// Searches within a part of the budget, or all of it.
    fn search(&mut self, nodes: Option<u64>) {
        let mut part = self.budget.part(nodes, None);
        let start = std::mem::replace(&mut self.progress, Progress::nothing());
        let search = Search::new(self.setup);
        self.progress = search.improve(self.instance, start.best, start.bound, &mut part, self.observer);
        self.budget.spend(part.nodes());
    }

    /// Pushes the best layout down; where search has little chance, for most of the time.
    fn eject(&mut self) {
        // With the long ones out of the way at the bottom, those at the top are easily moved, even where there are more.
        let best = self.progress.best.as_ref().map(|(layout, _)| layout.clone());
        let Some(start) = self.long.take().or(best) else {
            return;
        };
        let n = self.instance.len();
        let mut part = if n >= HUGE_BUFFERS {
            self.budget.part(None, None)
        } else {
            let small = n <= SMALL_BUFFERS;
            let wanted = if small { SMALL_PUTS } else { EJECT_PUTS.0 + EJECT_PUTS.1 * n as u64 };
            let nodes = self.budget.nodes_left().map_or(wanted, |left| wanted.min(left / 4));
            let time = self.budget.time_left().map(|left| left.mul_f64(EJECT_TIME));
            // Where only time is limited and search has little chance, time alone ends it.
            let timed = !small && time.is_some() && self.budget.nodes_left().is_none();
            self.budget.part((!timed).then_some(nodes), time)
        };
        let (bound, observer) = (self.progress.bound.value, &mut *self.observer);
        let before = self.progress.value();
        let better = |peak: Bytes| before.is_none_or(|best| peak < best);
        let search = EjectionSearch::new(self.setup.seed);
        let (best, _) = search.improve(self.instance, &start, bound, &mut part, |layout, peak| {
            if better(peak) {
                observer.incumbent(layout, peak);
            }
        });
        self.budget.spend(part.nodes());
        if best.as_ref().is_some_and(|&(_, peak)| better(peak)) {
            self.progress.best = best;
        }
    }

    fn iterate(&mut self, (once, per_buffer, share): (u64, u64, f64)) -> Result<(), SolveError> {
        let wanted = once + per_buffer * self.instance.len() as u64;
        let nodes = self.budget.nodes_left().map_or(wanted, |left| wanted.min(left / 4));
        let part = self.budget.part(Some(nodes), self.budget.time_left().map(|left| left.mul_f64(share)));
        // It knows the load alone, where there may be a better bound to stop at.
        let bound = self.progress.bound.value;
        let mut part =
            part.with_target(self.budget.target().map_or(bound, |target: Bytes| target.max(bound)));
        // Incumbents are compared with ours before anybody is told.
        let outcome = IteratedSearch::new(self.setup.seed).solve(self.instance, &mut part, &mut Silent)?;
        self.budget.spend(part.nodes());
        if let Some(layout) = outcome.solution {
            self.offer(layout);
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
    ) -> Result<Outcome<Offsets>, SolveError> {
        let (progress, stats) = (Progress::nothing(), Stats::default());
        let setup = self.setup;
        let mut phases = Phases { setup, instance, budget, observer, progress, long: None, stats };
        phases.phase("bounds", Phases::bounds);
        let n = instance.len();
        phases.phase("orders", if n < HUGE_BUFFERS { Phases::orders } else { Phases::valleys });
        if n > SMALL_BUFFERS {
            // Ejection gets further from a plain placement, and with a limit comes first; without one it may take long.
            if n <= SPRINT_BUFFERS && phases.budget.time_left().is_none() {
                phases.phase("iterate briefly", |p| p.iterate(ITERATE_BRIEFLY)).transpose()?;
            }
            phases.phase("eject", Phases::eject);
        }
        // Nodes among separations are slow and see little: there the fast ones go first.
        let late = !instance.separations().is_empty() && n > FEW_BUFFERS;
        if n <= SPRINT_BUFFERS && !late {
            phases.phase("sprint", |p| p.search(Some(SPRINT_NODES)));
        }
        if n <= SMALL_BUFFERS {
            phases.phase("eject", Phases::eject);
        }
        if n < HUGE_BUFFERS {
            phases.phase("iterate", |p| p.iterate(ITERATE)).transpose()?;
            phases.phase("search", |p| p.search(None));
        }
        let Phases { progress, mut stats, budget, .. } = phases;
        stats.nodes = budget.nodes();
        let stop = progress.settled(instance, budget).or_else(|| budget.check()).unwrap_or(progress.stop);
        Ok(Outcome::conclude(progress.best, progress.bound, instance.capacity(), stop, stats))
    }
}
