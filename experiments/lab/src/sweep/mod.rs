//! Sweeps: many runs described by one file, each in a process of its own, one row per run.
//!
//! | part | does |
//! |---|---|
//! | [`Sweep`] | reads the file (TOML), finds instances and algorithms, lists the runs in order, each with a key |
//! | [`run()`] | attempts the runs that have no row yet, several at a time, and appends a row as each ends |
//! | [`worker`] | serves one run after the other in a process of its own |
//! | [`Manifest`] | what is stored beside the rows; in what another sweep differs |
//! | [`merge()`] | joins shards |
//! | [`slurm`] | scripts for a cluster |
//!
//! Nothing that a run does can harm the others: it has a process for itself while it lasts, and that it crashed, hung or
//! took too much memory is a row too. Rows are appended by one `write` each and written through to the disk at most once
//! a second, so that a sweep that is killed loses no finished run, and one whose machine fails loses little. When the last
//! run is in, rows are put in the order of runs, which replaces the file as a whole.

mod file;
mod inputs;
mod lists;
mod manifest;
mod merge;
mod pool;
mod process;
mod resolve;
pub mod slurm;
mod store;
mod tasks;
pub mod worker;

pub use inputs::Input;
pub use manifest::{Manifest, Shard};
pub use merge::{Merge, merge};
pub use pool::{Report, Start, run};
pub use resolve::{Run, Sweep};
pub use tasks::Task;

use crate::record::RecordError;
use std::path::PathBuf;

/// Why a sweep cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A file or folder that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file of a sweep says something that cannot be.
    #[error("{}: line {line}: {message}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The manifest of a folder is none.
    #[error("{}: {why}", path.display())]
    Manifest {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The folder holds another sweep.
    #[error("{} holds another sweep: {difference}", folder.display())]
    Other {
        /// Which folder.
        folder: PathBuf,
        /// The first thing that differs.
        difference: String,
    },
    /// Another process writes into the folder.
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// Rows that cannot be read, or are not of this sweep.
    #[error(transparent)]
    Rows(#[from] RecordError),
    /// A process for runs does not start.
    #[error("cannot start a process for runs: {0}")]
    Worker(String),
    /// Folders that do not make one sweep.
    #[error("{0}")]
    Merge(String),
    /// Slurm does not take a job.
    #[error("sbatch: {0}")]
    Slurm(String),
}
