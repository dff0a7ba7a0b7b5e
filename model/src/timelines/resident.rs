//! The set of weights that stay in on-chip memory.

use super::timeline::{Slot, Span};
use crate::time::Time;
use crate::units::Bytes;

/// The resident weight blocks, with their addresses and preload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    /// The indices of the blocks, ascending.
    pub blocks: Vec<usize>,
    /// The address range of each block.
    pub slots: Vec<Slot>,
    /// The lowest address of the memory that is reserved for resident blocks. All slots are at this address
    /// or above.
    pub ceiling: Bytes,
    /// The bytes from the ceiling to the end of the memory.
    pub bytes: Bytes,
    /// The time to fetch the blocks before the program begins; zero if they stay from run to run.
    pub preload: Time,
    /// The transfers of the preload, in the order of their start; empty if the blocks stay from run to run.
    pub loads: Vec<Preload>,
}

/// A transfer before the program begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preload {
    /// The index of the block in [`Residency::blocks`].
    pub resident: usize,
    /// The channel of the transfer.
    pub channel: u32,
    /// The time span of the transfer.
    pub span: Span,
}

impl Residency {
    /// Creates a residency without resident blocks.
    pub fn none(capacity: Bytes) -> Self {
        let (blocks, slots, loads) = (Vec::new(), Vec::new(), Vec::new());
        Self { blocks, slots, ceiling: capacity, bytes: Bytes::ZERO, preload: Time::ZERO, loads }
    }
}
