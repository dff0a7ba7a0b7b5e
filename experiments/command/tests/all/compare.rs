//! Tests `compare`, and how `verify` compares a layout with the best bound.

use crate::common::{Scratch, TWELVE, has};
use serde_json::json;

fn scratch() -> Scratch {
    let scratch = Scratch::with("t.12.csv", TWELVE);
    scratch.write("offsets.csv", "offset\n0\n4\n10\n0\n8\n");
    scratch
        .write("mixed.csv", "comment,offset,buffer\nx,8,output\nx,0,dense\nx,10,pool\nx,4,conv\nx,0,input\n");
    scratch.write("over.csv", "id,offset\ninput,10\nconv,14\npool,30\ndense,20\noutput,28\n");
    scratch
}

#[test]
fn the_json_has_every_reason() {
    let scratch = scratch();
    let json = scratch.json("compare t.12.csv offsets.csv");
    let best = json!({ "algorithm": "exact", "peak": 11, "claim": "optimal", "stop": "completed" });
    assert_eq!(json["best"], best);
    let one = &json["layouts"][0];
    has(one, &json!({ "gap_bytes": 1, "verdict": "above the optimum", "above_bound": ["pool"] }));
    has(one, &json!({ "load_step": 7, "at_load": ["dense", "output"] }));
    let section = json!({ "lower": 3, "upper": 4, "extent": 12, "live": 8, "free": 4 });
    assert_eq!(one["sections_above_bound"][0], section);
}

#[test]
fn verify_searches_only_when_asked() {
    let scratch = scratch();
    let hint = "\nhint         --best or --time-limit SECONDS searches for the optimum, as `compare` does\n";
    let line = "verify t.12.csv offsets.csv";
    scratch.ok(line).prints(&["gap          1 byte, 9.09 %: open\n", hint]);
    for limits in ["--best", "--node-limit 1000"] {
        let run = scratch.ok(format!("{line} {limits}"));
        run.prints(&["gap          1 byte, 9.09 %: above the optimum\n"]);
        assert!(!run.stdout.contains("hint "), "{}", run.stdout);
    }
    let json = scratch.json("compare t.12.csv offsets.csv --no-best");
    assert!(json["best"].is_null() && json["layouts"][0]["verdict"] == "open", "{json}");
}

#[test]
fn columns_come_in_any_order_and_unknown_ones_are_noted() {
    let scratch = scratch();
    let run = scratch.ok("verify t.12.csv mixed.csv");
    run.prints(&["peak         12 bytes"]).warns(&["'comment'"]);
    for (text, message) in [
        ("offset\n0\n4\n", "found 2 rows without a column 'id', but the instance has 5 buffers"),
        (
            "name,offset\nconv,4\ninput,0\npool,10\ndense,0\noutput,8\n",
            "column 'name' contains the ids of the buffers in another order; name it 'id'",
        ),
        ("size,offset\n5,0\n6,4\n", "line 2: column 'size': value '5' of buffer 'input' differs"),
    ] {
        scratch.write("bad.csv", text);
        scratch.run("compare t.12.csv bad.csv").exits(2).warns(&["bad.csv: ", message]);
    }
}

#[test]
fn violations_of_the_capacity_share_a_line() {
    let scratch = scratch();
    let run = scratch.run("verify t.12.csv over.csv").exits(1);
    assert_eq!(run.stdout.matches("violation ").count(), 1, "{}", run.stdout);
    let line = "5 buffers end above the capacity; the worst: buffer 'pool' ends at 32, beyond the capacity of 12 bytes";
    run.reports(&[line]);
    let json = scratch.run("verify t.12.csv over.csv --json").exits(1).json();
    assert_eq!(json["violations"].as_array().map(Vec::len), Some(5));
    scratch.run("compare t.12.csv over.csv offsets.csv").exits(1);
}

#[test]
fn answers_to_other_problems_are_compared_among_themselves() {
    let scratch = scratch();
    for solver in ["shared-greedy-by-size", "split-by-size"] {
        scratch.ok(format!("solve t.12.csv --no-capacity --algorithm {solver} -o other.csv"));
        scratch.run("compare t.12.csv other.csv --plot p.svg").prints(&["other.csv"]);
        let run = scratch.run("compare t.12.csv offsets.csv other.csv").exits(2);
        run.warns(&["other.csv: not an answer for offsets, unlike offsets.csv"]);
    }
}
