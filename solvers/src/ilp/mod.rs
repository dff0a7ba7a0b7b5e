//! Offset assignment and pools as integer linear programs, solved by `HiGHS` through `good_lp`.
//!
//! [`Ilp`] places buffers at offsets; [`PoolIlp`] puts them into pools.

mod highs;
mod model;
mod offsets;
mod pools;

pub use offsets::{Formulation, Ilp};
pub use pools::{PoolFormulation, PoolIlp};
