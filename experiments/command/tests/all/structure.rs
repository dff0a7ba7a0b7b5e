//! Tests `plimsoll plan --conflicts`.

use crate::common::Scratch;
use serde_json::Value;

/// Two branches of unequal length, and a skip connection around both: the operator that joins the branches is
/// the last to read `x`.
const SKIP: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "skip",
    "tensors": [ { "name": "in", "bytes": 10, "role": "input" }, { "name": "out \"quoted\", y", "bytes": 10, "role": "output" },
                 { "name": "x", "bytes": 100 }, { "name": "a", "bytes": 60 }, { "name": "b", "bytes": 70 },
                 { "name": "c", "bytes": 40 }, { "name": "none", "bytes": 0 } ],
    "body": { "inputs": ["in"], "outputs": ["out \"quoted\", y"], "operators": [
        { "name": "stem", "kind": "Conv", "inputs": ["in"], "outputs": ["x"] },
        { "name": "left", "kind": "Conv", "inputs": ["x"], "outputs": ["a", "none"] },
        { "name": "deep", "kind": "Conv", "inputs": ["a"], "outputs": ["b"] },
        { "name": "right", "kind": "Conv", "inputs": ["x"], "outputs": ["c"] },
        { "name": "join", "kind": "Add", "inputs": ["x", "b", "c"], "outputs": ["out \"quoted\", y"] } ] } }"#;

/// An `If` with a skip connection inside one branch.
const BRANCH: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "branch",
    "tensors": [ { "name": "c", "bytes": 1, "role": "input" }, { "name": "x", "bytes": 8, "role": "input" },
                 { "name": "y", "bytes": 8, "role": "output" }, { "name": "p", "bytes": 8 }, { "name": "q", "bytes": 8 },
                 { "name": "r", "bytes": 8 }, { "name": "s", "bytes": 8 }, { "name": "e", "bytes": 8 } ],
    "body": { "inputs": ["c", "x"], "outputs": ["y"], "operators": [
        { "name": "choose", "kind": "If", "inputs": ["c"], "outputs": ["y"], "regions": [
            { "name": "then", "outputs": ["s"], "operators": [
                { "name": "t1", "kind": "F", "inputs": ["x"], "outputs": ["p"] },
                { "name": "t2", "kind": "F", "inputs": ["p"], "outputs": ["q"] },
                { "name": "t3", "kind": "F", "inputs": ["q"], "outputs": ["r"] },
                { "name": "t4", "kind": "G", "inputs": ["p", "r"], "outputs": ["s"] } ] },
            { "name": "else", "outputs": ["e"], "operators": [
                { "name": "e1", "kind": "F", "inputs": ["x"], "outputs": ["e"] } ] } ] } ] } }"#;

fn plan(file: &str, more: &[&str]) -> Value {
    let scratch = Scratch::new();
    scratch.write("graph.json", file);
    let words: Vec<&str> = ["plan", "graph.json", "--json"].iter().chain(more).copied().collect();
    scratch.plimsoll(&words).exits(0).json()
}

#[test]
fn each_relation_is_planned_and_collisions_are_reported() {
    let of = |relation: &str| plan(SKIP, &["--conflicts", relation]);
    let number = |report: &Value, key: &str| report[key].as_u64().unwrap();
    let schedule = of("schedule");
    // x is live together with a and b, then with b and c.
    assert_eq!(number(&schedule, "arena"), 230);
    assert_eq!(of("streams=1")["arena"], schedule["arena"]);
    let reachable = of("reachable");
    assert_eq!((number(&reachable, "arena"), &reachable["claim"]), (270, &Value::from("optimal")));
    assert_eq!((number(&reachable, "collide_in_order"), number(&reachable, "collide")), (0, 0));
    assert_eq!(of("streams=2")["arena"], reachable["arena"]);
    assert_eq!(of("streams=99")["arena"], reachable["arena"]);
    let mutex = of("mutex");
    assert_eq!((number(&mutex, "arena"), number(&mutex, "overlooked")), (200, 1));
    assert_eq!(number(&mutex, "collide_in_order"), 1);
    let collision = mutex["collision"].as_str().unwrap();
    assert_eq!(
        collision,
        "'x' and 'b' share 70 bytes: 'right' needs 'x', but 'deep' need not wait for 'right'"
    );
    for report in [&schedule, &reachable, &mutex] {
        assert!(number(report, "lower_bound") <= number(report, "arena"));
    }
}

#[test]
fn regions_inside_operators_are_blocks_by_the_same_relation() {
    let mutex = plan(BRANCH, &["--conflicts", "mutex"]);
    assert_eq!(mutex["regions"], 3);
    assert_eq!(mutex["collide_in_order"], 1, "{mutex}");
    assert!(mutex["collision"].as_str().unwrap().contains("'p' and 'r'"), "{mutex}");
    let reachable = plan(BRANCH, &["--conflicts", "reachable"]);
    assert_eq!((&reachable["collide"], &reachable["claim"]), (&Value::from(0), &Value::from("optimal")));
    let rows = plan(BRANCH, &["--conflicts", "compare"]);
    assert_eq!(rows[4]["collide_in_order"], 1, "{rows}");
    assert!(rows[3]["exact"].as_u64() > rows[4]["exact"].as_u64(), "{rows}");
}

