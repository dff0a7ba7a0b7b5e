//! Tests the lines that help a new user: whether a layout fits, what would help, and suggestions after
//! wrong command lines and files.

use crate::common::{Scratch, TINY, TWELVE, has};
use serde_json::json;

/// A graph in which one operator has no cost, and some tensors have no type and no shape.
const NET: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "net",
"tensors": [
{ "name": "x", "bytes": 400, "role": "input", "element": "int8", "shape": [400] },
{ "name": "w", "bytes": 90, "role": "weight" },
{ "name": "y", "bytes": 40, "role": "output" }, { "name": "h", "bytes": 200 } ],
"body": { "inputs": ["x"], "outputs": ["y"], "operators": [
{ "name": "grow", "kind": "Conv", "inputs": ["x", "w"], "outputs": ["h"], "cost": 36000 },
{ "name": "shrink", "kind": "Pool", "inputs": ["h"], "outputs": ["y"] } ] } }"#;

#[test]
fn solve_compares_the_layout_with_the_capacity() {
    let scratch = Scratch::with("five.csv", TWELVE);
    for (capacity, solver, code, line, members) in [
        (20, "exact", 0, "20 bytes: fits, 9 bytes to spare", json!([true, 0, 0])),
        (11, "exact", 0, "11 bytes: fits, 0 bytes to spare", json!([true, 0, 0])),
        (9, "exact", 1, "9 bytes: no layout fits, at least 2 bytes short", json!([false, 2, null])),
        (9, "naive", 1, "9 bytes: no layout fits, at least 2 bytes short", json!([false, 2, 14])),
        (20, "naive", 3, "20 bytes: this layout is 3 bytes short; another may fit", json!([null, 0, 3])),
    ] {
        let words = format!("solve five.csv --capacity {capacity} --algorithm {solver}");
        let run = scratch.run(&words).exits(code);
        run.prints(&[&format!("\ncapacity     {line}\n")]);
        let help = format!("plimsoll spill five.csv --capacity {capacity}\n");
        assert_eq!(run.stdout.contains(&help), code != 0, "{}", run.stdout);
        let found = scratch.run(words + " --json").exits(code).json();
        let found = ["fits", "shortfall_min", "shortfall_max"].map(|key| found[key].clone());
        assert_eq!(json!(found), members, "{capacity} {solver}");
    }
    let text = scratch.ok("solve five.csv").stdout;
    assert!(!text.contains("\ncapacity "), "{text}");
    // The suggested command contains the quoted name of the file and the convention for its endpoints.
    scratch.write("my five.csv", TWELVE);
    let run = scratch.run("solve 'my five.csv' --capacity 9 --endpoints inclusive").exits(1);
    run.prints(&["plimsoll spill 'my five.csv' --endpoints inclusive --capacity 9\n"]);
}

#[test]
fn a_valid_layout_above_the_capacity_is_too_large() {
    let scratch = Scratch::with("five.csv", TWELVE);
    scratch.write("high.csv", "offset\n0\n4\n10\n0\n8\n");
    scratch.write("wrong.csv", "offset\n0\n0\n10\n0\n8\n");
    let line = "compare five.csv high.csv wrong.csv --capacity 11";
    scratch.run(line).exits(1).prints(&["9.09  too large\n", "invalid\n"]);
    let found = scratch.run(format!("{line} --json")).exits(1).json();
    has(&found["layouts"][0], &json!({ "verdict": "too large", "valid": false }));
    has(&found["layouts"][1], &json!({ "verdict": "invalid" }));
    let run = scratch.run("verify five.csv high.csv --capacity 11").exits(1);
    run.prints(&["\nlayout       too large, 1 violation\n"]);
}

#[test]
fn overlap_reports_the_order_and_estimated_times() {
    let scratch = Scratch::with("net.json", NET);
    let found = scratch.json("overlap net.json --machine luna --order exact");
    has(&found, &json!({ "order": "exact", "estimated": 1 }));
    scratch.write("times.csv", "operator,seconds\nshrink,0.001\n");
    let run = scratch.ok("overlap net.json --machine luna --times times.csv");
    run.prints(&["\norder        as-in-file\n"]);
    // Without a schedule, there is no empty table.
    let run = scratch.run("overlap net.json --machine luna --capacity 500").exits(1);
    run.prints(&["\ninfeasible: ", "`plimsoll plan net.json --capacity 500`"]);
    assert!(!run.stdout.contains("makespan"), "{}", run.stdout);
}

#[test]
fn machines_with_similar_names_are_suggested() {
    let scratch = Scratch::with("net.json", NET);
    for command in ["overlap", "tiers", "measure run"] {
        let line = format!("{command} net.json --machine genric");
        scratch.refuses(line, &["no machine 'genric'", "; did you mean 'generic'?"]);
    }
}

#[test]
fn layouts_are_written_as_c_headers() {
    let scratch = Scratch::with("five.csv", "id,lower,upper,size,alignment\na,0,2,4,4\nb,1,4,6,1\n");
    scratch.ok("solve five.csv -o solved.h");
    let solved = scratch.read("solved.h");
    assert!(solved.contains("#define FIVE_ALIGN 4"), "{solved}");
    // `convert` writes the same header from a layout.
    scratch.ok("solve five.csv -o layout.csv");
    scratch.ok("convert five.csv --layout layout.csv -o converted.h");
    assert_eq!(scratch.read("converted.h"), solved);
    scratch.write("bad.csv", "offset\n0\n0\n");
    scratch.run("convert five.csv --layout bad.csv -o bad.h").exits(1).prints(&["violation: "]);
    assert!(!scratch.path("bad.h").exists());
    scratch.refuses("convert five.csv -o x.h", &["a C header requires", "--layout"]);
    let line = "solve five.csv --problem shared-objects --algorithm shared-greedy-by-size -o x.h";
    scratch.refuses(line, &["a C header supports only the problem offsets"]);
}

