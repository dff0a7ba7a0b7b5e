//! Tests `verify`: correct and wrong certificates, and answers to every problem.

use crate::common::{ABOVE_LOAD, Scratch, TINY};
use serde_json::{Value, json};

const TWELVE: &str = "id,lower,upper,size\ninput,0,2,4\nconv,1,4,6\npool,3,6,2\ndense,5,8,8\noutput,7,9,3\n";

/// Writes an instance to `t.csv`, solves it and returns the certificate.
fn certified(scratch: &Scratch, text: &str) -> Value {
    scratch.write("t.csv", text);
    scratch.plimsoll(&["solve", "t.csv", "-o", "l.csv", "--certificate", "c.json"]).exits(0);
    serde_json::from_str(&scratch.read("c.json")).unwrap()
}

/// Verifies a certificate and returns the exit code, the result and the message.
fn verdict(scratch: &Scratch, certificate: &Value, more: &[&str]) -> (i32, String, String) {
    scratch.write("c.json", certificate.to_string());
    let words = [&["verify", "t.csv", "l.csv", "--certificate", "c.json", "--json"], more].concat();
    let run = scratch.plimsoll(&words);
    let json = run.json();
    let text = |field: &str| json[field].as_str().unwrap_or_default().to_owned();
    (run.code, text("certificate"), text("certificate_message"))
}

#[test]
fn every_field_of_a_certificate_is_checked_against_the_instance() {
    let scratch = Scratch::new();
    let good = certified(&scratch, TINY);
    assert_eq!(good["lower_bound"]["witness"], json!({ "kind": "load", "step": 0 }));
    assert_eq!(verdict(&scratch, &good, &[]).1, "confirmed");
    for (field, value) in [
        ("sha256", json!("00")),
        ("buffers", json!(4)),
        ("capacity", json!(8)),
        ("claim", json!("feasible")),
        ("claim", json!("infeasible")),
        ("claim", json!("unknown")),
        ("peak", json!(9)),
        ("peak", json!(7)),
        ("lower_bound", json!({ "value": 9, "witness": { "kind": "load", "step": 0 } })),
        ("lower_bound", json!({ "value": 7, "witness": { "kind": "load", "step": 0 } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "load", "step": 9 } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "trivial" } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "clique", "buffers": ["a", "z"] } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "clique", "buffers": ["a", "a"] } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "clique", "buffers": ["b", "c"] } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "clique", "buffers": [] } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "fixed", "buffer": "a" } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "contradiction", "buffers": ["a", "b"] } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "excess", "buffers": ["a", "b"] } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "around", "operator": "a" } })),
        ("lower_bound", json!({ "value": 8, "witness": { "kind": "start" } })),
        (
            "lower_bound",
            json!({ "value": 8, "witness": { "kind": "aligned-clique", "buffers": ["a", "b"], "alignment": 0 } }),
        ),
    ] {
        let mut bad = good.clone();
        bad[field] = value.clone();
        let (code, standing, message) = verdict(&scratch, &bad, &[]);
        assert_eq!((code, standing.as_str()), (1, "refused"), "{field}: {value}: {message}");
    }
    let clique = json!({ "value": 8, "witness": { "kind": "clique", "buffers": ["a", "b"] } });
    let mut other = good.clone();
    other["lower_bound"] = clique;
    assert_eq!(verdict(&scratch, &other, &[]).0, 0, "names of buffers are those of the file");
    let mut renamed = good.clone();
    renamed["instance"] = json!("else");
    scratch.write("c.json", renamed.to_string());
    let run = scratch.plimsoll(&["verify", "t.csv", "l.csv", "--certificate", "c.json"]).exits(0);
    assert!(
        run.stderr.contains("note: the certificate names the instance 'else', not 't'"),
        "{}",
        run.stderr
    );
}

#[test]
fn certificates_of_other_versions_and_other_files_are_bad_input() {
    let scratch = Scratch::new();
    let good = certified(&scratch, TINY);
    let refused = |certificate: &Value, parts: &[&str]| {
        scratch.write("c.json", certificate.to_string());
        scratch.plimsoll(&["verify", "t.csv", "l.csv", "--certificate", "c.json"]).refuses(parts);
    };
    let old = json!({ "version": 1, "instance": "t", "buffers": 3, "claim": "optimal", "peak": 8,
        "lower_bound": { "value": 8, "witness": { "kind": "load", "step": 0 } } });
    refused(&old, &["c.json", "version 1", "--certificate"]);
    for field in ["version", "instance", "sha256", "buffers", "claim", "lower_bound"] {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(field);
        refused(&bad, &["c.json", field]);
    }
    let mut more = good.clone();
    more["more"] = json!(1);
    refused(&more, &["c.json", "more"]);
}

