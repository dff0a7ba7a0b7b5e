//! Tests `plimsoll spill`: spilled buffers, reasons for a shortfall, exit codes and files.

use crate::common::Scratch;
use serde_json::Value;

/// An instance with load 11 at step 7, where `dense` and `output` are live.
const EXAMPLE: &str = "id,lower,upper,size\ninput,0,2,4\nconv,1,4,6\npool,3,6,2\ndense,5,8,8\noutput,7,9,3\n";

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

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one.as_str().or(one["id"].as_str()).unwrap()).collect()
}

#[test]
fn an_instance_is_spilled_with_a_reason() {
    let scratch = Scratch::new();
    scratch.write("example.8.csv", EXAMPLE);
    let words = ["spill", "example.8.csv", "--json", "--output", "places.csv", "--plot", "map.svg"];
    let report = json(&scratch.plimsoll(&words).exits(0).stdout);
    assert_eq!((report["claim"].as_str(), report["traffic"].as_u64()), (Some("optimal"), Some(18)));
    let need = &report["need"];
    assert_eq!((need["capacity"].as_str(), need["shortfall_min"].as_u64()), (Some("short"), Some(3)));
    assert_eq!(
        (names(&need["reason"]), need["irreducible"].as_bool()),
        (vec!["dense", "output"], Some(true))
    );
    assert_eq!(need["reason_needs"].as_u64(), Some(11));
    assert_eq!(names(&report["spilled"]), ["input", "pool", "output"]);
    let places = scratch.read("places.csv");
    assert!(
        places.starts_with("id,lower,upper,size,traffic,tier,offset\ninput,0,2,4,8,slow,\nconv,"),
        "{places}"
    );
    assert!(scratch.read("map.svg").contains("conv"));
    // The capacity is sufficient, then zero.
    let report =
        json(&scratch.plimsoll(&["spill", "example.8.csv", "--capacity", "11", "--json"]).exits(0).stdout);
    assert_eq!((report["need"]["capacity"].as_str(), report["traffic"].as_u64()), (Some("met"), Some(0)));
    let report =
        json(&scratch.plimsoll(&["spill", "example.8.csv", "--capacity", "0", "--json"]).exits(0).stdout);
    assert_eq!((report["traffic"].as_u64(), report["on_chip"].as_u64()), (Some(46), Some(0)));
}

#[test]
fn buffers_that_must_stay_may_not_fit() {
    let scratch = Scratch::new();
    scratch.write("example.8.csv", EXAMPLE);
    let keep = ["spill", "example.8.csv", "--keep", "dense", "--keep", "output"];
    let run = scratch.plimsoll(&keep).exits(1);
    assert!(
        run.stdout.contains("traffic      none: the buffers that must stay do not fit"),
        "{}",
        run.stdout
    );
    scratch.plimsoll(&[&keep[..], &["--compare"]].concat()).exits(1);
    // According to the file, dense must stay, output costs 5 bytes and conv costs 1 byte.
    scratch.write("traffic.csv", "id, traffic\ndense,\noutput,5\nconv,1\n");
    let words = ["spill", "example.8.csv", "--traffic", "traffic.csv", "--json"];
    let report = json(&scratch.plimsoll(&words).exits(0).stdout);
    assert_eq!(
        (names(&report["spilled"]), report["traffic"].as_u64()),
        (vec!["conv", "pool", "output"], Some(10))
    );
}

