//! Bad input and usage give one line on standard error, exit code 2 and no panic; infeasible input gives exit
//! code 1.

use crate::common::{Scratch, TINY};
use serde_json::{Value, json};

/// All errors in instances and layouts are tested where they are read, in `model/tests/all/csv_bad_input.rs`.
#[test]
fn errors_in_instances_and_layouts_name_file_line_column_and_value() {
    let scratch = Scratch::with("layout.csv", "id,offset\na,0\n");
    for (text, parts) in [
        ("id,lower,upper,sise\na,0,1,4\n", &["bad.csv", "line 1", "'size'", "'sise'"][..]),
        (
            "id,lower,upper,size\na,0,1,9000000000000000000\nb,0,1,9000000000000000000\n",
            &["bad.csv", "line 3", "'size'", "too large"],
        ),
        ("id,lower,upper,size\na,0,1,4\nb,0,1,4\na,1,2,4\n", &["bad.csv", "line 4", "'id'", "'a'", "line 2"]),
        ("", &["bad.csv", "empty"]),
        ("id,lower,upper,size,gaps\na,0,9,4,2-4@0:2\n", &["bad.csv", "line 2", "'gaps'", "2-4@0:2"]),
    ] {
        scratch.write("bad.csv", text);
        scratch.refuses("solve bad.csv --algorithm first-fit-size", parts);
        scratch.refuses("verify bad.csv layout.csv", parts);
    }
    scratch.write("tiny.csv", TINY);
    for (text, parts) in [
        ("id,offset\na,0\nb,4\n", &["layout.csv", "'c'", "not placed"][..]),
        ("id,offset\na,0\nb,4\nc,4\nd,4\n", &["layout.csv", "line 5", "'d'"]),
        ("id,size,offset\na,5,0\nb,4,4\nc,4,4\n", &["layout.csv", "line 2", "'size'", "'5'"]),
        ("", &["layout.csv", "empty"]),
    ] {
        scratch.write("layout.csv", text);
        scratch.refuses("verify tiny.csv layout.csv", parts);
    }
}

#[test]
fn unreadable_files_are_named() {
    let scratch = Scratch::with("latin1.csv", b"id,lower,upper,size\n\xe4,0,1,4\n");
    scratch.write("tiny.csv", TINY);
    scratch.write("bad.json", "{\"version\": 1");
    scratch.write("layout.csv", "id,offset\na,0\nb,4\nc,4\n");
    for (line, parts) in [
        ("solve latin1.csv --algorithm first-fit-size", &["latin1.csv", "line 2", "UTF-8"][..]),
        ("solve absent.csv --algorithm first-fit-size", &["absent.csv", "cannot read"]),
        ("solve . --algorithm first-fit-size", &["it is a folder"]),
        ("verify tiny.csv absent.csv", &["absent.csv"]),
        ("verify tiny.csv layout.csv --certificate bad.json", &["bad.json", "certificate"]),
    ] {
        scratch.refuses(line, parts);
    }
}

#[test]
fn usage_errors_are_one_line() {
    let scratch = Scratch::with("tiny.csv", TINY);
    scratch.refuses("slove", &["slove", "solve"]);
    for (name, parts) in [
        ("first-fit-siez", ["first-fit-siez", "did you mean 'first-fit-size'"]),
        ("search:-mem", ["'search' has no parameter '-mem'", "-memo"]),
        ("naive:-memo", ["'naive' has no parameter '-memo'", "none"]),
        ("serach:-memo", ["unknown algorithm 'serach:-memo'", "plimsoll list"]),
    ] {
        scratch.refuses(format!("solve tiny.csv --algorithm {name}"), &parts);
        scratch.refuses(format!("bench tiny.csv --algorithms {name}"), &parts);
    }
    let limits = ["-1", "nan", "NaN", "inf", "soon", "1e99"].map(|limit| ("--time-limit", limit));
    let values = [
        ("--capacity", "-1"),
        ("--capacity", "1.5"),
        ("--capacity", "99999999999999999999"),
        ("--node-limit", "-1"),
        ("--threads", "0"),
        ("--seed", "x"),
        ("--endpoints", "open"),
    ];
    for (option, value) in limits.into_iter().chain(values) {
        scratch.refuses(format!("solve tiny.csv {option}={value}"), &[option, value]);
    }
    scratch.refuses("solve tiny.csv --problem offset", &["offset", "shared-objects"]);
    scratch.refuses("solve tiny.csv --capacity 8 --no-capacity", &["--no-capacity"]);
    scratch.refuses("solve tiny.csv --algorithm first-fit-size --decide", &["capacity"]);
}

