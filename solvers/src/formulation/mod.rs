//! What the ILP and the SMT formulations of the offset problem share.
//!
//! An instance falls apart into [`Part`]s: connected components of the conflict graph, counted in units of
//! the instance's grain, less the buffers another one absorbs. Parts share no constraint; the peak of the
//! whole is the highest of theirs. A [`Domain`] narrows, for a given peak, where each buffer may lie and
//! who must lie below whom. [`drive()`] runs an [`Engine`] over the parts, keeps the incumbent and the
//! bound, and asks the checker before it believes any layout.
//!
//! ```text
//! instance --split--> parts --greedy--> incumbent --engine, part by part--> layouts and bounds --check--> outcome
//! ```
//!
//! Invariants: a layout of the parts always expands to a layout of the instance with the same peak;
//! everything counted in units fits `i64` because the instance's ceiling does.

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
