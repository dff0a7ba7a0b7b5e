//! Finds optimal spill plans and proves them optimal.
//!
//! A *cover* (`cover.rs`) chooses the buffers to spill without regard to addresses. Its minimum traffic is a
//! lower bound. The offset solver `exact` then places the remaining buffers. If they fit, the choice is
//! optimal. If they are proved not to fit, an irreducible set ([`irreducible()`]) becomes a further row of
//! the cover: at least one of its buffers must be spilled. Then the next round starts.
//!
//! The number of rounds is limited by the number of irreducible sets and is usually small. This is
//! logic-based Benders decomposition (Hooker and Ottosson 2003). Covers are solved by decision diagrams, or
//! by an integer program (feature `ilp`) if too many buffers are simultaneously live for the diagrams.

mod cover;
#[cfg(feature = "ilp")]
mod ilp;
mod irreducible;

pub use irreducible::{Fits, Irreducible, fits, irreducible};

use cover::{Cover, Covered};
use plimsoll_heuristics::{SpillChoice, all_spilled, excess, greedy_spill, spilled_above};
use plimsoll_model::{
    Budget, BufferId, Bytes, Entry, Kind, LowerBound, Observer, Outcome, Setup, SolveError, Solver, Spill,
    SpillProblem, Spilling, Stop, Tracker, Witness, check_spill, guarded,
};

/// Every exact solver for spilling, the default first.
pub const SPILLING: &[Entry<Spilling>] = &[
    Entry {
        name: "exact",
        kind: Kind::Exact,
        about: "decision diagrams choose buffers to spill, the offset solver exact places the rest, and irreducible sets refine the choice",
        source: "this project; logic-based Benders decomposition (Hooker, Ottosson 2003)",
        time: "O(n 2^w) per decision diagram for n buffers, w of them simultaneously live; exponential at worst",
        build: &|setup| guarded(SpillSolver { name: "exact", setup, cover: Master::Diagrams }),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "like exact, but an integer program chooses the buffers to spill",
        source: "storage allocation with rejection; good_lp, HiGHS",
        time: "exponential in the number of buffers at worst",
        build: &|setup| guarded(SpillSolver { name: "ilp", setup, cover: Master::Program }),
    },
];

/// Node limit per decision while an infeasible set is shrunk. A set that is not proved irreducible also gives
/// a valid row.
const PATIENCE: u64 = 50_000;

/// Number of diagram states after which the integer program is tried.
#[cfg(feature = "ilp")]
const STATES: u64 = 200_000;

/// Fractions of the remaining time for finding a greedy solution, for solving a cover, and for placing the
/// remaining buffers.
const GREEDY: f64 = 0.1;
/// The fraction for finding a greedy solution of an instance with more than [`MANY`] buffers, for which
/// covers have little chance of success.
const GREEDY_MANY: f64 = 0.5;
const MANY: usize = 20_000;
const COVERING: f64 = 0.75;
const PLACING: f64 = 0.8;

#[derive(Clone, Copy, Debug)]
enum Master {
    Diagrams,
    #[cfg(feature = "ilp")]
    Program,
}

/// The solver described in the [module](self). Nodes are those of the cover and of the offset solver.
#[derive(Clone, Copy, Debug)]
struct SpillSolver {
    name: &'static str,
    setup: Setup,
    cover: Master,
}

impl SpillSolver {
    fn least(&self, cover: &Cover, limit: u64, budget: &mut Budget) -> Result<Covered, SolveError> {
        match self.cover {
            Master::Diagrams => self.by_diagrams(cover, limit, budget),
            #[cfg(feature = "ilp")]
            Master::Program => ilp::least(cover, limit, self.setup, budget),
        }
    }

    /// Solves a cover by diagrams. If they reach their limit, the integer program is tried.
    #[cfg(feature = "ilp")]
    fn by_diagrams(&self, cover: &Cover, limit: u64, budget: &mut Budget) -> Result<Covered, SolveError> {
        let mut part = budget.part(Some(STATES), None);
        let mut covered = cover.least(limit, &mut part);
        let goes_on = budget.spend(part.nodes()).is_none();
        if covered.stop != Some(Stop::NodeLimit) || !goes_on {
            return Ok(covered);
        }
        let best =
            |covered: &Covered| covered.stays.as_ref().map_or(limit, |stays| cover.cost(stays).min(limit));
        if cover.entries() <= ilp::MOST_ENTRIES {
            let program = ilp::least(cover, best(&covered), self.setup, budget)?;
            covered = covered.then(program);
            if covered.stop.is_some() || covered.bound >= Some(best(&covered)) {
                return Ok(covered);
            }
        }
        // The integer program is too large, or its numbers exceed the range in which its bounds are used. The
        // diagrams continue with the rest of the budget.
        let rest = cover.least(best(&covered), budget);
        Ok(covered.then(rest))
    }

    #[cfg(not(feature = "ilp"))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "same signature as with the feature")]
    fn by_diagrams(&self, cover: &Cover, limit: u64, budget: &mut Budget) -> Result<Covered, SolveError> {
        Ok(cover.least(limit, budget))
    }
}

