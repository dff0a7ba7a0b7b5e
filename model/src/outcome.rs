//! The answer of an algorithm: what it proved (the claim), and why it stopped (the termination reason).

use crate::claim::{Claim, Stats, Stop};
use crate::problem::{Bound, Problem};

/// An answer: claim, solution, bound, and termination reason.
///
/// [`Outcome::conclude`] guarantees these invariants. An `Optimal` outcome has a solution whose value equals
/// the bound. A `Feasible` outcome has a solution. An `Infeasible` outcome has a bound above the capacity.
/// An `Infeasible` or `Unknown` outcome may have a complete solution that exceeds the capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<P: Problem> {
    /// The solution status: what is proved.
    pub claim: Claim,
    /// The best solution found, if any.
    pub solution: Option<P::Solution>,
    /// The value of the solution.
    pub value: Option<P::Value>,
    /// The best lower bound, with its witness.
    pub lower_bound: Bound<P>,
    /// The termination reason.
    pub stop: Stop,
    /// Counters and times of the run.
    pub stats: Stats,
}

impl<P: Problem> Outcome<P> {
    /// Derives the claim from the best solution and its value, the bound, and the capacity.
    pub fn conclude(
        best: Option<(P::Solution, P::Value)>,
        lower_bound: Bound<P>,
        capacity: Option<P::Value>,
        stop: Stop,
        stats: Stats,
    ) -> Self {
        let (solution, value) = best.unzip();
        let fits = value.is_some_and(|value| capacity.is_none_or(|capacity| value <= capacity));
        debug_assert!(value.is_none_or(|value| value >= lower_bound.value), "a bound above a solution");
        let claim = if fits && value == Some(lower_bound.value) {
            Claim::Optimal
        } else if fits {
            Claim::Feasible
        } else if capacity.is_some_and(|capacity| lower_bound.value > capacity) {
            Claim::Infeasible
        } else {
            Claim::Unknown
        };
        Self { claim, solution, value, lower_bound, stop, stats }
    }

    /// Derives the claim from the best solution and the bound. The value of the solution is
    /// [`Problem::value`], and the capacity is [`Problem::limit`].
    pub fn of(
        input: &P::Input,
        solution: Option<P::Solution>,
        lower_bound: Bound<P>,
        stop: Stop,
        stats: Stats,
    ) -> Self {
        let valued = |solution| {
            let value = P::value(input, &solution);
            (solution, value)
        };
        Self::conclude(solution.map(valued), lower_bound, P::limit(input), stop, stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::{LowerBound, Witness};
    use crate::layout::Layout;
    use crate::problem::Offsets;
    use crate::units::Bytes;

    fn outcome(value: Option<u64>, bound: u64, capacity: Option<u64>) -> Claim {
        Outcome::<Offsets>::conclude(
            value.map(|v| (Layout::from_raw([]), Bytes::new(v))),
            LowerBound::new(Bytes::new(bound), Witness::Trivial),
            capacity.map(Bytes::new),
            Stop::Completed,
            Stats::default(),
        )
        .claim
    }

    #[test]
    fn claims_follow_from_value_bound_and_capacity() {
        assert_eq!(outcome(Some(5), 5, None), Claim::Optimal);
        assert_eq!(outcome(Some(6), 5, None), Claim::Feasible);
        assert_eq!(outcome(Some(6), 5, Some(5)), Claim::Unknown);
        assert_eq!(outcome(Some(6), 6, Some(5)), Claim::Infeasible);
        assert_eq!(outcome(None, 6, Some(5)), Claim::Infeasible);
        assert_eq!(outcome(None, 5, Some(5)), Claim::Unknown);
        assert_eq!(outcome(None, 5, None), Claim::Unknown);
    }
}
