//! Tests standard input and output as files, and units of sizes and times.

use crate::common::{Scratch, TINY, command};
use std::io::Write as _;
use std::process::Stdio;

/// Runs `plimsoll` with `input` on standard input, and returns the exit code, standard output and standard
/// error.
fn piped(scratch: &Scratch, words: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut child = command(&scratch.path("."))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that rejects its arguments may end before it reads its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn an_instance_is_piped_through() {
    let scratch = Scratch::new();
    let (code, layout, report) = piped(&scratch, &["solve", "-", "-o", "-"], TINY.as_bytes());
    assert_eq!(code, 0, "{report}");
    assert!(layout.starts_with("id,lower,upper,size,offset\na,0,4,4,"), "{layout}");
    assert!(report.contains("instance     standard-input: 3 buffers, load 8\n"), "{report}");
    scratch.write("t.csv", TINY);
    let (code, text, _) = piped(&scratch, &["verify", "t.csv", "-"], layout.as_bytes());
    assert_eq!((code, text.contains("gap          0 bytes, 0.00 %: optimal")), (0, true), "{text}");
    let (code, json, _) = piped(&scratch, &["compare", "t.csv", "-", "--json"], layout.as_bytes());
    assert_eq!(code, 0);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["layouts"][0]["layout"], "standard input");
    let (_, text, _) = piped(&scratch, &["compare", "t.csv", "-"], b"offset\n0\n8\n12\n");
    assert!(text.contains("\nstandard input ") && text.contains("\nstandard input\n"), "{text}");
    assert!(!text.contains("standard-input."), "{text}");
}

#[test]
fn a_graph_is_piped_through() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    let graph = scratch.read("net.json");
    let (code, text, _) = piped(&scratch, &["plan", "-"], graph.as_bytes());
    assert_eq!((code, text.contains("graph        lenet5-0: ")), (0, true), "{text}");
    let (code, picture, text) = piped(&scratch, &["plan", "-", "--plot", "-"], graph.as_bytes());
    assert_eq!((code, picture.starts_with("<svg ")), (0, true), "{text}");
    assert!(text.contains("arena "), "{text}");
}

#[test]
fn a_page_of_standard_input_is_written_into_the_current_folder() {
    let scratch = Scratch::new();
    let (code, text, error) = piped(&scratch, &["view", "-"], TINY.as_bytes());
    assert_eq!((code, text.starts_with("standard-input.html: ")), (0, true), "{text} {error}");
    assert!(scratch.read("standard-input.html").contains("standard-input.csv"));
}

#[test]
fn a_generated_file_is_written_to_standard_output() {
    let scratch = Scratch::new();
    let run = scratch.plimsoll(&["generate", "uniform", "--buffers", "5", "--out", "-"]).exits(0);
    scratch.plimsoll(&["generate", "uniform", "--buffers", "5", "--out", "a.csv"]).exits(0);
    assert_eq!(run.stdout, scratch.read("a.csv"));
    assert!(run.stderr.contains("5 buffers") && run.stderr.contains("written to standard output"));
    assert!(!scratch.path("-").exists());
    let (code, text, _) = piped(&scratch, &["solve", "-"], run.stdout.as_bytes());
    assert_eq!((code, text.contains("standard-input: 5 buffers")), (0, true), "{text}");
    let graph = scratch.plimsoll(&["generate", "lenet5", "--out", "-"]).exits(0).stdout;
    assert!(graph.starts_with('{'), "{graph}");
    scratch
        .plimsoll(&["generate", "uniform", "--count", "2", "--out", "-"])
        .refuses(&["--out must be a folder instead of `-`"]);
}

