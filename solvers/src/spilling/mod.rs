//! Finds optimal spill plans and proves them optimal.
//!
//! A *cover* (`cover.rs`) chooses the buffers to spill without regard to addresses. Its minimum traffic is a
//! lower bound. The offset solver `exact` then places the remaining buffers. If they fit, the choice is
//! optimal. If they are proved not to fit, an irreducible set ([`irreducible()`]) becomes a further row of
//! the cover: at least one of its buffers must be spilled. Then the next round starts. Covers are searched in
//! slices, and each better choice is placed at once.
//!
//! The number of rounds is limited by the number of irreducible sets and is usually small. This is
//! logic-based Benders decomposition (Hooker and Ottosson 2003). Covers whose rows share no buffer are solved
//! as knapsack problems. Others are solved by decision diagrams, and also by an integer program (feature
//! `ilp`) if too many buffers are simultaneously live for the diagrams.

mod cover;
mod duals;
#[cfg(feature = "ilp")]
mod ilp;
mod irreducible;
mod knapsack;

pub use irreducible::{Fits, Irreducible, fits, irreducible};

use cover::{Cover, Covered, Search};
use plimsoll_heuristics::spilling::{SpillChoice, all_spilled, excess, greedy_spill, spilled_above};
use plimsoll_model::{
    Budget, BufferId, Bytes, Entry, Kind, LowerBound, Observer, Outcome, Setup, SolveError, Solver, Spill,
    SpillProblem, Spilling, Stop, Tracker, Witness, check_spill, guarded,
};

/// Every exact solver for spilling, the default first.
pub const ENTRIES: &[Entry<Spilling>] = &[
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

/// Number of diagram states in the first slice of the search for a cover, and the factor by which the slices
/// grow. After each slice, a better choice is placed. The slices do not depend on the time limit.
const SLICE: u64 = 1 << 14;
/// See [`SLICE`].
const GROWTH: u64 = 4;

/// The size of the first slice after which the integer program is tried.
#[cfg(feature = "ilp")]
const STATES: u64 = 1 << 18;
/// Number of diagram states per branch-and-bound node of the integer program.
#[cfg(feature = "ilp")]
const STATES_PER_NODE: u64 = 256;
/// The fraction of the remaining time for one integer program, which cannot be resumed.
#[cfg(feature = "ilp")]
const PROGRAM: f64 = 0.75;

/// Node limit of the first attempt to place the buffers that stay. If it fails, a greedy solution is sought
/// before the search for a layout continues.
const PLACING: u64 = 1 << 16;

/// The fraction of the remaining time for finding a greedy solution.
const GREEDY: f64 = 0.1;
/// The fraction for an instance with more than [`MANY`] buffers, for which covers have little chance of
/// success.
const GREEDY_MANY: f64 = 0.5;
const MANY: usize = 20_000;

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

/// The search for a least cover with fixed rows, in slices.
struct Covering<'a> {
    solver: &'a SpillSolver,
    cover: &'a Cover,
    diagrams: Option<Search<'a>>,
}

impl<'a> Covering<'a> {
    fn new(solver: &'a SpillSolver, cover: &'a Cover) -> Self {
        Self { solver, cover, diagrams: None }
    }

    /// Continues the search for at most `slice` diagram states. Returns a solution if this slice finds one
    /// below `limit`.
    fn advance(&mut self, limit: u64, slice: u64, budget: &mut Budget) -> Result<Covered, SolveError> {
        match self.solver.cover {
            Master::Diagrams => self.by_diagrams(limit, slice, budget),
            #[cfg(feature = "ilp")]
            Master::Program => self.by_program(limit, None, budget),
        }
    }

    /// Returns false if a further slice would start from the beginning.
    fn can_resume(&self) -> bool {
        matches!(self.solver.cover, Master::Diagrams)
    }

