//! Declares, parses and dispatches the subcommands.

use crate::commands::{
    audit, bench, compare, convert, datasets, fuse, generate, import, list, measure, merge, order, overlap,
    plan, recheck, report, reproduce, shell, solve, spill, sweep, tiers, verify, view,
};
use crate::failure::{ANSWERED, BAD_INPUT, Failure};
use crate::help::{self, Declared};
use crate::input::remove_copy;
use crate::signals::{self, First};
use crate::{output, progress};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use plimsoll::interrupt;
use plimsoll_lab::external::{quote, reaper};
use plimsoll_support::printable::printable;
use std::path::Path;

/// The output of `plimsoll` without arguments. Its four command lines can be run as printed, in this order.
const FIRST_STEPS: &str = "\
Plimsoll plans the memory of neural networks and proves how good the plans are.

  plimsoll generate above-load --out a.csv && plimsoll solve a.csv --plot a.svg
      Place the buffers of an instance, prove the lowest peak, and draw the layout
  plimsoll generate squeezenet --out net.json && plimsoll plan net.json
      Order the operators of a model (ONNX, TFLite or a graph) and place its tensors
  plimsoll bench --time-limit 1
      Compare every heuristic with the proven optimum on built-in instances
  plimsoll list
      List the algorithms, the suites of instances and the generated families

`plimsoll --help` lists all commands, and `plimsoll COMMAND --help` describes one.
";

/// Plan the memory of neural-network programs and prove how good the plans are
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// All commands. A build for browsers contains only those that also run there.
#[derive(Debug, Subcommand)]
enum Command {
    /// Plan the memory of one instance
    Solve(Declared<solve::SolveArgs>),
    /// Plan the memory of a model: order its operators, then place its tensors
    Plan(Declared<plan::PlanArgs>),
    /// Schedule weight transfers to overlap with computation, and bound the makespan
    Overlap(Declared<overlap::OverlapArgs>),
    /// Choose which buffers to spill to a slower tier if the capacity is too small
    Spill(Declared<spill::SpillArgs>),
    /// Generate an instance or a graph; the same seed gives the same file on every machine
    Generate(Declared<generate::GenerateArgs>),
    /// Convert between CSV instances and dsa-solver's JSON format, which supports several memories
    Convert(Declared<convert::ConvertArgs>),
    /// List all algorithms, suites of instances and generated families
    List(Declared<list::ListArgs>),
    #[cfg(not(target_family = "wasm"))]
    #[command(flatten)]
    Native(Native),
}

/// The commands that do not run in a browser.
#[cfg(not(target_family = "wasm"))]
#[derive(Debug, Subcommand)]
enum Native {
    /// Check an answer and its certificate
    Verify(Declared<verify::VerifyArgs>),
    /// Compare layouts with each other and with the proven optimum
    Compare(Declared<compare::CompareArgs>),
    /// Report how far the plan of another planner is from the floor
    Audit(Declared<audit::AuditArgs>),
    /// Write an HTML page that shows a layout or a plan
    View(Declared<view::ViewArgs>),
    /// Run many algorithms on many instances, and compare the results with the best proven bounds
    Bench(Declared<bench::BenchArgs>),
    /// Run all experiments that a TOML file describes, or resume an interrupted sweep
    Sweep(Declared<sweep::SweepArgs>),
    /// Join the shards of a sweep
    Merge(Declared<merge::MergeArgs>),
    /// Analyse the results of `bench` and `sweep` in tables, charts and an HTML page
    Report(Declared<report::ReportArgs>),
    /// Rerun records of `bench` and compare all results that do not depend on time
    Recheck(Declared<recheck::RecheckArgs>),
    /// Execute the runs of a sweep that are requested on standard input
    #[command(hide = true)]
    SweepWorker(Declared<Nothing>),
    /// Kill the external programs that a terminated process has left running
    #[command(hide = true)]
    Reaper(Declared<Nothing>),
    /// Read a model and summarise its operators, tensors and weights
    Import(Declared<import::ImportArgs>),
    /// Order the operators of a graph to minimise the peak live bytes
    Order(Declared<order::OrderArgs>),
    /// Run the timelines of `overlap` on this machine and compare predicted with measured times
    Measure(Declared<measure::MeasureArgs, true>),
    /// Fuse operators into groups, and bound the coverage
    Fuse(Declared<fuse::FuseArgs>),
    /// Assign tensors to memory tiers to minimise transfer time, and bound that time
    Tiers(Declared<tiers::TiersArgs>),
    /// Recompute published results and compare them with the printed numbers
    Reproduce(Declared<reproduce::ReproduceArgs>),
    /// List, verify or fetch the external corpora
    Datasets(Declared<datasets::DatasetsArgs, true>),
    /// Print shell completions
    Completions(Declared<shell::CompletionsArgs>),
    /// Write manual pages, one per command
    Man(Declared<shell::ManArgs>),
}

