//! Code that the ILP and the SMT formulation of the offset problem share.
//!
//! An instance decomposes into [`Part`]s, the connected components of its conflict graph. Buffers absorbed by
//! others are omitted, and sizes and offsets are measured in units of the instance's grain. Parts share no
//! constraint, so the peak of the instance is the highest peak of a part. For a given peak, a [`Domain`]
//! bounds the offset of each buffer and derives forced orders. [`drive()`] runs an [`Engine`] over the parts,
//! maintains the incumbent and the bound, and accepts a layout only if the checker accepts it.
//!
//! ```text
//! instance --split--> parts --greedy--> incumbent --engine, part by part--> layouts and bounds --check--> outcome
//! ```
//!
//! Invariants: a layout of the parts always expands to a layout of the instance with the same peak. All
//! values in units fit into `i64` because the ceiling of the instance does.

mod bridges;
mod domain;
mod drive;
mod greedy;
mod part;

pub(crate) use bridges::bridges;
pub(crate) use domain::Domain;
pub(crate) use drive::{Engine, Found, Proved, Task, drive};
pub(crate) use part::{Part, absorb_dominated};
