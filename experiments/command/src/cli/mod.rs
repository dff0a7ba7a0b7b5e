//! Arguments: parsed here, resolved by the commands.

mod data;
mod fuse;
mod graph;
mod measure;
mod overlap;
mod recheck;
mod report;
mod spill;
mod sweep;
mod tiers;

pub use data::{
    ConvertArgs, DatasetsArgs, DatasetsCommand, DatasetsFetchArgs, DatasetsListArgs, DatasetsVerifyArgs,
};
pub use fuse::FuseArgs;
pub use graph::{
    BoundaryArg, ConflictsArg, EffortArgs, ImportArgs, LivenessArgs, ModelArgs, OrderArgs, PlanArgs, once,
};
pub use measure::{CalibrateArgs, ChipArgs, LinkArgs, MeasureArgs, MeasureCommand, RunArgs};
pub use overlap::{ActivationsArg, OverlapArgs};
pub use recheck::RecheckArgs;
pub use report::ReportArgs;
pub use spill::SpillArgs;
pub use sweep::{MergeArgs, SweepArgs};
pub use tiers::{FusionArg, TiersArgs};

use crate::commands;
use crate::failure::{ANSWERED, BAD_INPUT, Failure};
use crate::format;
use crate::output;
use crate::signals::{self, First};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use plimsoll::interrupt;
use plimsoll::model::csv::{Endpoints, ReadOptions, read_instance_file_noted};
use plimsoll::model::{Bytes, Instance};
use plimsoll::plan::ProblemKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

const EXIT_CODES: &str = "Exit codes: 0 answered, 1 proved infeasible or verification failed, \
    2 bad input or usage, 3 nothing found within the limits, 4 internal error, \
    5 proof rests on a search that verify cannot check";

/// Of `bench`, `sweep` and `merge`, where many algorithms run.
const RUNS_CODES: &str = "Exit codes: 0 answered, 1 the checker refused an answer, 2 bad input or usage, \
    3 all runs of an external binary failed or a sweep was interrupted, 4 all runs of an algorithm of this build failed, or internal error";

/// Of `reproduce`, with where it looks.
const REPRODUCE_CODES: &str = "Real models and instances are found through PLIMSOLL_CORPORA, a binary of MiniMalloc through PLIMSOLL_MINIMALLOC; \
    what takes no part without them is said.\n\nExit codes: 0 every row is as expected, 1 some row is not, 2 bad input or usage, 3 nothing found within the limits, 4 internal error";

