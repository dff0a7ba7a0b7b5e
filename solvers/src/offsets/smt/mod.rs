//! Offset assignment as satisfiability modulo integer arithmetic, solved by z3.

mod encode;
mod run;
mod solver;

pub use solver::Smt;
