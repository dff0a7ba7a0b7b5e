//! Tests files that contain an instance and a plan, pinned buffers, capacities in file names, and other ways
//! of writing instances.

use crate::common::Scratch;
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
    let scratch = Scratch::new();
    scratch.write("net.csv", table(&[]));
    scratch.write("plan.csv", table(&PLAN));
    scratch.write("offsets.csv", format!("offset\n{}\n", PLAN.join("\n")));
    scratch
}

/// Runs a command with `--json` and returns its report.
fn report(scratch: &Scratch, words: &[&str], code: i32) -> Value {
    scratch.plimsoll(&[words, &["--json"]].concat()).exits(code).json()
}

#[test]
fn a_plan_with_its_instance_has_the_same_gap_as_separate_files() {
    let scratch = scratch();
    for files in
        [&["plan.csv"][..], &["plan.csv", "plan.csv"], &["plan.csv", "offsets.csv"], &["net.csv", "plan.csv"]]
    {
        let audited = report(&scratch, &[&["audit"], files, &["--max-gap", "2%"]].concat(), 1);
        let (bound, gap) = (&audited["lower_bound"], &audited["gap_bytes"]);
        assert_eq!((bound, gap, &audited["pinned"]), (&json!(14), &json!(6), &json!(0)), "{files:?}");
        let compared = report(&scratch, &[&["compare"], files].concat(), 0);
        assert_eq!(compared["layouts"][0]["gap_bytes"], 6, "{files:?}");
        let verified = report(&scratch, &[&["verify"], files].concat(), 0);
        assert_eq!((&verified["valid"], &verified["gap_bytes"]), (&json!(true), &json!(6)), "{files:?}");
    }
    let text = scratch.plimsoll(&["audit", "plan.csv"]).exits(0).stdout;
    assert!(text.contains("offsets      read as a plan") && text.contains("(plan.csv)"), "{text}");
    let fixed = report(&scratch, &["audit", "plan.csv", "--offsets", "fixed"], 0);
    assert_eq!((&fixed["gap_bytes"], &fixed["pinned"]), (&json!(0), &json!(4)));
    for command in ["audit", "compare", "verify"] {
        scratch.plimsoll(&[command, "net.csv"]).refuses(&["net.csv"]);
    }
    // A plan that violates alignments is invalid, and its file can be read.
    scratch.write("skew.csv", "id,lower,upper,size,alignment,offset\na,0,3,6,4,2\nb,2,5,8,4,8\n");
    let text = scratch.plimsoll(&["audit", "skew.csv"]).exits(1).stdout;
    assert!(text.contains("violation") && text.contains("multiple of"), "{text}");
}

#[test]
fn a_file_that_may_be_a_plan_is_solved_only_with_an_option() {
    let scratch = scratch();
    let readings = ["plan.csv", "`audit`", "--offsets free", "--offsets fixed"];
    scratch.plimsoll(&["solve", "plan.csv"]).refuses(&readings);
    scratch.plimsoll(&["spill", "plan.csv", "--capacity", "10"]).refuses(&readings);
    scratch.plimsoll(&["convert", "plan.csv", "-o", "plan.json"]).refuses(&readings);
    let free = report(&scratch, &["solve", "plan.csv", "--offsets", "free"], 0);
    assert_eq!((&free["peak"], &free["pinned"]), (&json!(14), &json!(0)));
    let fixed = report(&scratch, &["solve", "plan.csv", "--offsets", "fixed"], 0);
    assert_eq!((&fixed["peak"], &fixed["pinned"]), (&json!(20), &json!(4)));
    scratch.write("some.csv", table(&["", "12", "", ""]));
    let text = scratch.plimsoll(&["solve", "some.csv"]).exits(0).stdout;
    assert!(text.contains("pinned       1 of 4 buffers at fixed offsets"), "{text}");
    let text = scratch.plimsoll(&["spill", "some.csv", "--capacity", "20"]).exits(0).stdout;
    assert!(text.contains("pinned       1 of 4 buffers at fixed offsets"), "{text}");
    for command in ["audit", "compare", "verify"] {
        let text = scratch.plimsoll(&[command, "some.csv", "offsets.csv"]).exits(0).stdout;
        assert!(text.contains("pinned       1 of 4 buffers at fixed offsets"), "{text}");
    }
    let free = report(&scratch, &["audit", "some.csv", "offsets.csv", "--offsets", "free"], 0);
    assert_eq!((&free["lower_bound"], &free["pinned"]), (&json!(14), &json!(0)));
}