#[test]
fn outputs_are_checked_before_any_work() {
    let scratch = Scratch::with("tiny.csv", TINY);
    scratch.write("tiny", TINY);
    let line = "solve tiny.csv --algorithm first-fit-size";
    for option in ["--output", "--plot", "--certificate"] {
        scratch.refuses(format!("{line} {option} tiny/below/file"), &["tiny is not a folder"]);
        scratch.refuses(format!("{line} {option} ."), &["it is a folder"]);
        // A name without a suffix is accepted for every format, so only the conflict with the input is an
        // error.
        scratch.refuses(format!("solve tiny --algorithm first-fit-size {option} tiny"), &["tiny", "input"]);
    }
    scratch.refuses(format!("{line} --output same --plot ./same"), &["two outputs name the same file"]);
    scratch
        .refuses(format!("{line} --output new/same --plot ./new/same"), &["two outputs name the same file"]);
    scratch.refuses(format!("{line} --output new/file --plot ."), &["it is a folder"]);
    assert!(!scratch.path("new").exists(), "a refused command creates no folder");
    scratch.ok(format!("{line} --output new/a/layout.csv --plot new/b/plot.svg"));
    assert!(scratch.path("new/a/layout.csv").exists() && scratch.path("new/b/plot.svg").exists());
    assert_eq!((scratch.read("tiny.csv"), scratch.read("tiny")), (TINY.to_owned(), TINY.to_owned()));
}

#[test]
fn files_do_not_replace_the_inputs_from_which_they_are_made() {
    let scratch = Scratch::with("keep.csv", TINY);
    for family in ["refilled", "welded", "thinned", "reversed", "attributed"] {
        let why = "cannot write keep.csv: it is an input of this command";
        scratch.refuses(format!("generate {family} --of keep.csv --out keep.csv"), &[why]);
        assert_eq!(scratch.read("keep.csv"), TINY);
    }
    scratch.write("page.html", "<script id=\"data\"></script>");
    let why = "cannot write page.html: it is an input of this command";
    scratch.refuses("view keep.csv --page page.html -o page.html", &[why]);
    scratch.write("s.csv", "subgraph,operator,bytes\n0,0,4\n");
    for command in ["tiers --machine generic", "overlap --machine luna"] {
        let line = format!("{command} net.json --scratch s.csv --output s.csv");
        scratch.refuses(line, &["s.csv: it is an input of this command"]);
    }
}

#[test]
fn negative_values_are_rejected_with_the_name_of_the_option() {
    let scratch = Scratch::with("tiny.csv", TINY);
    for (command, option) in [
        ("solve tiny.csv", "--capacity"),
        ("solve tiny.csv", "--seed"),
        ("solve tiny.csv", "--time-limit"),
        ("plan tiny.csv", "--runs"),
        ("audit tiny.csv", "--planner-peak"),
        ("audit tiny.csv", "--max-gap"),
        ("generate uniform", "--count"),
        ("measure calibrate", "--repeat"),
    ] {
        scratch.refuses(format!("{command} {option} -1"), &["invalid value '-1'", option]);
    }
}

