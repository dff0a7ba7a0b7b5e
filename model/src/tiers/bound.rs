//! Lower bounds on the transfer time of every plan, with their witnesses.
//!
//! - **Cheapest**: every tensor is in the cheapest of its allowed tiers into which it fits, and tensors do
//!   not compete for capacity.
//! - **Dual multipliers**: the Lagrangian relaxation of the capacities. Let p(t, s) be the dual multiplier of
//!   tier t at step s, a cost per byte. A tensor in tier t is charged its size times p(t, s) at every step s
//!   of its lifespan. In a valid plan, all charges together are at most the sum of p(t, s) times capacity(t)
//!   over all tiers and steps. For every tensor, take the minimum of transfer time plus charge over its
//!   tiers. The sum of these minima, less the maximum total charge, is therefore a lower bound. With optimal
//!   multipliers, this bound equals that of the linear relaxation (Geoffrion 1974). Large tensors leave gaps
//!   that byte counts ignore. Rounded sizes take these gaps into account. Let k be a positive integer. If
//!   tensors fit together into a capacity C, their rounded sizes `floor((k + 1) size / (C + 1))` add up to at
//!   most k (Gomory 1958, Chvatal 1973). The reason is that the same terms without rounding add up to less
//!   than k + 1. If k is 1, this means that at most one of the tensors is larger than half of the capacity.
//!   In this measure, the capacity consists of k *parts*. A part has a dual multiplier, just as a byte has.
//!   Multipliers are integers, and the bound is recomputed from them.
//! - **Search**: a completed search.

use super::problem::TierProblem;
use crate::bound::{BoundError, LowerBound, Reason};
use crate::time::Time;
use crate::units::TierId;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The number of fractional bits of dual multipliers, which are in picoseconds per byte or part.
pub const MULTIPLIER_UNIT: u32 = 16;

/// The dual multiplier of the capacity of one tier at one step, per byte or per part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TierMultiplier {
    /// The tier.
    pub tier: TierId,
    /// The step.
    pub step: usize,
    /// The number of parts of the capacity; zero if bytes are counted.
    pub parts: u32,
    /// Picoseconds per byte or part, times 2^[`MULTIPLIER_UNIT`].
    pub multiplier: u64,
}

/// The reason for a lower bound on the transfer time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum TierWitness {
    /// The total transfer time with every tensor in its cheapest tier.
    Cheapest,
    /// Dual multipliers of the capacities.
    Multipliers { multipliers: Vec<TierMultiplier> },
    /// This tensor does not fit into any of its allowed tiers, so no plan exists.
    TooLarge {
        /// The index of the tensor.
        tensor: usize,
    },
    /// A completed search by the exact solver `solver`.
    Search { solver: String },
}

impl Reason for TierWitness {
    fn solver(&self) -> Option<&str> {
        match self {
            Self::Search { solver } => Some(solver),
            _ => None,
        }
    }
}

impl TierWitness {
    /// Describes the witness as text with the tensor names of `problem`.
    pub fn in_words(&self, problem: &TierProblem) -> String {
        match self {
            Self::TooLarge { tensor } => match problem.tensors().get(*tensor) {
                Some(tensor) => format!("tensor '{}' fits no tier", tensor.name),
                None => self.to_string(),
            },
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for TierWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cheapest => f.write_str("every tensor in its fastest tier"),
            Self::Multipliers { multipliers } => {
                write!(f, "dual multipliers of capacity at {} steps", multipliers.len())
            }
            Self::TooLarge { tensor } => write!(f, "tensor number {tensor} fits no tier"),
            Self::Search { solver } => write!(f, "completed search by {solver}"),
        }
    }
}

/// A lower bound on the transfer time of every plan, with its witness.
pub type TierBound = LowerBound<Time, TierWitness>;

/// Returns the bound for the case that every tensor is in the cheapest of its allowed tiers into which it
/// fits. A tensor that fits into none of them counts as zero. O(n t) for n tensors and t tiers.
pub fn cheapest_bound(problem: &TierProblem) -> TierBound {
    let least = (0..problem.tensors().len()).map(|tensor| {
        let costs = problem.tiers().filter_map(|tier| problem.cost(tensor, tier));
        costs.map(|cost| cost.time).min().unwrap_or(Time::ZERO)
    });
    LowerBound { value: least.sum(), witness: TierWitness::Cheapest }
}