/// How low can the water line go, and who proved it? Memory planning with proofs.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plan the memory of one instance
    #[command(after_help = EXIT_CODES)]
    Solve(SolveArgs),
    /// Check an answer, and the proof that goes with it
    #[command(after_help = EXIT_CODES)]
    Verify(VerifyArgs),
    /// Run many algorithms on many instances and compare them with the best proven bound
    #[command(after_help = RUNS_CODES)]
    Bench(BenchArgs),
    /// Attempt all runs that a file describes, each in a process of its own; go on where it was cut short
    #[command(after_help = RUNS_CODES)]
    Sweep(SweepArgs),
    /// Join the shards of a sweep
    #[command(after_help = RUNS_CODES)]
    Merge(MergeArgs),
    /// Analyse what `bench` and `sweep` wrote: tables, charts and one page to read them in
    #[command(after_help = EXIT_CODES)]
    Report(ReportArgs),
    /// Hold records of `bench` against today's code: what does not depend on clocks must come out again
    #[command(after_help = EXIT_CODES)]
    Recheck(RecheckArgs),
    /// Serve runs of a sweep on standard input and output
    #[command(hide = true)]
    SweepWorker,
    /// End the external programs of a process that has died
    #[command(hide = true)]
    Reaper,
    /// Read a model: its operators, tensors, weights
    #[command(after_help = EXIT_CODES)]
    Import(ImportArgs),
    /// Order the operators of a graph so that the least memory is alive
    #[command(after_help = EXIT_CODES)]
    Order(OrderArgs),
    /// From a model to a memory plan: order, then offsets
    #[command(after_help = EXIT_CODES)]
    Plan(PlanArgs),
    /// Fetch weights while operators compute: timelines, and how far from the limit they are
    #[command(after_help = EXIT_CODES)]
    Overlap(OverlapArgs),
    /// Run the timelines that `overlap` makes on this machine, and compare with what was predicted
    #[command(after_help = EXIT_CODES)]
    Measure(MeasureArgs),
    /// Run operators as one: which, how much that covers, and how far from the most it is
    #[command(after_help = EXIT_CODES)]
    Fuse(FuseArgs),
    /// Which tensor lives in which of several memories: least transfer time, and how far from it
    #[command(after_help = EXIT_CODES)]
    Tiers(TiersArgs),
    /// Choose what goes to the slower tier where memory does not suffice, and say what is missing
    #[command(after_help = EXIT_CODES, mut_arg("model", |arg| arg.value_name("INSTANCE.csv|GRAPH|MODEL")
        .help("An instance (.csv), a graph (.json) or a model (.onnx, .tflite)")))]
    Spill(SpillArgs),
    /// Compute published results again and put them beside what was printed
    #[command(after_help = REPRODUCE_CODES)]
    Reproduce(ReproduceArgs),
    /// Write a generated instance or graph, the same for the same seed on any machine
    #[command(after_help = EXIT_CODES)]
    Generate(GenerateArgs),
    /// From and to the JSON of dsa-solver, several memories at once: instances out of it, layouts back into it
    #[command(after_help = EXIT_CODES)]
    Convert(ConvertArgs),
    /// The external corpora: where they come from, and whether the copies here are the same
    #[command(after_help = EXIT_CODES)]
    Datasets(DatasetsArgs),
    /// List every algorithm, every suite of instances and every generated family
    List(ListArgs),
}

/// How an instance is read.
#[derive(Args, Debug)]
pub struct InstanceArgs {
    /// The most bytes a layout may reach; overrides the number in the file name (X.1048576.csv)
    #[arg(long, value_name = "BYTES", conflicts_with = "no_capacity", value_parser = bytes)]
    pub capacity: Option<u64>,
    /// Ignore the capacity in the file name
    #[arg(long)]
    pub no_capacity: bool,
    /// How the instance writes ends of lifespans; by default the column names say (`end` is inclusive)
    #[arg(long, value_name = "HOW")]
    pub endpoints: Option<EndpointsArg>,
}

impl InstanceArgs {
    /// Reads the instance.
    pub fn read(&self, path: &Path) -> Result<Instance, Failure> {
        let options = ReadOptions {
            endpoints: self.endpoints.map(Into::into),
            capacity: self.capacity.map(Bytes::new),
        };
        let noted = read_instance_file_noted(path, options)?;
        commands::note_columns(path, &noted);
        let instance = noted.value;
        Ok(if self.no_capacity { instance.with_capacity(None) } else { instance })
    }
}

/// How ends of lifespans are written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum EndpointsArg {
    /// The end is the first step after
    HalfOpen,
    /// The end is the last step alive
    Inclusive,
}

impl From<EndpointsArg> for Endpoints {
    fn from(how: EndpointsArg) -> Self {
        match how {
            EndpointsArg::HalfOpen => Self::HalfOpen,
            EndpointsArg::Inclusive => Self::Inclusive,
        }
    }
}

