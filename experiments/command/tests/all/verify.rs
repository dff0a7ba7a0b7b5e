//! Tests `verify`: correct and wrong certificates, and answers to every problem.

use crate::common::{ABOVE_LOAD, Scratch, TINY, TWELVE, has};
use serde_json::{Value, json};

/// Writes an instance to `t.csv`, solves it and returns the certificate.
fn certified(scratch: &Scratch, text: &str) -> Value {
    scratch.write("t.csv", text);
    scratch.ok("solve t.csv -o l.csv --certificate c.json");
    scratch.document("c.json")
}

/// Verifies a certificate and returns the exit code, the result and the message.
fn verdict(scratch: &Scratch, certificate: &Value, more: &str) -> (i32, String, String) {
    scratch.write("c.json", certificate.to_string());
    let run = scratch.run(format!("verify t.csv l.csv --certificate c.json --json {more}"));
    let json = run.json();
    let text = |field: &str| json[field].as_str().unwrap_or_default().to_owned();
    (run.code, text("certificate"), text("certificate_message"))
}

#[test]
fn every_field_of_a_certificate_is_checked_against_the_instance() {
    let scratch = Scratch::new();
    let good = certified(&scratch, TINY);
    assert_eq!(good["lower_bound"]["witness"], json!({ "kind": "load", "step": 0 }));
    assert_eq!(verdict(&scratch, &good, "").1, "confirmed");
    let bound = |value: u64, witness: Value| json!({ "value": value, "witness": witness });
    let load = |value: u64, step: u64| bound(value, json!({ "kind": "load", "step": step }));
    let clique = |buffers: &[&str]| bound(8, json!({ "kind": "clique", "buffers": buffers }));
    let fields = [
        ("sha256", json!("00")),
        ("buffers", json!(4)),
        ("capacity", json!(8)),
        ("claim", json!("feasible")),
        ("claim", json!("infeasible")),
        ("claim", json!("unknown")),
        ("peak", json!(9)),
        ("peak", json!(7)),
    ];
    let bounds = [
        load(9, 0),
        load(7, 0),
        load(8, 9),
        clique(&["a", "z"]),
        clique(&["a", "a"]),
        clique(&["b", "c"]),
        clique(&[]),
        bound(8, json!({ "kind": "trivial" })),
        bound(8, json!({ "kind": "fixed", "buffer": "a" })),
        bound(8, json!({ "kind": "contradiction", "buffers": ["a", "b"] })),
        bound(8, json!({ "kind": "excess", "buffers": ["a", "b"] })),
        bound(8, json!({ "kind": "around", "operator": "a" })),
        bound(8, json!({ "kind": "start" })),
        bound(8, json!({ "kind": "aligned-clique", "buffers": ["a", "b"], "alignment": 0 })),
    ];
    for (field, value) in fields.into_iter().chain(bounds.map(|bound| ("lower_bound", bound))) {
        let mut bad = good.clone();
        bad[field] = value.clone();
        let (code, standing, message) = verdict(&scratch, &bad, "");
        assert_eq!((code, standing.as_str()), (1, "refused"), "{field}: {value}: {message}");
    }
    let mut other = good.clone();
    other["lower_bound"] = clique(&["a", "b"]);
    assert_eq!(verdict(&scratch, &other, "").0, 0, "names of buffers are those of the file");
    other["instance"] = json!("else");
    scratch.write("c.json", other.to_string());
    let run = scratch.ok("verify t.csv l.csv --certificate c.json");
    run.warns(&["note: the certificate names the instance 'else', not 't'"]);
}

