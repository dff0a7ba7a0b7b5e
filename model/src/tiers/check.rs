//! The checker of tier plans. It uses the definitions and shares no code with the algorithms.
//!
//! A plan is *valid* if
//! - every tensor has one tier, which is allowed for it;
//! - at every step, the rounded sizes of the live tensors in a tier add up to at most the capacity of the
//!   tier;
//! - if the problem requires addresses, each address is a multiple of the alignment of the tier, each tensor
//!   ends within the capacity, and simultaneously live tensors in a tier share no byte.
//!
//! The allowed tiers of a tensor depend on which units have access to each tier, and are part of the
//! problem. [`check_reach`] checks the access of the units separately.

use super::plan::TierPlan;
use super::problem::{Addresses, TierProblem};
use crate::units::{Bytes, TierId};

/// A violation of the definition of a valid plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum TierViolation {
    /// The number of tiers or addresses differs from the number of tensors.
    #[error("the number of {what} is {given}, but the number of tensors is {expected}")]
    Count {
        /// `tiers` or `addresses`.
        what: &'static str,
        given: usize,
        expected: usize,
    },
    #[error("tensor '{tensor}' is in tier {tier}, but there are only {tiers} tiers")]
    NoSuchTier { tensor: String, tier: TierId, tiers: usize },
    #[error("tensor '{tensor}' is not allowed in tier '{tier}'")]
    NotAllowed { tensor: String, tier: String },
    #[error("at step {step}, tier '{tier}' holds {bytes} bytes, more than its capacity of {capacity} bytes")]
    Full { tier: String, step: usize, bytes: u128, capacity: Bytes },
    /// Some unit that uses the tensor has no access to the tier.
    #[error("a unit that uses tensor '{tensor}' has no access to tier '{tier}'")]
    OutOfReach { tensor: String, tier: String },
    /// The address is not a multiple of the alignment.
    #[error("in tier '{tier}', tensor '{tensor}' begins at {offset}, which is not a multiple of {alignment}")]
    Misaligned { tensor: String, tier: String, offset: Bytes, alignment: Bytes },
    #[error("tensor '{tensor}' ends at {end} in tier '{tier}', beyond its capacity of {capacity} bytes")]
    Above {
        tensor: String,
        tier: String,
        /// The first address after the tensor.
        end: u128,
        capacity: Bytes,
    },
    #[error("tensors '{first}' and '{second}' share bytes of tier '{tier}' at step {step}")]
    Overlap { first: String, second: String, tier: String, step: usize },
}

/// The maximum number of violations reported.
const MOST: usize = 1000;

/// Returns the violations of a plan, at most 1000. The list is empty if the plan is valid. O((n + s) t) for n
/// tensors, s steps and t tiers; with addresses, additionally O(k^2) for each tier with k tensors.
pub fn check_tiers(problem: &TierProblem, plan: &TierPlan) -> Vec<TierViolation> {
    let expected = problem.tensors().len();
    let mut found = Vec::new();
    if plan.tiers.len() != expected {
        found.push(TierViolation::Count { what: "tiers", given: plan.tiers.len(), expected });
        return found;
    }
    let tiers = problem.spaces().len();
    for (tensor, &tier) in problem.tensors().iter().zip(&plan.tiers) {
        let name = || tensor.name.clone();
        match problem.spaces().get(tier.index()) {
            None => found.push(TierViolation::NoSuchTier { tensor: name(), tier, tiers }),
            Some(space) if tensor.uses[tier.index()].is_none() => {
                found.push(TierViolation::NotAllowed { tensor: name(), tier: space.name.clone() });
            }
            Some(_) => {}
        }
    }
    if found.is_empty() {
        check_loads(problem, plan, &mut found);
        if problem.addresses() == Addresses::Placed {
            check_addresses(problem, plan, &mut found);
        }
    }
    found.truncate(MOST);
    found
}

