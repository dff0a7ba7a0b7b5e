//! What is proved, why an algorithm stopped, and its counters.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    /// The solution is valid and its value equals the lower bound.
    Optimal,
    /// The solution is valid; nothing is said about better ones beyond the bound.
    Feasible,
    /// No solution within the capacity exists.
    Infeasible,
    /// Neither a valid solution nor a proof that there is none.
    Unknown,
}

/// Why an algorithm ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// It did all it does.
    Completed,
    /// A solution at or below the target was found.
    Target,
    /// The time limit passed.
    TimeLimit,
    /// The node limit passed.
    NodeLimit,
    /// A request to stop arrived, from the user or from the caller.
    #[serde(alias = "cancelled")]
    Interrupted,
}

macro_rules! display_as_serialised {
    ($($name:ident { $($variant:ident => $text:literal),* $(,)? })*) => {$(
        impl $name {
            /// The word used in files and tables.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    )*};
}

display_as_serialised! {
    Claim { Optimal => "optimal", Feasible => "feasible", Infeasible => "infeasible", Unknown => "unknown" }
    Stop {
        Completed => "completed", Target => "target", TimeLimit => "time-limit",
        NodeLimit => "node-limit", Interrupted => "interrupted",
    }
}

/// Counters of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Search nodes, placements tried or iterations, whatever the algorithm counts.
    pub nodes: u64,
    /// Seconds per phase, in the order they ran.
    pub phases: Vec<(String, f64)>,
    /// Named counters.
    pub counters: BTreeMap<String, u64>,
}

impl Stats {
    /// Adds to a named counter.
    pub fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.to_owned()).or_default() += by;
    }
}
