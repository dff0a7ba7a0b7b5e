//! Sweeps: experiments described by a TOML file.
//!
//! | part | purpose |
//! |---|---|
//! | [`read`] | reads the TOML file, resolves instances and algorithms, and lists the runs |
//! | [`slurm`] | writes scripts that run the experiment in shards on a cluster |
//!
//! Rows are appended with one `write` each, so no finished run is lost if the sweep is killed. Rows are
//! flushed to disk at most once per second, so few rows are lost if the machine fails. After the last run,
//! the rows are sorted by run and the file is replaced atomically.

mod file;
mod inputs;
mod lists;
mod models;
mod resolve;
pub mod slurm;
mod tasks;

pub use resolve::read;