#[test]
fn lists_in_json_are_not_objects() {
    let scratch = Scratch::new();
    let graph = |tensors: Value, body: Value| json!({ "format": "plimsoll-graph", "version": 1, "name": "x", "tensors": tensors, "body": body });
    for value in [json!([]), graph(json!([]), json!([])), graph(json!([["a", 4]]), json!({}))] {
        scratch.write("net.json", value.to_string());
        for command in ["import", "plan", "audit"] {
            let why = ["net.json: line 1, ", "a list is not an object"];
            scratch.refuses(format!("{command} net.json"), &why);
        }
    }
    scratch.write("tiny.csv", TINY);
    scratch.ok("solve tiny.csv -o l.csv --certificate c.json");
    let mut other = scratch.document("c.json");
    other["lower_bound"]["witness"] = json!(["load", 0]);
    for value in [json!([1]), other] {
        scratch.write("c.json", value.to_string());
        let why = ["c.json: not a certificate: ", "a list is not an object"];
        scratch.refuses("verify tiny.csv l.csv --certificate c.json", &why);
    }
}

#[test]
fn errors_name_the_file() {
    let scratch = Scratch::after("generate lenet5 --out net.json");
    scratch.write("empty.toml", "");
    let why = "empty.toml, line 1: the list of processing units is empty";
    scratch.refuses("fuse net.json --units empty.toml", &[why]);
    std::fs::create_dir(scratch.path("folder")).unwrap();
    for command in ["order", "plan", "import", "fuse", "spill --capacity 9"] {
        let why = "plimsoll: folder: it is a folder, not a graph";
        scratch.refuses(format!("{command} folder"), &[why]);
    }
    scratch.write("tiny.csv", TINY);
    let spill = "spill tiny.csv --capacity 6";
    scratch.refuses(format!("{spill} --traffic none.csv"), &["plimsoll: none.csv: "]);
    scratch.refuses(format!("{spill} --keep z"), &["plimsoll: tiny.csv: no buffer is called 'z'"]);
}

