//! Tests that one time limit, with a default, covers a whole command, and that every stage respects it.

use crate::common::{Scratch, TINY};
use plimsoll::posed::{PROBLEMS, algorithms};
use std::time::Instant;

/// Generates a file in the scratch folder.
fn generated(scratch: &Scratch, family: &str, params: &[&str], name: &str) {
    let params = params.iter().flat_map(|one| ["--param", one]);
    let words: Vec<&str> = ["generate", family, "--out", name].into_iter().chain(params).collect();
    scratch.plimsoll(&words).exits(0);
}

#[test]
fn the_default_limit_applies_without_a_node_limit() {
    let scratch = Scratch::new();
    scratch.write("tiny.8.csv", TINY);
    let limit = |words: &[&str]| {
        let words: Vec<&str> = ["solve", "tiny.8.csv", "--json"].iter().chain(words).copied().collect();
        scratch.plimsoll(&words).exits(0).json()["time_limit"].as_f64()
    };
    assert_eq!(limit(&[]), Some(60.0));
    assert_eq!(limit(&["--time-limit", "2.5"]), Some(2.5));
    assert_eq!(limit(&["--time-limit", "none"]), None);
    assert_eq!(limit(&["--node-limit", "1000"]), None);
    assert_eq!(limit(&["--node-limit", "1000", "--time-limit", "3"]), Some(3.0));
    scratch.plimsoll(&["solve", "tiny.8.csv", "--time-limit", "never"]).exits(2);
}

#[test]
fn help_states_the_default_limit() {
    let scratch = Scratch::new();
    for command in ["solve", "order", "plan", "overlap", "tiers", "fuse", "spill"] {
        let help = scratch.plimsoll(&[command, "--help"]).exits(0).stdout;
        assert!(help.contains("default: 60"), "{command}: {help}");
    }
    for command in ["bench", "reproduce"] {
        assert!(scratch.plimsoll(&[command, "--help"]).exits(0).stdout.contains("default: 10"), "{command}");
    }
}

#[test]
fn without_time_every_command_on_graphs_ends_with_its_results_so_far() {
    let scratch = Scratch::new();
    generated(&scratch, "nested-if", &["depth=22", "operators=20"], "deep.json");
    generated(&scratch, "weight-chain", &["n=400"], "chain.json");
    let at_once = |words: &[&str]| {
        let words: Vec<&str> = words.iter().copied().chain(["--time-limit", "0"]).collect();
        scratch.plimsoll(&words)
    };
    for graph in ["deep.json", "chain.json"] {
        at_once(&["order", graph]).exits(0);
        at_once(&["fuse", graph, "--units", "one", "--patterns", "chains"]).exits(0);
        at_once(&["tiers", graph, "--machine", "generic"]).exits(0);
        at_once(&["overlap", graph, "--machine", "generic"]).exits(0);
        // Without time, `plan` may still find a trivial plan.
        let plan = at_once(&["plan", graph]).code;
        assert!(plan == 0 || plan == 3, "{graph}: {plan}");
        // Without time, the conflicts are unknown, and no two buffers share an address.
        for problem in ["offsets", "split-buffers", "shared-objects"] {
            let words = ["plan", graph, "--conflicts", "reachable", "--problem", problem, "--json"];
            let json = at_once(&words).exits(0).json();
            assert_eq!(json["conflicts_known"], false, "{graph}");
            assert!(json["claim"] == "feasible" && json["lower_bound"].is_null(), "{json}");
            assert_eq!((&json["exposed"], &json["collide"]), (&0.into(), &0.into()), "{graph}");
        }
    }
    at_once(&["spill", "chain.json", "--capacity", "2000000"]).exits(0);
}

#[test]
fn a_front_without_time_has_one_point() {
    let scratch = Scratch::new();
    generated(&scratch, "weight-chain", &["n=400"], "chain.json");
    let words = ["overlap", "chain.json", "--machine", "generic", "--front", "--json"];
    let front = |limit: &[&str]| {
        let words: Vec<&str> = words.iter().chain(limit).copied().collect();
        scratch.plimsoll(&words).exits(0).json()
    };
    let at_once = front(&["--time-limit", "0"]);
    // A second point may have the same schedule in less memory.
    assert!(at_once["tried"].as_u64() <= Some(2));
    let points = at_once["points"].as_array().unwrap();
    assert!(points.len() == 1 || points.len() == 2);
    assert!(points.iter().all(|point| point["bound_ps"] == 0), "there was no time for a bound");
    let few = front(&["--node-limit", "1"]);
    assert!(few["tried"].as_u64() > Some(10));
}

/// Seconds that reading, checking and printing may take beyond the limit.
const SLACK: f64 = 1.0;

