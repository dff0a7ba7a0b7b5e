//! What can be wrong with buffers and pairs.

use crate::units::{BufferId, Bytes, Step};

/// Why buffers and pairs are no instance. Ids are positions in the list handed over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum InstanceError {
    /// A buffer of some bytes that is alive at no step.
    #[error(
        "buffer '{name}' of {size} bytes is alive at no step (it begins and ends at {step}); only size 0 allows that"
    )]
    NeverAlive {
        buffer: BufferId,
        name: String,
        size: Bytes,
        /// Where its lifespan begins and ends.
        step: Step,
    },
    #[error("buffer '{name}' has alignment 0; use 1 for none")]
    ZeroAlignment { buffer: BufferId, name: String },
    #[error("duplicate id '{name}'")]
    DuplicateName { first: BufferId, second: BufferId, name: String },
    /// A fixed offset that its own alignment forbids.
    #[error("buffer '{name}' is fixed at offset {offset}, no multiple of its alignment {alignment}")]
    FixedMisaligned { buffer: BufferId, name: String, offset: Bytes, alignment: Bytes },
    /// A pair that names a buffer twice.
    #[error("buffer '{name}' is paired with itself")]
    SelfPair { buffer: BufferId, name: String },
    /// A pair that names a buffer that is not there.
    #[error("a pair names buffer number {index}, but there are only {count}")]
    UnknownBuffer { index: usize, count: usize },
    #[error("buffers '{name}' and '{other_name}' are both separated and exclusive")]
    Contradiction { buffer: BufferId, name: String, other: BufferId, other_name: String },
    /// The sum of all sizes (each aligned, above the highest fixed end) leaves the address space.
    #[error(
        "buffer '{name}': {column} {value} is too large: laid end to end, each aligned, the buffers up to it need \
         {needed} bytes; at most {limit} (2^63 - 1) are allowed"
    )]
    TotalOverflow {
        buffer: BufferId,
        name: String,
        /// What of it is largest: `size`, `alignment` or `offset`.
        column: &'static str,
        value: Bytes,
        /// What the buffers up to this one need, above the highest fixed end, bytes.
        needed: u128,
        limit: Bytes,
    },
    #[error("{count} buffers are more than {} ids", u32::MAX)]
    TooMany { count: usize },
}

impl InstanceError {
    /// The buffers the error speaks of, the offending one first.
    pub fn buffers(&self) -> Vec<BufferId> {
        match self {
            Self::NeverAlive { buffer, .. }
            | Self::ZeroAlignment { buffer, .. }
            | Self::FixedMisaligned { buffer, .. }
            | Self::SelfPair { buffer, .. }
            | Self::TotalOverflow { buffer, .. } => vec![*buffer],
            Self::DuplicateName { first, second, .. } => vec![*second, *first],
            Self::Contradiction { buffer, other, .. } => vec![*other, *buffer],
            Self::UnknownBuffer { .. } | Self::TooMany { .. } => Vec::new(),
        }
    }
}
