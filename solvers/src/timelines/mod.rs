//! Finds timelines of minimum makespan for a fixed order of operators, by branch and bound over the order of
//! transfers or by an integer program.
//!
//! Some optimal timeline starts every transfer as early as the transfers before it allow, and starts every
//! operator as soon as its weights have arrived and the previous operator has ended. Therefore, only the
//! order of transfers needs to be searched. The search is depth-first and tries the lowest bound first. A
//! transfer starts when a channel is free and the capacity suffices. The capacity suffices if the
//! activations, the new buffer and all live buffers fit during each operator that has not ended and precedes
//! the operator of the transfer.
//!
//! The search only *counts* bytes and ignores addresses, which never makes a timeline longer. If no
//! addresses are found for the buffers under some order of transfers, the makespan of that order is still a
//! lower bound for all its timelines. If such a bound is below the makespan of the best timeline, a second
//! search tries every start time that addresses may require (`PlacedSearch`).
//!
//! - A node is pruned if no completion ends before the best timeline (`Node::bound`).
//! - A node is pruned if another node with the same started transfers dominates it (`memo.rs`).
//! - Weights of equal size and transfer time are fetched in the order of their operators. This is sound by an
//!   exchange argument. The later operator runs after the earlier one anyway, so no operator waits longer,
//!   and the exchange does not change the number of live bytes at any time.
//! - If all remaining buffers fit at once, each channel fetches without idling, in the order of the
//!   operators. The search then assigns the operators to channels one at a time. The fixed order is sound
//!   because exchanging two neighbours that violate the order delays no operator. Moving the last transfer of
//!   a channel to a channel that is free earlier also delays no operator.
//!
//! The search does not consider copies by the processor. On machines with such copies, the heuristic
//! `synchronous` may find a shorter timeline than the search can, so a completed search does not raise the
//! bound.
//!
//! With several channels, up to two steps precede the search. With two channels, `pair.rs` bounds the
//! makespan without regard to memory. With two or more channels, `steer.rs` constructs a timeline close to
//! the bound. For n transfers, the search visits up to n! orders, but the memo and the bounds prune most of
//! them.

#[cfg(feature = "ilp")]
mod ilp;
mod memo;
mod node;
mod orders;
mod pair;
mod place;
mod search;
mod steer;

#[cfg(feature = "ilp")]
pub use ilp::TimelineIlp;
use node::{Case, Node};
pub use orders::{FreeOrder, FreeOrderOutcome, exact_orders};
use pair::{Pair, tails};
use place::{Placed, placed};
use plimsoll_heuristics::timelines::ENTRIES as HEURISTICS;
use plimsoll_model::timelines::{Time, TimeWitness, Timeline, TimelineProblem, Timelines, fitting_bound};
use plimsoll_model::{
    Bound, Budget, Entry, Kind, LowerBound, Observer, Outcome, Setup, SolveError, Solver, Stats, Stop,
    guarded,
};

use search::{PlacedSearch, Search};
use steer::steered;

const NAME: &str = "exact";

/// Every exact solver for timelines, the default first.
pub const ENTRIES: &[Entry<Timelines>] = &[
    Entry {
        name: NAME,
        kind: Kind::Exact,
        about: "branch and bound over all orders of transfers, for the given order of operators",
        source: "this project",
        time: "exponential in the number of transfers at worst; O(n^2) per node for n operators",
        build: &|_| guarded(ExactTimeline),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program for times, channels and addresses; only for few transfers",
        source: "disjunctive formulation of scheduling with big-M; good_lp, HiGHS",
        time: "exponential in the number of pairs of transfers at worst",
        build: &|_| guarded(TimelineIlp),
    },
];

/// The search described in the [module](self), which starts from the best heuristic timeline. Its name in the
/// registry is `exact`.
///
/// It ignores the seed and uses one thread. For n operators, each node of the first search is charged as
/// 1 + n^2 / 10,000 nodes of the budget, rounded down. Each node of the second search is charged as one.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactTimeline;

