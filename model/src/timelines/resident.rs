//! Weights that stay on chip: which, where, and how they get there.

use super::timeline::{Slot, Span};
use crate::time::Time;
use crate::units::Bytes;

/// Which blocks stay on chip, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Positions of the blocks, ascending.
    pub blocks: Vec<usize>,
    /// Addresses of each block.
    pub slots: Vec<Slot>,
    /// First address above everything else: all slots lie from there on.
    pub ceiling: Bytes,
    /// Bytes from there to the end of the memory.
    pub bytes: Bytes,
    /// Time to fetch them before the program begins; zero where they stay from run to run.
    pub preload: Time,
    /// When and how each of them is fetched then, in the order they start; none where they stay.
    pub loads: Vec<Preload>,
}

/// One fetch before the program begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preload {
    /// Position of the block in [`Residency::blocks`].
    pub resident: usize,
    /// The channel that carries it.
    pub channel: u32,
    /// From start to end.
    pub span: Span,
}

impl Residency {
    /// Nothing stays.
    pub fn none(capacity: Bytes) -> Self {
        let (blocks, slots, loads) = (Vec::new(), Vec::new(), Vec::new());
        Self { blocks, slots, ceiling: capacity, bytes: Bytes::ZERO, preload: Time::ZERO, loads }
    }
}
