//! Tests `plimsoll convert`: from the structured schema to CSV, and from layouts back to allocations.

use crate::common::{Scratch, has};
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
    let scratch = Scratch::with("k.json", document().to_string());
    scratch.ok("convert k.json -o out");
    assert_eq!(scratch.read("out/k-Mat.9.csv"), "id,lower,upper,size\nz,0,2,5\n");
    scratch.ok("solve out/k-Vec.16.csv --output vec.csv");
    scratch.ok("solve out/k-Mat.9.csv --output mat.csv");
    scratch.ok("verify out/k-Vec.16.csv vec.csv");
    let text = scratch.ok("convert k.json --layout vec.csv --layout Mat=mat.csv -o answer.json").stdout;
    let peaks = "pool 1 'Vec': peak 16 of 16\npool 2 'Mat': peak 5 of 9\n";
    assert_eq!(text, format!("{peaks}answer.json: 3 allocations, valid\n"));
    let answer = scratch.document("answer.json");
    let rows = answer["placements"].as_array().unwrap();
    assert!(rows.iter().map(|row| row["buffer"].as_u64().unwrap()).eq([5, 6, 7]), "{answer}");
    has(&rows[2], &json!({ "pool": 2, "offset": 0 }));
}

#[test]
fn instances_become_pools_and_round_trip() {
    let scratch = Scratch::new();
    let text = "id,lower,upper,size,alignment,gaps,hint\na,0,9,4,2,3-5,8\n\"b,c\",1,4,7,1,,-1\n";
    scratch.write("one.64.csv", text);
    scratch.write("two.csv", "id,lower,end,size\na,0,0,5\n");
    let run = scratch.ok("convert one.64.csv two.csv -o both.json");
    assert_eq!(run.stdout, "both.json: 2 pools, 3 buffers\n");
    scratch.ok("convert both.json -o again");
    assert_eq!(scratch.read("again/one.64.csv"), text);
    assert_eq!(scratch.read("again/two.csv"), "id,lower,upper,size\na,0,1,5\n");
    // A single pool may be written to a file.
    scratch.ok("convert two.csv -o two.json");
    scratch.ok("convert two.json -o single.csv");
    assert_eq!(scratch.read("single.csv"), scratch.read("again/two.csv"));
}

#[test]
fn bad_conversions_are_rejected() {
    let scratch = Scratch::with("k.json", document().to_string());
    scratch.write("x.csv", "id,lower,upper,size\nx,0,1,1\n");
    scratch.write("mat.csv", "id,offset\nz,0\n");
    scratch.write("mat.json", "id,offset\nz,0\n");
    scratch.write("vec.csv", "id,offset\nx,4\ny,8\nreserved-0,0\n");
    scratch.write("broken.json", "{");
    for (arguments, part) in [
        ("k.txt -o o", "k.txt: expected a .csv or .json file"),
        ("none.json -o o", "none.json: "),
        ("broken.json -o o", "broken.json: line 1, column 1: the file ends too early"),
        ("k.json x.csv -o o", "k.json: a JSON document must be the only input"),
        ("x.csv --layout l -o o", "--layout requires the JSON document"),
        ("k.json -o o.csv", "o.csv: k.json has 2 pools; use a folder"),
        ("k.json --layout mat.csv -o o.json", "pool 'Vec' needs a --layout"),
        ("k.json --layout none.csv -o o.json", "none.csv: "),
        ("k.json --layout x.csv -o o.json", "the layout fits no pools of k.json"),
        ("k.json --layout mat.csv --layout 2=mat.csv -o o.json", "pool 'Mat' already has a layout"),
        (
            "k.json --layout nope=mat.csv -o o.json",
            "--layout nope=mat.csv: k.json has no pool 'nope' (known: Vec, Mat)",
        ),
        ("k.json --layout 2=mat.json -o mat.json", "it is an input of this command"),
        ("x.csv -o x.csv", "it is an input of this command"),
    ] {
        scratch.refuses(format!("convert {arguments}"), &[part]);
    }
    let run = scratch.run("convert k.json --layout mat.csv --layout vec.csv -o o.json").exits(1);
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
    scratch.ok("convert k.json -o out").warns(&["buffer 7 'z': bound to pool 2 'Mat'"]);
    // Colocated buffers become one allocation of the larger size.
    let run = scratch.ok("bench k.json --algorithms first-fit-size --problems offsets --verbose");
    assert!(run.stderr.is_empty() && run.stdout.contains("k-Vec"), "{}", run.stderr);
    run.prints(&["k-Mat"]);
}
