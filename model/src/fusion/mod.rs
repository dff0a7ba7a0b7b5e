//! Operator fusion: several operators run as one, on one or more processing units (cross-unit fusion).
//!
//! [`Units`] defines which unit runs which kind of operator. A [`Fusion`] is a partition of the operators of
//! one region into groups. Each group runs as one operator. A *relation* is a pair of operators (a, b) where
//! b reads an output of a (eq. 2 of the paper). A relation inside a group is *optimised*: its tensors need
//! not leave the unit. The [`Coverage`] is the share of optimised relations (eq. 3).
//!
//! [`Patterns`] define which operators may form a group. A [`FusionProblem`] lists all matches of the
//! patterns in a region, and a [`Solver`](crate::Solver) chooses among these matches. [`check_fusion`] checks
//! the resulting fusion, and [`fusion_bound`] returns an upper bound that holds for every choice.
//!
//! ```
//! use plimsoll_model::fusion::Fusion;
//! use plimsoll_model::graph::{Graph, GraphBuilder, Operator, Role, Tensor};
//!
//! //  x ── Conv ── y ── Relu ── z ── MaxPool ── w        two groups: {Conv, Relu} and {MaxPool}
//! let mut graph = GraphBuilder::new("tiny");
//! let roles = [("x", Role::Input), ("y", Role::Activation), ("z", Role::Activation), ("w", Role::Output)];
//! let [x, y, z, w] = roles.map(|(name, role)| graph.tensor(Tensor::new(name, 4, role)));
//! let body = graph.body();
//! let conv = graph.operator(body, Operator::new("", "Conv").reads([x]).makes([y]));
//! let relu = graph.operator(body, Operator::new("", "Relu").reads([y]).makes([z]));
//! let pool = graph.operator(body, Operator::new("", "MaxPool").reads([z]).makes([w]));
//! graph.interface(body, [x], [w]);
//! let graph = graph.build()?;
//! let fusion = Fusion::new(&graph, Graph::BODY, vec![vec![pool], vec![conv, relu]])?;
//! assert_eq!(fusion.groups(), [vec![conv, relu], vec![pool]]);
//! assert_eq!(fusion.coverage(&graph).to_string(), "1 of 2 (50.0 %)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bound;
mod check;
mod contract;
mod groups;
mod kinds;
mod patterns;
mod problem;
mod units;

pub use bound::{
    FusionBound, FusionWitness, MULTIPLIER_UNIT, confirm_fusion_bound, fusion_bound, fusion_multipliers,
    priced,
};
pub use check::{FusionViolation, check_choice, check_fusion};
pub use contract::contracted;
pub use groups::{Coverage, Fusion, FusionError, relations, siblings};
pub use kinds::{Class, KindSet, class};
pub use patterns::{MAX_STEPS, PATTERN_PRESETS, Pattern, Patterns, Step};
pub use problem::{Fused, FusionProblem, MAX_MATCHES, Match, TooManyMatches, UnitRule};
pub use units::{UNIT_PRESETS, Unit, Units, UnitsError};

use crate::bound::BoundError;
use crate::problem::{Bound, Problem};
use crate::value::Relations;

/// The fusion problem: choose matches that share no operator, and maximise the number of optimised relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusions {}

impl Problem for Fusions {
    type Input = FusionProblem;
    /// The positions of the chosen matches, ascending.
    type Solution = Vec<usize>;
    type Value = Relations;
    type Witness = FusionWitness;
    type Violation = FusionViolation;
    const NAME: &'static str = "fusion";

    fn value(problem: &FusionProblem, chosen: &Vec<usize>) -> Relations {
        let optimised = chosen.iter().filter_map(|&at| Some(problem.matches().get(at)?.optimised));
        Relations::new(optimised.sum())
    }

    fn floor(problem: &FusionProblem) -> Bound<Self> {
        fusion_bound(problem)
    }

    fn check(problem: &FusionProblem, chosen: &Vec<usize>) -> Vec<FusionViolation> {
        check_choice(problem, chosen)
    }

    fn confirm(problem: &FusionProblem, bound: &Bound<Self>) -> Result<(), BoundError> {
        confirm_fusion_bound(problem, bound)
    }
}