#[test]
fn a_layout_is_converted_from_standard_input() {
    let scratch = Scratch::new();
    scratch.write("t.csv", TINY);
    scratch.plimsoll(&["convert", "t.csv", "-o", "t.json"]).exits(0);
    let layout = b"id,offset\na,0\nb,4\nc,4\n";
    for given in ["-", "t=-"] {
        let words = ["convert", "t.json", "--layout", given, "-o", "answer.json"];
        let (code, _, error) = piped(&scratch, &words, layout);
        assert_eq!(code, 0, "{given}: {error}");
        assert!(scratch.read("answer.json").contains("offset"), "{given}");
    }
}

#[test]
fn messages_about_standard_input_name_it() {
    let scratch = Scratch::new();
    let (code, _, message) = piped(&scratch, &["solve", "-"], b"id,lower,upper,size\na,0,x,4\n");
    assert_eq!(code, 2);
    assert!(message.starts_with("plimsoll: -: line 2: column 'upper': value 'x'"), "{message}");
    let (code, _, message) = piped(&scratch, &["compare", "-", "-"], TINY.as_bytes());
    assert_eq!((code, message.contains("standard input can be read only once")), (2, true), "{message}");
    let (code, _, message) = piped(&scratch, &["solve", "-", "-o", "-", "--plot", "-"], TINY.as_bytes());
    assert_eq!((code, message.contains("two outputs")), (2, true), "{message}");
}

#[test]
fn sizes_and_times_have_units() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,lower,upper,size\na,0,4,4096\nb,0,2,2048\n");
    let json = scratch.plimsoll(&["solve", "t.csv", "--capacity", "64k", "--time-limit", "200ms", "--json"]);
    let json = json.exits(0).json();
    assert_eq!((json["capacity"].as_u64(), json["time_limit"].as_f64()), (Some(65536), Some(0.2)));
    scratch.plimsoll(&["spill", "t.csv", "--capacity", "4KiB", "--time-limit", "5s"]).exits(0);
    scratch
        .plimsoll(&["solve", "t.csv", "--capacity", "64 parsecs"])
        .refuses(&["--capacity", "expected a size"]);
    scratch.plimsoll(&["solve", "t.csv", "--capacity", "1.3"]).refuses(&["expected a whole number of bytes"]);
    scratch.plimsoll(&["solve", "t.csv", "--time-limit", "5 days"]).refuses(&["expected a time such as 5"]);
}

