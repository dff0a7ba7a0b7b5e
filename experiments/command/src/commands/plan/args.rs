use super::places::PlacesFormat;
use crate::args::{EffortArgs, LivenessArgs, ModelArgs, bytes};
use crate::commands::choose::of_instances;
use crate::format;
use clap::{Args, ValueEnum};
use plimsoll::datasets::Pointers;
use plimsoll::model::execution::ExecutionOptions;
use plimsoll::model::graph::LivenessOptions;
use plimsoll::model::program::{Carries, ProgramOptions, Sharing};
use plimsoll::model::structure::Relation;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Args, Debug)]
pub struct PlanArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Algorithm that orders the operators (see `plimsoll list`)
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub order: String,
    /// Algorithm that places the tensors (see `plimsoll list`)
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub algorithm: String,
    /// Order and place together, to minimise the arena over all orders. Each region inside an operator is
    /// ordered separately, innermost first; the whole program is then placed in these orders
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "exact",
        conflicts_with_all = ["order", "algorithm"]
    )]
    pub joint: Option<String>,
    /// Scheme that decides which tensors may share memory across branches and loops (see `plimsoll list`)
    #[arg(long, value_name = "NAME", default_value = "exclusive", conflicts_with = "joint")]
    pub branches: String,
    /// Compare all values of --branches, each with the three strategies of the LUNA paper and with --algorithm;
    /// --output writes the rows
    #[arg(long, conflicts_with_all = ["joint", "branches", "instance", "orders", "tensors", "plot"])]
    pub compare: bool,
    /// Derive conflicts from the structure of the graph, separately for each region, by this relation:
    /// schedule, streams=K, reachable or mutex (see `plimsoll list`). `compare` compares all of them and
    /// writes the rows to --output
    #[arg(long, value_name = "RELATION", conflicts_with_all = ["joint", "branches", "compare", "tensors", "handover", "carries", "runs"])]
    pub conflicts: Option<ConflictsArg>,
    /// Problem to solve with --conflicts: offsets, split-buffers or shared-objects [default: offsets]
    #[arg(
        long,
        value_name = "PROBLEM",
        requires = "conflicts",
        value_parser = of_instances
    )]
    pub problem: Option<&'static str>,
    #[command(flatten)]
    pub control: ControlArgs,
    #[command(flatten)]
    pub liveness: LivenessArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the layout of all regions (with --conflicts, of the body) as CSV; `verify` checks it against the
    /// file of --instance
    #[arg(long, short, value_name = "LAYOUT.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Write the placement of every tensor of every region: region, tensor, bytes, offset, lower, upper,
    /// shares, index, operator. The suffix selects CSV (.csv), JSON (.json) or a C header (.h)
    #[arg(long, value_name = "FILE", value_parser = format::PLACES.file())]
    pub tensors: Option<PathBuf>,
    /// Format of --tensors. Without --tensors, the placement is printed, and the report goes to standard
    /// error
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["compare", "conflicts"])]
    pub format: Option<PlacesFormat>,
    /// Write the model in its own format, with its operators in the planned order. The plan is added as an
    /// offline plan for tflite-micro, or as metadata properties of ONNX. Everything else is unchanged. For
    /// tflite-micro, --align must be a multiple of 16, variable tensors stay outside the arena, and addresses
    /// that compiled code may contain are kept
    #[arg(long, value_name = "OUT", value_parser = format::MODEL.file(), conflicts_with_all = ["compare", "conflicts"])]
    pub write: Option<PathBuf>,
    /// Report whether the plan fits into this many bytes; if not, also the shortfall, the buffers that need
    /// the memory, and the traffic if buffers are spilled. For .tflite files, these are the bytes of the
    /// whole arena of tflite-micro, with its persistent data
    #[arg(long, value_name = "BYTES", value_parser = bytes, conflicts_with_all = ["compare", "conflicts"])]
    pub capacity: Option<u64>,
    /// Size of pointers of the target, for the persistent data in the arena of tflite-micro
    #[arg(long, value_name = "BITS", default_value = "64", conflicts_with_all = ["compare", "conflicts"])]
    pub pointers: PointersArg,
    /// Draw the layout as SVG or PNG
    #[arg(long, value_name = "FILE.svg", value_parser = format::PICTURE.file())]
    pub plot: Option<PathBuf>,
    /// Write the offset problem of --branches as a CSV instance; `nested` and `naive` write that of
    /// `exclusive`
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub instance: Option<PathBuf>,
    /// Write the order of every region as CSV: region, step, operator, kind, live bytes, index in the file,
    /// tensors read and written
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub orders: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Add the layout to the JSON object: one object per row that --output writes
    #[arg(long, requires = "json", conflicts_with = "compare")]
    pub with_layout: bool,
}

