//! The help: commands grouped by task, and examples of each command.

use crate::args::{TIME_LIMIT_OF_AUDIT, TIME_LIMIT_OF_BEST, TIME_LIMIT_OF_VERIFY, TIME_LIMIT_WITH_COMPARE};
use crate::failure::{EXIT_CODES, REPRODUCE_CODES, RUNS_CODES};
use crate::output;
use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use plimsoll_lab::report::table::wrapped;
use std::fmt::Write as _;

/// Maximum width of the help, in columns.
const WIDEST: usize = 100;

/// Width of the column of command names, with the blanks after it.
const NAMES: usize = 15;

/// Tasks, with the commands for each task.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Place the buffers of an instance", &["solve", "verify", "compare", "audit", "spill", "view"]),
    ("Plan a model", &["import", "order", "plan", "overlap", "tiers", "fuse", "measure"]),
    ("Compare and measure algorithms", &["bench", "sweep", "merge", "report", "recheck", "reproduce"]),
    ("Data and reference", &["generate", "convert", "datasets", "list", "completions", "man"]),
];

/// Examples, each with a command, a command line and a description. The examples of each command run in this
/// order, in a folder that is empty at the start.
const EXAMPLES: &[(&str, &str, &str)] = &[
    (
        "solve",
        "plimsoll generate above-load --out a.csv && plimsoll solve a.csv",
        "Place the buffers of a generated instance, and prove the lowest peak",
    ),
    (
        "solve",
        "plimsoll solve a.csv --time-limit 5 --output layout.csv --plot layout.svg",
        "Write and draw the best layout found within 5 seconds",
    ),
    (
        "verify",
        "plimsoll generate above-load --out a.csv && plimsoll solve a.csv --algorithm greedy-by-size --output layout.csv && plimsoll verify a.csv layout.csv",
        "Check a layout, and report the buffers above the lower bound",
    ),
    (
        "verify",
        "plimsoll verify a.csv layout.csv --best --time-limit 5",
        "Also search for the optimum for at most 5 seconds",
    ),
    (
        "compare",
        "plimsoll generate above-load --out a.csv && plimsoll solve a.csv --algorithm greedy-by-size --output mine.csv && plimsoll compare a.csv mine.csv",
        "Compare a layout with the proven optimum",
    ),
    (
        "compare",
        "plimsoll solve a.csv --output best.csv && plimsoll compare a.csv mine.csv best.csv --plot both.svg",
        "Compare two layouts, and draw them side by side",
    ),
    (
        "audit",
        "plimsoll generate above-load --out a.csv && plimsoll solve a.csv --algorithm greedy-by-size --output mine.csv && plimsoll audit a.csv mine.csv",
        "Report how far a layout is from the floor, and where it loses memory",
    ),
    (
        "audit",
        "plimsoll audit a.csv --planner-peak 400KiB --max-gap 100%",
        "Check a peak in continuous integration: exit with 1 if it is too high",
    ),
    (
        "view",
        "plimsoll generate above-load --out a.csv && plimsoll view a.csv --output a.html",
        "Write a page that shows the optimal layout",
    ),
    (
        "view",
        "plimsoll generate squeezenet --out net.json && plimsoll view net.json -- --time-limit 5",
        "Write net.html, with the best plan of a model found within 5 seconds",
    ),
    (
        "spill",
        "plimsoll generate above-load --out a.csv && plimsoll spill a.csv --capacity 200KiB --time-limit 2",
        "Choose the buffers to spill so that the others fit into 200 KiB",
    ),
    (
        "spill",
        "plimsoll generate lenet5 --out net.json && plimsoll spill net.json --capacity 16KiB --compare --time-limit 1",
        "Compare all algorithms on the activations of a model",
    ),
    (
        "import",
        "plimsoll generate squeezenet --out net.json && plimsoll import net.json",
        "Summarise a graph; models (.onnx, .tflite) are read in the same way",
    ),
    (
        "import",
        "plimsoll import net.json --output graph.json && plimsoll order graph.json",
        "Write a model as a graph for other commands",
    ),
    (
        "order",
        "plimsoll generate squeezenet --out net.json && plimsoll order net.json",
        "Find the operator order with the lowest peak",
    ),
    (
        "order",
        "plimsoll order net.json --compare --time-limit 1 --output rows.csv",
        "Compare all ordering algorithms, and write the rows",
    ),
    (
        "plan",
        "plimsoll generate squeezenet --out net.json && plimsoll plan net.json",
        "Order the operators and place the tensors",
    ),
    ("plan", "plimsoll plan net.json --output layout.csv --plot layout.svg", "Write and draw the layout"),
    (
        "overlap",
        "plimsoll generate lenet5 --out net.json && plimsoll overlap net.json --machine luna",
        "Schedule the weight transfers, and report how long operators wait",
    ),
    (
        "overlap",
        "plimsoll overlap net.json --machine ethos-u --algorithm exact --gantt gantt.svg",
        "Draw the schedule of one algorithm",
    ),
    (
        "tiers",
        "plimsoll generate lenet5 --out net.json && plimsoll tiers net.json --machine generic",
        "Assign the tensors of a model to the memories of a machine",
    ),
    (
        "tiers",
        "plimsoll tiers net.json --machine generic --compare --time-limit 1",
        "Compare all algorithms for tiers",
    ),
    (
        "fuse",
        "plimsoll generate squeezenet --out net.json && plimsoll fuse net.json",
        "Fuse operators, and bound the number of optimised relations",
    ),
    ("fuse", "plimsoll fuse net.json --compare --time-limit 1", "Compare all algorithms for fusion"),
    (
        "measure",
        "plimsoll generate lenet5 --out net.json && plimsoll measure run net.json --machine generic --algorithm ping-pong --cold 1MiB --repeat 1",
        "Run a schedule on this machine, and compare measured with predicted times",
    ),
    (
        "measure",
        "plimsoll measure run --chains 2 --machine generic --algorithm ping-pong --cold 1MiB --repeat 1",
        "Measure two random chains",
    ),
    (
        "bench",
        "plimsoll bench embedded --only patent --algorithms exact,greedy-by-size",
        "Run two algorithms on built-in instances",
    ),
    (
        "bench",
        "plimsoll generate uniform --param buffers=50 --count 3 --out set && plimsoll bench 'set/*.csv' --algorithms exact,valley-fit --out record",
        "Run two algorithms on your own files, and keep the rows",
    ),
    (
        "sweep",
        "printf '%s\\n' 'instances=[{suite=\"embedded\"}]' 'algorithms=[{names=\"greedy-by-size\"}]' > s.toml && plimsoll sweep s.toml --dry-run",
        "Describe a sweep, and list its runs",
    ),
    ("sweep", "plimsoll sweep s.toml --out record", "Execute or resume the runs"),
    (
        "merge",
        "printf '%s\\n' 'instances=[{suite=\"embedded\"}]' 'algorithms=[{names=\"greedy-by-size\"}]' > s.toml && plimsoll sweep s.toml --shard 1/2 --out one && plimsoll sweep s.toml --shard 2/2 --out two && plimsoll merge one two --out all",
        "Join the two shards of a sweep",
    ),
    ("merge", "plimsoll merge one --out part --partial", "Join the shards that are available"),
    (
        "report",
        "plimsoll bench embedded --only patent --algorithms exact,greedy-by-size --out record && plimsoll report record --out page",
        "Analyse the record of a benchmark in tables, charts and an HTML page",
    ),
    (
        "report",
        "plimsoll report record --out page --target-gap 1",
        "Count runs with a gap of at most 1 % as solved",
    ),
    (
        "recheck",
        "plimsoll bench embedded --only patent --algorithms greedy-by-size --out record && plimsoll recheck record",
        "Rerun the rows of a record, and compare the results",
    ),
    ("recheck", "plimsoll recheck record --every 2 --json", "Rerun every second row"),
    ("reproduce", "plimsoll reproduce patent", "Recompute the numbers of a patent"),
    (
        "reproduce",
        "plimsoll reproduce patent --out papers",
        "Write the report, the rows and the figures into a folder",
    ),
    (
        "generate",
        "plimsoll generate uniform --param buffers=20 --seed 7 --out a.csv",
        "Write an instance of 20 buffers",
    ),
    ("generate", "plimsoll generate squeezenet --count 3 --out nets", "Write three graphs and a manifest"),
    (
        "convert",
        "plimsoll generate above-load --out a.csv && plimsoll convert a.csv --output a.json",
        "Write an instance in the format of dsa-solver",
    ),
    ("convert", "plimsoll convert a.json --output pools", "Write one instance per pool"),
    ("datasets", "plimsoll datasets list", "List the external corpora"),
    (
        "datasets",
        "plimsoll generate uniform --count 3 --out set && plimsoll datasets verify set",
        "Compare generated files with their manifest",
    ),
    ("list", "plimsoll list", "Give an overview of problems, suites and families"),
    (
        "list",
        "plimsoll list offsets && plimsoll list exact",
        "List the algorithms of a problem, and describe one",
    ),
    (
        "completions",
        "plimsoll completions bash > plimsoll.bash",
        "Write completions for bash, to be loaded with `source`",
    ),
    (
        "completions",
        "plimsoll completions zsh > _plimsoll",
        "Write completions for zsh, to be placed in a folder of `fpath`",
    ),
    ("man", "plimsoll man share/man1", "Write all manual pages into a folder"),
    ("man", "plimsoll man pages && ls pages/plimsoll-solve.1", "Find the page of a command"),
];

