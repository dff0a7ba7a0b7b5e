//! Recognises and reads files with captured plans.

use super::capture::Capture;
use super::error::{CaptureError, CaptureProblem};
use super::{document, idealloc, iree, torch, xla};
use plimsoll_support::contents::{Contents, ContentsError, is_packed};
use std::path::{Path, PathBuf};

/// The maximum size in bytes of a captured file.
const FILE_LIMIT: u64 = 1 << 30;

/// A format of captured plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureFormat {
    /// Buffer assignment of XLA. The live ranges are in a second file.
    Xla,
    /// MLIR of IREE.
    Iree,
    /// Memory snapshot of `PyTorch`.
    Torch,
    /// Placement of `idealloc` (`.plc`).
    Placement,
    /// Trace of `idealloc` (`.trc`).
    Trace,
    /// JSON of this project.
    Json,
}

impl CaptureFormat {
    /// Recognises the format of a file by its first bytes, or by the endings `.plc` and `.trc`. Returns
    /// `None` if the format is unknown.
    pub fn of(path: &Path, head: &[u8]) -> Option<Self> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let text = String::from_utf8_lossy(&head[..head.len().min(4096)]);
        let text = text.trim_start();
        match () {
            () if ending.as_deref() == Some("plc") => Some(Self::Placement),
            () if ending.as_deref() == Some("trc") => Some(Self::Trace),
            // The first instruction of a pickle is its protocol. In a TFLite model, these bytes are part of
            // an offset.
            () if matches!(head, [0x80, 2..=5, ..]) && head.get(4..8) != Some(b"TFL3") => Some(Self::Torch),
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
    if is_packed(&head) {
        return match Contents::read(path, FILE_LIMIT) {
            Ok(packed) => Ok(CaptureFormat::of(&packed.name, &packed.bytes)),
            Err(ContentsError::Io(error)) => Err(CaptureProblem::from(error).of(path)),
            Err(_) => Ok(None),
        };
    }
    Ok(CaptureFormat::of(path, &head))
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
    let Contents { name, bytes } = read(path)?;
    match CaptureFormat::of(&name, &bytes) {
        Some(CaptureFormat::Xla) => {
            let ranges = live_ranges(&name).map_err(|problem| problem.of(path))?;
            let text = read(&ranges)?.bytes;
            let ranges = xla::read_live_ranges(&text).map_err(|problem| problem.of(&ranges))?;
            xla::read(&name, &bytes, &ranges).map_err(|problem| problem.of(path))
        }
        Some(format) => read_as(path, &name, format, &bytes),
        None => Err(CaptureProblem::UnknownFormat.of(path)),
    }
}

/// Reads a file of any format except XLA, whose plans need two files (see [`read_xla`]). `origin` is used in
/// messages and in the names of instances.
///
/// # Errors
/// See [`CaptureError`]. There are no I/O errors.
pub fn read_capture(origin: &Path, format: CaptureFormat, data: &[u8]) -> Result<Vec<Capture>, CaptureError> {
    read_as(origin, origin, format, data)
}

/// Reads a file whose contents are called `name`. `path` is used in messages.
fn read_as(
    path: &Path,
    name: &Path,
    format: CaptureFormat,
    data: &[u8],
) -> Result<Vec<Capture>, CaptureError> {
    let found = match format {
        CaptureFormat::Xla => Err(CaptureProblem::NoLiveRanges),
        CaptureFormat::Iree => iree::read(name, data),
        CaptureFormat::Torch => torch::read(name, data),
        CaptureFormat::Placement => idealloc::read_placement(name, data),
        CaptureFormat::Trace => idealloc::read_trace(name, data),
        CaptureFormat::Json => document::read(name, data),
    };
    found.map_err(|problem| problem.of(path))
}

/// Returns the file with the live ranges of a buffer assignment of XLA. It may be compressed too.
fn live_ranges(assignment: &Path) -> Result<PathBuf, CaptureProblem> {
    let ranges = xla::live_ranges_of(assignment)?;
    let mut packed = ranges.clone().into_os_string();
    packed.push(".gz");
    let packed = PathBuf::from(packed);
    Ok(if !ranges.exists() && packed.exists() { packed } else { ranges })
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

fn read(path: &Path) -> Result<Contents, CaptureError> {
    Contents::read(path, FILE_LIMIT).map_err(|error| CaptureProblem::from(error).of(path))
}
