//! Parses the command line and runs its command.

use crate::command::Entry;
use crate::commands::COMMANDS;
use crate::failure::{ANSWERED, BAD_INPUT, Failure};
use crate::input::remove_copy;
use crate::signals;
use crate::{output, progress};
use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use plimsoll::interrupt;
use plimsoll_lab::external::quote;
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

/// Parses the arguments, runs the command and returns the exit code.
pub fn main() -> u8 {
    let result = match COMMANDS.declaration().try_get_matches() {
        Ok(matches) => match matches.subcommand() {
            Some((name, own)) => {
                let entry = COMMANDS.iter().find(|entry| entry.name == name);
                run(entry.expect("only commands of the list are declared"), own)
            }
            None => output::print(&output::filled(FIRST_STEPS)).map(|()| ANSWERED),
        },
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

/// Runs a command, with handlers for Ctrl-C and SIGTERM.
fn run(entry: &Entry, matches: &ArgMatches) -> Result<u8, Failure> {
    if entry.has_progress {
        progress::show();
    }
    if let Some(Err(error)) = entry.signal.map(signals::listen) {
        output::complain(&format!("cannot handle signals, so Ctrl-C discards the results: {error}"));
    }
    let result = (entry.run)(matches, &COMMANDS);
    progress::clear();
    if interrupt::is_requested() {
        output::complain("interrupted: the output contains the results found so far");
    }
    result
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
    let mut declaration = COMMANDS.declaration();
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
