//! Tiered memory: assigns every tensor to one of several memories of different size and speed.
//!
//! A [`TierMachine`] has processing units and *tiers*: buffers inside a unit, on-chip memories between units,
//! and off-chip memory (cross-unit fusion, Alg. 1). A [`TierProblem`] is a set of tensors with lifespans over
//! the steps of an order. For each tensor and tier it states the time and the bytes that one run moves. A
//! tier is not allowed if some unit that accesses the tensor has no access to the tier. A [`TierPlan`] has a
//! tier for every tensor, and an address in it unless only bytes are counted. Its value is the sum of all
//! transfer times, an exact [`Time`]. [`check_tiers`] reports all violations of a plan.
//!
//! ```text
//! cbuf    |  a  |     |  d  |        dla produces a and d and reads them itself
//! dla-gpu |     b     |              gpu reads b, which dla produces
//! ddr     |        c        |        c would not fit beside b
//! ```
//!
//! The model does not cover tensors that move between tiers during their lifespan, overlapping transfers and
//! computations, or contention on buses.

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
    MULTIPLIER_UNIT, TierBound, TierMultiplier, TierWitness, cheapest_bound, confirm_tier_bound, dual_bound,
    fitting_bound,
};
pub use check::{TierViolation, check_reach, check_tiers};
pub use graph::{TierOptions, TierRegion, TierTimes, on_and_off_chip};
pub use machine::{Tier, TierKind, TierMachine, UnitRates};
pub use plan::TierPlan;
pub use problem::{Addresses, TierError, TierProblem, TierSpace, TierStep, TierTensor, TierUse};

use crate::bound::BoundError;
use crate::problem::{Bound, Problem};
use crate::time::Time;

/// The tier problem: assigns a tier to every tensor and minimises the transfer time.
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

    /// No plan takes longer; the bound is larger if no plan exists.
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
