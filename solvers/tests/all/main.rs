//! All integration tests of this crate in one binary, because each further binary would link the whole crate
//! again.

mod agreement;
mod attributes;
mod extreme_timelines;
#[cfg(all(feature = "ilp", feature = "smt"))]
mod formulations;
mod free_orders;
mod fusion;
mod graphs;
mod groups;
mod joint;
mod limits;
mod normal;
mod odd;
mod orders;
mod residency;
mod spilling;
mod split_buffers;
mod tiers;
mod timelines;
