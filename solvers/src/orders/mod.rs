//! Operator orders of minimum peak, with proof: reductions, depth-first search and dynamic programming over
//! downsets.
//!
//! The live bytes after a set of operators ran depend on the set alone. An order is therefore a path over
//! *downsets*, and its peak is the highest step of the path. All methods share
//! - a `draft` of the problem, shrunk by `reduce` and cut into parts at downsets that every order passes, or
//!   some optimal order (`narrow`);
//! - safe runs (`settle`), which leave most downsets a single continuation;
//! - lower bounds on what must be live later (`ahead`).
//!
//! ```text
//! problem -> draft -> reduced -> parts -> per part: greedy orders, then
//!                                           search: is there an order below the best?    (depth first, memo)
//!                                           paths:  all downsets within a level, then the next level
//!                                         forwards and backwards, with growing node limits
//! ```
//!
//! With n operators there are up to 2^n downsets, so every exact method is exponential in the worst case. The
//! width of the graph, not its length, decides. Sources: Ahn et al. 2020 (SERENITY) for downsets and Liu 1987
//! for hills and valleys; the reductions are this project's.

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
