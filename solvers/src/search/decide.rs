//! What the schools of branching share: a search at one capacity.

use plimsoll_model::{Budget, Layout, Stop};

/// The name of the solver in the registry and in witnesses.
pub(super) const NAME: &str = "search";

/// What a search at a capacity found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A layout within the capacity.
    Fits(Layout),
    /// Every layout was excluded.
    Impossible,
    /// The budget ran out.
    Stopped(Stop),
}

/// Recursion goes as deep as there are buffers: more stack is taken where it runs low.
pub(crate) fn deepen<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(64 << 10, 4 << 20, step)
}

/// A search at one capacity that can be continued: what it learnt stays from call to call.
pub(crate) trait Decide: Send {
    /// Searches until a layout is found, none can exist, or the budget is spent.
    fn decide(&mut self, budget: &mut Budget) -> Verdict;
}
