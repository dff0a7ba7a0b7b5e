//! The commands in the README run and print the quoted output.

use crate::common::{Run, Scratch, command};
use plimsoll_model::csv::{ReadOptions, read_instance};

const README: &str = include_str!("../../../../README.md");

/// Returns the fenced blocks of one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let parts = README.split(fence.as_str()).skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default()).collect()
}

/// Returns the commands of the console blocks, each with its quoted output.
fn quoted() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let mut found: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for line in blocks("console").into_iter().flat_map(str::lines) {
        match line.strip_prefix("$ plimsoll ") {
            Some(words) => found.push((words.split_whitespace().collect(), Vec::new())),
            None => found.last_mut().expect("a command comes first").1.push(line),
        }
    }
    found
}

#[test]
fn quoted_commands_print_what_is_quoted() {
    let scratch = Scratch::new();
    let example = blocks("csv")[0];
    read_instance("example", example.as_bytes(), ReadOptions::default()).unwrap();
    scratch.write("example.12.csv", example);
    scratch.write("net.json", blocks("json")[0]);
    let sweep = blocks("toml").into_iter().find(|block| block.contains("[[algorithms]]")).unwrap();
    scratch.write("sweep.toml", sweep);
    let commands = quoted();
    assert!(commands.len() >= 6);
    for (words, expected) in commands {
        if let Some(reason) = words.iter().flat_map(|word| word.split(',')).find_map(plimsoll::left_out) {
            scratch.plimsoll(&words).refuses(&[&reason.to_string()]);
            continue;
        }
        let run = scratch.plimsoll(&words).exits(0);
        if expected.is_empty() {
            continue;
        }
        let printed: Vec<&str> = run.stdout.lines().collect();
        assert_eq!(printed.len(), expected.len(), "{words:?}: {}", run.stdout);
        for (printed, expected) in printed.iter().zip(expected) {
            match expected.strip_suffix("...") {
                Some(start) => assert!(printed.starts_with(start), "{words:?}: {printed}"),
                None => assert_eq!(*printed, expected, "{words:?}"),
            }
        }
    }
}

#[test]
fn the_records_script_accepts_its_keywords() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/results.sh");
    let graphs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/graph-records.sh");
    let text = [script, graphs].map(|file| std::fs::read_to_string(file).unwrap()).concat();
    for word in [
        "benchmark",
        "scaling",
        "ablation",
        "head-to-head",
        "robust",
        "robust-tight",
        "anytime",
        "optima",
        "rules",
        "above-load",
        "wide",
        "large",
        "orders",
        "structure",
        "reproduce",
        "overlap",
        "tiers",
        "fusion",
        "spilling",
        "reality",
    ] {
        assert!(
            text.contains(&format!("record {word}")) || text.contains(&format!("wanted {word};")),
            "{word}"
        );
        assert!(README.contains(word), "{word}");
    }
    let Ok(output) = std::process::Command::new("bash").args([script, "nonsense"]).output() else {
        return eprintln!("no bash here");
    };
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("unknown record 'nonsense'"));
}

/// A first run requires no tools that only HiGHS and z3 need.
#[cfg(unix)]
#[test]
fn the_first_run_needs_cargo_and_a_compiler() {
    let scratch = Scratch::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/setup.sh");
    let path = scratch.path("");
    let setup = || {
        let mut bash = std::process::Command::new("/bin/bash");
        bash.args([script, "first"]).env_clear().env("PATH", &path).output()
    };
    let Ok(bare) = setup() else { return eprintln!("no bash here") };
    let errors = String::from_utf8(bare.stderr).unwrap();
    assert!(bare.status.code() == Some(1) && errors.contains("gcc") && !errors.contains("cmake"), "{errors}");
    for tool in ["cc", "cargo"] {
        std::os::unix::fs::symlink("/bin/true", scratch.path(tool)).unwrap();
    }
    let ready = setup().unwrap();
    assert_eq!((ready.status.code(), ready.stderr), (Some(0), Vec::new()));
}

#[test]
fn quoted_targets_and_options_exist() {
    let scratch = Scratch::new();
    let makefile = include_str!("../../../../Makefile");
    for target in ["run", "release", "test", "bench", "results", "report", "test-long"] {
        assert!(README.contains(&format!("make {target}")), "{target}");
        assert!(makefile.contains(&format!("\n{target}:")), "{target}");
    }
    let mut help = String::new();
    for name in [
        "solve",
        "verify",
        "bench",
        "sweep",
        "merge",
        "report",
        "import",
        "order",
        "plan",
        "reproduce",
        "generate",
        "list",
    ] {
        let output = command(&scratch.path("")).args([name, "--help"]).output().unwrap();
        help.push_str(&Run::from(output).exits(0).stdout);
    }
    for option in [
        "--solver",
        "--problem",
        "--certificate",
        "--endpoints",
        "--decide",
        "--node-limit",
        "--external",
        "--buffers",
        "--external-version",
        "--external-elapsed",
        "--processes",
        "--reference",
        "--only",
        "--trace",
        "--repeat",
        "--boundary",
        "--in-place",
        "--no-views",
        "--no-states",
        "--assume-bytes",
        "--input-shape",
        "--joint",
        "--compare",
        "--branches",
        "--jobs",
        "--shard",
        "--dry-run",
        "--slurm-options",
        "--no-submit",
        "--partial",
        "--target-gap",
        "--shift",
        "--conflicts",
        "--out",
    ] {
        assert!(README.contains(option) && help.contains(option), "{option}");
    }
}

/// With `PLIMSOLL_WRITE_DOCS` set, the test writes `docs/operators.md`.
#[test]
fn the_table_of_operators_is_what_the_command_prints() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operators.md");
    let table = Scratch::new().plimsoll(&["list", "operators"]).exits(0).stdout;
    let page = format!(
        "# Operators of ONNX models\n\nThe output of `plimsoll list operators`: the operators that the ONNX importer knows, by \
         domain, and how\nit sizes their outputs. The importer of TFLite models translates operators into these where the rules agree.\n\n\
         ```text\n{table}```\n"
    );
    if std::env::var_os("PLIMSOLL_WRITE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), page, "PLIMSOLL_WRITE_DOCS=1 regenerates it");
}
