//! Tests `plimsoll convert`: from the structured schema to CSV, and from layouts back to allocations.

use crate::common::Scratch;
use serde_json::{Value, json};

/// Returns a document with two pools: `x` and `y` conflict in one, and `z` is alone in the other.
fn document() -> Value {
    let buffer = |id: u32, name: &str, size: u64, pool: u32| {
        json!({ "id": id, "name": name, "size": size, "alignment": 1, "allowed_pools": [pool],
                "live_intervals": [{ "lower": 0, "upper": 2 }] })
    };
    json!({
        "schema_version": 1, "profile": "pypto_hard_v1", "instance": "kernel",
        "problem": {
            "pools": [
                { "id": 1, "name": "Vec", "capacity": 16, "reserved_ranges": [{ "begin": 0, "end": 4 }] },
                { "id": 2, "name": "Mat", "capacity": 9, "reserved_ranges": [] } ],
            "buffers": [buffer(5, "x", 6, 1), buffer(6, "y", 6, 1), buffer(7, "z", 5, 2)],
            "constraints": { "colocations": [], "separations": [], "temporal_exclusions": [], "pinned_allocations": [] },
            "objective": { "aggregation": "lexicographic", "terms": ["total_peak"] } } })
}

#[test]
fn pools_are_solved_separately_and_converted_back() {
    let scratch = Scratch::new();
    scratch.write("k.json", document().to_string());
    let run = scratch.plimsoll(&["convert", "k.json", "-o", "out"]).exits(0);
    assert_eq!(
        run.stdout,
        "out/k-Vec.16.csv: pool 1 'Vec', 3 buffers, load 16, capacity 16\n\
         out/k-Mat.9.csv: pool 2 'Mat', 1 buffer, load 5, capacity 9\n"
    );
    assert_eq!(scratch.read("out/k-Mat.9.csv"), "id,lower,upper,size\nz,0,2,5\n");
    scratch.plimsoll(&["solve", "out/k-Vec.16.csv", "--output", "vec.csv"]).exits(0);
    scratch.plimsoll(&["solve", "out/k-Mat.9.csv", "--output", "mat.csv"]).exits(0);
    scratch.plimsoll(&["verify", "out/k-Vec.16.csv", "vec.csv"]).exits(0);
    let words = ["convert", "k.json", "--layout", "vec.csv", "--layout", "Mat=mat.csv", "-o", "answer.json"];
    let run = scratch.plimsoll(&words).exits(0);
    assert_eq!(
        run.stdout,
        "pool 1 'Vec': peak 16 of 16\npool 2 'Mat': peak 5 of 9\nanswer.json: 3 allocations, valid\n"
    );
    let answer: Value = serde_json::from_str(&scratch.read("answer.json")).unwrap();
    let rows = answer["placements"].as_array().unwrap();
    let ids: Vec<u64> = rows.iter().map(|row| row["buffer"].as_u64().unwrap()).collect();
    assert_eq!(
        (ids, rows[2]["pool"].as_u64(), rows[2]["offset"].as_u64()),
        (vec![5, 6, 7], Some(2), Some(0))
    );
}

#[test]
fn instances_become_pools_and_round_trip() {
    let scratch = Scratch::new();
    let text = "id,lower,upper,size,alignment,gaps,hint\na,0,9,4,2,3-5,8\n\"b,c\",1,4,7,1,,-1\n";
    scratch.write("one.64.csv", text);
    scratch.write("two.csv", "id,lower,end,size\na,0,0,5\n");
    let run = scratch.plimsoll(&["convert", "one.64.csv", "two.csv", "-o", "both.json"]).exits(0);
    assert_eq!(run.stdout, "both.json: 2 pools, 3 buffers\n");
    scratch.plimsoll(&["convert", "both.json", "-o", "again"]).exits(0);
    assert_eq!(scratch.read("again/one.64.csv"), text);
    assert_eq!(scratch.read("again/two.csv"), "id,lower,upper,size\na,0,1,5\n");
    // A single pool may be written to a file.
    scratch.plimsoll(&["convert", "two.csv", "-o", "two.json"]).exits(0);
    scratch.plimsoll(&["convert", "two.json", "-o", "single.csv"]).exits(0);
    assert_eq!(scratch.read("single.csv"), scratch.read("again/two.csv"));
}

