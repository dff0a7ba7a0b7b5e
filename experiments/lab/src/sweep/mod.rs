//! Sweeps: many runs described by one file, each in its own process, one row per run.
//!
//! | part | purpose |
//! |---|---|
//! | [`Sweep`] | reads the TOML file, resolves instances and algorithms, lists the runs in order |
//! | [`run()`] | attempts the runs without a row, several at a time, and appends a row when one ends |
//! | [`worker`] | serves runs sequentially in a separate process |
//! | [`Manifest`] | the description stored beside the rows, and its difference from another sweep |
//! | [`merge()`] | joins shards |
//! | [`slurm`] | scripts for a cluster |
//!
//! Runs are isolated. Each has a process of its own while it lasts, and a crash, a hang or exhausted memory
//! becomes a row. Every row is appended by one `write` and flushed to disk at most once a second. A killed
//! sweep therefore loses no finished run, and a failing machine loses few. After the last run, the rows are
//! sorted by run and the file is replaced atomically.

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

/// Errors of a sweep.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The sweep file is not valid.
    #[error("{}: line {line}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// What is wrong, and what is allowed.
        message: String,
    },
    /// The manifest of a folder is not valid.
    #[error("{}: {why}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The folder contains another sweep.
    #[error("{} contains another sweep: {difference}", folder.display())]
    Other {
        /// The folder of the other sweep.
        folder: PathBuf,
        /// The first difference between the two sweeps.
        difference: String,
    },
    /// Another process writes into the folder.
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// Rows cannot be read, or do not belong to this sweep.
    #[error(transparent)]
    Rows(#[from] RecordError),
    /// A worker process does not start.
    #[error("cannot start a worker process: {0}")]
    Worker(String),
    /// The folders cannot be merged into one sweep.
    #[error("{0}")]
    Merge(String),
    /// Slurm rejects a job.
    #[error("sbatch: {0}")]
    Slurm(String),
}
