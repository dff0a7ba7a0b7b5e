//! Arguments shared by several commands.

mod effort;
mod instance;
mod liveness;
mod model;
mod values;

pub use effort::{
    EffortArgs, TIME_LIMIT_OF_AUDIT, TIME_LIMIT_OF_BEST, TIME_LIMIT_OF_VERIFY, TIME_LIMIT_WITH_COMPARE,
};
pub use instance::{END, EndpointsArg, InstanceArgs, note_columns, note_instance};
pub use liveness::{ActivationLivenessArgs, BoundaryArg, LivenessArgs};
pub use model::{ModelArgs, OpenArgs};
pub use values::{bytes, bytes_within, dimension, once, problem, seconds, threads};
