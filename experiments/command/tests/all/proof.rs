//! Tests `solve --proof`, `verify --proof` and the rejection of altered proofs.

use crate::common::{ABOVE_LOAD, Scratch, TINY, contains, has};
use serde_json::json;

fn solved(text: &str) -> Scratch {
    let scratch = Scratch::with("t.csv", text);
    scratch.ok("solve t.csv -o l.csv --certificate c.json --proof t.proof").reports(&["no layout below"]);
    scratch
}

#[test]
fn a_proof_confirms_an_optimum_above_the_load() {
    let scratch = solved(ABOVE_LOAD);
    let accepted = "proof accepted: no layout below 17 bytes";
    let run = scratch.ok("verify t.csv l.csv --proof t.proof");
    run.reports(&["(checked proof)", "0.00 %: optimal", accepted]);
    // The certificate alone rests on a search.
    scratch.run("verify t.csv l.csv --certificate c.json").exits(5);
    let json = scratch.json("verify t.csv l.csv --certificate c.json --proof t.proof");
    assert_eq!([&json["certificate"], &json["proof"]["bound"]], [&json!("confirmed"), &json!(17)]);
    // An infeasible capacity is proved too.
    scratch.run("solve t.csv --capacity 16 --proof s.proof").exits(1);
    scratch.ok("verify t.csv --capacity 16 --proof s.proof").reports(&["no layout below 17 bytes"]);
    // Simple bounds are proved without a search.
    let scratch = solved(TINY);
    contains(&scratch.read("t.proof"), &["\nx 0"]);
    scratch.ok("verify t.csv --proof t.proof");
}

#[test]
fn search_proof_and_check_share_the_time_limit() {
    let scratch = Scratch::after("generate recombined --param alive=16 --seed 2 -o t.csv");
    // The search does not finish, but sweeps raise the bound in a fraction of a second.
    scratch.run("solve t.csv --time-limit 2 --proof t.proof").reports(&["no layout below"]);
    scratch.ok("verify t.csv --proof t.proof");
    // A check that does not end is neither an acceptance nor a rejection.
    let line = "verify t.csv --proof t.proof --time-limit 0 --no-best";
    scratch.run(line).exits(3).reports(&["proof not checked: line 1: the check was stopped"]);
    let json = scratch.run(format!("{line} --json")).exits(3).json();
    has(&json["proof"], &json!({ "rejected": false, "bound": null }));
    std::fs::remove_file(scratch.path("t.proof")).unwrap();
    scratch.run("solve t.csv --time-limit 0 --proof t.proof").warns(&["so --proof writes nothing"]);
    assert!(!scratch.path("t.proof").exists());
}

#[test]
fn wrong_proofs_are_rejected_with_line_and_reason() {
    let scratch = solved(ABOVE_LOAD);
    let proof = scratch.read("t.proof");
    let line = "verify t.csv l.csv --proof t.proof";
    for (text, reason) in [
        (&*proof.replace("bound 17", "bound 18"), "line "),
        (&proof.replace("buffer b0", "buffer c0"), "line 3: the instance has no buffer 'c0'"),
        ("plimsoll-proof 1\nbound 17\n", "line 3: the proof ends before the claim has been proved"),
        (&(proof.clone() + "x 0\n"), "line "),
    ] {
        scratch.write("t.proof", text);
        scratch.run(line).exits(1).reports(&[&format!("rejected: {reason}")]);
    }
    for text in [&proof.replace("plimsoll-proof 1", "plimsoll-proof 2"), "", "id,offset\na,0\n", "\u{e9}"] {
        scratch.write("t.proof", text);
        scratch.refuses(line, &["t.proof: not a proof of this kind: line 1: expected 'plimsoll-proof 1'"]);
    }
    scratch.write("t.proof", [0xff, 0xfe]);
    scratch.refuses(line, &["t.proof: not a proof of this kind: line 1: cannot read"]);
    scratch.write("t.proof", &proof);
    let other = ABOVE_LOAD.replace("b0,2,7,4", "b0,2,7,1").replace("b2,7,8,1,1,12", "b2,7,8,1,1,");
    scratch.write("other.csv", other);
    scratch.run("verify other.csv --proof t.proof").exits(1);
}

