//! Finds operator orders of minimum peak and proves them optimal, with reductions, depth-first search and
//! dynamic programming over downsets.
//!
//! The live bytes after a set of operators has run depend only on the set. An order is therefore a path over
//! *downsets*, and its peak is the highest step of the path. All methods share the following:
//! - a `draft` of the problem, which `reduce` shrinks and cuts into parts at downsets that every order passes
//!   through;
//! - further cuts at downsets that some optimal order passes through (`narrow`);
//! - safe runs (`settle`), which leave only one continuation to try for most downsets;
//! - lower bounds on the bytes that will be live later (`ahead`);
//! - a relaxation without small operators at the end, whose optimum is a lower bound (`relax`).
//!
//! ```text
//! problem -> draft -> reduced -> parts -> per part: greedy orders, then
//!                                           search: is there an order with a lower peak? (depth-first, memo)
//!                                           paths:  all downsets within one level, then the next level
//!                                         forwards and backwards, with growing node limits
//! ```
//!
//! With n operators there are up to 2^n downsets, so every method is exponential in the worst case. The time
//! depends on the width of the graph rather than on its length.
//!
//! **Source.** The search over downsets follows Ahn et al. 2020 (SERENITY). Hills and valleys are those of
//! Liu 1987. The reductions were developed in this project.

mod ahead;
mod brute;
mod certify;
mod draft;
mod flow;
#[cfg(test)]
#[path = "../../tests/all/graphs/mod.rs"]
#[allow(dead_code)]
mod graphs;
mod greedy;
mod hills;
#[cfg(feature = "ilp")]
mod ilp;
mod log;
mod memo;
mod narrow;
mod net;
mod paths;
mod reduce;
mod registry;
mod relax;
mod run;
mod search;
mod settle;
mod solver;
#[cfg(feature = "ilp")]
pub(crate) mod steps;
mod windows;

pub use brute::OrderBrute;
pub use certify::{OrderProof, write_problem};
pub use reduce::Reductions;
pub use registry::ENTRIES;
pub use search::OrderRules;
pub use settle::Settling;
pub use solver::{Method, OrderParams, OrderSolver};
