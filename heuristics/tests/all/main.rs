//! All integration tests of this crate in one binary, because every further binary would link the whole crate
//! again.

mod conformance;
mod examples;
mod models;
mod order_conformance;
mod tiers;
mod timelines;
