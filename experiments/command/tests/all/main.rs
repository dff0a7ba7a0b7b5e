//! All tests of this crate in one binary, so that the crate is linked only once.

mod arithmetic;
mod audit;
mod bad_input;
mod bench;
mod book;
mod branches;
mod common;
mod compare;
mod containers;
mod convert;
mod doors;
mod features;
mod fetch;
#[cfg(unix)]
mod files;
mod first_steps;
mod fronts;
mod fusion;
mod graphs;
mod groups;
mod hints;
#[cfg(target_os = "linux")]
mod interrupt;
mod large;
mod lifetimes;
mod limits;
mod manifests;
mod measure;
mod models;
mod names;
mod order_proof;
mod overlap;
mod pictures;
mod pipes;
mod plans;
mod png;
mod problems;
mod proof;
mod records;
mod report;
mod reproduce;
mod runtimes;
mod scripts;
mod solve_and_verify;
mod spill;
mod structure;
mod sweep;
mod sweep_edges;
mod sweep_models;
#[cfg(unix)]
mod sweep_processes;
mod tiers;
mod verify;
mod view;
mod widths;
mod zero_sizes;