impl Solver<Timelines> for ExactTimeline {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &self,
        problem: &TimelineProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Timelines>,
    ) -> Result<Outcome<Timelines>, SolveError> {
        let bound = fitting_bound(problem);
        observer.bound(&bound);
        let mut stats = Stats::default();
        if problem.too_large().is_some() {
            return Ok(Outcome::of(problem, None, bound, Stop::Completed, stats));
        }
        let best = known_timeline(problem);
        let before = budget.nodes();
        let case = Case::new(problem);
        let mut known = Known { case: &case, best, bound };
        known.report(observer);
        let mut stop = known.prepare(budget);
        if stop.is_none() {
            known.report(observer);
            observer.phase("search");
            stop = known.search(budget, &mut stats);
        }
        let Known { best, bound, .. } = known;
        stats.nodes = budget.nodes() - before;
        Ok(Outcome::of(problem, best, bound, stop.unwrap_or(Stop::Completed), stats))
    }
}

fn known_timeline(problem: &TimelineProblem) -> Option<Timeline> {
    let found = HEURISTICS.iter().filter_map(|entry| {
        (entry.build)(Setup::default()).solution(problem, &mut Budget::unlimited()).ok()?
    });
    found.min_by_key(Timeline::makespan)
}

/// The best timeline and the best bound.
struct Known<'a> {
    case: &'a Case<'a>,
    best: Option<Timeline>,
    bound: Bound<Timelines>,
}

impl Known<'_> {
    fn value(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |best| best.makespan().get())
    }

    fn is_settled(&self) -> bool {
        self.value() <= self.bound.value.get()
    }

    fn report(&self, observer: &mut dyn Observer<Timelines>) {
        if let Some(best) = &self.best {
            observer.incumbent(best, best.makespan());
        }
        observer.bound(&self.bound);
    }

    /// Raises the bound to `value` if that is higher. Does nothing if the processor of the machine can copy
    /// weights, because the search does not consider copies.
    fn raise(&mut self, value: u64) {
        if value > self.bound.value.get() && self.case.problem.copy_rate().is_none() {
            let witness = TimeWitness::Search { solver: NAME.to_owned() };
            self.bound = LowerBound::new(Time::new(value), witness);
        }
    }

    /// Computes bounds and timelines that need no search. Returns the reason to stop if the budget runs out.
    fn prepare(&mut self, budget: &mut Budget) -> Option<Stop> {
        let case = self.case;
        self.raise(Node::root(case).bound(case));
        if self.is_settled() || case.channels == 1 {
            return budget.check();
        }
        let tails = tails(case);
        if case.channels == 2 && self.best.is_some() {
            let pair = Pair::whole(case, &tails);
            let half = (budget.nodes_left().map(|nodes| nodes / 2), budget.time_share(0.5));
            let mut part = budget.part(half.0, half.1);
            let least = pair.least(self.bound.value.get(), self.value(), &mut part);
            budget.spend(part.nodes());
            self.raise(least);
        }
        if !self.is_settled()
            && let Some(node) = steered(case, &tails, self.bound.value.get(), budget)
            && node.last() < self.value()
            && let Placed::At(timeline) = placed(case, &node, budget)
        {
            self.best = Some(timeline);
        }
        budget.check()
    }

    fn search(&mut self, budget: &mut Budget, stats: &mut Stats) -> Option<Stop> {
        let case = self.case;
        let mut search = Search::new(case, self.best.take(), self.bound.value.get());
        let mut stop = search.descend(&Node::root(case), budget);
        stats.count("orders without addresses", search.unplaced);
        let counted = search.counted.min(search.limit());
        self.best = search.best;
        if stop.is_some() {
            return stop;
        }
        self.raise(counted);
        if !self.is_settled() {
            let floor = self.bound.value.get();
            let mut search = PlacedSearch { case, best: self.best.take(), floor, open: u64::MAX };
            stop = search.descend(&Node::careful(case), budget);
            let open = search.open;
            self.best = search.best;
            if stop.is_none() {
                self.raise(open.min(self.value()));
            }
        }
        stop
    }
}