#[test]
fn split_buffers_and_shared_objects_use_the_same_conflicts() {
    for problem in ["offsets", "split-buffers"] {
        let report = plan(SKIP, &["--conflicts", "reachable", "--problem", problem]);
        assert_eq!((&report["problem"], &report["arena"]), (&Value::from(problem), &Value::from(270)));
    }
    let pools =
        plan(SKIP, &["--conflicts", "reachable", "--problem", "shared-objects", "--algorithm", "mini-infer"]);
    assert!(pools["arena"].as_u64().unwrap() >= 270, "{pools}");
}

#[test]
fn the_comparison_has_a_row_per_relation() {
    let scratch = Scratch::new();
    scratch.write("skip.json", SKIP);
    let words = ["plan", "skip.json", "--conflicts", "compare", "--output", "rows.csv"];
    let text = scratch.plimsoll(&words).exits(0).stdout;
    let missed = "mutex misses 1 pair of buffers that are simultaneously live in the order";
    assert!(text.contains(missed), "{text}");
    let rows = plan(SKIP, &["--conflicts", "compare"]);
    let rows = rows.as_array().unwrap();
    let words: Vec<&str> = rows.iter().map(|row| row["conflicts"].as_str().unwrap()).collect();
    assert_eq!(words, ["schedule", "streams=2", "streams=4", "reachable", "mutex"]);
    for row in rows {
        let number = |key: &str| row[key].as_u64().unwrap();
        assert!(number("clique") <= number("split") && number("split") <= number("exact"), "{row}");
        assert!(number("exact") <= number("reuse_by_size") && number("split") <= number("split_by_size"));
        assert_eq!((&row["exact_claim"], &row["split_claim"]), (&"optimal".into(), &"optimal".into()));
        assert_eq!(number("overlooked") > 0, row["conflicts"] == "mutex", "{row}");
        assert!(number("exposed") == 0 || row["conflicts"] != "reachable", "{row}");
    }
    assert_eq!(scratch.read("rows.csv").lines().count(), 6);
}

#[test]
fn files_match_the_problem() {
    let scratch = Scratch::new();
    scratch.write("skip.json", SKIP);
    let words = [
        "plan",
        "skip.json",
        "--conflicts",
        "reachable",
        "--instance",
        "skip.csv",
        "--output",
        "layout.csv",
        "--orders",
        "orders.csv",
        "--plot",
        "map.svg",
    ];
    let text = scratch.plimsoll(&words).exits(0).stdout;
    assert!(text.contains("\nconcurrent   safe when independent operators"), "{text}");
    scratch.plimsoll(&["verify", "skip.csv", "layout.csv"]).exits(0);
    let solved = scratch.plimsoll(&["solve", "skip.csv", "--json"]).exits(0).json();
    assert_eq!((&solved["peak"], &solved["claim"]), (&Value::from(270), &Value::from("optimal")));
    let pieces =
        scratch.plimsoll(&["solve", "skip.csv", "--problem", "split-buffers", "--json"]).exits(0).json();
    assert_eq!((&pieces["algorithm"], &pieces["peak"]), (&Value::from("exact"), &Value::from(270)));
    assert!(scratch.read("map.svg").contains("svg") && scratch.read("orders.csv").contains("join"));
}

#[test]
fn unsupported_plans_are_rejected() {
    let scratch = Scratch::new();
    scratch.write("skip.json", SKIP);
    let refuses = |more: &[&str], parts: &[&str]| {
        let words: Vec<&str> = ["plan", "skip.json"].iter().chain(more).copied().collect();
        let run = scratch.plimsoll(&words).exits(2);
        for part in parts {
            assert!(run.stderr.contains(part), "no '{part}' in: {}", run.stderr);
        }
    };
    refuses(&["--conflicts", "mutx"], &["mutx", "schedule, streams=K, reachable, mutex, compare"]);
    refuses(&["--conflicts", "streams=0"], &["at least 1; found '0'"]);
    refuses(&["--conflicts", "compare", "--plot", "x.svg"], &["--plot"]);
    refuses(&["--conflicts", "mutex", "--joint"], &["--joint"]);
    refuses(&["--problem", "split-buffers"], &["--conflicts"]);
    refuses(&["--conflicts", "mutex", "--algorithm", "nonsense"], &["nonsense"]);
    refuses(
        &["--conflicts", "mutex", "--problem", "split-buffers", "--algorithm", "search"],
        &["'search' does not solve split-buffers"],
    );
}

#[test]
fn a_graph_without_operators_is_planned() {
    let empty = r#"{ "format": "plimsoll-graph", "version": 1, "name": "empty",
        "tensors": [ { "name": "x", "bytes": 4611686018427387904, "role": "input" } ],
        "body": { "inputs": ["x"], "outputs": ["x"], "operators": [] } }"#;
    for relation in ["schedule", "streams=2", "reachable", "mutex"] {
        let report = plan(empty, &["--conflicts", relation]);
        assert_eq!(report["arena"].as_u64(), Some(1 << 62), "{relation}");
    }
    assert_eq!(plan(empty, &["--conflicts", "compare"]).as_array().unwrap().len(), 5);
}
