//! A captured plan, and the functions that its readers share.

use super::error::CaptureProblem;
use plimsoll_model::{Bytes, Instance, Layout};
use std::path::Path;

/// The largest alignment, in bytes, that is assumed for text formats, which do not contain the alignment. XLA
/// and IREE use this alignment on CPUs.
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

/// Decodes the text of a file.
pub(super) fn text_of(data: &[u8]) -> Result<&str, CaptureProblem> {
    std::str::from_utf8(data).map_err(|error| {
        let before = String::from_utf8_lossy(&data[..error.valid_up_to()]);
        let line = 1 + before.matches('\n').count();
        CaptureProblem::line(line, "bytes that are not UTF-8", "UTF-8 text")
    })
}

/// Returns the largest power of two, at most [`ALIGNMENT`], that divides all offsets.
pub(super) fn alignment_of(offsets: impl IntoIterator<Item = u64>) -> u64 {
    let all = offsets.into_iter().fold(ALIGNMENT, |all, offset| all | offset);
    1 << all.trailing_zeros()
}

/// Returns the name of a file without its folder, its extension and the ending `end`.
pub(super) fn stem(path: &Path, end: &str) -> String {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    stem.strip_suffix(end).map(str::to_owned).unwrap_or(stem)
}
