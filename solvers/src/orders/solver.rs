//! The solvers for orders, which combine the methods of the parent module.

use super::paths::{End, Paths};
use super::reduce::Reductions;
use super::relax::Rest;
use super::run::Run;
use super::search::{Decision, OrderRules, Search};
use plimsoll_model::orders::{OrderProblem, REACH_OPERATORS};
use plimsoll_model::{Budget, Observer, Orders, Outcome, Setup, Silent, SolveError, Solver, Stop};

/// The method that solves a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Dynamic programming by increasing peak.
    Paths,
    /// Repeated depth-first search below the best peak.
    Search,
    /// Both methods, in both directions of time, with growing node limits.
    Staged,
}

/// Parameters of [`OrderSolver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderParams {
    /// The method that solves a part.
    pub method: Method,
    /// The reductions to apply.
    pub reductions: Reductions,
    /// Switches of both methods.
    pub rules: OrderRules,
}

/// An exact solver for orders. Its name in the registry is `exact`, `dp` or `search`, depending on the
/// method.
///
/// It ignores the seed and uses one thread, so the same problem and node limit give the same outcome.
#[derive(Clone, Copy, Debug)]
pub struct OrderSolver {
    params: OrderParams,
}

/// Node limit per part, method and direction in the first stage. From stage to stage, it grows by the factor
/// [`STAGE_FACTOR`].
const STAGE_NODES: u64 = 2_000;
const STAGE_FACTOR: u64 = 4;

/// Nodes for hills and valleys per node of a stage. They belong to small components, so they take less time
/// than others.
const HILL_SHARE: u64 = 16;

impl OrderSolver {
    /// Creates the solver with all reductions and rules. Ignores the setup.
    pub fn new(_: Setup, method: Method) -> Self {
        let (reductions, rules) = (Reductions::default(), OrderRules::default());
        Self { params: OrderParams { method, reductions, rules } }
    }

    /// Replaces the parameters.
    #[must_use]
    pub fn with_params(self, params: OrderParams) -> Self {
        Self { params }
    }

    /// Works on all open parts until none remains, the budget runs out, or no method can make further
    /// progress. From the first stage on, stages of the problem alternate with stages of its [`Rest`].
    fn work(&self, run: &mut Run<'_>, budget: &mut Budget) -> Result<Stop, SolveError> {
        let staged = self.params.method == Method::Staged;
        let mut nodes = if staged { STAGE_NODES } else { u64::MAX };
        if let Some(stop) = self.stage(run, nodes, budget)? {
            return Ok(stop);
        }
        let relaxes = staged && self.params.reductions.relax;
        let rest = relaxes.then(|| Rest::of(run.known.input, run.value())).flatten();
        let mut silent = Silent;
        let side = rest.as_ref().map(|rest| Run::new(run.name, &rest.problem, &mut silent));
        let mut side = side.transpose()?;
        if let Some(side) = &mut side {
            side.prepare(self.params.reductions, budget)?;
        }
        loop {
            if let (Some(rest), Some(side)) = (&rest, &mut side) {
                self.stage(side, nodes, budget)?;
                run.learn(rest, side)?;
            }
            nodes = nodes.saturating_mul(STAGE_FACTOR);
            if let Some(stop) = self.stage(run, nodes, budget)? {
                return Ok(stop);
            }
        }
    }

