//! What to spill, without proof: the worst step first, one buffer at a time, then back whatever still fits.
//!
//! While some step is above the capacity, one buffer alive at the worst step goes to the slower tier; where loads are fine and no
//! placement is, one of those that end too high. At the end those spilled are tried again, the most traffic first.
//! The two differ in who goes: the largest *area* (size times steps, which frees most and is what users reach for), or
//! the largest area per byte of traffic. O(n (T + placements)) for T steps at which the load changes.

use crate::buffer_orders::Order;
use crate::placement::{Arrangement, Fit};
use crate::valley::{ValleyWeights, valley_fit};
use plimsoll_model::{
    Budget, BufferId, Bytes, Entry, Instance, Kind, Layout, LowerBound, Observer, Outcome, Reason,
    SolveError, Solver, Spill, SpillProblem, Spilling, Step, Stop, Tracker, Witness, guarded,
    sections_within,
};
use std::cmp::Ordering;

/// Every heuristic for spilling.
pub const SPILLING: &[Entry<Spilling>] = &[
    Entry {
        name: "largest-area",
        kind: Kind::Heuristic,
        about: "the largest area alive at the worst step goes, until everything fits",
        source: "list scheduling of evictions; the paper on cross-unit fusion: what does not fit goes to DDR",
        build: &|_| guarded(GreedySpill { name: "largest-area", choice: SpillChoice::Area }),
    },
    Entry {
        name: "cheapest-area",
        kind: Kind::Heuristic,
        about: "the largest area per byte of traffic goes, until everything fits",
        source: "own",
        build: &|_| guarded(GreedySpill { name: "cheapest-area", choice: SpillChoice::AreaPerTraffic }),
    },
];

/// Placements tried for what stays, the most promising first.
const ORDERS: [(Order, Fit); 5] = [
    (Order::Area, Fit::First),
    (Order::SizeDuration, Fit::Best),
    (Order::Size, Fit::First),
    (Order::Breadth, Fit::Best),
    (Order::Start, Fit::First),
];

/// Rounds after which twice as many go at a time, and how often that doubles.
const PATIENT: u32 = 8;
const MOST_AT_ONCE: u32 = 10;

/// Buffers placed, roughly, to fetch back what went for nothing.
const PUTS: u64 = 2_000_000;

/// Who is spilled first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpillChoice {
    /// Size times steps.
    Area,
    /// The same per byte of traffic.
    AreaPerTraffic,
}

impl SpillChoice {
    /// `Greater` where `a` is spilled before `b`. Both may be spilled.
    fn compare(self, problem: &SpillProblem, a: BufferId, b: BufferId) -> Ordering {
        let area = |id: BufferId| problem.instance().buffer(id).area();
        let by_area = area(a).cmp(&area(b));
        if self == Self::Area {
            return by_area;
        }
        // Areas leave 64 bits: near enough as a number with a fraction, and the same on any machine.
        let worth = |id: BufferId| {
            let traffic = problem.traffic(id).map_or(0, Bytes::get);
            area(id) as f64 / traffic.max(1) as f64
        };
        worth(a).total_cmp(&worth(b)).then(by_area)
    }
}

/// Spills by one rule. A node is a buffer placed or spilled.
#[derive(Clone, Copy, Debug)]
pub struct GreedySpill {
    /// Its name in the registry.
    pub name: &'static str,
    /// Who goes first.
    pub choice: SpillChoice,
}

impl Solver<Spilling> for GreedySpill {
    fn name(&self) -> &'static str {
        self.name
    }

    fn solve(
        &self,
        problem: &SpillProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Spilling>,
    ) -> Result<Outcome<Spilling>, SolveError> {
        let bound = spill_bound(problem, &cliques_above(problem, budget), budget);
        let (mut run, before) = (Tracker::start(problem, bound, observer), budget.nodes());
        if let Some(all) = all_spilled(problem) {
            run.offer(all);
        }
        let everyone: Vec<BufferId> = problem.instance().ids().collect();
        if let Ok(Some(spill)) = greedy_spill(problem, self.choice, &everyone, budget) {
            run.offer(spill);
        }
        let stop = run.enough(budget).or_else(|| budget.check()).unwrap_or(Stop::Completed);
        Ok(run.conclude(stop, budget.nodes() - before))
    }
}

