//! Offset assignment, pools and orders as integer linear programs, solved by `HiGHS` through `good_lp`.
//!
//! [`Ilp`] places buffers at offsets; [`PoolIlp`] puts them into pools; `OrderIlp` puts operators in order, `JointIlp`
//! does both at once.

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