#[test]
fn bad_conversions_are_rejected() {
    let scratch = Scratch::new();
    scratch.write("k.json", document().to_string());
    scratch.write("x.csv", "id,lower,upper,size\nx,0,1,1\n");
    scratch.write("mat.csv", "id,offset\nz,0\n");
    scratch.write("vec.csv", "id,offset\nx,4\ny,8\nreserved-0,0\n");
    scratch.write("broken.json", "{");
    let refuses = |words: &[&str], parts: &[&str]| {
        scratch.plimsoll(&[&["convert"], words].concat()).refuses(parts);
    };
    refuses(&["k.txt", "-o", "o"], &["k.txt: expected a .csv or .json file"]);
    refuses(&["none.json", "-o", "o"], &["none.json: "]);
    refuses(
        &["broken.json", "-o", "o"],
        &["broken.json: line 1, column 1: the file ends too early", "line 1"],
    );
    refuses(&["k.json", "x.csv", "-o", "o"], &["k.json: a JSON document must be the only input"]);
    refuses(&["x.csv", "--layout", "l", "-o", "o"], &["--layout requires the JSON document"]);
    refuses(&["k.json", "-o", "o.csv"], &["o.csv: k.json has 2 pools; use a folder"]);
    refuses(&["k.json", "--layout", "mat.csv", "-o", "o.json"], &["pool 'Vec' needs a --layout"]);
    refuses(&["k.json", "--layout", "none.csv", "-o", "o.json"], &["none.csv: "]);
    refuses(&["k.json", "--layout", "x.csv", "-o", "o.json"], &["the layout fits no pools of k.json"]);
    let twice = ["k.json", "--layout", "mat.csv", "--layout", "2=mat.csv", "-o", "o.json"];
    refuses(&twice, &["pool 'Mat' already has a layout"]);
    refuses(
        &["k.json", "--layout", "nope=mat.csv", "-o", "o.json"],
        &["--layout nope=mat.csv: k.json has no pool 'nope' (known: Vec, Mat)"],
    );
    scratch.write("mat.json", "id,offset\nz,0\n");
    refuses(&["k.json", "--layout", "2=mat.json", "-o", "mat.json"], &["it is an input of this command"]);
    refuses(&["x.csv", "-o", "x.csv"], &["it is an input of this command"]);
    let words = ["convert", "k.json", "--layout", "mat.csv", "--layout", "vec.csv", "-o", "o.json"];
    let run = scratch.plimsoll(&words).exits(1);
    assert!(run.stdout.contains("violation: ") && !scratch.path("o.json").exists(), "{}", run.stdout);
}

#[test]
fn decisions_are_noted() {
    let scratch = Scratch::new();
    let mut value = document();
    value["problem"]["constraints"]["colocations"] = json!([{ "first": 5, "second": 6 }]);
    value["problem"]["buffers"][1]["size"] = json!(2);
    value["problem"]["buffers"][1]["live_intervals"][0]["upper"] = json!(3);
    value["problem"]["buffers"][2]["allowed_pools"] = json!([1, 2]);
    value["problem"]["pools"][0]["capacity"] = json!(4);
    scratch.write("k.json", value.to_string());
    let run = scratch.plimsoll(&["convert", "k.json", "-o", "out"]).exits(0);
    assert!(run.stderr.contains("buffer 7 'z': bound to pool 2 'Mat'"), "{}", run.stderr);
    // Colocated buffers become one allocation of the larger size.
    let words = ["bench", "k.json", "--algorithms", "first-fit-size", "--problems", "offsets", "--verbose"];
    let run = scratch.plimsoll(&words).exits(0);
    assert!(run.stderr.is_empty() && run.stdout.contains("k-Vec"), "{}", run.stderr);
    assert!(run.stdout.contains("k-Mat"), "{}", run.stdout);
}
