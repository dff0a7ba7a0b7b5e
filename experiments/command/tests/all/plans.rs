//! Tests files that contain an instance and a plan, pinned buffers, capacities in file names, and other ways
//! of writing instances.

use crate::common::{Scratch, has};
use serde_json::{Value, json};

/// An instance of load 14.
const ROWS: [&str; 4] = ["a,0,3,6", "b,2,5,8", "c,4,9,2", "d,5,9,5"];
/// The offsets of a valid plan with peak 20.
const PLAN: [&str; 4] = ["0", "12", "8", "0"];

/// Returns the instance, with a column `offset` if there are offsets.
fn table(offsets: &[&str]) -> String {
    let head = if offsets.is_empty() { "id,lower,upper,size" } else { "id,lower,upper,size,offset" };
    let row = |(at, row): (usize, &&str)| {
        offsets.get(at).map_or_else(|| (*row).to_owned(), |offset| format!("{row},{offset}"))
    };
    let rows: Vec<String> = ROWS.iter().enumerate().map(row).collect();
    format!("{head}\n{}\n", rows.join("\n"))
}

fn scratch() -> Scratch {
    let scratch = Scratch::with("net.csv", table(&[]));
    scratch.write("plan.csv", table(&PLAN));
    scratch.write("offsets.csv", format!("offset\n{}\n", PLAN.join("\n")));
    scratch
}

/// The gaps of the plans in a folder.
fn gaps(scratch: &Scratch, folder: &str) -> Vec<Value> {
    let audited = scratch.json(format!("audit {folder}"));
    audited["cases"].as_array().unwrap().iter().map(|case| case["gap_bytes"].clone()).collect()
}

#[test]
fn a_plan_with_its_instance_has_the_same_gap_as_separate_files() {
    let scratch = scratch();
    for files in ["plan.csv", "plan.csv plan.csv", "plan.csv offsets.csv", "net.csv plan.csv"] {
        let audited = scratch.run(format!("audit {files} --max-gap 2% --json")).exits(1).json();
        has(&audited, &json!({ "lower_bound": 14, "gap_bytes": 6, "pinned": 0 }));
        has(&scratch.json(format!("compare {files}"))["layouts"][0], &json!({ "gap_bytes": 6 }));
        has(&scratch.json(format!("verify {files}")), &json!({ "valid": true, "gap_bytes": 6 }));
    }
    scratch.ok("audit plan.csv").prints(&["offsets      read as a plan", "(plan.csv)"]);
    let fixed = scratch.json("audit plan.csv --offsets fixed");
    has(&fixed, &json!({ "gap_bytes": 0, "pinned": 4 }));
    for command in ["audit", "compare", "verify"] {
        scratch.refuses(format!("{command} net.csv"), &["net.csv"]);
    }
    // A plan that violates alignments is invalid, and its file can be read.
    scratch.write("skew.csv", "id,lower,upper,size,alignment,offset\na,0,3,6,4,2\nb,2,5,8,4,8\n");
    scratch.run("audit skew.csv").exits(1).prints(&["violation", "multiple of"]);
}

#[test]
fn a_file_that_may_be_a_plan_is_solved_only_with_an_option() {
    let scratch = scratch();
    for line in ["solve plan.csv", "spill plan.csv --capacity 10", "convert plan.csv -o plan.json"] {
        scratch.refuses(line, &["plan.csv", "`audit`", "--offsets free", "--offsets fixed"]);
    }
    has(&scratch.json("solve plan.csv --offsets free"), &json!({ "peak": 14, "pinned": 0 }));
    has(&scratch.json("solve plan.csv --offsets fixed"), &json!({ "peak": 20, "pinned": 4 }));
    scratch.write("some.csv", table(&["", "12", "", ""]));
    for line in [
        "solve some.csv",
        "spill some.csv --capacity 20",
        "audit some.csv offsets.csv",
        "compare some.csv offsets.csv",
        "verify some.csv offsets.csv",
    ] {
        scratch.ok(line).prints(&["pinned       1 of 4 buffers at fixed offsets"]);
    }
    let free = scratch.json("audit some.csv offsets.csv --offsets free");
    has(&free, &json!({ "lower_bound": 14, "pinned": 0 }));
}

