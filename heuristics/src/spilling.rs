//! Heuristics for spilling. They spill one buffer at a time at the most overloaded step, and finally restore
//! the spilled buffers that still fit.
//!
//! Without exclusions, buffers that are live at the most loaded step are spilled one by one until the live
//! bytes are within the capacity at every step. While no placement fits, buffers that end above the capacity
//! are spilled. Finally, spilled buffers are restored if they fit, those with the most traffic first. The two
//! heuristics differ in the buffer that they spill. One spills the buffer with the largest *area* (size times
//! steps), which frees the most memory. The other spills the buffer with the largest area per byte of
//! traffic. O(n (T + P)) for n buffers if the live bytes change at T steps and a placement takes time P.

use crate::offsets::{Arrangement, Fit, Order, ValleyWeights, laid_end_to_end, valley_fit};
use plimsoll_model::{
    Budget, BufferId, Bytes, Entry, Instance, Kind, Layout, LowerBound, Observer, Outcome, Reason,
    SolveError, Solver, Spill, SpillProblem, Spilling, Step, Stop, Tracker, Witness, guarded, visit_sections,
};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// All heuristics for spilling.
pub const ENTRIES: &[Entry<Spilling>] = &[
    Entry {
        name: "largest-area",
        kind: Kind::Heuristic,
        about: "until everything fits, spills the buffer with the largest area among those live at the most loaded step",
        source: "list scheduling of evictions; cross-unit fusion (DDR for tensors that do not fit)",
        time: "O(n (T + P)) for n buffers, T steps, and P per placement",
        build: &|_| guarded(GreedySpill { name: "largest-area", choice: SpillChoice::Area }),
    },
    Entry {
        name: "cheapest-area",
        kind: Kind::Heuristic,
        about: "like largest-area, but chooses the buffer with the largest area per byte of traffic",
        source: "this project",
        time: "O(n (T + P)) for n buffers, T steps, and P per placement",
        build: &|_| guarded(GreedySpill { name: "cheapest-area", choice: SpillChoice::AreaPerTraffic }),
    },
];

/// The placements that are tried after valley fit, the most promising first.
const ORDERS: [(Order, Fit); 5] = [
    (Order::Area, Fit::First),
    (Order::SizeDuration, Fit::Best),
    (Order::Size, Fit::First),
    (Order::Breadth, Fit::Best),
    (Order::Start, Fit::First),
];

/// Number of rounds after which the number of buffers spilled per round doubles.
const PATIENT: u32 = 8;
/// Maximum number of doublings.
const MOST_AT_ONCE: u32 = 10;

/// Maximum number of buffers for which the most loaded step is visited first.
const MOST_BUFFERS: usize = 20_000;

/// Fraction of the remaining time for the lower bound.
const EXCESS: f64 = 0.2;

/// Maximum number of members of all cliques.
const MOST_ENTRIES: usize = 1 << 22;

/// Approximate limit on the number of buffers placed in attempts to restore spilled buffers.
const PUTS: u64 = 2_000_000;

/// The choice of the buffer to spill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpillChoice {
    /// The largest area, which is size times steps.
    Area,
    /// The largest area per byte of traffic.
    AreaPerTraffic,
}

impl SpillChoice {
    /// Returns `Greater` if `a` is spilled before `b`. Both buffers must be spillable.
    fn compare(self, problem: &SpillProblem, a: BufferId, b: BufferId) -> Ordering {
        let area = |id: BufferId| problem.instance().buffer(id).area();
        let by_area = area(a).cmp(&area(b));
        if self == Self::Area {
            return by_area;
        }
        // Areas may exceed 64 bits. Floating point is accurate enough here and gives identical results on
        // every machine.
        let worth = |id: BufferId| {
            let traffic = problem.traffic(id).map_or(0, Bytes::get);
            area(id) as f64 / traffic.max(1) as f64
        };
        worth(a).total_cmp(&worth(b)).then(by_area)
    }
}

