//! Orders of least peak, proved: reductions, search depth first, least peaks level by level, integer programs.
//!
//! The bytes alive after a set of operators ran depend on the set alone, so an order is a path over *downsets*, and the
//! peak its highest step. All methods share
//! - a `draft` of the problem, made smaller by `reduce` and cut into parts where every order passes, or one of least peak (`narrow`);
//! - runs that lose nothing (`settle`), by which most downsets have a single way on;
//! - what must be alive later (`ahead`).
//!
//! ```text
//! problem -> draft -> reduced -> parts -> per part: greedy orders, then
//!                                           search: is there an order below the best?    (depth first, memo)
//!                                           paths:  all downsets within a level, then the next level
//!                                         forwards and backwards, with more and more nodes
//! ```

mod ahead;
mod brute;
mod draft;
mod flow;
mod greedy;
mod memo;
mod narrow;
mod net;
mod paths;
mod reduce;
mod run;
mod search;
mod settle;
mod solver;

pub use brute::OrderBrute;
pub use reduce::Reductions;
pub use search::OrderRules;
pub use settle::Settling;
pub use solver::{Method, OrderParams, OrderSolver};
