//! Fusions without proof.

use plimsoll_model::fusion::{Fuser, FuserEntry, FusionOutcome, FusionProblem, fusion_bound};
use plimsoll_model::{Budget, Kind, SolveError, Stats, Stop};

/// Every heuristic for fusions.
pub const FUSERS: &[FuserEntry] = &[FuserEntry {
    name: "greedy",
    kind: Kind::Heuristic,
    about: "in the order of the operators, the longest match that is still free",
    source: "the paper on cross-unit operator fusion, section 2.1",
    build: |_| Box::new(LongestMatch),
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

impl Fuser for LongestMatch {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn solve(&self, problem: &FusionProblem, budget: &mut Budget) -> Result<FusionOutcome, SolveError> {
        let chosen = Self::choose(problem);
        let nodes = problem.matches().len() as u64;
        budget.spend(nodes);
        let stats = Stats { nodes, ..Stats::default() };
        Ok(FusionOutcome::conclude(problem, chosen, fusion_bound(problem), Stop::Completed, stats))
    }
}
