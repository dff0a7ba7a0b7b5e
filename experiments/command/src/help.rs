//! The help: commands grouped by task, and examples of each command.

use crate::args::{
    FOR_MODELS, TIME_LIMIT_OF_AUDIT, TIME_LIMIT_OF_BEST, TIME_LIMIT_OF_VERIFY, TIME_LIMIT_WITH_COMPARE,
};
use crate::failure::EXIT_CODES;
use crate::output;
use clap::{Arg, Command};
use plimsoll_lab::report::table::wrapped;
use std::fmt::Write as _;

/// Maximum width of the help, in columns.
const WIDEST: usize = 100;

/// A heading and the commands below it, each with its description.
pub type Group = (&'static str, Vec<(&'static str, &'static str)>);

/// Width of the column of command names, with the blanks after it.
const NAMES: usize = 15;

/// Adds the examples and the exit codes to the help of a command, and adapts its options to each other.
pub fn described(command: Command, examples: &[(&str, &str)], codes: &str) -> Command {
    let text = after(examples, codes, width());
    signed(overlapping(limited(shortened(command)))).after_long_help(text)
}

/// Moves the options for models from the short help, where they are half of the lines, to the long help.
fn shortened(command: Command) -> Command {
    if !command.get_arguments().any(is_for_models) {
        return command;
    }
    let hide =
        |argument: Arg| if is_for_models(&argument) { argument.hide_short_help(true) } else { argument };
    command.mut_args(hide).after_help(format!("{FOR_MODELS}: see --help"))
}

fn is_for_models(argument: &Arg) -> bool {
    argument.get_help_heading() == Some(FOR_MODELS)
}

/// Returns the width of the help, in columns.
fn width() -> usize {
    output::width().min(WIDEST)
}

/// Adds groups of commands, each with a heading and pairs of name and description, and the exit codes to the
/// help.
pub fn complete(command: Command, all: &[Group]) -> Command {
    let width = width();
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        groups(all, width)
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

fn groups(all: &[Group], width: usize) -> String {
    let mut text = String::new();
    for (heading, commands) in all {
        let _ = writeln!(text, "\n{heading}:");
        for &(mut name, about) in commands {
            for line in wrapped(about, width.saturating_sub(NAMES)) {
                let _ = writeln!(text, "  {name:<12} {line}");
                name = "";
            }
        }
    }
    text
}

fn after(examples: &[(&str, &str)], codes: &str, width: usize) -> String {
    let mut text = String::new();
    for (line, about) in examples {
        let head = if text.is_empty() { "Examples:" } else { "" };
        let line = wrapped(line, width.saturating_sub(8)).join(" \\\n      ");
        let _ = writeln!(text, "{head}\n  {line}\n      {about}");
    }
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
        let mut command = crate::commands::COMMANDS.declaration();
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
        let (before, mut after) =
            (crate::commands::COMMANDS.declaration(), crate::commands::COMMANDS.declaration());
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
}
