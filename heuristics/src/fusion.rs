//! Heuristics for fusion.

use crate::offsets::report::{Fallback, single};
use plimsoll_model::fusion::{FusionProblem, Fusions};
use plimsoll_model::{Entry, Kind};

/// All heuristics for the fusion problem.
pub const ENTRIES: &[Entry<Fusions>] = &[Entry {
    name: "greedy",
    kind: Kind::Heuristic,
    about: "at each operator in order, chooses the longest match that begins there and uses only free operators",
    source: "cross-unit fusion, section 2.1",
    time: "O(m k) for m matches of at most k operators",
    build: &|_| {
        single("greedy", |problem: &FusionProblem, budget| {
            budget.spend(problem.matches().len() as u64);
            Ok(Some(longest_matches(problem)))
        })
    },
}];

impl Fallback for Fusions {}

/// Returns the indices of the matches that one pass over the operators chooses, in ascending order.
///
/// The pass visits the operators in order. For each operator, it chooses the longest match that begins with
/// this operator and contains no operator of an earlier choice. Ties are broken in favour of the earlier
/// pattern. O(m k) for m matches of at most k operators.
pub fn longest_matches(problem: &FusionProblem) -> Vec<usize> {
    let mut taken = vec![false; problem.operators().len()];
    let mut chosen = Vec::new();
    // The problem lists its matches in the order in which the pass considers them.
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
