//! Offset assignment as satisfiability modulo integer arithmetic, solved by z3.

mod encode;
mod offsets;
mod run;
mod variants;

pub(crate) use encode::{Encoding, Theory};
pub use offsets::Smt;
pub(crate) use variants::VARIANTS;
