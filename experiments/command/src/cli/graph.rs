//! Arguments of the commands that read graphs and models.

use super::{NO_LIMIT, bytes, seconds_or_none, threads};
use crate::failure::Failure;
use crate::format;
use clap::{Args, ValueEnum};
use plimsoll::datasets::{Import, ImportOptions, import_file};
use plimsoll::model::execution::ExecutionOptions;
use plimsoll::model::graph::{Boundary, LivenessOptions};
use plimsoll::model::program::{Carries, ProgramOptions, Sharing};
use plimsoll::model::structure::Relation;
use plimsoll::model::{Bytes, Setup};
use plimsoll::plan::ProblemKind;
use plimsoll::run::Limits;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The graph, and what its file leaves open.
#[derive(Args, Debug)]
pub struct ModelArgs {
    /// A graph (.json, as `import` writes it) or a model (.onnx, .tflite)
    #[arg(value_name = "GRAPH|MODEL")]
    pub model: PathBuf,
    /// Value of a free dimension, by the name it has in the file; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = dimension)]
    pub dim: Vec<(String, u64)>,
    /// Value of every free dimension that no other option gives one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub dim_default: Option<u64>,
    /// Shape of an input, as in `x=1x3x224x224`; may be repeated. Overrides what the file says
    #[arg(long, value_name = "NAME=AxBx..", value_parser = shape)]
    pub input_shape: Vec<(String, Vec<u64>)>,
    /// Value of an input that decides shapes: integers in row-major order, as in `size=1,3,224,224`; may be repeated
    #[arg(long, value_name = "NAME=I,J,..", value_parser = value)]
    pub value: Vec<(String, Vec<i64>)>,
    /// Shape of any tensor of the model, where its operator does not give it; may be repeated
    #[arg(long, value_name = "NAME=AxBx..", value_parser = shape)]
    pub tensor_shape: Vec<(String, Vec<u64>)>,
    /// First dimension of every input not named in --input-shape
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub batch: Option<u64>,
    /// Count tensors of any floating-point type as this one (float16, bfloat16, float32, ..)
    #[arg(long, value_name = "TYPE")]
    pub element: Option<String>,
    /// Keep operators that read nothing but constants, instead of counting what they make as weights (ONNX)
    #[arg(long)]
    pub keep_constants: bool,
    /// Size of tensors whose shape or type the file does not tell, instead of an error
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub assume_bytes: Option<u64>,
}

impl ModelArgs {
    /// Reads the graph.
    pub fn read(&self) -> Result<Import, Failure> {
        let options = ImportOptions {
            dims: once("--dim", &self.dim)?.into_iter().collect(),
            input_shapes: once("--input-shape", &self.input_shape)?.into_iter().collect(),
            batch: self.batch,
            element: self.element.clone(),
            keep_constants: self.keep_constants,
            assume_bytes: self.assume_bytes,
            dim_default: self.dim_default,
            values: once("--value", &self.value)?.into_iter().collect(),
            tensor_shapes: once("--tensor-shape", &self.tensor_shape)?.into_iter().collect(),
        };
        import_file(&self.model, &options).map_err(Failure::input)
    }
}

/// The pairs, unless a name is given two values.
pub fn once<T: Clone>(option: &str, pairs: &[(String, T)]) -> Result<Vec<(String, T)>, Failure> {
    let twice =
        pairs.iter().enumerate().find(|(at, pair)| pairs[..*at].iter().any(|other| other.0 == pair.0));
    match twice {
        Some((_, (name, _))) => Err(Failure::input(format!("{option} names '{name}' twice"))),
        None => Ok(pairs.to_vec()),
    }
}

/// What liveness assumes.
#[derive(Args, Clone, Copy, Debug)]
pub struct LivenessArgs {
    #[command(flatten)]
    pub activations: ActivationLivenessArgs,
    /// Weights take room in the arena too, all the time
    #[arg(long)]
    pub weights: bool,
}