/// The arguments of a command. They are declared only if the command line names the command, because the
/// declaration of all commands takes longer than the solution of a small instance. Commands that have
/// commands of their own are `EAGER`, because the command `help` lists these.
#[derive(Debug)]
pub struct Declared<A, const EAGER: bool = false>(pub A);

impl<A: Args, const EAGER: bool> Args for Declared<A, EAGER> {
    fn augment_args(command: Command) -> Command {
        if EAGER { described(A::augment_args(command)) } else { command.defer(declared::<A>) }
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<A: FromArgMatches, const EAGER: bool> FromArgMatches for Declared<A, EAGER> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}

/// Declares the arguments of a command. The description of the command stays, although groups of arguments
/// have descriptions of their own.
fn declared<A: Args>(command: Command) -> Command {
    let (about, long) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = described(A::augment_args(command));
    command.about(Resettable::from(about)).long_about(Resettable::from(long))
}

/// Adds the examples and the exit codes to the help of a command, and adapts its options to each other.
fn described(command: Command) -> Command {
    let text = after(command.get_name(), width());
    signed(overlapping(limited(command))).after_long_help(text)
}

/// Returns the width of the help, in columns.
fn width() -> usize {
    output::width().min(WIDEST)
}

/// Adds the groups of commands and the exit codes to the help.
pub fn complete(command: Command) -> Command {
    let width = width();
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        groups(&command, width)
    );
    command.help_template(template).after_help(filled(EXIT_CODES, width)).term_width(width)
}

