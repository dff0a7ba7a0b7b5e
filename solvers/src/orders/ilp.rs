//! Finds orders of minimum peak with an integer program.
//!
//! One operator runs per step. `e(v, t)` is 1 if operator `v` has run by the end of step `t`. It is fixed to
//! 0 before the earliest step of `v` and to 1 from the latest step on. `a(s, t)` is 1 if storage `s` is live
//! at step `t`. `a` combines the create and preserve variables of OLLA (Steiner et al. 2022). The variables
//! `e` are cumulative because this gives a tighter relaxation than assignment variables. The program is:
//!
//! ```text
//! minimise P
//! e(v, t) <= e(v, t + 1)                           e(v, t) never decreases over time
//! e(v, t) <= e(u, t - 1)                           an operator runs after every immediate predecessor u
//! sum over v of e(v, t) = t + 1                    one operator per step
//! a(s, t) >= e(first(s), t) - e(u, t - 1)          s is live if it has begun by t and user u has not run before t
//! sum over s of size(s) a(s, t) + sum over v of scratch(v) (e(v, t) - e(v, t - 1)) <= P
//! ```
//!
//! This program uses none of the reductions of [`crate::orders`]. It is slow, but it is an independent
//! cross-check.

use crate::highs::{End, Limits, Scale, believed, solve};
use crate::orders::steps::Windows;
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, variable};
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{
    Budget, Bytes, LowerBound, Observer, OperatorId, Orders, Outcome, Problem, Setup, SolveError, Solver,
    Stop, Tracker, Witness,
};

const NAME: &str = "ilp";

/// Maximum number of variables; problems with more are rejected.
const MOST_VARIABLES: usize = 60_000;

/// Maximum dual infeasibility of a relaxation of `HiGHS` per variable. All variables lie between 0 and 1.
const DUAL_ERROR: f64 = 1e-7;

/// Bounds of `HiGHS` are accepted if the errors of all variables add up to at most this fraction of a unit.
const MOST_ERROR: f64 = 0.05;

/// The integer program for orders, solved by `HiGHS`. Its name in the registry is `ilp`.
///
/// A cancelled call of `HiGHS` is abandoned. One node of the budget is one branch-and-bound node.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrderIlp {
    setup: Setup,
}

impl OrderIlp {
    /// Creates the solver with the seed and thread count of `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

/// A variable between 0 and 1, or the constant to which it is fixed.
#[derive(Clone, Copy, Debug)]
enum Known {
    Zero,
    One,
    Free(Variable),
}

impl Known {
    fn expression(self) -> Expression {
        match self {
            Self::Zero => Expression::from(0.0),
            Self::One => Expression::from(1.0),
            Self::Free(variable) => variable.into(),
        }
    }
}

struct Model<'a> {
    problem: &'a OrderProblem,
    vars: ProblemVariables,
    count: usize,
    /// Per operator and step: the variable that is 1 if the operator has run by the end of that step.
    ran: Vec<Vec<Known>>,
    /// Bytes per unit. `full` is the number of units that a scaled value of 1 stands for.
    grain: u64,
    full: f64,
    /// The variable of the peak. `steps` contains, for each step, the storages that can be live, with their
    /// variables.
    peak: Variable,
    steps: Vec<Vec<(u32, Known)>>,
}

impl<'a> Model<'a> {
    /// Creates the variables. The peak lies between `lower` and `upper` bytes.
    fn new(problem: &'a OrderProblem, windows: &Windows, lower: Bytes, upper: Bytes) -> Self {
        let n = problem.len();
        let grain = problem.grain().get();
        let full = full(upper.get() / grain);
        let mut vars = ProblemVariables::new();
        let mut count = 1;
        let share = |bytes: Bytes| (bytes.get() / grain) as f64 / full;
        let peak = vars.add(variable().min(share(lower)).max(share(upper)));
        let mut ran = Vec::with_capacity(n);
        for (&earliest, &latest) in windows.earliest.iter().zip(&windows.latest) {
            let at = |t: usize| match t {
                t if t < earliest => Known::Zero,
                t if t >= latest => Known::One,
                _ => {
                    count += 1;
                    Known::Free(vars.add(variable().binary()))
                }
            };
            ran.push((0..n).map(at).collect::<Vec<_>>());
        }
        let mut steps = vec![Vec::new(); n];
        for (s, storage) in problem.storages().iter().enumerate() {
            for (t, step) in steps.iter_mut().enumerate() {
                let begun = problem.first(s).map_or(Known::One, |first| ran[first.index()][t]);
                let user = |user: &OperatorId| t.checked_sub(1).map_or(Known::Zero, |t| ran[user.index()][t]);
                let waits = storage.to_end || storage.users.iter().any(|id| matches!(user(id), Known::Zero));
                let over = !waits && storage.users.iter().all(|id| matches!(user(id), Known::One));
                let live = match begun {
                    Known::Zero => continue,
                    _ if over => continue,
                    begun if waits => begun,
                    _ => {
                        count += 1;
                        Known::Free(vars.add(variable().min(0.0).max(1.0)))
                    }
                };
                step.push((s as u32, live));
            }
        }
        Self { problem, vars, count, ran, grain, full, peak, steps }
    }

