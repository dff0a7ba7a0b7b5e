//! Violations that the execution checker finds.

use crate::graph::Moment;
use crate::units::{Bytes, OperatorId, TensorId};
use std::fmt;

/// The user of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The value of a tensor.
    Tensor(TensorId),
    /// The scratch memory of an operator.
    Scratch(OperatorId),
}

/// The stage at which a value is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// All inputs, states and weights have been written.
    Start,
    /// An operator reads its inputs.
    Reads,
    /// An operator has written its outputs and still reads its inputs.
    Writes,
    /// An operator that owns regions performs its handovers.
    Hands(Moment),
    /// The graph has finished.
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

/// A violation that the execution checker finds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ExecutionViolation {
    #[error("expected {expected} {what}, found {given}")]
    Count { what: &'static str, given: usize, expected: usize },
    #[error("the order of region '{region}' does not contain each of its operators exactly once")]
    Order { region: String },
    #[error("{name} is in slot {slot}, but there are only {slots} slots")]
    NoSuchSlot { holder: Holder, name: String, slot: usize, slots: usize },
    #[error("slot {slot} of {size} bytes at {offset} exceeds the address space")]
    OutOfRange { slot: usize, offset: Bytes, size: Bytes },
    #[error("{name} has {bytes} bytes, but its slot {slot} has only {size}")]
    TooSmall { holder: Holder, name: String, bytes: Bytes, slot: usize, size: Bytes },
    /// The data was not written in this run, or has been discarded since.
    #[error("{place} {stage}: {name} has not been written; decisions: {run}")]
    NotWritten {
        holder: Holder,
        name: String,
        /// The operator that expects the data; `None` for the graph itself.
        operator: Option<OperatorId>,
        place: String,
        stage: Stage,
        /// The decisions of the run.
        run: String,
    },
    /// The reader expects data that was overwritten.
    #[error(
        "{place} {stage}: {name} at [{}, {}) is lost, because address {address} holds {}; decisions: {run}",
        .range.0, .range.1, .by.as_deref().unwrap_or("nothing")
    )]
    Lost {
        holder: Holder,
        name: String,
        /// The operator that expects the data; `None` for the graph itself.
        operator: Option<OperatorId>,
        place: String,
        stage: Stage,
        range: (Bytes, Bytes),
        /// The first address that does not contain the data.
        address: Bytes,
        /// The name of the tensor or scratch memory whose data is stored at `address` instead; `None` if
        /// nothing is stored there.
        by: Option<String>,
        /// The decisions of the run.
        run: String,
    },
}
