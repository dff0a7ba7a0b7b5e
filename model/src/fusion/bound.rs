//! What no choice of matches can exceed.
//!
//! Give every operator a price such that the members of every match cost at least what the match optimises. Chosen matches share no
//! operator, so together they optimise no more than all operators cost (weak duality of set packing). Matches that share operators, directly or through
//! others, form components; what one of them optimises is whole, so its costs are rounded down.

use super::problem::FusionProblem;
use crate::bound::{BoundError, LowerBound, Reason};
use crate::value::Relations;
use serde::Serialize;
use std::fmt;

/// Prices are counted in these parts of a relation: a multiple of every number of steps.
pub const PRICE_UNIT: u64 = 720_720;

/// Why nothing can be better.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum FusionWitness {
    /// Prices of the operators, by place, in parts of [`PRICE_UNIT`].
    Prices(Vec<u64>),
    /// A search that left nothing out.
    Search { solver: String },
}

impl Reason for FusionWitness {
    fn solver(&self) -> Option<&str> {
        match self {
            Self::Search { solver } => Some(solver),
            Self::Prices(_) => None,
        }
    }
}

impl fmt::Display for FusionWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prices(_) => f.write_str("prices of operators"),
            Self::Search { solver } => write!(f, "completed search by {solver}"),
        }
    }
}

/// Relations that no choice of matches can exceed, and why.
pub type FusionBound = LowerBound<Relations, FusionWitness>;

/// Prices: each operator's largest share of a match, then lowered as far as matches allow, one operator after the other. O(matches x steps^2).
pub fn fusion_prices(problem: &FusionProblem) -> Vec<u64> {
    let mut prices = vec![0u64; problem.operators().len()];
    let mut of_place: Vec<Vec<usize>> = vec![Vec::new(); prices.len()];
    for (at, one) in problem.matches().iter().enumerate() {
        let share = (one.optimised as u64 * PRICE_UNIT).div_ceil(one.places.len() as u64);
        for &place in &one.places {
            prices[place] = prices[place].max(share);
            of_place[place].push(at);
        }
    }
    // Those of few matches first: their price serves few.
    let mut order: Vec<usize> = (0..prices.len()).collect();
    order.sort_by_key(|&place| of_place[place].len());
    for place in order {
        let slack = |&at: &usize| {
            let one = &problem.matches()[at];
            let cost: u64 = one.places.iter().map(|&place| prices[place]).sum();
            cost - one.optimised as u64 * PRICE_UNIT
        };
        let slack = of_place[place].iter().map(slack).min().unwrap_or(0);
        prices[place] = prices[place].saturating_sub(slack);
    }
    prices
}

/// What prices show for one component of matches.
pub fn priced(problem: &FusionProblem, prices: &[u64], component: &[usize]) -> usize {
    let mut places: Vec<usize> =
        component.iter().flat_map(|&at| problem.matches()[at].places.iter().copied()).collect();
    places.sort_unstable();
    places.dedup();
    let sum: u64 = places.iter().map(|&place| prices[place]).sum();
    (sum / PRICE_UNIT) as usize
}

/// The bound by [`fusion_prices`].
pub fn fusion_bound(problem: &FusionProblem) -> FusionBound {
    let prices = fusion_prices(problem);
    let value = problem.components().iter().map(|one| priced(problem, &prices, one)).sum();
    LowerBound { value: Relations::new(value), witness: FusionWitness::Prices(prices) }
}

/// Confirms that the witness of a bound shows it, from the definition.
///
/// # Errors
/// The first reason for doubt.
pub fn confirm_fusion_bound(problem: &FusionProblem, bound: &FusionBound) -> Result<(), BoundError> {
    let prices = match &bound.witness {
        FusionWitness::Prices(prices) => prices,
        FusionWitness::Search { solver } => return Err(BoundError::NotCheckable(solver.clone())),
    };
    let operators = problem.operators().len();
    if prices.len() != operators {
        return Err(BoundError::Prices { prices: prices.len(), operators });
    }
    for (at, one) in problem.matches().iter().enumerate() {
        let cost: u128 = one.places.iter().map(|&place| u128::from(prices[place])).sum();
        if cost < one.optimised as u128 * u128::from(PRICE_UNIT) {
            return Err(BoundError::Cheap { at, optimised: one.optimised });
        }
    }
    let shown = problem.components().iter().map(|one| priced(problem, prices, one)).sum();
    bound.shown_by(Relations::new(shown))
}
