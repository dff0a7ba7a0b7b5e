//! Tests the command without arguments, its help, its completions and its manual pages.

use crate::common::{Run, Scratch};
use crate::widths::commands;

/// Returns the command lines that `plimsoll` without arguments prints.
fn shown(run: &Run) -> Vec<String> {
    run.stdout.lines().filter_map(|line| line.strip_prefix("  plimsoll")).map(str::to_owned).collect()
}

#[test]
fn without_arguments_four_commands_are_shown_that_run() {
    let scratch = Scratch::new();
    let run = scratch.plimsoll(&[]).exits(0);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let lines = shown(&run);
    assert_eq!(lines.len(), 4, "{}", run.stdout);
    for (line, question) in lines.iter().zip(["solve", "plan", "bench", "list"]) {
        assert!(line.contains(question), "{line}");
        // The printed benchmark takes half a minute, so a smaller one runs instead.
        let line = line.replace("bench --time-limit 1", "bench embedded --only patent --algorithms exact");
        for command in line.split(" && ") {
            let words: Vec<&str> = command.split_whitespace().filter(|word| *word != "plimsoll").collect();
            scratch.plimsoll(&words).exits(0);
        }
    }
    assert!(scratch.read("a.svg").starts_with("<svg "));
}

#[test]
fn a_missing_subcommand_shows_the_help_of_its_command() {
    let run = Scratch::new().plimsoll(&["measure"]).exits(2);
    assert!(run.stderr.contains("Usage: plimsoll measure <COMMAND>"), "{}", run.stderr);
}

#[test]
fn misspelt_options_get_useful_tips() {
    let scratch = Scratch::new();
    let run = scratch.plimsoll(&["solve", "a.csv", "--sead", "3"]).exits(2);
    let line = "plimsoll: unexpected argument '--sead' found; tip: a similar argument exists: '--seed'\n";
    assert_eq!(run.stderr, line);
    let run = scratch.plimsoll(&["solve", "--zzz"]).exits(2);
    assert_eq!(run.stderr, "plimsoll: unexpected argument '--zzz' found\n");
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
    let scratch = Scratch::new();
    let commands = commands(&scratch);
    assert!(commands.len() >= 22 && commands.contains(&"man".to_owned()), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = scratch.plimsoll(&["completions", shell]).exits(0).stdout;
        assert!(commands.iter().all(|name| script.contains(name)), "{shell}");
    }
    scratch.plimsoll(&["man", "share/man1"]).exits(0);
    for name in &commands {
        let page = scratch.read(&format!("share/man1/plimsoll-{name}.1"));
        assert!(page.starts_with(".ie") && page.contains(".SH OPTIONS"), "{name}: {page}");
    }
    assert!(scratch.path("share/man1/plimsoll.1").is_file());
    assert!(!scratch.path("share/man1/plimsoll-reaper.1").exists());
    scratch.write("file", "");
    scratch.plimsoll(&["man", "file"]).refuses(&["cannot write into file: "]);
    scratch.plimsoll(&["completions", "csh"]).refuses(&["csh", "bash"]);
}

#[test]
fn options_are_grouped_under_headings() {
    let scratch = Scratch::new();
    let headings = |command: &str| -> Vec<String> {
        let help = scratch.plimsoll(&[command, "--help"]).exits(0).stdout;
        let is_heading = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
        help.lines().filter(is_heading).map(str::to_owned).collect()
    };
    for (command, more) in [("spill", None), ("fuse", None), ("overlap", Some("Branches and loops:"))] {
        let found = headings(command);
        for heading in ["Options:", "Options for models:", "Limits:", "Output:"].into_iter().chain(more) {
            assert!(found.iter().any(|own| own == heading), "{command}: {heading} not in {found:?}");
        }
    }
}

#[test]
fn machines_of_the_same_name_are_listed_with_their_commands() {
    let scratch = Scratch::new();
    let all = scratch.plimsoll(&["list", "machines"]).exits(0).stdout;
    let rows: Vec<&str> = all.lines().filter(|line| line.starts_with("generic ")).collect();
    assert_eq!(rows.len(), 2, "{all}");
    assert!(rows[0].contains("overlap, measure") && rows[1].contains("tiers"), "{all}");
    let one = scratch.plimsoll(&["list", "generic", "--json"]).exits(0).json();
    let commands: Vec<&str> =
        one["machines"].as_array().unwrap().iter().map(|row| row["commands"].as_str().unwrap()).collect();
    assert_eq!(commands, ["overlap, measure", "tiers"]);
    let luna = scratch.plimsoll(&["list", "luna"]).exits(0).stdout;
    assert!(luna.contains("paper        luna") && luna.contains("overlap, measure"), "{luna}");
}
