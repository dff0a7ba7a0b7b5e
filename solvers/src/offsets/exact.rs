//! The default solver for offsets. It searches only if fast heuristics and bounds leave a gap.
//!
//! The phases run in the order below, unless an item states otherwise. The solver returns as soon as the peak
//! of the best layout equals the lower bound, which proves the layout optimal. It also returns as soon as the
//! peak reaches the target or the lower bound exceeds the capacity.
//! 1. *bounds*: [`quick_bound`].
//! 2. *orders*: one greedy placement per order of the buffers. A placement is abandoned as soon as it
//!    reaches the best peak. Above 500 buffers, a valley placement comes first. Above 5000 buffers, some
//!    placements are repeated a few times, with the buffers that end above the bound moved to the front of
//!    the order.
//! 3. *sprint*: [`Search`] with at most 60,000 nodes, if all constraints are those of intervals. It settles
//!    most instances of moderate size. It is skipped above 5000 buffers.
//! 4. *arrange*: a phase for tight instances, in which the live bytes of most sections equal the load. Short
//!    sweeps over sets of arrangements can raise the bound above the load or find a layout at the bound. If
//!    the best layout is then still far above the bound, an ejection search over orders follows. This phase
//!    is skipped where *sprint* is.
//! 5. *search*: [`Search`] until the budget runs out. Unless the instance is tight, it alternates with an
//!    ejection search and an iterated search, which continue where they stopped. A run that improves the best
//!    layout doubles the share of its search, and a long run that does not halves it. While the best layout
//!    is far above the bound, most of the time belongs to the ejection search, except on interval instances
//!    with at most 500 buffers.
//!
//! No phase has a share of the time limit, except that an order must be known within a tenth of it. A run
//! with a longer limit therefore begins like one with a shorter limit, and a proof takes as long with both.
//!
//! With [`HUGE_BUFFERS`] or more buffers, orders and search take too much time and memory. After *bounds*,
//! only valley placements and an ejection search then run.

use crate::offsets::bounds::quick_bound;
use crate::offsets::search::minimise::{Improve, SHARE};
use crate::offsets::search::valley::Reduced;
use crate::offsets::search::{Search, most_live};
use plimsoll_heuristics::offsets::{
    Arrangement, Ejection, Fit, Iteration, Order, ValleyWeights, laid_end_to_end, long_first, valley_fit,
};
use plimsoll_model::{
    Budget, BufferId, Bytes, Instance, Layout, LowerBound, Observer, Offsets, Outcome, Parameter, Setup,
    Silent, SolveError, Solver, Stop, Tracker,
};
use std::cell::LazyCell;
use std::time::Duration;

/// The default solver for offsets: fast bounds and placements first, branch and bound only if they leave a
/// gap. Its name in the registry is `exact`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact {
    setup: Setup,
}

/// The parameters of [`Exact`].
const PARAMETERS: [Parameter; 2] = [
    Parameter { name: "-ejection", about: "branching does not alternate with an ejection search" },
    Parameter { name: "-iterated", about: "branching does not alternate with an iterated search" },
];

/// The orders of the phase *orders*, the most promising first.
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
    /// Creates the solver with the seed and thread count of `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

/// Fraction of the remaining time in which an order of the phase *orders* must be known.
const ORDER_TIME: f64 = 0.1;

/// The orders of [`Phases::blame`]. [`BLAMES`] is the maximum number of placements for each order.
const BLAMED: [(Order, Fit); 2] = [(Order::Heat, Fit::First), (Order::Size, Fit::First)];
const BLAMES: usize = 6;

/// Maximum number of buffers for which the sprint precedes the ejection search.
const SMALL_BUFFERS: usize = 500;

/// Time limit of a first placement that runs even if the budget is already exhausted.
const FIRST_PLACEMENT: Duration = Duration::from_millis(250);

/// Instances with this many buffers or more skip the phases *orders* and *search*.
const HUGE_BUFFERS: usize = 50_000;

/// Maximum number of buffers for which the sprint runs. With more buffers, it would rarely reach a complete
/// layout.
const SPRINT_BUFFERS: usize = 5_000;
const SPRINT_NODES: u64 = 60_000;

/// Node limits of the phase *arrange*: for sweeps, and for the ejection search over orders.
const ARRANGE_NODES: (u64, u64) = (100_000, 150_000);

struct Phases<'a> {
    setup: Setup,
    instance: &'a Instance,
    budget: &'a mut Budget,
    known: Tracker<'a, Offsets>,
    /// The layout from which the ejection search starts. On the largest instances, the longest-lived buffers
    /// lie at the bottom.
    plain: Option<Layout>,
    /// The termination reason of the last search.
    stop: Stop,
}

