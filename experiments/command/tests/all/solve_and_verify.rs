//! Tests `solve` and `verify`: output, stored answers and exit codes.

use crate::common::{Scratch, TINY, algorithms, command};
use std::io::Read;
use std::process::Stdio;

const FAST: &[&str] = &["--algorithm", "first-fit-size"];

fn solve<'a>(file: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    ["solve", file].into_iter().chain(words.iter().copied()).collect()
}

#[test]
fn json_contains_the_documented_members() {
    let scratch = Scratch::new();
    scratch.write("tiny.8.csv", TINY);
    let words = solve("tiny.8.csv", &["--algorithm", "first-fit-size", "--json", "--seed", "7"]);
    let run = scratch.plimsoll(&words).exits(0);
    assert_eq!(run.stdout.lines().count(), 1);
    let json = run.json();
    for (field, value) in [
        ("instance", "tiny".into()),
        ("algorithm", "first-fit-size".into()),
        ("problem", "offsets".into()),
        ("claim", "optimal".into()),
        ("stop", "completed".into()),
        ("peak", serde_json::json!(8)),
        ("lower_bound", serde_json::json!(8)),
        ("load", serde_json::json!(8)),
        ("capacity", serde_json::json!(8)),
        ("buffers", serde_json::json!(3)),
        ("gap_percent", serde_json::json!(0.0)),
        ("seed", serde_json::json!(7)),
        ("threads", serde_json::json!(1)),
    ] {
        assert_eq!(json[field], value, "{field}");
    }
    assert!(json["witness"].as_str().unwrap().contains("load at step 0"));
    assert!(json["seconds"].as_f64().unwrap() >= 0.0 && json["nodes"].is_u64());
}

#[test]
fn a_stored_answer_verifies() {
    let scratch = Scratch::new();
    scratch.write("tiny.8.csv", TINY);
    for name in algorithms("heuristic").iter().filter(|name| *name != "naive") {
        let words = solve(
            "tiny.8.csv",
            &["--algorithm", name, "-o", "out.csv", "--certificate", "c.json", "--plot", "p.svg"],
        );
        let run = scratch.plimsoll(&words);
        if run.code == 3 {
            continue;
        }
        run.exits(0);
        let verify = ["verify", "tiny.8.csv", "out.csv", "--certificate", "c.json"];
        let run = scratch.plimsoll(&verify).exits(0);
        assert!(run.stdout.contains("valid") && run.stdout.contains("confirmed"), "{name}: {}", run.stdout);
        assert!(scratch.read("p.svg").trim_end().ends_with("</svg>"));
    }
}

#[test]
fn corrupted_layouts_are_rejected_with_ids_and_numbers() {
    let scratch = Scratch::new();
    scratch.write("t.10.csv", "id,lower,upper,size,alignment\na,0,4,4,4\nb,2,6,2,1\nc,4,8,4,1\n");
    scratch.write("good.csv", "id,offset\nc,0\nb,8\na,4\n");
    scratch.plimsoll(&["verify", "t.10.csv", "good.csv"]).exits(0);
    scratch.write("bad.csv", "id,offset\na,6\nb,7\nc,8\n");
    let run = scratch.plimsoll(&["verify", "t.10.csv", "bad.csv"]).exits(1);
    for part in [
        "buffer 'a' lies at offset 6, which is not a multiple of its alignment 4",
        "buffers 'a' at [6, 10) and 'b' at [7, 9) conflict and share 2 bytes",
        "buffer 'c' ends at 12, beyond the capacity of 10 bytes",
        "4 violations",
    ] {
        assert!(run.words().contains(part), "no '{part}' in {}", run.stdout);
    }
    let json = scratch.plimsoll(&["verify", "t.10.csv", "bad.csv", "--json"]).exits(1).json();
    assert_eq!(json["valid"], false);
    assert_eq!(json["violations"].as_array().unwrap().len(), 4);
    assert_eq!((&json["peak"], &json["load"]), (&12.into(), &6.into()));
    let json = scratch.plimsoll(&["verify", "t.10.csv", "good.csv", "--json"]).exits(0).json();
    assert_eq!((&json["valid"], &json["certificate"]), (&true.into(), &serde_json::Value::Null));
    // Whether the layout is valid depends on the capacity.
    let with = |capacity| scratch.plimsoll(&["verify", "t.10.csv", "good.csv", "--capacity", capacity]).code;
    assert_eq!((with("10"), with("9")), (0, 1));
    scratch.plimsoll(&["verify", "t.9.csv", "good.csv"]).exits(2);
}

