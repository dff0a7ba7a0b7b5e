//! The interface of the branching methods: a search at one capacity.

use plimsoll_model::{Budget, Layout, Stop};

/// The name of the solver in the registry and in witnesses.
pub(super) const NAME: &str = "search";

/// Result of a search at one capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A layout within the capacity.
    Fits(Layout),
    /// No layout within the capacity exists.
    Impossible,
    /// The budget ran out.
    Stopped(Stop),
}

/// Runs `step`. If the call stack is nearly full, grows it first. The recursion can be as deep as the number
/// of buffers.
pub(crate) fn deepen<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(64 << 10, 4 << 20, step)
}

/// A search at one capacity that can be resumed. It keeps its memo and other learnt facts between calls.
pub(crate) trait Decide: Send {
    /// Searches until a layout is found, the capacity is proved infeasible, or the budget runs out.
    fn decide(&mut self, budget: &mut Budget) -> Decision;
}

/// Two searches at the same capacity that alternate. A node of the second takes longer, so it has fewer
/// nodes.
pub(super) struct Alternating<A, B>(pub A, pub B);

/// The fraction of the nodes that the second search of [`Alternating`] has.
const SECOND_SHARE: u64 = 32;

impl<A: Decide, B: Decide> Decide for Alternating<A, B> {
    fn decide(&mut self, budget: &mut Budget) -> Decision {
        let nodes = budget.nodes_left().map(|left| left - left / SECOND_SHARE);
        let mut part = budget.part(nodes, None);
        let first = self.0.decide(&mut part);
        budget.spend(part.nodes());
        match first {
            Decision::Stopped(_) if budget.check().is_none() => self.1.decide(budget),
            settled => settled,
        }
    }
}