/// No arguments.
#[cfg(not(target_family = "wasm"))]
#[derive(Args, Debug)]
struct Nothing {}

/// Returns the declaration of the command line, with its help.
pub fn declaration() -> clap::Command {
    help::complete(Cli::command())
}

/// Parses the arguments, runs the command and returns the exit code.
pub fn main() -> u8 {
    let parsed = declaration().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let result = match parsed {
        Ok(Cli { command: Some(command) }) => run(command),
        Ok(Cli { command: None }) => output::print(&output::filled(FIRST_STEPS)).map(|()| ANSWERED),
        Err(error) => usage(&error),
    };
    let code = result.unwrap_or_else(|failure| {
        output::complain(&failure.message);
        failure.code
    });
    let code = output::report_late().unwrap_or(code);
    remove_copy();
    code
}

fn run(command: Command) -> Result<u8, Failure> {
    if let Err(error) = listen(&command) {
        output::complain(&format!("cannot handle signals, so Ctrl-C discards the results: {error}"));
    }
    let result = match command {
        Command::Solve(Declared(args)) => solve::main(&args),
        Command::Plan(Declared(args)) => plan::main(&args),
        Command::Overlap(Declared(args)) => overlap::main(&args),
        Command::Spill(Declared(args)) => spill::main(&args),
        Command::Generate(Declared(args)) => generate::main(&args),
        Command::Convert(Declared(args)) => convert::main(&args),
        Command::List(Declared(args)) => list::main(&args),
        #[cfg(not(target_family = "wasm"))]
        Command::Native(command) => native(command),
    };
    progress::clear();
    if interrupt::is_requested() {
        output::complain("interrupted: the output contains the results found so far");
    }
    result
}

#[cfg(not(target_family = "wasm"))]
fn native(command: Native) -> Result<u8, Failure> {
    match command {
        Native::Verify(Declared(args)) => verify::main(&args),
        Native::Compare(Declared(args)) => compare::main(&args),
        Native::Audit(Declared(args)) => audit::main(&args),
        Native::View(Declared(args)) => view::main(&args),
        Native::Bench(Declared(args)) => bench::main(&args),
        Native::Sweep(Declared(args)) => sweep::main(&args),
        Native::Merge(Declared(args)) => merge::main(&args),
        Native::Report(Declared(args)) => report::main(&args),
        Native::Recheck(Declared(args)) => recheck::main(&args),
        Native::SweepWorker(_) => sweep::worker(),
        Native::Reaper(_) => {
            reaper::serve(std::io::stdin());
            Ok(ANSWERED)
        }
        Native::Import(Declared(args)) => import::main(&args),
        Native::Order(Declared(args)) => order::main(&args),
        Native::Measure(Declared(args)) => measure::main(&args),
        Native::Fuse(Declared(args)) => fuse::main(&args),
        Native::Tiers(Declared(args)) => tiers::main(&args),
        Native::Reproduce(Declared(args)) => reproduce::main(&args),
        Native::Datasets(Declared(args)) => datasets::main(&args),
        Native::Completions(Declared(args)) => shell::completions(&args, declaration()),
        Native::Man(Declared(args)) => shell::manual(&args, declaration()),
    }
}

/// Installs handlers for Ctrl-C and SIGTERM and, for commands that search and draw no progress bar of their
/// own, shows the progress of runs. After a signal, commands with [`First::KeepsAnswers`] end with their best
/// answers so far. Commands with [`First::Ends`] end at once and leave no partial files.
fn listen(command: &Command) -> std::io::Result<()> {
    #[cfg(not(target_family = "wasm"))]
    if let Command::Native(command) = command {
        match command {
            // These processes end with their parent.
            Native::SweepWorker(_) | Native::Reaper(_) => return Ok(()),
            Native::Verify(_)
            | Native::Compare(_)
            | Native::Audit(_)
            | Native::Order(_)
            | Native::Tiers(_)
            | Native::Fuse(_) => {}
            Native::Reproduce(_) => {
                progress::show();
                return signals::listen(First::Ends);
            }
            // These commands draw their own progress bar, or run another command.
            Native::Bench(_) | Native::Sweep(_) | Native::View(_) => {
                return signals::listen(First::KeepsAnswers);
            }
            _ => return signals::listen(First::Ends),
        }
    }
    if let Command::Generate(_) | Command::Convert(_) | Command::List(_) = command {
        return signals::listen(First::Ends);
    }
    progress::show();
    signals::listen(First::KeepsAnswers)
}

