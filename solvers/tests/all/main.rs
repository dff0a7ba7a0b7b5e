//! All tests of this crate in one binary: every further one would link the whole crate once more.

mod agreement;
mod extreme_timelines;
#[cfg(all(feature = "ilp", feature = "smt"))]
mod formulations;
mod free_orders;
mod fusion;
mod graphs;
mod joint;
mod limits;
mod odd;
mod orders;
mod residency;
mod spilling;
mod split_buffers;
mod tiers;
mod timelines;
