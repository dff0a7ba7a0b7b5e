//! One trait for every algorithm that chooses matches, and the entries its registry is made of.

use super::bound::FusionBound;
use super::problem::FusionProblem;
use crate::budget::Budget;
use crate::outcome::{Claim, Stats, Stop};
use crate::solver::{Kind, Setup, SolveError};
use std::fmt;

/// What an algorithm says of a fusion problem: as [`Outcome`](crate::Outcome), with relations to be many in place of bytes to be few.
#[derive(Clone, Debug, PartialEq)]
pub struct FusionOutcome {
    /// What is proved.
    pub claim: Claim,
    /// The matches chosen, by position, ascending.
    pub chosen: Vec<usize>,
    /// Relations they optimise.
    pub optimised: usize,
    /// What no choice can exceed, and why.
    pub upper_bound: FusionBound,
    /// Why the algorithm ended.
    pub stop: Stop,
    /// Counters.
    pub stats: Stats,
}

impl FusionOutcome {
    /// Draws the claim: optimal where the choice meets the bound, else feasible.
    pub fn conclude(
        problem: &FusionProblem,
        mut chosen: Vec<usize>,
        upper_bound: FusionBound,
        stop: Stop,
        stats: Stats,
    ) -> Self {
        chosen.sort_unstable();
        let optimised = problem.optimised(&chosen);
        debug_assert!(optimised <= upper_bound.value, "a bound below a choice");
        let claim = if optimised == upper_bound.value { Claim::Optimal } else { Claim::Feasible };
        Self { claim, chosen, optimised, upper_bound, stop, stats }
    }
}

/// An algorithm for fusion problems: what [`Solver`](crate::Solver) is for problems measured in bytes.
pub trait Fuser: Send + Sync {
    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// Solves within the budget.
    ///
    /// # Errors
    /// [`SolveError`] for problems it does not support or machinery that broke; never for limits.
    fn solve(&self, problem: &FusionProblem, budget: &mut Budget) -> Result<FusionOutcome, SolveError>;
}

/// One line of the registry.
pub struct FuserEntry {
    /// The name users type.
    pub name: &'static str,
    /// Heuristic or exact.
    pub kind: Kind,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Makes one.
    pub build: fn(Setup) -> Box<dyn Fuser>,
}

impl FuserEntry {
    /// The word for this problem in tables and files.
    pub const PROBLEM: &'static str = "fusions";
}

impl fmt::Debug for FuserEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FuserEntry")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