#[test]
fn proofs_support_offsets_only() {
    let scratch = Scratch::with("t.csv", TINY);
    let run = scratch.run("solve t.csv --problem shared-objects --proof t.proof").exits(2);
    run.warns(&["--proof supports only the problem offsets"]);
    scratch.run("verify t.csv --proof none.proof").exits(2);
    scratch.run("solve t.csv --proof t.json").exits(2);
}

/// Returns the cells of one column of a record, in the order of the rows.
fn column(scratch: &Scratch, record: &str, name: &str) -> Vec<String> {
    scratch.cells(&format!("{record}/rows.csv")).iter().map(|row| row[name].clone()).collect()
}

#[test]
fn benchmarks_prove_bounds_and_record_what_proofs_cost() {
    let scratch = Scratch::with("above.csv", ABOVE_LOAD);
    scratch.write("tiny.csv", TINY);
    let line = "bench above.csv tiny.csv --problems offsets --algorithms exact --out r";
    scratch.ok(format!("{line} --proofs --verbose")).prints(&["offsets, certificates", "2/2"]);
    let cells = |name: &str| column(&scratch, "r", name);
    assert_eq!(cells("certified"), ["optimal", "optimal"]);
    assert_eq!(cells("certified_by"), ["proof", "witness"]);
    let [bytes, none] = cells("proof_bytes").try_into().unwrap();
    assert!(bytes.parse::<u64>().is_ok_and(|bytes| bytes > 100) && none.is_empty());
    for name in ["proof_seconds", "check_seconds"] {
        assert!(cells(name)[0].parse::<f64>().is_ok(), "{name}");
    }
    scratch.ok("report r --out report");
    contains(&scratch.read("report/summary.md"), &["| 2 of 2 |", "| exact | 2 | 2 | 1 |"]);
    contains(&scratch.read("report/report.html"), &["<summary>Certificates</summary>"]);
    // `recheck` also repeats the proofs.
    scratch.ok("recheck r");
    let rows = scratch.read("r/rows.csv").replace(&format!(",proof,{bytes},"), ",proof,7,");
    scratch.write("r/rows.csv", rows);
    scratch.run("recheck r").exits(1).prints(&["proof_bytes"]);
    scratch.ok(format!("{line} --force"));
    assert!(!scratch.read("r/rows.csv").contains("certified"));
    scratch.run(format!("{line} --proofs --processes")).exits(2);
}

#[test]
fn a_proof_that_is_not_found_within_the_limits_is_reported() {
    let scratch = Scratch::after("generate above-load --buffers 40 --seed 1 --out a.csv");
    let line = "bench a.csv --problems offsets --algorithms search --proofs --out r";
    scratch.ok(line);
    assert_eq!(["claim", "certified"].map(|name| column(&scratch, "r", name)), [["optimal"]; 2]);
    scratch.ok(format!("{line} --node-limit 1 --force"));
    let [by, error] = ["certified_by", "error"].map(|name| column(&scratch, "r", name).remove(0));
    assert!(!by.is_empty() || error.starts_with("not certified: "), "{error}");
}

#[test]
fn sweeps_prove_bounds_in_every_shard() {
    let scratch = Scratch::with("above.csv", ABOVE_LOAD);
    scratch.write("tiny.csv", TINY);
    let text = "limits.nodes = 100_000\n[[instances]]\npath = '*.csv'\n[[algorithms]]\nnames = ['exact', 'first-fit-size']\n";
    scratch.write("s.toml", format!("proofs = true\n{text}"));
    for part in ["1", "2"] {
        scratch.ok(format!("sweep s.toml --out {part} --shard {part}/2"));
    }
    scratch.ok("merge 1 2 --out whole");
    let count =
        |name: &str, word: &str| column(&scratch, "whole", name).iter().filter(|cell| *cell == word).count();
    assert_eq!([count("certified_by", "proof"), count("certified", "optimal")], [1, 3]);
    scratch.ok("recheck whole");
    scratch.write("s.toml", text);
    scratch.refuses("sweep s.toml --out whole", &["proofs is true instead of false"]);
}
