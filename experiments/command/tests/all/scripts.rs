//! Tests the scripts that the Makefile runs.

use crate::common::Scratch;

#[test]
fn the_script_of_records_refuses_unknown_records() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/results.sh");
    let graphs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/graph-records.sh");
    let text = [script, graphs].map(|file| std::fs::read_to_string(file).unwrap()).concat();
    let words = "benchmark scaling ablation head-to-head robust robust-tight anytime optima rules above-load \
        wide large orders structure reproduce overlap tiers fusion spilling reality";
    for word in words.split_whitespace() {
        let calls = [format!("record {word}"), format!("wanted {word};")];
        assert!(calls.iter().any(|call| text.contains(call)), "{word}");
    }
    let Ok(output) = std::process::Command::new("bash").args([script, "nonsense"]).output() else {
        return eprintln!("no bash here");
    };
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("unknown record 'nonsense'"));
}

/// `scripts/setup.sh first` requires nothing that only HiGHS and z3 need.
#[cfg(unix)]
#[test]
fn the_first_run_needs_cargo_and_a_compiler() {
    let scratch = Scratch::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/setup.sh");
    let path = scratch.path("");
    let setup = || {
        let mut bash = std::process::Command::new("/bin/bash");
        bash.args([script, "first"]).env_clear().env("PATH", &path).output()
    };
    let Ok(bare) = setup() else { return eprintln!("no bash here") };
    let message = String::from_utf8(bare.stderr).unwrap();
    assert!(
        bare.status.code() == Some(1) && message.contains("gcc") && !message.contains("cmake"),
        "{message}"
    );
    for tool in ["cc", "cargo"] {
        std::os::unix::fs::symlink("/bin/true", scratch.path(tool)).unwrap();
    }
    let ready = setup().unwrap();
    assert_eq!((ready.status.code(), ready.stderr), (Some(0), Vec::new()));
}
