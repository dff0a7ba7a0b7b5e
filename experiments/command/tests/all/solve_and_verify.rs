//! Tests `solve` and `verify`: output, stored answers and exit codes.

use crate::common::{Scratch, TINY, algorithms, has};
use serde_json::json;

#[test]
fn json_contains_the_documented_members() {
    let scratch = Scratch::with("tiny.8.csv", TINY);
    let run = scratch.ok("solve tiny.8.csv --algorithm first-fit-size --json --seed 7 --decide");
    assert_eq!(run.stdout.lines().count(), 1);
    let json = run.json();
    has(&json, &json!({ "instance": "tiny", "algorithm": "first-fit-size", "problem": "offsets" }));
    has(&json, &json!({ "claim": "optimal", "stop": "completed", "witness": "load at step 0" }));
    has(&json, &json!({ "peak": 8, "lower_bound": 8, "load": 8, "capacity": 8, "buffers": 3 }));
    has(&json, &json!({ "gap_percent": 0.0, "seed": 7, "threads": 1, "decide": true }));
    assert!(json["seconds"].as_f64().unwrap() >= 0.0 && json["nodes"].is_u64());
}

#[test]
fn a_stored_answer_verifies() {
    let scratch = Scratch::with("tiny.8.csv", TINY);
    for name in algorithms("heuristic").iter().filter(|name| *name != "naive") {
        let files = "-o out.csv --certificate c.json --plot p.svg";
        let run = scratch.run(format!("solve tiny.8.csv --algorithm {name} {files}"));
        if run.code == 3 {
            continue;
        }
        run.exits(0);
        scratch.ok("verify tiny.8.csv out.csv --certificate c.json").prints(&["valid", "confirmed"]);
        assert!(scratch.read("p.svg").trim_end().ends_with("</svg>"), "{name}");
    }
}

#[test]
fn corrupted_layouts_are_rejected_with_ids_and_numbers() {
    let scratch = Scratch::new();
    scratch.write("t.10.csv", "id,lower,upper,size,alignment\na,0,4,4,4\nb,2,6,2,1\nc,4,8,4,1\n");
    scratch.write("good.csv", "id,offset\nc,0\nb,8\na,4\n");
    scratch.write("bad.csv", "id,offset\na,6\nb,7\nc,8\n");
    scratch.run("verify t.10.csv bad.csv").exits(1).reports(&[
        "buffer 'a' lies at offset 6, which is not a multiple of its alignment 4",
        "buffers 'a' at [6, 10) and 'b' at [7, 9) conflict and share 2 bytes",
        "buffer 'c' ends at 12, beyond the capacity of 10 bytes",
        "4 violations",
    ]);
    let json = scratch.run("verify t.10.csv bad.csv --json").exits(1).json();
    has(&json, &json!({ "valid": false, "peak": 12, "load": 6 }));
    assert_eq!(json["violations"].as_array().map(Vec::len), Some(4));
    has(&scratch.json("verify t.10.csv good.csv"), &json!({ "valid": true, "certificate": null }));
    // Whether the layout is valid depends on the capacity.
    scratch.ok("verify t.10.csv good.csv --capacity 10");
    scratch.run("verify t.10.csv good.csv --capacity 9").exits(1);
    scratch.run("verify t.9.csv good.csv").exits(2);
}

#[test]
fn a_capacity_below_the_load_is_infeasible() {
    let scratch = Scratch::with("tiny.7.csv", TINY);
    for name in algorithms("heuristic").into_iter().chain(algorithms("exact")) {
        let json = scratch.run(format!("solve tiny.7.csv --algorithm {name} --json")).exits(1).json();
        assert_eq!(json["claim"], "infeasible", "{name}");
        assert!(json["lower_bound"].as_u64().unwrap() > 7, "{name}");
    }
    scratch.ok("solve tiny.7.csv --algorithm first-fit-size --no-capacity");
    scratch.ok("solve tiny.7.csv --algorithm first-fit-size --capacity 8");
}

