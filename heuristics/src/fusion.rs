//! Fusions without proof.

use crate::report::{Bounded, single};
use plimsoll_model::fusion::{FusionProblem, Fusions, fusion_bound};
use plimsoll_model::{Bound, Entry, Kind};

/// Every heuristic for fusions.
pub const FUSIONS: &[Entry<Fusions>] = &[Entry {
    name: "greedy",
    kind: Kind::Heuristic,
    about: "in the order of the operators, the longest match that is still free",
    source: "the paper on cross-unit operator fusion, section 2.1",
    build: &|_| {
        single("greedy", |problem: &FusionProblem, budget| {
            budget.spend(problem.matches().len() as u64);
            Ok(Some(longest_matches(problem)))
        })
    },
}];

impl Bounded for Fusions {
    fn bound(problem: &FusionProblem) -> Bound<Self> {
        fusion_bound(problem)
    }
}

/// The matches, ascending, of a pass through the operators in their order: one that is free takes the longest free match that begins with it, of equals the
/// one whose pattern comes first. O(matches x steps).
pub fn longest_matches(problem: &FusionProblem) -> Vec<usize> {
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
