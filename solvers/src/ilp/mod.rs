//! Offset assignment, pools and orders as integer linear programs, solved by `HiGHS` through `good_lp`.
//!
//! [`Ilp`] places buffers at offsets; [`PoolIlp`] puts them into pools; [`OrderIlp`] puts operators in order.

mod highs;
mod model;
mod offsets;
mod orders;
mod pools;

pub use offsets::{Formulation, Ilp};
pub use orders::OrderIlp;
pub use pools::{PoolFormulation, PoolIlp};
