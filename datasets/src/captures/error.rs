//! Errors of the readers of captured plans.

use plimsoll_model::{InstanceError, json_error};
use plimsoll_support::contents::ContentsError;
use std::io;
use std::path::{Path, PathBuf};

/// An error with the file that it concerns.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct CaptureError {
    /// The file.
    pub file: PathBuf,
    /// The problem, with the line and the value.
    pub problem: Box<CaptureProblem>,
}

/// A problem with a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum CaptureProblem {
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A file that is too large, compressed and cannot be decompressed, or known not to be a plan.
    #[error(transparent)]
    Contents(ContentsError),
    /// The first bytes belong to no known format.
    #[error(
        "unknown format; `audit` reads plans of XLA and IREE, snapshots of PyTorch, traces of idealloc, \
         plimsoll-capture files, instances and models"
    )]
    UnknownFormat,
    /// An unexpected value at a place: a line, a byte, a record or an event.
    #[error("{place}: found '{found}', expected {expected}")]
    Place { place: String, found: String, expected: &'static str },
    /// A buffer without a lifespan.
    #[error("line {line}: value '{name}' has no live range")]
    NoLiveRange { line: usize, name: String },
    /// The name of a buffer assignment of XLA does not determine the file with the live ranges.
    #[error("cannot locate the live ranges: the file name must end in -buffer-assignment.txt")]
    NoLiveRanges,
    #[error("{}", json_error(.0))]
    Json(#[from] serde_json::Error),
    /// The member `format` of a JSON document.
    #[error("format '{0}' is not supported; the only supported format is plimsoll-capture")]
    Format(String),
    #[error("version {0} is not supported; the only supported version is 1")]
    Version(u64),
    /// Buffers that do not form a valid instance.
    #[error("memory '{memory}': {source}")]
    Instance { memory: String, source: InstanceError },
    /// A buffer whose lifespan is not valid.
    #[error("memory '{memory}', buffer '{buffer}': {reason}")]
    Buffer { memory: String, buffer: String, reason: String },
    /// The file contains no memory plan.
    #[error("no memory plan: {0}")]
    Nothing(&'static str),
}

impl From<ContentsError> for CaptureProblem {
    fn from(error: ContentsError) -> Self {
        match error {
            ContentsError::Io(error) => Self::Io(error),
            other => Self::Contents(other),
        }
    }
}

impl CaptureProblem {
    /// Creates a problem at a line. Lines are counted from 1.
    pub(super) fn line(line: usize, found: &str, expected: &'static str) -> Self {
        Self::at(format!("line {line}"), found, expected)
    }

    /// Creates a problem at a place. Long values are shortened.
    pub(super) fn at(place: String, found: &str, expected: &'static str) -> Self {
        let mut found: String = found.trim().chars().take(80).collect();
        if found.is_empty() {
            found.push_str("nothing");
        }
        Self::Place { place, found, expected }
    }

    /// Attaches the file to the problem.
    pub(super) fn of(self, file: &Path) -> CaptureError {
        CaptureError { file: file.to_path_buf(), problem: Box::new(self) }
    }
}
