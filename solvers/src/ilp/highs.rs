//! Runs `HiGHS` on a model built with `good_lp`, silently and on its own thread.
//!
//! `good_lp`'s own `solve` merges limits and gaps into one status and drops the dual bound. The model is
//! therefore passed to the `highs` crate, which exposes status and bound. `HiGHS` keeps one task scheduler
//! per calling thread and refuses to run if its size differs from the `threads` option. A fresh thread per
//! call allows any number of threads in one process. `HiGHS` overruns its limits while it reads and
//! presolves; a late thread is [abandoned](crate::foreign).

use crate::foreign::{Ended, call};
use good_lp::solvers::highs::HighsProblem;
use highs::{HighsModelStatus, Model};
use plimsoll_model::{Budget, Setup, SolveError, Stop};
use std::time::{Duration, Instant};

/// Above this many units the tolerances of `HiGHS` (1e-9 at best, times the number of variables) come too
/// close to one unit. Its solutions are still checked exactly, but its bounds are ignored.
pub(crate) const SAFE_UNITS: i64 = 10_000_000;

/// Safety margin subtracted from bounds of `HiGHS`, in units. Its relaxations are dual feasible to 1e-7 per
/// variable at worst, and objectives are scaled so that the total error is far below a unit. A bound that is
/// too low is still valid.
const TOLERANCE: f64 = 0.1;

/// Gap, in units, that `HiGHS` need not close: values are integers, and with the tolerance the sum stays
/// below 1.
const GAP: f64 = 0.8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// The largest value in the problem, units.
    pub most: i64,
    /// Objective value per unit.
    pub unit: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Time from now; `None` for no limit.
    pub time: Option<Duration>,
    /// Branch-and-bound nodes; `None` for no limit.
    pub nodes: Option<u64>,
    /// The solver stops at a solution with this objective or less.
    pub target: Option<i64>,
}

impl Limits {
    /// The limits that remain in a budget.
    pub fn of(budget: &Budget) -> Self {
        Self { time: budget.time_to_end(), nodes: budget.nodes_left(), target: None }
    }

