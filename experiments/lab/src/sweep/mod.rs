//! Sweeps: many runs described by one file. Each run of a built-in algorithm takes place in a worker process,
//! and each run of an external planner in its own process. Each run becomes one row.
//!
//! | part | purpose |
//! |---|---|
//! | [`Sweep`] | reads the TOML file, resolves instances and algorithms, lists the runs in order |
//! | [`run()`] | attempts the runs without a row, several at a time, and appends a row when a run ends |
//! | [`worker`] | executes runs sequentially in a separate process |
//! | [`Manifest`] | describes the sweep in a file next to the rows, and finds differences between sweeps |
//! | [`merge()`] | joins shards |
//! | [`slurm`] | writes scripts for a cluster |
//!
//! Runs are isolated. A worker process serves one run at a time, and a run that crashes, hangs or exhausts
//! its memory still becomes a row. Every row is appended with one `write`, so no finished run is lost if the
//! sweep is killed. Rows are flushed to disk at most once per second, so few rows are lost if the machine
//! fails. After the last run, the rows are sorted by run and the file is replaced atomically.

mod file;
mod input;
mod inputs;
mod lists;
mod manifest;
mod merge;
mod models;
mod pool;
mod process;
mod readme;
mod resolve;
pub mod slurm;
mod store;
mod tasks;
pub mod worker;

pub use input::Input;
pub use manifest::{InputRecord, Manifest, ModelRecord, Shard};
pub use merge::{Merge, merge};
pub use pool::{Report, Start, run};
pub use resolve::{Run, Sweep};
pub use tasks::Task;

use crate::record::RecordError;
use std::path::PathBuf;

/// An error of a sweep.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error from the file system.
        source: std::io::Error,
    },
    /// The sweep file is invalid.
    #[error("{}: line {line}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
        /// The error and the allowed values.
        message: String,
    },
    /// A [stop request](plimsoll::interrupt) ended the generation of the instances.
    #[error("interrupted while the instances were read or generated")]
    Interrupted,
    /// The manifest of a folder is invalid.
    #[error("{}: {why}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// The error.
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
    /// The folder contains files, but no sweep.
    #[error("cannot write {}: it is neither empty nor the folder of a sweep", .0.display())]
    Foreign(PathBuf),
    /// Another process is writing into the folder.
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
