//! Offset assignment as satisfiability modulo integer arithmetic, solved by z3.

mod encode;
mod run;
mod solver;
mod variants;

pub(crate) use encode::{Encoding, Theory};
pub use solver::Smt;
pub(crate) use variants::VARIANTS;
