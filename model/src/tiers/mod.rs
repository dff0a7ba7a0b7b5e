//! Memory in tiers: which tensor lives in which of several memories of different size and speed.
//!
//! A [`TierMachine`] has processing units and *tiers*: buffers inside a unit, memories on chip between units, memory off chip
//! (SOURCES S3, Alg. 1). A [`TierProblem`] is a set of tensors with lifespans over the steps of an order and, per tier, the time and
//! the bytes that one run moves if the tensor lives there; or none where some unit that accesses it does not reach the
//! tier. A [`TierPlan`] has a tier for every tensor, and an address in it unless bytes are only counted. Its value is the sum of all
//! transfer times, an exact [`Time`]. [`check_tiers`] finds everything wrong with a plan.
//!
//! ```text
//! cbuf    |  a  |     |  d  |        dla makes a and d and reads them itself
//! dla-gpu |     b     |              gpu reads b, which the dla makes
//! ddr     |        c        |        c would not fit beside b
//! ```
//!
//! What is left out: tensors that move from tier to tier during their life, transfers that overlap with computations or with each
//! other, contention on buses.

mod bandwidth;
mod bound;
mod check;
mod graph;
mod machine;
mod plan;
mod problem;

pub use crate::presets::TIER_PRESETS;
pub use bandwidth::{BandwidthCheck, address_width, bus_bandwidth, switch_bandwidth};
pub use bound::{
    PRICE_UNIT, TierBound, TierPrice, TierWitness, cheapest_bound, confirm_tier_bound, price_bound,
};
pub use check::{TierViolation, check_reach, check_tiers};
pub use graph::{TierOptions, TierRegion, TierTimes, on_and_off_chip};
pub use machine::{Tier, TierKind, TierMachine, UnitRates};
pub use plan::TierPlan;
pub use problem::{Addresses, TierError, TierProblem, TierSpace, TierStep, TierTensor, TierUse};

use crate::budget::Budget;
use crate::outcome::{Claim, Stats, Stop};
use crate::overlap::Time;
use crate::solver::{Kind, Setup, SolveError};
use std::fmt;

/// What an algorithm says of a tier problem: as [`Outcome`](crate::Outcome), with transfer times in place of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct TierOutcome {
    /// What is proved.
    pub claim: Claim,
    /// The best plan found.
    pub plan: Option<TierPlan>,
    /// Its transfer time.
    pub time: Option<Time>,
    /// What no plan can go below, and why.
    pub lower_bound: TierBound,
    /// Why the algorithm ended.
    pub stop: Stop,
    /// Counters.
    pub stats: Stats,
}

impl TierOutcome {
    /// Draws the claim: optimal where the time meets the bound; infeasible where some tensor fits no tier, or a search that left
    /// nothing out (`exhausted`) found no plan; feasible or unknown otherwise.
    pub fn conclude(
        problem: &TierProblem,
        plan: Option<TierPlan>,
        lower_bound: TierBound,
        exhausted: bool,
        stop: Stop,
        stats: Stats,
    ) -> Self {
        let time = plan.as_ref().map(|plan| plan.time(problem));
        let claim = match time {
            Some(time) if time == lower_bound.value => Claim::Optimal,
            Some(_) => Claim::Feasible,
            None if exhausted || problem.too_large().is_some() => Claim::Infeasible,
            None => Claim::Unknown,
        };
        Self { claim, plan, time, lower_bound, stop, stats }
    }
}

/// An algorithm for tier problems, fast or exact: what [`Solver`](crate::Solver) is for problems measured in bytes.
pub trait Placer: Send + Sync {
    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// Solves within the budget.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] for problems it declines; never for limits or infeasibility.
    fn solve(&self, problem: &TierProblem, budget: &mut Budget) -> Result<TierOutcome, SolveError>;
}

/// One line of the registry.
pub struct PlacerEntry {
    /// The name users type.
    pub name: &'static str,
    /// Heuristic or exact.
    pub kind: Kind,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Makes one.
    pub build: fn(Setup) -> Box<dyn Placer>,
}

impl PlacerEntry {
    /// The word for this problem in tables and files.
    pub const PROBLEM: &'static str = "tiers";
}

impl fmt::Debug for PlacerEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlacerEntry")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