/// Returns one command per algorithm of every problem whose input `plimsoll list` calls `kind`.
fn every_algorithm(scratch: &Scratch, kind: &str, file: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for problem in PROBLEMS {
        let list = scratch.plimsoll(&["list", problem]).exits(0).words();
        let (_, usage) = list.split_once("used by plimsoll ").expect("every problem has a command");
        let (usage, _) = usage.split_once("NAME name").expect("the algorithms follow");
        if !usage.split(' ').any(|word| word == kind) {
            continue;
        }
        let fuse = if usage.starts_with("fuse") { " --units one --patterns chains" } else { "" };
        let usage = usage.replace(kind, &format!("{file}{fuse}")).replace("BYTES", "900000");
        let usage = usage.replace("--machine NAME", "--machine generic");
        for algorithm in algorithms(&plimsoll::registry(), problem) {
            all.push(format!("{usage}{}", algorithm.name).split(' ').map(str::to_owned).collect());
        }
    }
    all
}

/// Returns the commands for one graph or model: every algorithm of every problem, and options of `plan` and
/// `overlap`.
fn on_graph(scratch: &Scratch, file: &str) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<String>>();
    let overlap = ["overlap", file, "--machine", "generic"];
    let mut all = vec![words(&["plan", file]), words(&["spill", file, "--capacity", "200000"])];
    all.extend(every_algorithm(scratch, "MODEL", file));
    for problem in ["offsets", "split-buffers", "shared-objects"] {
        for relation in ["schedule", "streams=2", "reachable", "mutex"] {
            all.push(words(&["plan", file, "--conflicts", relation, "--problem", problem]));
        }
    }
    all.extend([
        words(&[&overlap[..], &["--front"]].concat()),
        words(&[&overlap[..], &["--free-order"]].concat()),
    ]);
    all.push(words(&[&overlap[..], &["--activations", "placed"]].concat()));
    all
}

/// Returns the instances and graphs in `PLIMSOLL_CORPORA`, and hard generated ones.
fn hard_files(scratch: &Scratch) -> (Vec<String>, Vec<String>) {
    let below = |folder: &str, extension: &str| -> Vec<String> {
        let corpora = std::env::var_os("PLIMSOLL_CORPORA").map(std::path::PathBuf::from);
        let entries = corpora.and_then(|corpora| std::fs::read_dir(corpora.join(folder)).ok());
        let paths = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
        let fitting = paths.filter(|path| path.extension().is_some_and(|own| own == extension));
        fitting.map(|path| path.display().to_string()).collect()
    };
    let mut instances = [below("minimalloc", "csv"), below("idealloc", "csv")].concat();
    let mut graphs = [below("onnx", "onnx"), below("tflite", "tflite")].concat();
    let rows = (0..40_000u64).map(|at| format!("b{at},0,1,{}\n", 1 + at * 7919 % 1_000_003));
    scratch.write("wide.csv", format!("id,lower,upper,size\n{}", rows.collect::<String>()));
    instances.push("wide.csv".to_owned());
    for (family, params, name) in [
        ("nested-if", ["depth=22", "operators=20"].as_slice(), "deep.json"),
        ("in-tree", &["n=1800"], "forest.json"),
        ("layered", &["n=20000"], "layered.json"),
        ("weight-chain", &["n=4000"], "chain.json"),
        ("llama-13b", &[], "llama.json"),
    ] {
        generated(scratch, family, params, name);
        graphs.push(name.to_owned());
    }
    instances.sort();
    graphs.sort();
    (instances, graphs)
}

/// Returns the time limits in `PLIMSOLL_TIME_LIMITS` (comma-separated seconds), or 0.1 s by default. With the
/// limits 0.1, 1 and 10 s, the test takes hours.
fn limits() -> Vec<f64> {
    let text = std::env::var("PLIMSOLL_TIME_LIMITS").unwrap_or_else(|_| "0.1".to_owned());
    text.split(',').map(|limit| limit.parse().unwrap()).collect()
}

/// Reports every command that exceeds its limit three times in a row, because a busy machine may delay a
/// process once.
#[test]
#[ignore = "takes minutes: runs every algorithm on every file and asserts times"]
fn every_command_keeps_its_limit_on_every_file() {
    let scratch = Scratch::new();
    let (instances, graphs) = hard_files(&scratch);
    let mut commands: Vec<Vec<String>> = Vec::new();
    commands.extend(instances.iter().flat_map(|file| every_algorithm(&scratch, "INSTANCE", file)));
    commands.extend(graphs.iter().flat_map(|file| on_graph(&scratch, file)));
    let mut late = Vec::new();
    for limit in limits() {
        for command in &commands {
            let limit_word = limit.to_string();
            let words: Vec<&str> =
                command.iter().map(String::as_str).chain(["--time-limit", &limit_word]).collect();
            let seconds = || {
                let start = Instant::now();
                let run = scratch.plimsoll(&words);
                // An algorithm may refuse an input, but every option exists.
                assert!([0, 1, 2, 3].contains(&run.code), "{words:?}: {}", run.stderr);
                assert!(!run.stderr.contains("unexpected argument"), "{words:?}: {}", run.stderr);
                start.elapsed().as_secs_f64()
            };
            let best = (0..3).map(|_| seconds()).find(|&seconds| seconds <= limit + SLACK);
            if best.is_none() {
                eprintln!("late: plimsoll {}", words.join(" "));
                late.push(words.join(" "));
            }
        }
    }
    assert!(late.is_empty(), "{} commands exceed their limit: {late:#?}", late.len());
}
