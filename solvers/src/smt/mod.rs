//! Offset assignment as satisfiability modulo integer arithmetic, solved by z3.

mod encode;
mod offsets;
<<<<<<< HEAD
mod z3run;
=======
mod run;
>>>>>>> formulations

pub use offsets::{Encoding, Smt, Theory};
