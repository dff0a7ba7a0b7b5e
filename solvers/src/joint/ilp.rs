//! Order and offsets as one integer linear program, for small graphs (after `MODeL`, Steiner et al. 2022).
//!
//! ```text
//! x_ot in {0, 1}                 operator o runs at step t, which must be in its window
//! sum_t x_ot = 1, sum_o x_ot = 1                          every operator runs once, one operator per step
//! sum_{t' <= t} x_bt' <= sum_{t' < t} x_at'               a before b, per edge and step
//! live_st >= begun_st + needed_ust - 1                    per user u: s has begun by t, and u runs at or after t
//! both_ij >= live_it + live_jt - 1                        per pair of buffers and step: both are live
//! z_ij + z_ji >= both_ij                                  one lies below the other
//! o_i + s_i <= o_j + M (1 - z_ij)
//! sum_s size_s live_st <= P, o_i + s_i <= P               minimise P
//! ```
//!
//! `begun` and `needed` are sums over `x`, and `M` is an upper bound on the peak. A buffer is a storage or
//! the scratch memory of an operator. Scratch memory is live while its operator runs. Offsets are measured
//! in units of the greatest common divisor of sizes and alignment, scaled by a power of two as in
//! [`Ilp`](crate::offsets::Ilp). Only the order of a solution is used. The layout is recomputed in integers.
//!
//! **Size.** The program has one binary variable per operator and step and two per pair of buffers. Most of
//! the constraints belong to a pair of buffers and a step.

use crate::highs::{End, Limits, Scale, believed, solve};
use crate::joint::Run;
use crate::orders::steps::Windows;
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, constraint, variable};
use plimsoll_model::orders::{Order, around_bound, check_order};
use plimsoll_model::{
    Budget, Bytes, Joint, JointProblem, LowerBound, Observer, OperatorId, Outcome, Setup, SolveError, Solver,
    Stop, Witness,
};
use plimsoll_support::gcd;

/// The name in the registry and in witnesses.
const NAME: &str = "ilp";

/// Maximum estimated number of constraints, which is b^2 n / 2 for b buffers and n steps. Larger problems are
/// rejected.
const MOST_CONSTRAINTS: usize = 200_000;

/// Limits of the search for the layout of an order: the number of nodes and the fraction of the remaining
/// time.
const LAYOUT: (u64, f64) = (1_000_000, 1.0);

/// The integer program for order and offsets, solved by `HiGHS`. Its name in the registry is `ilp`.
#[derive(Clone, Copy, Debug, Default)]
pub struct JointIlp {
    setup: Setup,
}

impl JointIlp {
    /// Creates the solver with the seed and thread count of `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

/// A buffer of the program: a storage or the scratch memory of an operator.
struct Object {
    size: i64,
    /// The operator at which the lifespan begins, or `None` if the buffer is live from the start.
    first: Option<usize>,
    users: Vec<usize>,
    to_end: bool,
}

impl Object {
    /// Returns true if both buffers are live before the first step, and at least one of them is live only
    /// then. Such a buffer has no users and is not held to the end.
    fn meets_at_start(&self, other: &Self) -> bool {
        let unused = |object: &Self| object.users.is_empty() && !object.to_end;
        self.first.is_none() && other.first.is_none() && (unused(self) || unused(other))
    }
}

struct Formulation {
    n: usize,
    edges: Vec<(usize, usize)>,
    objects: Vec<Object>,
    windows: Windows,
    /// Bytes per unit.
    unit: u64,
    /// The alignment of all offsets, in units.
    align: i64,
    lower: i64,
    upper: i64,
    scale: f64,
}

impl Formulation {
    fn of(input: &JointProblem, lower: Bytes, upper: Bytes) -> Self {
        let problem = input.orders();
        let unit = gcd(problem.grain().get(), input.align().get()).max(1);
        let units = |bytes: Bytes| (bytes.get() / unit) as i64;
        let storage = |(at, s): (usize, &plimsoll_model::orders::Storage)| Object {
            size: units(s.size),
            first: problem.first(at).map(OperatorId::index),
            users: s.users.iter().map(|user| user.index()).collect(),
            to_end: s.to_end,
        };
        let objects = problem.storages().iter().enumerate().map(storage);
        let scratch = problem.ids().filter(|&id| problem.scratch(id) > Bytes::ZERO).map(|id| Object {
            size: units(problem.scratch(id)),
            first: Some(id.index()),
            users: vec![id.index()],
            to_end: false,
        });
        let edges = problem
            .ids()
            .flat_map(|id| problem.successors(id).iter().map(move |next| (id.index(), next.index())));
        let upper = units(upper);
        Self {
            n: problem.len(),
            edges: edges.collect(),
            objects: objects.chain(scratch).collect(),
            windows: Windows::of(problem),
            unit,
            align: (input.align().get() / unit) as i64,
            lower: lower.get().div_ceil(unit) as i64,
            upper,
            scale: 2f64.powi(64 - (upper.max(1) as u64).leading_zeros() as i32),
        }
    }

