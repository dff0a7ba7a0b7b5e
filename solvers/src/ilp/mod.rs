//! Offset assignment and pools as integer linear programs, solved by HiGHS through `good_lp`.
//!
//! [`Ilp`] places buffers at offsets; [`PoolIlp`] puts them into pools.

mod highs;
mod model;
mod offsets;

pub use offsets::{Formulation, Ilp};
