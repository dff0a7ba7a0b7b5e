//! The errors of experiments.

use crate::row::RowError;
use std::path::PathBuf;

/// An error of an experiment.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
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
    Rows(#[from] RowError),
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
