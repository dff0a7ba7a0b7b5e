//! Fusion: operators that run as one, and the processing units they run on (SOURCES S3).
//!
//! [`Units`] says which unit runs which kind of operator. A [`Fusion`] is a partition of the operators of one region into
//! groups, each to be run as one operator. A *relation* is a pair of operators of the region of which the second
//! reads what the first makes (S3, eq. 2); one between members of a group is *optimised*: what passes there need not leave the
//! unit. The [`Coverage`] is the share of optimised relations (S3, eq. 3).
//!
//! Which operators may form a group is what [`Patterns`] say; a [`FusionProblem`] lists all matches of patterns in a region, a
//! [`Solver`](crate::Solver) chooses among them, [`check_fusion`] checks what comes of it and [`fusion_bound`] says what no choice can exceed.
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
    FusionBound, FusionWitness, PRICE_UNIT, confirm_fusion_bound, fusion_bound, fusion_prices, priced,
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

/// The fusion problem: matches that share no operator, most relations optimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusions {}

impl Problem for Fusions {
    type Input = FusionProblem;
    /// The matches chosen, by position, ascending.
    type Solution = Vec<usize>;
    type Value = Relations;
    type Witness = FusionWitness;
    type Violation = FusionViolation;
    const NAME: &'static str = "fusion";

    fn value(problem: &FusionProblem, chosen: &Vec<usize>) -> Relations {
        let optimised = chosen.iter().filter_map(|&at| Some(problem.matches().get(at)?.optimised));
        Relations::new(optimised.sum())
    }

    fn check(problem: &FusionProblem, chosen: &Vec<usize>) -> Vec<FusionViolation> {
        check_choice(problem, chosen)
    }

    fn confirm(problem: &FusionProblem, bound: &Bound<Self>) -> Result<(), BoundError> {
        confirm_fusion_bound(problem, bound)
    }
}
