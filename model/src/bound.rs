//! Lower bounds and their witnesses.

use crate::instance::Instance;
use crate::lifespan::Interval;
use crate::units::{BufferId, Bytes, OperatorId, Step};
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;

/// The reason why no answer can be smaller than a bound. Internally, a witness identifies buffers and
/// operators by position. Printed and stored witnesses use the names from the input. [`Witness::map`]
/// converts between positions and names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum Witness<B = BufferId, O = OperatorId> {
    /// No memory is needed.
    Trivial,
    /// All buffers live at this step conflict with each other, and their sizes add up to the bound.
    Load { step: Step },
    /// These buffers conflict pairwise, and their sizes add up to the bound.
    Clique { buffers: Vec<B> },
    /// These buffers conflict pairwise, and their offsets are multiples of `alignment` bytes. In a stack of
    /// these buffers, each except the topmost occupies its size rounded up to `alignment`.
    AlignedClique {
        buffers: Vec<B>,
        /// A common divisor of the alignments of the buffers.
        alignment: Bytes,
    },
    /// These buffers conflict pairwise, and their total size exceeds the capacity. Spilling the excess causes
    /// at least as much traffic as the bound states.
    Excess { buffers: Vec<B> },
    /// A fixed buffer ends at the bound.
    Fixed { buffer: B },
    /// A member of a rigid group ends at the bound if the base of the group is as low as possible.
    Raised { buffer: B },
    /// Two conflicting buffers overlap in every layout, because both are fixed or because of their distance
    /// in a rigid group.
    Contradiction { buffers: Vec<B> },
    /// In every order, the sizes of the storages held at the first step add up to the bound.
    Start,
    /// In every order, the sizes of the storages held at the last step add up to the bound.
    End,
    /// In every order, certain storages have been allocated when this operator runs, and are still needed
    /// then. Their sizes and the scratch of the operator add up to the bound.
    Around { operator: O },
    /// A completed search by an exact method found no answer below the bound.
    Search { solver: String },
    /// A completed search found no layout below the bound for the buffers live in the steps `lower..upper`,
    /// with lifespans clipped to this window. Every layout of the instance contains a layout of these
    /// buffers, so the bound also holds for the instance.
    Window { lower: Step, upper: Step, solver: String },
    /// A completed search found no order below the bound for the problem without these operators. Every order
    /// contains an order of the other operators, so the bound also holds for the whole problem.
    Without { operators: Vec<O>, solver: String },
}

/// The reason for a bound of any problem.
pub trait Reason: Clone + fmt::Debug + fmt::Display + PartialEq + Serialize + Send + Sync + 'static {
    /// Returns the exact method whose completed search is the only reason for the bound; `None` if the bound
    /// has another reason.
    fn solver(&self) -> Option<&str>;

    /// Converts a reason for a part of an input into a reason for the whole. `kept` maps positions in the
    /// part to buffers of the whole, in ascending order.
    #[must_use]
    fn of_whole(self, _kept: &[BufferId]) -> Self {
        self
    }
}

impl Reason for Witness {
    fn solver(&self) -> Option<&str> {
        Self::solver(self)
    }

    fn of_whole(self, kept: &[BufferId]) -> Self {
        self.map(|id| kept[id.index()], |operator| operator)
    }
}

impl<B, O> Witness<B, O> {
    /// Returns the exact method whose completed search is the only reason for the bound; `None` if the bound
    /// has another reason.
    pub fn solver(&self) -> Option<&str> {
        match self {
            Self::Search { solver } | Self::Window { solver, .. } | Self::Without { solver, .. } => {
                Some(solver)
            }
            _ => None,
        }
    }

    /// Converts the identifiers of buffers and operators.
    pub fn map<C, P>(
        self,
        mut buffer: impl FnMut(B) -> C,
        mut operator: impl FnMut(O) -> P,
    ) -> Witness<C, P> {
        let mapped: Result<_, Infallible> = self.try_map(|b| Ok(buffer(b)), |o| Ok(operator(o)));
        match mapped {
            Ok(witness) => witness,
            Err(never) => match never {},
        }
    }