    /// Continues the search by diagrams. After [`STATES`], the integer program is tried in addition.
    #[cfg_attr(
        not(feature = "ilp"),
        expect(clippy::unnecessary_wraps, reason = "same signature as with the feature")
    )]
    fn by_diagrams(&mut self, limit: u64, slice: u64, budget: &mut Budget) -> Result<Covered, SolveError> {
        if self.diagrams.is_none() {
            let mut part = budget.part(None, None);
            let covered = self.cover.by_rows(limit, &mut part);
            budget.spend(part.nodes());
            if let Some(covered) = covered {
                return Ok(covered);
            }
        }
        let search = self.diagrams.get_or_insert_with(|| Search::new(self.cover, budget));
        let mut part = budget.part(Some(slice), None);
        let covered = search.advance(limit, &mut part);
        budget.spend(part.nodes());
        #[cfg(feature = "ilp")]
        if covered.stop.is_some()
            && budget.check().is_none()
            && slice >= STATES
            && self.cover.entries() <= ilp::MOST_ENTRIES
        {
            let cost = |covered: &Covered| {
                covered.stays.as_ref().map_or(limit, |stays| self.cover.cost(stays).min(limit))
            };
            let stop = covered.stop;
            let program = self.by_program(cost(&covered), Some(slice / STATES_PER_NODE), budget)?;
            let both = covered.then(program);
            // If the program ends without a proof, the diagrams continue.
            let is_proved = both.bound.is_none_or(|bound| bound >= cost(&both));
            return Ok(Covered { stop: stop.filter(|_| !is_proved), ..both });
        }
        Ok(covered)
    }

    #[cfg(feature = "ilp")]
    fn by_program(&self, limit: u64, nodes: Option<u64>, budget: &mut Budget) -> Result<Covered, SolveError> {
        let mut part = budget.part(nodes, budget.time_share(PROGRAM));
        let covered = ilp::least(self.cover, limit, self.solver.setup, &mut part);
        budget.spend(part.nodes());
        covered
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
        let time = budget.time_share(share);
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
            match self.round(solver, &cover, budget)? {
                Round::Ended(stop) => return Ok(stop),
                Round::Row(buffers) => cover.cut(&buffers),
            }
        }
    }

    /// Searches for a least cover with the present rows, and places the buffers that stay.
    fn round(
        &mut self,
        solver: &SpillSolver,
        cover: &Cover,
        budget: &mut Budget,
    ) -> Result<Round, SolveError> {
        let mut search = Covering::new(solver, cover);
        // The buffers of the best choice that could not be placed, and the reason.
        let mut open: Option<(Vec<BufferId>, Fits)> = None;
        let mut slice = SLICE;
        loop {
            if self.is_settled() {
                return Ok(Round::Ended(Stop::Completed));
            }
            if let Some(stop) = self.ended(budget) {
                return Ok(Round::Ended(stop));
            }
            // The limit is the best value, because covers with equal cost are no improvement.
            let limit = self.limit();
            let covered = search.advance(limit, slice, budget)?;
            self.known.stats.count("covers", 1);
            self.raise(covered.bound.unwrap_or(limit).min(limit), solver);
            if let Some(stays) = covered.stays.filter(|_| !self.is_settled()) {
                let kept = cover.kept(&stays);
                open = self.place(solver, &kept, budget)?.map(|why| (kept, why));
            }
            if covered.stop.is_none() {
                return match open {
                    Some((kept, why)) if !self.is_settled() => self.decide(solver, &kept, why, budget),
                    // The placed choice is optimal, or no choice is below the limit.
                    _ => Ok(Round::Ended(Stop::Completed)),
                };
            }
            if !search.can_resume() {
                return Ok(Round::Ended(budget.check().or(covered.stop).unwrap_or(Stop::Completed)));
            }
            slice = slice.saturating_mul(GROWTH);
        }
    }

    fn ended(&self, budget: &mut Budget) -> Option<Stop> {
        if self.known.is_good(budget) { Some(Stop::Target) } else { budget.check() }
    }

    /// Looks for addresses for the remaining buffers with a small limit. If it finds none, tries a greedy
    /// solution that keeps fewer buffers, and returns the reason.
    fn place(
        &mut self,
        solver: &SpillSolver,
        kept: &[BufferId],
        budget: &mut Budget,
    ) -> Result<Option<Fits>, SolveError> {
        let found = self.fits(solver, kept, Some(PLACING), budget)?;
        if !matches!(found, Fits::Layout(_)) {
            self.greedy(SpillChoice::AreaPerTraffic, kept, budget);
        }
        Ok((!matches!(found, Fits::Layout(_))).then_some(found))
    }

    /// Decides whether the buffers of a least cover have addresses. If not, returns a row that excludes them.
    fn decide(
        &mut self,
        solver: &SpillSolver,
        kept: &[BufferId],
        mut why: Fits,
        budget: &mut Budget,
    ) -> Result<Round, SolveError> {
        if let Fits::Unknown(_) = why {
            why = self.fits(solver, kept, None, budget)?;
        }
        match why {
            Fits::Layout(_) => Ok(Round::Ended(Stop::Completed)),
            Fits::Never(reason) => {
                let mut part = budget.part(budget.nodes_left().map(|nodes| nodes / 2), None);
                let instance = self.problem.instance();
                let core = irreducible(instance, kept, &reason, Some(PATIENCE), solver.setup, &mut part)?;
                budget.spend(part.nodes());
                self.known.stats.count("sets that do not fit", 1);
                Ok(Round::Row(core.buffers))
            }
            Fits::Unknown(stop) => Ok(Round::Ended(budget.check().unwrap_or(stop))),
        }
    }

    /// Looks for a layout of the given buffers, and offers the solution if there is one.
    fn fits(
        &mut self,
        solver: &SpillSolver,
        kept: &[BufferId],
        nodes: Option<u64>,
        budget: &mut Budget,
    ) -> Result<Fits, SolveError> {
        let half = budget.nodes_left().map(|nodes| nodes / 2);
        let mut part = budget.part(nodes.into_iter().chain(half).min(), None);
        let found = fits(&self.problem.instance().induced(kept), solver.setup, &mut part)?;
        budget.spend(part.nodes());
        if let Fits::Layout(layout) = &found {
            self.offer(Spill::of_layout(self.problem, kept, layout));
        }
        Ok(found)
    }
}

/// The result of a search with fixed rows.
enum Round {
    Ended(Stop),
    /// These buffers do not fit together, so they form a further row.
    Row(Vec<BufferId>),
}

#[cfg(test)]
mod tests;
