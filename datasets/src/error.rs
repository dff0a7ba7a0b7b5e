//! Why a generator refuses its parameters.

use plimsoll_model::InstanceError;
use plimsoll_model::graph::GraphError;

/// Parameters that describe no instance.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum GenerateError {
    /// A number below the least that makes sense.
    #[error("{name} is {value}, but must be at least {least}")]
    TooSmall { name: &'static str, value: u64, least: u64 },
    /// A number above the most that makes sense.
    #[error("{name} is {value}, but must be at most {most}")]
    TooBig { name: &'static str, value: u64, most: u64 },
    /// A parameter the family does not have.
    #[error("{family} has no parameter '{name}', only {known}")]
    NoParameter { family: &'static str, name: String, known: String },
    /// A lower end above its upper end.
    #[error("{low_name} is {low}, above {high_name}, which is {high}")]
    Reversed { low_name: &'static str, low: u64, high_name: &'static str, high: u64 },
    /// A number that must be a multiple of another.
    #[error("{name} is {value}, no multiple of {of_name}, which is {of}")]
    NoMultiple { name: &'static str, value: u64, of_name: &'static str, of: u64 },
    /// A probability or share outside of 0 to 1.
    #[error("{name} is {value}, but must lie between 0 and 1")]
    NoShare { name: &'static str, value: f64 },
    /// A rectangle too small for its pieces.
    #[error(
        "{buffers} buffers do not fit: the rectangle holds at most {space} of the least size and duration"
    )]
    NoSpace { buffers: u64, space: u128 },
    /// Sizes that add up to more than addresses can tell apart.
    #[error("the sizes add up to more than 2^63 - 1 bytes: choose fewer or smaller buffers")]
    TooManyBytes,
    /// What was generated is no instance: its sizes leave the address space.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// What was generated is no graph: its sizes leave the address space.
    #[error(transparent)]
    Graph(#[from] Box<GraphError>),
}

pub(crate) fn at_least(name: &'static str, value: u64, least: u64) -> Result<(), GenerateError> {
    if value < least { Err(GenerateError::TooSmall { name, value, least }) } else { Ok(()) }
}

/// Refuses a `value` that is no share of one.
pub(crate) fn share(name: &'static str, value: f64) -> Result<(), GenerateError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(GenerateError::NoShare { name, value }) }
}