    fn share(&self, bytes: Bytes) -> f64 {
        (bytes.get() / self.grain) as f64 / self.full
    }

    /// Returns the variable or constant that is 1 if an operator has run before a step.
    fn before(&self, id: OperatorId, step: usize) -> Known {
        step.checked_sub(1).map_or(Known::Zero, |step| self.ran[id.index()][step])
    }

    /// Adds all constraints. The program is incomplete if the budget `watch` runs out.
    fn build(mut self, watch: &mut Budget) -> HighsProblem {
        let vars = std::mem::take(&mut self.vars);
        let mut program = vars.minimise(worth(self.full) * self.peak).using(highs);
        let problem = self.problem;
        for t in 0..problem.len() {
            if watch.tick().is_some() {
                break;
            }
            let mut sum = Expression::from(0.0);
            let mut bytes = Expression::from(0.0);
            for id in problem.ids() {
                let now = self.ran[id.index()][t];
                sum += now.expression();
                if let Known::Free(now) = now {
                    // These constraints keep an operator marked as run, and require that its predecessors
                    // have run by the preceding step.
                    if let Known::Free(past) = self.before(id, t) {
                        program.add_constraint((Expression::from(past) - now).leq(0.0));
                    }
                    for &other in problem.predecessors(id) {
                        if let past @ (Known::Zero | Known::Free(_)) = self.before(other, t) {
                            program.add_constraint((Expression::from(now) - past.expression()).leq(0.0));
                        }
                    }
                }
                let scratch = self.share(problem.scratch(id));
                if scratch > 0.0 {
                    bytes += scratch * (now.expression() - self.before(id, t).expression());
                }
            }
            program.add_constraint(sum.eq((t + 1) as f64));
            for &(s, live) in &self.steps[t] {
                let storage = &problem.storages()[s as usize];
                bytes += self.share(storage.size) * live.expression();
                let begun = problem.first(s as usize).map_or(Known::One, |id| self.ran[id.index()][t]);
                for &user in &storage.users {
                    let past = self.before(user, t);
                    if let (Known::Free(live), Known::Free(_)) = (live, past) {
                        let least = begun.expression() - past.expression() - live;
                        program.add_constraint(least.leq(0.0));
                    }
                }
            }
            program.add_constraint((bytes - self.peak).leq(0.0));
        }
        program
    }

    /// Returns the values of all variables for an order.
    fn start(&self, order: &Order) -> Vec<f64> {
        let n = self.problem.len();
        let mut step = vec![0; n];
        order.operators().iter().enumerate().for_each(|(at, id)| step[id.index()] = at);
        let mut values = vec![self.share(order.peak(self.problem))];
        for id in self.problem.ids() {
            let free = (0..n).filter(|&t| matches!(self.ran[id.index()][t], Known::Free(_)));
            values.extend(free.map(|t| f64::from(u8::from(step[id.index()] <= t))));
        }
        for (s, storage) in self.problem.storages().iter().enumerate() {
            let lower = self.problem.first(s).map_or(0, |id| step[id.index()]);
            let upper = storage.users.iter().map(|id| step[id.index()]).max().unwrap_or(0);
            for (t, live) in self.steps.iter().enumerate() {
                let own = live.binary_search_by_key(&(s as u32), |&(s, _)| s).map(|at| live[at].1);
                let waits = |id: &OperatorId| matches!(self.before(*id, t), Known::Zero);
                // Only storages that meet these conditions have their own variable at this step.
                if let Ok(Known::Free(_)) = own
                    && !storage.to_end
                    && !storage.users.iter().any(waits)
                {
                    values.push(f64::from(u8::from(lower <= t && t <= upper)));
                }
            }
        }
        values
    }