/// Nothing stays, where everything may go.
pub fn all_spilled(problem: &SpillProblem) -> Option<Spill> {
    let instance = problem.instance();
    let may_go = |id: BufferId| problem.traffic(id).is_some();
    instance.ids().all(may_go).then(|| Spill::new(vec![None; instance.len()]))
}

/// What the rule finds from the start on that these stay; none where what may not be spilled does not fit by any placement
/// tried.
///
/// # Errors
/// Why the budget ended before anything was found.
pub fn greedy_spill(
    problem: &SpillProblem,
    choice: SpillChoice,
    stays: &[BufferId],
    budget: &mut Budget,
) -> Result<Option<Spill>, Stop> {
    let mut greedy = Greedy::new(problem, choice, stays);
    if problem.instance().exclusions().is_empty() && !greedy.below_capacity(budget)? {
        return Ok(None);
    }
    if !greedy.without_contradiction(budget)? {
        return Ok(None);
    }
    let Some(mut best) = greedy.placed(budget)? else { return Ok(None) };
    greedy.fetch_back(&mut best, budget);
    Ok(Some(best))
}

/// The best bound that one of these [`cliques_above`] the capacity gives. O(cliques x k log k) for k buffers alive, as far as time
/// allows.
pub fn spill_bound(problem: &SpillProblem, cliques: &[Vec<BufferId>], budget: &mut Budget) -> LowerBound {
    let (instance, capacity) = (problem.instance(), u128::from(problem.capacity().get()));
    let size = |id: &BufferId| instance.buffer(*id).size().get();
    let beyond = problem.total().get() + 1;
    let mut best = LowerBound::trivial();
    for buffers in cliques {
        if budget.check().is_some() {
            break;
        }
        let excess = buffers.iter().map(|id| u128::from(size(id))).sum::<u128>().saturating_sub(capacity);
        let offers = buffers.iter().filter_map(|id| Some((size(id), problem.traffic(*id)?.get())));
        let value = Bytes::new(fractional_cover(excess, offers).unwrap_or(beyond));
        if value > best.value {
            best = LowerBound::new(value, Witness::Excess { buffers: buffers.clone() });
        }
    }
    best
}

/// The least price, parts of offers (weight, price) allowed, of so much weight: the cheapest by weight first, rounded up. None where all
/// of them weigh less. O(k log k).
///
/// An offer that weighs more than what is wanted is worth no more than that, whole or in part.
pub fn fractional_cover(wanted: u128, offers: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
    let mut offers: Vec<(u128, u128)> = offers
        .map(|(weight, price)| (u128::from(weight).min(wanted), u128::from(price)))
        .filter(|offer| offer.0 > 0)
        .collect();
    offers.sort_by(|(a, a_price), (b, b_price)| (a_price * b).cmp(&(b_price * a)).then(a.cmp(b)));
    let (mut missing, mut cost) = (wanted, 0u128);
    for (weight, price) in offers {
        let taken = weight.min(missing);
        cost += (price * taken).div_ceil(weight);
        missing -= taken;
        if missing == 0 {
            break;
        }
    }
    (missing == 0).then(|| u64::try_from(cost).unwrap_or(u64::MAX))
}

