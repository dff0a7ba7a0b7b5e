//! Tests the output and the files of `plimsoll measure`, but not the measured times.

use crate::common::{Run, Scratch};

/// A small off-chip memory and a single run make the tests quick, but do not give a valid measurement.
const QUICK: [&str; 4] = ["--cold", "1048576", "--repeat", "1"];

fn words<'a>(first: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [first, rest].concat()
}

/// Runs a command that calibrates. On a busy machine, the times may be too noisy to determine the rates. The
/// command then reports this and writes nothing.
fn calibrating(scratch: &Scratch, words: &[&str], written: &str) -> Option<Run> {
    let run = scratch.plimsoll(words);
    if run.code == 0 {
        return Some(run);
    }
    let run = run.exits(3);
    assert!(run.stderr.starts_with("plimsoll: calibration is inconclusive: the times of "), "{}", run.stderr);
    assert!(run.stderr.contains("stop other programs and run it again, or raise --repeat"), "{}", run.stderr);
    assert!(!scratch.path(written).exists());
    None
}

#[test]
fn a_machine_is_calibrated_and_predicts() {
    let scratch = Scratch::new();
    let chip = ["--slice", "65536", "--bandwidth", "4e9", "--startup", "2e-6"];
    let files = ["-o", "m.toml", "--samples", "samples.csv", "--json"];
    let all = words(&["measure", "calibrate"], &words(&QUICK, &words(&chip, &files)));
    let Some(run) = calibrating(&scratch, &all, "m.toml") else { return };
    let found = run.json();
    assert_eq!(found["rates"].as_array().unwrap().len(), 4);
    assert!(found["startup_seconds"].is_number() && found["bandwidth"].as_f64().unwrap() > 0.0);
    let samples = scratch.read("samples.csv");
    assert!(samples.starts_with("schedule,run,what,operator,amount,seconds,known_seconds,beside\n"));
    assert_eq!(samples.lines().count() as u64, found["samples"].as_u64().unwrap() + 1);
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    let text = scratch.plimsoll(&["overlap", "net.json", "--machine", "m.toml"]).exits(0);
    assert!(text.stdout.contains("machine      this-machine: 67108864 bytes (64.0 MiB) of on-chip memory"));
    let run = ["measure", "run", "net.json", "--machine", "m.toml", "--algorithm", "ping-pong", "--json"];
    let same = words(&QUICK, &["--bandwidth", "4e9", "--startup", "2e-6"]);
    scratch.plimsoll(&words(&run, &QUICK)).refuses(&["'this-machine' is measured", "at most 4000.0 MB/s"]);
    let report = scratch.plimsoll(&words(&run, &same)).exits(0).json();
    assert_eq!(report["schedules"].as_array().unwrap().len(), 1);
    let one = &report["schedules"][0];
    assert_eq!((one["graph"].as_str(), one["schedule"].as_str()), (Some("lenet5-0"), Some("ping-pong")));
    assert!(
        one["predicted_seconds"].as_f64().unwrap() > 0.0 && one["measured_seconds"].as_f64().unwrap() > 0.0
    );
    assert_eq!(report["calibration"], serde_json::Value::Null);
    assert_eq!(
        report["median_error_percent"],
        serde_json::json!(one["error_percent"].as_f64().unwrap().abs())
    );
}

#[test]
fn a_record_contains_raw_samples() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "shared-if", "--out", "branches.json"]).exits(0);
    let run = ["measure", "run", "branches.json", "--chains", "2", "--out", "record", "--slack", "6291456"];
    let Some(text) = calibrating(&scratch, &words(&run, &QUICK), "record/summary.csv") else { return };
    let text = text.stdout;
    let parts = ["latency", "chain-1-rows-16", "median error", "skipped: graph 'shared-if-0' has branches"];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    for (file, start) in [
        ("machine.toml", "name = \"this-machine\"\n"),
        ("calibration.csv", "schedule,run,what,"),
        ("samples.csv", "graph,schedule,run,predicted_seconds,measured_seconds,"),
        ("summary.csv", "graph,schedule,predicted_seconds,"),
        ("summary.md", "# Predicted and measured makespans\n"),
    ] {
        assert!(scratch.read(&format!("record/{file}")).starts_with(start), "{file}");
    }
    // One header, and seven schedules for each of two chains.
    assert_eq!(scratch.read("record/summary.csv").lines().count(), 1 + 7 * 2);
    assert_eq!(scratch.read("record/samples.csv").lines().count(), 1 + 7 * 2);
    let page = scratch.read("record/summary.md");
    assert!(page.contains("- plimsoll 0.1.0, commit ") && page.contains("| ping-pong |"), "{page}");
    scratch.plimsoll(&words(&run, &QUICK)).refuses(&["record is not empty"]);
}

#[test]
fn bad_input_is_rejected_in_one_line() {
    let scratch = Scratch::new();
    scratch.write("broken.toml", "name = 1\n");
    scratch.plimsoll(&["generate", "shared-if", "--out", "branches.json"]).exits(0);
    let refused = |words: &[&str], parts: &[&str]| {
        scratch.plimsoll(&[&["measure"][..], words].concat()).refuses(parts);
    };
    refused(&["run"], &["nothing to run", "--chains"]);
    refused(&["run", "none.onnx"], &["none.onnx"]);
    refused(
        &["run", "--chains", "1", "--algorithm", "magic"],
        &["schedule 'magic'", "plimsoll list timelines"],
    );
    refused(&["run", "--chains", "1", "--machine", "broken.toml"], &["broken.toml, line 1"]);
    refused(&["run", "--chains", "1", "--machine", "m.toml", "--slice", "65536"], &["--slice"]);
    refused(&["calibrate", "--bandwidth", "0"], &["--bandwidth", "1e3 to 1e15"]);
    refused(&["calibrate", "--startup", "2"], &["at most one second"]);
    refused(&["calibrate", "-o", "a", "--samples", "a"], &["two outputs name the same file"]);
    refused(&["calibrate", "--repeat", "0"], &["--repeat"]);
    let huge = ["measure", "run", "--chains", "1", "--machine", "luna", "--slack", "99999999999"];
    let huge = scratch.plimsoll(&words(&huge, &QUICK)).exits(3).stdout;
    assert!(
        huge.contains("skipped: graph 'chain-0-rows-2': ") && huge.contains("exceed the limit of 16 GiB"),
        "{huge}"
    );
    assert!(huge.contains("a check that the machine 'luna' was measured here"), "{huge}");
    let nothing = words(&["measure", "run", "branches.json", "--machine", "luna"], &QUICK);
    let run = scratch.plimsoll(&nothing).exits(3);
    assert!(run.stdout.contains("nothing was measured"), "{}", run.stdout);
    let late = words(&["measure", "run", "--chains", "1", "--machine", "luna", "--time-limit", "0"], &QUICK);
    assert!(scratch.plimsoll(&late).exits(3).stdout.contains("but the limit is 0 ps"));
}
