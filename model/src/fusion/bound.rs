//! An upper bound on the number of relations that any choice of matches optimises.
//!
//! Every operator has a dual multiplier. For each match, the multipliers of its operators add up to at least
//! the number of relations that the match optimises. Chosen matches share no operator, so together they
//! optimise at most the sum of all multipliers (weak duality of set packing). Matches that share operators,
//! directly or indirectly, form components. The number of relations optimised in a component is an integer,
//! so the sum of the multipliers in each component is rounded down.

use super::problem::FusionProblem;
use crate::bound::{BoundError, LowerBound, Reason};
use crate::value::Relations;
use serde::Serialize;
use std::fmt;

/// The scale of dual multipliers: this value stands for one relation. It is a multiple of every possible
/// number of steps of a pattern.
pub const MULTIPLIER_UNIT: u64 = 720_720;

/// The reason for an upper bound on the number of optimised relations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum FusionWitness {
    /// The dual multipliers in the order of [`FusionProblem::operators`], in units of 1/[`MULTIPLIER_UNIT`]
    /// of a relation.
    Multipliers { multipliers: Vec<u64> },
    /// A completed search by the exact solver with the name `solver`.
    Search { solver: String },
}

impl Reason for FusionWitness {
    fn solver(&self) -> Option<&str> {
        match self {
            Self::Search { solver } => Some(solver),
            Self::Multipliers { .. } => None,
        }
    }
}

impl fmt::Display for FusionWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Multipliers { .. } => f.write_str("dual multipliers of operators"),
            Self::Search { solver } => write!(f, "completed search by {solver}"),
        }
    }
}

/// An upper bound on the number of relations that any choice of matches optimises, with its witness.
pub type FusionBound = LowerBound<Relations, FusionWitness>;

/// Computes dual multipliers. O(m s^2 + n log n) for n operators and m matches with at most s steps each.
///
/// Each match gives each of its operators an equal share of the relations that it optimises. The multiplier
/// of an operator starts at the largest share that any match gives it. The multipliers are then lowered one
/// at a time as far as the matches allow.
pub fn fusion_multipliers(problem: &FusionProblem) -> Vec<u64> {
    let mut multipliers = vec![0u64; problem.operators().len()];
    let mut of_place: Vec<Vec<usize>> = vec![Vec::new(); multipliers.len()];
    for (at, one) in problem.matches().iter().enumerate() {
        let share = (one.optimised as u64 * MULTIPLIER_UNIT).div_ceil(one.places.len() as u64);
        for &place in &one.places {
            multipliers[place] = multipliers[place].max(share);
            of_place[place].push(at);
        }
    }
    // Operators in few matches come first, because their multipliers appear in few sums.
    let mut order: Vec<usize> = (0..multipliers.len()).collect();
    order.sort_by_key(|&place| of_place[place].len());
    for place in order {
        let slack = |&at: &usize| {
            let one = &problem.matches()[at];
            let cost: u64 = one.places.iter().map(|&place| multipliers[place]).sum();
            cost - one.optimised as u64 * MULTIPLIER_UNIT
        };
        let slack = of_place[place].iter().map(slack).min().unwrap_or(0);
        multipliers[place] = multipliers[place].saturating_sub(slack);
    }
    multipliers
}

/// Returns the bound that dual multipliers prove for one component of matches.
pub fn priced(problem: &FusionProblem, multipliers: &[u64], component: &[usize]) -> usize {
    let mut places: Vec<usize> =
        component.iter().flat_map(|&at| problem.matches()[at].places.iter().copied()).collect();
    places.sort_unstable();
    places.dedup();
    let sum: u64 = places.iter().map(|&place| multipliers[place]).sum();
    (sum / MULTIPLIER_UNIT) as usize
}

/// Returns the bound proved by [`fusion_multipliers`].
pub fn fusion_bound(problem: &FusionProblem) -> FusionBound {
    let multipliers = fusion_multipliers(problem);
    let value = problem.components().iter().map(|one| priced(problem, &multipliers, one)).sum();
    LowerBound { value: Relations::new(value), witness: FusionWitness::Multipliers { multipliers } }
}

/// Verifies from the definition that the witness of an upper bound proves the bound.
///
/// # Errors
/// The first reason why the witness does not prove the bound.
pub fn confirm_fusion_bound(problem: &FusionProblem, bound: &FusionBound) -> Result<(), BoundError> {
    let multipliers = match &bound.witness {
        FusionWitness::Multipliers { multipliers } => multipliers,
        FusionWitness::Search { solver } => return Err(BoundError::NotCheckable(solver.clone())),
    };
    let operators = problem.operators().len();
    if multipliers.len() != operators {
        return Err(BoundError::Multipliers { multipliers: multipliers.len(), operators });
    }
    for (at, one) in problem.matches().iter().enumerate() {
        let cost: u128 = one.places.iter().map(|&place| u128::from(multipliers[place])).sum();
        if cost < one.optimised as u128 * u128::from(MULTIPLIER_UNIT) {
            return Err(BoundError::Cheap { at, optimised: one.optimised });
        }
    }
    let shown = problem.components().iter().map(|one| priced(problem, multipliers, one)).sum();
    bound.shown_by(Relations::new(shown))
}
