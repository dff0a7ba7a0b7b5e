//! The order problem: in which topological order should operators run so that the least memory is alive?
//!
//! An [`OrderProblem`] has operators with precedences and [`Storage`]s that are held from their first use to their last.
//! An [`Order`] is a permutation of the operators. Its peak is the most bytes alive at one step, which is the load of
//! the offset problem that goes with it ([`OrderProblem::instance`]).

mod around;
mod check;
mod problem;

pub use around::{REACH_OPERATORS, around_bound, around_bytes};
pub(crate) use check::recomputed_peak;
pub use check::{check_order, confirm_order_bound};
pub use problem::{Order, OrderError, OrderProblem, Storage};
