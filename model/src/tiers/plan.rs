//! A tier for every tensor, and perhaps an address in it.

use super::problem::TierProblem;
use crate::time::Time;
use crate::units::{Bytes, TierId};

/// An answer; whether it fits a problem is for [`check_tiers`](super::check_tiers) to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierPlan {
    /// Per tensor: where it lives.
    pub tiers: Vec<TierId>,
    /// Per tensor: its first byte there, where addresses are given.
    pub offsets: Option<Vec<Bytes>>,
}

impl TierPlan {
    /// Time of all accesses of one run. A tensor counts nothing in a tier where it may not live; the checker
    /// rejects it. O(n).
    pub fn time(&self, problem: &TierProblem) -> Time {
        let pairs = self.tiers.iter().zip(problem.tensors());
        pairs.filter_map(|(tier, tensor)| Some((*tensor.uses.get(tier.index())?)?.time)).sum()
    }

    /// Bytes moved to and from each tier in one run. O(n).
    ///
    /// # Panics
    /// If some tensor may not live where the plan has it; check first.
    pub fn traffic(&self, problem: &TierProblem) -> Vec<Bytes> {
        let mut traffic = vec![0u64; problem.spaces().len()];
        for (tier, one) in self.uses(problem) {
            traffic[tier.index()] += one.traffic.get();
        }
        traffic.into_iter().map(Bytes::new).collect()
    }

    /// Most bytes in each tier at one step, rounded sizes. O(n + steps) per tier.
    ///
    /// # Panics
    /// As [`TierPlan::traffic`].
    pub fn peaks(&self, problem: &TierProblem) -> Vec<Bytes> {
        let peak = |tier: TierId| {
            let mut change = vec![0i128; problem.duration() + 1];
            for (at, one) in problem.tensors().iter().enumerate().filter(|(at, _)| self.tiers[*at] == tier) {
                let size = i128::from(problem.size(at, tier).get());
                change[one.lower] += size;
                change[one.upper] -= size;
            }
            let mut alive = 0;
            let loads = change.into_iter().map(|change| {
                alive += change;
                alive
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
            (tier, tensor.uses[tier.index()].expect("a checked plan keeps to tiers that are allowed"))
        })
    }
}
