//! Tests that text fits 80 columns without a terminal, and that the examples of the help run.

use crate::common::{Run, Scratch, TINY, command};
use plimsoll::posed::PROBLEMS;
use std::process::Command;

const WIDTH: usize = 80;

/// Asserts that no line is longer than `WIDTH`. Lines that contain a long path or start with a checksum are
/// exempt, and so are messages on standard error, which are one line each.
#[track_caller]
fn fits(run: &Run, words: &str) {
    let lines = run.stdout.lines().chain(run.stderr.lines().filter(|line| !line.starts_with("plimsoll: ")));
    for line in lines {
        let is_path = line.split_whitespace().any(|word| word.contains('/') && word.chars().count() > 30);
        let is_checksum = line.split_whitespace().next().is_some_and(|word| word.len() == 64);
        assert!(line.chars().count() <= WIDTH || is_path || is_checksum, "{words}:\n{line}");
    }
}

/// Creates a folder with instances, graphs and a layout. One instance has buffers with long names.
fn inputs() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tiny.csv", TINY);
    let row = |at: usize| {
        let (upper, size) = (at + 3, 1000 + 17 * at);
        format!("model/encoder/layer_{at}/attention/output/dense/MatMul:{at},{at},{upper},{size}")
    };
    let rows: Vec<String> = (0..8).map(row).collect();
    scratch.write("long.csv", format!("id,lower,upper,size\n{}\n", rows.join("\n")));
    for name in ["lenet5", "squeezenet", "cond-in-cond"] {
        scratch.plimsoll(&["generate", name, "--out", &format!("{name}.json")]).exits(0);
    }
    let greedy = ["solve", "long.csv", "--algorithm", "greedy-by-size", "--output", "layout.csv"];
    scratch.plimsoll(&greedy).exits(0);
    scratch.plimsoll(&["generate", "uniform", "--count", "2", "--out", "set"]).exits(0);
    scratch
}

fn all_fit(lines: &[&str]) {
    let scratch = inputs();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let run = scratch.narrow(&words);
        assert!([0, 1, 3].contains(&run.code), "{line}: {}", run.stderr);
        fits(&run, line);
    }
}

#[test]
fn text_about_instances_fits() {
    all_fit(&[
        "",
        "solve tiny.csv",
        "solve long.csv",
        "solve long.csv --algorithm greedy-by-size",
        "solve long.csv --problem shared-objects --time-limit 1",
        "solve long.csv --problem split-buffers --time-limit 1",
        "solve long.csv --capacity 100",
        "verify long.csv layout.csv",
        "verify long.csv layout.csv --best --time-limit 1",
        "verify long.csv layout.csv --capacity 1000",
        "compare long.csv layout.csv --time-limit 1",
        "compare long.csv layout.csv layout.csv --time-limit 1",
        "spill long.csv --capacity 3000 --time-limit 1",
        "spill long.csv --capacity 3000 --compare --time-limit 1",
        "spill long.csv --capacity 100",
        "convert long.csv --output long.json",
        "generate uniform --out u.csv",
        "generate squeezenet --out s.json",
        "generate uniform --count 3 --out some",
        "datasets",
        "datasets list --files",
        "datasets verify set",
        "reproduce patent",
        "reproduce mini-infer",
    ]);
}

#[test]
fn text_about_graphs_fits() {
    all_fit(&[
        "import squeezenet.json",
        "import cond-in-cond.json",
        "order squeezenet.json --node-limit 1000",
        "order cond-in-cond.json",
        "order squeezenet.json --compare --node-limit 1000",
        "order cond-in-cond.json --compare --node-limit 1000",
        "plan squeezenet.json --node-limit 1000",
        "plan lenet5.json --capacity 4KiB --node-limit 1000",
        "plan cond-in-cond.json --node-limit 1000",
        "plan cond-in-cond.json --compare --node-limit 1000",
        "plan squeezenet.json --conflicts compare --node-limit 1000",
        "spill lenet5.json --capacity 4KiB --node-limit 1000",
        "spill lenet5.json --capacity 4KiB --compare --node-limit 1000",
        "fuse squeezenet.json --node-limit 1000",
        "fuse squeezenet.json --compare --node-limit 1000",
        "overlap lenet5.json --machine luna --node-limit 1000",
        "overlap lenet5.json --machine ethos-u --algorithm exact --node-limit 1000",
        "overlap cond-in-cond.json --machine generic --node-limit 1000",
        "tiers lenet5.json --machine generic --node-limit 1000",
        "tiers squeezenet.json --machine generic --compare --node-limit 1000",
        "measure run lenet5.json --machine generic --cold 1MiB --repeat 1",
    ]);
}

