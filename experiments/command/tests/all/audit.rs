//! Tests `audit` on layouts, peaks, models and captured plans.

use crate::common::Scratch;
use serde_json::json;
use std::path::{Path, PathBuf};

const TWELVE: &str = "id,lower,upper,size\ninput,0,2,4\nconv,1,4,6\npool,3,6,2\ndense,5,8,8\noutput,7,9,3\n";

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("t.csv", TWELVE);
    scratch.write("mine.csv", "offset\n0\n4\n10\n0\n8\n");
    scratch
}

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/tests/data/captures")
}

/// Copies a captured plan.
fn copied(scratch: &Scratch, name: &str) {
    scratch.write(name, std::fs::read(captures().join(name)).unwrap());
}

#[test]
fn layouts_are_compared_with_the_floor() {
    let scratch = scratch();
    let run = scratch.plimsoll(&["audit", "t.csv", "mine.csv", "--plot", "p.svg"]).exits(0);
    for line in [
        "planner      12 bytes (mine.csv)",
        "lower bound  11 bytes (load at step 7)",
        "above bound  1 buffer ends above 11 bytes: pool (2 bytes)",
        "verdict      The planner uses 12 bytes. It loses 1 byte, 9.09 %: exact found a layout of 11 bytes, ",
    ] {
        assert!(run.stdout.contains(line), "{line}\n{}", run.stdout);
    }
    let picture = scratch.read("p.svg");
    assert!(picture.contains(">planner<") && picture.contains(">exact<"));
}

#[test]
fn the_threshold_sets_the_exit_code() {
    let scratch = scratch();
    for (most, code) in [("5%", 1), ("9.09", 1), ("10 %", 0), ("0", 1)] {
        let run = scratch.plimsoll(&["audit", "t.csv", "mine.csv", "--max-gap", most, "--json"]).exits(code);
        let json = run.json();
        assert_eq!((&json["within"], &json["gap_bytes"]), (&json!(code == 0), &json!(1)), "{most}");
        assert_eq!(json["verdict"], "above the optimum");
    }
    scratch.plimsoll(&["audit", "t.csv", "mine.csv", "--max-gap=-1"]).refuses(&["--max-gap"]);
    scratch.plimsoll(&["audit", "t.csv", "mine.csv", "--max-gap=x"]).refuses(&["percentage", "5%"]);
}

#[test]
fn a_peak_suffices() {
    let scratch = scratch();
    let peak = |bytes: &str, code| {
        scratch.plimsoll(&["audit", "t.csv", "--planner-peak", bytes, "--json"]).exits(code).json()
    };
    assert_eq!(peak("11", 0)["verdict"], "optimal");
    assert_eq!(peak("12", 0)["verdict"], "above the optimum");
    let below = peak("10", 1);
    assert_eq!((&below["verdict"], &below["gap_bytes"]), (&json!("below the floor"), &json!(-1)));
    scratch.plimsoll(&["audit", "t.csv"]).refuses(&["t.csv", "LAYOUT", "--planner-peak"]);
    let plot = ["audit", "t.csv", "--planner-peak", "11", "--plot", "p.svg"];
    scratch.plimsoll(&plot).refuses(&["--plot", "layout"]);
}

#[test]
fn invalid_layouts_fail() {
    let scratch = scratch();
    scratch.write("bad.csv", "offset\n0\n0\n10\n0\n8\n");
    let run = scratch.plimsoll(&["audit", "t.csv", "bad.csv"]).exits(1);
    assert!(
        run.stdout.contains("violation") && run.stdout.contains("The layout is invalid."),
        "{}",
        run.stdout
    );
    scratch.write("pools.csv", "id,pool,pool_size\ninput,0,4\nconv,1,6\npool,2,2\ndense,3,8\noutput,4,3\n");
    scratch.plimsoll(&["audit", "t.csv", "pools.csv"]).refuses(&["pools.csv", "`compare`"]);
}

#[test]
fn a_graph_has_a_floor_over_all_orders() {
    let scratch = scratch();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    let json = scratch.plimsoll(&["audit", "net.json", "--planner-peak", "1MiB", "--json"]).exits(0).json();
    let (floor, orders) = (json["lower_bound"].as_u64().unwrap(), &json["orders"]);
    assert!(orders["lower_bound"].as_u64().unwrap() <= floor, "{json}");
    assert!(orders["peak"].as_u64().unwrap() <= floor, "{json}");
}

#[test]
fn captured_plans_contain_their_planner() {
    let scratch = Scratch::new();
    copied(&scratch, "slices.mlir");
    let json = scratch.plimsoll(&["audit", "slices.mlir", "--json"]).exits(0).json();
    let found = ["planner", "planner_peak", "lower_bound", "verdict"].map(|key| json[key].clone());
    assert_eq!(found, [json!("IREE"), json!(116_288), json!(102_528), json!("above the optimum")]);
    assert_eq!(json["above_bound"], json!(["slice3"]));
    scratch.plimsoll(&["audit", "slices.mlir", "--max-gap", "10%"]).exits(1);
    let peak = ["audit", "slices.mlir", "--planner-peak", "1"];
    scratch.plimsoll(&peak).refuses(&["slices.mlir", "already contains captured plans"]);
}

#[test]
fn captured_plans_become_instances_and_layouts() {
    let scratch = Scratch::new();
    copied(&scratch, "slices.mlir");
    copied(&scratch, "lanes.capture.json");
    scratch.plimsoll(&["audit", ".", "--export", "out"]).exits(0);
    let run = scratch.plimsoll(&["compare", "out/slices.csv", "out/slices.layout.csv"]).exits(0);
    assert!(run.stdout.contains("13.42  above the optimum"), "{}", run.stdout);
    scratch.plimsoll(&["verify", "out/lanes-compute.csv", "out/lanes-compute.layout.csv"]).exits(0);
}

