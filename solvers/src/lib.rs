//! Proven answers: bounds, our own search, ILP (good_lp + HiGHS), SMT (z3).

pub mod bounds;
mod brute;
pub mod clique;
pub mod ilp;
pub mod search;
pub mod smt;

pub use brute::BruteForce;

use plimsoll_model::{Entry, Offsets, Pools};

/// Every exact solver for the offset problem.
pub const OFFSETS: &[Entry<Offsets>] = &[];

/// Every exact solver for the shared-object problem.
pub const POOLS: &[Entry<Pools>] = &[];