#[test]
fn certificates_of_other_versions_and_other_files_are_bad_input() {
    let scratch = Scratch::new();
    let good = certified(&scratch, TINY);
    let refused = |certificate: &Value, parts: &[&str]| {
        scratch.write("c.json", certificate.to_string());
        scratch.refuses("verify t.csv l.csv --certificate c.json", parts);
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
        let (code, _, message) = verdict(&scratch, &good, "");
        assert_ne!(code, 0, "{text}");
        assert!(message.contains("another instance"), "{message}");
    }
    scratch.write("t.csv", "size,id,upper,lower,note\n4,a,4,0,x\n4,b,2,0,x\n4,c,4,2,x\n1,d,8,6,x\n");
    assert_eq!(verdict(&scratch, &good, "").0, 0, "the same problem in other columns");
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
        for more in ["", "--trust-search"] {
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
    let (code, standing, message) = verdict(&scratch, &good, "");
    assert_eq!((code, standing.as_str()), (5, "rests-on-search"), "{message}");
    assert_eq!(verdict(&scratch, &good, "--trust-search").0, 0);
    // A solver that does not support the instance cannot have proved the bound.
    let many: Vec<String> = (0..12).map(|at| format!("b{at},{at},{},{}\n", at + 3, 3 + at % 4)).collect();
    let many = many.concat();
    let mut other = certified(&scratch, &format!("id,lower,upper,size\n{many}"));
    let value = other["lower_bound"]["value"].clone();
    other["lower_bound"] =
        json!({ "value": value, "witness": { "kind": "search", "solver": "brute-force" } });
    let (code, _, message) = verdict(&scratch, &other, "");
    assert!(code == 1 && message.contains("does not support"), "{message}");
}

#[test]
fn answers_to_every_problem_are_verified() {
    let scratch = Scratch::with("t.csv", TWELVE.replace("conv", "z,0,9,0\nconv"));
    let tampered = |from: &str, to: &str, violation: &str| {
        let text = scratch.read("o.csv");
        assert!(text.contains(from), "{text}");
        scratch.write("bad.csv", text.replacen(from, to, 1));
        let json = scratch.run("verify t.csv bad.csv --capacity 12 --json").exits(1).json();
        assert_eq!(json["valid"], false);
        assert!(json["violations"][0].as_str().unwrap().contains(violation), "{json}");
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
        scratch.ok(format!("solve t.csv --problem {problem} --algorithm {solver} -o o.csv"));
        has(&scratch.json("verify t.csv o.csv"), &json!({ "valid": true, "problem": problem }));
        tampered(from, to, violation);
        scratch.run("verify t.csv o.csv --capacity 10").exits(1).reports(&["the capacity of 10"]);
    }
    scratch.ok("spill t.csv --capacity 8 -o o.csv");
    let json = scratch.json("verify t.csv o.csv --capacity 8");
    has(&json, &json!({ "problem": "spilling", "peak": 8 }));
    assert!(json["traffic"].as_u64() > Some(0));
    scratch.refuses("verify t.csv o.csv", &["o.csv", "--capacity"]);
    scratch.run("verify t.csv o.csv --capacity 7").exits(1);
    tampered("output,7,9,3,6,slow,", "output,7,9,3,6,chip,0", "conflict");
    let mut certificate = certified(&scratch, TINY);
    certificate["peak"] = json!(null);
    scratch.ok("solve t.csv --problem shared-objects -o o.csv");
    scratch.refuses("verify t.csv o.csv --certificate c.json", &["only layouts", "shared-objects"]);
}

#[test]
fn contradictory_fixed_offsets_are_infeasible_and_named() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,lower,upper,size,offset\nfree,0,9,8,\nleft,0,4,8,0\nright,2,6,8,4\n");
    let names = "'left' and 'right'";
    scratch.run("solve t.csv --certificate c.json").exits(1).prints(&["infeasible", names]);
    scratch.ok("verify t.csv --certificate c.json").prints(&["confirmed", names]);
    let certificate = scratch.read("c.json");
    assert!(certificate.contains("\"left\"") && certificate.contains("\"right\""), "{certificate}");
    let json = scratch.run("solve t.csv --algorithm first-fit-size --json").exits(1).json();
    has(&json, &json!({ "claim": "infeasible", "peak": null }));
    scratch.ok("spill t.csv --capacity 16").prints(&["no capacity is sufficient", names]);
    let run = scratch.ok("bench t.csv --problems offsets --out b");
    assert!(!run.stdout.contains("refused"), "{}", run.stdout);
    let rows = scratch.read("b/rows.csv");
    assert_eq!(rows.matches("\"\"contradiction\"\"").count(), rows.lines().count() - 1, "{rows}");
    // A certificate for a layout can be verified only with that layout.
    certified(&scratch, TINY);
    scratch.refuses("verify t.csv --certificate c.json", &["peak 8"]);
}

