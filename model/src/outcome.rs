//! The answer of an algorithm: what it proved (the claim), and why it stopped (the termination reason).

use crate::claim::{Claim, Stats, Stop};
use crate::problem::{Bound, Problem};

/// An answer: claim, solution, bound, and termination reason.
///
/// [`Outcome::conclude`] guarantees these invariants. An `Optimal` outcome has a solution whose value equals
/// the bound. A `Feasible` outcome has a solution. An `Infeasible` outcome has a bound above the capacity.
/// An `Infeasible` or `Unknown` outcome may have a complete solution that exceeds the capacity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
    /// Derives the claim from the best solution and its value, the bound, and the input.
    pub fn conclude(
        input: &P::Input,
        best: Option<(P::Solution, P::Value)>,
        lower_bound: Bound<P>,
        stop: Stop,
        stats: Stats,
    ) -> Self {
        let (solution, value) = best.unzip();
        let claim = Claim::drawn(value, lower_bound.value, P::capacity(input), P::limit(input));
        Self { claim, solution, value, lower_bound, stop, stats }
    }

    /// Derives the claim from the best solution, the bound, and the input. The value of the solution is
    /// [`Problem::value`].
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
        Self::conclude(input, solution.map(valued), lower_bound, stop, stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::{LowerBound, Witness};
    use crate::instance::{Buffer, InstanceBuilder};
    use crate::lifespan::Lifespan;
    use crate::offsets::Layout;
    use crate::offsets::Offsets;
    use crate::units::Bytes;

    fn claim(offsets: &[u64], bound: u64, capacity: Option<u64>) -> Claim {
        let layout = (!offsets.is_empty()).then(|| Layout::from_raw(offsets.to_vec()));
        let bound = LowerBound::new(Bytes::new(bound), Witness::Trivial);
        let buffer = |name, size: u64| Buffer::new(name, size, Lifespan::single(0, 1).unwrap());
        let input = InstanceBuilder::new("t").buffers([buffer("a", 3), buffer("b", 2)]);
        let input = input.capacity(capacity.map(Bytes::new)).build().unwrap();
        Outcome::<Offsets>::of(&input, layout, bound, Stop::Completed, Stats::default()).claim
    }

    #[test]
    fn claims_follow_from_value_bound_and_capacity() {
        assert_eq!(claim(&[0, 3], 5, None), Claim::Optimal);
        assert_eq!(claim(&[0, 4], 5, None), Claim::Feasible);
        assert_eq!(claim(&[0, 4], 5, Some(5)), Claim::Unknown);
        assert_eq!(claim(&[0, 4], 6, Some(5)), Claim::Infeasible);
        assert_eq!(claim(&[], 6, Some(5)), Claim::Infeasible);
        assert_eq!(claim(&[], 5, Some(5)), Claim::Unknown);
        assert_eq!(claim(&[], 5, None), Claim::Unknown);
        // Laid end to end, the buffers end at 7, so a bound above 7 excludes every layout.
        assert_eq!((claim(&[], 7, None), claim(&[], 8, None)), (Claim::Unknown, Claim::Infeasible));
    }
}
