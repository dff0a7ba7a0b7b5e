//! Executors: ways to attempt the runs of an experiment.
//!
//! | executor | where runs take place |
//! |---|---|
//! | [`run_here`] | in this process, sequentially |
//! | [`run_in_workers`] | in worker processes, several at a time, with limits on time and memory |
//! | [`external`](crate::external) | external planners, always in processes of their own |
//!
//! [`attempt()`] is a single run of a built-in algorithm, on which the first two rest. A worker process
//! executes [`serve`]. [`compare`] and [`compare_on`] run all algorithms of a problem in this process.

mod attempt;
mod compare;
mod in_process;
mod peers;
mod process;
mod worker;
mod workers;

pub use attempt::attempt;
pub use compare::{Stops, compare, compare_on};
pub use in_process::{Audience, rows, run_here};
pub use worker::{Job, Reply, Request, serve};
pub use workers::{Report, Start, run_in_workers};