/// A greedy heuristic for spilling. A node is one placed or spilled buffer.
#[derive(Clone, Copy, Debug)]
pub struct GreedySpill {
    /// The name in the registry.
    pub name: &'static str,
    /// The choice of the buffer to spill.
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
        let (_, bound) = excess(problem, budget);
        let (mut run, before) = (Tracker::start(problem, bound, observer), budget.nodes());
        if let Some(all) = all_spilled(problem) {
            run.offer(all);
        }
        let all: Vec<BufferId> = problem.instance().ids().collect();
        if let Ok(Some(spill)) = greedy_spill(problem, self.choice, &all, budget) {
            run.offer(spill);
        }
        let stop = run.enough(budget).or_else(|| budget.check()).unwrap_or(Stop::Completed);
        if stop != Stop::Completed
            && let Some(spill) = spilled_above(problem)
        {
            run.offer(spill);
        }
        Ok(run.conclude(stop, budget.nodes() - before))
    }
}

/// Returns the solution that spills every buffer, or `None` if some buffer must not be spilled.
pub fn all_spilled(problem: &SpillProblem) -> Option<Spill> {
    let instance = problem.instance();
    let may_go = |id: BufferId| problem.traffic(id).is_some();
    instance.ids().all(may_go).then(|| Spill::new(vec![None; instance.len()]))
}

/// Lays all buffers end to end and spills those that end above the capacity. If this would spill a buffer
/// that must not be spilled, keeps only such buffers. Returns `None` if they exceed the capacity. O(n log n)
/// for n buffers.
pub fn spilled_above(problem: &SpillProblem) -> Option<Spill> {
    let instance = problem.instance();
    let all: Vec<BufferId> = instance.ids().collect();
    laid_end_to_end(instance).and_then(|layout| cut(problem, &all, &layout)).or_else(|| {
        let must = |&id: &BufferId| problem.traffic(id).is_none();
        let kept: Vec<BufferId> = all.into_iter().filter(must).collect();
        cut(problem, &kept, &laid_end_to_end(&instance.induced(&kept))?)
    })
}

/// Keeps the buffers that end within the capacity. `layout` is a layout of the buffers in `kept`. Returns
/// `None` if this would spill a buffer that must not be spilled.
fn cut(problem: &SpillProblem, kept: &[BufferId], layout: &Layout) -> Option<Spill> {
    let instance = problem.instance();
    let mut offsets = vec![None; instance.len()];
    for (&id, &offset) in kept.iter().zip(layout.offsets()) {
        let end = offset.checked_add(instance.buffer(id).size());
        offsets[id.index()] = end.filter(|&end| end <= problem.capacity()).map(|_| offset);
    }
    let stays = |id: BufferId| problem.traffic(id).is_some() || offsets[id.index()].is_some();
    instance.ids().all(stays).then(|| Spill::new(offsets))
}

/// Runs the greedy heuristic. At the start, it keeps the buffers in `stays` and those that must not be
/// spilled.
///
/// Returns `None` if the buffers that must not be spilled exceed the capacity at some step, or in every
/// placement that was tried. The result is also `None` if their fixed offsets contradict each other.
///
/// # Errors
/// The termination reason if the budget is exhausted before a solution is found.
pub fn greedy_spill(
    problem: &SpillProblem,
    choice: SpillChoice,
    stays: &[BufferId],
    budget: &mut Budget,
) -> Result<Option<Spill>, Stop> {
    let mut greedy = Greedy::new(problem, choice, stays, budget)?;
    if problem.instance().exclusions().is_empty() && !greedy.below_capacity(budget)? {
        return Ok(None);
    }
    if !greedy.without_contradiction(budget)? {
        return Ok(None);
    }
    let Some(mut best) = greedy.placed(budget)? else { return Ok(None) };
    greedy.restore(&mut best, budget);
    Ok(Some(best))
}

/// Returns the cliques whose total size exceeds the capacity, and the lower bound that they imply. Uses at
/// most the fraction `EXCESS` of the remaining time.
pub fn excess(problem: &SpillProblem, budget: &Budget) -> (Vec<Vec<BufferId>>, LowerBound) {
    let mut part = budget.part(None, budget.time_share(EXCESS));
    if part.without_node_limit().check().is_some() {
        return (Vec::new(), LowerBound::trivial());
    }
    let cliques = cliques_above(problem, &part);
    let bound = spill_bound(problem, &cliques, &mut part);
    (cliques, bound)
}

