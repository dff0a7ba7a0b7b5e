//! What no plan can go below, and why.
//!
//! - **cheapest**: every tensor in the tier that costs it least, whoever else is there.
//! - **prices**: let a byte of tier t pay p(t, s) at step s. A valid plan pays at most the sum of p(t, s) capacity(t) over all
//!   prices, so its time is at least the sum over tensors of the least, over its tiers, of time plus what it pays, less
//!   that sum. This is the Lagrangian relaxation of the capacities, and with the best prices the bound of the linear
//!   relaxation (Geoffrion 1974). Large tensors leave gaps that bytes do not see: of those that fit a capacity C together, the sum of
//!   floor((k + 1) size / (C + 1)) is at most k, as the sum of what is rounded down is less than k + 1 (Gomory 1958, Chvatal 1973). With k = 1
//!   that says that of those larger than half of the capacity there is one. Such parts have prices too. Prices are whole numbers, and
//!   the bound is recomputed from them.
//! - **search**: a search that left nothing out.

use super::problem::TierProblem;
use crate::bound::{BoundError, LowerBound, Reason};
use crate::time::Time;
use crate::units::TierId;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Prices count picoseconds per byte in units of 1 / 65 536.
pub const PRICE_UNIT: u32 = 16;

/// What a byte, or a part, of one tier pays at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TierPrice {
    /// The tier whose memory is priced.
    pub tier: TierId,
    /// The step at which it is priced.
    pub step: usize,
    /// How many parts the capacity counts for; zero where bytes pay.
    pub parts: u32,
    /// Picoseconds per byte or part, times 2^[`PRICE_UNIT`].
    pub price: u64,
}

/// Why nothing can be faster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum TierWitness {
    /// Every tensor where it costs least.
    Cheapest,
    /// Room has its price.
    Prices(Vec<TierPrice>),
    /// This tensor fits no tier that it may live in: there is no plan.
    TooLarge {
        /// Position of the tensor.
        tensor: usize,
    },
    /// A search that left nothing out.
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

impl fmt::Display for TierWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cheapest => f.write_str("every tensor in its fastest tier"),
            Self::Prices(prices) => write!(f, "prices of room at {} steps", prices.len()),
            Self::TooLarge { tensor } => write!(f, "tensor {tensor} fits no tier"),
            Self::Search { solver } => write!(f, "completed search by {solver}"),
        }
    }
}

/// A transfer time that no plan can go below, and why.
pub type TierBound = LowerBound<Time, TierWitness>;

/// Every tensor where it costs least; one that fits nowhere costs nothing. O(n x tiers).
pub fn cheapest_bound(problem: &TierProblem) -> TierBound {
    let least = (0..problem.tensors().len()).map(|tensor| {
        let costs = problem.tiers().filter_map(|tier| problem.cost(tensor, tier));
        costs.map(|cost| cost.time).min().unwrap_or(Time::ZERO)
    });
    LowerBound { value: least.sum(), witness: TierWitness::Cheapest }
}

/// What a tensor of so many bytes counts for, where the capacity counts for `parts`: floor((parts + 1) size / (capacity + 1)).
/// Bytes where that is zero.
fn weight(size: u64, capacity: u64, parts: u32) -> u128 {
    match parts {
        0 => u128::from(size),
        parts => (u128::from(parts) + 1) * u128::from(size) / (u128::from(capacity) + 1),
    }
}

/// The bound that prices prove; none where sums leave 128 bits or a price names what is not there.
/// O(n x kinds of prices + prices + steps).
pub fn price_bound(problem: &TierProblem, prices: &[TierPrice]) -> Option<Time> {
    let duration = problem.duration();
    // Per tier and parts: what one pays up to a step.
    let mut paid: BTreeMap<(TierId, u32), Vec<u128>> = BTreeMap::new();
    let mut income = 0u128;
    for one in prices {
        let price = u128::from(one.price);
        let space = problem.spaces().get(one.tier.index())?;
        let line = paid.entry((one.tier, one.parts)).or_insert_with(|| vec![0; duration + 1]);
        let step = line.get_mut(one.step.checked_add(1)?)?;
        *step = step.checked_add(price)?;
        let most = if one.parts == 0 { u128::from(space.capacity.get()) } else { u128::from(one.parts) };
        income = income.checked_add(price.checked_mul(most)?)?;
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
            let mut all = u128::from(cost.time.get()) << PRICE_UNIT;
            for (&(_, parts), line) in paid.range((tier, 0)..=(tier, u32::MAX)) {
                let pays =
                    weight(size, capacity, parts).checked_mul(line[tensor.upper] - line[tensor.lower])?;
                all = all.checked_add(pays)?;
            }
            least = Some(least.map_or(all, |least| least.min(all)));
        }
        sum = sum.checked_add(least.unwrap_or(0))?;
    }
    // Rounded up: times are whole.
    let value = sum.saturating_sub(income).div_ceil(1 << PRICE_UNIT);
    u64::try_from(value).ok().map(Time::new)
}

/// The bound that proves that there is no plan, where some tensor fits no tier; else [`cheapest_bound`].
pub fn fitting_bound(problem: &TierProblem) -> TierBound {
    match problem.too_large() {
        Some(tensor) => LowerBound::new(Time::MAX, TierWitness::TooLarge { tensor }),
        None => cheapest_bound(problem),
    }
}

/// Confirms that the witness of a bound shows it.
///
/// # Errors
/// The first reason for doubt.
pub fn confirm_tier_bound(problem: &TierProblem, bound: &TierBound) -> Result<(), BoundError> {
    bound.shown_by(match &bound.witness {
        TierWitness::Cheapest => cheapest_bound(problem).value,
        TierWitness::Prices(prices) => {
            price_bound(problem, prices).ok_or_else(|| BoundError::Overflow(bound.witness.to_string()))?
        }
        TierWitness::TooLarge { tensor } if problem.is_too_large(*tensor) => Time::MAX,
        TierWitness::TooLarge { .. } => return Err(BoundError::Fits),
        TierWitness::Search { solver } => return Err(BoundError::NotCheckable(solver.clone())),
    })
}