#[test]
fn traffic_of_a_graph_is_what_its_operators_write_and_read() {
    let scratch = Scratch::new();
    scratch.write("net.json", GRAPH);
    let words = ["spill", "net.json", "--capacity", "130", "--json"];
    let report = json(&scratch.plimsoll(&words).exits(0).stdout);
    // a shares memory with b, and is written once and read twice: 300 bytes. x is read; c and d are written
    // and read.
    assert_eq!((report["traffic"].as_u64(), report["lower_bound"].as_u64()), (Some(280), Some(280)));
    assert_eq!(names(&report["spilled"]), ["x", "c", "d"]);
    let places = ["spill", "net.json", "--capacity", "130", "--output", "places.csv"];
    scratch.plimsoll(&places).exits(0);
    assert!(scratch.read("places.csv").contains("a,0,5,100,300,chip,"), "{}", scratch.read("places.csv"));
    // With --no-views, views are written and read.
    let copied = [&words[..], &["--no-views", "--capacity", "100"]].concat();
    scratch.plimsoll(&copied).refuses(&["--capacity", "multiple"]);
    let copied = ["spill", "net.json", "--capacity", "110", "--json", "--no-views"];
    assert_eq!(json(&scratch.plimsoll(&copied).exits(0).stdout)["claim"].as_str(), Some("optimal"));
}

#[test]
fn algorithms_are_compared() {
    let scratch = Scratch::new();
    scratch.write("example.8.csv", EXAMPLE);
    let run =
        scratch.plimsoll(&["spill", "example.8.csv", "--compare", "--json", "--output", "rows.csv"]).exits(0);
    let rows = json(&run.stdout);
    let traffic = |solver: &str| {
        let row = rows["rows"].as_array().unwrap().iter().find(|row| row["algorithm"] == solver).unwrap();
        (row["value"].as_u64().unwrap(), row["gap_percent"].as_f64().unwrap())
    };
    assert_eq!(traffic("exact"), (18, 0.0));
    assert!(traffic("largest-area").0 > 18 && traffic("largest-area").1 > 50.0);
    let stored = scratch.read("rows.csv");
    assert!(stored.lines().count() == 1 + rows["rows"].as_array().unwrap().len(), "{stored}");
    assert!(
        stored.contains(",spilling,bytes,,exact,exact,") && stored.contains("\"\"spilled\"\":"),
        "{stored}"
    );
}

#[test]
fn errors_name_the_bad_value() {
    let scratch = Scratch::new();
    scratch.write("example.csv", EXAMPLE);
    scratch.write("net.json", GRAPH);
    let with = |words: &[&str]| scratch.plimsoll(&[&["spill"], words].concat());
    with(&["example.csv"]).refuses(&["example.csv", "--capacity"]);
    with(&["net.json"]).refuses(&["net.json", "--capacity"]);
    with(&["absent.csv", "--capacity", "8"]).refuses(&["absent.csv"]);
    with(&["example.csv", "--capacity", "-8"]).refuses(&["-8"]);
    with(&["example.csv", "--capacity", "8", "--keep", "missing"]).refuses(&["example.csv", "'missing'"]);
    with(&["example.csv", "--capacity", "8", "--algorithm", "exakt"]).refuses(&["'exakt'", "'exact'"]);
    with(&["example.csv", "--capacity", "8", "--order", "dfs"]).refuses(&["graphs"]);
    with(&["example.csv", "--capacity", "8", "--align", "4"]).refuses(&["graphs"]);
    with(&["net.json", "--capacity", "8", "--endpoints", "inclusive"]).refuses(&["--endpoints"]);
    for (text, parts) in [
        ("id,traffic\nmissing,3\n", ["line 2", "'missing'"]),
        ("id,traffic\nconv,-3\n", ["line 2", "'-3'"]),
        ("id,traffic\nconv,3\nconv,4\n", ["line 3", "'conv'"]),
        ("id,bytes\nconv,3\n", ["traffic", "no column"]),
    ] {
        scratch.write("traffic.csv", text);
        let run = with(&["example.csv", "--capacity", "8", "--traffic", "traffic.csv"]);
        run.refuses(&[&parts[..], &["traffic.csv"]].concat());
    }
    with(&["example.csv", "--capacity", "8", "--output", "absent/places.csv"]).refuses(&["absent"]);
    with(&["example.csv", "--capacity", "8", "--output", "example.csv"]).refuses(&["example.csv"]);
}