    /// Builds the integer program. It is incomplete if the time of `watch` runs out.
    fn model(&self, watch: &mut Budget) -> HighsProblem {
        let mut vars = ProblemVariables::new();
        let share = |units: i64| units as f64 / self.scale;
        let steps: Vec<Vec<Variable>> =
            (0..self.n).map(|_| (0..self.n).map(|_| vars.add(variable().binary())).collect()).collect();
        let live: Vec<Vec<Variable>> = self
            .objects
            .iter()
            .map(|_| (0..self.n).map(|_| vars.add(variable().min(0.0).max(1.0))).collect())
            .collect();
        let offsets: Vec<Variable> = self
            .objects
            .iter()
            .map(|object| vars.add(variable().min(0.0).max(share(self.upper - object.size))))
            .collect();
        let peak = vars.add(variable().min(share(self.lower)).max(share(self.upper)));
        let pairs: Vec<(usize, usize)> =
            (0..self.objects.len()).flat_map(|i| (i + 1..self.objects.len()).map(move |j| (i, j))).collect();
        let below: Vec<(Variable, Variable)> =
            pairs.iter().map(|_| (vars.add(variable().binary()), vars.add(variable().binary()))).collect();
        let both: Vec<Variable> = pairs.iter().map(|_| vars.add(variable().min(0.0).max(1.0))).collect();
        let multiples: Vec<Option<Variable>> = self
            .objects
            .iter()
            .map(|_| {
                (self.align > 1)
                    .then(|| vars.add(variable().integer().min(0.0).max((self.upper / self.align) as f64)))
            })
            .collect();
        let mut problem = vars.minimise(self.worth() * peak).using(highs);
        self.order(&mut problem, &steps);
        self.lives(&mut problem, &steps, &live);
        for t in 0..self.n {
            let sum: Expression =
                self.objects.iter().zip(&live).map(|(object, live)| share(object.size) * live[t]).sum();
            problem.add_constraint(constraint!(sum <= peak));
        }
        for (at, &(i, j)) in pairs.iter().enumerate() {
            if watch.tick().is_some() {
                return problem;
            }
            for (a, b) in live[i].iter().zip(&live[j]) {
                problem.add_constraint(constraint!(both[at] >= *a + *b - 1.0));
            }
            if self.objects[i].meets_at_start(&self.objects[j]) {
                problem.add_constraint(constraint!(both[at] >= 1.0));
            }
            let (up, down) = below[at];
            problem.add_constraint(constraint!(up + down >= both[at]));
            let big = share(self.upper);
            let (low, high) = (share(self.objects[i].size), share(self.objects[j].size));
            problem.add_constraint(constraint!(offsets[i] + low <= offsets[j] + big * (1.0 - up)));
            problem.add_constraint(constraint!(offsets[j] + high <= offsets[i] + big * (1.0 - down)));
        }
        for ((object, &offset), multiple) in self.objects.iter().zip(&offsets).zip(&multiples) {
            problem.add_constraint(constraint!(offset + share(object.size) <= peak));
            if let Some(multiple) = multiple {
                problem.add_constraint(constraint!(offset == share(self.align) * *multiple));
            }
        }
        problem
    }

    /// Returns the objective value of a scaled peak of 1.
    fn worth(&self) -> f64 {
        self.scale.min(1024.0)
    }