impl Phases<'_> {
    /// Runs one phase and records its duration in seconds. Does nothing if the instance is already settled.
    fn phase<T>(&mut self, name: &str, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.is_settled() {
            return None;
        }
        self.known.observer.phase(name);
        let since = self.budget.elapsed().as_secs_f64();
        let done = run(self);
        self.known.book(name, since, self.budget);
        Some(done)
    }

    fn is_settled(&self) -> bool {
        self.known.settled(self.budget).is_some()
    }

    /// Returns the termination reason if the run ends now.
    fn stop(&mut self) -> Stop {
        self.known.settled(self.budget).or_else(|| self.budget.check()).unwrap_or(self.stop)
    }

    /// Returns true if no further placement should start.
    fn is_over(&mut self) -> bool {
        self.is_settled() || self.budget.check().is_some()
    }

    fn bounds(&mut self) {
        self.known.bound = quick_bound(self.instance, self.budget);
        self.known.observer.bound(&self.known.bound);
    }

    /// Returns the limits that apply to a placement: time and cancellation, but not nodes.
    fn limits(&self) -> Budget {
        self.budget.without_node_limit()
    }

    /// Places the buffers in each order until a layout meets the bound or the target, or the budget runs
    /// out.
    fn orders(&mut self) {
        let mut arrangement = Arrangement::new(self.instance);
        if self.instance.len() > SMALL_BUFFERS && !self.instance.has_groups() && !self.is_over() {
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
            let below = self.known.value();
            // An order that takes long to compute is not worth all the time.
            let time = self.budget.time_share(ORDER_TIME);
            let Ok(order) = order.of(self.instance, &mut self.limits().part(None, time)) else { continue };
            self.place(&mut arrangement, &order, fit, below, &mut self.limits());
        }
        // Even after the budget has run out, return a layout if one placement takes only a moment.
        if self.known.best.is_none() && !self.is_settled() {
            let moment = &mut Budget::unlimited().with_time_limit(FIRST_PLACEMENT);
            let (order, fit) = ORDERS[0];
            if let Ok(order) = order.of(self.instance, moment) {
                self.place(&mut arrangement, &order, fit, None, moment);
            }
        }
    }

    /// Places the buffers in one order. Returns true if the placement finished with a peak below `below`. If
    /// `below` is `None`, any peak counts.
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
            self.known.offer(layout);
        }
        placed
    }

    /// Places all buffers repeatedly. After each placement, the buffers that end above the bound are moved to
    /// the front of the order.
    fn blame(&mut self, arrangement: &mut Arrangement<'_>, order: Order, fit: Fit) {
        if self.is_over() {
            return;
        }
        let (instance, bound) = (self.instance, self.known.bound.value);
        let Ok(mut order) = order.of(instance, &mut self.limits()) else { return };
        for _ in 0..BLAMES {
            if self.is_over() || !self.place(arrangement, &order, fit, None, &mut self.limits()) {
                return;
            }
            // The sort is stable, so the other buffers keep their order.
            order.sort_by_key(|&id| {
                let end = arrangement.offset(id).and_then(|at| at.checked_add(instance.buffer(id).size()));
                end.is_some_and(|end| end <= bound)
            });
        }
    }

    fn valley(&mut self, limits: &mut Budget) {
        if let Ok(layout) = valley_fit(self.instance, ValleyWeights::default(), limits) {
            self.known.offer(layout);
        }
    }

    /// Runs one or two valley placements. This replaces the phase *orders* on the largest instances.
    fn valleys(&mut self) {
        let mut part = self.budget.part(None, None);
        self.valley(&mut part);
        if !self.is_settled() {
            self.plain = long_first(self.instance, self.setup.seed, &mut part);
            if let Some(long) = self.plain.clone() {
                self.known.offer(long);
            }
        }
        self.budget.spend(part.nodes());
    }

    /// Runs [`Search`] with a part of the budget. If `helped` is true, it alternates with other searches.
    fn search(&mut self, reduced: Option<&Reduced>, mut part: Budget, helped: bool) {
        let (instance, seed, mut silent) = (self.instance, self.setup.seed, Silent);
        let mut helpers: Vec<Box<dyn Improve + '_>> = Vec::new();
        if helped && !self.setup.has("-ejection") && !instance.has_groups() {
            helpers.push(Box::new(Ejecting { instance, seed, ejection: None }));
        }
        if helped && !self.setup.has("-iterated") {
            let silent = Some(&mut silent);
            // A node of iterated search always takes about as long, but a node of branching over cliques
            // takes time in proportion to the number of simultaneously live buffers.
            let speed = if reduced.is_some() { 2_500 } else { 50 * most_live(instance) as u64 };
            helpers.push(Box::new(Iterating { instance, speed, seed, silent, iteration: None }));
        }
        let search = Search::new(self.setup);
        self.stop = search.improve(&mut self.known, reduced, helpers, &mut part);
        self.budget.spend(part.nodes());
    }

    /// Runs sweeps over arrangements, which can raise the bound. If the best layout is then still far above
    /// the bound, runs an ejection search over orders. The preceding sprint found no layout at the bound, so
    /// there may be no such layout.
    fn arrange(&mut self, reduced: &Reduced) {
        Search::new(self.setup).raise(&mut self.known, reduced, ARRANGE_NODES, self.budget);
    }

    /// Runs the ejection search until the budget runs out. It starts from the layout with the longest-lived
    /// buffers at the bottom if there is one, otherwise from the best layout.
    fn eject(&mut self) {
        // With long-lived buffers at the bottom, those at the top are easy to move. This helps even if the
        // peak is higher.
        let best = self.known.best.as_ref().map(|(layout, _)| layout.clone());
        let Some(start) = self.plain.take().or(best).filter(|_| !self.instance.has_groups()) else {
            return;
        };
        let bound = self.known.bound.value;
        let mut part = self.budget.part(None, None);
        let mut ejection = Ejection::new(self.instance, &start, self.setup.seed);
        ejection.run(bound, &mut part, |layout, _| {
            self.known.offer(layout.clone());
        });
        self.budget.spend(part.nodes());
    }
}