#[test]
fn folders_give_one_row_per_plan() {
    let scratch = Scratch::new();
    for name in ["slices.mlir", "loss-buffer-assignment.txt", "loss-live-range.txt", "lanes.capture.json"] {
        copied(&scratch, name);
    }
    let run = scratch.plimsoll(&["audit", "."]).exits(0);
    let row = "slices              12   116288  102528  13.42  above the optimum";
    let head = "instance       buffers  planner   bound  gap %  verdict";
    for line in ["plans        3, of which 1 at the floor; the optimum of 3 is proved", head, row] {
        assert!(run.stdout.contains(line), "{line}\n{}", run.stdout);
    }
    let json = scratch.plimsoll(&["audit", ".", "--json"]).exits(0).json();
    assert_eq!((&json["worst"], json["cases"].as_array().map(Vec::len)), (&json!("lanes:compute"), Some(3)));
    let ranges = ["audit", "loss-live-range.txt"];
    scratch.plimsoll(&ranges).refuses(&["only live ranges", "audit loss-buffer-assignment.txt"]);
    std::fs::remove_file(scratch.path("loss-live-range.txt")).unwrap();
    scratch.plimsoll(&["audit", "."]).refuses(&["loss-live-range.txt", "cannot read"]);
    let empty = Scratch::new();
    empty.plimsoll(&["audit", "."]).refuses(&["no file contains a plan"]);
}

/// Audits the plans of allocators: a snapshot of `PyTorch`, and a trace and a placement of `idealloc`.
#[test]
fn recorded_allocations_are_audited() {
    let scratch = Scratch::new();
    for name in ["snapshot.pickle", "trace.trc", "trace.plc"] {
        copied(&scratch, name);
    }
    let facts = |case: &serde_json::Value| {
        ["planner_peak", "lower_bound"].map(|key| case[key].as_u64().unwrap_or_default())
    };
    for (name, expected) in [
        ("snapshot.pickle", vec![[4_194_304, 1_910_784], [2_097_152, 32_768]]),
        ("trace.trc", vec![[1800, 712], [1_052_672, 1_052_656]]),
        ("trace.plc", vec![[3072, 2048]]),
    ] {
        let json = scratch.plimsoll(&["audit", name, "--json"]).exits(0).json();
        let cases = json["cases"].as_array().cloned().unwrap_or_else(|| vec![json.clone()]);
        assert_eq!(cases.iter().map(facts).collect::<Vec<_>>(), expected, "{name}");
        scratch.plimsoll(&["audit", name, "--max-gap", "5%"]).exits(1);
    }
    let run = scratch.plimsoll(&["audit", "snapshot.pickle"]).exits(0);
    let unused =
        "unused       2064384 bytes (1.97 MiB) above the highest buffer are reserved, but never used";
    assert!(run.stdout.contains(unused), "{}", run.stdout);
    let json = scratch.plimsoll(&["audit", "snapshot.pickle", "--json"]).exits(0).json();
    assert_eq!(json["cases"][1]["unused"], 2_064_384);
    // Other pickles in a folder are skipped.
    scratch.write("weights.pickle", b"\x80\x04cos\nsystem\n.");
    scratch
        .plimsoll(&["audit", "weights.pickle"])
        .refuses(&["weights.pickle", "not a memory snapshot of PyTorch"]);
    let json = scratch.plimsoll(&["audit", ".", "--json"]).exits(0).json();
    assert_eq!((&json["plans"], &json["files_without_plan"]), (&json!(5), &json!(1)));
}

/// A placement of `idealloc` without addresses contains only an instance.
#[test]
fn a_peak_completes_a_file_without_a_plan() {
    let scratch = Scratch::new();
    let record = |words: [u64; 8]| words.into_iter().flat_map(u64::to_be_bytes);
    let records = record([0, 0, 2, 64, 0, 0, 0, 64]).chain(record([1, 1, 3, 32, 0, 0, 0, 32]));
    scratch.write("a.plc", records.collect::<Vec<u8>>());
    scratch.plimsoll(&["audit", "a.plc"]).refuses(&["a.plc", "no plan", "--planner-peak"]);
    scratch.plimsoll(&["audit", "."]).refuses(&["no file contains a plan"]);
    let json = scratch.plimsoll(&["audit", "a.plc", "--planner-peak", "100", "--json"]).exits(0).json();
    assert_eq!((&json["lower_bound"], &json["verdict"]), (&json!(96), &json!("above the optimum")));
}

#[test]
fn damaged_dumps_name_line_and_value() {
    let scratch = Scratch::new();
    scratch.write(
        "a-buffer-assignment.txt",
        "BufferAssignment:\nallocation 0: size 4, preallocated-temp:\n value: <1 a @0> (size=x,offset=0)\n",
    );
    scratch.write("a-live-range.txt", "  BufferLiveRange:\n    a{}:0-1\n");
    let damaged = ["a-buffer-assignment.txt", "line 3", "size=x"];
    scratch.plimsoll(&["audit", "a-buffer-assignment.txt"]).refuses(&damaged);
    scratch.write("b.json", "{\"format\":\"plimsoll-capture\",\"version\":1,\"framework\":3}");
    scratch.plimsoll(&["audit", "b.json"]).refuses(&["b.json", "line 1", "3"]);
    let text = r#"{"format":"x","version":1,"framework":"f","model":"plimsoll-capture","memories":[]}"#;
    scratch.write("c.json", text);
    scratch.plimsoll(&["audit", "c.json"]).refuses(&["c.json", "format 'x'", "plimsoll-capture"]);
}
