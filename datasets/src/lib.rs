//! Where problems come from: worked examples, generators, importers.

mod small;

pub use small::{SmallParams, small_instance};