#[test]
fn a_capacity_below_the_load_is_infeasible() {
    let scratch = Scratch::new();
    scratch.write("tiny.7.csv", TINY);
    for name in algorithms("heuristic").into_iter().chain(algorithms("exact")) {
        let words = solve("tiny.7.csv", &["--algorithm", &name, "--json"]);
        let run = scratch.plimsoll(&words).exits(1);
        let json = run.json();
        assert_eq!(json["claim"], "infeasible", "{name}");
        assert!(json["lower_bound"].as_u64().unwrap() > 7, "{name}");
    }
    let words = solve("tiny.7.csv", &["--algorithm", "first-fit-size", "--no-capacity"]);
    scratch.plimsoll(&words).exits(0);
    let words = solve("tiny.7.csv", &["--algorithm", "first-fit-size", "--capacity", "8"]);
    scratch.plimsoll(&words).exits(0);
}

#[test]
fn a_layout_above_the_capacity_is_written_with_claim_unknown() {
    let scratch = Scratch::new();
    // The sizes add up to 20 and the load is 12. A layout that places the buffers end to end therefore
    // exceeds 15, but 15 is not proved infeasible.
    scratch.write("t.15.csv", "id,lower,upper,size\na,0,1,8\nb,0,2,4\nc,1,2,8\n");
    let words = solve("t.15.csv", &["--algorithm", "naive", "--json", "-o", "out.csv"]);
    let json = scratch.plimsoll(&words).exits(3).json();
    assert_eq!((&json["claim"], &json["peak"]), (&"unknown".into(), &20.into()));
    let run = scratch.plimsoll(&["verify", "t.15.csv", "out.csv"]).exits(1);
    assert!(run.stdout.contains("ends at 20, beyond the capacity of 15 bytes"));
    scratch.plimsoll(&["verify", "t.15.csv", "out.csv", "--no-capacity"]).exits(0);
}

/// Eight buffers that conflict only because of separations, with load 20 and optimum 43. No cheap bound
/// proves the optimum.
const CONFLICTS: &str = "id,lower,upper,size,separations\n1,0,1,5,2\n2,1,2,10,1 3 4 5\n3,2,3,8,2 4 5 6\n\
    4,3,4,20,2 3 5 6 7\n5,4,5,2,2 3 4 6 7 8\n6,5,6,6,3 4 5 7\n7,6,7,15,4 5 6 8\n8,7,8,3,5 7\n";

#[test]
fn without_time_no_false_claim_is_made() {
    let scratch = Scratch::new();
    scratch.write("conflicts.csv", CONFLICTS);
    for name in algorithms("heuristic").into_iter().chain(algorithms("exact")) {
        for limit in
            [["--time-limit", "0"], ["--time-limit", "0.003"], ["--node-limit", "0"], ["--node-limit", "3"]]
        {
            let run = scratch
                .plimsoll(&solve("conflicts.csv", &["--algorithm", &name, "--json", limit[0], limit[1]]));
            assert!(run.code == 0 || run.code == 3, "{name} {limit:?}: {} {}", run.code, run.stderr);
            let json = run.json();
            let bound = json["lower_bound"].as_u64().unwrap();
            assert!(bound <= 43, "{name} {limit:?}: bound {bound}");
            if json["claim"] == "optimal" {
                assert_eq!((json["peak"].as_u64(), bound), (Some(43), 43), "{name} {limit:?}");
            }
        }
    }
}

#[test]
fn endpoints_can_be_overridden() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,lower,upper,size\na,0,1,4\nb,1,2,4\n");
    let peak = |words: &[&str]| {
        let all = [&solve("t.csv", FAST)[..], &["--json"], words].concat();
        scratch.plimsoll(&all).exits(0).json()["peak"].as_u64().unwrap()
    };
    assert_eq!(peak(&[]), 4);
    assert_eq!(peak(&["--endpoints", "half-open"]), 4);
    assert_eq!(peak(&["--endpoints", "inclusive"]), 8);
}

