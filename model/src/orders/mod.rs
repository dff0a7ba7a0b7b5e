//! The order problem: find a topological order of the operators with the smallest peak live bytes.
//!
//! An [`OrderProblem`] consists of operators with precedences, and of [`Storage`]s that are held from their
//! first use to their last. An [`Order`] is a permutation of the operators. Its peak is the maximum number of
//! live bytes at any step. The peak equals the load of the corresponding offset problem
//! ([`OrderProblem::instance`]).

mod around;
mod check;
mod goal;
mod problem;

pub use around::{REACH_OPERATORS, around_bound, around_bytes};
pub(crate) use check::recomputed_peak;
pub use check::{check_order, confirm_order_bound};
pub use goal::Orders;
pub use problem::{Order, OrderError, OrderProblem, Storage};
