//! What can be wrong with memory in which a graph runs.

use crate::graph::Moment;
use crate::units::{Bytes, OperatorId, TensorId};
use std::fmt;

/// What occupies a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The value of a tensor.
    Tensor(TensorId),
    /// An operator's scratch memory.
    Scratch(OperatorId),
}

/// When something is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// All inputs, states and weights have been written.
    Start,
    /// An operator reads its inputs.
    Reads,
    /// An operator has written, and still reads.
    Writes,
    /// An operator that owns regions hands over.
    Hands(Moment),
    /// The graph is done.
    End,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => write!(f, "at the start"),
            Self::Reads => write!(f, "when it reads"),
            Self::Writes => write!(f, "when it writes"),
            Self::Hands(moment) => write!(f, "{moment}"),
            Self::End => write!(f, "at the end"),
        }
    }
}

/// One thing that is wrong with memory in which a graph runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ExecutionViolation {
    #[error("{given} {what}, not {expected}")]
    Count { what: &'static str, given: usize, expected: usize },
    #[error("the order of region '{region}' does not name each of its operators once")]
    Order { region: String },
    #[error("{name} is in slot {slot}, but there are only {slots}")]
    NoSuchSlot { holder: Holder, name: String, slot: usize, slots: usize },
    #[error("slot {slot} at {offset} with {size} bytes leaves the address space")]
    OutOfRange { slot: usize, offset: Bytes, size: Bytes },
    #[error("{name} has {bytes} bytes, its slot {slot} only {size}")]
    TooSmall { holder: Holder, name: String, bytes: Bytes, slot: usize, size: Bytes },
    /// Something is read that nobody has written.
    #[error("{place} {stage}: {name} has not been written; run: {run}")]
    NotWritten {
        holder: Holder,
        name: String,
        /// The operator that reads; none for the graph.
        operator: Option<OperatorId>,
        place: String,
        stage: Stage,
        /// What the run had decided.
        run: String,
    },
    /// Something read is not there any more.
    #[error(
        "{place} {stage}: {name} at [{}, {}) is lost, {address} holds {}; run: {run}",
        .range.0, .range.1, .by.as_deref().unwrap_or("nothing")
    )]
    Lost {
        holder: Holder,
        name: String,
        /// The operator that reads; none for the graph.
        operator: Option<OperatorId>,
        place: String,
        stage: Stage,
        range: (Bytes, Bytes),
        /// The first address that does not hold it.
        address: Bytes,
        /// Whose value lies there instead.
        by: Option<String>,
        /// What the run had decided.
        run: String,
    },
}