/// Adapts the help of --time-limit to the other options of a command.
fn limited(command: Command) -> Command {
    let help = match () {
        () if !has(&command, "time_limit") => return command,
        () if has(&command, "compare") => TIME_LIMIT_WITH_COMPARE,
        () if has(&command, "trust_search") => TIME_LIMIT_OF_VERIFY,
        () if has(&command, "no_best") => TIME_LIMIT_OF_BEST,
        () if has(&command, "planner_peak") => TIME_LIMIT_OF_AUDIT,
        () => return command,
    };
    command.mut_arg("time_limit", |argument| argument.help(help))
}

/// Requires --in-place for --overlap if a command has both.
fn overlapping(command: Command) -> Command {
    if has(&command, "overlap") && has(&command, "in_place") {
        return command.mut_arg("overlap", |argument| argument.requires("in_place"));
    }
    command
}

/// Accepts negative numbers as values of options, so that the error for such a value names the option.
fn signed(mut command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(name, signed);
    }
    command.mut_args(|argument| {
        let has_value = !argument.is_positional() && argument.get_action().takes_values();
        if has_value { argument.allow_negative_numbers(true) } else { argument }
    })
}

fn has(command: &Command, id: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_id() == id)
}

fn groups(command: &Command, width: usize) -> String {
    let mut text = String::new();
    for (question, names) in GROUPS {
        let _ = writeln!(text, "\n{question}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let mut name = *name;
            for line in wrapped(&about.unwrap_or_default(), width.saturating_sub(NAMES)) {
                let _ = writeln!(text, "  {name:<12} {line}");
                name = "";
            }
        }
    }
    text
}

fn after(name: &str, width: usize) -> String {
    let mut text = String::new();
    for (_, line, about) in EXAMPLES.iter().filter(|(command, ..)| *command == name) {
        let head = if text.is_empty() { "Examples:" } else { "" };
        let line = wrapped(line, width.saturating_sub(8)).join(" \\\n      ");
        let _ = writeln!(text, "{head}\n  {line}\n      {about}");
    }
    let codes = match name {
        "bench" | "sweep" | "merge" => RUNS_CODES,
        "reproduce" => REPRODUCE_CODES,
        _ => EXIT_CODES,
    };
    text + "\n" + codes
}

fn filled(text: &str, width: usize) -> String {
    wrapped(text, width).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_of_a_limit_names_only_options_of_its_command() {
        let mut command = crate::cli::declaration();
        command.build();
        for one in command.get_subcommands() {
            let Some(limit) = one.get_arguments().find(|own| own.get_id() == "time_limit") else { continue };
            let help = limit.get_help().map(ToString::to_string).unwrap_or_default();
            let has = |id: &str| one.get_arguments().any(|own| own.get_id() == id);
            assert_eq!(help.contains("--compare"), has("compare"), "{}", one.get_name());
            assert!(!help.contains("--best") || has("best"), "{}", one.get_name());
        }
    }

    #[test]
    fn late_declaration_changes_no_help() {
        let (before, mut after) = (crate::cli::declaration(), crate::cli::declaration());
        after.build();
        let help = after.find_subcommand("help").unwrap();
        let own = |one: &Command| {
            let names = one.get_subcommands().map(|own| own.get_name().to_owned());
            names.filter(|name| name != "help").collect::<Vec<_>>()
        };
        for one in before.get_subcommands() {
            let built = after.find_subcommand(one.get_name()).unwrap();
            assert_eq!(built.get_about().map(ToString::to_string), one.get_about().map(ToString::to_string));
            if let Some(copy) = help.find_subcommand(one.get_name()) {
                assert_eq!(own(copy), own(built), "{}", one.get_name());
            }
        }
    }

    #[test]
    fn every_command_has_a_group_and_two_examples() {
        let command = crate::cli::declaration();
        let shown: Vec<&str> =
            command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for name in &shown {
            assert!(grouped.contains(name), "{name}");
            assert_eq!(EXAMPLES.iter().filter(|(command, ..)| command == name).count(), 2, "{name}");
        }
        assert_eq!(grouped.len(), shown.len());
    }
}
