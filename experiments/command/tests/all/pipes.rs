//! Tests standard input and output as files, and units of sizes and times.

use crate::common::{Scratch, TINY, contains, has};
use serde_json::json;

#[test]
fn an_instance_is_piped_through() {
    let scratch = Scratch::new();
    let run = scratch.piped("solve - -o -", TINY).exits(0);
    run.prints(&["id,lower,upper,size,offset\na,0,4,4,"]);
    run.warns(&["instance     standard-input: 3 buffers, load 8\n"]);
    scratch.write("t.csv", TINY);
    let layout = run.stdout;
    scratch.piped("verify t.csv -", &layout).exits(0).prints(&["gap          0 bytes, 0.00 %: optimal"]);
    let json = scratch.piped("compare t.csv - --json", &layout).exits(0).json();
    has(&json["layouts"][0], &json!({ "layout": "standard input" }));
    let text = scratch.piped("compare t.csv -", "offset\n0\n8\n12\n").stdout;
    contains(&text, &["\nstandard input ", "\nstandard input\n"]);
    assert!(!text.contains("standard-input."), "{text}");
}

#[test]
fn a_graph_is_piped_through() {
    let scratch = Scratch::after("generate lenet5 --out net.json");
    let graph = scratch.read("net.json");
    scratch.piped("plan -", &graph).exits(0).prints(&["graph        lenet5-0: "]);
    let run = scratch.piped("plan - --plot -", &graph).exits(0);
    run.warns(&["arena "]);
    assert!(run.stdout.starts_with("<svg "), "{}", run.stdout);
}

#[test]
fn a_page_of_standard_input_is_written_into_the_current_folder() {
    let scratch = Scratch::new();
    scratch.piped("view -", TINY).exits(0).prints(&["standard-input.html: "]);
    contains(&scratch.read("standard-input.html"), &["standard-input.csv"]);
}

#[test]
fn a_generated_file_is_written_to_standard_output() {
    let scratch = Scratch::new();
    let run = scratch.ok("generate uniform --buffers 5 --out -");
    scratch.ok("generate uniform --buffers 5 --out a.csv");
    assert_eq!(run.stdout, scratch.read("a.csv"));
    run.warns(&["5 buffers", "written to standard output"]);
    assert!(!scratch.path("-").exists());
    scratch.piped("solve -", run.stdout).exits(0).prints(&["standard-input: 5 buffers"]);
    let graph = scratch.ok("generate lenet5 --out -").stdout;
    assert!(graph.starts_with('{'), "{graph}");
    let why = "--out must be a folder instead of `-`";
    scratch.refuses("generate uniform --count 2 --out -", &[why]);
}

#[test]
fn a_layout_is_converted_from_standard_input() {
    let scratch = Scratch::with("t.csv", TINY);
    scratch.ok("convert t.csv -o t.json");
    for given in ["-", "t=-"] {
        let line = format!("convert t.json --layout {given} -o answer.json");
        scratch.piped(line, "id,offset\na,0\nb,4\nc,4\n").exits(0);
        contains(&scratch.read("answer.json"), &["offset"]);
    }
}

#[test]
fn messages_about_standard_input_name_it() {
    let scratch = Scratch::new();
    for (line, input, message) in [
        ("solve -", "id,lower,upper,size\na,0,x,4\n", "plimsoll: -: line 2: column 'upper': value 'x'"),
        ("compare - -", TINY, "standard input can be read only once"),
        ("solve - -o - --plot -", TINY, "two outputs"),
    ] {
        scratch.piped(line, input).exits(2).warns(&[message]);
    }
}

#[test]
fn sizes_and_times_have_units() {
    let scratch = Scratch::with("t.csv", "id,lower,upper,size\na,0,4,4096\nb,0,2,2048\n");
    let json = scratch.json("solve t.csv --capacity 64k --time-limit 200ms");
    has(&json, &json!({ "capacity": 65536, "time_limit": 0.2 }));
    scratch.ok("spill t.csv --capacity 4KiB --time-limit 5s");
    scratch.refuses("solve t.csv --capacity '64 parsecs'", &["--capacity", "expected a size"]);
    scratch.refuses("solve t.csv --capacity 1.3", &["expected a whole number of bytes"]);
    scratch.refuses("solve t.csv --time-limit '5 days'", &["expected a time such as 5"]);
}

