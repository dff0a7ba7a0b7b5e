//! Arguments shared by several commands.

mod effort;
mod instance;
mod liveness;
mod model;
mod values;

pub use effort::EffortArgs;
pub use instance::{EndpointsArg, InstanceArgs, note_columns};
pub use liveness::{ActivationLivenessArgs, BoundaryArg, LivenessArgs};
pub use model::{ModelArgs, OpenArgs};
pub use values::{bytes, bytes_within, dimension, once, problem, seconds, threads};