    fn order(&self, problem: &mut HighsProblem, steps: &[Vec<Variable>]) {
        let Windows { earliest, latest } = &self.windows;
        for (o, (&early, &late)) in earliest.iter().zip(latest).enumerate() {
            let sum: Expression = steps[o].iter().sum();
            problem.add_constraint(constraint!(sum == 1.0));
            for (t, &step) in steps[o].iter().enumerate() {
                if t < early || t > late {
                    problem.add_constraint(constraint!(step == 0.0));
                }
            }
        }
        for t in 0..self.n {
            let sum: Expression = steps.iter().map(|own| own[t]).sum();
            problem.add_constraint(constraint!(sum == 1.0));
        }
        for &(a, b) in &self.edges {
            for t in 0..self.n {
                let after: Expression = steps[b][..=t].iter().sum();
                let before: Expression = steps[a][..t].iter().sum();
                problem.add_constraint(constraint!(after <= before));
            }
        }
    }

    fn lives(&self, problem: &mut HighsProblem, steps: &[Vec<Variable>], live: &[Vec<Variable>]) {
        for (object, live) in self.objects.iter().zip(live) {
            for (t, &live) in live.iter().enumerate() {
                let begun: Expression = match object.first {
                    Some(first) => steps[first][..=t].iter().sum(),
                    None => 1.0.into(),
                };
                if object.to_end {
                    problem.add_constraint(constraint!(live >= begun));
                    continue;
                }
                for &user in &object.users {
                    let needed: Expression = steps[user][t..].iter().sum();
                    problem.add_constraint(constraint!(live >= begun.clone() + needed - 1.0));
                }
            }
        }
    }

    /// Returns the order that the values of the variables encode, or `None` if they encode none. The
    /// variables `x` come first in `values`.
    fn read(&self, values: &[f64]) -> Option<Order> {
        let at = |o: usize| (0..self.n).find(|t| values[o * self.n + t] > 0.5);
        let mut placed = vec![None; self.n];
        for o in 0..self.n {
            placed[at(o)?] = Some(OperatorId::at(o));
        }
        placed.into_iter().collect::<Option<Vec<_>>>().map(Order::new)
    }
}

impl Solver<Joint> for JointIlp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &self,
        input: &JointProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Joint>,
    ) -> Result<Outcome<Joint>, SolveError> {
        self.supports(input)?;
        let mut run = Run::new(NAME, self.setup, input, observer);
        run.known.raise(around_bound(input.orders()));
        let order = input.orders().as_in_file();
        run.place(&order, &input.instance(&order), LAYOUT, budget)?;
        let mut stop = Stop::Completed;
        if !run.is_over(budget) {
            let upper = run.known.value().unwrap_or(Bytes::new(i64::MAX as u64));
            let formulation = Formulation::of(input, run.known.bound.value, upper);
            let scale = Scale { most: formulation.upper, unit: formulation.worth() / formulation.scale };
            let answer = solve(NAME, self.setup, (Limits::of(budget), budget), scale, None, |watch| {
                formulation.model(watch)
            })?;
            budget.spend(answer.nodes);
            if let Some(order) = answer.values.as_ref().and_then(|values| formulation.read(values)) {
                if let Some(fault) = check_order(input.orders(), &order).first() {
                    return Err(SolveError::Internal { solver: NAME, reason: fault.to_string() });
                }
                run.place(&order, &input.instance(&order), LAYOUT, budget)?;
            }
            if let Some(units) = believed(answer.bound, formulation.upper) {
                // A bound above the value of a checked plan would be an error of HiGHS, so it is clamped to
                // that value.
                let proved = Bytes::new(units.max(0) as u64 * formulation.unit);
                let proved = run.known.value().map_or(proved, |value| proved.min(value));
                run.known.raise(LowerBound::new(proved, Witness::Search { solver: NAME.to_owned() }));
            }
            if let End::Stopped(why) = answer.end {
                stop = why.unwrap_or(Stop::TimeLimit);
            }
        }
        Ok(run.conclude(budget, stop))
    }

    fn supports(&self, input: &JointProblem) -> Result<(), SolveError> {
        let orders = input.orders();
        let objects =
            orders.storages().len() + orders.ids().filter(|&id| orders.scratch(id) > Bytes::ZERO).count();
        let constraints = objects.saturating_mul(objects).saturating_mul(orders.len()) / 2;
        if constraints > MOST_CONSTRAINTS {
            let reason = format!("{constraints} constraints exceed the limit of {MOST_CONSTRAINTS}");
            return Err(SolveError::Unsupported { solver: NAME, reason });
        }
        Ok(())
    }
}
