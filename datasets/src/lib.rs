//! Where problems come from: worked examples, generators, importers.
//!
//! Every generator takes parameters and a seed; the same parameters and seed give the same instance on any machine.

#[cfg(test)]
mod brute;
mod error;
mod packing;
mod small;
mod worked;

pub use error::GenerateError;
pub use packing::{Packing, PackingParams, guillotine, perfect_packing};
pub use small::{SmallParams, small_instance};
pub use worked::{Fact, Worked, cann, leading_gap, minimalloc_five, patent, pisarchyk_lee, worked_examples};
