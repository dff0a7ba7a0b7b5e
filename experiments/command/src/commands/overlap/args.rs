use crate::args::{ActivationLivenessArgs, EffortArgs, ModelArgs, bytes};
use crate::format;
use crate::input::{input_file, input_name};
use clap::{Args, ValueEnum};
use plimsoll::model::Setup;
use plimsoll::timelines::Guess;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct OverlapArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Machine: luna, ethos-u, generic, or a TOML file with [memory], [dma] and [compute]; the command
    /// `tiers` reads other sections of such a file
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = input_name())]
    pub machine: String,
    /// Algorithm that schedules the transfers, or `all` (see `plimsoll list`)
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub algorithm: String,
    /// Number of weight buffers of the schedule `k-buffers`
    #[arg(long, value_name = "K", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with_all = ["front", "free_order"])]
    pub buffers: u32,
    /// Size of the on-chip memory, in bytes [default: that of the machine]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub capacity: Option<u64>,
    /// Split operators with more bytes of weights than this into slices; 0 for no limit [default: that of the
    /// machine]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub slice: Option<u64>,
    /// CSV file with measured compute times: operator,seconds
    #[arg(long, value_name = "FILE.csv", value_parser = input_file())]
    pub times: Option<PathBuf>,
    /// Number of iterations of every loop
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        conflicts_with = "free_order",
        help_heading = "Branches and loops"
    )]
    pub iterations: u32,
    /// How to count the on-chip memory that activations occupy
    #[arg(long, value_name = "MODE", default_value = "live")]
    pub activations: ActivationsArg,
    /// Algorithm that places activations with --activations placed (see `plimsoll list`) [default: exact]
    #[arg(long, value_name = "NAME", conflicts_with = "free_order")]
    pub solver: Option<String>,
    /// Algorithm that orders the operators (see `plimsoll list`); with --front, a comma-separated list
    /// [default: as-in-file; with --front, as-in-file,greedy,exact]
    #[arg(long, value_name = "NAME")]
    pub order: Option<String>,
    /// Keep at most this many bytes of weights in on-chip memory, chosen by the time that they save per
    /// byte. These weights are fetched before the run, unless the machine keeps weights between runs
    #[arg(long, value_name = "BYTES", value_parser = bytes, conflicts_with = "front")]
    pub resident: Option<u64>,
    /// Extend the fastest schedule: before each branch, fetch the first weights of one of its regions
    /// speculatively
    #[arg(long, value_name = "STRATEGY", conflicts_with = "front", help_heading = "Branches and loops")]
    pub speculate: Option<GuessArg>,
    /// Set the probability of a region, which is given by name or number; may be repeated. Regions without a
    /// probability share the remaining probability of their branch equally
    #[arg(long, value_name = "REGION=P", requires = "speculate", help_heading = "Branches and loops")]
    pub chance: Vec<String>,
    /// Search for the Pareto front of on-chip memory and makespan over orders, schedules, numbers of buffers
    /// and resident weights; --trace, --gantt and --instructions show the fastest point
    #[arg(long)]
    pub front: bool,
    /// Draw the front as SVG or PNG
    #[arg(long, value_name = "FILE.svg", requires = "front", value_parser = format::PICTURE.file(), help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Write one row per schedule, or per point of the front, as CSV
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file(), help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Minimise the makespan over all operator orders of a graph without regions
    #[arg(long, conflicts_with_all = ["order", "algorithm", "trace", "gantt", "instructions", "front", "resident", "speculate", "output"])]
    pub free_order: bool,
    #[command(flatten)]
    pub liveness: ActivationLivenessArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the fastest timeline as a JSON trace for Chrome and Perfetto
    #[arg(long, value_name = "FILE.json", value_parser = format::JSON.file(), help_heading = "Output")]
    pub trace: Option<PathBuf>,
    /// Draw the fastest timeline as SVG or PNG
    #[arg(long, value_name = "FILE.svg", value_parser = format::PICTURE.file(), help_heading = "Output")]
    pub gantt: Option<PathBuf>,
    /// Write the instructions of the fastest timeline as CSV
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file(), help_heading = "Output")]
    pub instructions: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl OverlapArgs {
    /// Returns the setup of the schedules.
    pub fn setup(&self) -> Setup {
        Setup { buffers: self.buffers as usize, ..Setup::default() }
    }
}

/// The on-chip memory occupied by activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ActivationsArg {
    /// The live bytes at each step, as in a layout without holes
    Live,
    /// The peak live bytes of the region, at every step
    Peak,
    /// The highest address in use at each step, in a layout of the whole graph computed by --solver
    Placed,
}

/// The region whose weights are fetched speculatively.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GuessArg {
    /// The most probable region, if it has weights to fetch
    Likely,
    /// The region with the lowest average number of bytes fetched but not used
    Cheap,
    /// The region that saves the most time on average, or none if no region saves time
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
