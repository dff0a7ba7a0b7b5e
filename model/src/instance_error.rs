//! Errors in the parts of an instance.

use crate::units::{BufferId, Bytes, Step};

/// The reason why buffers and pairs do not form an instance. Ids are positions in the list of buffers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum InstanceError {
    /// A buffer of non-zero size is live at no step.
    #[error(
        "buffer '{name}' of {size} bytes has an empty lifespan (it begins and ends at step {step}); its size must be 0"
    )]
    NeverLive {
        buffer: BufferId,
        name: String,
        size: Bytes,
        /// The step at which the lifespan begins and ends.
        step: Step,
    },
    #[error("buffer '{name}' has alignment 0; use 1 for none")]
    ZeroAlignment { buffer: BufferId, name: String },
    #[error("duplicate id '{name}'")]
    DuplicateName { first: BufferId, second: BufferId, name: String },
    /// The fixed offset is not a multiple of the alignment of the buffer.
    #[error(
        "buffer '{name}' is fixed at offset {offset}, which is not a multiple of its alignment {alignment}"
    )]
    FixedMisaligned { buffer: BufferId, name: String, offset: Bytes, alignment: Bytes },
    /// The pair consists of a buffer and itself.
    #[error("buffer '{name}' is paired with itself")]
    SelfPair { buffer: BufferId, name: String },
    /// The pair contains a buffer that does not exist.
    #[error("a pair contains buffer number {index}, but there are only {count} buffers")]
    UnknownBuffer { index: usize, count: usize },
    #[error("the pair of buffers '{name}' and '{other_name}' is both separated and excluded")]
    Contradiction { buffer: BufferId, name: String, other: BufferId, other_name: String },
    /// The buffers exceed the address space if they are aligned and laid end to end above the highest end of
    /// a fixed buffer.
    #[error(
        "buffer '{name}': {column} {value} is too large; the buffers up to this one, aligned and laid end to end, \
         need {needed} bytes, but at most {limit} (2^63 - 1) are allowed"
    )]
    TotalOverflow {
        buffer: BufferId,
        name: String,
        /// The column with the largest value of this buffer: `size`, `alignment` or `offset`.
        column: &'static str,
        value: Bytes,
        /// The highest end of a fixed buffer, plus the bytes that the buffers up to this one need if they
        /// are laid end to end above that address.
        needed: u128,
        limit: Bytes,
    },
    #[error("{count} buffers exceed the limit of {}", u32::MAX)]
    TooMany { count: usize },
}

impl InstanceError {
    /// Returns the buffers that cause the error. The buffer to be corrected comes first.
    pub fn buffers(&self) -> Vec<BufferId> {
        match self {
            Self::NeverLive { buffer, .. }
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