#[test]
fn descriptions_are_read_from_standard_input() {
    let scratch = Scratch::after("generate lenet5 --out net.json");
    scratch.write("t.csv", TINY);
    let machine = include_str!("../../../../model/src/timelines/presets/ethos-u.toml");
    let tiers = include_str!("../../../../model/src/tiers/presets/two-tier.toml");
    for (command, text, name) in [("overlap", machine, "ethos-u"), ("tiers", tiers, "two-tier")] {
        let json = scratch.piped(format!("{command} net.json --machine - --json"), text).exits(0).json();
        assert_eq!(json["machine"], name);
    }
    let run = scratch.piped("fuse net.json --patterns -", "what is this\n").exits(2);
    run.warns(&["plimsoll: -, line 1: "]);
    let run = scratch.piped("fuse net.json --patterns - --units -", "x").exits(2);
    run.warns(&["standard input can be read only once"]);
    scratch.piped("spill t.csv --capacity 4 --traffic -", "id,traffic\nb,1\n").exits(0);
}

/// The paths in a sweep from standard input are relative to the current folder.
#[test]
fn a_sweep_is_read_from_standard_input() {
    let scratch = Scratch::with("t.csv", TINY);
    let sweep = "[[instances]]\npath = \"t.csv\"\n[[algorithms]]\nnames = \"exact\"\n";
    scratch.piped("sweep - --out s", sweep).exits(0).prints(&["rows         1 done"]);
    contains(&scratch.read("s/rows.csv"), &[",t,"]);
    scratch.piped("sweep - --out s --slurm", sweep).exits(2).warns(&["cannot be standard input"]);
}

#[test]
fn lines_print_times_with_units_and_json_numbers() {
    let scratch = Scratch::with("t.csv", "id,lower,upper,size\na,0,4,1310720\nb,0,2,2048\n");
    let run = scratch.ok("solve t.csv --capacity 2MiB");
    run.prints(&["load 1312768 (1.25 MiB), capacity 2097152 (2.00 MiB)\n"]);
    let time = run.stdout.lines().find_map(|line| line.strip_prefix("time         ")).unwrap();
    assert!([" ns, ", " µs, ", " ms, ", " s, "].iter().any(|unit| time.contains(unit)), "{time}");
    let json = scratch.json("solve t.csv");
    assert!(json["seconds"].is_f64() && json["peak"] == 1_312_768);
}

#[test]
fn the_report_contains_the_layout_if_requested() {
    let scratch = Scratch::with("t.csv", "id,lower,upper,size\n7,0,4,4\nb,0,2,4\n");
    let rows = |line: &str| {
        let json = scratch.json(format!("{line} --with-layout -o l.csv"));
        let (rows, cells) = (json["layout"].as_array().unwrap().clone(), scratch.cells("l.csv"));
        assert_eq!(rows.len(), cells.len(), "{line}");
        for (row, cells) in rows.iter().zip(cells) {
            for (name, cell) in cells {
                let text = match &row[&name] {
                    serde_json::Value::String(text) => text.clone(),
                    serde_json::Value::Null => String::new(),
                    other => other.to_string(),
                };
                assert_eq!(text, cell, "{line}: {name}");
            }
        }
        rows
    };
    let solved = rows("solve t.csv");
    assert_eq!((&solved[0]["id"], solved[0]["offset"].is_u64()), (&"7".into(), true), "{solved:?}");
    rows("solve t.csv --problem shared-objects");
    rows("solve t.csv --problem split-buffers");
    let spilled = rows("spill t.csv --capacity 4");
    assert!(spilled.iter().any(|row| row["tier"] == "slow" && row["offset"].is_null()), "{spilled:?}");
    scratch.ok("generate lenet5 --out net.json");
    assert!(rows("plan net.json").len() > 5);
    rows("plan net.json --conflicts reachable");
    rows("plan net.json --branches naive");
    let none = scratch.run("solve t.csv --capacity 1 --json --with-layout").exits(1).json();
    assert!(none["layout"].is_null());
    scratch.refuses("solve t.csv --with-layout", &["--json"]);
    scratch.refuses("plan net.json --conflicts compare --json --with-layout", &["--with-layout"]);
}