impl Solver<Spilling> for SpillSolver {
    fn name(&self) -> &'static str {
        self.name
    }

    fn solve(
        &self,
        problem: &SpillProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Spilling>,
    ) -> Result<Outcome<Spilling>, SolveError> {
        let before = budget.nodes();
        let (cliques, bound) = excess(problem, budget);
        let mut rounds = Rounds { problem, known: Tracker::start(problem, bound, observer) };
        if let Some(all) = all_spilled(problem) {
            rounds.offer(all);
        }
        let everyone: Vec<BufferId> = problem.instance().ids().collect();
        for choice in [SpillChoice::AreaPerTraffic, SpillChoice::Area] {
            rounds.greedy(choice, &everyone, budget);
        }
        let stop = match budget.check() {
            Some(stop) if !rounds.is_settled() => stop,
            _ => rounds.run(self, Cover::new(problem, &cliques), budget)?,
        };
        if stop != Stop::Completed
            && let Some(spill) = spilled_above(problem)
        {
            rounds.offer(spill);
        }
        Ok(rounds.known.conclude(stop, budget.nodes() - before))
    }
}

struct Rounds<'a> {
    problem: &'a SpillProblem,
    known: Tracker<'a, Spilling>,
}

impl Rounds<'_> {
    fn offer(&mut self, spill: Spill) {
        let better = self.known.value().is_none_or(|best| spill.traffic(self.problem) < best);
        // A faulty plan is ignored here. Otherwise the audit would reject the whole outcome.
        if better && check_spill(self.problem, &spill).is_empty() {
            self.known.offer(spill);
        }
    }

    /// Offers the solution of the greedy heuristic, which starts with the buffers in `stays` on chip. Uses at
    /// most the fraction [`GREEDY`] or [`GREEDY_MANY`] of the remaining time.
    fn greedy(&mut self, choice: SpillChoice, stays: &[BufferId], budget: &mut Budget) {
        let is_large = self.problem.instance().len() > MANY;
        let share = if is_large { GREEDY_MANY } else { GREEDY };
        let time = budget.time_left().map(|time| time.mul_f64(share));
        let nodes = budget.nodes_left().map(|nodes| (nodes as f64 * GREEDY) as u64);
        let mut part = budget.part(nodes, time);
        let found = greedy_spill(self.problem, choice, stays, &mut part);
        budget.spend(part.nodes());
        if let Ok(Some(spill)) = found {
            self.offer(spill);
        }
    }

    fn raise(&mut self, value: u64, solver: &SpillSolver) {
        let witness = Witness::Search { solver: solver.name.to_owned() };
        self.known.raise(LowerBound::new(Bytes::new(value), witness));
    }

    /// Returns the exclusive upper limit on the traffic of a better solution.
    fn limit(&self) -> u64 {
        self.known.value().map_or_else(|| self.problem.total().get() + 1, Bytes::get)
    }

    /// Returns true if the bound proves the best solution optimal, or the problem infeasible.
    fn is_settled(&self) -> bool {
        self.known.bound.value.get() >= self.limit()
    }

    fn run(
        &mut self,
        solver: &SpillSolver,
        mut cover: Cover,
        budget: &mut Budget,
    ) -> Result<Stop, SolveError> {
        loop {
            if self.is_settled() {
                return Ok(Stop::Completed);
            }
            if let Some(stop) = self.ended(budget) {
                return Ok(stop);
            }
            // The limit is the best value, because covers with equal cost are no improvement.
            let limit = self.limit();
            let mut part = budget.part(None, budget.time_left().map(|time| time.mul_f64(COVERING)));
            let covered = solver.least(&cover, limit, &mut part)?;
            budget.spend(part.nodes());
            self.known.stats.count("covers", 1);
            self.raise(covered.bound.unwrap_or(limit).min(limit), solver);
            let Some(stays) = covered.stays.filter(|_| !self.is_settled()) else {
                let ended = self.is_settled().then_some(Stop::Completed);
                return Ok(ended.or(covered.stop).unwrap_or(Stop::Completed));
            };
            let kept = cover.kept(&stays);
            if let Some(stop) = self.place(solver, &mut cover, &kept, budget)? {
                return Ok(stop);
            }
            // If the cover was interrupted, its choice may not be the cheapest, and a row derived from it is
            // not worth another round.
            if let Some(stop) = covered.stop.filter(|_| !self.is_settled()) {
                return Ok(stop);
            }
        }
    }

    fn ended(&self, budget: &mut Budget) -> Option<Stop> {
        if self.known.is_good(budget) { Some(Stop::Target) } else { budget.check() }
    }

    /// Looks for addresses for the remaining buffers. If it is proved that there are none, adds a row to the
    /// cover. Returns the reason to stop, if any.
    fn place(
        &mut self,
        solver: &SpillSolver,
        cover: &mut Cover,
        kept: &[BufferId],
        budget: &mut Budget,
    ) -> Result<Option<Stop>, SolveError> {
        let instance = self.problem.instance();
        let half = budget.time_left().map(|time| time.mul_f64(PLACING));
        let mut part = budget.part(budget.nodes_left().map(|nodes| nodes / 2), half);
        let decided = fits(&instance.induced(kept), solver.setup, &mut part)?;
        budget.spend(part.nodes());
        match decided {
            Fits::Layout(layout) => self.offer(Spill::of_layout(self.problem, kept, &layout)),
            Fits::Never(reason) => {
                let mut part =
                    budget.part(budget.nodes_left().map(|nodes| nodes / 2), half.map(|half| half / 2));
                let core = irreducible(instance, kept, &reason, Some(PATIENCE), solver.setup, &mut part)?;
                budget.spend(part.nodes());
                self.known.stats.count("sets that do not fit", 1);
                cover.cut(&core.buffers);
            }
            Fits::Unknown(stop) => {
                // The decision reached its limits. Try a greedy solution that keeps fewer buffers.
                self.greedy(SpillChoice::AreaPerTraffic, kept, budget);
                return Ok(Some(budget.check().unwrap_or(stop)));
            }
        }
        Ok(None)
    }
}
