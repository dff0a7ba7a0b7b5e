//! The solution status, the termination reason, and the counters of a run.

use plimsoll_support::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

words! {
    /// The solution status: what is proved.
    Claim {
        /// The solution is valid and its value equals the lower bound.
        Optimal => "optimal",
        /// The solution is valid. Better solutions may exist, but none better than the bound.
        Feasible => "feasible",
        /// No solution exists within the capacity.
        Infeasible => "infeasible",
        /// Neither a valid solution nor a proof of infeasibility was found.
        Unknown => "unknown",
    }
}

impl Claim {
    /// Returns the claim for a valid solution: optimal if the solution meets a bound.
    pub const fn of_solution(meets_bound: bool) -> Self {
        if meets_bound { Self::Optimal } else { Self::Feasible }
    }

    /// Returns the claim without a valid solution: infeasible if a proof excludes every solution.
    pub const fn without_solution(is_excluded: bool) -> Self {
        if is_excluded { Self::Infeasible } else { Self::Unknown }
    }

    /// Returns true if the claim ends the question: nothing better exists, or nothing at all.
    pub const fn is_proved(self) -> bool {
        matches!(self, Self::Optimal | Self::Infeasible)
    }

    /// Returns the claim that follows from the best value found, the lower bound, the capacity, and the
    /// [limit](crate::Problem::limit). Any value within the capacity is an answer, even one above the limit.
    pub fn drawn<V: Copy + Ord>(value: Option<V>, bound: V, capacity: Option<V>, limit: Option<V>) -> Self {
        match value.filter(|value| capacity.is_none_or(|capacity| *value <= capacity)) {
            Some(value) => Self::of_solution(value == bound),
            None => Self::without_solution(limit.is_some_and(|limit| bound > limit)),
        }
    }
}

words! {
    /// The termination reason.
    Stop {
        /// The algorithm finished its work.
        Completed => "completed",
        /// A solution at or below the target was found.
        Target => "target",
        /// The time limit was reached.
        TimeLimit => "time-limit",
        /// The node limit was reached.
        NodeLimit => "node-limit",
        /// The user or the caller requested a stop.
        Interrupted => "interrupted",
    }
}

/// Counters and times of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stats {
    /// Search nodes, placements tried, or iterations, depending on the algorithm.
    pub nodes: u64,
    /// The phases in execution order, each with its duration in seconds.
    pub phases: Vec<(String, f64)>,
    /// The wall-clock time of the algorithm in seconds, without the checker. [`run`](crate::run::run) measures
    /// it.
    pub seconds: f64,
    /// Further counters by name.
    pub counters: BTreeMap<String, u64>,
}

impl Stats {
    /// Returns the statistics of a run that counted `nodes` nodes.
    pub fn of_nodes(nodes: u64) -> Self {
        Self { nodes, ..Self::default() }
    }

    /// Adds `by` to a named counter.
    pub fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.to_owned()).or_default() += by;
    }
}