/// Sets of buffers in mutual conflict that exceed the capacity, in order of time: of every section all, or where some of them are
/// exclusive, a clique taken greedily by size.
/// Fewer where the time of the budget ends.
pub fn cliques_above(problem: &SpillProblem, budget: &Budget) -> Vec<Vec<BufferId>> {
    let mut watch = budget.without_node_limit();
    let instance = problem.instance();
    let exclusions = !instance.exclusions().is_empty();
    let mut found: Vec<Vec<BufferId>> = Vec::new();
    for section in sections_within(instance, &mut watch) {
        if watch.tick().is_some() {
            break;
        }
        let mut buffers = section.buffers;
        if exclusions {
            buffers.sort_by_key(|&id| (std::cmp::Reverse(instance.buffer(id).size()), id));
            let mut clique: Vec<BufferId> = Vec::new();
            for id in buffers {
                if clique.iter().all(|&other| instance.conflict(other, id)) {
                    clique.push(id);
                }
            }
            clique.sort_unstable();
            buffers = clique;
        }
        let sum: u128 = buffers.iter().map(|&id| u128::from(instance.buffer(id).size().get())).sum();
        if sum > u128::from(problem.capacity().get()) && found.last() != Some(&buffers) {
            found.push(buffers);
        }
    }
    found
}

/// A layout within the capacity by a few quick placements, or else the best of them above it. Fixed offsets must not
/// contradict each other.
///
/// # Errors
/// Why the budget ended before a first placement.
pub fn quick_layout(instance: &Instance, budget: &mut Budget) -> Result<Layout, Stop> {
    let fits = |layout: &Layout| instance.capacity().is_none_or(|capacity| layout.peak(instance) <= capacity);
    let mut best = valley_fit(instance, ValleyWeights::default(), budget)?;
    let mut arrangement = Arrangement::new(instance);
    for (order, fit) in ORDERS {
        if fits(&best) || budget.spend(instance.len() as u64).is_some() {
            break;
        }
        let (below, mut limits) = (Some(best.peak(instance)), budget.part(None, None));
        if arrangement.run(&order.of(instance), fit, below, &mut limits).is_ok()
            && let Some(layout) = arrangement.layout()
        {
            best = layout;
        }
    }
    Ok(best)
}

/// Who stays, and the load of that.
struct Greedy<'a> {
    problem: &'a SpillProblem,
    choice: SpillChoice,
    stays: Vec<bool>,
    /// Steps at which the load may change, ascending.
    steps: Vec<Step>,
    /// From each of them to the next.
    load: Vec<u64>,
}

impl<'a> Greedy<'a> {
    fn new(problem: &'a SpillProblem, choice: SpillChoice, stays: &[BufferId]) -> Self {
        let instance = problem.instance();
        let ends = |id: BufferId| instance.buffer(id).lifespan().intervals().iter();
        let mut steps: Vec<Step> =
            instance.ids().flat_map(ends).flat_map(|part| [part.lower, part.upper]).collect();
        steps.sort_unstable();
        steps.dedup();
        let load = vec![0; steps.len()];
        let mut greedy = Self { problem, choice, stays: vec![false; instance.len()], steps, load };
        let fixed = instance.ids().filter(|&id| problem.traffic(id).is_none());
        for id in stays.iter().copied().chain(fixed) {
            if !greedy.stays[id.index()] {
                greedy.set(id, true);
            }
        }
        greedy
    }

    /// Positions among the steps at which a buffer is alive.
    fn places(&self, id: BufferId) -> Vec<usize> {
        let at = |step: Step| self.steps.partition_point(|&other| other < step);
        let parts = self.problem.instance().buffer(id).lifespan().intervals();
        parts.iter().flat_map(|part| at(part.lower)..at(part.upper)).collect()
    }

    fn set(&mut self, id: BufferId, stays: bool) {
        let size = self.problem.instance().buffer(id).size().get();
        for at in self.places(id) {
            // The ceiling of the instance holds the sum of all sizes.
            self.load[at] = if stays { self.load[at] + size } else { self.load[at] - size };
        }
        self.stays[id.index()] = stays;
    }

    /// Who of these goes first; none where none may.
    fn first(&self, of: impl Iterator<Item = BufferId>) -> Option<BufferId> {
        let may = of.filter(|&id| self.stays[id.index()] && self.problem.traffic(id).is_some());
        may.max_by(|&a, &b| self.choice.compare(self.problem, a, b).then(b.cmp(&a)))
    }

