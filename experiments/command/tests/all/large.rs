//! Tests large instances from end to end: they are generated, written, read, solved within a node limit and
//! verified.

use crate::common::Scratch;

/// Generates an instance, solves it within a limit of `nodes` nodes, verifies the answer and returns the gap
/// in percent.
fn round_trip(family: &str, buffers: u64, nodes: &str) -> f64 {
    let scratch = Scratch::new();
    let number = buffers.to_string();
    let words = ["generate", family, "--buffers", &number, "--seed", "1", "--out", "large.csv"];
    let run = scratch.plimsoll(&words).exits(0);
    assert!(run.stdout.starts_with(&format!("{family}-{buffers}-1: {buffers} buffers, load ")));
    let words =
        ["solve", "large.csv", "--node-limit", nodes, "--json", "-o", "o.csv", "--certificate", "c.json"];
    let json = scratch.plimsoll(&words).exits(0).json();
    let run = scratch.plimsoll(&["verify", "large.csv", "o.csv", "--certificate", "c.json"]).exits(0);
    assert!(run.stdout.contains("confirmed"), "{}", run.stdout);
    json["gap_percent"].as_f64().unwrap()
}

#[test]
fn a_hundred_thousand_buffers_are_planned_with_as_many_nodes() {
    for family in ["uniform", "trace"] {
        let gap = round_trip(family, 100_000, "100000");
        assert!(gap < 10.0, "{family}: {gap} %");
    }
}

#[test]
#[ignore = "takes minutes"]
fn a_million_buffers_come_close_to_the_load() {
    for family in ["uniform", "log-uniform", "heavy-tailed", "stack", "training"] {
        let gap = round_trip(family, 1_000_000, "10000000");
        assert!(gap < 1.0, "{family}: {gap} %");
    }
}

#[test]
fn errors_about_unknown_families_list_the_known_ones() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "unknown"]).refuses(&["unknown", "uniform", "training"]);
    scratch.plimsoll(&["generate", "uniform", "--buffers", "0"]).refuses(&["--buffers"]);
    scratch.plimsoll(&["generate", "uniform", "--out", "no/such/folder.csv"]).refuses(&["does not exist"]);
    scratch.plimsoll(&["generate", "uniform", "--buffers", "5", "--seed", "3"]).exits(0);
    assert_eq!(scratch.read("uniform-5-3.csv").lines().count(), 6);
}
