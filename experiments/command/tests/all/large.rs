//! Tests large instances from end to end: they are generated, written, read, solved within a node limit and
//! verified.

use crate::common::Scratch;

/// Generates an instance, solves it within a limit of `nodes` nodes, verifies the answer and returns the gap
/// in percent.
fn round_trip(family: &str, buffers: u64, nodes: u64) -> f64 {
    let scratch = Scratch::new();
    let run = scratch.ok(format!("generate {family} --buffers {buffers} --seed 1 --out large.csv"));
    run.prints(&[&format!("{family}-{buffers}-1: {buffers} buffers, load ")]);
    let files = "-o o.csv --certificate c.json";
    let json = scratch.json(format!("solve large.csv --node-limit {nodes} {files}"));
    scratch.ok("verify large.csv o.csv --certificate c.json").prints(&["confirmed"]);
    json["gap_percent"].as_f64().unwrap()
}

#[test]
fn a_hundred_thousand_buffers_are_planned_with_as_many_nodes() {
    for family in ["uniform", "trace"] {
        let gap = round_trip(family, 100_000, 100_000);
        assert!(gap < 10.0, "{family}: {gap} %");
    }
}

#[test]
#[ignore = "takes minutes"]
fn a_million_buffers_come_close_to_the_load() {
    for family in ["uniform", "log-uniform", "heavy-tailed", "stack", "training"] {
        let gap = round_trip(family, 1_000_000, 10_000_000);
        assert!(gap < 1.0, "{family}: {gap} %");
    }
}
