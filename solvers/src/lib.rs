//! Proven answers: bounds, our own search, ILP (good_lp + HiGHS), SMT (z3).

mod formulation;
pub mod ilp;
pub mod smt;

use plimsoll_model::{Entry, Offsets, Pools};

/// Every exact solver for the offset problem.
pub const OFFSETS: &[Entry<Offsets>] = &[];

/// Every exact solver for the shared-object problem.
pub const POOLS: &[Entry<Pools>] = &[];
