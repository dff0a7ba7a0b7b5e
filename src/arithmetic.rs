//! The arithmetic in which a bound was proved: integers or floating point.
//!
//! The bounds and searches of this project use integers, and so does z3. A bound proved only by a library
//! that computes in floating point ([`Library::is_floating`]) is valid only within the tolerances of that
//! library. A claim that depends on such a bound is marked wherever it is printed or written. Solutions are
//! not affected: the checker recomputes their values in integers.

use plimsoll_model::{Claim, Reason};
use plimsoll_solvers::Library;
use plimsoll_support::words;

words! {
    /// The arithmetic of a proof. If a claim depends on two bounds, the weaker arithmetic applies, which is the
    /// greater of the two values of this type.
    #[derive(Default)]
    Arithmetic {
        /// Integers, without rounding.
        #[default]
        Exact => "exact",
        /// Floating point: the bound is valid only within the tolerances of the solver.
        FloatingPoint => "floating-point",
    }
}

impl Arithmetic {
    /// Returns the arithmetic of a bound with this witness.
    pub fn of(witness: &impl Reason) -> Self {
        witness.solver().map_or(Self::Exact, Self::by)
    }

    /// Returns the arithmetic in which the named algorithm proves its own bounds.
    pub fn by(solver: &str) -> Self {
        if Library::of(solver).is_some_and(|library| library.is_floating) {
            Self::FloatingPoint
        } else {
            Self::Exact
        }
    }

    /// Returns the arithmetic of the largest of several bounds. It is exact if any bound of that value was
    /// proved in integers, or if there is no bound.
    pub fn of_best<T: Ord>(bounds: impl IntoIterator<Item = (T, Self)>) -> Self {
        let best = bounds.into_iter().max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        best.map_or(Self::Exact, |(_, arithmetic)| arithmetic)
    }

    /// Returns the suffix for a printed reason. It is empty for exact proofs.
    pub fn remark(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::FloatingPoint => ": HiGHS, floating point",
        }
    }

    /// Returns a claim in the form printed in tables. If the arithmetic is floating point, the claims
    /// `optimal` and `infeasible` are marked.
    pub fn mark(self, claim: Claim) -> String {
        let mark = if self == Self::FloatingPoint && claim.is_proved() { " (floating point)" } else { "" };
        format!("{claim}{mark}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::fusion::FusionWitness;
    use plimsoll_model::timelines::TimeWitness;
    use plimsoll_model::{Step, Witness};
    use plimsoll_solvers::LIBRARIES;

    #[test]
    fn only_searches_in_floating_point_are_marked() {
        let search = |solver: &str| Witness::Search { solver: solver.to_owned() };
        let window = |solver: &str| Witness::Window {
            lower: Step::new(0),
            upper: Step::new(2),
            solver: solver.to_owned(),
        };
        for (witness, wanted) in [
            (search("ilp"), Arithmetic::FloatingPoint),
            (search("ilp:plain"), Arithmetic::FloatingPoint),
            (search("pool-ilp"), Arithmetic::FloatingPoint),
            (search("smt"), Arithmetic::Exact),
            (search("search"), Arithmetic::Exact),
            (window("exact"), Arithmetic::Exact),
            (window("ilp"), Arithmetic::FloatingPoint),
            (Witness::Load { step: Step::new(1) }, Arithmetic::Exact),
        ] {
            assert_eq!(Arithmetic::of(&witness), wanted, "{witness}");
        }
        assert_eq!(
            Arithmetic::of(&FusionWitness::Search { solver: "ilp".into() }),
            Arithmetic::FloatingPoint
        );
        assert_eq!(Arithmetic::of(&TimeWitness::Compute), Arithmetic::Exact);
        let floating = LIBRARIES.iter().filter(|library| library.is_floating).map(|library| library.name);
        assert!(floating.into_iter().all(|name| Arithmetic::FloatingPoint.remark().contains(name)));
    }

    #[test]
    fn the_best_bound_is_exact_if_an_equal_bound_is_exact() {
        let (exact, floating) = (Arithmetic::Exact, Arithmetic::FloatingPoint);
        assert_eq!(Arithmetic::of_best([(5, floating), (4, exact)]), floating);
        assert_eq!(Arithmetic::of_best([(5, floating), (5, exact), (5, floating)]), exact);
        assert_eq!(Arithmetic::of_best::<u64>([]), exact);
        assert_eq!(floating.mark(Claim::Optimal), "optimal (floating point)");
        assert_eq!(
            (floating.mark(Claim::Feasible), exact.mark(Claim::Optimal)),
            ("feasible".into(), "optimal".into())
        );
        assert_eq!(serde_json::to_string(&floating).unwrap(), format!("\"{}\"", floating.as_str()));
    }
}