/// What liveness assumes of all but weights.
#[derive(Args, Clone, Copy, Debug)]
pub struct ActivationLivenessArgs {
    /// Where graph inputs and outputs live
    #[arg(long, value_name = "WHERE", default_value = "arena")]
    pub boundary: BoundaryArg,
    /// Variable tensors, kept from run to run, live outside of the arena
    #[arg(long)]
    pub no_states: bool,
    /// Reshape and its like copy instead of sharing their input's memory
    #[arg(long)]
    pub no_views: bool,
    /// Elementwise operators write over an input that nobody else reads
    #[arg(long)]
    pub in_place: bool,
    /// Round sizes up to a multiple of this, and place tensors at multiples of it
    #[arg(long, value_name = "BYTES", default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    pub align: u64,
}

/// Where inputs and outputs live.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BoundaryArg {
    /// In the arena while needed; an input that nothing reads, at the start only
    Arena,
    /// In the arena: inputs all the time, outputs from their making to the end
    Held,
    /// In the arena all the time, never reused
    Persistent,
    /// Not in the arena
    Outside,
}

impl LivenessArgs {
    /// The same for the library.
    pub fn options(self) -> LivenessOptions {
        LivenessOptions { weights: self.weights, ..self.activations.options() }
    }
}

impl ActivationLivenessArgs {
    /// The same for the library.
    pub fn options(self) -> LivenessOptions {
        LivenessOptions {
            boundary: match self.boundary {
                BoundaryArg::Arena => Boundary::Arena,
                BoundaryArg::Held => Boundary::Held,
                BoundaryArg::Persistent => Boundary::Persistent,
                BoundaryArg::Outside => Boundary::Outside,
            },
            weights: false,
            states: !self.no_states,
            views: !self.no_views,
            in_place: self.in_place,
            align: Bytes::new(self.align),
        }
    }
}

/// Time limit of a command that is given none, nor nodes.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The same per algorithm, where a command compares several.
const TIME_LIMIT_EACH: Duration = Duration::from_secs(10);

/// Limits, threads and seed.
#[derive(Args, Clone, Copy, Debug)]
pub struct EffortArgs {
    /// Seconds of wall-clock time for everything the command computes, or `none` [default: 60; with --compare 10 for
    /// each algorithm; none with --node-limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds_or_none, allow_negative_numbers = true)]
    pub time_limit: Option<Duration>,
    /// Nodes of each search: of a graph one per region for its order and one for its layout. With it alone, runs repeat
    /// exactly
    #[arg(long, value_name = "NODES")]
    pub node_limit: Option<u64>,
    /// Threads an algorithm may use
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: usize,
    /// Seed of all randomness
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl EffortArgs {
    /// Seed and threads.
    pub fn setup(self) -> Setup {
        Setup { seed: self.seed, threads: self.threads, ..Setup::default() }
    }

    /// The limits of a command; all that it runs shares the time limit, whose clock starts now. The default only ends
    /// runs: they do not plan by it.
    pub fn limits(self) -> Limits {
        let time = self.time_limit.filter(|time| *time < NO_LIMIT);
        let limits = Limits { time, nodes: self.node_limit, ..Limits::default() };
        if self.is_default() {
            Limits { time: None, ..Limits { time: Some(TIME_LIMIT), ..limits }.from_now() }
        } else {
            limits.from_now()
        }
    }

    /// The limits of each algorithm that is compared; its clock starts with [`Limits::from_now`].
    pub fn limits_each(self) -> Limits {
        let default = self.is_default().then_some(TIME_LIMIT_EACH);
        let time = self.time_limit.or(default).filter(|time| *time < NO_LIMIT);
        Limits { time, nodes: self.node_limit, ..Limits::default() }
    }

    /// The same with the clock started, for algorithms that end by themselves: the default only ends them, as in
    /// [`EffortArgs::limits`].
    pub fn limits_each_from_now(self) -> Limits {
        let limits = self.limits_each().from_now();
        if self.is_default() { Limits { time: None, ..limits } } else { limits }
    }

    /// The time limit of a command that compares nothing.
    pub fn time_limit(self) -> Option<Duration> {
        let default = self.is_default().then_some(TIME_LIMIT);
        self.time_limit.or(default).filter(|time| *time < NO_LIMIT)
    }

    /// True where neither time nor nodes were given.
    pub fn is_default(self) -> bool {
        self.time_limit.is_none() && self.node_limit.is_none()
    }
}

/// Arguments of `import`.
#[derive(Args, Debug)]
pub struct ImportArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Write the graph, a JSON file (format plimsoll-graph, version 1)
    #[arg(long, short, value_name = "GRAPH.json", value_parser = format::JSON.file())]
    pub output: Option<PathBuf>,
    /// Write a picture for Graphviz
    #[arg(long, value_name = "FILE.dot", value_parser = format::DOT.file())]
    pub dot: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `order`.
#[derive(Args, Debug)]
pub struct OrderArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The algorithm; `plimsoll list` names them all
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub order: String,
    /// Run every algorithm, and compare with the best bound that any of them proved; --output takes the rows
    #[arg(long, conflicts_with_all = ["order", "instance", "plot"])]
    pub compare: bool,
    #[command(flatten)]
    pub liveness: LivenessArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the offset problem of the body under its order, a CSV file for any planner
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub instance: Option<PathBuf>,
    /// Write the order of every region, a CSV file: region, step, operator, kind, bytes alive
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Draw the bytes alive over time, in the order of the file and in the order found, an SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = format::SVG.file())]
    pub plot: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `plan`.
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
    /// With --conflicts: offsets, scattered (tensors may be cut into pieces) or pools [default: offsets]
    #[arg(long, value_name = "PROBLEM", requires = "conflicts")]
    pub problem: Option<ProblemKind>,
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

