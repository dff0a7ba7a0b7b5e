//! Branch and bound for offsets.
//!
//! Three branching methods decide whether a layout within a given capacity exists:
//! - [`valley`] applies to instances whose conflicts are those of single intervals. It is fast, restarts,
//!   and branches on any section.
//! - `cliques` extends it to all other instances, that is, those with gaps, alignments, fixed offsets,
//!   separations or exclusions. The two share the search `tree`: restarts, components, memo, levels,
//!   lookahead and failure weights.
//! - [`canonical`] alternates with `cliques`. It refutes some small instances with fewer nodes.
//!
//! `Search` runs these methods at capacities between the bound and the best layout. All methods are
//! exhaustive. An infeasible capacity therefore raises the bound, while a search that reaches its limits
//! proves nothing. All are exponential in the worst case.
//!
//! On interval instances, most bounds above the load are proved by other methods, which alternate with valley
//! branching. These methods are sweeps over sets of arrangements (`arrangements`), clause learning over
//! orders ([`learn`]), a [`sweep`] over time if few buffers are simultaneously live, windows of time
//! ([`crate::offsets::search::windows`]), and their `cores`. On tight instances, an ejection search over
//! orders (`reorder`) improves the best layout.

pub(crate) mod arrangements;
pub mod canonical;
mod cliques;
mod cores;
mod decide;
pub mod learn;
mod memo;
pub(crate) mod minimise;
mod parameters;
mod peaks;
mod portfolio;
mod reorder;
mod solver;
pub mod sweep;
mod tree;
pub mod valley;
pub mod windows;

pub(crate) use decide::Decision;
pub(crate) use decide::{Decide, deepen};
#[cfg(test)]
pub(crate) use parameters::{Branching, SearchParams};
pub(crate) use solver::{Search, most_live};
