//! Tests the lines that help a new user: whether a layout fits, what would help, and suggestions after
//! wrong command lines and files.

use crate::common::{Scratch, TINY};
use serde_json::{Value, json};

/// An instance with load 11 and optimum 11.
const FIVE: &str = "id,lower,upper,size\ninput,0,2,4\nconv,1,4,6\npool,3,6,2\ndense,5,8,8\noutput,7,9,3\n";

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
    let scratch = Scratch::new();
    scratch.write("five.csv", FIVE);
    for (capacity, solver, code, line, members) in [
        ("20", "exact", 0, "20 bytes: fits, 9 bytes to spare", json!([true, 0, 0])),
        ("11", "exact", 0, "11 bytes: fits, 0 bytes to spare", json!([true, 0, 0])),
        ("9", "exact", 1, "9 bytes: no layout fits, at least 2 bytes short", json!([false, 2, null])),
        ("9", "naive", 1, "9 bytes: no layout fits, at least 2 bytes short", json!([false, 2, 14])),
        ("20", "naive", 3, "20 bytes: this layout is 3 bytes short; another may fit", json!([null, 0, 3])),
    ] {
        let words = ["solve", "five.csv", "--capacity", capacity, "--algorithm", solver];
        let run = scratch.narrow(&words).exits(code);
        assert!(run.stdout.contains(&format!("\ncapacity     {line}\n")), "{}", run.stdout);
        let help = format!("\n             plimsoll spill five.csv --capacity {capacity}\n");
        assert_eq!(run.stdout.contains(&help), code != 0, "{}", run.stdout);
        let found = scratch.plimsoll(&[&words[..], &["--json"]].concat()).exits(code).json();
        let found = ["fits", "shortfall_min", "shortfall_max"].map(|key| found[key].clone());
        assert_eq!(json!(found), members, "{capacity} {solver}");
    }
    let run = scratch.plimsoll(&["solve", "five.csv"]).exits(0);
    assert!(!run.stdout.contains("\ncapacity "), "{}", run.stdout);
    scratch.plimsoll(&["spill", "five.csv", "--capacity", "9"]).exits(0);
    // The suggested command contains the quoted name of the file and the convention for its endpoints.
    scratch.write("my five.csv", FIVE);
    let words = ["solve", "my five.csv", "--capacity", "9", "--endpoints", "inclusive"];
    let run = scratch.plimsoll(&words).exits(1);
    let help = "plimsoll spill 'my five.csv' --endpoints inclusive --capacity 9\n";
    assert!(run.stdout.ends_with(help), "{}", run.stdout);
}

#[test]
fn a_valid_layout_above_the_capacity_is_too_large() {
    let scratch = Scratch::new();
    scratch.write("five.csv", FIVE);
    scratch.write("high.csv", "offset\n0\n4\n10\n0\n8\n");
    scratch.write("wrong.csv", "offset\n0\n0\n10\n0\n8\n");
    let words = ["compare", "five.csv", "high.csv", "wrong.csv", "--capacity", "11"];
    let run = scratch.plimsoll(&words).exits(1);
    assert!(run.stdout.contains("9.09  too large\n") && run.stdout.contains("invalid\n"), "{}", run.stdout);
    let found = scratch.plimsoll(&[&words[..], &["--json"]].concat()).exits(1).json();
    assert_eq!(
        (&found["layouts"][0]["verdict"], &found["layouts"][0]["valid"]),
        (&json!("too large"), &json!(false))
    );
    assert_eq!(found["layouts"][1]["verdict"], "invalid");
    let run = scratch.plimsoll(&["verify", "five.csv", "high.csv", "--capacity", "11"]).exits(1);
    assert!(run.stdout.contains("\nlayout       too large, 1 violation\n"), "{}", run.stdout);
}

