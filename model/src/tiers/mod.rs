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
    PRICE_UNIT, TierBound, TierPrice, TierWitness, cheapest_bound, confirm_tier_bound, fitting_bound,
    price_bound,
};
pub use check::{TierViolation, check_reach, check_tiers};
pub use graph::{TierOptions, TierRegion, TierTimes, on_and_off_chip};
pub use machine::{Tier, TierKind, TierMachine, UnitRates};
pub use plan::TierPlan;
pub use problem::{Addresses, TierError, TierProblem, TierSpace, TierStep, TierTensor, TierUse};

use crate::bound::BoundError;
use crate::problem::{Bound, Problem};
use crate::time::Time;

/// The tier problem: a tier for every tensor, least transfer time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiers {}

impl Problem for Tiers {
    type Input = TierProblem;
    type Solution = TierPlan;
    type Value = Time;
    type Witness = TierWitness;
    type Violation = TierViolation;
    const NAME: &'static str = "tiers";

    fn value(problem: &TierProblem, plan: &TierPlan) -> Time {
        plan.time(problem)
    }

    /// No plan takes longer: where there is none, the bound is above it.
    fn limit(_: &TierProblem) -> Option<Time> {
        Some(Time::LONGEST)
    }

    fn check(problem: &TierProblem, plan: &TierPlan) -> Vec<TierViolation> {
        let mut violations = check_tiers(problem, plan);
        if violations.is_empty() {
            violations.extend(check_reach(problem, plan));
        }
        violations
    }

    fn confirm(problem: &TierProblem, bound: &Bound<Self>) -> Result<(), BoundError> {
        confirm_tier_bound(problem, bound)
    }
}