    /// Spills until no step is above the capacity; false where what is left there may not be spilled.
    fn below_capacity(&mut self, budget: &mut Budget) -> Result<bool, Stop> {
        let capacity = self.problem.capacity().get();
        loop {
            if let Some(stop) = budget.spend(1) {
                return Err(stop);
            }
            let worst = self.load.iter().enumerate().max_by_key(|&(at, &load)| (load, std::cmp::Reverse(at)));
            let Some((at, _)) = worst.filter(|&(_, &load)| load > capacity) else { return Ok(true) };
            let (instance, step) = (self.problem.instance(), self.steps[at]);
            let alive = instance.ids().filter(|&id| instance.buffer(id).lifespan().contains(step));
            let Some(id) = self.first(alive) else { return Ok(false) };
            self.set(id, false);
        }
    }

    /// Spills until all fixed offsets of what stays can be kept; false where those concerned may not be spilled.
    fn without_contradiction(&mut self, budget: &mut Budget) -> Result<bool, Stop> {
        if self.problem.instance().contradiction().is_none() {
            return Ok(true);
        }
        loop {
            if let Some(stop) = budget.spend(1) {
                return Err(stop);
            }
            let kept = self.kept();
            let found = self.problem.instance().induced(&kept).contradiction();
            let Some(Witness::Contradiction { buffers }) = found.map(|bound| bound.witness.of_whole(&kept))
            else {
                return Ok(true);
            };
            let Some(id) = self.first(buffers.into_iter()) else { return Ok(false) };
            self.set(id, false);
        }
    }

    fn kept(&self) -> Vec<BufferId> {
        self.problem.instance().ids().filter(|id| self.stays[id.index()]).collect()
    }

    /// Spills until some placement is within the capacity; none where nothing is left that may be spilled.
    fn placed(&mut self, budget: &mut Budget) -> Result<Option<Spill>, Stop> {
        for round in 0.. {
            let kept = self.kept();
            let part = self.problem.instance().induced(&kept);
            let layout = quick_layout(&part, budget)?;
            let high = |&(_, at): &(BufferId, usize)| {
                let end = layout.offsets()[at].get().saturating_add(part.buffers()[at].size().get());
                end > self.problem.capacity().get()
            };
            let places = || kept.iter().copied().zip(0..);
            if !places().any(|place| high(&place)) {
                return Ok(Some(Spill::of_layout(self.problem, &kept, &layout)));
            }
            // More at a time the longer it takes: whoever went too many is fetched back.
            for _ in 0..1u64 << (round / PATIENT).min(MOST_AT_ONCE) {
                let mut goes = self.first(places().filter(high).map(|(id, _)| id));
                if goes.is_none() {
                    goes = self.first(kept.iter().copied());
                }
                let Some(id) = goes else { return Ok(None) };
                self.set(id, false);
            }
        }
        Ok(None)
    }

    /// Keeps more, while the budget lasts: what moves most first.
    fn fetch_back(&mut self, best: &mut Spill, budget: &mut Budget) {
        let mut gone: Vec<BufferId> = best.spilled().collect();
        gone.sort_by_key(|&id| (std::cmp::Reverse(self.problem.traffic(id)), id));
        let exclusions = !self.problem.instance().exclusions().is_empty();
        let mut left = PUTS;
        for id in gone {
            if budget.check().is_some() || left == 0 {
                return;
            }
            let size = self.problem.instance().buffer(id).size().get();
            let room = self.problem.capacity().get().checked_sub(size);
            let fits = |at: &usize| exclusions || room.is_some_and(|room| self.load[*at] <= room);
            if !self.places(id).iter().all(fits) {
                continue;
            }
            self.set(id, true);
            left = left.saturating_sub(self.problem.instance().len() as u64);
            let kept = self.kept();
            let part = self.problem.instance().induced(&kept);
            match quick_layout(&part, budget) {
                Ok(layout)
                    if part.contradiction().is_none() && layout.peak(&part) <= self.problem.capacity() =>
                {
                    *best = Spill::of_layout(self.problem, &kept, &layout);
                }
                _ => self.set(id, false),
            }
        }
    }
}
