//! Integer linear programs for offsets, shared objects, orders, and orders with offsets, solved by `HiGHS`
//! through `good_lp`.
//!
//! [`Ilp`] assigns offsets, [`PoolIlp`] assigns buffers to shared objects, `OrderIlp` orders operators, and
//! `JointIlp` chooses order and offsets together.

pub(crate) mod highs;
mod joint;
mod model;
mod offsets;
mod orders;
mod shared_objects;
mod steps;
mod variants;

pub(crate) use joint::JointIlp;
pub use model::Formulation;
pub use offsets::Ilp;
pub(crate) use orders::OrderIlp;
pub use shared_objects::PoolIlp;
pub(crate) use variants::VARIANTS;
