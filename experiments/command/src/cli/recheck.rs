//! Arguments of `recheck`.

use super::seconds;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `recheck`.
#[derive(Args, Debug)]
pub struct RecheckArgs {
    /// Folders that `bench --out` wrote, or their rows.csv
    #[arg(value_name = "DIR", required = true)]
    pub records: Vec<PathBuf>,
    /// Make again what took at most so long on record
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds, allow_negative_numbers = true)]
    pub slowest: Duration,
    /// Of those, every so many-th row
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub every: u64,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
}