#[test]
fn wrong_command_lines_suggest_the_right_ones() {
    let scratch = Scratch::new();
    for (line, part) in [
        ("mine.csv", "`plimsoll solve mine.csv` places the buffers"),
        ("'my net.onnx'", "`plimsoll plan 'my net.onnx'` plans the memory"),
        ("check a.csv b.csv", "unrecognized subcommand 'check'; did you mean 'verify'?"),
        ("solve a.csv --compare", "`plimsoll bench FILE` compares all algorithms"),
        ("overlap a.json --compare", "`overlap` compares all schedules"),
        ("reproduce patnt", "; did you mean 'patent'"),
        ("reproduce", "<PAPER>; Paper: luna, mini-infer"),
        ("solve", "<INSTANCE>; Instance (.csv)"),
        ("solve", "; `-` reads standard input"),
        ("plan", "; `-` reads standard input"),
        ("overlap net.json", "--machine <NAME|FILE.toml>; Machine: luna, ethos-u, generic"),
        (
            "bench --algorithms mine --external 'mine=cmd {input} {output}'",
            "--algorithms 'mine': this external program always runs",
        ),
    ] {
        scratch.refuses(line, &[part]);
    }
}

#[test]
fn errors_in_files_name_line_and_value() {
    let scratch = Scratch::new();
    scratch.write("semicolons.csv", TINY.replace(',', ";"));
    let message = "semicolons.csv: line 1: the columns of the header 'id;lower;upper;size' are separated by ';'; separate them with commas";
    scratch.refuses("solve semicolons.csv", &[message]);
    scratch.write("five.csv", TWELVE);
    scratch.write("layout.csv", "id,offset\ninput,0\n");
    let message = "the header has: id, offset; this is a layout, and the instance comes first";
    scratch.refuses("verify layout.csv five.csv", &["missing column 'lower'", message]);
    let bytes = "\"bytes\": 400";
    for (from, to, message) in [
        (bytes, "\"bytes\": \"6KiB\"", "value '6KiB' is not a whole number; write 6144"),
        (bytes, "\"bytes\": 400, \"site\": 1", "unknown member 'site'; allowed: name, bytes, role"),
        ("\"role\": \"input\"", "\"role\": \"in\"", "value 'in' is not allowed; expected activation, weight"),
        ("\"bytes\": 400, ", "", "the member 'bytes' is missing"),
    ] {
        scratch.write("bad.json", NET.replacen(from, to, 1));
        scratch.refuses("import bad.json", &["bad.json: line 3, column ", message]);
    }
}

#[test]
fn compared_orders_stop_at_a_proven_optimum() {
    let scratch = Scratch::after("generate nasnet-a --out net.json");
    let rows = scratch.json("order net.json --compare --time-limit 30")["rows"].clone();
    let rows = rows.as_array().unwrap();
    let of = |name: &str| rows.iter().find(|row| row["algorithm"] == name).unwrap();
    assert_eq!(
        [&of("exact")["claim"], &of("local-search")["value"]],
        [&json!("optimal"), &of("exact")["value"]]
    );
    assert!(of("local-search")["seconds"].as_f64().unwrap() < 20.0, "{}", of("local-search"));
    // The rows keep the order of the registry.
    assert_eq!([&rows[0]["algorithm"], &rows.last().unwrap()["algorithm"]], ["as-in-file", "search"]);
}

#[test]
fn folders_and_unknown_suites_have_suggestions() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("my nets")).unwrap();
    scratch.write("my nets/a.json", NET);
    for command in ["plan", "order"] {
        let help = ["my nets", "it is a folder", "`plimsoll bench 'my nets'` runs on all its files"];
        scratch.refuses(format!("{command} 'my nets'"), &help);
    }
    for (name, near) in [
        ("my net", "did you mean 'my nets'?"),
        ("my nets/b.json", "did you mean 'my nets/a.json'?"),
        ("embeded", "did you mean 'embedded'?"),
    ] {
        scratch.refuses(format!("bench '{name}'"), &[&format!("'{name}' is neither"), near]);
    }
    let run = scratch.run("bench no/such/folder").exits(2);
    assert!(!run.stderr.contains("did you mean"), "{}", run.stderr);
}

#[test]
fn models_are_benchmarked_by_orders_and_offsets() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("nets")).unwrap();
    scratch.write("nets/a.json", NET);
    scratch.write("nets/b.json", NET.replace("\"bytes\": 200", "\"bytes\": 300"));
    let text = scratch.narrow(&["bench", "nets", "--node-limit", "1000"]).exits(0).stdout;
    assert!(text.starts_with("problems: orders, and offsets in the order of the file,"), "{text}");
    assert!(text.contains("\norders") && text.contains("\noffsets") && !text.contains("fusion"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // Options of other problems select all problems again.
    let text = scratch.ok("bench nets --terms machine=generic --node-limit 10").stdout;
    assert!(text.contains("fusion") && !text.contains("problems: orders"), "{text}");
}

#[cfg(unix)]
#[test]
fn failures_of_external_programs_fit_the_width() {
    let scratch = Scratch::with("five.csv", TWELVE);
    let external = "mine=./a-program-with-a-long-name-that-does-not-exist {input} {output}";
    let run =
        scratch.narrow(&["bench", "five.csv", "--algorithms", "exact", "--external", external]).exits(3);
    run.reports(&["; mine has no value.", "mine (offsets) failed in 1 of 1 runs"]);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
}
