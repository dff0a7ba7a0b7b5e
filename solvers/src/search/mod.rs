//! Our own branch and bound.
//!
//! Two schools of branching decide whether a layout of a given capacity exists:
//! - [`valley`] for instances whose conflicts are those of plain intervals: fast, restarts, any section;
//! - [`canonical`] for everything else: gaps, alignments, fixed offsets, separations, exclusions.
//!
//! `Search` asks them at capacities between the bound and the best layout. Both search exhaustively, so
//! "impossible" at a capacity raises the bound above it, and running out of budget moves nothing.
//!
//! On intervals, proofs above the load come mostly from elsewhere: from [`learn`], clauses about orders, and a
//! [`sweep`] over time where few buffers are alive at a time, and from [`crate::search::windows`]; all take turns with valley
//! branching.

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