#[test]
fn a_changed_instance_is_another_instance() {
    let scratch = Scratch::new();
    let good = certified(&scratch, "id,lower,upper,size\na,0,4,4\nb,0,2,4\nc,2,4,4\nd,6,8,1\n");
    // The file contains only ids and offsets, so it can be read with every variant of the instance.
    scratch.write("l.csv", "id,offset\na,0\nb,4\nc,4\nd,0\n");
    for text in [
        "id,lower,upper,size\na,0,4,4\nb,0,2,4\nc,2,4,4\nd,6,8,2\n",
        "id,lower,upper,size\na,0,4,4\nb,0,2,4\nc,2,4,4\nd,6,9,1\n",
        "id,lower,upper,size,alignment\na,0,4,4,2\nb,0,2,4,1\nc,2,4,4,1\nd,6,8,1,1\n",
        "id,lower,upper,size,separations\na,0,4,4,d\nb,0,2,4,\nc,2,4,4,\nd,6,8,1,\n",
    ] {
        scratch.write("t.csv", text);
        let (code, _, message) = verdict(&scratch, &good, &[]);
        assert_ne!(code, 0, "{text}");
        assert!(message.contains("another instance"), "{message}");
    }
    scratch.write("t.csv", "size,id,upper,lower,note\n4,a,4,0,x\n4,b,2,0,x\n4,c,4,2,x\n1,d,8,6,x\n");
    assert_eq!(verdict(&scratch, &good, &[]).0, 0, "the same problem in other columns");
}

#[test]
fn impossible_claims_about_searches_are_rejected() {
    let scratch = Scratch::new();
    let good = certified(&scratch, TWELVE);
    // The layout places the buffers end to end and has peak 23; the optimum is 11.
    scratch.write("l.csv", "id,offset\ninput,0\nconv,4\npool,10\ndense,12\noutput,20\n");
    let window = |lower: u64, upper: u64, solver: &str| json!({ "kind": "window", "lower": lower, "upper": upper, "solver": solver });
    let search = |solver: &str| json!({ "kind": "search", "solver": solver });
    for (witness, part) in [
        (window(9, 2, "exact"), "contains no step"),
        (window(3, 3, "exact"), "contains no step"),
        (window(20, 30, "exact"), "need at most 0"),
        (window(7, 9, "exact"), "need at most"),
        (window(0, 9, "exact"), "a layout of the searched buffers has peak 11"),
        (window(0, 9, "first-fit-size"), "which proves no bounds"),
        (search("exact"), "a layout of the searched buffers has peak 11"),
        (search("search"), "a layout of the searched buffers has peak 11"),
        (search("unknown"), "not a known solver"),
        (search("first-fit-size"), "which proves no bounds"),
        (search(""), "not a known solver"),
    ] {
        let mut bad = good.clone();
        (bad["peak"], bad["lower_bound"]) = (json!(23), json!({ "value": 23, "witness": witness }));
        for more in [&[][..], &["--trust-search"]] {
            let (code, standing, message) = verdict(&scratch, &bad, more);
            assert_eq!((code, standing.as_str()), (1, "refused"), "{witness}: {message}");
            assert!(message.contains(part), "{message}");
        }
    }
}

#[test]
fn a_bound_that_rests_on_a_search_has_its_own_exit_code() {
    let scratch = Scratch::new();
    let good = certified(&scratch, ABOVE_LOAD);
    let kind = good["lower_bound"]["witness"]["kind"].as_str().unwrap();
    assert!(["search", "window"].contains(&kind), "{good}");
    let (code, standing, message) = verdict(&scratch, &good, &[]);
    assert_eq!((code, standing.as_str()), (5, "rests-on-search"), "{message}");
    assert_eq!(verdict(&scratch, &good, &["--trust-search"]).0, 0);
    // A solver that does not support the instance cannot have proved the bound.
    let many: Vec<String> = (0..12).map(|at| format!("b{at},{at},{},{}\n", at + 3, 3 + at % 4)).collect();
    let many = many.concat();
    let mut other = certified(&scratch, &format!("id,lower,upper,size\n{many}"));
    let value = other["lower_bound"]["value"].clone();
    other["lower_bound"] =
        json!({ "value": value, "witness": { "kind": "search", "solver": "brute-force" } });
    let (code, _, message) = verdict(&scratch, &other, &[]);
    assert!(code == 1 && message.contains("does not support"), "{message}");
}

