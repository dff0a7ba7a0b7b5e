//! Tier plans: the tier of every tensor, with optional addresses.

use super::problem::TierProblem;
use crate::time::Time;
use crate::units::{Bytes, TierId};

/// An answer to the tier problem. [`check_tiers`](super::check_tiers) checks whether it is valid for a given
/// problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierPlan {
    /// The tier of each tensor.
    pub tiers: Vec<TierId>,
    /// The address of each tensor in its tier, if addresses are planned.
    pub offsets: Option<Vec<Bytes>>,
}

impl TierPlan {
    /// Returns the total transfer time of one run. A tensor in a tier that is not allowed for it adds
    /// nothing, and the checker rejects such a plan. O(n) for n tensors.
    pub fn time(&self, problem: &TierProblem) -> Time {
        let pairs = self.tiers.iter().zip(problem.tensors());
        pairs.filter_map(|(tier, tensor)| Some((*tensor.uses.get(tier.index())?)?.time)).sum()
    }

    /// Returns the bytes moved to and from each tier in one run. O(n) for n tensors.
    ///
    /// # Panics
    /// If a tensor is in a tier that is not allowed for it. Check the plan first.
    pub fn traffic(&self, problem: &TierProblem) -> Vec<Bytes> {
        let mut traffic = vec![0u64; problem.spaces().len()];
        for (tier, one) in self.uses(problem) {
            traffic[tier.index()] += one.traffic.get();
        }
        traffic.into_iter().map(Bytes::new).collect()
    }

    /// For each tier, returns the maximum number of live bytes over all steps, counting rounded sizes. O(n +
    /// s) per tier for n tensors and s steps.
    ///
    /// # Panics
    /// If the plan assigns tiers to fewer tensors than the problem has. Check the plan first.
    pub fn peaks(&self, problem: &TierProblem) -> Vec<Bytes> {
        let peak = |tier: TierId| {
            let mut change = vec![0i128; problem.duration() + 1];
            for (at, one) in problem.tensors().iter().enumerate().filter(|(at, _)| self.tiers[*at] == tier) {
                let size = i128::from(problem.size(at, tier).get());
                change[one.lower] += size;
                change[one.upper] -= size;
            }
            let mut live = 0;
            let loads = change.into_iter().map(|change| {
                live += change;
                live
            });
            Bytes::new(loads.max().unwrap_or(0) as u64)
        };
        problem.tiers().map(peak).collect()
    }

    fn uses<'a>(
        &'a self,
        problem: &'a TierProblem,
    ) -> impl Iterator<Item = (TierId, super::problem::TierUse)> + 'a {
        self.tiers.iter().zip(problem.tensors()).map(|(&tier, tensor)| {
            (tier, tensor.uses[tier.index()].expect("a checked plan uses allowed tiers only"))
        })
    }
}