#[test]
fn witnesses_name_buffers_by_id() {
    let scratch = Scratch::new();
    // The ids differ from the positions 0, 1, 2.
    scratch.write("t.20.csv", "id,lower,upper,size,offset\n150,0,9,0,\n7,0,4,4,\n0,2,6,8,20\n");
    let witness = "end of fixed buffer '0'";
    scratch.run("solve t.20.csv").exits(1).prints(&[witness]);
    let run = scratch.ok("spill t.20.csv");
    assert_eq!(run.stdout.matches(witness).count(), 2, "{}", run.stdout);
    assert_eq!(scratch.json("spill t.20.csv")["need"]["reason_witness"], witness);
}

#[test]
fn the_convention_of_a_column_end_is_named() {
    let scratch = Scratch::with("t.csv", "id,start,end,size\na,0,1,4\nb,1,2,4\n");
    let note = "note: t.csv: 'end' is read as the last live step; if it is the first step after the lifespan, \
        use --endpoints half-open";
    scratch.ok("solve t.csv").warns(&[note]).reports(&["peak 8 bytes"]);
    scratch.ok("convert t.csv -o t.json").warns(&[note]);
    let bench = "bench t.csv --algorithms first-fit-size";
    scratch.ok(bench).warns(&["note: 1 instance: 'end' is read as the last live step"]);
    let run = scratch.ok(format!("{bench} --endpoints inclusive"));
    assert!(!run.stderr.contains("'end'"), "{}", run.stderr);
    let run = scratch.ok("solve t.csv --endpoints half-open");
    assert!(run.stderr.is_empty() && run.words().contains("peak 4 bytes"), "{}", run.stderr);
    scratch.write("t.csv", "id,lower,upper,size\na,0,1,4\nb,1,2,4\n");
    for (options, peak) in [("", 4), ("--endpoints half-open", 4), ("--endpoints inclusive", 8)] {
        assert_eq!(scratch.json(format!("solve t.csv {options}"))["peak"], peak, "{options}");
    }
}

#[test]
fn a_file_without_rows_is_noted() {
    let scratch = Scratch::with("t.csv", "id,lower,upper,size\n");
    let note = "plimsoll: note: t.csv: no rows below the header, so the instance has no buffers\n";
    for line in ["solve t.csv", "convert t.csv -o t.json"] {
        assert_eq!(scratch.ok(line).stderr, note);
    }
    scratch.ok("bench t.csv --algorithms first-fit-size").warns(&[note]);
}

#[test]
fn unknown_columns_are_noted_once() {
    let scratch = Scratch::with("t.csv", "colour,size,upper,lower,id\nred,4,2,0,a\nblue,4,3,1,b\n");
    let note = "plimsoll: note: t.csv: column 'colour' ignored\n";
    let run = scratch.ok("solve t.csv -o l.csv");
    assert_eq!(run.stderr, note);
    let run = scratch.ok("bench t.csv --algorithms first-fit-size");
    assert!(run.stderr.contains(note) && run.stderr.matches("colour").count() == 1, "{}", run.stderr);
    scratch.write("l.csv", "offset,why,id\n4,so,b\n0,so,a\n");
    let run = scratch.ok("verify t.csv l.csv");
    assert_eq!(run.stderr, format!("{note}plimsoll: note: l.csv: column 'why' ignored\n"));
    assert_eq!(scratch.ok("convert t.csv -o t.json").stderr, note);
}

#[test]
fn shared_objects_note_ignored_columns() {
    let scratch = Scratch::with("t.csv", "id,lower,upper,size,alignment,offset\na,0,2,4,8,\nb,1,3,4,8,16\n");
    let run = scratch.ok("solve t.csv --problem shared-objects --json");
    run.warns(&["2 buffers have an alignment", "1 buffer has a fixed offset"]);
    assert_eq!(run.json()["notes"].as_array().map(Vec::len), Some(2));
    assert!(scratch.ok("solve t.csv").stderr.is_empty());
}
