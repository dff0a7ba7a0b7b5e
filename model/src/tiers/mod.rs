//! Tiered memory: assign every tensor to one of several memories of different size and speed.
//!
//! A [`TierMachine`] has processing units and *tiers*: buffers inside a unit, on-chip memories between
//! units, and off-chip memory (Algorithm 1 of the cross-unit fusion paper). A [`TierProblem`] is a set of
//! tensors with lifespans, which are ranges of steps of an order. For each tensor and each tier, the problem
//! contains the transfer time and the number of bytes moved in one run. A tier is not allowed for a tensor
//! if some unit that accesses the tensor has no access to the tier. A [`TierPlan`] contains a tier for every
//! tensor and, with [`Addresses::Placed`], an address in that tier. The value of a plan is the sum of all
//! transfer times, an exact [`Time`]. [`check_tiers`] reports the violations of a plan.
//!
//! ```text
//! cbuf    |  a  |     |  d  |        dla produces a and d and reads them itself
//! dla-gpu |     b     |              gpu reads b, which dla produces
//! ddr     |        c        |        c would not fit beside b
//! ```
//!
//! The model does not cover tensors that move between tiers during their lifespan, the overlap of transfers
//! with computations, or contention on buses.

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

/// The tier problem: assign a tier to every tensor, and minimise the total transfer time.
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

    /// Returns an upper limit on the time of any plan. A lower bound above this limit means that no plan
    /// exists.
    fn limit(_: &TierProblem) -> Option<Time> {
        Some(Time::LONGEST)
    }

    fn floor(problem: &TierProblem) -> Bound<Self> {
        fitting_bound(problem)
    }

    fn explain(problem: &TierProblem, witness: &TierWitness) -> String {
        witness.in_words(problem)
    }

    fn name_of<'a>(problem: &'a TierProblem, member: &str, index: usize) -> Option<&'a str> {
        problem.tensors().get(index).filter(|_| member == "tensor").map(|tensor| tensor.name.as_str())
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