/// Arguments of `solve`.
#[derive(Args, Debug)]
pub struct SolveArgs {
    /// The instance, a CSV file
    pub instance: PathBuf,
    /// The algorithm; `plimsoll list` names them all [default: exact, or the first exact one of the problem, or its first]
    #[arg(long, value_name = "NAME")]
    pub solver: Option<String>,
    /// offsets, pools or scattered; by default the first of them that knows the solver
    #[arg(long, value_name = "PROBLEM")]
    pub problem: Option<ProblemKind>,
    #[command(flatten)]
    pub input: InstanceArgs,
    /// Stop at the first layout within the capacity instead of looking for the lowest
    #[arg(long)]
    pub decide: bool,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the solution, a CSV file
    #[arg(long, short, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub output: Option<PathBuf>,
    /// Write what is proved and why, a JSON file
    #[arg(long, value_name = "FILE.json", value_parser = format::JSON.file())]
    pub certificate: Option<PathBuf>,
    /// Draw the solution, an SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = format::SVG.file())]
    pub plot: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The instance, a CSV file
    pub instance: PathBuf,
    /// The answer, a CSV file with `id` and `offset`, or as `solve` writes it for pools and scattered, or as `spill` writes
    /// it; not needed for a certificate that speaks of no layout
    #[arg(required_unless_present = "certificate")]
    pub layout: Option<PathBuf>,
    /// What `solve --certificate` wrote
    #[arg(long, value_name = "FILE.json")]
    pub certificate: Option<PathBuf>,
    /// Exit with 0 also where the bound rests on a completed search, which only repeating it can confirm
    #[arg(long, requires = "certificate")]
    pub trust_search: bool,
    #[command(flatten)]
    pub input: InstanceArgs,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Suites by name (`plimsoll list` shows them), or CSV files, folders and patterns of them
    /// [default: embedded, and minimalloc and idealloc where corpora are there]
    #[arg(value_name = "SUITE")]
    pub suites: Vec<String>,
    /// Only instances whose names fit one of these patterns; `*` stands for anything, `?` for one letter
    #[arg(long, value_name = "P,Q,..", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Algorithms by name, or the groups `heuristics`, `solvers`, `all`
    /// [default: every heuristic, and the leading exact method of each problem]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub solvers: Vec<String>,
    /// offsets, pools, scattered [default: all; with --processes: offsets]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub problems: Vec<ProblemKind>,
    /// Seconds of wall-clock time per run
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Duration,
    /// Nodes per run
    #[arg(long, value_name = "NODES")]
    pub node_limit: Option<u64>,
    /// First seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Number of seeds, counted from the first; externals run once per seed where their command has {seed}
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// Runs of every external whose command has no {seed}
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub repeat: u64,
    /// Threads an algorithm may use
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: usize,
    /// Stop at the first layout within a capacity instead of minimising without one: `file` (the number in the file
    /// name, where nothing is said), `load`, or a number of bytes
    #[arg(
        long,
        value_name = "file|load|BYTES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "file"
    )]
    pub decide: Option<Decide>,
    /// Run our own algorithms for offsets as processes too, like externals: seconds are those of whole processes
    #[arg(long)]
    pub processes: bool,
    /// How instances write ends of lifespans; by default their column names say
    #[arg(long, value_name = "HOW")]
    pub endpoints: Option<EndpointsArg>,
    /// Compare times with those of this algorithm: a table of ratios per instance, and a performance profile
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// Shift of geometric means of times, seconds
    #[arg(long, value_name = "SECONDS", default_value = "0.01", value_parser = seconds, allow_negative_numbers = true)]
    pub shift: Duration,
    /// Folder for rows.csv, summary.md, README.md, maps and charts
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into a folder that is not empty
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Write down when layouts and bounds improved (trace.csv), and draw the gap over time
    #[arg(long, requires = "out")]
    pub trace: bool,
    /// Anybody's binary: NAME='cmd {input} {output} {capacity}', also `{seed} {threads} {time_limit}`; may be repeated
    #[arg(long, value_name = "NAME='CMD ..'")]
    pub external: Vec<String>,
    /// A command whose first line of output is put on record as the version of an external; may be repeated
    #[arg(long, value_name = "NAME='CMD ..'")]
    pub external_version: Vec<String>,
    /// Where an external prints how long it took, in seconds, from after reading the instance to its answer: a regular
    /// expression with one group, `^` and `$` ends of lines, whose last match counts: on standard error, else on standard
    /// output; may be repeated
    #[arg(long, value_name = "NAME=REGEX")]
    pub external_elapsed: Vec<String>,
}