/// Returns the size of a tensor in a tier, rounded up. This function shares no code with
/// [`TierProblem::size`].
fn rounded(bytes: Bytes, alignment: Bytes) -> u128 {
    let (bytes, alignment) = (u128::from(bytes.get()), u128::from(alignment.get()));
    bytes.div_ceil(alignment) * alignment
}

fn check_loads(problem: &TierProblem, plan: &TierPlan, found: &mut Vec<TierViolation>) {
    for (at, space) in problem.spaces().iter().enumerate() {
        let mut change = vec![0i128; problem.duration() + 1];
        let here = problem.tensors().iter().zip(&plan.tiers).filter(|(_, tier)| tier.index() == at);
        for (tensor, _) in here {
            let size = rounded(tensor.bytes, space.alignment) as i128;
            change[tensor.lower] += size;
            change[tensor.upper] -= size;
        }
        let mut live = 0i128;
        for (step, change) in change.into_iter().enumerate() {
            live += change;
            if live > i128::from(space.capacity.get()) && found.len() < MOST {
                let (tier, bytes, capacity) = (space.name.clone(), live as u128, space.capacity);
                found.push(TierViolation::Full { tier, step, bytes, capacity });
            }
        }
    }
}

fn check_addresses(problem: &TierProblem, plan: &TierPlan, found: &mut Vec<TierViolation>) {
    let expected = problem.tensors().len();
    let offsets = plan.offsets.as_deref().unwrap_or_default();
    if offsets.len() != expected {
        found.push(TierViolation::Count { what: "addresses", given: offsets.len(), expected });
        return;
    }
    for (at, space) in problem.spaces().iter().enumerate() {
        let tier = || space.name.clone();
        // Each entry contains the first live step, the first step after the lifespan, the first address, the
        // first address after the tensor, and the index of the tensor.
        let mut here = Vec::new();
        for (which, tensor) in problem.tensors().iter().enumerate() {
            if plan.tiers[which].index() != at {
                continue;
            }
            let offset = offsets[which];
            let end = u128::from(offset.get()) + rounded(tensor.bytes, space.alignment);
            if !offset.get().is_multiple_of(space.alignment.get()) {
                let (tensor, alignment) = (tensor.name.clone(), space.alignment);
                found.push(TierViolation::Misaligned { tensor, tier: tier(), offset, alignment });
            }
            if end > u128::from(space.capacity.get()) {
                let (tensor, capacity) = (tensor.name.clone(), space.capacity);
                found.push(TierViolation::Above { tensor, tier: tier(), end, capacity });
            }
            here.push((tensor.lower, tensor.upper, u128::from(offset.get()), end, which));
        }
        here.sort_unstable();
        for (first, &(_, upper, offset, end, a)) in here.iter().enumerate() {
            let later = here[first + 1..].iter().take_while(|other| other.0 < upper);
            for &(lower, _, other, other_end, b) in later {
                if other < end && offset < other_end && found.len() < MOST {
                    let [first, second] = [a, b].map(|which| problem.tensors()[which].name.clone());
                    found.push(TierViolation::Overlap { first, second, tier: tier(), step: lower });
                }
            }
        }
    }
}

/// Finds the first tensor that is produced or read by a unit without access to the tier of the tensor.
///
/// In a problem built from a graph, each tensor lists the steps of its producer and its readers. A view moves
/// no data and needs no access.
pub fn check_reach(problem: &TierProblem, plan: &TierPlan) -> Option<TierViolation> {
    problem.tensors().iter().zip(&plan.tiers).find_map(|(tensor, &tier)| {
        let space = problem.space(tier);
        let mut users = tensor.producer.iter().chain(&tensor.consumers);
        let reached = users.all(|&step| space.is_reached_by(problem.steps()[step].unit));
        let (tensor, tier) = (tensor.name.clone(), space.name.clone());
        (!reached).then_some(TierViolation::OutOfReach { tensor, tier })
    })
}
