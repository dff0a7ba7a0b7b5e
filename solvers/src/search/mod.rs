//! This project's branch and bound for offsets.
//!
//! Two branching methods decide whether a layout of a given capacity exists:
//! - [`valley`], for instances whose conflicts are those of plain intervals: fast, with restarts, branching
//!   on any section;
//! - [`canonical`], for everything else: gaps, alignments, fixed offsets, separations, exclusions.
//!
//! `Search` runs them at capacities between the bound and the best layout. Both are exhaustive, so an
//! infeasible capacity raises the bound, while an exhausted budget proves nothing. Both are exponential in
//! the worst case.
//!
//! On interval instances, most proofs above the load come from other methods, which alternate with valley
//! branching: clause learning over orders ([`learn`]), a [`sweep`] over time if few buffers are
//! simultaneously live, and [`crate::search::windows`].

pub mod canonical;
mod decide;
pub mod learn;
mod memo;
pub(crate) mod minimise;
mod portfolio;
mod solver;
pub mod sweep;
pub mod valley;
pub mod windows;

pub(crate) use decide::Verdict;
pub(crate) use decide::{Decide, deepen};
pub(crate) use solver::{Search, SearchParams};