/// Ejection search as a helper of branching.
struct Ejecting<'a> {
    instance: &'a Instance,
    seed: u64,
    ejection: Option<Ejection<'a>>,
}

impl Improve for Ejecting<'_> {
    fn speed(&self) -> u64 {
        250
    }

    fn share_if_far(&self) -> u64 {
        24 * SHARE
    }

    fn improve(&mut self, best: &Layout, bound: Bytes, budget: &mut Budget) -> Option<Layout> {
        let (instance, seed) = (self.instance, self.seed);
        // The search gains more from a plain layout.
        let ejection = self.ejection.get_or_insert_with(|| {
            let limits = &mut budget.without_node_limit();
            let plain = valley_fit(instance, ValleyWeights::default(), limits);
            Ejection::new(instance, plain.as_ref().unwrap_or(best), seed)
        });
        // It improves its own layout, which may be worse than the best one.
        let (before, mut found) = (best.peak(instance), None);
        ejection.run(bound, budget, |layout, peak| {
            if peak < before {
                found = Some(layout.clone());
            }
        });
        found
    }
}

/// Iterated search as a helper of branching.
struct Iterating<'a> {
    instance: &'a Instance,
    speed: u64,
    seed: u64,
    /// The observer of the iterated search, until it starts.
    silent: Option<&'a mut Silent>,
    iteration: Option<Iteration<'a>>,
}

impl Improve for Iterating<'_> {
    fn speed(&self) -> u64 {
        self.speed
    }

    fn share_if_far(&self) -> u64 {
        SHARE / 4
    }

    fn improve(&mut self, best: &Layout, bound: Bytes, budget: &mut Budget) -> Option<Layout> {
        let iteration = match self.iteration.take() {
            Some(iteration) => iteration,
            None => Iteration::new(self.instance, self.seed, self.silent.take()?),
        };
        let iteration = self.iteration.insert(iteration);
        // By default, the iterated search stops at the load. A higher bound stops it earlier.
        let target = budget.target().map_or(bound, |target: Bytes| target.max(bound));
        let mut part = budget.part(None, None).with_target(target);
        iteration.run(None, &mut part);
        budget.spend(part.nodes());
        let (layout, peak) = iteration.best()?;
        (peak < best.peak(self.instance)).then(|| layout.clone())
    }
}

impl Solver<Offsets> for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn supports_groups(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<Parameter> {
        PARAMETERS.to_vec()
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        let known = Tracker::new(instance, LowerBound::trivial(), observer);
        let (setup, stop) = (self.setup, Stop::Completed);
        let mut phases = Phases { setup, instance, budget, known, plain: None, stop };
        phases.phase("bounds", Phases::bounds);
        let n = instance.len();
        // Valley placements do not support rigid groups.
        let plain = n >= HUGE_BUFFERS && !instance.has_groups();
        phases.phase("orders", if plain { Phases::valleys } else { Phases::orders });
        let lazy = LazyCell::new(|| Reduced::of(instance));
        let reduced = || lazy.as_ref();
        let sprint = n <= SPRINT_BUFFERS;
        // On tight instances, the phase *arrange* and the search contain a better ejection search.
        let reorders = |reduced: &Reduced| Search::new(setup).reorders(reduced);
        let tight = sprint && !phases.is_settled() && reduced().is_some_and(reorders);
        if sprint && !phases.is_settled() && reduced().is_some() {
            phases.phase("sprint", |p| {
                let part = p.budget.part(Some(SPRINT_NODES), None);
                p.search(reduced(), part, false);
            });
            phases.phase("arrange", |p| reduced().map(|reduced| p.arrange(reduced)));
        }
        if n < HUGE_BUFFERS {
            phases.phase("search", |p| {
                let part = p.budget.part(None, None);
                p.search(reduced(), part, !tight);
            });
        } else {
            phases.phase("eject", Phases::eject);
        }
        let mut stop = phases.stop();
        if stop != Stop::Completed
            && phases.known.best.is_none()
            && let Some(layout) = laid_end_to_end(instance)
        {
            phases.known.offer(layout);
            stop = phases.stop();
        }
        Ok(phases.known.conclude(stop, phases.budget.nodes()))
    }
}