    /// Converts the identifiers of buffers and operators with functions that may fail.
    ///
    /// # Errors
    /// The first error returned by one of the functions.
    pub fn try_map<C, P, E>(
        self,
        mut buffer: impl FnMut(B) -> Result<C, E>,
        mut operator: impl FnMut(O) -> Result<P, E>,
    ) -> Result<Witness<C, P>, E> {
        let mut all = |buffers: Vec<B>| buffers.into_iter().map(&mut buffer).collect::<Result<Vec<C>, E>>();
        Ok(match self {
            Self::Trivial => Witness::Trivial,
            Self::Load { step } => Witness::Load { step },
            Self::Clique { buffers } => Witness::Clique { buffers: all(buffers)? },
            Self::AlignedClique { buffers, alignment } => {
                Witness::AlignedClique { buffers: all(buffers)?, alignment }
            }
            Self::Excess { buffers } => Witness::Excess { buffers: all(buffers)? },
            Self::Fixed { buffer: id } => Witness::Fixed { buffer: buffer(id)? },
            Self::Raised { buffer: id } => Witness::Raised { buffer: buffer(id)? },
            Self::Contradiction { buffers } => Witness::Contradiction { buffers: all(buffers)? },
            Self::Start => Witness::Start,
            Self::End => Witness::End,
            Self::Around { operator: id } => Witness::Around { operator: operator(id)? },
            Self::Search { solver } => Witness::Search { solver },
            Self::Window { lower, upper, solver } => Witness::Window { lower, upper, solver },
            Self::Without { operators, solver } => {
                let operators = operators.into_iter().map(operator).collect::<Result<_, E>>()?;
                Witness::Without { operators, solver }
            }
        })
    }
}

impl Witness {
    /// Describes the witness as text with the buffer names of `instance`.
    pub fn in_words(&self, instance: &Instance) -> String {
        let name = |id: BufferId| quoted(instance, id);
        if let Self::Contradiction { buffers } = self
            && let [a, b] = *buffers.as_slice()
            && let Some(distance) = instance.distance(a, b)
        {
            let (a, b, distance) = (name(a), name(b), distance.unsigned_abs());
            return format!(
                "buffers {a} and {b} conflict, but their distance of {distance} bytes makes them overlap"
            );
        }
        self.clone().map(name, |operator| operator).to_string()
    }
}

impl<B: fmt::Display, O: fmt::Display> fmt::Display for Witness<B, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trivial => f.write_str("nothing needed"),
            Self::Load { step } => write!(f, "load at step {step}"),
            Self::Clique { buffers } if buffers.len() == 1 => f.write_str("the largest buffer"),
            Self::Clique { buffers } => write!(f, "{} buffers in mutual conflict", buffers.len()),
            Self::AlignedClique { buffers, alignment } => {
                write!(f, "{} aligned buffers in mutual conflict (multiples of {alignment})", buffers.len())
            }
            Self::Excess { buffers } => {
                write!(f, "{} buffers in mutual conflict, together above the capacity", buffers.len())
            }
            Self::Fixed { buffer } => write!(f, "end of fixed buffer {buffer}"),
            Self::Raised { buffer } => write!(f, "end of buffer {buffer} in its rigid group"),
            Self::Contradiction { buffers } => match buffers.as_slice() {
                [a, b] => write!(f, "buffers {a} and {b} conflict, but are fixed at overlapping addresses"),
                _ => f.write_str("fixed offsets that contradict each other"),
            },
            Self::Start => f.write_str("held at the first step"),
            Self::End => f.write_str("held at the last step"),
            Self::Around { operator } => write!(f, "live while {operator} runs"),
            Self::Search { solver } => write!(f, "completed search by {solver}"),
            Self::Window { lower, upper, solver } => {
                write!(f, "completed search of steps {lower}..{upper} by {solver}")
            }
            Self::Without { operators, solver } => {
                write!(f, "completed search without {} small operators by {solver}", operators.len())
            }
        }
    }
}

/// A value that no solution can improve on, with its witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LowerBound<V = Bytes, W = Witness> {
    /// No solution is better than this value.
    pub value: V,
    /// The reason for the bound. It can be recomputed, unless it is a completed search.
    pub witness: W,
}