#[test]
fn an_open_gap_names_the_option_that_closes_it() {
    let scratch = Scratch::new();
    scratch.write("five.csv", FIVE);
    scratch.write("high.csv", "offset\n0\n4\n10\n0\n8\n");
    let run = scratch.plimsoll(&["verify", "five.csv", "high.csv"]).exits(0);
    let hint = "\nhint         --best or --time-limit SECONDS searches for the optimum, as `compare` does\n";
    assert!(run.stdout.contains(hint), "{}", run.stdout);
    let run = scratch.plimsoll(&["verify", "five.csv", "high.csv", "--best"]).exits(0);
    assert!(!run.stdout.contains("hint "), "{}", run.stdout);
}

#[test]
fn overlap_reports_the_order_and_estimated_times() {
    let scratch = Scratch::new();
    scratch.write("net.json", NET);
    let words = ["overlap", "net.json", "--machine", "luna"];
    let run = scratch.plimsoll(&words).exits(0);
    let line = "\norder        as-in-file; the compute times of 1 operator without `cost` are estimated from bytes\n";
    assert!(run.stdout.contains(line), "{}", run.stdout);
    let found = scratch.plimsoll(&[&words[..], &["--order", "exact", "--json"]].concat()).exits(0).json();
    assert_eq!((&found["order"], &found["estimated"]), (&json!("exact"), &json!(1)));
    scratch.write("times.csv", "operator,seconds\nshrink,0.001\n");
    let run = scratch.plimsoll(&[&words[..], &["--times", "times.csv"]].concat()).exits(0);
    assert!(run.stdout.contains("\norder        as-in-file\n"), "{}", run.stdout);
}

#[test]
fn an_infeasible_overlap_has_no_empty_table() {
    let scratch = Scratch::new();
    scratch.write("net.json", NET);
    let run = scratch.narrow(&["overlap", "net.json", "--machine", "luna", "--capacity", "500"]).exits(1);
    assert!(!run.stdout.contains("makespan") && run.stdout.contains("\ninfeasible: "), "{}", run.stdout);
    assert!(run.words().contains("`plimsoll plan net.json --capacity 500`"), "{}", run.stdout);
}

#[test]
fn machines_with_similar_names_are_suggested() {
    let scratch = Scratch::new();
    scratch.write("net.json", NET);
    for command in [&["overlap", "net.json"][..], &["tiers", "net.json"], &["measure", "run", "net.json"]] {
        let run = scratch.plimsoll(&[command, &["--machine", "genric"]].concat());
        run.refuses(&["no machine 'genric'", "; did you mean 'generic'?"]);
    }
}

#[test]
fn layouts_are_written_as_c_headers() {
    let scratch = Scratch::new();
    scratch.write("five.csv", "id,lower,upper,size,alignment\na,0,2,4,4\nb,1,4,6,1\n");
    scratch.plimsoll(&["solve", "five.csv", "-o", "solved.h"]).exits(0);
    let solved = scratch.read("solved.h");
    for line in
        ["#define FIVE_ARENA 10", "#define FIVE_ALIGN 4", "#define FIVE_SIZE_B 6", "fine FIVE_OPERATORS 0"]
    {
        assert!(solved.contains(line), "{line}: {solved}");
    }
    // `convert` writes the same header from a layout.
    scratch.plimsoll(&["solve", "five.csv", "-o", "layout.csv"]).exits(0);
    scratch.plimsoll(&["convert", "five.csv", "--layout", "layout.csv", "-o", "converted.h"]).exits(0);
    assert_eq!(scratch.read("converted.h"), solved);
    scratch.write("bad.csv", "offset\n0\n0\n");
    let run = scratch.plimsoll(&["convert", "five.csv", "--layout", "bad.csv", "-o", "bad.h"]).exits(1);
    assert!(run.stdout.contains("violation: ") && !scratch.path("bad.h").exists(), "{}", run.stdout);
    scratch.plimsoll(&["convert", "five.csv", "-o", "x.h"]).refuses(&["a C header requires", "--layout"]);
    let words = [
        "solve",
        "five.csv",
        "--problem",
        "shared-objects",
        "--algorithm",
        "shared-greedy-by-size",
        "-o",
        "x.h",
    ];
    scratch.plimsoll(&words).refuses(&["a C header supports only the problem offsets"]);
    scratch.write("net.json", NET);
    let run = scratch.plimsoll(&["plan", "net.json", "--align", "16", "--format", "c-header"]).exits(0);
    assert!(run.stdout.contains("\n#define NET_ALIGN 16\n"), "{}", run.stdout);
}

