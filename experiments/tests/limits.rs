//! Time limits: one for all that a command computes, with a default, and kept by every stage.

mod common;

use common::{Scratch, TINY};

/// Generates into the scratch folder.
fn generated(scratch: &Scratch, family: &str, params: &[&str], name: &str) {
    let params = params.iter().flat_map(|one| ["--param", one]);
    let words: Vec<&str> = ["generate", family, "--out", name].into_iter().chain(params).collect();
    scratch.plimsoll(&words).exits(0);
}

#[test]
fn a_default_limit_holds_unless_nodes_are_limited_or_none_is_asked_for() {
    let scratch = Scratch::new();
    scratch.write("tiny.8.csv", TINY);
    let limit = |words: &[&str]| {
        let words: Vec<&str> = ["solve", "tiny.8.csv", "--json"].iter().chain(words).copied().collect();
        scratch.plimsoll(&words).exits(0).json()["time_limit"].as_f64()
    };
    assert_eq!(limit(&[]), Some(60.0));
    assert_eq!(limit(&["--time-limit", "2.5"]), Some(2.5));
    assert_eq!(limit(&["--time-limit", "none"]), None);
    assert_eq!(limit(&["--node-limit", "1000"]), None);
    assert_eq!(limit(&["--node-limit", "1000", "--time-limit", "3"]), Some(3.0));
    scratch.plimsoll(&["solve", "tiny.8.csv", "--time-limit", "never"]).exits(2);
}

#[test]
fn help_tells_the_default_limit() {
    let scratch = Scratch::new();
    for command in ["solve", "order", "plan", "overlap", "tiers", "fuse", "spill"] {
        let help = scratch.plimsoll(&[command, "--help"]).exits(0).stdout;
        assert!(help.contains("default: 60"), "{command}: {help}");
    }
    for command in ["bench", "reproduce"] {
        assert!(scratch.plimsoll(&[command, "--help"]).exits(0).stdout.contains("default: 10"), "{command}");
    }
}

#[test]
fn without_time_every_command_on_graphs_ends_with_what_it_has() {
    let scratch = Scratch::new();
    generated(&scratch, "nested-if", &["depth=22", "operators=20"], "deep.json");
    generated(&scratch, "weight-chain", &["n=400"], "chain.json");
    let at_once = |words: &[&str]| {
        let words: Vec<&str> = words.iter().copied().chain(["--time-limit", "0"]).collect();
        scratch.plimsoll(&words)
    };
    for graph in ["deep.json", "chain.json"] {
        at_once(&["order", graph]).exits(0);
        at_once(&["fuse", graph, "--units", "one", "--patterns", "chains"]).exits(0);
        at_once(&["tiers", graph, "--machine", "generic"]).exits(0);
        at_once(&["overlap", graph, "--machine", "generic"]).exits(0);
        // A layout takes time.
        at_once(&["plan", graph]).exits(3);
        at_once(&["plan", graph, "--conflicts", "reachable"]).exits(3);
    }
    at_once(&["spill", "chain.json", "--capacity", "2000000"]).exits(0);
}

#[test]
fn a_front_without_time_has_one_point() {
    let scratch = Scratch::new();
    generated(&scratch, "weight-chain", &["n=400"], "chain.json");
    let words = ["overlap", "chain.json", "--machine", "generic", "--front", "--json"];
    let front = |limit: &[&str]| {
        let words: Vec<&str> = words.iter().chain(limit).copied().collect();
        scratch.plimsoll(&words).exits(0).json()
    };
    let at_once = front(&["--time-limit", "0"]);
    assert_eq!(at_once["tried"], serde_json::json!(1));
    assert_eq!(at_once["points"].as_array().unwrap().len(), 1);
    assert_eq!(at_once["points"][0]["bound_ps"], serde_json::json!(0), "there was no time for a bound");
    let few = front(&["--node-limit", "1"]);
    assert!(few["tried"].as_u64() > Some(1));
}