#[test]
fn folders_of_plans_are_audited_and_run_without_counting_layouts() {
    let scratch = scratch();
    for name in ["plans", "pins"] {
        std::fs::create_dir(scratch.path(name)).unwrap();
    }
    scratch.write("plans/one.csv", table(&PLAN));
    scratch.write("plans/two.csv", table(&["8", "0", "12", "0"]));
    scratch.write("pins/some.csv", table(&["", "12", "", ""]));
    assert_eq!(gaps(&scratch, "plans"), [6, 0]);
    let run =
        |suite: &str| scratch.ok(format!("bench {suite} --algorithms exact --problems offsets --verbose"));
    let plans = run("plans");
    plans.prints(&["2 instances", " 2/2", "load 14, best bound 14 bytes"]).warns(&["read as a plan"]);
    // Layouts beside their instance are no instances.
    scratch.ok("audit plan.csv --capacity 30 --export out");
    scratch.ok("solve net.csv -o out/other-name.csv");
    for suite in ["out", "out/*.csv"] {
        let exported = run(suite);
        exported.prints(&["1 instance,"]);
        exported.warns(&["other-name.csv: skipped", "plan.layout.csv: skipped"]);
    }
    assert_eq!(gaps(&scratch, "out"), [0, 6]);
    run("pins").prints(&["buffers pinned at fixed offsets: some (1 of 4)"]);
}

#[test]
fn reports_state_the_origin_of_capacities() {
    let scratch = scratch();
    for (name, shown, from) in [
        ("net.2024.csv", "capacity 2024 (file name)", json!("file name")),
        ("net.77.csv", "capacity 77 (file name)", json!("file name")),
        ("mobilenet_v1_1.0.csv", "load 14\n", Value::Null),
        ("net_0.75.csv", "load 14\n", Value::Null),
    ] {
        scratch.write(name, table(&[]));
        scratch.ok(format!("solve {name}")).prints(&[shown]);
        assert_eq!(scratch.json(format!("solve {name}"))["capacity_from"], from);
    }
    assert_eq!(scratch.json("solve net.77.csv --capacity 99")["capacity_from"], "--capacity");
    scratch.ok("solve net_0.75.csv").warns(&["'75' in the file name is part of the name"]);
    // Capacities that are written into names are read back.
    scratch.write("net7.csv", table(&PLAN));
    for (plan, instance) in [("plan.csv", "plan.21.csv"), ("net7.csv", "net7.0021.csv")] {
        scratch.ok(format!("audit {plan} --capacity 21 --export out"));
        assert_eq!(scratch.json(format!("solve out/{instance}"))["capacity"], 21);
    }
}

#[test]
fn open_ends_and_numbers_of_other_tools_are_read() {
    let scratch = scratch();
    scratch.write("open.csv", "id,start,finish,size\nx,0,2,0x10\ny,1,-1,8.0\nz,4,6,4\nw,5,,1\n");
    let run = scratch.ok("solve open.csv -o placed.csv --proof p.proof");
    run.prints(&["load 24\n", "peak         24 bytes"]);
    run.warns(&["2 ends are open", "'finish' is read"]);
    scratch.ok("verify open.csv placed.csv --proof p.proof");
    scratch.write("hex.csv", "id,finish,offset\nw,-1,0x18\nx,2,0.0\ny,,16\nz,6,0X0\n");
    scratch.ok("verify open.csv hex.csv");
    scratch.write("strip.csv", "id,x,width,y,height\nx,0,2,0,4\n");
    scratch.refuses("solve strip.csv", &["rename 'x' to 'lower'"]);
}
