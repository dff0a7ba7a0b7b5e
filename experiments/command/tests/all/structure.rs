//! Tests `plimsoll plan --conflicts`.

use crate::common::{Scratch, contains, has};
use serde_json::{Value, json};

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

/// Plans a graph with these conflicts.
fn plan(graph: &str, conflicts: &str) -> Value {
    let scratch = Scratch::with("graph.json", graph);
    scratch.json(format!("plan graph.json --conflicts {conflicts}"))
}

#[test]
fn each_relation_is_planned_and_collisions_are_reported() {
    let reachable = json!({ "arena": 270, "claim": "optimal", "collide_in_order": 0, "collide": 0 });
    let why = "'x' and 'b' share 70 bytes: 'right' needs 'x', but 'deep' need not wait for 'right'";
    let mutex = json!({ "arena": 200, "overlooked": 1, "collide_in_order": 1, "collision": why });
    for (relation, expected) in [
        // x is live together with a and b, then with b and c.
        ("schedule", json!({ "arena": 230 })),
        ("streams=1", json!({ "arena": 230 })),
        ("reachable", reachable),
        ("streams=2", json!({ "arena": 270 })),
        ("streams=99", json!({ "arena": 270 })),
        ("reachable --problem offsets", json!({ "arena": 270, "problem": "offsets" })),
        ("reachable --problem split-buffers", json!({ "arena": 270, "problem": "split-buffers" })),
        ("mutex", mutex),
    ] {
        let report = plan(SKIP, relation);
        has(&report, &expected);
        assert!(report["lower_bound"].as_u64().unwrap() <= report["arena"].as_u64().unwrap(), "{report}");
    }
    let pools = plan(SKIP, "reachable --problem shared-objects --algorithm mini-infer");
    assert!(pools["arena"].as_u64() >= Some(270), "{pools}");
}

#[test]
fn regions_inside_operators_are_blocks_by_the_same_relation() {
    let mutex = plan(BRANCH, "mutex");
    has(&mutex, &json!({ "regions": 3, "collide_in_order": 1 }));
    contains(mutex["collision"].as_str().unwrap(), &["'p' and 'r'"]);
    has(&plan(BRANCH, "reachable"), &json!({ "collide": 0, "claim": "optimal" }));
    let rows = plan(BRANCH, "compare");
    assert_eq!(rows[4]["collide_in_order"], 1, "{rows}");
    assert!(rows[3]["exact"].as_u64() > rows[4]["exact"].as_u64(), "{rows}");
}

#[test]
fn the_comparison_has_a_row_per_relation() {
    let rows = plan(SKIP, "compare --output rows.csv");
    let rows = rows.as_array().unwrap();
    let names = ["schedule", "streams=2", "streams=4", "reachable", "mutex"];
    assert!(rows.iter().map(|row| row["conflicts"].as_str().unwrap()).eq(names));
    for row in rows {
        let number = |key: &str| row[key].as_u64().unwrap();
        assert!(number("clique") <= number("split") && number("split") <= number("exact"), "{row}");
        assert!(number("exact") <= number("reuse_by_size") && number("split") <= number("split_by_size"));
        has(row, &json!({ "exact_claim": "optimal", "split_claim": "optimal" }));
        assert_eq!(number("overlooked") > 0, row["conflicts"] == "mutex", "{row}");
        assert!(number("exposed") == 0 || row["conflicts"] != "reachable", "{row}");
    }
}

#[test]
fn files_match_the_problem() {
    let scratch = Scratch::with("skip.json", SKIP);
    let files = "--instance skip.csv --output layout.csv --orders orders.csv --plot map.svg";
    scratch.ok(format!("plan skip.json --conflicts reachable {files}"));
    scratch.ok("verify skip.csv layout.csv");
    has(&scratch.json("solve skip.csv"), &json!({ "peak": 270, "claim": "optimal" }));
    let pieces = scratch.json("solve skip.csv --problem split-buffers");
    has(&pieces, &json!({ "algorithm": "exact", "peak": 270 }));
    contains(&scratch.read("map.svg"), &["svg"]);
    contains(&scratch.read("orders.csv"), &["join"]);
    scratch.ok("plan skip.json --conflicts compare --output rows.csv");
    assert_eq!(scratch.read("rows.csv").lines().count(), 6);
}

#[test]
fn unsupported_plans_are_rejected() {
    let scratch = Scratch::with("skip.json", SKIP);
    for (options, part) in [
        ("--conflicts mutx", "mutx"),
        ("--conflicts mutx", "schedule, streams=K, reachable, mutex, compare"),
        ("--conflicts streams=0", "at least 1; found '0'"),
        ("--conflicts compare --plot x.svg", "--plot"),
        ("--conflicts mutex --joint", "--joint"),
        ("--problem split-buffers", "--conflicts"),
        ("--conflicts mutex --algorithm nonsense", "nonsense"),
        (
            "--conflicts mutex --problem split-buffers --algorithm search",
            "'search' does not solve split-buffers",
        ),
    ] {
        scratch.run(format!("plan skip.json {options}")).exits(2).warns(&[part]);
    }
}

#[test]
fn a_graph_without_operators_is_planned() {
    let empty = r#"{ "format": "plimsoll-graph", "version": 1, "name": "empty",
        "tensors": [ { "name": "x", "bytes": 4611686018427387904, "role": "input" } ],
        "body": { "inputs": ["x"], "outputs": ["x"], "operators": [] } }"#;
    for relation in ["schedule", "streams=2", "reachable", "mutex"] {
        has(&plan(empty, relation), &json!({ "arena": 1u64 << 62 }));
    }
    assert_eq!(plan(empty, "compare").as_array().map(Vec::len), Some(5));
}