#[test]
fn lists_and_help_fit() {
    let scratch = Scratch::new();
    let fits_with = |words: &[&str]| fits(&scratch.narrow(words).exits(0), &words.join(" "));
    fits_with(&["list"]);
    let topics = ["suites", "families", "graphs", "papers", "examples", "branches", "conflicts", "operators"];
    for name in PROBLEMS.iter().chain(&topics) {
        fits_with(&["list", name]);
    }
    let all = scratch.plimsoll(&["list", "--json"]).exits(0).json();
    for rows in all.as_object().unwrap().values() {
        for row in rows.as_array().unwrap().iter().step_by(3) {
            fits_with(&["list", row["name"].as_str().unwrap()]);
        }
    }
    for name in commands(&scratch) {
        fits_with(&[&name, "--help"]);
        fits_with(&[&name, "-h"]);
    }
}

#[test]
fn text_about_records_fits() {
    all_fit(&[
        "bench embedded --time-limit 0.1 --only patent --out record",
        "bench set/*.csv --algorithms heuristics",
        "report record --out pages",
        "recheck record",
        "bench lenet5.json --problems tiers --terms machine=generic --node-limit 1000",
    ]);
}

#[test]
fn names_are_listed_with_all_facts() {
    let scratch = Scratch::new();
    let list = |name: &str| scratch.plimsoll(&["list", name]).exits(0);
    for problem in PROBLEMS {
        assert!(list(problem).stdout.contains("kind"), "{problem}");
    }
    let exact = list("exact").words();
    for part in
        ["problem offsets", "kind exact", "guarantee proves", "plimsoll solve INSTANCE --algorithm exact"]
    {
        assert!(exact.contains(part), "{part}: {exact}");
    }
    assert!(list("embedded").stdout.starts_with("suite        embedded\n"));
    assert!(list("patent").words().contains("plimsoll reproduce patent"));
    let run = scratch.plimsoll(&["list", "greedy-by-sice"]).refuses(&["'greedy-by-size'"]);
    assert!(run.stderr.len() < 200, "{}", run.stderr);
    scratch
        .plimsoll(&["list", "zzzzzzzz"])
        .refuses(&["unknown name 'zzzzzzzz'", "`plimsoll list` lists all"]);
    scratch.write("tiny.csv", TINY);
    let run = scratch.plimsoll(&["solve", "tiny.csv", "--algorithm", "exakt"]);
    let run = run.refuses(&["unknown algorithm 'exakt'; did you mean 'exact'", "plimsoll list"]);
    assert!(run.stderr.len() < 200, "{}", run.stderr);
    let json = scratch.plimsoll(&["list", "orders", "--json"]).exits(0).json();
    assert!(json["algorithms"].as_array().unwrap().iter().all(|row| row["problem"] == "orders"));
}

/// Returns the commands that the help lists.
pub fn commands(scratch: &Scratch) -> Vec<String> {
    let help = scratch.plimsoll(&["--help"]).exits(0).stdout;
    let lines = help.lines().take_while(|line| *line != "Options:");
    let names = lines.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// Returns the command lines of the examples in a help text.
fn examples(help: &str) -> Vec<String> {
    let text = help.split("Examples:\n").nth(1).unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("  ")) {
        match found.last_mut() {
            Some(open) if open.ends_with('\\') => *open = format!("{open}\n{}", line.trim_start()),
            _ if line.starts_with("   ") => {}
            _ => found.push(line.trim_start().to_owned()),
        }
    }
    found
}

#[cfg(unix)]
#[test]
fn the_examples_of_every_command_run() {
    let scratch = Scratch::new();
    let plimsoll = command(&scratch.path("")).get_program().to_owned();
    std::fs::create_dir(scratch.path("bin")).unwrap();
    std::os::unix::fs::symlink(plimsoll, scratch.path("bin/plimsoll")).unwrap();
    let path = format!("{}:{}", scratch.path("bin").display(), std::env::var("PATH").unwrap());
    for name in commands(&scratch) {
        let folder = Scratch::new();
        let help = folder.narrow(&[&name, "--help"]).exits(0).stdout;
        let lines = examples(&help);
        assert_eq!(lines.len(), 2, "{name}: {help}");
        assert!(!folder.plimsoll(&[&name, "-h"]).exits(0).stdout.contains("Examples:"), "{name}");
        for line in lines {
            let mut shell = Command::new("sh");
            shell.args(["-c", &line]).current_dir(folder.path("")).env("PATH", &path);
            let run = Run::from(shell.env_remove("PLIMSOLL_CORPORA").output().unwrap());
            assert!(run.code == 0, "{line}\n{}{}", run.stdout, run.stderr);
        }
    }
}
