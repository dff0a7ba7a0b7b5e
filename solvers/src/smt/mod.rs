//! Offset assignment as satisfiability modulo integer arithmetic, solved by z3.

mod encode;
mod offsets;
mod run;
mod variants;

pub use offsets::{Encoding, Smt, Theory};
pub(crate) use variants::VARIANTS;