#[test]
fn folders_of_plans_are_audited_and_run_without_counting_layouts() {
    let scratch = scratch();
    for name in ["plans", "pins"] {
        std::fs::create_dir(scratch.path(name)).unwrap();
    }
    let folder = |name: &str, text: &str| scratch.write(&format!("plans/{name}"), text);
    folder("one.csv", &table(&PLAN));
    folder("two.csv", &table(&["8", "0", "12", "0"]));
    let audited = report(&scratch, &["audit", "plans"], 0);
    let gaps: Vec<_> = audited["cases"].as_array().unwrap().iter().map(|case| &case["gap_bytes"]).collect();
    assert_eq!(gaps, [6, 0]);
    let run = |suite: &str| {
        scratch
            .plimsoll(&["bench", suite, "--algorithms", "exact", "--problems", "offsets", "--verbose"])
            .exits(0)
    };
    let plans = run("plans");
    assert!(plans.stdout.contains("2 instances") && plans.stdout.contains(" 2/2"), "{}", plans.stdout);
    assert!(plans.stderr.contains("read as a plan"), "{}", plans.stderr);
    assert!(plans.stdout.contains("load 14, best bound 14 bytes"), "{}", plans.stdout);
    // Layouts beside their instance are no instances.
    scratch.plimsoll(&["audit", "plan.csv", "--capacity", "30", "--export", "out"]).exits(0);
    scratch.plimsoll(&["solve", "net.csv", "-o", "out/other-name.csv"]).exits(0);
    for suite in ["out", "out/*.csv"] {
        let exported = run(suite);
        assert!(exported.stdout.contains("1 instance,"), "{}", exported.stdout);
        assert!(exported.stderr.contains("other-name.csv: skipped"), "{}", exported.stderr);
        assert!(exported.stderr.contains("plan.layout.csv: skipped"), "{}", exported.stderr);
    }
    let audited = report(&scratch, &["audit", "out"], 0);
    let gaps: Vec<_> = audited["cases"].as_array().unwrap().iter().map(|case| &case["gap_bytes"]).collect();
    assert_eq!(gaps, [0, 6]);
    scratch.write("pins/some.csv", table(&["", "12", "", ""]));
    assert!(run("pins").stdout.contains("buffers pinned at fixed offsets: some (1 of 4)"));
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
        let text = scratch.plimsoll(&["solve", name]).exits(0).stdout;
        assert!(text.contains(shown), "{name}: {text}");
        assert_eq!(report(&scratch, &["solve", name], 0)["capacity_from"], from);
    }
    let given = report(&scratch, &["solve", "net.77.csv", "--capacity", "99"], 0);
    assert_eq!(given["capacity_from"], "--capacity");
    let note = scratch.plimsoll(&["solve", "net_0.75.csv"]).exits(0).stderr;
    assert!(note.contains("'75' in the file name is part of the name"), "{note}");
    // Capacities that are written into names are read back.
    scratch.plimsoll(&["audit", "plan.csv", "--capacity", "21", "--export", "out"]).exits(0);
    scratch.write("net7.csv", table(&PLAN));
    scratch.plimsoll(&["audit", "net7.csv", "--capacity", "21", "--export", "out"]).exits(0);
    assert_eq!(report(&scratch, &["solve", "out/net7.0021.csv"], 0)["capacity"], 21);
    assert_eq!(report(&scratch, &["solve", "out/plan.21.csv"], 0)["capacity"], 21);
}

#[test]
fn open_ends_and_numbers_of_other_tools_are_read() {
    let scratch = scratch();
    scratch.write("open.csv", "id,start,finish,size\nx,0,2,0x10\ny,1,-1,8.0\nz,4,6,4\nw,5,,1\n");
    let run = scratch.plimsoll(&["solve", "open.csv", "-o", "placed.csv", "--proof", "p.proof"]).exits(0);
    assert!(
        run.stdout.contains("load 24\n") && run.stdout.contains("peak         24 bytes"),
        "{}",
        run.stdout
    );
    assert!(
        run.stderr.contains("2 ends are open") && run.stderr.contains("'finish' is read"),
        "{}",
        run.stderr
    );
    scratch.plimsoll(&["verify", "open.csv", "placed.csv", "--proof", "p.proof"]).exits(0);
    scratch.write("hex.csv", "id,finish,offset\nw,-1,0x18\nx,2,0.0\ny,,16\nz,6,0X0\n");
    scratch.plimsoll(&["verify", "open.csv", "hex.csv"]).exits(0);
    scratch.write("strip.csv", "id,x,width,y,height\nx,0,2,0,4\n");
    scratch.plimsoll(&["solve", "strip.csv"]).refuses(&["rename 'x' to 'lower'"]);
}
