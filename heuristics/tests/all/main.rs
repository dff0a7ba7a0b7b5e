//! All tests of this crate in one binary: every further one would link the whole crate once more.

mod conformance;
mod examples;
mod models;
mod order_conformance;
mod tiers;
mod timelines;