    /// Gives each method at most `nodes` nodes per open part. Returns the termination reason if no part is
    /// open, the budget runs out, or no method can make further progress.
    fn stage(&self, run: &mut Run<'_>, nodes: u64, budget: &mut Budget) -> Result<Option<Stop>, SolveError> {
        let staged = self.params.method == Method::Staged;
        if let Some(stop) = run.known.settled(budget) {
            return Ok(Some(stop));
        }
        let mut stuck = true;
        for at in run.open() {
            // The other methods solve most connected parts in the first stage.
            let merges = staged && self.params.reductions.hills;
            if merges && (nodes > STAGE_NODES || run.falls_apart(at)) {
                let mut part = budget.part(Some(nodes.saturating_mul(HILL_SHARE)), None);
                stuck &= !run.merge(at, &mut part)?;
                budget.spend(part.nodes());
            } else {
                stuck &= !merges;
            }
            for turn in self.turns() {
                if let Some(stop) = run.known.settled(budget).or_else(|| budget.check()) {
                    return Ok(Some(stop));
                }
                let (bound, value) = run.range(at);
                if bound < value {
                    stuck &= !self.turn(run, at, *turn, nodes, budget)?;
                }
            }
        }
        Ok((run.open().is_empty() || stuck).then_some(Stop::Completed))
    }

    /// Returns the sequence of methods and directions in one stage.
    fn turns(&self) -> &'static [(Method, usize)] {
        match self.params.method {
            Method::Paths => &[(Method::Paths, 0)],
            Method::Search => &[(Method::Search, 0)],
            Method::Staged => {
                &[(Method::Search, 0), (Method::Search, 1), (Method::Paths, 0), (Method::Paths, 1)]
            }
        }
    }

    /// Runs one method on one direction of a part. Returns false if the method can make no further progress
    /// with any budget.
    fn turn(
        &self,
        run: &mut Run<'_>,
        at: usize,
        (method, side): (Method, usize),
        nodes: u64,
        budget: &mut Budget,
    ) -> Result<bool, SolveError> {
        let mut part = budget.part((nodes < u64::MAX).then_some(nodes), None);
        let able = if method == Method::Paths {
            self.paths(run, at, side, &mut part)?
        } else {
            self.search(run, at, side, &mut part)?;
            true
        };
        budget.spend(part.nodes());
        Ok(able)
    }

    fn paths(
        &self,
        run: &mut Run<'_>,
        at: usize,
        side: usize,
        budget: &mut Budget,
    ) -> Result<bool, SolveError> {
        let (bound, value) = run.range(at);
        let (end, level) = {
            let from = &run.parts[at].sides[side];
            let mut paths = Paths::new(&from.net, &from.reach, self.params.rules, bound);
            let end = paths.run(value, budget);
            run.known.stats.count("places", paths.places());
            (end, paths.level())
        };
        run.refute(at, level);
        match end {
            End::Found(order) => run.improve(at, side, order)?,
            End::Met => {}
            End::Stopped(stop) => return Ok(stop.is_some()),
        }
        Ok(true)
    }

    fn search(
        &self,
        run: &mut Run<'_>,
        at: usize,
        side: usize,
        budget: &mut Budget,
    ) -> Result<(), SolveError> {
        loop {
            let (bound, value) = run.range(at);
            if value <= bound || run.known.settled(budget).is_some() {
                return Ok(());
            }
            let from = &run.parts[at].sides[side];
            let mut search = Search::new(&from.net, &from.reach, self.params.rules);
            let verdict = search.decide(value - 1, None, budget);
            match verdict {
                Decision::Found(order) => run.improve(at, side, order)?,
                Decision::Refuted(bound) => run.refute(at, bound),
                Decision::Stopped(_) => return Ok(()),
            }
        }
    }
}

impl Solver<Orders> for OrderSolver {
    fn name(&self) -> &'static str {
        match self.params.method {
            Method::Paths => "dp",
            Method::Search => "search",
            Method::Staged => "exact",
        }
    }

    fn solve(
        &self,
        problem: &OrderProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Orders>,
    ) -> Result<Outcome<Orders>, SolveError> {
        let mut run = Run::new(self.name(), problem, observer)?;
        let mut stop = run.known.settled(budget).or_else(|| budget.check());
        if stop.is_none() && problem.len() <= REACH_OPERATORS {
            run.prepare(self.params.reductions, budget)?;
            stop = Some(run.phase("search", budget, |run, budget| self.work(run, budget))?);
        }
        Ok(run.conclude(budget, stop.unwrap_or(Stop::Completed)))
    }
}
