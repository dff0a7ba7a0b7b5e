//! A captured plan, and the functions that its readers share.

use super::error::CaptureProblem;
use plimsoll_model::{Buffer, Bytes, Instance, InstanceBuilder, Layout, Lifespan};
use std::path::Path;

/// The largest alignment, in bytes, that is assumed for text formats, which do not contain the alignment. XLA
/// and IREE use this alignment on CPUs.
pub(super) const ALIGNMENT: u64 = 64;

/// The plan of another planner for one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The framework and the planner, such as `XLA`.
    pub planner: String,
    /// The buffers. Lifespans are half-open.
    pub instance: Instance,
    /// The layout of the planner, if the file contains all offsets.
    pub layout: Option<Layout>,
    /// The number of bytes that the planner reserves, if the file contains a plan.
    pub peak: Option<Bytes>,
}

/// Decodes the text of a file.
pub(super) fn text_of(data: &[u8]) -> Result<&str, CaptureProblem> {
    std::str::from_utf8(data).map_err(|error| {
        let before = String::from_utf8_lossy(&data[..error.valid_up_to()]);
        let line = 1 + before.matches('\n').count();
        CaptureProblem::line(line, "bytes that are not UTF-8", "UTF-8 text")
    })
}

/// Returns the largest power of two, at most `most`, that divides all offsets. `most` must be a power of two.
pub(super) fn alignment_of(most: u64, offsets: impl IntoIterator<Item = u64>) -> u64 {
    let all = offsets.into_iter().fold(most, |all, offset| all | offset);
    1 << all.trailing_zeros()
}

/// A block of a memory, as recorded by an allocator.
pub(super) struct Block {
    pub name: String,
    /// The number of bytes.
    pub size: u64,
    /// The first step.
    pub lower: u64,
    /// The first step after the lifespan.
    pub upper: u64,
    /// The address of the first byte.
    pub address: u64,
    /// The alignment in bytes.
    pub alignment: u64,
}

/// Returns the instance of blocks in one memory.
pub(super) fn instance_of(name: &str, blocks: &[Block]) -> Result<Instance, CaptureProblem> {
    let mut builder = InstanceBuilder::new(name);
    for block in blocks {
        let lifespan = Lifespan::single(block.lower, block.upper).map_err(|error| {
            let (memory, buffer) = (name.to_owned(), block.name.clone());
            CaptureProblem::Buffer { memory, buffer, reason: error.to_string() }
        })?;
        builder = builder.buffer(Buffer::new(&*block.name, block.size, lifespan).aligned(block.alignment));
    }
    builder.build().map_err(|source| CaptureProblem::Instance { memory: name.to_owned(), source })
}

/// Returns the name of a file without its folder, its extension and the ending `end`.
pub(super) fn stem(path: &Path, end: &str) -> String {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    stem.strip_suffix(end).map(str::to_owned).unwrap_or(stem)
}
