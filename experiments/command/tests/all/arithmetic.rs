//! Claims that rest on floating-point arithmetic alone are marked as such in the output of every command
//! and in every record.

use crate::common::{Scratch, TINY};

/// Arguments that generate an instance whose optimum, 263168 bytes, exceeds the load and all bounds except
/// those from a search.
const ABOVE: [&str; 7] = ["generate", "above-load", "--buffers", "20", "--seed", "6", "--out"];
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
    scratch.plimsoll(&[&ABOVE[..], &["c.csv"]].concat()).exits(0);
    let json = scratch.plimsoll(&["solve", "c.csv", "--json"]).exits(0).json();
    assert_eq!((&json["claim"], &json["arithmetic"]), (&"optimal".into(), &"exact".into()));
    let words = [
        "bench",
        "c.csv",
        "--problems",
        "offsets",
        "--algorithms",
        "exact,search",
        "--verbose",
        "--out",
        "rec",
    ];
    let text = scratch.plimsoll(&words).exits(0).stdout;
    assert!(!text.contains("floating"), "{text}");
    assert_eq!(scratch.read("rec/rows.csv").matches(",exact,").count(), 2 + 2, "kinds and arithmetic");
}

#[test]
fn claims_proved_by_highs_alone_are_marked() {
    if !has_ilp() {
        return;
    }
    let scratch = Scratch::new();
    scratch.plimsoll(&[&ABOVE[..], &["c.csv"]].concat()).exits(0);
    scratch.write("tiny.csv", TINY);
    let solve = ["solve", "c.csv", "--algorithm", "ilp"];
    let json = scratch.plimsoll(&[&solve[..], &["--json"]].concat()).exits(0).json();
    assert_eq!((&json["claim"], &json["arithmetic"]), (&"optimal".into(), &"floating-point".into()));
    assert!(scratch.plimsoll(&solve).exits(0).stdout.contains(REMARK));
    // If the solution meets an exact bound, the claim does not depend on HiGHS.
    let json = scratch.plimsoll(&["solve", "tiny.csv", "--algorithm", "ilp", "--json"]).exits(0).json();
    assert_eq!((&json["claim"], &json["arithmetic"]), (&"optimal".into(), &"exact".into()));
    let marked = format!("{OPTIMUM} (floating point)");
    let bench = |solvers: &str, out: &str| {
        let words = ["bench", "c.csv", "--problems", "offsets", "--algorithms", solvers, "--out", out];
        let screen = scratch.plimsoll(&[&words[..], &["--force"]].concat()).exits(0).stdout;
        let alone = screen.contains("1 best bound rests on floating-point arithmetic alone");
        assert_eq!(alone, solvers == "ilp", "{screen}");
        scratch.plimsoll(&[&words[..], &["--force", "--verbose"]].concat()).exits(0).stdout
    };
    let alone = bench("ilp", "alone");
    assert!(alone.contains(&marked) && alone.contains("optimal (floating point)"), "{alone}");
    assert!(scratch.read("alone/rows.csv").contains(",floating-point,"));
    // If exact arithmetic proves the best bound too, the bound counts as exact.
    let both = bench("ilp,exact", "both");
    assert!(!both.contains(&marked) && both.contains("optimal (floating point)"), "{both}");
    let whole = ["bench", "c.csv", "--processes", "--algorithms", "ilp", "--verbose", "--out", "whole"];
    assert!(scratch.plimsoll(&whole).exits(0).stdout.contains("optimal (floating point)"));
    let text = "[[instances]]\npath = \"c.csv\"\n[[algorithms]]\nnames = [\"ilp\", \"exact\"]\n";
    scratch.write("s.toml", text);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "sweep"]).exits(0);
    assert_eq!(scratch.read("sweep/rows.csv").matches(",floating-point,").count(), 1);
    scratch.plimsoll(&["report", "alone", "--out", "page"]).exits(0);
    let summary = scratch.read("page/summary.md");
    let note = "claims of ilp that rest on floating-point arithmetic alone (HiGHS)";
    assert!(summary.contains(note) && summary.contains(&format!("| {marked} |")), "{summary}");
    scratch.plimsoll(&["recheck", "alone"]).exits(0);
}

#[test]
fn every_problem_reports_the_arithmetic_of_its_bounds() {
    if !has_ilp() {
        return;
    }
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    scratch.write("tiny.csv", TINY);
    let json = |words: &[&str]| scratch.plimsoll(&[words, &["--json"]].concat()).exits(0).json();
    let is_set = |found: &serde_json::Value| matches!(found.as_str(), Some("exact" | "floating-point"));
    assert!(is_set(&json(&["order", "net.json", "--algorithm", "ilp"])["arithmetic"]));
    let joint = json(&["plan", "net.json", "--joint=ilp"]);
    assert!(is_set(&joint["regions"][0]["arithmetic"]) && is_set(&joint["regions"][0]["joint_arithmetic"]));
    assert!(is_set(&json(&["overlap", "net.json", "--machine", "luna"])["arithmetic"]));
    let spill = json(&["spill", "tiny.csv", "--capacity", "6", "--algorithm", "ilp"]);
    assert!(is_set(&spill["arithmetic"]), "{spill}");
    let rows = json(&["spill", "tiny.csv", "--capacity", "6", "--compare"]);
    assert!(rows["rows"].as_array().unwrap().iter().all(|row| is_set(&row["arithmetic"])), "{rows}");
    let rows = json(&["order", "net.json", "--compare"]);
    assert!(rows["rows"].as_array().unwrap().iter().all(|row| is_set(&row["arithmetic"])), "{rows}");
}

#[test]
fn proofs_settle_claims_by_highs() {
    if !has_ilp() {
        return;
    }
    let scratch = Scratch::new();
    scratch.plimsoll(&[&ABOVE[..], &["c.csv"]].concat()).exits(0);
    let words =
        ["bench", "c.csv", "--problems", "offsets", "--algorithms", "ilp", "--verbose", "--out", "rec"];
    let text = scratch.plimsoll(&[&words[..], &["--proofs"]].concat()).exits(0).stdout;
    assert!(text.contains("optimal") && !text.contains("floating"), "{text}");
    let rows = scratch.read("rec/rows.csv");
    assert!(rows.contains(",floating-point,") && rows.contains(",optimal,proof,"), "{rows}");
}
