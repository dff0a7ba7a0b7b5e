//! The subcommands: declared, parsed and dispatched.

use crate::commands::{
    bench, convert, datasets, fuse, generate, import, list, measure, merge, order, overlap, plan, recheck,
    report, reproduce, shell, solve, spill, sweep, tiers, verify,
};
use crate::failure::{ANSWERED, BAD_INPUT, EXIT_CODES, Failure};
use crate::output;
use crate::signals::{self, First};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use plimsoll::interrupt;
use plimsoll_lab::external::reaper;

/// Of `bench`, `sweep` and `merge`, where many algorithms run.
const RUNS_CODES: &str = "Exit codes: 0 answered, 1 the checker refused an answer, 2 bad input or usage, \
    3 all runs of an external binary failed or a sweep was interrupted, 4 all runs of an algorithm of this build failed, or internal error";

/// Of `reproduce`, with where it looks.
const REPRODUCE_CODES: &str = "Real models and instances are found through PLIMSOLL_CORPORA, a binary of MiniMalloc through PLIMSOLL_MINIMALLOC; \
    what takes no part without them is said.\n\nExit codes: 0 every row is as expected, 1 some row is not, 2 bad input or usage, 3 nothing found within the limits, 4 internal error";

/// What `plimsoll` alone prints; the four lines run as they stand, one after the other.
const FIRST_STEPS: &str = "\
Plimsoll: how low can the peak memory of a neural-network program go, and what proves it?

  plimsoll generate above-load --out first.csv && plimsoll solve first.csv --plot first.svg
      Place the buffers of an instance, prove the lowest peak, draw the layout
  plimsoll generate squeezenet --out net.json && plimsoll plan net.json
      Order the operators of a model (ONNX, TFLite, or a graph as here) and place its tensors
  plimsoll bench --time-limit 1
      Compare every heuristic with the proven optimum on built-in instances
  plimsoll list
      List algorithms, suites of instances and generated families

`plimsoll --help` lists all commands, `plimsoll COMMAND --help` the options of one.
";

/// How low can the peak memory of a neural-network program go, and what proves it?
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plan the memory of one instance
    #[command(after_help = EXIT_CODES)]
    Solve(solve::SolveArgs),
    /// Check an answer, and the proof that goes with it
    #[command(after_help = EXIT_CODES)]
    Verify(verify::VerifyArgs),
    /// Run many algorithms on many instances and compare them with the best proven bound
    #[command(after_help = RUNS_CODES)]
    Bench(bench::BenchArgs),
    /// Attempt all runs that a file describes, each in a process of its own; go on where it was cut short
    #[command(after_help = RUNS_CODES)]
    Sweep(sweep::SweepArgs),
    /// Join the shards of a sweep
    #[command(after_help = RUNS_CODES)]
    Merge(merge::MergeArgs),
    /// Analyse what `bench` and `sweep` wrote: tables, charts and one page to read them in
    #[command(after_help = EXIT_CODES)]
    Report(report::ReportArgs),
    /// Hold records of `bench` against today's code: what does not depend on clocks must come out again
    #[command(after_help = EXIT_CODES)]
    Recheck(recheck::RecheckArgs),
    /// Serve runs of a sweep on standard input and output
    #[command(hide = true)]
    SweepWorker,
    /// End the external programs of a process that has died
    #[command(hide = true)]
    Reaper,
    /// Read a model: its operators, tensors, weights
    #[command(after_help = EXIT_CODES)]
    Import(import::ImportArgs),
    /// Order the operators of a graph so that the least memory is alive
    #[command(after_help = EXIT_CODES)]
    Order(order::OrderArgs),
    /// From a model to a memory plan: order, then offsets
    #[command(after_help = EXIT_CODES)]
    Plan(plan::PlanArgs),
    /// Fetch weights while operators compute: timelines, and how far from the limit they are
    #[command(after_help = EXIT_CODES)]
    Overlap(overlap::OverlapArgs),
    /// Run the timelines that `overlap` makes on this machine, and compare with what was predicted
    #[command(after_help = EXIT_CODES)]
    Measure(measure::MeasureArgs),
    /// Run operators as one: which, how much that covers, and how far from the most it is
    #[command(after_help = EXIT_CODES)]
    Fuse(fuse::FuseArgs),
    /// Which tensor lives in which of several memories: least transfer time, and how far from it
    #[command(after_help = EXIT_CODES)]
    Tiers(tiers::TiersArgs),
    /// Choose what goes to the slower tier where memory does not suffice, and say what is missing
    #[command(after_help = EXIT_CODES, mut_arg("model", |arg| arg.value_name("INSTANCE.csv|GRAPH|MODEL")
        .help("An instance (.csv), a graph (.json) or a model (.onnx, .tflite)")))]
    Spill(spill::SpillArgs),
    /// Compute published results again and put them beside what was printed
    #[command(after_help = REPRODUCE_CODES)]
    Reproduce(reproduce::ReproduceArgs),
    /// Write a generated instance or graph, the same for the same seed on any machine
    #[command(after_help = EXIT_CODES)]
    Generate(generate::GenerateArgs),
    /// From and to the JSON of dsa-solver, several memories at once: instances out of it, layouts back into it
    #[command(after_help = EXIT_CODES)]
    Convert(convert::ConvertArgs),
    /// The external corpora: where they come from, and whether the copies here are the same
    #[command(after_help = EXIT_CODES)]
    Datasets(datasets::DatasetsArgs),
    /// List every algorithm, every suite of instances and every generated family
    List(list::ListArgs),
    /// Print completions for a shell
    #[command(after_help = EXIT_CODES)]
    Completions(shell::CompletionsArgs),
    /// Write manual pages, one per command
    #[command(after_help = EXIT_CODES)]
    Man(shell::ManArgs),
}

