//! Tests `solve --proof`, `verify --proof` and the rejection of altered proofs.

use crate::common::{ABOVE_LOAD, Scratch, TINY};

/// Returns standard output without line breaks.
fn flat(run: &crate::common::Run) -> String {
    run.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn solved(text: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("t.csv", text);
    let words = ["solve", "t.csv", "-o", "l.csv", "--certificate", "c.json", "--proof", "t.proof"];
    assert!(flat(&scratch.plimsoll(&words).exits(0)).contains("no layout below"));
    scratch
}

#[test]
fn a_proof_confirms_an_optimum_above_the_load() {
    let scratch = solved(ABOVE_LOAD);
    let run = scratch.plimsoll(&["verify", "t.csv", "l.csv", "--proof", "t.proof"]).exits(0);
    for part in ["(checked proof)", "0.00 %: optimal", "proof accepted: no layout below 17 bytes"] {
        assert!(flat(&run).contains(part), "{}", run.stdout);
    }
    // The certificate alone rests on a search.
    scratch.plimsoll(&["verify", "t.csv", "l.csv", "--certificate", "c.json"]).exits(5);
    let both = ["verify", "t.csv", "l.csv", "--certificate", "c.json", "--proof", "t.proof", "--json"];
    let json = scratch.plimsoll(&both).exits(0).json();
    assert_eq!((&json["certificate"], &json["proof"]["bound"]), (&"confirmed".into(), &17.into()));
}

#[test]
fn simple_bounds_are_proved_without_a_search() {
    let scratch = solved(TINY);
    assert!(scratch.read("t.proof").contains("\nx 0"));
    scratch.plimsoll(&["verify", "t.csv", "--proof", "t.proof"]).exits(0);
}

#[test]
fn an_infeasible_capacity_is_proved() {
    let scratch = Scratch::new();
    scratch.write("t.csv", ABOVE_LOAD);
    let words = ["solve", "t.csv", "--capacity", "16", "--proof", "t.proof"];
    scratch.plimsoll(&words).exits(1);
    let words = ["verify", "t.csv", "--capacity", "16", "--proof", "t.proof"];
    assert!(flat(&scratch.plimsoll(&words).exits(0)).contains("no layout below 17 bytes"));
}

#[test]
fn wrong_proofs_are_rejected_with_line_and_reason() {
    let scratch = solved(ABOVE_LOAD);
    let proof = scratch.read("t.proof");
    let rejected = |text: &str, reason: &str| {
        scratch.write("t.proof", text);
        let run = scratch.plimsoll(&["verify", "t.csv", "l.csv", "--proof", "t.proof"]).exits(1);
        assert!(flat(&run).contains(&format!("rejected: {reason}")), "{}", run.stdout);
    };
    rejected(&proof.replace("bound 17", "bound 18"), "line ");
    rejected(&proof.replace("buffer b0", "buffer c0"), "line 3: the instance has no buffer 'c0'");
    rejected(&proof.replace("plimsoll-proof 1", "plimsoll-proof 2"), "line 1: expected 'plimsoll-proof 1'");
    rejected("plimsoll-proof 1\nbound 17\n", "line 3: the proof ends before the claim has been proved");
    rejected(&(proof.clone() + "x 0\n"), "line ");
    rejected("", "line 1: expected 'plimsoll-proof 1'");
    scratch.write("t.proof", &proof);
    scratch.write(
        "other.csv",
        ABOVE_LOAD.replace("b0,2,7,4", "b0,2,7,1").replace("b2,7,8,1,1,12", "b2,7,8,1,1,"),
    );
    scratch.plimsoll(&["verify", "other.csv", "--proof", "t.proof"]).exits(1);
}

#[test]
fn proofs_support_offsets_only() {
    let scratch = Scratch::new();
    scratch.write("t.csv", TINY);
    let words = ["solve", "t.csv", "--problem", "shared-objects", "--proof", "t.proof"];
    let run = scratch.plimsoll(&words).exits(2);
    assert!(run.stderr.contains("--proof supports only the problem offsets"), "{}", run.stderr);
    scratch.plimsoll(&["verify", "t.csv", "--proof", "none.proof"]).exits(2);
    scratch.plimsoll(&["solve", "t.csv", "--proof", "t.json"]).exits(2);
}
