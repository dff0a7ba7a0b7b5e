//! Timelines as an integer program, for problems with few transfers.
//!
//! ```text
//! t_k >= t_(k-1) + c_(k-1)                     operators compute in their order; P >= t_n + c_n is minimised
//! t_j >= s_j + l_j                             an operator computes after its weights have arrived
//! s_j >= s_i + l_i - M (1 - b_ij)              transfers on one channel: b_ij + b_ji >= y_ic + y_jc - 1, sum_c y_jc = 1
//! s_j >= t_i + c_i - M (1 - a_ij)              i before j: the buffer of i is free before that of j is filled, or
//! o_i + w_i <= o_j + C (1 - z_ij)              it lies below that of j, or
//! o_j + w_j <= o_i + C (1 - z_ji)              above it: a_ij + z_ij + z_ji >= 1
//! o_j >= A_h - C a_hj, o_j >= A_j              activations of h < j lie below buffer j unless h has ended
//! ```
//!
//! There are n operators, and `P` is the makespan. Operator k starts at `t_k` and computes for `c_k`. Its
//! transfer starts at `s_k`, takes `l_k`, and uses channel c if `y_kc` is 1. Its buffer has offset `o_k` and
//! size `w_k`, and its activations have size `A_k`. `b_ij` is 1 if transfer i ends before transfer j starts,
//! and `a_ij` is 1 if operator i ends before transfer j starts. `z_ij` is 1 if buffer i lies below buffer j.
//! `C` is the capacity, and `M` is a large constant.
//!
//! Durations of transfers and computations are rounded down to whole units. Every timeline is then feasible
//! for the rounded problem and ends no later, and the optimum of the rounded problem is an integer. The
//! number of units is so small that the tolerances of `HiGHS` along a chain of constraints add up to far less
//! than one unit. Only two parts of a solution are used: the order of transfers, and the operators during
//! which buffers are live. Times and addresses are recomputed in integer picoseconds and bytes.

use super::known_timeline;
use super::node::{Case, Node};
use super::place::{Placed, placed};
use crate::highs::{End, Limits, Scale, believed, solve};
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, constraint, variable};
use plimsoll_model::timelines::{Time, TimeWitness, TimelineProblem, Timelines, fitting_bound};
use plimsoll_model::{Budget, LowerBound, Observer, Outcome, Setup, SolveError, Solver, Stats, Stop};
use plimsoll_support::gcd;

const NAME: &str = "ilp";

/// Maximum numbers of transfers and operators; larger problems are rejected.
const MOST_TRANSFERS: usize = 12;
const MOST_OPERATORS: usize = 40;

/// Maximum number of time units. `HiGHS` may violate a constraint by 1e-7 of the range. A chain has fewer
/// than a hundred constraints, so its total error is far below one unit.
const MOST_UNITS: u64 = 1 << 13;

/// Number of nodes charged per node of `HiGHS`, which takes much longer than a node of the search.
const NODES_PER_NODE: u64 = 20;

/// The integer program for timelines, solved by `HiGHS`. Its name in the registry is `ilp`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimelineIlp;

/// Returns all pairs (earlier, later) of positions in the list of the `count` operators with weights.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |j| (0..j).map(move |i| (i, j)))
}

struct Formulation<'a> {
    case: &'a Case<'a>,
    /// Picoseconds per unit. `full` is the number of units that a scaled value of 1 stands for.
    unit: u64,
    full: f64,
    /// The makespan lies between `lower` and `upper` units.
    lower: u64,
    upper: u64,
    /// The number of bytes that a scaled value of 1 stands for: the capacity.
    space: f64,
}

/// The continuous variables, created in the order transfers, computations, peak (the makespan), offsets.
struct Vars {
    peak: Variable,
    transfers: Vec<Variable>,
    computations: Vec<Variable>,
    offsets: Vec<Variable>,
}

impl<'a> Formulation<'a> {
    fn new(case: &'a Case<'a>, lower: u64, upper: u64) -> Self {
        let times = case.load.iter().chain(&case.compute);
        let grain = times.fold(0, |a, &b| gcd(a, b)).max(1);
        let unit = grain * (upper / grain).div_ceil(MOST_UNITS).max(1);
        let (lower, upper) = (lower / unit, upper / unit);
        let full = 2f64.powi(64 - upper.max(1).leading_zeros() as i32);
        Self { case, unit, full, lower, upper, space: (case.capacity as f64).max(1.0) }
    }

