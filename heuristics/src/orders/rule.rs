//! Rules that produce one order: graph traversals and list scheduling.

use super::engine::{Adjust, adjust};
use super::{list, walk};
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{Budget, Stop};

/// A rule that orders operators. Ties are broken in favour of the lower id unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderRule {
    /// The ready operator with the lowest id. The result is the file order if that order is topological.
    File,
    /// The operator that became ready first.
    Breadth,
    /// Depth-first from the sources: the operator that became ready last.
    DepthLeft,
    /// Depth-first from the sources: the operator that became ready last; ties are broken in favour of the
    /// higher id.
    DepthRight,
    /// [`OrderRule::DepthRight`] on the graph with all edges reversed. The resulting order is then reversed.
    ReverseDepth,
    /// The ready operator whose sorted list of predecessor steps is lexicographically smallest.
    PredecessorSteps,
    /// Depth-first postorder: an operator follows its producers. Operators, and the producers of each, are
    /// visited in ascending order of bytes used.
    LightReads,
    /// The ready operator with the smallest growth of live bytes (allocated minus freed). Ties are broken by
    /// the most freed bytes.
    Greedy,
    /// The ready operator with the lowest resulting peak. Ties are broken by the smallest growth of live
    /// bytes.
    LeastPeak,
    /// The order of another rule, adjusted with the rules of the CANN graph engine.
    Engine {
        /// The ordinary order that is adjusted.
        base: Base,
        /// The rules that adjust the ordinary order.
        adjust: Adjust,
    },
}

/// An ordinary order that [`OrderRule::Engine`] starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// [`OrderRule::File`].
    File,
    /// [`OrderRule::Breadth`].
    Breadth,
    /// [`OrderRule::DepthLeft`].
    DepthLeft,
}

impl Base {
    fn rule(self) -> OrderRule {
        match self {
            Self::File => OrderRule::File,
            Self::Breadth => OrderRule::Breadth,
            Self::DepthLeft => OrderRule::DepthLeft,
        }
    }
}

impl OrderRule {
    /// Returns the order in which the rule runs the operators of a problem. O(s log s) for a problem with s
    /// operators, edges and uses of storages. A node is one scheduled operator.
    ///
    /// # Errors
    /// The termination reason if the budget is exhausted first.
    pub fn of(self, problem: &OrderProblem, budget: &mut Budget) -> Result<Order, Stop> {
        match self {
            Self::File => walk::file(problem, budget),
            Self::Breadth => walk::breadth(problem, budget),
            Self::DepthLeft => walk::depth(problem, walk::Side::Left, budget),
            Self::DepthRight => walk::depth(problem, walk::Side::Right, budget),
            Self::ReverseDepth => walk::reverse_depth(problem, budget),
            Self::PredecessorSteps => walk::predecessor_steps(problem, budget),
            Self::LightReads => walk::light_reads(problem, budget),
            Self::Greedy => list::greedy(&problem.with_first_users(), budget),
            Self::LeastPeak => list::least_peak(&problem.with_first_users(), budget),
            Self::Engine { base, adjust: rules } => {
                let problem = &problem.with_first_users();
                let order = base.rule().of(problem, budget)?;
                Ok(adjust(problem, &order, rules))
            }
        }
    }
}
