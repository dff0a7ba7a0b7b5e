//! Fusions without proof.

use crate::report::Run;
use plimsoll_model::fusion::{FusionProblem, Fusions, fusion_bound};
use plimsoll_model::{Budget, Entry, Kind, Observer, Outcome, SolveError, Solver, guarded};

/// Every heuristic for fusions.
pub const FUSIONS: &[Entry<Fusions>] = &[Entry {
    name: "greedy",
    kind: Kind::Heuristic,
    about: "in the order of the operators, the longest match that is still free",
    source: "the paper on cross-unit operator fusion, section 2.1",
    build: &|_| guarded(LongestMatch),
}];

/// Goes through the operators in their order; whoever is free takes the longest free match that begins with it, of equals the
/// one whose pattern comes first. O(matches x steps).
#[derive(Clone, Copy, Debug, Default)]
pub struct LongestMatch;

impl LongestMatch {
    /// The matches it chooses, ascending.
    pub fn choose(problem: &FusionProblem) -> Vec<usize> {
        let mut taken = vec![false; problem.operators().len()];
        let mut chosen = Vec::new();
        // Matches are listed in just that order.
        for (at, one) in problem.matches().iter().enumerate() {
            if one.places.iter().all(|&place| !taken[place]) {
                for &place in &one.places {
                    taken[place] = true;
                }
                chosen.push(at);
            }
        }
        chosen
    }
}

impl Solver<Fusions> for LongestMatch {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn solve(
        &self,
        problem: &FusionProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Fusions>,
    ) -> Result<Outcome<Fusions>, SolveError> {
        let run = Run::<Fusions>::new(problem, None, fusion_bound(problem), budget, observer);
        budget.spend(problem.matches().len() as u64);
        Ok(run.conclude_single(Ok(Some(Self::choose(problem))), budget))
    }
}