/// Returns the best lower bound on the traffic that one of the given cliques implies (see
/// [`cliques_above`]).
///
/// The computation stops early if the budget runs out. O(c k log k) for c cliques of at most k buffers.
fn spill_bound(problem: &SpillProblem, cliques: &[Vec<BufferId>], budget: &mut Budget) -> LowerBound {
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

/// Returns the lowest cost of a fractional cover of the weight `wanted` by offers (weight, cost). The cost is
/// rounded up for each offer.
///
/// Offers are used in ascending order of cost per weight. A weight above `wanted` counts as `wanted`. Returns
/// `None` if the total weight of all offers is too low. O(k log k) for k offers.
pub fn fractional_cover(wanted: u128, offers: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
    let mut offers: Vec<(u128, u128)> = offers
        .map(|(weight, cost)| (u128::from(weight).min(wanted), u128::from(cost)))
        .filter(|offer| offer.0 > 0)
        .collect();
    offers.sort_by(|(a, a_cost), (b, b_cost)| (a_cost * b).cmp(&(b_cost * a)).then(a.cmp(b)));
    let (mut shortfall, mut total) = (wanted, 0u128);
    for (weight, cost) in offers {
        let taken = weight.min(shortfall);
        total += (cost * taken).div_ceil(weight);
        shortfall -= taken;
        if shortfall == 0 {
            break;
        }
    }
    (shortfall == 0).then(|| u64::try_from(total).unwrap_or(u64::MAX))
}

/// Returns cliques of conflicting buffers, in time order. The total size of each clique exceeds the capacity.
///
/// Without exclusions, each clique is a maximal set of simultaneously live buffers. With exclusions, it is
/// chosen greedily from such a set, the largest buffers first. The list is incomplete if the time of the
/// budget runs out, or if the cliques have more than [`MOST_ENTRIES`] members in total.
fn cliques_above(problem: &SpillProblem, budget: &Budget) -> Vec<Vec<BufferId>> {
    let mut watch = budget.without_node_limit();
    let instance = problem.instance();
    let exclusions = !instance.exclusions().is_empty();
    let mut found: Vec<Vec<BufferId>> = Vec::new();
    let capacity = u128::from(problem.capacity().get());
    let mut entries = 0;
    visit_sections(instance, &mut watch, |_, live, bytes| {
        if u128::from(bytes.get()) <= capacity {
            return true;
        }
        let mut buffers: Vec<BufferId> = live.iter().copied().collect();
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
        if sum > capacity && found.last() != Some(&buffers) {
            entries += buffers.len();
            found.push(buffers);
        }
        entries < MOST_ENTRIES
    });
    found
}

/// Tries a few quick placements and returns a layout within the capacity or, if all layouts exceed the
/// capacity, the one with the lowest peak.
///
/// Fixed offsets must not contradict each other.
///
/// # Errors
/// The termination reason if the budget is exhausted before the first placement.
pub fn quick_layout(instance: &Instance, budget: &mut Budget) -> Result<Layout, Stop> {
    let fits = |layout: &Layout| instance.capacity().is_none_or(|capacity| layout.peak(instance) <= capacity);
    let mut best = valley_fit(instance, ValleyWeights::default(), budget)?;
    let mut arrangement = Arrangement::new(instance);
    for (order, fit) in ORDERS {
        if fits(&best) || budget.spend(instance.len() as u64).is_some() {
            break;
        }
        let (below, mut limits) = (Some(best.peak(instance)), budget.part(None, None));
        if let Ok(order) = order.of(instance, &mut limits)
            && arrangement.run(&order, fit, below, &mut limits).is_ok()
            && let Some(layout) = arrangement.layout()
        {
            best = layout;
        }
    }
    Ok(best)
}

/// The kept buffers, and their live bytes at every step.
struct Greedy<'a> {
    problem: &'a SpillProblem,
    choice: SpillChoice,
    stays: Vec<bool>,
    /// The steps at which the live bytes may change, ascending.
    steps: Vec<Step>,
    /// The live bytes from each of these steps to the next.
    load: Vec<u64>,
}

