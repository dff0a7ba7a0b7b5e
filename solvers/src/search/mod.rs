//! Our own branch and bound.
//!
//! Two schools of branching decide whether a layout of a given capacity exists:
//! - [`valley`] for instances whose conflicts are those of plain intervals: fast, restarts, any section;
//! - [`canonical`] for everything else: gaps, alignments, fixed offsets, separations, exclusions.
//!
//! [`Search`] asks them at capacities between the bound and the best layout. Both search exhaustively, so
//! "impossible" at a capacity raises the bound above it, and running out of budget moves nothing.
//!
//! On intervals, proofs above the load come mostly from elsewhere: from [`learn`], clauses about orders, and a
//! [`sweep`] over time where few buffers are alive at a time, and from [`crate::windows`]; all take turns with valley
//! branching.

pub mod canonical;
pub mod learn;
mod memo;
pub(crate) mod minimise;
mod portfolio;
mod solver;
pub mod sweep;
pub mod valley;

pub use solver::{Search, SearchParams};

use plimsoll_model::{Budget, Layout, Stop};

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

impl Decide for valley::Engine<'_> {
    fn decide(&mut self, budget: &mut Budget) -> Verdict {
        self.run(budget)
    }
}

impl Decide for canonical::Engine<'_> {
    fn decide(&mut self, budget: &mut Budget) -> Verdict {
        self.run(budget)
    }
}