#[test]
fn an_empty_instance_is_planned() {
    let scratch = Scratch::new();
    scratch.write("none.csv", "id,lower,upper,size\n");
    for name in algorithms("heuristic").into_iter().chain(algorithms("exact")) {
        let words = solve("none.csv", &["--algorithm", &name, "--json", "-o", "o.csv", "--plot", "p.svg"]);
        let json = scratch.plimsoll(&words).exits(0).json();
        assert_eq!((&json["peak"], &json["claim"]), (&0.into(), &"optimal".into()), "{name}");
        scratch.plimsoll(&["verify", "none.csv", "o.csv"]).exits(0);
    }
}

#[test]
fn decide_stops_at_the_first_layout_that_fits() {
    let scratch = Scratch::new();
    scratch.write("tiny.12.csv", TINY);
    let words = solve("tiny.12.csv", &["--algorithm", "first-fit-size", "--decide", "--json"]);
    let json = scratch.plimsoll(&words).exits(0).json();
    assert!(json["peak"].as_u64().unwrap() <= 12);
    assert_eq!(json["decide"], true);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let scratch = Scratch::new();
    scratch.write("conflicts.csv", CONFLICTS);
    for name in algorithms("heuristic") {
        let answer = |threads: &str| {
            let words = [
                "--algorithm",
                &name,
                "--seed",
                "5",
                "--node-limit",
                "50",
                "--threads",
                threads,
                "-o",
                "o.csv",
            ];
            scratch.plimsoll(&solve("conflicts.csv", &words)).exits(0);
            scratch.read("o.csv")
        };
        let first = answer("1");
        assert_eq!(first, answer("1"), "{name}");
        assert_eq!(first, answer("2"), "{name}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let scratch = Scratch::new();
    let mut child = command(&scratch.path(""))
        .args(["list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn help_and_version_go_to_standard_output() {
    let scratch = Scratch::new();
    assert!(scratch.plimsoll(&["--help"]).exits(0).stdout.contains("Exit codes"));
    assert!(scratch.plimsoll(&["--version"]).exits(0).stdout.starts_with("plimsoll "));
    let list = scratch.plimsoll(&["list"]).exits(0).stdout;
    assert!(list.contains("offsets") && list.contains("embedded"));
    assert!(scratch.plimsoll(&["list", "offsets"]).exits(0).stdout.contains("first-fit-size"));
}

#[test]
fn contradicting_offsets_have_no_bound_in_bytes() {
    let scratch = Scratch::new();
    scratch.write("x.csv", "id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\nc,0,3,4,\n");
    let words = ["solve", "x.csv", "--capacity", "10", "--certificate", "c.json", "--proof", "x.proof"];
    let run = scratch.plimsoll(&words).exits(1);
    assert!(run.stdout.contains("proof        no layout exists: 0 clauses"), "{}", run.stdout);
    let json = scratch.plimsoll(&["solve", "x.csv", "--capacity", "10", "--json"]).exits(1).json();
    for member in ["lower_bound", "shortfall_min", "peak"] {
        assert!(json[member].is_null(), "{member}: {json}");
    }
    let words = ["verify", "x.csv", "--capacity", "10", "--certificate", "c.json", "--proof", "x.proof"];
    let run = scratch.plimsoll(&words).exits(0);
    assert!(run.stdout.contains("confirmed: claim 'infeasible', no layout exists"), "{}", run.stdout);
    assert!(run.stdout.contains("proof        accepted: no layout exists"), "{}", run.stdout);
    let run = scratch.plimsoll(&["bench", "x.csv", "--algorithms", "exact,naive", "--verbose"]).exits(0);
    let heading = "x: 3 buffers, load 12, no answer exists, because fixed offsets contradict each other\n";
    assert!(run.stdout.contains(heading), "{}", run.stdout);
    // A measured time may contain any digits, so whole words are compared.
    assert!(run.stdout.split_whitespace().all(|word| word != "22"), "{}", run.stdout);
    let run = scratch.plimsoll(&["audit", "x.csv", "--planner-peak", "100"]).exits(1);
    assert!(
        run.words().contains("verdict The planner uses 100 bytes. No layout exists: buffers"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.split_whitespace().all(|word| word != "22"), "{}", run.stdout);
}