/// Prints a help text unchanged, and returns a usage error as one line.
fn usage(error: &clap::Error) -> Result<u8, Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => output::print(&text).map(|()| ANSWERED),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{}", printable(&text));
            Ok(BAD_INPUT)
        }
        _ => {
            // No positional argument begins with a hyphen, so the tip `-- --option` never helps.
            let kept: String = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("tip: to pass"))
                .fold(String::new(), |kept, line| kept + line + "\n");
            let keep = |part: &&str| {
                !part.is_empty() && !part.starts_with("Usage:") && !part.starts_with("For more")
            };
            let mut parts: Vec<&str> = kept.split("\n\n").map(str::trim).filter(keep).collect();
            let (missing, command) = (missing(error), other_command(error));
            parts.extend(missing.as_deref());
            if command.is_some() {
                parts.retain(|part| !part.starts_with("tip:"));
            }
            parts.extend(command.as_deref());
            parts.extend(elsewhere(error));
            let line = parts.join("; ");
            Err(Failure::input(line.strip_prefix("error: ").unwrap_or(&line)))
        }
    }
}

/// Other names for commands.
const OTHER_NAMES: [(&str, &str); 8] = [
    ("check", "verify"),
    ("validate", "verify"),
    ("pack", "solve"),
    ("allocate", "solve"),
    ("optimize", "solve"),
    ("benchmark", "bench"),
    ("diff", "compare"),
    ("schedule", "overlap"),
];

/// Returns a hint about an unknown command: the command with the same meaning or, if the unknown command is
/// a file name, the command for such a file.
fn other_command(error: &clap::Error) -> Option<String> {
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    else {
        return None;
    };
    if let Some((_, command)) = OTHER_NAMES.iter().find(|(other, _)| other == name) {
        return Some(format!("did you mean '{command}'?"));
    }
    let suffix = Path::new(name).extension().map(|suffix| suffix.to_string_lossy().to_lowercase())?;
    let (command, what) = match suffix.as_str() {
        "csv" => ("solve", "places the buffers of an instance"),
        "json" | "onnx" | "tflite" => ("plan", "plans the memory of a graph or model"),
        "toml" => ("sweep", "runs a sweep"),
        _ => return None,
    };
    Some(format!("`plimsoll {command} {}` {what}", quote(name)))
}

/// Returns a hint about an unknown option if another command or option has the same purpose.
fn elsewhere(error: &clap::Error) -> Option<&'static str> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let command = std::env::args().nth(1)?;
    match (error.kind(), command.as_str(), option.as_str()) {
        (ErrorKind::UnknownArgument, "bench", "--plot") => {
            Some("`bench --out DIR` writes the best layouts and charts as pictures")
        }
        (ErrorKind::UnknownArgument, "solve", "--compare") => {
            Some("`plimsoll bench FILE` compares all algorithms on a file")
        }
        (ErrorKind::UnknownArgument, "overlap", "--compare") => {
            Some("`overlap` compares all schedules unless --algorithm selects one")
        }
        _ => None,
    }
}

/// Returns the help texts of required arguments that are missing.
fn missing(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let Some(ContextValue::Strings(names)) = error.get(ContextKind::InvalidArg) else { return None };
    let mut declaration = declaration();
    declaration.build();
    let command = declaration.find_subcommand(std::env::args_os().nth(1)?)?;
    let helps = names.iter().filter_map(|name| {
        let argument = command.get_arguments().find(|argument| argument.to_string() == *name)?;
        argument.get_help().map(ToString::to_string)
    });
    let mut helps: Vec<String> = helps.collect();
    // These arguments name instances, graphs, models or layouts, which may come from standard input.
    if names.iter().any(|name| ["<INSTANCE", "<GRAPH", "<LAYOUT"].iter().any(|own| name.starts_with(own))) {
        helps.push("`-` reads standard input".to_owned());
    }
    let helps = helps.join("; ");
    (!helps.is_empty()).then_some(helps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        declaration().debug_assert();
    }
}