/// The size of pointers of a target.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PointersArg {
    /// Microcontrollers
    #[value(name = "32")]
    Bits32,
    /// Hosts, such as the Python package
    #[value(name = "64")]
    Bits64,
}

impl PointersArg {
    /// Converts the argument to the type of the library.
    pub fn of(self) -> Pointers {
        match self {
            Self::Bits32 => Pointers::Bits32,
            Self::Bits64 => Pointers::Bits64,
        }
    }
}

/// A conflict relation, or all of them.
#[derive(Clone, Copy, Debug)]
pub enum ConflictsArg {
    /// A plan with one relation.
    By(Relation),
    /// A comparison of all relations.
    Compare,
}

impl FromStr for ConflictsArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "compare" {
            return Ok(Self::Compare);
        }
        text.parse().map(Self::By).map_err(|reason: String| format!("{reason}, compare"))
    }
}

/// How operators exchange tensors with the regions they own.
#[derive(Args, Clone, Copy, Debug)]
pub struct ControlArgs {
    /// How tensors are passed to a region and back
    #[arg(long, value_name = "MODE", default_value = "copy")]
    pub handover: HandoverArg,
    /// How long the state of a loop is live
    #[arg(long, value_name = "MODE", default_value = "resident")]
    pub carries: CarriesArg,
    /// Maximum number of combinations of branches and trip counts that are executed to check the layout; if
    /// there are more, the same number of random runs is added
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub runs: u64,
}

/// The default values of the command line.
impl Default for ControlArgs {
    fn default() -> Self {
        Self { handover: HandoverArg::Copy, carries: CarriesArg::Resident, runs: 200 }
    }
}

impl ControlArgs {
    /// Converts the arguments to the options of the library.
    pub fn options(self, liveness: LivenessOptions) -> ProgramOptions {
        ProgramOptions {
            liveness,
            handover: match self.handover {
                HandoverArg::Copy => Sharing::Copy,
                HandoverArg::Alias => Sharing::Alias,
            },
            carries: match self.carries {
                CarriesArg::Resident => Carries::Resident,
                CarriesArg::Tight => Carries::Tight,
                CarriesArg::Double => Carries::Double,
            },
        }
    }

    /// Returns true if regions share memory with the enclosing regions.
    pub fn is_alias(self) -> bool {
        matches!(self.handover, HandoverArg::Alias)
    }

    /// Returns the options for checking a layout by running the program.
    pub fn execution(self, seed: u64) -> ExecutionOptions {
        let swap = matches!(self.carries, CarriesArg::Double);
        ExecutionOptions { runs: self.runs as usize, seed, swap, ..ExecutionOptions::default() }
    }
}

/// How tensors are passed to a region and back.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum HandoverArg {
    /// By copying
    Copy,
    /// By sharing memory where that is safe
    Alias,
}

/// How long the state of a loop is live.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum CarriesArg {
    /// For the whole loop
    Resident,
    /// Only while needed
    Tight,
    /// For the whole loop, in two copies that swap roles on every trip, so that no state is copied
    Double,
}
