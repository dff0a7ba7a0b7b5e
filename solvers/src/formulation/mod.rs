//! The parts that the ILP and SMT formulations of the offset problem share.
//!
//! An instance decomposes into [`Part`]s: connected components of the conflict graph, measured in units of
//! the instance's grain, without the buffers absorbed by others. Parts share no constraint, so the peak of
//! the instance is the highest peak of a part. For a given peak, a [`Domain`] bounds the offset of each
//! buffer and derives forced orders. [`drive()`] runs an [`Engine`] over the parts, maintains incumbent and
//! bound, and accepts a layout only after the checker.
//!
//! ```text
//! instance --split--> parts --greedy--> incumbent --engine, part by part--> layouts and bounds --check--> outcome
//! ```
//!
//! Invariants: a layout of the parts always expands to a layout of the instance with the same peak. All
//! values in units fit `i64` because the instance's ceiling does.

mod bridges;
mod cliques;
mod domain;
mod drive;
mod greedy;
mod part;

pub(crate) use bridges::bridges;
pub(crate) use cliques::cover;
pub(crate) use domain::Domain;
pub(crate) use drive::{Engine, Found, Task, Verdict, drive};
pub(crate) use part::{Part, absorb_dominated};
