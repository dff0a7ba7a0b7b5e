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
    #[error("buffer '{name}' lies above two buffers, '{}' and '{}'; only one is allowed", .lower[0], .lower[1])]
    AboveTwo { buffer: BufferId, name: String, lower: [String; 2] },
    /// The statements about distances form a cycle.
    #[error("buffer '{name}' lies above '{other_name}', which lies above '{name}'")]
    AboveItself { buffer: BufferId, name: String, other: BufferId, other_name: String },
    /// No base of a rigid group satisfies the alignments of two members.
    #[error(
        "buffer '{name}' lies {distance} bytes above '{other_name}', which no offset allows: the alignments are \
         {} and {} bytes", .alignments[0], .alignments[1]
    )]
    AlignmentsExclude {
        buffer: BufferId,
        name: String,
        other: BufferId,
        other_name: String,
        distance: Bytes,
        /// The alignments of the buffer and of the other buffer.
        alignments: Box<[Bytes; 2]>,
    },
    /// The fixed offsets of two members of a rigid group contradict their distance.
    #[error(
        "buffer '{name}' is fixed at offset {offset}, but the distances from '{other_name}', which is fixed too, \
         require offset {place}"
    )]
    FixedApart {
        buffer: BufferId,
        name: String,
        offset: Bytes,
        /// The offset that follows from the fixed offset of the other buffer.
        place: Bytes,
        other: BufferId,
        other_name: String,
    },
    /// A member of a rigid group would have a negative offset.
    #[error(
        "buffer '{name}' is fixed at offset {offset}, but lies {distance} bytes above '{lowest_name}', which would \
         have a negative offset"
    )]
    BelowZero {
        buffer: BufferId,
        name: String,
        offset: Bytes,
        lowest: BufferId,
        lowest_name: String,
        distance: Bytes,
    },
    /// The buffers exceed the address space if they are aligned and laid end to end above the highest end of
    /// a fixed buffer, or a distance or an alignment of a rigid group exceeds it.
    #[error(
        "buffer '{name}': {column} {value} is too large; the buffers up to this one, aligned and laid end to end, \
         need {needed} bytes, but at most {limit} (2^63 - 1) are allowed"
    )]
    TotalOverflow {
        buffer: BufferId,
        name: String,
        /// The column with the largest value of this buffer: `size`, `alignment`, `offset` or `above`.
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
            | Self::AboveTwo { buffer, .. }
            | Self::TotalOverflow { buffer, .. } => vec![*buffer],
            Self::DuplicateName { first, second, .. } => vec![*second, *first],
            Self::Contradiction { buffer, other, .. } => vec![*other, *buffer],
            Self::AboveItself { buffer, other, .. }
            | Self::AlignmentsExclude { buffer, other, .. }
            | Self::FixedApart { buffer, other, .. }
            | Self::BelowZero { buffer, lowest: other, .. } => vec![*buffer, *other],
            Self::UnknownBuffer { .. } | Self::TooMany { .. } => Vec::new(),
        }
    }
}
