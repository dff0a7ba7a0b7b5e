use crate::args::{EffortArgs, LivenessArgs, ModelArgs};
use crate::commands::choose::of_instances;
use crate::format;
use clap::{Args, ValueEnum};
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
    /// Who orders the operators; `plimsoll list` names them all
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub order: String,
    /// Who places the tensors; `plimsoll list` names them all
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub solver: String,
    /// Order and place together, looking for the smallest arena over all orders; --order and --solver play no part then.
    /// Where operators own regions, each region on its own, innermost first; then the whole program under these orders
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "exact",
        conflicts_with_all = ["order", "solver"]
    )]
    pub joint: Option<String>,
    /// What may share memory where operators own regions (branches, loops); `plimsoll list` names them all
    #[arg(long, value_name = "NAME", default_value = "exclusive", conflicts_with = "joint")]
    pub branches: String,
    /// Plan with every way there is for branches, by the three strategies of the
    /// paper and by --solver, each for at most 10 s unless limits are given; --output takes the rows
    #[arg(long, conflicts_with_all = ["joint", "branches", "instance", "orders", "tensors", "plot"])]
    pub compare: bool,
    /// Who may share memory, from the structure of the graph: schedule, streams=K, reachable or mutex, each region on its own;
    /// or compare: all of them side by side, each solver for at most 10 s unless limits are given, --output takes the rows
    #[arg(long, value_name = "RELATION", conflicts_with_all = ["joint", "branches", "compare", "tensors", "handover", "carries", "runs"])]
    pub conflicts: Option<ConflictsArg>,
    /// With --conflicts: offsets, split-buffers (tensors may be cut into pieces) or shared-objects [default: offsets]
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
    /// Write the layout, of all regions (with --conflicts, of the body), a CSV file that `verify` checks against that of --instance
    #[arg(long, short, value_name = "LAYOUT.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Write the place of every tensor of every region, a CSV file: region, tensor, bytes, offset, lower, upper, shares
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub tensors: Option<PathBuf>,
    /// Draw the layout with the names of its tensors, an SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = format::SVG.file())]
    pub plot: Option<PathBuf>,
    /// Write the offset problem, as --branches sees it, a CSV file for any planner; where it plans by blocks, that of all
    /// it could do without
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub instance: Option<PathBuf>,
    /// Write the order of every region, a CSV file: region, step, operator, kind, bytes alive
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub orders: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// A relation of conflicts, or all of them.
#[derive(Clone, Copy, Debug)]
pub enum ConflictsArg {
    /// This one.
    By(Relation),
    /// Side by side.
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

/// How operators and the regions they own pass tensors on.
#[derive(Args, Clone, Copy, Debug)]
pub struct ControlArgs {
    /// How what is handed to a region, or back, gets there
    #[arg(long, value_name = "HOW", default_value = "copy")]
    pub handover: HandoverArg,
    /// How long the state of a loop is held
    #[arg(long, value_name = "HOW", default_value = "resident")]
    pub carries: CarriesArg,
    /// Runs of the program that check a layout: all combinations of branches and trips, or so many of them and as many drawn
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub runs: u64,
}

impl ControlArgs {
    /// The same for the library.
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

    /// How a layout is checked by running the program.
    pub fn execution(self, seed: u64) -> ExecutionOptions {
        let swap = matches!(self.carries, CarriesArg::Double);
        ExecutionOptions { runs: self.runs as usize, seed, swap, ..ExecutionOptions::default() }
    }
}

/// How what is handed over gets there.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum HandoverArg {
    /// It is copied
    Copy,
    /// Both sides share memory where they can
    Alias,
}

/// How long the state of a loop is held.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum CarriesArg {
    /// As long as the loop runs
    Resident,
    /// Only while needed
    Tight,
    /// Twice, as long as the loop runs: old and new state change roles, nothing is copied
    Double,
}