/// Parses, runs, and returns the exit code.
pub fn main() -> u8 {
    let result = match Cli::try_parse() {
        Ok(Cli { command: Some(command) }) => run(command),
        Ok(Cli { command: None }) => output::print(FIRST_STEPS).map(|()| ANSWERED),
        Err(error) => usage(&error),
    };
    result.unwrap_or_else(|failure| {
        output::complain(&failure.message);
        failure.code
    })
}

fn run(command: Command) -> Result<u8, Failure> {
    if let Err(error) = listen(&command) {
        output::complain(&format!("Ctrl-C ends this command without an answer: {error}"));
    }
    let result = match command {
        Command::Solve(args) => solve::main(&args),
        Command::Verify(args) => verify::main(&args),
        Command::Bench(args) => bench::main(&args),
        Command::Sweep(args) => sweep::main(&args),
        Command::Merge(args) => merge::main(&args),
        Command::Report(args) => report::main(&args),
        Command::Recheck(args) => recheck::main(&args),
        Command::SweepWorker => sweep::worker(),
        Command::Reaper => {
            reaper::serve(std::io::stdin());
            Ok(ANSWERED)
        }
        Command::Import(args) => import::main(&args),
        Command::Order(args) => order::main(&args),
        Command::Plan(args) => plan::main(&args),
        Command::Overlap(args) => overlap::main(&args),
        Command::Tiers(args) => tiers::main(&args),
        Command::Fuse(args) => fuse::main(&args),
        Command::Measure(args) => measure::main(&args),
        Command::Spill(args) => spill::main(&args),
        Command::Reproduce(args) => reproduce::main(&args),
        Command::Generate(args) => generate::main(&args),
        Command::Convert(args) => convert::main(&args),
        Command::Datasets(args) => datasets::main(&args),
        Command::List(args) => list::main(&args),
        Command::Completions(args) => shell::completions(&args, Cli::command()),
        Command::Man(args) => shell::manual(&args, Cli::command()),
    };
    if interrupt::is_requested() {
        output::complain("interrupted: this is what was found until then");
    }
    result
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
fn usage(error: &clap::Error) -> Result<u8, Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => output::print(&text).map(|()| ANSWERED),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{text}");
            Ok(BAD_INPUT)
        }
        _ => {
            // No argument of this command begins with a hyphen: `-- --option` would never help.
            let kept: String = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("tip: to pass"))
                .fold(String::new(), |kept, line| kept + line + "\n");
            let keep = |part: &&str| {
                !part.is_empty() && !part.starts_with("Usage:") && !part.starts_with("For more")
            };
            let parts: Vec<&str> = kept.split("\n\n").map(str::trim).filter(keep).collect();
            let line = parts.join("; ");
            Err(Failure::input(line.strip_prefix("error: ").unwrap_or(&line)))
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
}