impl LowerBound {
    /// Creates a bound of zero bytes, which needs no proof.
    pub fn trivial() -> Self {
        Self { value: Bytes::ZERO, witness: Witness::Trivial }
    }
}

impl<V: Value, W: Reason> LowerBound<V, W> {
    /// Creates a bound with its witness.
    pub fn new(value: V, witness: W) -> Self {
        Self { value, witness }
    }

    /// Replaces the bound by `other` if `other` is larger. Returns true if the bound changed.
    pub fn raise(&mut self, other: Self) -> bool {
        let higher = other.value > self.value;
        if higher {
            *self = other;
        }
        higher
    }

    /// Checks that `shown`, the value that the witness proves, reaches the bound.
    ///
    /// # Errors
    /// [`BoundError::TooWeak`] if `shown` is smaller than the bound.
    pub(crate) fn shown_by(&self, shown: V) -> Result<(), BoundError> {
        if shown < self.value {
            return Err(BoundError::TooWeak { shown: shown.with_unit(), claimed: self.value.to_string() });
        }
        Ok(())
    }
}

/// The reason why a witness does not prove its bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum BoundError {
    #[error("buffers '{0}' and '{1}' of the witness do not conflict")]
    NoConflict(String, String),
    /// The id does not exist or occurs twice.
    #[error("the witness contains buffer {0} twice, or the instance has no such buffer")]
    BadBuffer(String),
    /// The buffer does not have the alignment stated by the witness.
    #[error("buffer '{0}' is not aligned to {1} bytes")]
    NotAligned(String, Bytes),
    #[error("the witness refers to operator {0}, which is not in the problem")]
    BadOperator(OperatorId),
    #[error("'{0}' is not a witness for this problem")]
    Foreign(String),
    /// The witness proves less than the bound.
    #[error("the witness shows only {shown}, but the bound is {claimed}")]
    TooWeak {
        /// The value that the witness proves, with its unit.
        shown: String,
        claimed: String,
    },
    #[error("buffer '{0}' is not fixed")]
    NotFixed(String),
    #[error("the window {0} of the witness contains no step")]
    EmptyWindow(Interval),
    /// The bound is above any value that a search can prove.
    #[error("the bound is {claimed} bytes, but the searched buffers, laid end to end, need at most {most}")]
    Impossible {
        claimed: Bytes,
        /// An upper bound on the optimal peak of the searched buffers.
        most: Bytes,
    },
    #[error("the fixed offsets in the witness do not contradict each other")]
    NoContradiction,
    #[error("the witness has {multipliers} dual multipliers for {operators} operators")]
    Multipliers {
        /// The number of multipliers in the witness.
        multipliers: usize,
        /// The number of operators in the problem.
        operators: usize,
    },
    /// The number of relations that the match optimises exceeds the sum of its dual multipliers.
    #[error("match {at} optimises {optimised} relations, but its dual multipliers add up to less")]
    Cheap { at: usize, optimised: usize },
    /// A sum overflows, or a multiplier refers to an item that does not exist.
    #[error("{0} overflows or refers to an item that does not exist")]
    Overflow(String),
    /// The operator or tensor fits, although the witness states that it is too large.
    #[error("the witness states that an operator or a tensor is too large, but it fits")]
    Fits,
    /// The bound can be confirmed only by repeating the search.
    #[error("the bound rests on a completed search by {0}; only a rerun can confirm it")]
    NotCheckable(String),
}

impl BoundError {
    pub(crate) fn bad_buffer(instance: &Instance, id: BufferId) -> Self {
        Self::BadBuffer(quoted(instance, id))
    }

    pub(crate) fn no_conflict(instance: &Instance, a: BufferId, b: BufferId) -> Self {
        let name = |id: BufferId| instance.buffer(id).name().to_owned();
        Self::NoConflict(name(a), name(b))
    }
}

/// Returns the name of a buffer in quotes, or its number if the instance has no such buffer.
fn quoted(instance: &Instance, id: BufferId) -> String {
    match instance.buffers().get(id.index()) {
        Some(buffer) => format!("'{}'", buffer.name()),
        None => format!("number {id}"),
    }
}
