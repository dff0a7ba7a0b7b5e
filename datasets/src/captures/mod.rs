//! Memory plans captured from production compilers and runtimes: buffers, lifespans and the planner's layout.
//!
//! | format | source | interval ends |
//! |---|---|---|
//! | XLA | `*-buffer-assignment.txt` and `*-live-range.txt`, written with `--xla_dump_to` | inclusive |
//! | IREE | MLIR printed before and after the pass `iree-stream-layout-slices` | inclusive |
//! | JSON | `plimsoll-capture`, written by the scripts in `experiments/production` | half-open |
//!
//! The readers convert inclusive ends to half-open ones. Text formats of compilers have no version, so each
//! reader rejects what it does not know inside the parts that it reads, and skips all other parts.

mod document;
mod error;
mod iree;
mod xla;

pub use document::{CaptureDocument, CapturedBuffer, CapturedMemory};
pub use error::{CaptureError, CaptureProblem};

use plimsoll_model::{Bytes, Instance, Layout};
use std::path::Path;

/// The maximum size in bytes of a captured file.
const FILE_LIMIT: u64 = 1 << 30;

/// The alignment in bytes that text formats imply but do not contain. It is the alignment of XLA and IREE on
/// CPUs.
const ALIGNMENT: u64 = 64;

/// The plan of another planner for one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The framework and the planner, such as `XLA`.
    pub planner: String,
    /// The buffers. Lifespans are half-open.
    pub instance: Instance,
    /// The layout of the planner, if the file contains all offsets.
    pub layout: Option<Layout>,
    /// The number of bytes that the planner reserves.
    pub peak: Bytes,
}

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
    /// Recognises the format of a file by its first bytes. Returns `None` for other files.
    pub fn of(head: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(&head[..head.len().min(4096)]);
        let text = text.trim_start();
        match () {
            () if text.starts_with("BufferAssignment:") => Some(Self::Xla),
            () if text.starts_with("// -----// IR Dump ") => Some(Self::Iree),
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
/// Plans without buffers are skipped. The time is O(n log n + p) for n buffers and p pairs of buffers that are
/// live at the same step.
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

/// Reads the buffer assignment and the live ranges of an XLA module. `origin` is used as a name.
///
/// # Errors
/// See [`CaptureError`]. There are no I/O errors.
pub fn read_xla(origin: &Path, assignment: &[u8], ranges: &[u8]) -> Result<Vec<Capture>, CaptureError> {
    let ranges = xla::read_live_ranges(ranges).map_err(|problem| problem.of(origin))?;
    xla::read(origin, assignment, &ranges).map_err(|problem| problem.of(origin))
}

/// Reads the MLIR of IREE. `origin` is used as a name.
///
/// # Errors
/// See [`CaptureError`]. There are no I/O errors.
pub fn read_iree(origin: &Path, text: &[u8]) -> Result<Vec<Capture>, CaptureError> {
    iree::read(origin, text).map_err(|problem| problem.of(origin))
}

/// Reads a JSON document with captured plans. `origin` is used in messages.
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

/// Returns the text of a file.
fn text_of(data: &[u8]) -> Result<&str, CaptureProblem> {
    std::str::from_utf8(data).map_err(|error| {
        let line = 1 + data[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        CaptureProblem::line(line, "bytes that are not UTF-8", "UTF-8 text")
    })
}

/// Returns the alignment that all offsets have: [`ALIGNMENT`], or a smaller power of two.
fn alignment_of(offsets: impl IntoIterator<Item = u64>) -> u64 {
    let all = offsets.into_iter().fold(ALIGNMENT, |all, offset| all | offset);
    1 << all.trailing_zeros()
}

/// Returns the name of a file without its folder, its suffix and `end`.
fn stem(path: &Path, end: &str) -> String {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    stem.strip_suffix(end).map(str::to_owned).unwrap_or(stem)
}
