//! Arguments shared by several commands.

mod effort;
mod instance;
mod liveness;
mod model;
mod values;

pub use effort::{
    EffortArgs, TIME_LIMIT_OF_AUDIT, TIME_LIMIT_OF_BEST, TIME_LIMIT_OF_VERIFY, TIME_LIMIT_WITH_COMPARE,
};
pub use instance::{EndpointsArg, InstanceArgs, OffsetsArg, end_note, note_columns};
pub use liveness::{ActivationLivenessArgs, BoundaryArg, LivenessArgs, element_alignment};
pub use model::{ModelArgs, OpenArgs};
pub use plimsoll_lab::suite::PLAN;
pub use values::{bytes, bytes_within, dimension, once, problem, seconds, threads};

/// The heading of the options for models.
pub const FOR_MODELS: &str = "Options for models";