/// What capacity is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decide {
    /// The one the instance came with.
    File,
    /// The load.
    Load,
    /// This, bytes.
    Bytes(u64),
}

impl FromStr for Decide {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "file" => Ok(Self::File),
            "load" => Ok(Self::Load),
            _ => text
                .parse()
                .map(Self::Bytes)
                .map_err(|_| "expected file, load, or a number of bytes".to_owned()),
        }
    }
}

/// Arguments of `generate`.
#[derive(Args, Debug)]
pub struct GenerateArgs {
    /// The law, of instances or of graphs, or a single small graph; `plimsoll list` names them all
    #[arg(value_name = "FAMILY")]
    pub family: String,
    /// Number of buffers, of instances only: short for --param buffers=N [default: the family's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub buffers: Option<u64>,
    /// A parameter of the family, as `plimsoll list` shows them; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = graph::dimension)]
    pub param: Vec<(String, u64)>,
    /// Seed of all randomness; with --count the first of as many seeds
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Write so many files, one per seed, into a folder (--out); its manifest.json has seed, SHA-256 and load or size of each
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub count: Option<u64>,
    /// Where to write: a file (.csv of an instance, .json of a graph) [default: FAMILY-..-SEED.csv or .json], or else a folder, made where it
    /// is not there, with manifest.json beside the files
    #[arg(long, short, value_name = "FILE|DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `reproduce`.
#[derive(Args, Debug)]
pub struct ReproduceArgs {
    /// The paper, by name or number (`plimsoll list` shows them), or `all`
    #[arg(value_name = "PAPER")]
    pub paper: String,
    /// Folder for summary.md, rows.csv and, in a folder per paper, its report, rows and figures; made where it is not there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seeds per set of parameters where many generated graphs are tried (luna), at most
    #[arg(long, value_name = "N")]
    pub seeds: Option<u64>,
    /// Seconds of wall-clock time per run
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Duration,
    /// Threads an algorithm may use
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: usize,
    /// Seed of all randomness
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// Arguments of `list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// A family, by name: only its parameters, with their meaning; or `operators`: those of models that are known, and how
    /// their outputs are sized
    #[arg(value_name = "FAMILY")]
    pub family: Option<String>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Seconds from 0 on, with fractions.
fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if number.is_nan() || number < 0.0 {
        return Err("expected a number of seconds from 0 on".to_owned());
    }
    Duration::try_from_secs_f64(number).map_err(|_| "expected fewer seconds".to_owned())
}

/// What `none` stands for among time limits.
const NO_LIMIT: Duration = Duration::MAX;

/// The same, or `none` for [`NO_LIMIT`].
fn seconds_or_none(text: &str) -> Result<Duration, String> {
    if text == "none" { Ok(NO_LIMIT) } else { seconds(text).map_err(|reason| format!("{reason}, or none")) }
}

/// A number of bytes.
fn bytes(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a number of bytes, digits only".to_owned())
}

/// Threads from 1 on.
fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1024) => Ok(number),
        _ => Err("expected a number of threads from 1 to 1024".to_owned()),
    }
}

