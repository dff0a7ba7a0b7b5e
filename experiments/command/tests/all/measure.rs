//! Tests the output and the files of `plimsoll measure`, but not the measured times.

use crate::common::{Run, Scratch, contains, has};
use serde_json::{Value, json};

/// A small off-chip memory and a single run make the tests quick, but do not give a valid measurement.
const QUICK: &str = "--cold 1048576 --repeat 1";

/// Runs a command that calibrates. On a busy machine, the times may be too noisy to determine the rates. The
/// command then reports this and writes nothing.
fn calibrating(scratch: &Scratch, line: &str, written: &str) -> Option<Run> {
    let run = scratch.run(line);
    if run.code == 0 {
        return Some(run);
    }
    let run = run.exits(3);
    run.warns(&["plimsoll: calibration is inconclusive: the times of "]);
    run.warns(&["stop other programs and run it again, or raise --repeat"]);
    assert!(!scratch.path(written).exists());
    None
}

#[test]
fn a_machine_is_calibrated_and_predicts() {
    let scratch = Scratch::new();
    let (chip, files) = ("--bandwidth 4e9 --startup 2e-6", "-o m.toml --samples samples.csv --json");
    let line = format!("measure calibrate {QUICK} --slice 65536 {chip} {files}");
    let Some(run) = calibrating(&scratch, &line, "m.toml") else { return };
    let found = run.json();
    assert_eq!(found["rates"].as_array().unwrap().len(), 4);
    assert!(found["startup_seconds"].is_number() && found["bandwidth"].as_f64().unwrap() > 0.0);
    let samples = scratch.read("samples.csv");
    assert!(samples.starts_with("schedule,run,what,operator,amount,seconds,known_seconds,beside\n"));
    assert_eq!(samples.lines().count() as u64, found["samples"].as_u64().unwrap() + 1);
    scratch.ok("generate lenet5 --out net.json");
    let machine = "machine      this-machine: 67108864 bytes (64.0 MiB) of on-chip memory";
    scratch.ok("overlap net.json --machine m.toml").prints(&[machine]);
    let line = format!("measure run net.json --machine m.toml --algorithm ping-pong {QUICK}");
    scratch.refuses(&line, &["'this-machine' is measured", "at most 4000.0 MB/s"]);
    let report = scratch.json(format!("{line} {chip}"));
    let [one] = &report["schedules"].as_array().unwrap()[..] else { panic!("{report}") };
    has(one, &json!({ "graph": "lenet5-0", "schedule": "ping-pong" }));
    for key in ["predicted_seconds", "measured_seconds"] {
        assert!(one[key].as_f64() > Some(0.0), "{one}");
    }
    let error = one["error_percent"].as_f64().unwrap().abs();
    has(&report, &json!({ "calibration": Value::Null, "median_error_percent": error }));
}

#[test]
fn a_record_contains_raw_samples() {
    let scratch = Scratch::after("generate shared-if --out branches.json");
    let line = format!("measure run branches.json --chains 2 --out record --slack 6291456 {QUICK}");
    let Some(run) = calibrating(&scratch, &line, "record/summary.csv") else { return };
    run.prints(&["latency", "chain-1-rows-16", "median error"]);
    run.prints(&["skipped: graph 'shared-if-0' has branches"]);
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
    contains(&scratch.read("record/summary.md"), &["- plimsoll 0.1.0, commit ", "| ping-pong |"]);
    scratch.refuses(line, &["record is not empty"]);
}

#[test]
fn bad_input_is_rejected_in_one_line() {
    let scratch = Scratch::with("broken.toml", "name = 1\n");
    scratch.ok("generate shared-if --out branches.json");
    for (arguments, parts) in [
        ("run", &["nothing to run", "--chains"][..]),
        ("run none.onnx", &["none.onnx"]),
        ("run --chains 1 --algorithm magic", &["schedule 'magic'", "plimsoll list timelines"]),
        ("run --chains 1 --machine broken.toml", &["broken.toml, line 1"]),
        ("run --chains 1 --machine m.toml --slice 65536", &["--slice"]),
        ("calibrate --bandwidth 0", &["--bandwidth", "1e3 to 1e15"]),
        ("calibrate --startup 2", &["at most one second"]),
        ("calibrate -o a --samples a", &["two outputs name the same file"]),
        ("calibrate --repeat 0", &["--repeat"]),
    ] {
        scratch.refuses(format!("measure {arguments}"), parts);
    }
    for (arguments, parts) in [
        (
            "--chains 1 --slack 99999999999",
            &[
                "skipped: graph 'chain-0-rows-2': ",
                "exceed the limit of 16 GiB",
                "a check that the machine 'luna' was measured here",
            ][..],
        ),
        ("branches.json", &["nothing was measured"]),
        ("--chains 1 --time-limit 0", &["but the limit is 0 ps"]),
    ] {
        scratch.run(format!("measure run --machine luna {arguments} {QUICK}")).exits(3).prints(parts);
    }
}
