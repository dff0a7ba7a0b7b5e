//! Arguments of `overlap`.

use super::bytes;
use super::graph::{EffortArgs, LivenessArgs, ModelArgs};
use clap::{Args, ValueEnum};
use plimsoll::model::overlap::{OverlapOptions, ScheduleSetup};
use std::path::PathBuf;

/// Arguments of `overlap`.
#[derive(Args, Debug)]
pub struct OverlapArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The machine: luna, ethos-u, generic, or a TOML file
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub machine: String,
    /// When weights are fetched, or `all`; `plimsoll list` names them
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub schedule: String,
    /// Buffers of k-buffers
    #[arg(long, value_name = "K", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub buffers: u32,
    /// Bytes on chip, instead of what the machine says
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub capacity: Option<u64>,
    /// Operators with more bytes of weights run in slices, instead of what the machine says; 0 for none
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub slice: Option<u64>,
    /// Measured times, a CSV file: operator,seconds
    #[arg(long, value_name = "FILE.csv")]
    pub times: Option<PathBuf>,
    /// Trips of every loop
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub trips: u32,
    /// What activations take on chip
    #[arg(long, value_name = "WHAT", default_value = "alive")]
    pub activations: ActivationsArg,
    /// Who orders the operators; `plimsoll list` names them all
    #[arg(long, value_name = "NAME", default_value = "as-in-file")]
    pub order: String,
    /// Search all orders of the operators too: the least makespan over them, of a graph without regions
    #[arg(long, conflicts_with_all = ["order", "schedule", "trace", "gantt", "instructions"])]
    pub free_order: bool,
    #[command(flatten)]
    pub liveness: LivenessArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the fastest timeline, a trace for Chrome and Perfetto
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Draw the fastest timeline, an SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub gantt: Option<PathBuf>,
    /// Write the instructions of the fastest timeline, a CSV file with one row for each
    #[arg(long, value_name = "FILE.csv")]
    pub instructions: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// What activations take on chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ActivationsArg {
    /// The bytes alive at each step: what a layout without holes takes
    Alive,
    /// Their peak over the region, all the time
    Peak,
}

impl OverlapArgs {
    /// What the program assumes.
    pub fn options(&self) -> OverlapOptions {
        OverlapOptions { trips: self.trips, peak: self.activations == ActivationsArg::Peak }
    }

    /// What schedules are given.
    pub fn setup(&self) -> ScheduleSetup {
        ScheduleSetup { buffers: self.buffers as usize }
    }
}
