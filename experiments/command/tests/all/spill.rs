//! Tests `plimsoll spill`: spilled buffers, reasons for a shortfall, exit codes and files.

use crate::common::{Scratch, TWELVE, contains, has};
use serde_json::{Value, json};

/// A graph in which a is read twice, b is a view of a, and y is the output.
const GRAPH: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "net", "tensors": [
    { "name": "x", "bytes": 40, "role": "input" }, { "name": "a", "bytes": 100 }, { "name": "b", "bytes": 100 },
    { "name": "c", "bytes": 60 }, { "name": "d", "bytes": 60 }, { "name": "y", "bytes": 8, "role": "output" } ],
    "body": { "inputs": ["x"], "outputs": ["y"], "operators": [
    { "name": "one", "kind": "Conv", "inputs": ["x"], "outputs": ["a"] },
    { "name": "two", "kind": "Reshape", "inputs": ["a"], "outputs": ["b"],
      "aliases": [ { "input": "a", "output": "b", "kind": "view" } ] },
    { "name": "three", "kind": "Conv", "inputs": ["b"], "outputs": ["c"] },
    { "name": "four", "kind": "Conv", "inputs": ["c"], "outputs": ["d"] },
    { "name": "five", "kind": "Add", "inputs": ["a", "d"], "outputs": ["y"] } ] } }"#;

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one.as_str().or(one["id"].as_str()).unwrap()).collect()
}

#[test]
fn an_instance_is_spilled_with_a_reason() {
    let scratch = Scratch::with("example.8.csv", TWELVE);
    let report = scratch.json("spill example.8.csv --output places.csv --plot map.svg");
    has(&report, &json!({ "claim": "optimal", "traffic": 18 }));
    let need = &report["need"];
    has(need, &json!({ "capacity": "short", "shortfall_min": 3, "irreducible": true, "reason_needs": 11 }));
    assert_eq!(names(&need["reason"]), ["dense", "output"]);
    assert_eq!(names(&report["spilled"]), ["input", "pool", "output"]);
    let places = scratch.read("places.csv");
    assert!(places.starts_with("id,lower,upper,size,traffic,tier,offset\ninput,0,2,4,8,slow,\nconv,"));
    // The capacity is sufficient, then zero.
    let report = scratch.json("spill example.8.csv --capacity 11");
    assert_eq!([&report["need"]["capacity"], &report["traffic"]], [&json!("met"), &json!(0)]);
    let report = scratch.json("spill example.8.csv --capacity 0");
    has(&report, &json!({ "traffic": 46, "on_chip": 0 }));
}

#[test]
fn buffers_that_must_stay_may_not_fit() {
    let scratch = Scratch::with("example.8.csv", TWELVE);
    let keep = "spill example.8.csv --keep dense --keep output";
    let none = "traffic      none: the buffers that must stay do not fit";
    scratch.run(keep).exits(1).prints(&[none]);
    scratch.run(format!("{keep} --compare")).exits(1);
    // According to the file, dense must stay, output costs 5 bytes and conv costs 1 byte.
    scratch.write("traffic.csv", "id, traffic\ndense,\noutput,5\nconv,1\n");
    let report = scratch.json("spill example.8.csv --traffic traffic.csv");
    assert_eq!(names(&report["spilled"]), ["conv", "pool", "output"]);
    assert_eq!(report["traffic"], 10);
}

#[test]
fn traffic_of_a_graph_is_what_its_operators_write_and_read() {
    let scratch = Scratch::with("net.json", GRAPH);
    let report = scratch.json("spill net.json --capacity 130 --output places.csv");
    // a shares memory with b, and is written once and read twice: 300 bytes. x is read; c and d are written
    // and read.
    has(&report, &json!({ "traffic": 280, "lower_bound": 280 }));
    assert_eq!(names(&report["spilled"]), ["x", "c", "d"]);
    contains(&scratch.read("places.csv"), &["a,0,5,100,300,chip,"]);
    // With --no-views, views are written and read.
    let copied = scratch.json("spill net.json --capacity 110 --no-views");
    has(&copied, &json!({ "claim": "optimal" }));
    let line = "spill net.json --capacity 130 --no-views --capacity 100";
    scratch.refuses(line, &["--capacity", "multiple"]);
}

#[test]
fn algorithms_are_compared() {
    let scratch = Scratch::with("example.8.csv", TWELVE);
    let json = scratch.json("spill example.8.csv --compare --output rows.csv");
    let rows = json["rows"].as_array().unwrap();
    let of = |solver: &str| rows.iter().find(|row| row["algorithm"] == solver).unwrap();
    has(of("exact"), &json!({ "value": 18, "gap_percent": 0.0 }));
    let area = of("largest-area");
    assert!(area["value"].as_u64() > Some(18) && area["gap_percent"].as_f64() > Some(50.0), "{area}");
    let stored = scratch.read("rows.csv");
    assert_eq!(stored.lines().count(), 1 + rows.len(), "{stored}");
    contains(&stored, &[",spilling,bytes,,exact,exact,", "\"\"spilled\"\":"]);
}

#[test]
fn errors_name_the_bad_value() {
    let scratch = Scratch::with("example.csv", TWELVE);
    scratch.write("net.json", GRAPH);
    for (arguments, parts) in [
        ("example.csv", &["example.csv", "--capacity"][..]),
        ("net.json", &["net.json", "--capacity"]),
        ("absent.csv --capacity 8", &["absent.csv"]),
        ("example.csv --capacity -8", &["-8"]),
        ("example.csv --capacity 8 --keep missing", &["example.csv", "'missing'"]),
        ("example.csv --capacity 8 --algorithm exakt", &["'exakt'", "'exact'"]),
        ("example.csv --capacity 8 --order dfs", &["graphs"]),
        ("example.csv --capacity 8 --align 4", &["graphs"]),
        ("net.json --capacity 8 --endpoints inclusive", &["--endpoints"]),
        ("example.csv --capacity 8 --output example.csv", &["example.csv"]),
    ] {
        scratch.refuses(format!("spill {arguments}"), parts);
    }
    for (text, parts) in [
        ("id,traffic\nmissing,3\n", ["traffic.csv", "line 2", "'missing'"]),
        ("id,traffic\nconv,-3\n", ["traffic.csv", "line 2", "'-3'"]),
        ("id,traffic\nconv,3\nconv,4\n", ["traffic.csv", "line 3", "'conv'"]),
        ("id,bytes\nconv,3\n", ["traffic.csv", "traffic", "no column"]),
    ] {
        scratch.write("traffic.csv", text);
        scratch.refuses("spill example.csv --capacity 8 --traffic traffic.csv", &parts);
    }
}