#[test]
fn bad_benchmarks_are_rejected() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("full")).unwrap();
    scratch.write("full/file", "x");
    for (arguments, parts) in [
        ("nonsense", &["nonsense", "embedded"][..]),
        ("minimalloc", &["PLIMSOLL_CORPORA"]),
        ("--algorithms exakt", &["exakt", "'exact'", "plimsoll list algorithms"]),
        ("--external x", &["NAME="]),
        ("--external 'x=cmd {input}'", &["{output}"]),
        ("--external 'first-fit-size=cmd {input} {output}'", &["taken"]),
        ("--out full", &["full", "--force"]),
        ("--seeds 0", &["--seeds"]),
    ] {
        scratch.refuses(format!("bench {arguments}"), parts);
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_written_in_place() {
    use std::process::{Command, Stdio};
    let scratch = Scratch::with("i.csv", "id,lower,upper,size\na,0,2,4\n");
    let pipe = scratch.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    scratch.ok("solve i.csv -o pipe");
    if std::fs::symlink_metadata(&pipe).unwrap().is_file() {
        reader.kill().unwrap();
        panic!("the pipe was replaced");
    }
    let read = reader.wait_with_output().unwrap();
    assert!(String::from_utf8(read.stdout).unwrap().contains("offset"));
}

#[test]
fn suffixes_of_other_formats_are_rejected() {
    let scratch = Scratch::with("tiny.9.csv", TINY);
    let solve = "solve tiny.9.csv --algorithm first-fit-size -o";
    for (command, name, why) in [
        (solve, "x.json", "the output is CSV or a C header, not JSON; use a name ending in .csv or .h"),
        (
            "solve tiny.9.csv --plot",
            "x.tif",
            "the output is a picture, not '.tif'; use a name ending in .svg or .png",
        ),
        (solve, "x.cvs", "the output is CSV or a C header, not '.cvs'"),
        ("bench --out", "x.csv", "the output is a folder, not CSV; use a name without a suffix"),
        ("sweep s.toml --out", "x.json", "the output is a folder, not JSON"),
        ("man", "x.txt.gz", "the output is a folder, not a compressed file"),
        ("solve tiny.9.csv --certificate", "x.csv", "the output is JSON, not CSV"),
        ("import net.json -o", "x.toml", "the output is JSON"),
        ("import net.json --dot", "x.svg", "use a name ending in .dot or .gv"),
        ("order net.json --instance", "x.json", "the output is CSV"),
        ("order net.json -o", "x.html", "the output is CSV, not HTML"),
        ("order net.json --plot", "x.pdf", "the output is a picture, not PDF"),
        ("plan net.json -o", "x.csv.gz", "the output is CSV, not a compressed file"),
        ("plan net.json --tensors", "x.md", "the output is CSV, JSON or a C header"),
        ("plan net.json --orders", "x.JSON", "the output is CSV"),
        ("plan net.json --plot", "x.jpg", "the output is a picture, not JPEG"),
        ("overlap net.json --trace", "x.svg", "the output is JSON"),
        ("overlap net.json --gantt", "x.webp", "the output is a picture"),
        ("overlap net.json --instructions", "x.json", "the output is CSV"),
        ("spill tiny.9.csv --capacity 6 --output", "x.json", "the output is CSV"),
        ("tiers net.json --machine generic --output", "x.json", "the output is CSV"),
        ("fuse net.json --output", "x.csv", "--output 'x.csv': the output is JSON, not CSV"),
        ("fuse net.json --compare --output", "x.json", "--output 'x.json': the output is CSV"),
        ("measure calibrate -o", "x.json", "the output is TOML, not JSON"),
        ("generate uniform --out", "x.json", "--out 'x.json': the output is CSV, not JSON"),
        ("generate lenet5 --out", "x.csv", "--out 'x.csv': the output is JSON, not CSV"),
    ] {
        scratch.refuses(format!("{command} {name}"), &[name, why]);
        assert!(!scratch.path(name).exists(), "{name}");
    }
    for name in ["x", "x.txt", "x.log", "x.CSV", "/dev/null"] {
        scratch.ok(format!("{solve} {name}"));
    }
}

#[test]
fn errors_about_free_dimensions_name_the_options_that_bind_them() {
    let scratch = Scratch::with_models(&["branch.onnx", "function.onnx", "loop.onnx"]);
    for command in ["import", "order", "plan"] {
        let why =
            "branch.onnx: 1 dimension has no value: N ('x' dimension 0); try --dim N=1, or --dim-default 1";
        scratch.refuses(format!("{command} branch.onnx"), &[why]);
        scratch.ok(format!("{command} branch.onnx --dim N=1"));
        scratch.ok(format!("{command} branch.onnx --dim-default 1 --value c=1"));
    }
    scratch.ok("import function.onnx --dim-default 3 --json -o graph.json");
    scratch.ok("import loop.onnx --tensor-shape w=2");
    scratch.write("tiny.csv", TINY);
    let on_graph = "the option does not apply to a graph";
    for (line, parts) in [
        ("import graph.json --dim-default 3", &["graph.json: --dim-default 3", on_graph][..]),
        ("import graph.json --value x=3", &["graph.json: --value x=3", on_graph]),
        ("import graph.json --tensor-shape x=3", &["--tensor-shape x=3", on_graph]),
        ("import function.onnx --dim-default 0", &["--dim-default"]),
        ("import branch.onnx --dim N=1 --value c=1,0", &["--value c=1,0: 2 values, but the input is"]),
        ("import branch.onnx --value c=x", &["NAME=I,J,.."]),
        ("import branch.onnx --value c=1 --value c=0", &["--value 'c' is given twice"]),
        ("import loop.onnx --tensor-shape w=3", &["--tensor-shape w=3: operator 1 'w' (Add) produces 2"]),
        ("import loop.onnx --tensor-shape ww=3", &["no tensor of that name; similar names: w"]),
        ("spill tiny.csv --dim-default 1", &["are not allowed with a CSV instance"]),
    ] {
        scratch.refuses(line, parts);
    }
}
