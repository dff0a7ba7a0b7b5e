//! Fusion as an integer program, with a binary variable `x_m` for every match `m`. It maximises the sum of
//! `w_m x_m`, where `w_m` is the number of relations that `m` optimises. For every operator, the variables
//! of the matches that contain it must add up to at most 1.

use crate::highs::{End, Limits, Scale, believed, solve};
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, constraint, variable};
use plimsoll_heuristics::fusion::longest_matches;
use plimsoll_model::fusion::{FusionProblem, FusionWitness, Fusions, fusion_bound};
use plimsoll_model::{
    Budget, LowerBound, Observer, Outcome, Relations, Setup, SolveError, Solver, Stats, Stop,
};

const NAME: &str = "ilp";

/// The integer program for fusion, solved by `HiGHS`. Its name in the registry is `ilp`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FusionIlp {
    setup: Setup,
}

impl FusionIlp {
    /// Creates the solver with the seed and thread count of `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

/// Builds the integer program. It is incomplete if the time of `watch` runs out.
fn build(problem: &FusionProblem, watch: &mut Budget) -> HighsProblem {
    let mut variables = ProblemVariables::new();
    let chosen: Vec<Variable> =
        problem.matches().iter().map(|_| variables.add(variable().binary())).collect();
    let mut of_place: Vec<Vec<Variable>> = vec![Vec::new(); problem.operators().len()];
    let mut objective = Expression::default();
    for (one, &variable) in problem.matches().iter().zip(&chosen) {
        objective -= one.optimised as f64 * variable;
        for &place in &one.places {
            of_place[place].push(variable);
        }
    }
    let mut program = variables.minimise(objective).using(highs);
    for list in of_place.into_iter().filter(|list| list.len() > 1) {
        if watch.tick().is_some() {
            break;
        }
        let sum: Expression = list.into_iter().sum();
        program.add_constraint(constraint!(sum <= 1.0));
    }
    program
}

/// Returns the chosen matches of a solution, or `None` if two of them share an operator.
fn read(problem: &FusionProblem, values: &[f64]) -> Option<Vec<usize>> {
    let chosen: Vec<usize> = (0..values.len()).filter(|&at| values[at] > 0.5).collect();
    let mut taken = vec![false; problem.operators().len()];
    let mut places = chosen.iter().flat_map(|&at| problem.matches()[at].places.iter());
    places.all(|&place| !std::mem::replace(&mut taken[place], true)).then_some(chosen)
}

impl Solver<Fusions> for FusionIlp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &self,
        problem: &FusionProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Fusions>,
    ) -> Result<Outcome<Fusions>, SolveError> {
        let mut bound = fusion_bound(problem);
        observer.bound(&bound);
        let mut chosen = longest_matches(problem);
        let mut stats = Stats::default();
        let mut stop = Stop::Completed;
        // Without matches, the program is empty and is not solved.
        if !problem.matches().is_empty() {
            let most = problem.matches().iter().map(|one| one.optimised as i64).sum::<i64>().max(1);
            let scale = Scale { most, unit: 1.0 };
            let answer = solve(NAME, self.setup, (Limits::of(budget), budget), scale, None, |watch| {
                build(problem, watch)
            })?;
            budget.spend(answer.nodes);
            stats.nodes = answer.nodes;
            let found = answer.values.as_deref().and_then(|values| read(problem, values));
            if let Some(found) = found
                && problem.optimised(&found) > problem.optimised(&chosen)
            {
                chosen = found;
            }
            if let Some(least) = believed(answer.bound, most) {
                // An upper bound below the value of a valid choice would be an error of HiGHS, so the bound
                // is clamped to that value.
                let value = (least.min(0).unsigned_abs() as usize).max(problem.optimised(&chosen));
                let witness = FusionWitness::Search { solver: NAME.to_owned() };
                bound.raise(LowerBound::new(Relations::new(value), witness));
            }
            if let End::Stopped(why) = answer.end {
                stop = why.unwrap_or(Stop::TimeLimit);
            }
        }
        Ok(Outcome::of(problem, Some(chosen), bound, stop, stats))
    }
}
