//! Runs `HiGHS` on a model built with `good_lp`, silently and on its own thread.
//!
//! The `solve` function of `good_lp` merges limits and gaps into one status and discards the dual bound. The
//! model is therefore passed to the `highs` crate, which exposes the status and the bound. `HiGHS` keeps one
//! task scheduler per calling thread and refuses to run if the size of this scheduler differs from the
//! `threads` option. Each call starts a fresh thread, so calls in one process may differ in their number of
//! threads. `HiGHS` may exceed its time limit while it reads and presolves a model. A thread that does not
//! return in time is [abandoned](crate::foreign).

use crate::foreign::{Ended, call};
use good_lp::solvers::highs::HighsProblem;
use highs::{HighsModelStatus, Model};
use plimsoll_model::{Budget, Setup, SolveError, Stop};
use std::time::{Duration, Instant};

/// Bounds of `HiGHS` are used only if no value of the problem exceeds this number of units. Above this
/// number, the tolerances of `HiGHS` (1e-9 at best, times the number of variables) come too close to one
/// unit. Solutions are always checked exactly.
pub(crate) const SAFE_UNITS: i64 = 10_000_000;

/// Safety margin subtracted from bounds of `HiGHS`, in units. The relaxations of `HiGHS` are dual feasible
/// to within 1e-7 per variable. Objectives are scaled so that the total error is far below one unit. A bound
/// that is too low is still valid.
const TOLERANCE: f64 = 0.1;

/// The absolute gap, in units, at which `HiGHS` may stop. It suffices for a proof because values are integers
/// and the gap plus [`TOLERANCE`] is below 1.
const GAP: f64 = 0.8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Upper bound on the absolute value of the objective, in units.
    pub most: i64,
    /// The objective value of one unit.
    pub unit: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Remaining time, or `None` if it is not limited.
    pub time: Option<Duration>,
    /// Maximum number of branch-and-bound nodes, or `None` if it is not limited.
    pub nodes: Option<u64>,
    /// The solver stops at a solution with at most this objective value, in units.
    pub target: Option<i64>,
}

impl Limits {
    /// Returns the limits that remain in a budget.
    pub fn of(budget: &Budget) -> Self {
        Self { time: budget.time_to_end(), nodes: budget.nodes_left(), target: None }
    }

    /// Returns these limits with half of the time and half of the nodes, but at least one node.
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
    /// The call stopped early. `None` stands for a status of `HiGHS` that corresponds to no [`Stop`].
    Stopped(Option<Stop>),
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub end: End,
    /// Values of the variables in the order of their creation, if a feasible solution was found.
    pub values: Option<Vec<f64>>,
    /// Lower bound on the objective, in units, as computed by `HiGHS` in floating point. It is minus infinity
    /// if there is none.
    pub bound: f64,
    /// Number of branch-and-bound nodes.
    pub nodes: u64,
}

/// Returns the lower bound, in units, that a floating-point bound implies. The floating-point bound is
/// lowered by [`TOLERANCE`] and then rounded up, because objectives are integers. Returns `None` if the bound
/// is not finite, if its absolute value reaches 2^53, or if `most` exceeds [`SAFE_UNITS`].
pub(crate) fn believed(bound: f64, most: i64) -> Option<i64> {
    let value = (bound - TOLERANCE).ceil();
    (most <= SAFE_UNITS && value.is_finite() && value.abs() < 2f64.powi(53)).then_some(value as i64)
}

/// Returns the same bound as [`believed`] for a program without big-M constraints, whose errors are relative
/// to the values. Above [`SAFE_UNITS`], [`TOLERANCE`] grows in proportion to `most`, so the bound may be a
/// few units too low, but it need not be discarded.
pub(crate) fn believed_relative(bound: f64, most: i64) -> Option<i64> {
    let extra = TOLERANCE * (most as f64 / SAFE_UNITS as f64 - 1.0).max(0.0);
    believed(bound - extra, most.min(SAFE_UNITS))
}

impl Answer {
    /// Returns the answer for a call that was skipped or abandoned.
    fn missing(stop: Stop) -> Self {
        Self { end: End::Stopped(Some(stop)), values: None, bound: f64::NEG_INFINITY, nodes: 0 }
    }
}

/// Builds a model and solves it on a fresh thread, warm-started from `start`. Both steps end at the time
/// limit of `limits` or when `budget` is cancelled.
///
/// `build` polls the budget it receives. If that budget runs out, `build` may return an incomplete model,
/// which is not solved.
///
/// # Errors
/// If `HiGHS` rejects the model, an option or the start solution, if it fails, or if its thread panics.
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
    // With this tolerance, an error of a binary changes an offset by at most a tenth of a unit.
    float("mip_feasibility_tolerance", (0.1 / scale.most.max(1) as f64).clamp(1e-9, 1e-6))?;
    if let Some(time) = limits.time {
        float("time_limit", time.as_secs_f64())?;
    }
    if let Some(target) = limits.target {
        // Objectives are integers, so a slack of half a unit is safe.
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

    /// Builds a program that minimises x subject to x >= 2.
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
    fn the_safety_margin_grows_with_the_values() {
        let bounds = [(1_000.0, 1_000), (12_419_525.0, 12_700_000), (200e6, 400_000_000)];
        let relative = bounds.map(|(bound, most)| believed_relative(bound - 0.8, most).unwrap());
        assert_eq!(relative, [1_000, 12_419_525, 199_999_996]);
        assert_eq!(believed(12_419_525.0, 12_700_000), None);
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