#[test]
fn wrong_command_lines_suggest_the_right_ones() {
    let scratch = Scratch::new();
    for (words, part) in [
        (&["mine.csv"][..], "`plimsoll solve mine.csv` places the buffers"),
        (&["my net.onnx"], "`plimsoll plan 'my net.onnx'` plans the memory"),
        (&["check", "a.csv", "b.csv"], "unrecognized subcommand 'check'; did you mean 'verify'?"),
        (&["solve", "a.csv", "--compare"], "`plimsoll bench FILE` compares all algorithms"),
        (&["overlap", "a.json", "--compare"], "`overlap` compares all schedules"),
        (&["reproduce", "patnt"], "; did you mean 'patent'"),
        (&["solve"], "<INSTANCE>; Instance (.csv)"),
        (&["solve"], "; `-` reads standard input"),
        (&["plan"], "; `-` reads standard input"),
        (
            &["bench", "--algorithms", "mine", "--external", "mine=cmd {input} {output}"],
            "--algorithms 'mine': this external program always runs",
        ),
    ] {
        scratch.plimsoll(words).refuses(&[part]);
    }
}

#[test]
fn errors_in_files_name_line_and_value() {
    let scratch = Scratch::new();
    scratch.write("semicolons.csv", TINY.replace(',', ";"));
    let message = "semicolons.csv: line 1: the columns of the header 'id;lower;upper;size' are separated by ';'; separate them with commas";
    scratch.plimsoll(&["solve", "semicolons.csv"]).refuses(&[message]);
    scratch.write("five.csv", FIVE);
    scratch.write("layout.csv", "id,offset\ninput,0\n");
    let message = "the header has: id, offset; this is a layout, and the instance comes first";
    scratch.plimsoll(&["verify", "layout.csv", "five.csv"]).refuses(&["missing column 'lower'", message]);
    for (from, to, message) in [
        ("\"bytes\": 400", "\"bytes\": \"6KiB\"", "value '6KiB' is not a whole number; write 6144"),
        (
            "\"bytes\": 400",
            "\"bytes\": 400, \"site\": 1",
            "unknown member 'site'; allowed: name, bytes, role",
        ),
        ("\"role\": \"input\"", "\"role\": \"in\"", "value 'in' is not allowed; expected activation, weight"),
        ("\"bytes\": 400, ", "", "the member 'bytes' is missing"),
    ] {
        scratch.write("bad.json", NET.replacen(from, to, 1));
        scratch.plimsoll(&["import", "bad.json"]).refuses(&["bad.json: line 3, column ", message]);
    }
}

#[test]
fn unknown_types_and_shapes_are_written_out() {
    let scratch = Scratch::new();
    scratch.write("net.json", NET);
    let run = scratch.plimsoll(&["import", "net.json"]).exits(0);
    for line in [
        "input        x int8 400, 400 bytes\n",
        "output       y, 40 bytes, element type and shape unknown\n             (the members `element`",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
}

#[test]
fn plans_name_the_step_that_needs_the_memory() {
    let scratch = Scratch::new();
    scratch.write("net.json", NET);
    let run = scratch.plimsoll(&["plan", "net.json"]).exits(0);
    let line = "\nneeds        600 bytes at step 0, while 'grow' runs: x (400 bytes), h (200 bytes)\n";
    assert!(run.stdout.contains(line), "{}", run.stdout);
    let found = scratch.plimsoll(&["plan", "net.json", "--json"]).exits(0).json();
    assert_eq!((&found["needs"]["operator"], &found["capacity"]), (&json!("grow"), &Value::Null));
}

#[test]
fn compared_orders_stop_at_a_proven_optimum() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "nasnet-a", "--out", "net.json"]).exits(0);
    let words = ["order", "net.json", "--compare", "--time-limit", "30", "--json"];
    let rows = scratch.plimsoll(&words).exits(0).json()["rows"].clone();
    let rows = rows.as_array().unwrap();
    let of = |name: &str| rows.iter().find(|row| row["algorithm"] == name).unwrap();
    assert_eq!(
        (&of("exact")["claim"], &of("local-search")["value"]),
        (&json!("optimal"), &of("exact")["value"])
    );
    assert!(of("local-search")["seconds"].as_f64().unwrap() < 20.0, "{}", of("local-search"));
    // The rows keep the order of the registry.
    assert_eq!(
        (&rows[0]["algorithm"], &rows[rows.len() - 1]["algorithm"]),
        (&json!("as-in-file"), &json!("search"))
    );
}