    /// Half of these limits, at least one node.
    pub fn half(self) -> Self {
        Self {
            time: self.time.map(|time| time / 2),
            nodes: self.nodes.map(|nodes| (nodes / 2).max(1)),
            ..self
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    Optimal,
    Infeasible,
    /// A limit ended the call, or `HiGHS` could not continue (`None`).
    Stopped(Option<Stop>),
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub end: End,
    /// Values of the variables, in order of creation.
    pub values: Option<Vec<f64>>,
    /// Lower bound on the objective in the floating-point arithmetic of `HiGHS`, in units; minus infinity if
    /// there is none.
    pub bound: f64,
    /// Nodes of branch and bound.
    pub nodes: u64,
}

/// The least integer that a bound in units proves: the bound minus the tolerance, rounded up because
/// objectives are integers. `None` for models with values above [`SAFE_UNITS`].
pub(crate) fn believed(bound: f64, most: i64) -> Option<i64> {
    let value = (bound - TOLERANCE).ceil();
    (most <= SAFE_UNITS && value.is_finite() && value.abs() < 2f64.powi(53)).then_some(value as i64)
}

impl Answer {
    /// The answer of a call that was never made or was abandoned.
    fn missing(stop: Stop) -> Self {
        Self { end: End::Stopped(Some(stop)), values: None, bound: f64::NEG_INFINITY, nodes: 0 }
    }
}

/// Builds a model and solves it on a fresh thread, warm-started from `start`. Both steps end at the time
/// limit of `limits` and when `budget` is cancelled.
///
/// `build` polls the budget it receives. If that ends, it may return an incomplete model, which is not
/// solved.
///
/// # Errors
/// If `HiGHS` rejects the model, or the thread panics.
pub(crate) fn solve(
    name: &'static str,
    setup: Setup,
    (limits, budget): (Limits, &Budget),
    scale: Scale,
    start: Option<Vec<f64>>,
    build: impl FnOnce(&mut Budget) -> HighsProblem,
) -> Result<Answer, SolveError> {
    let mut watch = budget.without_node_limit().part(None, limits.time);
    if let Some(stop) = watch.check() {
        return Ok(Answer::missing(stop));
    }
    let problem = build(&mut watch);
    if let Some(stop) = watch.check() {
        return Ok(Answer::missing(stop));
    }
    let limits = Limits { time: watch.time_to_end(), ..limits };
    let internal = |reason: String| SolveError::Internal { solver: name, reason };
    match call(&mut watch, move || run(setup, limits, scale, start.as_deref(), problem)) {
        Ended::Answer(answer) => answer.map_err(internal),
        Ended::Panicked(text) => Err(internal(text)),
        Ended::Abandoned(stop) => Ok(Answer::missing(stop)),
    }
}

fn run(
    setup: Setup,
    limits: Limits,
    scale: Scale,
    start: Option<&[f64]>,
    problem: HighsProblem,
) -> Result<Answer, String> {
    let started = Instant::now();
    let mut model = problem.try_into_inner().map_err(|error| error.to_string())?;
    model.make_quiet();
    let time = limits.time.map(|time| time.saturating_sub(started.elapsed()));
    configure(&mut model, setup, Limits { time, ..limits }, scale)
        .map_err(|option| format!("HiGHS has no option '{option}'"))?;
    if let Some(values) = start {
        model
            .try_set_solution(Some(values), None, None, None)
            .map_err(|e| format!("HiGHS rejected the start solution: {e:?}"))?;
    }
    let solved = model.try_solve().map_err(|error| format!("HiGHS ended with {error:?}"))?;
    let bound = solved.double_info_value(c"mip_dual_bound").unwrap_or(f64::NEG_INFINITY) / scale.unit;
    let nodes = solved.int_info_value(c"mip_node_count").unwrap_or(0).max(0) as u64;
    let end = match solved.status() {
        HighsModelStatus::Optimal => End::Optimal,
        HighsModelStatus::Infeasible | HighsModelStatus::UnboundedOrInfeasible => End::Infeasible,
        HighsModelStatus::ObjectiveTarget => End::Stopped(Some(Stop::Target)),
        HighsModelStatus::ReachedTimeLimit => End::Stopped(Some(Stop::TimeLimit)),
        HighsModelStatus::ReachedSolutionLimit => End::Stopped(Some(Stop::NodeLimit)),
        HighsModelStatus::ReachedInterrupt => End::Stopped(Some(Stop::Interrupted)),
        _ => End::Stopped(None),
    };
    let feasible = solved.primal_solution_status() == highs::HighsSolutionStatus::Feasible;
    let values = feasible.then(|| solved.get_solution().columns().to_vec());
    Ok(Answer { end, values, bound, nodes })
}

fn configure(model: &mut Model, setup: Setup, limits: Limits, scale: Scale) -> Result<(), &'static str> {
    let mut float =
        |option: &'static str, value: f64| model.try_set_option(option, value).map_err(|_| option);
    float("mip_abs_gap", GAP * scale.unit)?;
    float("mip_rel_gap", 0.0)?;
    // A binary with this error moves an offset by less than a tenth of a unit.
    float("mip_feasibility_tolerance", (0.1 / scale.most.max(1) as f64).clamp(1e-9, 1e-6))?;
    if let Some(time) = limits.time {
        float("time_limit", time.as_secs_f64())?;
    }
    if let Some(target) = limits.target {
        // Objectives are integers, so half a unit of slack is safe.
        float("objective_target", (target as f64 + 0.5) * scale.unit)?;
    }
    let mut whole =
        |option: &'static str, value: i32| model.try_set_option(option, value).map_err(|_| option);
    whole("random_seed", (setup.seed % (1 << 31)) as i32)?;
    whole("threads", i32::try_from(setup.threads.max(1)).unwrap_or(i32::MAX))?;
    if let Some(nodes) = limits.nodes {
        whole("mip_max_nodes", i32::try_from(nodes).unwrap_or(i32::MAX))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use good_lp::solvers::highs::highs;
    use good_lp::{ProblemVariables, SolverModel, constraint, variable};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    const SCALE: Scale = Scale { most: 9, unit: 1.0 };

    /// Minimises x subject to x >= 2.
    fn program() -> HighsProblem {
        let mut vars = ProblemVariables::new();
        let x = vars.add(variable().integer().min(0.0).max(9.0));
        let mut problem = vars.minimise(x).using(highs);
        problem.add_constraint(constraint!(x >= 2.0));
        problem
    }

    #[test]
    fn a_program_is_solved() {
        let budget = Budget::unlimited();
        let limits = (Limits::of(&budget), &budget);
        let answer = solve("ilp", Setup::default(), limits, SCALE, None, |_| program()).unwrap();
        assert_eq!((answer.end, believed(answer.bound, 9)), (End::Optimal, Some(2)));
    }

    #[test]
    fn nothing_is_built_after_the_end_and_nothing_unfinished_is_solved() {
        let budget = Budget::unlimited().with_time_limit(Duration::ZERO);
        let limits = (Limits::of(&budget), &budget);
        let answer = solve("ilp", Setup::default(), limits, SCALE, None, |_| panic!("built")).unwrap();
        assert_eq!(answer.end, End::Stopped(Some(Stop::TimeLimit)));
        assert!(answer.values.is_none() && believed(answer.bound, 9).is_none());

        let flag = Arc::new(AtomicBool::new(false));
        let budget = Budget::unlimited().with_cancel(Arc::clone(&flag));
        let limits = (Limits::of(&budget), &budget);
        let build = |watch: &mut Budget| {
            flag.store(true, Ordering::Relaxed);
            assert!(watch.check().is_some());
            program()
        };
        let answer = solve("ilp", Setup::default(), limits, SCALE, None, build).unwrap();
        assert!(matches!(answer.end, End::Stopped(Some(_))) && answer.values.is_none());
    }
}
