//! Finds addresses within one tier, or proves that there are none.

use super::search::Cut;
use crate::offsets::Exact;
use plimsoll_model::tiers::{TierPlan, TierProblem};
use plimsoll_model::{Budget, Bytes, Claim, InstanceBuilder, Setup, Silent, Solver, TierId};

/// Node limit of one attempt to find addresses. [`SHRINK_NODES`] is the node limit of one attempt to shrink a
/// cut.
const NODES: u64 = 200_000;
const SHRINK_NODES: u64 = 5_000;

/// Maximum number of attempts to shrink one cut.
const SHRINKS: usize = 200;

pub(super) enum Packed {
    At(Vec<Bytes>),
    Never,
    Unknown,
}

/// Looks for addresses for the tensors `members` in a tier, with at most `nodes` search nodes, which are
/// charged to the budget.
fn look(problem: &TierProblem, tier: TierId, members: &[usize], nodes: u64, budget: &mut Budget) -> Packed {
    let space = problem.space(tier);
    // Tensors of size zero may have any offset.
    let sized: Vec<usize> =
        (0..members.len()).filter(|&which| problem.size(members[which], tier) > Bytes::ZERO).collect();
    let buffers = sized.iter().map(|&which| problem.buffer(members[which], tier));
    let builder = InstanceBuilder::new(space.name.clone()).buffers(buffers).capacity(space.capacity);
    let Ok(instance) = builder.build() else { return Packed::Unknown };
    let mut part = budget.part(Some(nodes), None).with_target(space.capacity);
    let solved = Exact::new(Setup::default()).solve(&instance, &mut part, &mut Silent);
    budget.spend(part.nodes());
    let Ok(outcome) = solved else { return Packed::Unknown };
    match (outcome.claim, outcome.solution, outcome.value) {
        (_, Some(layout), Some(value)) if value <= space.capacity => {
            let mut offsets = vec![Bytes::ZERO; members.len()];
            for (&which, &offset) in sized.iter().zip(layout.offsets()) {
                offsets[which] = offset;
            }
            Packed::At(offsets)
        }
        (Claim::Infeasible, ..) => Packed::Never,
        _ => end_to_end(problem, tier, members),
    }
}

/// Places the tensors end to end if all of them fit.
fn end_to_end(problem: &TierProblem, tier: TierId, members: &[usize]) -> Packed {
    let mut end = 0u64;
    let offsets = members.iter().map(|&at| {
        let offset = end;
        end += problem.size(at, tier).get();
        Bytes::new(offset)
    });
    let offsets = offsets.collect();
    if end <= problem.space(tier).capacity.get() { Packed::At(offsets) } else { Packed::Unknown }
}

/// Returns the given tensors, or a smaller subset that provably has no layout. Tries to remove halves,
/// quarters, and so on down to single tensors.
fn shrunk(problem: &TierProblem, tier: TierId, mut members: Vec<usize>, budget: &mut Budget) -> Vec<usize> {
    let mut looks = 0;
    let mut chunk = members.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        while at < members.len() && looks < SHRINKS && budget.check().is_none() {
            let mut fewer = members.clone();
            fewer.drain(at..(at + chunk).min(members.len()));
            looks += 1;
            if !fewer.is_empty() && matches!(look(problem, tier, &fewer, SHRINK_NODES, budget), Packed::Never)
            {
                members = fewer;
            } else {
                at += chunk;
            }
        }
        if chunk == 1 || looks >= SHRINKS {
            return members;
        }
        chunk /= 2;
    }
}

/// Result of assigning addresses to a plan.
pub(super) enum Addressed {
    Plan(TierPlan),
    /// No addresses were found for the tensors of the cut. The flag is true if it is proved that none exist.
    Cut(Cut, bool),
}

/// Assigns every tensor an address in its tier, tier by tier.
pub(super) fn addressed(problem: &TierProblem, tiers: &[TierId], budget: &mut Budget) -> Addressed {
    let mut offsets = vec![Bytes::ZERO; tiers.len()];
    for tier in problem.tiers() {
        let members: Vec<usize> = (0..tiers.len()).filter(|&at| tiers[at] == tier).collect();
        match look(problem, tier, &members, NODES, budget) {
            Packed::At(found) => {
                for (&at, offset) in members.iter().zip(found) {
                    offsets[at] = offset;
                }
            }
            Packed::Never => {
                let members = shrunk(problem, tier, members, budget);
                return Addressed::Cut(Cut { tier, members }, true);
            }
            Packed::Unknown => return Addressed::Cut(Cut { tier, members }, false),
        }
    }
    Addressed::Plan(TierPlan { tiers: tiers.to_vec(), offsets: Some(offsets) })
}