    /// Returns the order that the values encode. Operators are sorted by the step at which they run, and then
    /// by id.
    fn order(problem: &OrderProblem, windows: &Windows, values: &[f64]) -> Order {
        let mut at = 1;
        let mut when = Vec::with_capacity(problem.len());
        for id in problem.ids() {
            let free = windows.latest[id.index()] - windows.earliest[id.index()];
            let ran = values[at..at + free].iter().filter(|&&value| value > 0.5).count();
            when.push((windows.latest[id.index()] - ran, id));
            at += free;
        }
        when.sort_unstable();
        Order::new(when.into_iter().map(|(_, id)| id).collect())
    }
}

/// Returns the number of units that a scaled value of 1 stands for: the smallest power of two above `units`.
fn full(units: u64) -> f64 {
    2f64.powi(64 - units.max(1).leading_zeros() as i32)
}

/// Returns the objective value of a scaled peak of 1. It is large because error tolerances are absolute, but
/// small enough to be numerically safe.
fn worth(full: f64) -> f64 {
    full.min(1024.0)
}

impl OrderIlp {
    fn improve(
        &self,
        (order, value): (&Order, Bytes),
        run: &mut Tracker<'_, Orders>,
        budget: &mut Budget,
    ) -> Result<Option<Stop>, SolveError> {
        let problem = run.input;
        let windows = Windows::of(problem);
        let model = Model::new(problem, &windows, run.bound.value, value);
        run.stats.count("variables", model.count as u64);
        let start = model.start(order);
        let most = (value.get() / model.grain) as i64;
        let unit = worth(model.full) / model.full;
        let trusted = model.count as f64 * DUAL_ERROR <= MOST_ERROR * unit;
        let grain = model.grain;
        let target = budget.target().map(|target: Bytes| (target.get() / grain).min(most as u64) as i64);
        let limits = Limits { target, ..Limits::of(budget) };
        let scale = Scale { most, unit };
        let answer =
            solve(NAME, self.setup, (limits, budget), scale, Some(start), |watch| model.build(watch))?;
        budget.spend(answer.nodes);
        if let Some(values) = &answer.values {
            run.accept(NAME, Model::order(problem, &windows, values))?;
        }
        if let Some(bound) = believed(answer.bound, most).filter(|_| trusted) {
            let value = Bytes::new(bound.max(0) as u64 * grain);
            run.try_raise(NAME, LowerBound::new(value, Witness::Search { solver: NAME.to_owned() }))?;
        }
        Ok(match answer.end {
            End::Stopped(stop) => stop,
            End::Optimal | End::Infeasible => None,
        })
    }

    /// Returns an upper bound on the number of variables of a problem.
    fn variables(problem: &OrderProblem) -> usize {
        let n = problem.len();
        if n > MOST_VARIABLES {
            return usize::MAX;
        }
        1 + Windows::of(problem).free() + n * problem.storages().len()
    }
}

impl Solver<Orders> for OrderIlp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, problem: &OrderProblem) -> Result<(), SolveError> {
        // This estimate is faster to compute than the windows.
        let least = problem.len().saturating_mul(problem.storages().len());
        let variables = if least > MOST_VARIABLES { least } else { Self::variables(problem) };
        if variables <= MOST_VARIABLES {
            return Ok(());
        }
        let reason = format!("{variables} variables exceed the limit of {MOST_VARIABLES}");
        Err(SolveError::Unsupported { solver: NAME, reason })
    }

    fn solve(
        &self,
        problem: &OrderProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Orders>,
    ) -> Result<Outcome<Orders>, SolveError> {
        self.supports(problem)?;
        let mut run = Tracker::start(problem, Orders::floor(problem), observer);
        let order = problem.as_in_file();
        let value = run.offer(order.clone());
        let mut stop = run.settled(budget).or_else(|| budget.check());
        if stop.is_none() {
            stop = self.improve((&order, value), &mut run, budget)?;
            stop = run.settled(budget).or(stop).or_else(|| budget.check());
        }
        Ok(run.conclude(stop.unwrap_or(Stop::Completed), budget.nodes()))
    }
}
