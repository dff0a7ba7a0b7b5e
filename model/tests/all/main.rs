//! All tests of this crate in one binary: every further one would link the whole crate once more.

mod audits;
mod checker;
mod common;
mod csv_bad_input;
mod csv_round_trip;
mod fusion;
mod lifetimes;
mod structure;
mod tiers;
mod timelines;
