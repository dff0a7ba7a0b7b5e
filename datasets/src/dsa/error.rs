//! Errors of the structured schema.

use plimsoll_model::{Bytes, InstanceError};
use std::io;
use std::path::PathBuf;

/// An error with the file and the item it refers to.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum DsaError {
    #[error("{file}: {source}", file = .file.display())]
    Io { file: PathBuf, source: io::Error },
    #[error("{file}: {source}", file = .file.display())]
    Json { file: PathBuf, source: serde_json::Error },
    /// An invalid item.
    #[error("{file}: {at}: {kind}", file = .file.display())]
    Item {
        file: PathBuf,
        /// The item: a path of members and positions (`problem.buffers[3].size`), or its kind and id.
        at: String,
        kind: Box<DsaErrorKind>,
    },
}

/// The problem with an item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field; all sizes and addresses are bytes")]
pub enum DsaErrorKind {
    /// A value of the wrong type or out of range.
    #[error("it is {found}, but must be {expected}")]
    Value { found: String, expected: &'static str },
    /// A missing required member.
    #[error("member '{0}' is missing")]
    Missing(&'static str),
    /// An unknown member, which might change the problem.
    #[error("unknown member '{0}'")]
    UnknownMember(String),
    /// An unsupported version.
    #[error("version {0} is not supported; the only supported version is 1")]
    Version(String),
    #[error("id {id} is already used by {kind} {first} (indices start at 0)")]
    DuplicateId { kind: &'static str, id: u32, first: usize },
    #[error("there is no {kind} with id {id}")]
    UnknownId { kind: &'static str, id: u32 },
    /// An empty range of addresses.
    #[error("[{lower}, {upper}) is empty: the end must exceed the start")]
    EmptyRange { lower: u64, upper: u64 },
    /// An empty live interval.
    #[error("[{lower}, {upper}) is empty: the end must exceed the start")]
    EmptyLife { lower: i64, upper: i64 },
    #[error("no live interval")]
    NeverLive,
    /// A buffer without allowed pools.
    #[error("no pool is allowed")]
    NoPool,
    /// A range of addresses beyond the capacity.
    #[error("[{begin}, {end}) lies beyond the capacity {capacity} of pool {pool}")]
    BeyondCapacity { begin: Bytes, end: Bytes, capacity: Bytes, pool: String },
    #[error("[{begin}, {end}) meets the reserved range [{}, {}) of pool {pool}", .reserved.0, .reserved.1)]
    Reserved { begin: Bytes, end: Bytes, reserved: (Bytes, Bytes), pool: String },
    /// A pin at a misaligned offset.
    #[error("offset {offset} is not a multiple of the alignment {alignment}")]
    Misaligned { offset: Bytes, alignment: Bytes },
    /// A pin to a pool that the buffer does not allow.
    #[error("it is pinned to pool {0}, which is not one of its allowed pools")]
    PinnedElsewhere(String),
    #[error("it, or a buffer colocated with it, is pinned to both {0} and {1}")]
    PinnedTwice(String, String),
    #[error("a pair of buffer {0} with itself")]
    OwnPair(u32),
    /// Two buffers that must and must not have a common offset.
    #[error("buffers {0} and {1} are separated, but colocated")]
    SeparatedColocated(u32, u32),
    #[error("no pool is allowed for all {0} buffers colocated with it")]
    NoCommonPool(usize),
    /// Several allowed pools: offsets alone cannot decide between them.
    #[error(
        "it may lie in any of the pools {0}; pools are planned separately, so exactly one must be allowed"
    )]
    SeveralPools(String),
    /// A buffer larger than each of its allowed pools.
    #[error("its {size} bytes fit into none of its pools {pools}")]
    TooLarge { size: Bytes, pools: String },
    /// Alignments of colocated buffers whose least common multiple exceeds 64 bits.
    #[error("the alignments of the buffers colocated with it have no common multiple below 2^64")]
    Alignment,
    /// A step that the schema cannot represent.
    #[error("step {0} exceeds the maximum of the schema, 2^63 - 1")]
    LateStep(u64),
    /// A pool whose problem is not a valid instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}