impl<'a> Greedy<'a> {
    fn new(
        problem: &'a SpillProblem,
        choice: SpillChoice,
        stays: &[BufferId],
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let mut watch = budget.without_node_limit();
        if let Some(stop) = watch.check() {
            return Err(stop);
        }
        let instance = problem.instance();
        let ends = |id: BufferId| instance.buffer(id).lifespan().intervals().iter();
        let mut steps: Vec<Step> =
            instance.ids().flat_map(ends).flat_map(|part| [part.lower, part.upper]).collect();
        steps.sort_unstable();
        steps.dedup();
        let mut load = vec![0; steps.len()];
        let mut kept = vec![false; instance.len()];
        let at = |step: Step| steps.partition_point(|&other| other < step);
        let fixed = instance.ids().filter(|&id| problem.traffic(id).is_none());
        for id in stays.iter().copied().chain(fixed) {
            if std::mem::replace(&mut kept[id.index()], true) {
                continue;
            }
            if let Some(stop) = watch.tick() {
                return Err(stop);
            }
            let size = instance.buffer(id).size().get();
            for part in instance.buffer(id).lifespan().intervals() {
                // The differences are taken modulo 2^64, and so are their sums, which are the live bytes.
                load[at(part.lower)] = size.wrapping_add(load[at(part.lower)]);
                load[at(part.upper)] = load[at(part.upper)].wrapping_sub(size);
            }
        }
        for at in 1..load.len() {
            load[at] = load[at - 1].wrapping_add(load[at]);
        }
        Ok(Self { problem, choice, stays: kept, steps, load })
    }

    /// Returns the indices in `steps` at which a buffer is live.
    fn places(&self, id: BufferId) -> Vec<usize> {
        let at = |step: Step| self.steps.partition_point(|&other| other < step);
        let parts = self.problem.instance().buffer(id).lifespan().intervals();
        parts.iter().flat_map(|part| at(part.lower)..at(part.upper)).collect()
    }

    fn set(&mut self, id: BufferId, stays: bool) {
        let size = self.problem.instance().buffer(id).size().get();
        for at in self.places(id) {
            // The sum of all sizes does not overflow; see `Instance::ceiling`.
            self.load[at] = if stays { self.load[at] + size } else { self.load[at] - size };
        }
        self.stays[id.index()] = stays;
    }

    /// Returns the buffer to spill among the given ones, or `None` if none of them may be spilled.
    fn first(&self, of: impl Iterator<Item = BufferId>) -> Option<BufferId> {
        let may = of.filter(|&id| self.stays[id.index()] && self.problem.traffic(id).is_some());
        may.max_by(|&a, &b| self.choice.compare(self.problem, a, b).then(b.cmp(&a)))
    }

    /// Spills buffers until the live bytes are within the capacity at every step. Returns false if an
    /// overloaded step has only buffers that must not be spilled.
    fn below_capacity(&mut self, budget: &mut Budget) -> Result<bool, Stop> {
        let capacity = self.problem.capacity().get();
        if self.problem.instance().len() > MOST_BUFFERS {
            return self.below_capacity_in_order(budget);
        }
        loop {
            if let Some(stop) = budget.spend(1) {
                return Err(stop);
            }
            let worst = self.load.iter().enumerate().max_by_key(|&(at, &load)| (load, std::cmp::Reverse(at)));
            let Some((at, _)) = worst.filter(|&(_, &load)| load > capacity) else { return Ok(true) };
            let (instance, step) = (self.problem.instance(), self.steps[at]);
            let live = instance.ids().filter(|&id| instance.buffer(id).lifespan().contains(step));
            let Some(id) = self.first(live) else { return Ok(false) };
            self.set(id, false);
        }
    }