/// `NAME=VALUE` with a number.
pub(super) fn dimension(text: &str) -> Result<(String, u64), String> {
    let expected = || "expected NAME=VALUE with a whole number, as in batch=1".to_owned();
    let (name, value) = text.rsplit_once('=').ok_or_else(expected)?;
    if name.is_empty() {
        return Err(expected());
    }
    Ok((name.to_owned(), value.parse().map_err(|_| expected())?))
}

/// `NAME=AxBxC` with numbers; nothing behind the sign is a scalar.
fn shape(text: &str) -> Result<(String, Vec<u64>), String> {
    let expected = || "expected NAME=AxBx.. with whole numbers, as in input=1x576".to_owned();
    let (name, extents) = text.rsplit_once('=').ok_or_else(expected)?;
    if name.is_empty() {
        return Err(expected());
    }
    let extents = extents.split('x').filter(|_| !extents.is_empty());
    let extents: Result<Vec<u64>, _> = extents.map(str::parse).collect();
    Ok((name.to_owned(), extents.map_err(|_| expected())?))
}

/// `NAME=I,J,K` with integers; nothing behind the sign is a list of none.
fn value(text: &str) -> Result<(String, Vec<i64>), String> {
    let expected = || "expected NAME=I,J,.. with integers, as in size=1,3,224,224".to_owned();
    let (name, list) = text.rsplit_once('=').ok_or_else(expected)?;
    if name.is_empty() {
        return Err(expected());
    }
    let list = list.split(',').filter(|_| !list.is_empty());
    let list: Result<Vec<i64>, _> = list.map(str::parse).collect();
    Ok((name.to_owned(), list.map_err(|_| expected())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_dimensions_are_parsed() {
        assert_eq!(dimension("a=b=3"), Ok(("a=b".to_owned(), 3)));
        assert_eq!(shape("x=1x576"), Ok(("x".to_owned(), vec![1, 576])));
        assert_eq!(shape("x="), Ok(("x".to_owned(), vec![])));
        assert_eq!(value("x=1,-3"), Ok(("x".to_owned(), vec![1, -3])));
        assert_eq!(value("x="), Ok(("x".to_owned(), vec![])));
        for bad in ["x", "=3", "x=1,", "x=1.5", "x=axb"] {
            assert!(value(bad).is_err(), "{bad}");
        }
        for bad in ["x", "=3", "x=1x", "x=-1", "x=axb"] {
            assert!(shape(bad).is_err(), "{bad}");
            assert!(dimension(bad).is_err(), "{bad}");
        }
    }
}