#[test]
fn a_layout_above_the_capacity_is_written_with_claim_unknown() {
    let scratch = Scratch::new();
    // The sizes add up to 20 and the load is 12. A layout that places the buffers end to end therefore
    // exceeds 15, but 15 is not proved infeasible.
    scratch.write("t.15.csv", "id,lower,upper,size\na,0,1,8\nb,0,2,4\nc,1,2,8\n");
    let json = scratch.run("solve t.15.csv --algorithm naive --json -o out.csv").exits(3).json();
    has(&json, &json!({ "claim": "unknown", "peak": 20 }));
    scratch.run("verify t.15.csv out.csv").exits(1).prints(&["ends at 20, beyond the capacity of 15 bytes"]);
    scratch.ok("verify t.15.csv out.csv --no-capacity");
}

/// Eight buffers that conflict only because of separations, with load 20 and optimum 43. No cheap bound
/// proves the optimum.
const CONFLICTS: &str = "id,lower,upper,size,separations\n1,0,1,5,2\n2,1,2,10,1 3 4 5\n3,2,3,8,2 4 5 6\n\
    4,3,4,20,2 3 5 6 7\n5,4,5,2,2 3 4 6 7 8\n6,5,6,6,3 4 5 7\n7,6,7,15,4 5 6 8\n8,7,8,3,5 7\n";

#[test]
fn without_time_no_false_claim_is_made() {
    let scratch = Scratch::with("conflicts.csv", CONFLICTS);
    for name in algorithms("heuristic").into_iter().chain(algorithms("exact")) {
        for limit in ["--time-limit 0", "--time-limit 0.003", "--node-limit 0", "--node-limit 3"] {
            let run = scratch.run(format!("solve conflicts.csv --algorithm {name} --json {limit}"));
            assert!(run.code == 0 || run.code == 3, "{name} {limit}: {} {}", run.code, run.stderr);
            let json = run.json();
            let bound = json["lower_bound"].as_u64().unwrap();
            assert!(bound <= 43, "{name} {limit}: bound {bound}");
            if json["claim"] == "optimal" {
                assert_eq!((json["peak"].as_u64(), bound), (Some(43), 43), "{name} {limit}");
            }
        }
    }
}

#[test]
fn an_empty_instance_is_planned() {
    let scratch = Scratch::with("none.csv", "id,lower,upper,size\n");
    for name in algorithms("heuristic").into_iter().chain(algorithms("exact")) {
        let json = scratch.json(format!("solve none.csv --algorithm {name} -o o.csv --plot p.svg"));
        has(&json, &json!({ "peak": 0, "claim": "optimal" }));
        scratch.ok("verify none.csv o.csv");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let scratch = Scratch::with("conflicts.csv", CONFLICTS);
    for name in algorithms("heuristic") {
        let answer = |threads: u64| {
            let options = "--seed 5 --node-limit 50 -o o.csv";
            scratch.ok(format!("solve conflicts.csv --algorithm {name} --threads {threads} {options}"));
            scratch.read("o.csv")
        };
        let first = answer(1);
        assert_eq!([answer(1), answer(2)], [first.clone(), first], "{name}");
    }
}

#[test]
fn contradicting_offsets_have_no_bound_in_bytes() {
    let scratch = Scratch::with("x.csv", "id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\nc,0,3,4,\n");
    let files = "x.csv --capacity 10 --certificate c.json --proof x.proof";
    let run = scratch.run(format!("solve {files}")).exits(1);
    run.prints(&["proof        no layout exists: 0 clauses"]);
    let json = scratch.run("solve x.csv --capacity 10 --json").exits(1).json();
    has(&json, &json!({ "lower_bound": null, "shortfall_min": null, "peak": null }));
    let run = scratch.ok(format!("verify {files}"));
    run.prints(&[
        "confirmed: claim 'infeasible', no layout exists",
        "proof        accepted: no layout exists",
    ]);
    let bench = scratch.ok("bench x.csv --algorithms exact,naive --verbose");
    bench.prints(&["x: 3 buffers, load 12, no answer exists, because fixed offsets contradict each other\n"]);
    let audit = scratch.run("audit x.csv --planner-peak 100").exits(1);
    audit.reports(&["verdict The planner uses 100 bytes. No layout exists: buffers"]);
    // A measured time may contain any digits, so whole words are compared.
    for run in [bench, audit] {
        assert!(run.stdout.split_whitespace().all(|word| word != "22"), "{}", run.stdout);
    }
}
