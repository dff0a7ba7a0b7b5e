//! Tests the command without arguments, its help, its completions and its manual pages.

use crate::common::Scratch;
use crate::widths::commands;

#[test]
fn without_arguments_four_commands_are_shown_that_run() {
    let scratch = Scratch::new();
    let run = scratch.ok("");
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().filter_map(|line| line.strip_prefix("  plimsoll")).collect();
    assert_eq!(lines.len(), 4, "{}", run.stdout);
    for (line, question) in lines.iter().zip(["solve", "plan", "bench", "list"]) {
        assert!(line.contains(question), "{line}");
        // The printed benchmark takes half a minute, so a smaller one runs instead.
        let line = line.replace("bench --time-limit 1", "bench embedded --only patent --algorithms exact");
        for command in line.split(" && ") {
            scratch.ok(command.replacen("plimsoll", "", 1));
        }
    }
    assert!(scratch.read("a.svg").starts_with("<svg "));
}

#[test]
fn misspelt_options_get_useful_tips() {
    let scratch = Scratch::new();
    let line = "plimsoll: unexpected argument '--sead' found; tip: a similar argument exists: '--seed'\n";
    assert_eq!(scratch.run("solve a.csv --sead 3").exits(2).stderr, line);
    let line = "plimsoll: unexpected argument '--zzz' found\n";
    assert_eq!(scratch.run("solve --zzz").exits(2).stderr, line);
    // A missing subcommand shows the help of its command.
    scratch.run("measure").exits(2).warns(&["Usage: plimsoll measure <COMMAND>"]);
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
    let scratch = Scratch::new();
    let commands = commands(&scratch);
    assert!(commands.len() >= 22 && commands.contains(&"man".to_owned()), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = scratch.ok(format!("completions {shell}")).stdout;
        assert!(commands.iter().all(|name| script.contains(name)), "{shell}");
    }
    scratch.ok("man share/man1");
    for name in &commands {
        let page = scratch.read(&format!("share/man1/plimsoll-{name}.1"));
        assert!(page.starts_with(".ie") && page.contains(".SH OPTIONS"), "{name}: {page}");
    }
    assert!(scratch.path("share/man1/plimsoll.1").is_file());
    assert!(!scratch.path("share/man1/plimsoll-reaper.1").exists());
    scratch.write("file", "");
    scratch.refuses("man file", &["cannot write into file: "]);
    scratch.refuses("completions csh", &["csh", "bash"]);
}

#[test]
fn machines_of_the_same_name_are_listed_with_their_commands() {
    let one = Scratch::new().json("list generic");
    let commands: Vec<&str> =
        one["machines"].as_array().unwrap().iter().map(|row| row["commands"].as_str().unwrap()).collect();
    assert_eq!(commands, ["overlap, measure", "tiers"]);
}
