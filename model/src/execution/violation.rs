//! What can be wrong with memory in which a graph runs.

use crate::graph::Moment;
use crate::units::{Bytes, OperatorId, TensorId};
use std::fmt;

/// Who takes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// A tensor.
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
pub enum ExecutionViolation {
    /// Not one answer for each.
    #[error("{given} {what}, not {expected}")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// How many there should be.
        expected: usize,
    },
    /// An order that is none.
    #[error("the order of region '{region}' does not name each of its operators once")]
    Order {
        /// Its name.
        region: String,
    },
    /// A slot that is not there.
    #[error("{name} is in slot {slot}, but there are only {slots}")]
    NoSuchSlot {
        /// Who.
        holder: Holder,
        /// Its name.
        name: String,
        /// The number.
        slot: usize,
        /// How many there are.
        slots: usize,
    },
    /// An end beyond the largest address.
    #[error("slot {slot} at {offset} with {size} bytes leaves the address space")]
    OutOfRange {
        /// Which.
        slot: usize,
        /// Where it lies, bytes.
        offset: Bytes,
        /// Its size, bytes.
        size: Bytes,
    },
    /// More than fits.
    #[error("{name} has {bytes} bytes, its slot {slot} only {size}")]
    TooSmall {
        /// Who.
        holder: Holder,
        /// Its name.
        name: String,
        /// Its size, bytes.
        bytes: Bytes,
        /// Where.
        slot: usize,
        /// The size of that, bytes.
        size: Bytes,
    },
    /// Something is read that nobody has written.
    #[error("{place} {stage}: {name} has not been written; run: {run}")]
    NotWritten {
        /// Who.
        holder: Holder,
        /// Its name.
        name: String,
        /// The operator that reads; none for the graph.
        operator: Option<OperatorId>,
        /// What that is called.
        place: String,
        /// When.
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
        /// Who.
        holder: Holder,
        /// Its name.
        name: String,
        /// The operator that reads; none for the graph.
        operator: Option<OperatorId>,
        /// What that is called.
        place: String,
        /// When.
        stage: Stage,
        /// Where it should lie, half-open.
        range: (Bytes, Bytes),
        /// The first address that does not hold it.
        address: Bytes,
        /// Whose value lies there instead.
        by: Option<String>,
        /// What the run had decided.
        run: String,
    },
}
