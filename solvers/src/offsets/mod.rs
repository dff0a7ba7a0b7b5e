//! Exact solvers for offsets: bounds, branch and bound, integer programs, satisfiability, and proofs.

pub mod bounds;
mod brute;
mod exact;
#[cfg(any(feature = "ilp", feature = "smt"))]
// Some items of this shared module serve only one of the two libraries.
#[cfg_attr(not(all(feature = "ilp", feature = "smt")), allow(dead_code, unused_imports))]
pub(crate) mod formulation;
#[cfg(feature = "ilp")]
pub mod ilp;
pub mod proof;
mod registry;
pub mod search;
#[cfg(feature = "smt")]
pub mod smt;

pub use brute::BruteForce;
pub use exact::Exact;
#[cfg(feature = "ilp")]
pub use ilp::Ilp;
pub use registry::ENTRIES;