#[test]
fn descriptions_are_read_from_standard_input() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    let file = |path: &str| {
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../model/src/").to_owned() + path).unwrap()
    };
    let machine = file("timelines/presets/ethos-u.toml");
    let words = ["overlap", "net.json", "--machine", "-", "--json"];
    let (code, text, error) = piped(&scratch, &words, &machine);
    assert_eq!((code, text.contains(r#""machine":"ethos-u""#)), (0, true), "{text}{error}");
    let tiers = file("tiers/presets/two-tier.toml");
    let words = ["tiers", "net.json", "--machine", "-", "--json"];
    let (code, text, error) = piped(&scratch, &words, &tiers);
    assert_eq!((code, text.contains(r#""machine":"two-tier""#)), (0, true), "{text}{error}");
    let (code, _, error) = piped(&scratch, &["fuse", "net.json", "--patterns", "-"], b"what is this\n");
    assert_eq!((code, error.starts_with("plimsoll: -, line 1: ")), (2, true), "{error}");
    let (code, _, error) = piped(&scratch, &["fuse", "net.json", "--patterns", "-", "--units", "-"], b"x");
    assert_eq!((code, error.contains("standard input can be read only once")), (2, true), "{error}");
    scratch.write("t.csv", TINY);
    let (code, _, error) =
        piped(&scratch, &["spill", "t.csv", "--capacity", "4", "--traffic", "-"], b"id,traffic\nb,1\n");
    assert_eq!(code, 0, "{error}");
}

/// The paths in a sweep from standard input are relative to the current folder.
#[test]
fn a_sweep_is_read_from_standard_input() {
    let scratch = Scratch::new();
    scratch.write("t.csv", TINY);
    let sweep = b"[[instances]]\npath = \"t.csv\"\n[[algorithms]]\nnames = \"exact\"\n";
    let (code, text, error) = piped(&scratch, &["sweep", "-", "--out", "s"], sweep);
    assert_eq!((code, text.contains("rows         1 done")), (0, true), "{text}{error}");
    assert!(scratch.read("s/rows.csv").contains(",t,"));
    let (code, _, error) = piped(&scratch, &["sweep", "-", "--out", "s", "--slurm"], sweep);
    assert_eq!((code, error.contains("cannot be standard input")), (2, true), "{error}");
}

#[test]
fn lines_print_exact_sizes_with_binary_units() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,lower,upper,size\na,0,4,1310720\nb,0,2,2048\n");
    let text = scratch.plimsoll(&["solve", "t.csv", "--capacity", "2MiB"]).exits(0).stdout;
    for line in [
        "instance     t: 2 buffers, load 1312768 (1.25 MiB), capacity 2097152 (2.00 MiB)\n",
        "peak         1312768 bytes (1.25 MiB)\n",
        "lower bound  1312768 bytes (1.25 MiB; load at step 0)\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let time = text.lines().find_map(|line| line.strip_prefix("time         ")).unwrap();
    assert!([" ns, ", " µs, ", " ms, ", " s, "].iter().any(|unit| time.contains(unit)), "{time}");
    let json = scratch.plimsoll(&["solve", "t.csv", "--json"]).exits(0).json();
    assert!(json["seconds"].is_f64() && json["peak"] == 1_312_768);
}

#[test]
fn the_report_contains_the_layout_if_requested() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,lower,upper,size\n7,0,4,4\nb,0,2,4\n");
    let rows = |words: &[&str], file: &str| {
        let words = [words, &["--json", "--with-layout", "-o", file]].concat();
        let json = scratch.plimsoll(&words).exits(0).json();
        let mut reader = csv::Reader::from_path(scratch.path(file)).unwrap();
        let columns = reader.headers().unwrap().clone();
        let rows = json["layout"].as_array().unwrap().clone();
        let mut count = 0;
        for (row, record) in rows.iter().zip(reader.records().map(Result::unwrap)) {
            for (name, cell) in columns.iter().zip(&record) {
                let text = match &row[name] {
                    serde_json::Value::String(text) => text.clone(),
                    serde_json::Value::Null => String::new(),
                    other => other.to_string(),
                };
                assert_eq!(text, cell, "{words:?}: {name}");
            }
            count += 1;
        }
        assert_eq!((count, reader.records().count()), (rows.len(), 0), "{words:?}");
        rows
    };
    let solved = rows(&["solve", "t.csv"], "l.csv");
    assert_eq!((&solved[0]["id"], solved[0]["offset"].is_u64()), (&"7".into(), true), "{solved:?}");
    rows(&["solve", "t.csv", "--problem", "shared-objects"], "l.csv");
    rows(&["solve", "t.csv", "--problem", "split-buffers"], "l.csv");
    let spilled = rows(&["spill", "t.csv", "--capacity", "4"], "l.csv");
    assert!(spilled.iter().any(|row| row["tier"] == "slow" && row["offset"].is_null()), "{spilled:?}");
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    assert!(rows(&["plan", "net.json"], "l.csv").len() > 5);
    rows(&["plan", "net.json", "--conflicts", "reachable"], "l.csv");
    rows(&["plan", "net.json", "--branches", "naive"], "l.csv");
    let none = ["solve", "t.csv", "--capacity", "1", "--json", "--with-layout"];
    assert!(scratch.plimsoll(&none).exits(1).json()["layout"].is_null());
    scratch.plimsoll(&["solve", "t.csv", "--with-layout"]).refuses(&["--json"]);
    scratch
        .plimsoll(&["plan", "net.json", "--conflicts", "compare", "--json", "--with-layout"])
        .refuses(&["--with-layout"]);
}
