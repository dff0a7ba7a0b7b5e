//! Why a file in the structured schema gives no instances.

use plimsoll_model::{Bytes, InstanceError};
use std::io;
use std::path::PathBuf;

/// What is wrong, with the file and the item it is about.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum DsaError {
    #[error("{file}: {source}", file = .file.display())]
    Io { file: PathBuf, source: io::Error },
    #[error("{file}: {source}", file = .file.display())]
    Json { file: PathBuf, source: serde_json::Error },
    /// An item that cannot be taken as it is.
    #[error("{file}: {at}: {kind}", file = .file.display())]
    Item {
        file: PathBuf,
        /// The item: a path of members and positions (`problem.buffers[3].size`), or what it is and its id.
        at: String,
        kind: Box<DsaErrorKind>,
    },
}

/// What is wrong with an item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field; all sizes and addresses are bytes")]
pub enum DsaErrorKind {
    /// A value of another type or out of range.
    #[error("it is {found}, but must be {expected}")]
    Value { found: String, expected: &'static str },
    /// A member that has to be there.
    #[error("member '{0}' is missing")]
    Missing(&'static str),
    /// A member nobody knows, which may change what is asked.
    #[error("unknown member '{0}'")]
    UnknownMember(String),
    /// A version this build does not know.
    #[error("version {0} is not 1, the only one this build reads")]
    Version(String),
    #[error("id {id} is that of {kind} {first} already, counted from 0")]
    DuplicateId { kind: &'static str, id: u32, first: usize },
    #[error("there is no {kind} with id {id}")]
    UnknownId { kind: &'static str, id: u32 },
    /// A range of addresses without a single byte.
    #[error("[{lower}, {upper}) is empty: the end must exceed the begin")]
    EmptyRange { lower: u64, upper: u64 },
    /// A live interval without a single step.
    #[error("[{lower}, {upper}) is empty: the end must exceed the begin")]
    EmptyLife { lower: i64, upper: i64 },
    #[error("no live interval")]
    NeverAlive,
    /// A buffer that no pool may hold.
    #[error("no pool is allowed")]
    NoPool,
    /// A range of addresses beyond the capacity.
    #[error("[{begin}, {end}) lies beyond the capacity {capacity} of pool {pool}")]
    BeyondCapacity { begin: Bytes, end: Bytes, capacity: Bytes, pool: String },
    #[error("[{begin}, {end}) meets the reserved range [{}, {}) of pool {pool}", .reserved.0, .reserved.1)]
    Reserved { begin: Bytes, end: Bytes, reserved: (Bytes, Bytes), pool: String },
    /// A pin at an offset that the alignment forbids.
    #[error("offset {offset} is not a multiple of the alignment {alignment}")]
    Misaligned { offset: Bytes, alignment: Bytes },
    /// A pin to a pool that the buffer may not be in.
    #[error("it is pinned to pool {0}, which is none of its allowed pools")]
    PinnedElsewhere(String),
    #[error("it, or a buffer colocated with it, is pinned to {0} and to {1}")]
    PinnedTwice(String, String),
    #[error("a pair of buffer {0} with itself")]
    OwnPair(u32),
    /// Two buffers that must and must not share an offset.
    #[error("buffers {0} and {1} are separated, but colocated")]
    SeparatedColocated(u32, u32),
    #[error("no pool is allowed for all {0} buffers colocated with it")]
    NoCommonPool(usize),
    /// More than one pool may hold it: a choice that offsets alone cannot make.
    #[error("pools {0} may hold it; every pool is planned on its own here, so only one may")]
    SeveralPools(String),
    /// None of the several pools allowed is large enough.
    #[error("its {size} bytes fit into none of its pools {pools}")]
    TooLarge { size: Bytes, pools: String },
    /// Alignments of colocated buffers whose least common multiple leaves 64 bits.
    #[error("the alignments of the buffers colocated with it have no common multiple below 2^64")]
    Alignment,
    /// A lifespan that the schema cannot write.
    #[error("step {0} is above the largest the schema has, 2^63 - 1")]
    LateStep(u64),
    /// What a pool asks is no instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}
