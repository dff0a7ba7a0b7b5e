//! Arguments of `sweep` and `merge`.

use clap::Args;
use plimsoll_lab::sweep::Shard;
use std::path::PathBuf;

/// Arguments of `sweep`.
#[derive(Args, Debug)]
pub struct SweepArgs {
    /// What to run, a TOML file: instances, algorithms, limits, seeds, repetitions, metrics
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,
    /// Folder for rows.csv and sweep.json; where it holds rows of this sweep, only what is missing is run
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub out: Option<PathBuf>,
    /// Runs at a time, each in a process of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: u16,
    /// Only part I of N; `merge` joins the parts
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Only say how many runs there are, and which
    #[arg(long, conflicts_with = "slurm")]
    pub dry_run: bool,
    /// Write scripts for Slurm, an array job of shards and a job that joins them, and submit them where `sbatch` is there
    #[arg(long, conflicts_with = "shard")]
    pub slurm: bool,
    /// Options for `sbatch`, on one line
    #[arg(
        long,
        value_name = "'OPTION ..'",
        requires = "slurm",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub slurm_options: String,
    /// Tasks of the array job, a shard each [default: 16, or the number of runs]
    #[arg(long, value_name = "N", requires = "slurm", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub array: Option<u64>,
    /// Only write the scripts
    #[arg(long, requires = "slurm")]
    pub no_submit: bool,
    /// Print one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// Folders of shards
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// Folder for the rows of the whole sweep
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Join what is there even if runs are missing
    #[arg(long)]
    pub partial: bool,
    /// Replace rows that are in the folder
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
}
