//! Offset assignment as satisfiability modulo integer arithmetic, solved by z3.