    fn share(&self, time: u64) -> f64 {
        (time / self.unit) as f64 / self.full
    }

    fn bytes(&self, bytes: i64) -> f64 {
        bytes as f64 / self.space
    }

    /// Returns the objective value of a scaled makespan of 1. It is large because tolerances are absolute.
    fn worth(&self) -> f64 {
        self.full.min(1024.0)
    }

    fn vars(&self, vars: &mut ProblemVariables) -> Vars {
        let last = self.upper as f64 / self.full;
        let mut time = |count: usize| -> Vec<Variable> {
            (0..count).map(|_| vars.add(variable().min(0.0).max(last))).collect()
        };
        let (transfers, computations) = (time(self.case.weighted.len()), time(self.case.len()));
        let peak = vars.add(variable().min(self.lower as f64 / self.full).max(last));
        let offsets = self.case.weighted.iter().map(|&at| {
            let lowest = self.bytes(self.case.floor[at]);
            vars.add(variable().min(lowest).max((1.0 - self.bytes(self.case.size[at])).max(lowest)))
        });
        Vars { peak, transfers, computations, offsets: offsets.collect() }
    }

    /// Builds the integer program. It is incomplete if the budget `watch` runs out.
    fn build(&self, watch: &mut Budget) -> HighsProblem {
        let mut variables = ProblemVariables::new();
        let vars = self.vars(&mut variables);
        let case = self.case;
        let count = case.weighted.len();
        let binary = |variables: &mut ProblemVariables| variables.add(variable().binary());
        // Per operator with weights and per earlier operator: 1 if the earlier operator has ended when the
        // transfer for the other one starts.
        let over: Vec<Vec<Variable>> =
            case.weighted.iter().map(|&at| (0..at).map(|_| binary(&mut variables)).collect()).collect();
        let on: Vec<Vec<Variable>> =
            (0..count).map(|_| (0..case.channels).map(|_| binary(&mut variables)).collect()).collect();
        let before: Vec<[Variable; 4]> =
            pairs(count).map(|_| [(); 4].map(|()| binary(&mut variables))).collect();
        let mut program = variables.minimise(self.worth() * vars.peak).using(highs);
        let last = self.upper as f64 / self.full;
        for at in 0..case.len() {
            let end = vars.computations[at] + self.share(case.compute[at]);
            let next = vars.computations.get(at + 1).copied().unwrap_or(vars.peak);
            program.add_constraint(constraint!(end <= next));
        }
        for (j, &at) in case.weighted.iter().enumerate() {
            if watch.tick().is_some() {
                return program;
            }
            let arrival = vars.transfers[j] + self.share(case.load[at]);
            program.add_constraint(constraint!(arrival <= vars.computations[at]));
            let channels: Expression = on[j].iter().sum();
            program.add_constraint(constraint!(channels == 1.0));
            for (other, &over) in over[j].iter().enumerate() {
                let end = vars.computations[other] + self.share(case.compute[other]);
                program.add_constraint(constraint!(vars.transfers[j] >= end - 2.0 * last * (1.0 - over)));
                let activations = self.bytes(case.floor[other]);
                program.add_constraint(constraint!(vars.offsets[j] >= activations * (1.0 - over)));
            }
            for pair in over[j].windows(2) {
                program.add_constraint(constraint!(pair[1] <= pair[0]));
            }
        }
        for ((i, j), [first, second, below, above]) in pairs(count).zip(before) {
            let (a, b) = (case.weighted[i], case.weighted[j]);
            for (channel, &own) in on[i].iter().enumerate() {
                program.add_constraint(constraint!(first + second >= own + on[j][channel] - 1.0));
            }
            let turn = |from: Variable, load: u64, to: Variable, chosen: Variable| {
                constraint!(to >= from + self.share(load) - 2.0 * last * (1.0 - chosen))
            };
            program.add_constraint(turn(vars.transfers[i], case.load[a], vars.transfers[j], first));
            program.add_constraint(turn(vars.transfers[j], case.load[b], vars.transfers[i], second));
            program.add_constraint(constraint!(over[j][a] + below + above >= 1.0));
            let apart = |low: usize, size: i64, high: usize, chosen: Variable| {
                constraint!(vars.offsets[low] + self.bytes(size) <= vars.offsets[high] + 2.0 * (1.0 - chosen))
            };
            program.add_constraint(apart(i, case.size[a], j, below));
            program.add_constraint(apart(j, case.size[b], i, above));
        }
        program
    }

