//! The reasons why proofs and instances are rejected.

use std::fmt;

/// The rejection of a proof: the number of the line and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    /// The line of the proof, counted from 1.
    pub line: u64,
    /// The reason.
    pub reason: Reason,
}

/// The reason why a proof is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum Reason {
    /// The text cannot be read.
    Unreadable(String),
    /// The line is longer than the limit in bytes.
    LongLine(usize),
    /// The first line is not this text, which names the format and a supported version.
    Header(&'static str),
    /// The second line does not state a positive bound.
    Bound,
    UnknownStatement(String),
    /// The word is not what the statement requires at this place.
    Word {
        expected: &'static str,
        found: String,
    },
    /// The statement needs more words.
    MissingWord(&'static str),
    /// The instance has no buffer with this id.
    UnknownBuffer(String),
    /// The buffer is declared twice.
    DeclaredTwice(String),
    /// The buffer has size 0. A proof must not declare such a buffer.
    EmptyBuffer(String),
    /// The slab does not conflict with a declared buffer or another slab, or one of them has an alignment
    /// above 1 or a fixed offset, or is in a rigid group.
    NotASlab(String),
    /// The statement comes after a statement that it must precede, or before a statement that it must follow.
    Misplaced(&'static str),
    /// The number of the buffer has not been declared.
    Undeclared(u32),
    /// The buffers do not conflict, so neither need lie below the other.
    NoConflict(u32, u32),
    /// The order has been neither assumed nor derived.
    NotKnown(u32, u32),
    /// The two buffers are not interchangeable, or their numbers are not in ascending order.
    NotTwins(u32, u32),
    /// A declared buffer has an alignment above 1 or a fixed offset, or is in a rigid group, or one of the
    /// two buffers has a twin.
    NotMirrored(u32, u32),
    /// The two buffers are not members of one rigid group.
    NotRigid(u32, u32),
    ClauseExists(u64),
    NoClause(u64),
    /// More than one order of the clause is still possible.
    NotUnit(u64),
    /// There is enough space, so the step does not follow.
    EnoughSpace {
        needed: i128,
        capacity: i128,
    },
    /// The derivation of the clause ends without a contradiction.
    Underived(u64),
    /// The sizes and alignments do not permit offsets in this unit, or an offset is fixed or in a rigid
    /// group.
    NotAUnit(u64),
    /// This step has no live buffer, or it has too little or too much free space for a sweep.
    NotFull(u64),
    /// Too many buffers are live at the step, or begin there, for a sweep.
    TooManyLive(u64),
    /// A successor of a tree of the previous step is not listed at this step. Trees are counted from 0.
    Unlisted {
        step: u64,
        tree: usize,
    },
    /// The bond has more loose buffers than this number.
    TooManyLoose(u32),
    /// The check needs more than this number of units of work, the limit for an input of this length.
    TooMuchWork {
        most: u64,
    },
    /// The caller stopped the check.
    Stopped,
    /// The problem has no operator with this number, or a cut has removed it.
    UnknownOperator(u32),
    /// The users of a storage are not in ascending order.
    NotAscending,
    /// The operator has run already, or cannot run yet.
    NotReady(u32),
    /// No operator would remain.
    NoOperator,
    /// Fewer bytes are live after some of the operators than after all of them.
    NotLeast,
    /// There are too many operators, or sets of them, to compare.
    TooManySets,
    /// More sets than this number are not yet refuted.
    TooManyPending(usize),
    /// The proof does not exclude that all operators run within the capacity.
    Completes,
    /// Text follows after the claim has been proved.
    TextAfterProof,
    /// The proof ends before the claim has been proved.
    Incomplete,
}

impl Reason {
    /// Returns true if the proof is wrong. Otherwise, the check was stopped or the proof exceeds a limit of
    /// the checker, so the proof may nevertheless be correct.
    #[must_use]
    pub fn is_verdict(&self) -> bool {
        !self.is_limit() && *self != Self::Stopped
    }

    /// Returns true if the file cannot be read, or does not begin with the name and version of the format.
    #[must_use]
    pub fn is_no_proof(&self) -> bool {
        matches!(self, Self::Header(_) | Self::Unreadable(_))
    }

    /// Returns true if the proof exceeds a limit of the checker, so that it may nevertheless be correct.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::LongLine(_)
                | Self::TooManyLive(_)
                | Self::TooManyLoose(_)
                | Self::TooMuchWork { .. }
                | Self::TooManySets
                | Self::TooManyPending(_)
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "cannot read the proof: {error}"),
            Self::LongLine(limit) => write!(f, "the line is longer than {limit} bytes"),
            Self::Header(expected) => write!(f, "expected '{expected}'"),
            Self::Bound => write!(f, "expected 'bound B' with a positive number of bytes"),
            Self::UnknownStatement(word) => write!(f, "unknown statement '{word}'"),
            Self::Word { expected, found } => write!(f, "expected {expected}, found '{found}'"),
            Self::MissingWord(expected) => write!(f, "expected {expected} at the end of the line"),
            Self::UnknownBuffer(id) => write!(f, "the instance has no buffer '{id}'"),
            Self::DeclaredTwice(id) => write!(f, "buffer '{id}' is declared twice"),
            Self::EmptyBuffer(id) => write!(f, "buffer '{id}' has size 0"),
            Self::NotASlab(id) => {
                write!(f, "buffer '{id}' cannot be moved below all declared buffers and all other slabs")
            }
            Self::Misplaced(statement) => write!(f, "'{statement}' is not allowed here"),
            Self::Undeclared(buffer) => write!(f, "buffer {buffer} is not declared"),
            Self::NoConflict(a, b) => write!(f, "buffers {a} and {b} do not conflict"),
            Self::NotKnown(a, b) => write!(f, "it is not known that {a} lies below {b}"),
            Self::NotTwins(a, b) => write!(f, "buffers {a} and {b} are not interchangeable in this order"),
            Self::NotMirrored(a, b) => {
                write!(f, "mirror images do not justify that {a} lies below {b}")
            }
            Self::NotRigid(a, b) => write!(f, "buffers {a} and {b} are not in one rigid group"),
            Self::ClauseExists(clause) => write!(f, "clause {clause} already exists"),
            Self::NoClause(clause) => write!(f, "there is no clause {clause}"),
            Self::NotUnit(clause) => write!(f, "more than one order of clause {clause} is possible"),
            Self::EnoughSpace { needed, capacity } => {
                write!(f, "there is enough space: {needed} bytes are needed and {capacity} are available")
            }
            Self::Underived(clause) => write!(f, "clause {clause} is not derived: there is no contradiction"),
            Self::NotAUnit(unit) => write!(f, "not all offsets can be multiples of {unit} bytes"),
            Self::NotFull(step) => {
                write!(f, "step {step} has no live buffer, or too little or too much free space for a sweep")
            }
            Self::TooManyLive(step) => write!(f, "too many buffers are live or begin at step {step}"),
            Self::Unlisted { step, tree } => {
                write!(f, "a successor of tree {tree} of the previous step is not listed at step {step}")
            }
            Self::TooManyLoose(most) => write!(f, "more than {most} buffers follow '|'"),
            Self::TooMuchWork { most } => {
                write!(
                    f,
                    "the check needs more than {most} units of work, the limit for a file of this length"
                )
            }
            Self::Stopped => write!(f, "the check was stopped"),
            Self::UnknownOperator(id) => write!(f, "there is no operator {id}"),
            Self::NotAscending => write!(f, "the users are not in ascending order"),
            Self::NotReady(id) => write!(f, "operator {id} cannot run here"),
            Self::NoOperator => write!(f, "no operator would remain"),
            Self::NotLeast => {
                write!(f, "fewer bytes are live after some of these operators than after all of them")
            }
            Self::TooManySets => write!(f, "there are too many operators to compare all sets of them"),
            Self::TooManyPending(most) => write!(f, "more than {most} sets are not yet refuted"),
            Self::Completes => write!(f, "the proof does not exclude that all operators run"),
            Self::TextAfterProof => write!(f, "text follows after the claim has been proved"),
            Self::Incomplete => write!(f, "the proof ends before the claim has been proved"),
        }
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for CheckError {}

/// The rejection of an instance: the number of the line and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceError {
    /// The line of the CSV text, counted from 1.
    pub line: u64,
    /// The reason, as a sentence without a full stop.
    pub reason: String,
}

impl fmt::Display for InstanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for InstanceError {}
