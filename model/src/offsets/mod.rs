//! Offsets, split buffers and shared objects: the problems on instances.

mod bound;
pub(crate) mod check;
mod layout;
mod normal;
mod problem;

pub use bound::{live_within, simple_bound, stack_height, verify_bound};
pub use check::{Violation, check_layout, check_shared_objects, check_split_buffers};
pub use layout::{Layout, Piece, PoolPlan, SplitLayout};
pub use problem::{Offsets, SharedObjects, SplitBuffers};