    /// Returns the node of a solution. Transfers start in the order of the solution, each after the operators
    /// that have ended before it in the solution. Returns `None` if the buffer of a transfer fits only after
    /// a later transfer has started.
    fn read(&self, values: &[f64]) -> Option<Node> {
        let case = self.case;
        let count = case.weighted.len();
        let (transfers, computations) = (&values[..count], &values[count..count + case.len()]);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| transfers[a].total_cmp(&transfers[b]));
        let mut node = Node::careful(case);
        for place in order {
            let at = case.weighted[place];
            let late = transfers[place] + 0.5 / self.full;
            let ended = |other: &usize| computations[*other] + self.share(case.compute[*other]) <= late;
            let ended = (0..at.min(node.ends.len())).take_while(ended).count();
            let (now, channel) = node.next();
            let start = ended.checked_sub(1).map_or(now, |last| now.max(node.ends[last]));
            let start = node.earliest(case, at, start)?;
            node = node.started_on(case, at, start, channel);
        }
        Some(node)
    }
}

/// Rejects problems that are too large or not supported.
fn declined(problem: &TimelineProblem) -> Result<(), SolveError> {
    if problem.copy_rate().is_some() {
        let reason = format!("copies by the processor are not supported ({})", problem.name());
        return Err(SolveError::Unsupported { solver: NAME, reason });
    }
    let (transfers, operators) = (problem.weighted().len(), problem.len());
    if transfers <= MOST_TRANSFERS && operators <= MOST_OPERATORS {
        return Ok(());
    }
    let reason = format!(
        "{transfers} transfers and {operators} operators exceed the limits of {MOST_TRANSFERS} and {MOST_OPERATORS} ({})",
        problem.name()
    );
    Err(SolveError::Unsupported { solver: NAME, reason })
}
impl Solver<Timelines> for TimelineIlp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, problem: &TimelineProblem) -> Result<(), SolveError> {
        if problem.too_large().is_some() { Ok(()) } else { declined(problem) }
    }

    fn solve(
        &self,
        problem: &TimelineProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Timelines>,
    ) -> Result<Outcome<Timelines>, SolveError> {
        let mut bound = fitting_bound(problem);
        observer.bound(&bound);
        let mut stats = Stats::default();
        if problem.too_large().is_some() {
            return Ok(Outcome::of(problem, None, bound, Stop::Completed, stats));
        }
        self.supports(problem)?;
        let mut best = known_timeline(problem);
        let value = best.as_ref().map_or(u64::MAX, |best| best.makespan().get());
        let mut stop = Stop::Completed;
        if value > bound.value.get() {
            let case = Case::new(problem);
            let form = Formulation::new(&case, bound.value.get(), value);
            let most = form.upper as i64;
            let scale = Scale { most, unit: form.worth() / form.full };
            let limits = Limits::of(budget);
            let limits =
                Limits { nodes: limits.nodes.map(|nodes| (nodes / NODES_PER_NODE).max(1)), ..limits };
            let answer =
                solve(NAME, Setup::default(), (limits, budget), scale, None, |watch| form.build(watch))?;
            budget.spend(answer.nodes.saturating_mul(NODES_PER_NODE));
            let node = answer.values.as_deref().and_then(|values| form.read(values));
            if let Some(node) = node
                && node.last() < value
                && let Placed::At(timeline) = placed(&case, &node, budget)
            {
                best = Some(timeline);
            }
            let reached = best.as_ref().map_or(u64::MAX, |best| best.makespan().get());
            if let Some(units) = believed(answer.bound, most) {
                // A bound above the makespan of a checked timeline would be an error of HiGHS, so it is
                // clamped to that makespan.
                let proved = (units.max(0) as u64).saturating_mul(form.unit).min(reached);
                if proved > bound.value.get() {
                    let witness = TimeWitness::Search { solver: NAME.to_owned() };
                    bound = LowerBound::new(Time::new(proved), witness);
                }
            }
            stats.nodes = answer.nodes;
            if let End::Stopped(why) = answer.end {
                stop = why.unwrap_or(Stop::TimeLimit);
            }
        }
        Ok(Outcome::of(problem, best, bound, stop, stats))
    }
}
