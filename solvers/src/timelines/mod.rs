//! Minimum makespans for a fixed order of operators: branch and bound over the order of transfers, and an
//! integer program.
//!
//! Some optimal timeline starts every transfer as early as the transfers before it allow, and computes as
//! soon as weights have arrived. Only the order of transfers needs to be searched. The search is depth first,
//! lowest bound first. A transfer starts when a channel is free and capacity suffices: for every operator
//! that still computes before its own, activations, weights and all buffers live by then must fit. Memory is
//! *counted*, not placed, which can only be faster. An order whose buffers have no addresses contributes its
//! makespan as a bound. If only such a bound keeps the gap open, a second search tries every start time that
//! addresses may require (`PlacedSearch`).
//!
//! - A node is pruned if the untimed operators cannot end before the best timeline (`Node::bound`).
//! - A node is pruned if another node with the same started transfers was no later in anything (`memo.rs`).
//! - Of operators with equal weights, the first is fetched first, by an exchange argument: no operator waits
//!   longer, because the later one waits for the earlier one, and as many bytes are live at any time.
//! - If all remaining buffers fit at once, each channel fetches in the order of the operators without idling,
//!   and operators are assigned to channels one at a time. Exchanging two neighbours that violate this delays
//!   nothing, and a transfer at the end of one channel may move to a channel that is free earlier.
//!
//! Copies by the processor are not searched. On machines that have them, `synchronous` may be optimal, and a
//! completed search proves nothing beyond the general bound.
//!
//! With two channels, before the search, `pair.rs` bounds the makespan without regard to memory, and
//! `steer.rs` constructs a timeline close to it. For n transfers the search visits up to n! orders; the memo
//! and the bounds decide how far it gets.

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
use plimsoll_heuristics::TIMELINES as HEURISTICS;
use plimsoll_model::timelines::{Time, TimeWitness, Timeline, TimelineProblem, Timelines, fitting_bound};
use plimsoll_model::{
    Bound, Budget, Entry, Kind, LowerBound, Observer, Outcome, Setup, SolveError, Solver, Stats, Stop,
    guarded,
};

use search::{PlacedSearch, Search};
use steer::steered;

const NAME: &str = "exact";

/// Every exact solver for timelines, the default first.
pub const TIMELINES: &[Entry<Timelines>] = &[
    Entry {
        name: NAME,
        kind: Kind::Exact,
        about: "branch and bound over all orders of transfers, for the given order of operators",
        source: "this project",
        build: &|_| guarded(ExactTimeline),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program for times, channels and addresses; only for few transfers",
        source: "disjunctive formulation of scheduling with big-M; good_lp, HiGHS",
        build: &|_| guarded(TimelineIlp),
    },
];

/// The search described [above](self), started from the best heuristic timeline; `exact` in the registry.
///
/// Ignores the seed and uses one thread. A node costs one, plus one for every 10 000 pairs of operators.
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

    /// Raises the bound, unless the machine has copies by the processor, which the search does not cover.
    fn raise(&mut self, value: u64) {
        if value > self.bound.value.get() && self.case.problem.copy_rate().is_none() {
            let witness = TimeWitness::Search { solver: NAME.to_owned() };
            self.bound = LowerBound::new(Time::new(value), witness);
        }
    }

    /// Computes bounds and timelines that need no search.
    fn prepare(&mut self, budget: &mut Budget) -> Option<Stop> {
        let case = self.case;
        self.raise(Node::root(case).bound(case));
        if self.is_settled() || case.channels == 1 {
            return budget.check();
        }
        let tails = tails(case);
        if case.channels == 2 && self.best.is_some() {
            let pair = Pair::whole(case, &tails);
            let half = (budget.nodes_left().map(|nodes| nodes / 2), budget.time_left().map(|time| time / 2));
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
        stats.count("orders that find no addresses", search.unplaced);
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