#[test]
fn answers_to_every_problem_are_verified() {
    let scratch = Scratch::new();
    scratch.write(
        "t.csv",
        "id,lower,upper,size\ninput,0,2,4\nz,0,9,0\nconv,1,4,6\npool,3,6,2\ndense,5,8,8\noutput,7,9,3\n",
    );
    let tampered = |from: &str, to: &str| {
        let text = scratch.read("o.csv");
        assert!(text.contains(from), "{text}");
        scratch.write("bad.csv", text.replacen(from, to, 1));
        let words = ["verify", "t.csv", "bad.csv", "--capacity", "12", "--json"];
        let json = scratch.plimsoll(&words).exits(1).json();
        assert_eq!(json["valid"], false);
        json["violations"][0].as_str().unwrap().to_owned()
    };
    for (problem, solver, from, to, violation) in [
        ("offsets", "first-fit-size", "output,7,9,3,8", "output,7,9,3,0", "conflict"),
        (
            "shared-objects",
            "shared-greedy-by-size",
            "output,7,9,3,1,4",
            "output,7,9,3,0,8",
            "both in shared object",
        ),
        (
            "split-buffers",
            "exact",
            "output,7,9,3,0-2 10-11",
            "output,7,9,3,0-2",
            "hold 2 bytes in total instead of 3",
        ),
    ] {
        let words = ["solve", "t.csv", "--problem", problem, "--algorithm", solver, "-o", "o.csv"];
        scratch.plimsoll(&words).exits(0);
        let json = scratch.plimsoll(&["verify", "t.csv", "o.csv", "--json"]).exits(0).json();
        assert_eq!((&json["valid"], &json["problem"]), (&true.into(), &problem.into()));
        let message = tampered(from, to);
        assert!(message.contains(violation), "{message}");
        let capacity = scratch.plimsoll(&["verify", "t.csv", "o.csv", "--capacity", "10"]).exits(1);
        assert!(capacity.words().contains("the capacity of 10"), "{}", capacity.stdout);
    }
    scratch.plimsoll(&["spill", "t.csv", "--capacity", "8", "-o", "o.csv"]).exits(0);
    let json = scratch.plimsoll(&["verify", "t.csv", "o.csv", "--capacity", "8", "--json"]).exits(0).json();
    assert_eq!((&json["problem"], &json["peak"]), (&"spilling".into(), &8.into()));
    assert!(json["traffic"].as_u64().unwrap() > 0);
    scratch.plimsoll(&["verify", "t.csv", "o.csv"]).refuses(&["o.csv", "--capacity"]);
    scratch.plimsoll(&["verify", "t.csv", "o.csv", "--capacity", "7"]).exits(1);
    let message = tampered("output,7,9,3,6,slow,", "output,7,9,3,6,chip,0");
    assert!(message.contains("conflict"), "{message}");
    let mut certificate = certified(&scratch, TINY);
    certificate["peak"] = json!(null);
    scratch.plimsoll(&["solve", "t.csv", "--problem", "shared-objects", "-o", "o.csv"]).exits(0);
    scratch
        .plimsoll(&["verify", "t.csv", "o.csv", "--certificate", "c.json"])
        .refuses(&["only layouts", "shared-objects"]);
}

#[test]
fn contradictory_fixed_offsets_are_infeasible_and_named() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,lower,upper,size,offset\nfree,0,9,8,\nleft,0,4,8,0\nright,2,6,8,4\n");
    let run = scratch.plimsoll(&["solve", "t.csv", "--certificate", "c.json"]).exits(1);
    assert!(run.stdout.contains("infeasible") && run.stdout.contains("'left' and 'right'"), "{}", run.stdout);
    let run = scratch.plimsoll(&["verify", "t.csv", "--certificate", "c.json"]).exits(0);
    assert!(run.stdout.contains("confirmed") && run.stdout.contains("'left' and 'right'"), "{}", run.stdout);
    let certificate = scratch.read("c.json");
    assert!(certificate.contains("\"left\"") && certificate.contains("\"right\""), "{certificate}");
    let json =
        scratch.plimsoll(&["solve", "t.csv", "--algorithm", "first-fit-size", "--json"]).exits(1).json();
    assert_eq!((&json["claim"], &json["peak"]), (&"infeasible".into(), &Value::Null));
    let run = scratch.plimsoll(&["spill", "t.csv", "--capacity", "16"]).exits(0);
    assert!(run.stdout.contains("no capacity is sufficient"), "{}", run.stdout);
    assert!(run.stdout.contains("'left' and 'right'"), "{}", run.stdout);
    let run = scratch.plimsoll(&["bench", "t.csv", "--problems", "offsets", "--out", "b"]).exits(0);
    assert!(!run.stdout.contains("refused"), "{}", run.stdout);
    let rows = scratch.read("b/rows.csv");
    assert_eq!(rows.matches("\"\"contradiction\"\"").count(), rows.lines().count() - 1, "{rows}");
    // A certificate for a layout can be verified only with that layout.
    certified(&scratch, TINY);
    scratch.plimsoll(&["verify", "t.csv", "--certificate", "c.json"]).refuses(&["peak 8"]);
}