/// Returns the size of a tensor, counted in parts of a capacity that has `parts` parts: floor((parts + 1)
/// size / (capacity + 1)). If `parts` is zero, returns the size in bytes.
fn weight(size: u64, capacity: u64, parts: u32) -> u128 {
    match parts {
        0 => u128::from(size),
        parts => (u128::from(parts) + 1) * u128::from(size) / (u128::from(capacity) + 1),
    }
}

/// Returns the bound proved by dual multipliers. Returns `None` if a sum exceeds 128 bits, if the bound
/// exceeds 64 bits, or if a multiplier refers to a tier or step that does not exist. O(n (k + t) + m + k s)
/// for n tensors, t tiers, m multipliers, s steps, and k different pairs of a tier and a number of parts.
pub fn dual_bound(problem: &TierProblem, multipliers: &[TierMultiplier]) -> Option<Time> {
    let duration = problem.duration();
    // Per tier and number of parts: the cumulative charge per byte or part up to each step.
    let mut paid: BTreeMap<(TierId, u32), Vec<u128>> = BTreeMap::new();
    let mut income = 0u128;
    for one in multipliers {
        let multiplier = u128::from(one.multiplier);
        let space = problem.spaces().get(one.tier.index())?;
        let line = paid.entry((one.tier, one.parts)).or_insert_with(|| vec![0; duration + 1]);
        let step = line.get_mut(one.step.checked_add(1)?)?;
        *step = step.checked_add(multiplier)?;
        let most = if one.parts == 0 { u128::from(space.capacity.get()) } else { u128::from(one.parts) };
        income = income.checked_add(multiplier.checked_mul(most)?)?;
    }
    for line in paid.values_mut() {
        for step in 0..duration {
            line[step + 1] = line[step + 1].checked_add(line[step])?;
        }
    }
    let mut sum = 0u128;
    for (at, tensor) in problem.tensors().iter().enumerate() {
        let mut least: Option<u128> = None;
        for tier in problem.tiers() {
            let Some(cost) = problem.cost(at, tier) else { continue };
            let (size, capacity) = (problem.size(at, tier).get(), problem.space(tier).capacity.get());
            let mut all = u128::from(cost.time.get()) << MULTIPLIER_UNIT;
            for (&(_, parts), line) in paid.range((tier, 0)..=(tier, u32::MAX)) {
                let pays =
                    weight(size, capacity, parts).checked_mul(line[tensor.upper] - line[tensor.lower])?;
                all = all.checked_add(pays)?;
            }
            least = Some(least.map_or(all, |least| least.min(all)));
        }
        sum = sum.checked_add(least.unwrap_or(0))?;
    }
    // The bound is rounded up, because times are integers.
    let value = sum.saturating_sub(income).div_ceil(1 << MULTIPLIER_UNIT);
    u64::try_from(value).ok().map(Time::new)
}

/// If some tensor fits into no tier, returns the proof that no plan exists. Otherwise, returns
/// [`cheapest_bound`].
pub fn fitting_bound(problem: &TierProblem) -> TierBound {
    match problem.too_large() {
        Some(tensor) => LowerBound::new(Time::MAX, TierWitness::TooLarge { tensor }),
        None => cheapest_bound(problem),
    }
}

/// Confirms a bound by recomputing its witness from the definition.
///
/// # Errors
/// The first reason why the witness does not prove the bound.
pub fn confirm_tier_bound(problem: &TierProblem, bound: &TierBound) -> Result<(), BoundError> {
    bound.shown_by(match &bound.witness {
        TierWitness::Cheapest => cheapest_bound(problem).value,
        TierWitness::Multipliers { multipliers } => {
            dual_bound(problem, multipliers).ok_or_else(|| BoundError::Overflow(bound.witness.to_string()))?
        }
        TierWitness::TooLarge { tensor } if problem.is_too_large(*tensor) => Time::MAX,
        TierWitness::TooLarge { .. } => return Err(BoundError::Fits),
        TierWitness::Search { solver } => return Err(BoundError::NotCheckable(solver.clone())),
    })
}
