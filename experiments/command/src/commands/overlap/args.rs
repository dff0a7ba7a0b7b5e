use crate::args::{ActivationLivenessArgs, EffortArgs, ModelArgs, bytes};
use crate::format;
use clap::{Args, ValueEnum};
use plimsoll::model::Setup;
use plimsoll::timelines::Guess;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct OverlapArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The machine: luna, ethos-u, generic, or a TOML file with [memory], [dma] and [compute] (not one of `tiers`)
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub machine: String,
    /// When weights are fetched, or `all`; `plimsoll list` names them
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub schedule: String,
    /// Buffers of k-buffers
    #[arg(long, value_name = "K", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with_all = ["front", "free_order"])]
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
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "free_order")]
    pub trips: u32,
    /// What activations take on chip
    #[arg(long, value_name = "WHAT", default_value = "alive")]
    pub activations: ActivationsArg,
    /// Who lays activations out for --activations placed [default: exact]
    #[arg(long, value_name = "NAME", conflicts_with = "free_order")]
    pub solver: Option<String>,
    /// Who orders the operators; `plimsoll list` names them all [default: as-in-file; with --front, where several may be
    /// given: as-in-file,greedy,exact]
    #[arg(long, value_name = "NAME")]
    pub order: Option<String>,
    /// Weights that stay on chip, at most so many bytes: those that save most per byte. Where the machine does not
    /// let them stay from run to run, they are fetched before it begins
    #[arg(long, value_name = "BYTES", value_parser = bytes, conflicts_with = "front")]
    pub resident: Option<u64>,
    /// Fetch the first weights of one region of a branch before it is known which runs, with the fastest schedule
    #[arg(long, value_name = "WHICH", conflicts_with = "front")]
    pub speculate: Option<GuessArg>,
    /// How likely a region is, by its name or number; the others of its branch share the rest alike
    #[arg(long, value_name = "REGION=P", requires = "speculate")]
    pub chance: Vec<String>,
    /// Look for all that is worth having: memory on chip against makespan, over orders, schedules, buffers and resident
    /// weights; pictures and instructions are those of the fastest
    #[arg(long)]
    pub front: bool,
    /// Draw the front, an SVG file
    #[arg(long, value_name = "FILE.svg", requires = "front", value_parser = format::SVG.file())]
    pub plot: Option<PathBuf>,
    /// Write one row per schedule, or per point of the front, a CSV file
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Search all orders of the operators too: the least makespan over them, of a graph without regions
    #[arg(long, conflicts_with_all = ["order", "schedule", "trace", "gantt", "instructions", "front", "resident", "speculate", "output"])]
    pub free_order: bool,
    #[command(flatten)]
    pub liveness: ActivationLivenessArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the fastest timeline, a trace for Chrome and Perfetto
    #[arg(long, value_name = "FILE.json", value_parser = format::JSON.file())]
    pub trace: Option<PathBuf>,
    /// Draw the fastest timeline, an SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = format::SVG.file())]
    pub gantt: Option<PathBuf>,
    /// Write the instructions of the fastest timeline, a CSV file with one row for each
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub instructions: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

impl OverlapArgs {
    /// What schedules are given.
    pub fn setup(&self) -> Setup {
        Setup { buffers: self.buffers as usize, ..Setup::default() }
    }
}

/// What activations take on chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ActivationsArg {
    /// The bytes alive at each step: what a layout without holes takes
    Alive,
    /// Their peak over the region, all the time
    Peak,
    /// Up to the highest address in use at each step, in a layout of the whole graph by --solver
    Placed,
}

/// For which region weights are fetched ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GuessArg {
    /// The likeliest, where it has weights to fetch
    Likely,
    /// The one of which the fewest bytes are fetched in vain, on average
    Cheap,
    /// Whichever, or none, gains most on average
    Best,
}

impl From<GuessArg> for Guess {
    fn from(guess: GuessArg) -> Self {
        match guess {
            GuessArg::Likely => Self::Likely,
            GuessArg::Cheap => Self::Cheap,
            GuessArg::Best => Self::Best,
        }
    }
}