#[test]
fn witnesses_name_buffers_by_id() {
    let scratch = Scratch::new();
    // The ids differ from the positions 0, 1, 2.
    scratch.write("t.20.csv", "id,lower,upper,size,offset\n150,0,9,0,\n7,0,4,4,\n0,2,6,8,20\n");
    let run = scratch.plimsoll(&["solve", "t.20.csv"]).exits(1);
    assert!(run.stdout.contains("end of fixed buffer '0'"), "{}", run.stdout);
    let run = scratch.plimsoll(&["spill", "t.20.csv"]).exits(0);
    assert_eq!(run.stdout.matches("end of fixed buffer '0'").count(), 2, "{}", run.stdout);
    let json = scratch.plimsoll(&["spill", "t.20.csv", "--json"]).exits(0).json();
    assert_eq!(json["need"]["reason_witness"], "end of fixed buffer '0'");
}

#[test]
fn the_convention_of_a_column_end_is_named() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,start,end,size\na,0,1,4\nb,1,2,4\n");
    let run = scratch.plimsoll(&["solve", "t.csv"]).exits(0);
    let note = "note: t.csv: 'end' is read as the last live step; if it is the first step after the lifespan, \
        use --endpoints half-open";
    assert!(run.stderr.contains(note) && run.words().contains("peak 8 bytes"), "{}", run.stderr);
    let run = scratch.plimsoll(&["convert", "t.csv", "-o", "t.json"]).exits(0);
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let bench = ["bench", "t.csv", "--algorithms", "first-fit-size"];
    let run = scratch.plimsoll(&bench).exits(0);
    assert!(run.stderr.contains("note: 1 instance: 'end' is read as the last live step"), "{}", run.stderr);
    let run = scratch.plimsoll(&[&bench[..], &["--endpoints", "inclusive"]].concat()).exits(0);
    assert!(!run.stderr.contains("'end'"), "{}", run.stderr);
    let run = scratch.plimsoll(&["solve", "t.csv", "--endpoints", "half-open"]).exits(0);
    assert!(run.stderr.is_empty() && run.words().contains("peak 4 bytes"), "{}", run.stderr);
}

#[test]
fn a_file_without_rows_is_noted() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,lower,upper,size\n");
    let note = "plimsoll: note: t.csv: no rows below the header, so the instance has no buffers\n";
    for words in [&["solve", "t.csv"][..], &["convert", "t.csv", "-o", "t.json"]] {
        assert_eq!(scratch.plimsoll(words).exits(0).stderr, note);
    }
    let run = scratch.plimsoll(&["bench", "t.csv", "--algorithms", "first-fit-size"]).exits(0);
    assert!(run.stderr.contains(note), "{}", run.stderr);
}

#[test]
fn unknown_columns_are_noted_once() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "colour,size,upper,lower,id\nred,4,2,0,a\nblue,4,3,1,b\n");
    let note = "plimsoll: note: t.csv: column 'colour' ignored\n";
    let run = scratch.plimsoll(&["solve", "t.csv", "-o", "l.csv"]).exits(0);
    assert_eq!(run.stderr, note);
    let run = scratch.plimsoll(&["bench", "t.csv", "--algorithms", "first-fit-size"]).exits(0);
    assert!(run.stderr.contains(note) && run.stderr.matches("colour").count() == 1, "{}", run.stderr);
    scratch.write("l.csv", "offset,why,id\n4,so,b\n0,so,a\n");
    let run = scratch.plimsoll(&["verify", "t.csv", "l.csv"]).exits(0);
    assert_eq!(run.stderr, format!("{note}plimsoll: note: l.csv: column 'why' ignored\n"));
    assert_eq!(scratch.plimsoll(&["convert", "t.csv", "-o", "t.json"]).exits(0).stderr, note);
}

#[test]
fn shared_objects_note_ignored_columns() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,lower,upper,size,alignment,offset\na,0,2,4,8,\nb,1,3,4,8,16\n");
    let run = scratch.plimsoll(&["solve", "t.csv", "--problem", "shared-objects", "--json"]).exits(0);
    assert!(
        run.stderr.contains("2 buffers have an alignment")
            && run.stderr.contains("1 buffer has a fixed offset")
    );
    assert_eq!(run.json()["notes"].as_array().unwrap().len(), 2);
    assert!(scratch.plimsoll(&["solve", "t.csv"]).exits(0).stderr.is_empty());
}
