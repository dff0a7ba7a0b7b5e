//! Errors in files of the structured schema.

use plimsoll_model::{Bytes, InstanceError, json_error};
use plimsoll_support::contents::ContentsError;
use std::io;
use std::path::PathBuf;

/// An error that occurs while a document is read, split or written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum DsaError {
    #[error("{file}: {source}", file = .file.display())]
    Io { file: PathBuf, source: io::Error },
    /// A file that cannot be read or decompressed.
    #[error("{file}: {source}", file = .file.display())]
    Contents { file: PathBuf, source: ContentsError },
    #[error("{file}: {}", json_error(.source), file = .file.display())]
    Json { file: PathBuf, source: serde_json::Error },
    /// An invalid or unsupported item.
    #[error("{file}: {at}: {kind}", file = .file.display())]
    Item {
        file: PathBuf,
        /// The location: `the document`, a path of members and positions (`problem.buffers[3].size`), or a
        /// description of a pool or a buffer.
        at: String,
        kind: Box<DsaErrorKind>,
    },
}

/// The error in an item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field; all sizes and addresses are in bytes")]
pub enum DsaErrorKind {
    /// A value of the wrong type or out of range.
    #[error("expected {expected}, found {found}")]
    Value { found: String, expected: &'static str },
    /// A missing mandatory member.
    #[error("member '{0}' is missing")]
    Missing(&'static str),
    /// An unknown member. It is rejected, since it may change the problem.
    #[error("unknown member '{0}'")]
    UnknownMember(String),
    /// An unsupported version.
    #[error("version {0} is not supported; the only supported version is 1")]
    Version(String),
    #[error("id {id} is already used by {kind} {first} (counting from 0)")]
    DuplicateId { kind: &'static str, id: u32, first: usize },
    #[error("there is no {kind} with id {id}")]
    UnknownId { kind: &'static str, id: u32 },
    /// An empty range of addresses.
    #[error("[{lower}, {upper}) is empty: the end must exceed the beginning")]
    EmptyRange { lower: u64, upper: u64 },
    /// An empty live interval.
    #[error("[{lower}, {upper}) is empty: the end must exceed the beginning")]
    EmptyLife { lower: i64, upper: i64 },
    #[error("the buffer has no live interval")]
    NeverLive,
    /// A buffer without an allowed pool.
    #[error("expected at least one allowed pool")]
    NoPool,
    /// A range of addresses that extends beyond the capacity.
    #[error("[{begin}, {end}) extends beyond the capacity {capacity} of pool {pool}")]
    BeyondCapacity { begin: Bytes, end: Bytes, capacity: Bytes, pool: String },
    #[error("[{begin}, {end}) overlaps the reserved range [{}, {}) of pool {pool}", .reserved.0, .reserved.1)]
    Reserved { begin: Bytes, end: Bytes, reserved: (Bytes, Bytes), pool: String },
    /// A pin whose offset violates the alignment.
    #[error("offset {offset} is not a multiple of the alignment {alignment}")]
    Misaligned { offset: Bytes, alignment: Bytes },
    /// A pin to a pool that is not allowed for the buffer.
    #[error("pinned to pool {0}, which is not one of the allowed pools")]
    PinnedElsewhere(String),
    #[error("the buffer, or one colocated with it, is pinned to both {0} and {1}")]
    PinnedTwice(String, String),
    #[error("buffer {0} is paired with itself")]
    OwnPair(u32),
    /// Two buffers that are both separated and colocated.
    #[error("buffers {0} and {1} are both separated and colocated")]
    SeparatedColocated(u32, u32),
    #[error("the {0} colocated buffers have no allowed pool in common")]
    NoCommonPool(usize),
    /// More than one allowed pool is large enough for the buffer, and no pin selects one of them.
    #[error(
        "more than one pool is possible: {0}; each pool is planned separately, so exactly one pool must be allowed"
    )]
    SeveralPools(String),
    /// A buffer that is too large for each of its allowed pools.
    #[error("the {size} bytes of the buffer do not fit into any of its allowed pools: {pools}")]
    TooLarge { size: Bytes, pools: String },
    /// Alignments of colocated buffers whose least common multiple does not fit into 64 bits.
    #[error("the alignments of the colocated buffers have no common multiple below 2^64")]
    Alignment,
    /// A lifespan that the schema cannot represent.
    #[error("step {0} exceeds the largest step of the schema, 2^63 - 1")]
    LateStep(u64),
    /// A rigid group, which the schema cannot represent.
    #[error(
        "must lie {distance} bytes above buffer '{lower}', which the schema cannot express: it only has \
         colocations at the same offset"
    )]
    Above { lower: String, distance: Bytes },
    /// A pool that is not a valid instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}
