//! All tests of this crate in one binary, because each additional binary would link the whole crate again.

mod audits;
mod checker;
mod common;
mod csv_bad_input;
mod csv_round_trip;
mod csv_ways;
mod fusion;
mod groups;
mod lifetimes;
mod structure;
mod tiers;
mod timelines;
mod views;
