//! Tests `audit` on layouts, peaks, models and captured plans.

use crate::common::{Scratch, TWELVE, has};
use serde_json::json;

fn scratch() -> Scratch {
    let scratch = Scratch::with("t.csv", TWELVE);
    scratch.write("mine.csv", "offset\n0\n4\n10\n0\n8\n");
    scratch
}

/// Copies a captured plan.
fn copied(scratch: &Scratch, name: &str) {
    let captures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/tests/data/captures");
    scratch.write(name, std::fs::read(std::path::Path::new(captures).join(name)).unwrap());
}

#[test]
fn the_threshold_sets_the_exit_code() {
    let scratch = scratch();
    for (most, code) in [("5%", 1), ("9.09", 1), ("10 %", 0), ("0", 1)] {
        let run = scratch.run(format!("audit t.csv mine.csv --max-gap '{most}' --json")).exits(code);
        has(&run.json(), &json!({ "within": code == 0, "gap_bytes": 1, "verdict": "above the optimum" }));
    }
    scratch.refuses("audit t.csv mine.csv --max-gap=-1", &["--max-gap"]);
    scratch.refuses("audit t.csv mine.csv --max-gap=x", &["percentage", "5%"]);
}

#[test]
fn folders_of_instances_and_layouts_are_paired_by_name() {
    let scratch = scratch();
    scratch.write("in/best.12.csv", TWELVE);
    scratch.write("in/worse.12.csv", TWELVE);
    scratch.ok("solve in/best.12.csv --output of/best.csv");
    scratch.write("of/worse.layout.csv", scratch.read("mine.csv"));
    scratch.write("in/unplanned.csv", TWELVE);
    let run = scratch.run("audit in of --max-gap 5%").exits(1);
    run.prints(&[
        "2, of which 1 at the floor",
        "skipped      1 file without a plan",
        "above the optimum  exceeded",
    ]);
    let cases = scratch.run("audit in of --max-gap 5% --json").exits(1).json();
    has(&cases, &json!({ "within": false, "files_without_plan": 1 }));
    for (at, within) in [true, false].into_iter().enumerate() {
        has(&cases["cases"][at], &json!({ "within": within, "max_gap_percent": 5.0 }));
    }
    scratch.ok("audit in of --max-gap 10%").prints(&["limit        10 % above the lower bound: met"]);

    scratch.refuses("audit in of/best.csv", &["in is a folder", "folder of layouts"]);
    scratch.refuses("audit in --planner-peak 9", &["in is a folder", "--planner-peak"]);
    scratch.write("of/other.csv", "offset\n0\n");
    scratch.refuses("audit in of", &["of/other.csv", "in contains no instance 'other'"]);
}

#[test]
fn a_peak_suffices() {
    let scratch = scratch();
    for (peak, code, gap, verdict) in
        [(11, 0, 0, "optimal"), (12, 0, 1, "above the optimum"), (10, 1, -1, "below the floor")]
    {
        let json = scratch.run(format!("audit t.csv --planner-peak {peak} --json")).exits(code).json();
        has(&json, &json!({ "verdict": verdict, "gap_bytes": gap }));
    }
    scratch.refuses("audit t.csv", &["t.csv", "LAYOUT", "--planner-peak"]);
    scratch.refuses("audit t.csv --planner-peak 11 --plot p.svg", &["--plot", "layout"]);
}

#[test]
fn invalid_layouts_fail() {
    let scratch = scratch();
    scratch.write("bad.csv", "offset\n0\n0\n10\n0\n8\n");
    scratch.run("audit t.csv bad.csv").exits(1).prints(&["violation", "The layout is invalid."]);
    scratch.write("pools.csv", "id,pool,pool_size\ninput,0,4\nconv,1,6\npool,2,2\ndense,3,8\noutput,4,3\n");
    scratch.refuses("audit t.csv pools.csv", &["pools.csv", "`compare`"]);
}

#[test]
fn a_graph_has_a_floor_over_all_orders() {
    let scratch = scratch();
    scratch.ok("generate lenet5 --out net.json");
    let json = scratch.json("audit net.json --planner-peak 1MiB");
    let floor = json["lower_bound"].as_u64().unwrap();
    for key in ["lower_bound", "peak"] {
        assert!(json["orders"][key].as_u64().unwrap() <= floor, "{json}");
    }
}

#[test]
fn captured_plans_become_instances_and_layouts() {
    let scratch = Scratch::new();
    copied(&scratch, "slices.mlir");
    copied(&scratch, "lanes.capture.json");
    scratch.ok("audit . --export out");
    scratch.ok("compare out/slices.csv out/slices.layout.csv").prints(&["13.42  above the optimum"]);
    scratch.ok("verify out/lanes-compute.csv out/lanes-compute.layout.csv");
}

