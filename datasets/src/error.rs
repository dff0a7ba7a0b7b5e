//! Errors of generators.

use plimsoll_model::InstanceError;
use plimsoll_model::graph::GraphError;

/// An error in the parameters of a generator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum GenerateError {
    /// A number below its minimum.
    #[error("{name} is {value}, but must be at least {least}")]
    TooSmall { name: &'static str, value: u64, least: u64 },
    /// A number above its maximum.
    #[error("{name} is {value}, but must be at most {most}")]
    TooBig { name: &'static str, value: u64, most: u64 },
    /// A parameter that the family does not have.
    #[error("{family} has no parameter '{name}'; it has {known}")]
    NoParameter { family: &'static str, name: String, known: String },
    /// A lower bound above its upper bound.
    #[error("{low_name} is {low}, but must not exceed {high_name}, which is {high}")]
    Reversed { low_name: &'static str, low: u64, high_name: &'static str, high: u64 },
    /// A number that must be a multiple of another, but is not.
    #[error("{name} is {value}, but must be a multiple of {of_name}, which is {of}")]
    NoMultiple { name: &'static str, value: u64, of_name: &'static str, of: u64 },
    /// A probability outside the range 0 to 1.
    #[error("{name} is {value}, but must lie between 0 and 1")]
    NoShare { name: &'static str, value: f64 },
    /// A rectangle too small for the requested number of buffers.
    #[error(
        "{buffers} buffers do not fit: the rectangle holds at most {space} of the minimum size and duration"
    )]
    NoSpace { buffers: u64, space: u128 },
    /// A layout that the instance does not allow.
    #[error("the layout is not valid: {0}")]
    InvalidLayout(String),
    /// A derivation that needs a layout, without one.
    #[error("'{derivation}' needs a layout of the instance")]
    NoLayout { derivation: &'static str },
    /// Sizes that add up to more than the address space, 2^63 - 1 bytes.
    #[error("the sizes add up to more than 2^63 - 1 bytes: choose fewer or smaller buffers")]
    TooManyBytes,
    /// A [stop request](plimsoll_support::interrupt) ended the generator.
    #[error("interrupted")]
    Interrupted,
    /// A generated instance that is invalid because its sizes exceed the address space.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// A generated graph that is invalid because its sizes exceed the address space.
    #[error(transparent)]
    Graph(#[from] Box<GraphError>),
}

pub(crate) fn at_least(name: &'static str, value: u64, least: u64) -> Result<(), GenerateError> {
    if value < least { Err(GenerateError::TooSmall { name, value, least }) } else { Ok(()) }
}

/// Returns an error unless `value` lies between 0 and 1.
pub(crate) fn share(name: &'static str, value: f64) -> Result<(), GenerateError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(GenerateError::NoShare { name, value }) }
}