#[test]
fn folders_and_unknown_suites_have_suggestions() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("my nets")).unwrap();
    scratch.write("my nets/a.json", NET);
    for command in ["plan", "order"] {
        let refused = scratch.plimsoll(&[command, "my nets"]);
        refused.refuses(&["my nets", "it is a folder", "`plimsoll bench 'my nets'` runs on all its files"]);
    }
    for (name, near) in [
        ("my net", "did you mean 'my nets'?"),
        ("my nets/b.json", "did you mean 'my nets/a.json'?"),
        ("embeded", "did you mean 'embedded'?"),
    ] {
        scratch.plimsoll(&["bench", name]).refuses(&[&format!("'{name}' is neither"), near]);
    }
    let run = scratch.plimsoll(&["bench", "no/such/folder"]).exits(2);
    assert!(!run.stderr.contains("did you mean"), "{}", run.stderr);
}

#[test]
fn models_are_benchmarked_by_orders_and_offsets() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("nets")).unwrap();
    scratch.write("nets/a.json", NET);
    scratch.write("nets/b.json", NET.replace("\"bytes\": 200", "\"bytes\": 300"));
    let run = scratch.narrow(&["bench", "nets", "--node-limit", "1000"]).exits(0);
    assert!(
        run.stdout.starts_with("problems: orders, and offsets in the order of the file,"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("\norders") && run.stdout.contains("\noffsets"), "{}", run.stdout);
    assert!(!run.stdout.contains("fusion") && run.stdout.lines().all(|line| line.chars().count() <= 80));
    // Options of other problems select all problems again.
    let run =
        scratch.plimsoll(&["bench", "nets", "--terms", "machine=generic", "--node-limit", "10"]).exits(0);
    assert!(run.stdout.contains("fusion") && !run.stdout.contains("problems: orders"), "{}", run.stdout);
}

#[test]
fn reproductions_begin_with_a_summary() {
    let scratch = Scratch::new();
    let brief = scratch.narrow(&["reproduce", "patent"]).exits(0).stdout;
    assert!(brief.contains("\n31 rows: 27 same, 1 differs, 3 ours alone\n"), "{brief}");
    assert!(
        brief.contains("printed 15, ours 17\npairs (differs)\n    the text") && !brief.contains("====="),
        "{brief}"
    );
    assert!(brief.lines().all(|line| line.chars().count() <= 80), "{brief}");
    let all = scratch.narrow(&["reproduce", "patent", "--verbose"]).exits(0).stdout;
    assert!(all.contains("memory once operator 4") && all.lines().count() > 60, "{all}");
}

#[cfg(unix)]
#[test]
fn failures_of_external_programs_fit_the_width() {
    let scratch = Scratch::new();
    scratch.write("five.csv", FIVE);
    let external = "mine=./a-program-with-a-long-name-that-does-not-exist {input} {output}";
    let words = ["bench", "five.csv", "--algorithms", "exact", "--external", external];
    let run = scratch.narrow(&words).exits(3);
    assert!(run.words().contains("; mine has no value."), "{}", run.stdout);
    assert!(run.words().contains("mine (offsets) failed in 1 of 1 runs"), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
}
