//! Recognises and reads files with captured plans.

use super::capture::Capture;
use super::error::{CaptureError, CaptureProblem};
use super::{document, iree, xla};
use std::path::Path;

/// The maximum size in bytes of a captured file.
const FILE_LIMIT: u64 = 1 << 30;

/// A format of captured plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureFormat {
    /// Buffer assignment of XLA. The live ranges are in a second file.
    Xla,
    /// MLIR of IREE.
    Iree,
    /// JSON of this project.
    Json,
}

impl CaptureFormat {
    /// Recognises the format of a file by its first bytes. Returns `None` if the format is unknown.
    pub fn of(head: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(&head[..head.len().min(4096)]);
        let text = text.trim_start();
        match () {
            () if text.starts_with("BufferAssignment:") => Some(Self::Xla),
            // Warnings of the compiler may precede the text.
            () if text.contains("// -----// IR Dump ") => Some(Self::Iree),
            () if text.starts_with('{') && text.contains("\"plimsoll-capture\"") => Some(Self::Json),
            () => None,
        }
    }
}

/// Returns the format of a file, or `None` if it contains no captured plan.
///
/// # Errors
/// If the file cannot be read.
pub fn capture_format(path: &Path) -> Result<Option<CaptureFormat>, CaptureError> {
    use std::io::Read as _;
    let mut head = Vec::new();
    let opened = std::fs::File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    opened.map_err(|error| CaptureProblem::from(error).of(path))?;
    Ok(CaptureFormat::of(&head))
}

/// Reads the captured plans of a file. For XLA, the live ranges are read from the file of the same name that
/// ends in `-live-range.txt` instead of `-buffer-assignment.txt`.
///
/// Plans without buffers are skipped. The time is O(n log n + p) for n buffers and p pairs of buffers that
/// are live at the same step.
///
/// # Errors
/// See [`CaptureError`].
pub fn read_captures(path: &Path) -> Result<Vec<Capture>, CaptureError> {
    let data = read(path)?;
    match CaptureFormat::of(&data) {
        Some(CaptureFormat::Xla) => {
            let ranges = xla::live_ranges_of(path).map_err(|problem| problem.of(path))?;
            let text = read(&ranges)?;
            let ranges = xla::read_live_ranges(&text).map_err(|problem| problem.of(&ranges))?;
            xla::read(path, &data, &ranges).map_err(|problem| problem.of(path))
        }
        Some(CaptureFormat::Iree) => iree::read(path, &data).map_err(|problem| problem.of(path)),
        Some(CaptureFormat::Json) => document::read(path, &data),
        None => Err(CaptureProblem::UnknownFormat.of(path)),
    }
}

/// Reads the buffer assignment and the live ranges of an XLA module. `origin` is used in messages and in the
/// names of instances.
///
/// # Errors
/// See [`CaptureError`]. There are no I/O errors.
pub fn read_xla(origin: &Path, assignment: &[u8], ranges: &[u8]) -> Result<Vec<Capture>, CaptureError> {
    let ranges = xla::read_live_ranges(ranges).map_err(|problem| problem.of(origin))?;
    xla::read(origin, assignment, &ranges).map_err(|problem| problem.of(origin))
}

/// Reads the MLIR of IREE. `origin` is used in messages and in the names of instances.
///
/// # Errors
/// See [`CaptureError`]. There are no I/O errors.
pub fn read_iree(origin: &Path, text: &[u8]) -> Result<Vec<Capture>, CaptureError> {
    iree::read(origin, text).map_err(|problem| problem.of(origin))
}

/// Reads a JSON document with captured plans. `origin` is used in messages and in the names of instances.
///
/// # Errors
/// See [`CaptureError`]. There are no I/O errors.
pub fn read_capture_json(origin: &Path, data: &[u8]) -> Result<Vec<Capture>, CaptureError> {
    document::read(origin, data)
}

fn read(path: &Path) -> Result<Vec<u8>, CaptureError> {
    let read = || {
        let bytes = std::fs::metadata(path)?.len();
        if bytes > FILE_LIMIT {
            return Err(CaptureProblem::TooLarge(bytes));
        }
        Ok(std::fs::read(path)?)
    };
    read().map_err(|problem| problem.of(path))
}
