//! Claims that rest on floating-point arithmetic alone are marked as such in the output of every command
//! and in every record.

use crate::common::{Scratch, TINY, contains, has};
use serde_json::{Value, json};

/// Generates an instance whose optimum, 263168 bytes, exceeds the load and all bounds except those from a
/// search.
const ABOVE: &str = "generate above-load --buffers 20 --seed 6 --out c.csv";
const OPTIMUM: &str = "263168";

const REMARK: &str = "completed search by ilp: HiGHS, floating point)";

/// Returns whether this build includes HiGHS.
fn has_ilp() -> bool {
    match plimsoll::excluded("ilp") {
        Some(reason) => {
            eprintln!("skipped: {reason}");
            false
        }
        None => true,
    }
}

#[test]
fn integer_searches_are_exact() {
    let scratch = Scratch::new();
    scratch.ok(ABOVE);
    has(&scratch.json("solve c.csv"), &json!({ "claim": "optimal", "arithmetic": "exact" }));
    let run = scratch.ok("bench c.csv --problems offsets --algorithms exact,search --verbose --out rec");
    assert!(!run.stdout.contains("floating"), "{}", run.stdout);
    assert_eq!(scratch.read("rec/rows.csv").matches(",exact,").count(), 2 + 2, "kinds and arithmetic");
}

#[test]
fn claims_proved_by_highs_alone_are_marked() {
    if !has_ilp() {
        return;
    }
    let scratch = Scratch::new();
    scratch.ok(ABOVE);
    scratch.write("tiny.csv", TINY);
    let solve = "solve c.csv --algorithm ilp";
    has(&scratch.json(solve), &json!({ "claim": "optimal", "arithmetic": "floating-point" }));
    scratch.ok(solve).prints(&[REMARK]);
    // If the solution meets an exact bound, the claim does not depend on HiGHS.
    let json = scratch.json("solve tiny.csv --algorithm ilp");
    has(&json, &json!({ "claim": "optimal", "arithmetic": "exact" }));
    let marked = format!("{OPTIMUM} (floating point)");
    // If exact arithmetic proves the best bound too, the bound counts as exact.
    for (solvers, out, alone) in [("ilp", "alone", true), ("ilp,exact", "both", false)] {
        let line = format!("bench c.csv --problems offsets --algorithms {solvers} --out {out} --force");
        let screen = scratch.ok(&line).stdout;
        let note = "1 best bound rests on floating-point arithmetic alone";
        assert_eq!(screen.contains(note), alone, "{screen}");
        let details = scratch.ok(format!("{line} --verbose")).stdout;
        contains(&details, &["optimal (floating point)"]);
        assert_eq!(details.contains(&marked), alone, "{details}");
    }
    contains(&scratch.read("alone/rows.csv"), &[",floating-point,"]);
    let run = scratch.ok("bench c.csv --processes --algorithms ilp --verbose --out whole");
    run.prints(&["optimal (floating point)"]);
    scratch.write("s.toml", "[[instances]]\npath = 'c.csv'\n[[algorithms]]\nnames = ['ilp', 'exact']\n");
    scratch.ok("sweep s.toml --out sweep");
    assert_eq!(scratch.read("sweep/rows.csv").matches(",floating-point,").count(), 1);
    scratch.ok("report alone --out page");
    let note = "claims of ilp that rest on floating-point arithmetic alone (HiGHS)";
    contains(&scratch.read("page/summary.md"), &[note, &format!("| {marked} |")]);
    scratch.ok("recheck alone");
}

#[test]
fn every_problem_reports_the_arithmetic_of_its_bounds() {
    if !has_ilp() {
        return;
    }
    let scratch = Scratch::after("generate lenet5 --out net.json");
    scratch.write("tiny.csv", TINY);
    let is_set = |found: &Value, key: &str| {
        assert!(matches!(found[key].as_str(), Some("exact" | "floating-point")), "{key} of {found}");
    };
    for line in [
        "order net.json --algorithm ilp",
        "overlap net.json --machine luna",
        "spill tiny.csv --capacity 6 --algorithm ilp",
    ] {
        is_set(&scratch.json(line), "arithmetic");
    }
    let joint = &scratch.json("plan net.json --joint=ilp")["regions"][0];
    is_set(joint, "arithmetic");
    is_set(joint, "joint_arithmetic");
    for line in ["spill tiny.csv --capacity 6 --compare", "order net.json --compare"] {
        let json = scratch.json(line);
        json["rows"].as_array().unwrap().iter().for_each(|row| is_set(row, "arithmetic"));
    }
}

#[test]
fn proofs_settle_claims_by_highs() {
    if !has_ilp() {
        return;
    }
    let scratch = Scratch::new();
    scratch.ok(ABOVE);
    let line = "bench c.csv --problems offsets --algorithms ilp --verbose --out rec --proofs";
    let text = scratch.ok(line).stdout;
    assert!(text.contains("optimal") && !text.contains("floating"), "{text}");
    contains(&scratch.read("rec/rows.csv"), &[",floating-point,", ",optimal,proof,"]);
}
