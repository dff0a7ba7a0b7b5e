//! What no plan can go below, and why.
//!
//! - **cheapest**: every tensor in the tier that costs it least, whoever else is there.
//! - **prices**: let a byte of tier t pay p(t, s) at step s. A valid plan pays at most the sum of p(t, s) capacity(t) over all
//!   prices, so its time is at least the sum over tensors of the least, over its tiers, of time plus what it pays, less
//!   that sum. This is the Lagrangian relaxation of the capacities, and with the best prices the bound of the linear
//!   relaxation (Geoffrion 1974). Prices are whole numbers, and the bound is recomputed from them.
//! - **search**: a search that left nothing out.

use super::problem::TierProblem;
use crate::overlap::Time;
use crate::units::TierId;
use serde::Serialize;
use std::fmt;

/// Prices count picoseconds per byte in units of 1 / 65 536.
pub const PRICE_UNIT: u32 = 16;

/// What a byte of one tier pays at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TierPrice {
    /// Which tier.
    pub tier: TierId,
    /// Which step.
    pub step: usize,
    /// Picoseconds per byte, times 2^[`PRICE_UNIT`].
    pub price: u64,
}

/// Why nothing can be faster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TierWitness {
    /// Every tensor where it costs least.
    Cheapest,
    /// Room has its price.
    Prices(Vec<TierPrice>),
    /// A search that left nothing out.
    Search {
        /// Which.
        solver: String,
    },
}

impl fmt::Display for TierWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cheapest => f.write_str("every tensor in its fastest tier"),
            Self::Prices(prices) => write!(f, "prices of room at {} steps", prices.len()),
            Self::Search { solver } => write!(f, "completed search by {solver}"),
        }
    }
}

/// A transfer time no plan can go below, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TierBound {
    /// The bound.
    pub value: Time,
    /// The reason.
    pub witness: TierWitness,
}

/// Every tensor where it costs least; one that fits nowhere costs nothing. O(n x tiers).
pub fn cheapest_bound(problem: &TierProblem) -> TierBound {
    let least = (0..problem.tensors().len()).map(|tensor| {
        let costs = problem.tiers().filter_map(|tier| problem.cost(tensor, tier));
        costs.map(|cost| cost.time).min().unwrap_or(Time::ZERO)
    });
    TierBound { value: least.sum(), witness: TierWitness::Cheapest }
}

/// The bound that prices prove; none where sums leave 128 bits or a price names what is not there. O(n x tiers + prices + steps).
pub fn price_bound(problem: &TierProblem, prices: &[TierPrice]) -> Option<Time> {
    let duration = problem.duration();
    // Per tier: what a byte pays up to a step.
    let mut paid = vec![vec![0u128; duration + 1]; problem.spaces().len()];
    let mut income = 0u128;
    for one in prices {
        let price = u128::from(one.price);
        let line = paid.get_mut(one.tier.index())?.get_mut(one.step + 1)?;
        *line = line.checked_add(price)?;
        let capacity = u128::from(problem.space(one.tier).capacity.get());
        income = income.checked_add(price.checked_mul(capacity)?)?;
    }
    for line in &mut paid {
        for step in 0..duration {
            line[step + 1] = line[step + 1].checked_add(line[step])?;
        }
    }
    let mut sum = 0u128;
    for (at, tensor) in problem.tensors().iter().enumerate() {
        let mut least: Option<u128> = None;
        for tier in problem.tiers() {
            let Some(cost) = problem.cost(at, tier) else { continue };
            let line = &paid[tier.index()];
            let size = u128::from(problem.size(at, tier).get());
            let pays = size.checked_mul(line[tensor.upper] - line[tensor.lower])?;
            let all = (u128::from(cost.time.get()) << PRICE_UNIT).checked_add(pays)?;
            least = Some(least.map_or(all, |least| least.min(all)));
        }
        sum = sum.checked_add(least.unwrap_or(0))?;
    }
    // Rounded up: times are whole.
    let value = sum.saturating_sub(income).div_ceil(1 << PRICE_UNIT);
    u64::try_from(value).ok().map(Time::new)
}

/// Confirms a bound from its reason.
///
/// # Errors
/// Why it is in doubt; a search cannot be confirmed but by another.
pub fn confirm_tier_bound(problem: &TierProblem, bound: &TierBound) -> Result<(), String> {
    let shown = match &bound.witness {
        TierWitness::Cheapest => Some(cheapest_bound(problem).value),
        TierWitness::Prices(prices) => price_bound(problem, prices),
        TierWitness::Search { .. } => return Ok(()),
    };
    match shown {
        Some(shown) if shown >= bound.value => Ok(()),
        Some(shown) => Err(format!("{} shows {shown}, not {}", bound.witness, bound.value)),
        None => Err(format!("{} cannot be added up", bound.witness)),
    }
}
