//! Offset assignment as satisfiability modulo integer arithmetic, solved by z3.

mod encode;
mod z3run;
mod offsets;

pub use offsets::{Encoding, Smt, Theory};