    /// Does the same as [`Greedy::below_capacity`], but visits the steps in ascending order instead of the
    /// most loaded first. O(n log n) for n lifespan intervals.
    fn below_capacity_in_order(&mut self, budget: &mut Budget) -> Result<bool, Stop> {
        let (instance, capacity) = (self.problem.instance(), self.problem.capacity().get());
        let mut watch = budget.without_node_limit();
        let mut order: Vec<BufferId> = instance.ids().filter(|&id| self.stays[id.index()]).collect();
        order.sort_unstable_by(|&a, &b| self.choice.compare(self.problem, b, a).then(a.cmp(&b)));
        let mut rank = vec![0usize; instance.len()];
        order.iter().enumerate().for_each(|(at, &id)| rank[id.index()] = at);
        let mut events: Vec<(Step, bool, BufferId)> = Vec::with_capacity(2 * order.len());
        for &id in &order {
            for part in instance.buffer(id).lifespan().intervals() {
                events.push((part.lower, true, id));
                events.push((part.upper, false, id));
            }
        }
        events.sort_unstable();
        // The ranks of the live buffers that may be spilled.
        let (mut live, mut load) = (BTreeSet::new(), 0);
        for (_, begins, id) in events {
            if let Some(stop) = watch.tick() {
                return Err(stop);
            }
            let size = instance.buffer(id).size().get();
            if !self.stays[id.index()] {
                continue;
            }
            if !begins {
                load -= size;
                live.remove(&rank[id.index()]);
                continue;
            }
            load += size;
            if self.problem.traffic(id).is_some() {
                live.insert(rank[id.index()]);
            }
            while load > capacity {
                let Some(worst) = live.pop_first() else { return Ok(false) };
                load -= instance.buffer(order[worst]).size().get();
                self.stays[order[worst].index()] = false;
            }
        }
        let stays: Vec<BufferId> = self.kept();
        *self = Self::new(self.problem, self.choice, &stays, budget)?;
        Ok(true)
    }

    /// Spills buffers until the fixed offsets of the kept buffers no longer contradict each other. Returns
    /// false if the fixed offsets of buffers that must not be spilled contradict each other.
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

    /// Spills buffers until some placement is within the capacity. Returns `None` if no placement is within
    /// the capacity and no remaining buffer may be spilled. If the budget is exhausted first, spills all
    /// buffers that end above the capacity in the last placement.
    fn placed(&mut self, budget: &mut Budget) -> Result<Option<Spill>, Stop> {
        let mut last = None;
        for round in 0.. {
            let kept = self.kept();
            let part = self.problem.instance().induced(&kept);
            let layout = match quick_layout(&part, budget) {
                Ok(layout) => layout,
                Err(stop) => return last.map(Some).ok_or(stop),
            };
            last = cut(self.problem, &kept, &layout).or(last);
            let high = |&(_, at): &(BufferId, usize)| {
                let end = layout.offsets()[at].get().saturating_add(part.buffers()[at].size().get());
                end > self.problem.capacity().get()
            };
            let places = || kept.iter().copied().zip(0..);
            if !places().any(|place| high(&place)) {
                return Ok(Some(Spill::of_layout(self.problem, &kept, &layout)));
            }
            // Later rounds spill more buffers at a time. Buffers that were spilled unnecessarily are restored
            // afterwards.
            for _ in 0..1u64 << (round / PATIENT).min(MOST_AT_ONCE) {
                let mut chosen = self.first(places().filter(high).map(|(id, _)| id));
                if chosen.is_none() {
                    chosen = self.first(kept.iter().copied());
                }
                let Some(id) = chosen else { return Ok(None) };
                self.set(id, false);
            }
        }
        Ok(None)
    }

    /// Restores the spilled buffers that fit, those with the most traffic first, until the budget is
    /// exhausted or [`PUTS`] is reached.
    fn restore(&mut self, best: &mut Spill, budget: &mut Budget) {
        let mut gone: Vec<BufferId> = best.spilled().collect();
        gone.sort_by_key(|&id| (std::cmp::Reverse(self.problem.traffic(id)), id));
        let exclusions = !self.problem.instance().exclusions().is_empty();
        let mut left = PUTS;
        for id in gone {
            if budget.check().is_some() || left == 0 {
                return;
            }
            let size = self.problem.instance().buffer(id).size().get();
            let space = self.problem.capacity().get().checked_sub(size);
            let fits = |at: &usize| exclusions || space.is_some_and(|space| self.load[*at] <= space);
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
