//! One rule, one order: walks through the graph and list scheduling.

use super::engine::{Adjust, adjust};
use super::{list, walk};
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::{Budget, Stop};

/// A rule that orders operators. Ties fall to the lower number unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderRule {
    /// Of those ready, the lowest number: the file's order as far as it is one.
    File,
    /// Who was ready first runs first; those ready at once by number.
    Breadth,
    /// From the sources down: what became ready last runs first, of those ready at once the lowest number.
    DepthLeft,
    /// The same, of those ready at once the highest number.
    DepthRight,
    /// [`OrderRule::DepthRight`] of the graph with all edges turned round, from the sinks up; turned round again.
    ReverseDepth,
    /// Of those ready, whose predecessors' steps, sorted, come first as lists.
    PredecessorSteps,
    /// Producers first, depth first from every operator by bytes touched ascending, producers in the same order.
    LightReads,
    /// Of those ready, the least growth of bytes alive (begun minus ended), then the most bytes ended.
    Greedy,
    /// Of those ready, the least peak so far, then the least growth of bytes alive.
    LeastPeak,
    /// Another rule's order, changed afterwards.
    Engine {
        /// The ordinary order to start from.
        base: Base,
        /// Which rules change it.
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
    /// The order of a problem. O(size log size).
    ///
    /// # Errors
    /// Why it was abandoned; a node is an operator given its step.
    pub fn of(self, problem: &OrderProblem, budget: &mut Budget) -> Result<Order, Stop> {
        match self {
            Self::File => walk::file(problem, budget),
            Self::Breadth => walk::breadth(problem, budget),
            Self::DepthLeft => walk::depth(problem, walk::Side::Left, budget),
            Self::DepthRight => walk::depth(problem, walk::Side::Right, budget),
            Self::ReverseDepth => walk::reverse_depth(problem, budget),
            Self::PredecessorSteps => walk::predecessor_steps(problem, budget),
            Self::LightReads => walk::light_reads(problem, budget),
            Self::Greedy => list::greedy(problem, budget),
            Self::LeastPeak => list::least_peak(problem, budget),
            Self::Engine { base, adjust: rules } => {
                let order = base.rule().of(problem, budget)?;
                Ok(adjust(problem, &order, rules))
            }
        }
    }
}