#[test]
fn folders_give_one_row_per_plan() {
    let scratch = Scratch::new();
    for name in ["slices.mlir", "loss-buffer-assignment.txt", "loss-live-range.txt", "lanes.capture.json"] {
        copied(&scratch, name);
    }
    scratch.ok("audit .").prints(&[
        "plans        3, of which 1 at the floor; the optimum of 3 is proved",
        "instance       buffers  planner   bound  gap %  verdict",
        "slices              12   116288  102528  13.42  above the optimum",
    ]);
    let json = scratch.json("audit .");
    has(&json, &json!({ "worst": "lanes:compute" }));
    assert_eq!(json["cases"].as_array().map(Vec::len), Some(3));
    let ranges = ["only live ranges", "audit loss-buffer-assignment.txt"];
    scratch.refuses("audit loss-live-range.txt", &ranges);
    std::fs::remove_file(scratch.path("loss-live-range.txt")).unwrap();
    scratch.refuses("audit .", &["loss-live-range.txt", "cannot read"]);
    Scratch::new().refuses("audit .", &["no file contains a plan"]);
}

/// Audits the plans of allocators: a snapshot of `PyTorch`, and a trace and a placement of `idealloc`.
#[test]
fn recorded_allocations_are_audited() {
    let scratch = Scratch::new();
    for (name, expected) in [
        ("snapshot.pickle", &[[4_194_304, 1_910_784], [2_097_152, 32_768]][..]),
        ("trace.trc", &[[1800, 712], [1_052_672, 1_052_656]]),
        ("trace.plc", &[[3072, 2048]]),
    ] {
        copied(&scratch, name);
        let json = scratch.json(format!("audit {name}"));
        let cases = json["cases"].as_array().cloned().unwrap_or_else(|| vec![json.clone()]);
        assert_eq!(cases.len(), expected.len(), "{name}");
        for (case, [peak, bound]) in cases.iter().zip(expected) {
            has(case, &json!({ "planner_peak": peak, "lower_bound": bound }));
        }
        scratch.run(format!("audit {name} --max-gap 5%")).exits(1);
    }
    let unused =
        "unused       2064384 bytes (1.97 MiB) above the highest buffer are reserved, but never used";
    scratch.ok("audit snapshot.pickle").prints(&[unused]);
    assert_eq!(scratch.json("audit snapshot.pickle")["cases"][1]["unused"], 2_064_384);
    // Other pickles in a folder are skipped.
    scratch.write("weights.pickle", b"\x80\x04cos\nsystem\n.");
    let why = ["weights.pickle", "not a memory snapshot of PyTorch"];
    scratch.refuses("audit weights.pickle", &why);
    has(&scratch.json("audit ."), &json!({ "plans": 5, "files_without_plan": 1 }));
}

/// A placement of `idealloc` without addresses contains only an instance.
#[test]
fn a_peak_completes_a_file_without_a_plan() {
    let scratch = Scratch::new();
    let record = |words: [u64; 8]| words.into_iter().flat_map(u64::to_be_bytes);
    let records = record([0, 0, 2, 64, 0, 0, 0, 64]).chain(record([1, 1, 3, 32, 0, 0, 0, 32]));
    scratch.write("a.plc", records.collect::<Vec<u8>>());
    scratch.refuses("audit a.plc", &["a.plc", "no plan", "--planner-peak"]);
    scratch.refuses("audit .", &["no file contains a plan"]);
    let json = scratch.json("audit a.plc --planner-peak 100");
    has(&json, &json!({ "lower_bound": 96, "verdict": "above the optimum" }));
}

#[test]
fn damaged_dumps_name_line_and_value() {
    let scratch = Scratch::with("a-live-range.txt", "  BufferLiveRange:\n    a{}:0-1\n");
    for (name, text, parts) in [
        (
            "a-buffer-assignment.txt",
            "BufferAssignment:\nallocation 0: size 4, preallocated-temp:\n value: <1 a @0> (size=x,offset=0)\n",
            ["a-buffer-assignment.txt", "line 3", "size=x"],
        ),
        ("b.json", r#"{"format":"plimsoll-capture","version":1,"framework":3}"#, ["b.json", "line 1", "3"]),
        (
            "c.json",
            r#"{"format":"x","version":1,"framework":"f","model":"plimsoll-capture","memories":[]}"#,
            ["c.json", "format 'x'", "plimsoll-capture"],
        ),
    ] {
        scratch.write(name, text);
        scratch.refuses(format!("audit {name}"), &parts);
    }
}
