//! Tests `solve --proof`, `verify --proof` and the rejection of altered proofs.

use crate::common::{ABOVE_LOAD, Scratch, TINY};

/// Returns standard output with every run of blanks and line breaks reduced to one blank.
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
fn search_proof_and_check_share_the_time_limit() {
    let scratch = Scratch::new();
    let words = ["generate", "recombined", "--param", "alive=16", "--seed", "2", "-o", "t.csv"];
    scratch.plimsoll(&words).exits(0);
    // The search does not finish, but sweeps raise the bound in a fraction of a second.
    let run = scratch.plimsoll(&["solve", "t.csv", "--time-limit", "2", "--proof", "t.proof"]);
    assert!(flat(&run).contains("no layout below"), "{}{}", run.stdout, run.stderr);
    scratch.plimsoll(&["verify", "t.csv", "--proof", "t.proof"]).exits(0);
    // A check that does not end is neither an acceptance nor a rejection.
    let words = ["verify", "t.csv", "--proof", "t.proof", "--time-limit", "0", "--no-best"];
    let run = scratch.plimsoll(&words).exits(3);
    assert!(flat(&run).contains("proof not checked: line 1: the check was stopped"), "{}", run.stdout);
    let json = scratch.plimsoll(&[&words[..], &["--json"]].concat()).exits(3).json();
    assert_eq!(
        (&json["proof"]["rejected"], &json["proof"]["bound"]),
        (&false.into(), &serde_json::Value::Null)
    );
    std::fs::remove_file(scratch.path("t.proof")).unwrap();
    let run = scratch.plimsoll(&["solve", "t.csv", "--time-limit", "0", "--proof", "t.proof"]);
    assert!(run.stderr.contains("so --proof writes nothing"), "{}", run.stderr);
    assert!(!scratch.path("t.proof").exists());
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
    rejected("plimsoll-proof 1\nbound 17\n", "line 3: the proof ends before the claim has been proved");
    rejected(&(proof.clone() + "x 0\n"), "line ");
    for text in [&proof.replace("plimsoll-proof 1", "plimsoll-proof 2"), "", "id,offset\na,0\n", "\u{e9}"] {
        scratch.write("t.proof", text);
        let run = scratch.plimsoll(&["verify", "t.csv", "l.csv", "--proof", "t.proof"]);
        run.refuses(&["t.proof: not a proof of this kind: line 1: expected 'plimsoll-proof 1'"]);
    }
    scratch.write("t.proof", [0xff, 0xfe]);
    scratch
        .plimsoll(&["verify", "t.csv", "l.csv", "--proof", "t.proof"])
        .refuses(&["t.proof: not a proof of this kind: line 1: cannot read"]);
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

/// Returns the cells of one column, in the order of the rows.
fn column(rows: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let at = reader.headers().unwrap().iter().position(|own| own == name).unwrap_or_else(|| panic!("{name}"));
    reader.records().map(|row| row.unwrap()[at].to_owned()).collect()
}

#[test]
fn benchmarks_prove_bounds_and_record_what_proofs_cost() {
    let scratch = Scratch::new();
    scratch.write("above.csv", ABOVE_LOAD);
    scratch.write("tiny.csv", TINY);
    let words =
        ["bench", "above.csv", "tiny.csv", "--problems", "offsets", "--algorithms", "exact", "--out", "r"];
    let run = scratch.plimsoll(&[&words[..], &["--proofs", "--verbose"]].concat()).exits(0);
    assert!(run.stdout.contains("offsets, certificates") && run.stdout.contains("2/2"), "{}", run.stdout);
    let rows = scratch.read("r/rows.csv");
    assert_eq!(column(&rows, "certified"), ["optimal", "optimal"]);
    assert_eq!(column(&rows, "certified_by"), ["proof", "witness"]);
    let [bytes, none] = column(&rows, "proof_bytes").try_into().unwrap();
    assert!(bytes.parse::<u64>().is_ok_and(|bytes| bytes > 100) && none.is_empty());
    for name in ["proof_seconds", "check_seconds"] {
        assert!(column(&rows, name)[0].parse::<f64>().is_ok(), "{rows}");
    }
    scratch.plimsoll(&["report", "r", "--out", "report"]).exits(0);
    let summary = scratch.read("report/summary.md");
    assert!(summary.contains("| 2 of 2 |") && summary.contains("| exact | 2 | 2 | 1 |"), "{summary}");
    assert!(scratch.read("report/report.html").contains("<summary>Certificates</summary>"));
    // `recheck` also repeats the proofs.
    scratch.plimsoll(&["recheck", "r"]).exits(0);
    scratch.write("r/rows.csv", rows.replace(&format!(",proof,{bytes},"), ",proof,7,"));
    let differs = scratch.plimsoll(&["recheck", "r"]).exits(1).stdout;
    assert!(differs.contains("proof_bytes"), "{differs}");
    scratch.plimsoll(&[&words[..], &["--force"]].concat()).exits(0);
    assert!(!scratch.read("r/rows.csv").contains("certified"));
    scratch.plimsoll(&[&words[..], &["--proofs", "--processes"]].concat()).exits(2);
}

#[test]
fn a_proof_that_is_not_found_within_the_limits_is_reported() {
    let scratch = Scratch::new();
    scratch
        .plimsoll(&["generate", "above-load", "--buffers", "40", "--seed", "1", "--out", "a.csv"])
        .exits(0);
    let words =
        ["bench", "a.csv", "--problems", "offsets", "--algorithms", "search", "--proofs", "--out", "r"];
    scratch.plimsoll(&words).exits(0);
    let rows = scratch.read("r/rows.csv");
    assert_eq!(
        (column(&rows, "claim"), column(&rows, "certified")),
        (vec!["optimal".to_owned()], vec!["optimal".to_owned()])
    );
    let nodes = column(&rows, "nodes").remove(0);
    let limited = [&words[..], &["--node-limit", "1", "--force"]].concat();
    scratch.plimsoll(&limited).exits(0);
    let rows = scratch.read("r/rows.csv");
    let is_proved = column(&rows, "certified_by") != [""];
    assert!(is_proved || column(&rows, "error")[0].starts_with("not certified: "), "{nodes} nodes: {rows}");
}

#[test]
fn sweeps_prove_bounds_in_every_shard() {
    let scratch = Scratch::new();
    scratch.write("above.csv", ABOVE_LOAD);
    scratch.write("tiny.csv", TINY);
    let text = "proofs = true\n[limits]\nnodes = 100_000\n[[instances]]\npath = \"*.csv\"\n\
                [[algorithms]]\nnames = [\"exact\", \"first-fit-size\"]\n";
    scratch.write("s.toml", text);
    for part in ["1", "2"] {
        scratch.plimsoll(&["sweep", "s.toml", "--out", part, "--shard", &format!("{part}/2")]).exits(0);
    }
    scratch.plimsoll(&["merge", "1", "2", "--out", "whole"]).exits(0);
    let rows = scratch.read("whole/rows.csv");
    assert_eq!(column(&rows, "certified_by").concat().matches("proof").count(), 1, "{rows}");
    assert_eq!(column(&rows, "certified").iter().filter(|own| *own == "optimal").count(), 3, "{rows}");
    scratch.plimsoll(&["recheck", "whole"]).exits(0);
    scratch.write("s.toml", text.replace("proofs = true\n", ""));
    scratch.plimsoll(&["sweep", "s.toml", "--out", "whole"]).refuses(&["proofs is true instead of false"]);
}