/// Parses, runs, and returns the exit code.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    if let Err(error) = listen(&cli.command) {
        output::complain(&format!("Ctrl-C ends this command without an answer: {error}"));
    }
    let result = match cli.command {
        Command::Solve(args) => commands::solve::main(&args),
        Command::Verify(args) => commands::verify::main(&args),
        Command::Bench(args) => commands::bench::main(&args),
        Command::Sweep(args) => commands::sweep::main(&args),
        Command::Merge(args) => commands::merge::main(&args),
        Command::Report(args) => commands::report::main(&args),
        Command::Recheck(args) => commands::recheck::main(&args),
        Command::SweepWorker => commands::sweep::worker(),
        Command::Reaper => {
            plimsoll_lab::external::reaper::serve(std::io::stdin());
            Ok(ANSWERED)
        }
        Command::Import(args) => commands::import::main(&args),
        Command::Order(args) => commands::order::main(&args),
        Command::Plan(args) => commands::plan::main(&args),
        Command::Overlap(args) => commands::overlap::main(&args),
        Command::Tiers(args) => commands::tiers::main(&args),
        Command::Fuse(args) => commands::fuse::main(&args),
        Command::Measure(args) => commands::measure::main(&args),
        Command::Spill(args) => commands::spill::main(&args),
        Command::Reproduce(args) => commands::reproduce::main(&args),
        Command::Generate(args) => commands::generate::main(&args),
        Command::Convert(args) => commands::convert::main(&args),
        Command::Datasets(args) => commands::datasets::main(&args),
        Command::List(args) => commands::list::main(&args),
    };
    if interrupt::is_requested() {
        output::complain("interrupted: this is what was found until then");
    }
    result.unwrap_or_else(|failure| {
        output::complain(&failure.message);
        failure.code
    })
}

/// Prepares for Ctrl-C and SIGTERM: commands that search end with their best answer so far, the others leave nothing
/// half-written.
fn listen(command: &Command) -> std::io::Result<()> {
    match command {
        // Ends with its parent.
        Command::SweepWorker | Command::Reaper => Ok(()),
        Command::Solve(_)
        | Command::Bench(_)
        | Command::Sweep(_)
        | Command::Order(_)
        | Command::Plan(_)
        | Command::Overlap(_)
        | Command::Tiers(_)
        | Command::Fuse(_)
        | Command::Spill(_) => signals::listen(First::KeepsAnswers),
        _ => signals::listen(First::Ends),
    }
}

/// Help goes out as it is; a usage error is folded into one line.
fn usage(error: &clap::Error) -> u8 {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match output::print(&text) {
            Ok(()) => ANSWERED,
            Err(failure) => {
                output::complain(&failure.message);
                failure.code
            }
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let command = Cli::command();
            let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
            let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
            output::complain(&format!("no command given; commands are {} (see --help)", names.join(", ")));
            BAD_INPUT
        }
        _ => {
            let keep = |part: &&str| !part.starts_with("Usage:") && !part.starts_with("For more");
            let parts: Vec<&str> = text.split("\n\n").map(str::trim).filter(keep).collect();
            let line = parts.join("; ");
            output::complain(line.strip_prefix("error: ").unwrap_or(&line));
            BAD_INPUT
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn capacities_to_decide_are_words_or_bytes() {
        assert_eq!("file".parse(), Ok(Decide::File));
        assert_eq!("load".parse(), Ok(Decide::Load));
        assert_eq!("1048576".parse(), Ok(Decide::Bytes(1 << 20)));
        assert!("1e6".parse::<Decide>().is_err() && "".parse::<Decide>().is_err());
        let parse = |words: &[&str]| {
            let Command::Bench(args) = Cli::try_parse_from(words).unwrap().command else {
                panic!("no bench")
            };
            (args.decide, args.suites)
        };
        // The suite behind the bare word is no capacity.
        assert_eq!(parse(&["p", "bench", "--decide", "x"]), (Some(Decide::File), vec!["x".to_owned()]));
        assert_eq!(parse(&["p", "bench", "--decide=load"]), (Some(Decide::Load), vec![]));
        assert_eq!(parse(&["p", "bench"]), (None, vec![]));
    }

    #[test]
    fn seconds_are_finite_and_not_negative() {
        assert_eq!(seconds("0.005"), Ok(Duration::from_millis(5)));
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        for bad in ["-1", "nan", "NaN", "inf", "1e300", "", "ten"] {
            assert!(seconds(bad).is_err(), "{bad}");
            assert!(seconds_or_none(bad).is_err(), "{bad}");
        }
        assert_eq!(seconds_or_none("none"), Ok(NO_LIMIT));
        assert_eq!(seconds_or_none("2.5"), Ok(Duration::from_millis(2500)));
    }
}
