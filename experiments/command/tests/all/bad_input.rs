//! Bad input and usage give one line on standard error, exit code 2 and no panic; infeasible input gives exit
//! code 1.

use crate::common::{Scratch, TINY};

/// Name and content of an instance file, and the required parts of the message.
const BAD_INSTANCES: &[(&str, &str, &[&str])] = &[
    ("missing-column", "id,lower,upper\na,0,1\n", &["line 1", "'size'"]),
    ("wrong-column", "id,lower,upper,sise\na,0,1,4\n", &["line 1", "'size'", "'sise'"]),
    ("negative", "id,lower,upper,size\na,0,1,-4\n", &["line 2", "'size'", "'-4'"]),
    ("overflow", "id,lower,upper,size\na,0,1,99999999999999999999\n", &["line 2", "'size'", "999"]),
    (
        "sum-overflow",
        "id,lower,upper,size\na,0,1,9000000000000000000\nb,0,1,9000000000000000000\n",
        &["line 3", "'size'", "overflow"],
    ),
    ("fraction", "id,lower,upper,size\na,0,1,4.5\n", &["line 2", "'size'", "'4.5'"]),
    ("backwards", "id,lower,upper,size\na,5,5,4\n", &["line 2", "'upper'", "5"]),
    ("twice", "id,lower,upper,size\na,0,1,4\nb,0,1,4\na,1,2,4\n", &["line 4", "'id'", "'a'", "line 2"]),
    ("zero", "id,lower,upper,size\na,1,0,0\n", &["line 2", "'upper'", "contains no step"]),
    ("empty", "", &["empty"]),
    ("fields", "id,lower,upper,size\na,0,1\n", &["line 2", "3 fields", "4"]),
    (
        "off-alignment",
        "id,lower,upper,size,alignment,offset\na,0,1,4,8,12\nb,0,1,4,8,\n",
        &["line 2", "'offset'", "12", "8"],
    ),
    ("window", "id,lower,upper,size,gaps\na,0,9,4,2-4@0:2\n", &["line 2", "'gaps'", "2-4@0:2"]),
];

#[test]
fn errors_in_instances_name_file_line_column_and_value() {
    let scratch = Scratch::new();
    scratch.write("layout.csv", "id,offset\na,0\n");
    for (name, text, parts) in BAD_INSTANCES {
        let file = format!("{name}.csv");
        scratch.write(&file, text);
        let parts: Vec<&str> = parts.iter().copied().chain([file.as_str()]).collect();
        scratch.plimsoll(&["solve", &file, "--algorithm", "first-fit-size"]).refuses(&parts);
        scratch.plimsoll(&["verify", &file, "layout.csv"]).refuses(&parts);
    }
}

#[test]
fn unreadable_files_are_named() {
    let scratch = Scratch::new();
    scratch.write("latin1.csv", b"id,lower,upper,size\n\xe4,0,1,4\n");
    scratch.write("tiny.csv", TINY);
    let solve = |file: &str| scratch.plimsoll(&["solve", file, "--algorithm", "first-fit-size"]);
    solve("latin1.csv").refuses(&["latin1.csv", "line 2", "UTF-8"]);
    solve("absent.csv").refuses(&["absent.csv", "cannot read"]);
    solve(".").refuses(&["it is a folder"]);
    scratch.plimsoll(&["verify", "tiny.csv", "absent.csv"]).refuses(&["absent.csv"]);
    let certificate = scratch.write("bad.json", "{\"version\": 1");
    scratch.write("layout.csv", "id,offset\na,0\nb,4\nc,4\n");
    let certificate = certificate.to_str().unwrap();
    scratch
        .plimsoll(&["verify", "tiny.csv", "layout.csv", "--certificate", certificate])
        .refuses(&["bad.json", "certificate"]);
}

#[test]
fn layouts_of_other_instances_are_rejected() {
    let scratch = Scratch::new();
    scratch.write("tiny.csv", TINY);
    for (text, parts) in [
        ("id,offset\na,0\nb,4\n", &["'c'", "not placed"][..]),
        ("id,offset\na,0\nb,4\nc,4\nd,4\n", &["line 5", "'d'"]),
        ("id,offset\na,0\nb,4\nb,4\n", &["line 4", "'b'", "line 3"]),
        ("id,offset\na,0\nb,-4\nc,4\n", &["line 3", "'offset'", "'-4'"]),
        ("id,size,offset\na,5,0\nb,4,4\nc,4,4\n", &["line 2", "'size'", "'5'"]),
        ("id\na\n", &["'offset'"]),
        ("", &["empty"]),
    ] {
        scratch.write("layout.csv", text);
        scratch.plimsoll(&["verify", "tiny.csv", "layout.csv"]).refuses(parts);
    }
}

#[test]
fn usage_errors_are_one_line() {
    let scratch = Scratch::new();
    scratch.write("tiny.csv", TINY);
    scratch.write("tiny.8.csv", TINY);
    let refuses = |words: &[&str], parts: &[&str]| {
        scratch.plimsoll(words).refuses(parts);
    };
    refuses(&["slove"], &["slove", "solve"]);
    refuses(&["solve"], &["INSTANCE"]);
    refuses(
        &["solve", "tiny.csv", "--algorithm", "first-fit-siez"],
        &["first-fit-siez", "did you mean 'first-fit-size'"],
    );
    for (name, parts) in [
        ("search:-mem", ["'search' has no parameter '-mem'", "-memo"]),
        ("naive:-memo", ["'naive' has no parameter '-memo'", "none"]),
        ("serach:-memo", ["unknown algorithm 'serach:-memo'", "plimsoll list"]),
    ] {
        refuses(&["solve", "tiny.csv", "--algorithm", name], &parts);
        refuses(&["bench", "tiny.csv", "--algorithms", name], &parts);
    }
    refuses(&["solve", "tiny.csv", "--problem", "offset"], &["offset", "shared-objects"]);
    for limit in ["-1", "nan", "NaN", "inf", "soon", "1e99"] {
        refuses(&["solve", "tiny.csv", &format!("--time-limit={limit}")], &["--time-limit", limit]);
    }
    for (option, value) in [
        ("--capacity", "-1"),
        ("--capacity", "1.5"),
        ("--capacity", "99999999999999999999"),
        ("--node-limit", "-1"),
        ("--threads", "0"),
        ("--seed", "x"),
        ("--endpoints", "open"),
    ] {
        refuses(&["solve", "tiny.csv", &format!("{option}={value}")], &[option, value]);
    }
    refuses(&["solve", "tiny.csv", "--capacity", "8", "--no-capacity"], &["--no-capacity"]);
    refuses(&["solve", "tiny.csv", "--algorithm", "first-fit-size", "--decide"], &["capacity"]);
}

#[test]
fn outputs_are_checked_before_any_work() {
    let scratch = Scratch::new();
    scratch.write("tiny.csv", TINY);
    scratch.write("tiny", TINY);
    let solve = |words: &[&str]| {
        let all: Vec<&str> = ["solve", "tiny.csv", "--algorithm", "first-fit-size"]
            .into_iter()
            .chain(words.iter().copied())
            .collect();
        scratch.plimsoll(&all)
    };
    for option in ["--output", "--plot", "--certificate"] {
        solve(&[option, "absent/file"]).refuses(&["absent", "does not exist"]);
        solve(&[option, "."]).refuses(&["it is a folder"]);
        // A name without a suffix is accepted for every format, so only the conflict with the input is an
        // error.
        let words = ["solve", "tiny", "--algorithm", "first-fit-size", option, "tiny"];
        scratch.plimsoll(&words).refuses(&["tiny", "input"]);
    }
    solve(&["--output", "same", "--plot", "./same"]).refuses(&["two outputs name the same file"]);
    assert_eq!((scratch.read("tiny.csv"), scratch.read("tiny")), (TINY.to_owned(), TINY.to_owned()));
}

#[test]
fn files_do_not_replace_the_inputs_from_which_they_are_made() {
    let scratch = Scratch::new();
    scratch.write("keep.csv", TINY);
    for family in ["refilled", "welded", "thinned", "reversed", "attributed"] {
        scratch
            .plimsoll(&["generate", family, "--of", "keep.csv", "--out", "keep.csv"])
            .refuses(&["cannot write keep.csv: it is an input of this command"]);
        assert_eq!(scratch.read("keep.csv"), TINY);
    }
    scratch.write("page.html", "<script id=\"data\"></script>");
    scratch
        .plimsoll(&["view", "keep.csv", "--page", "page.html", "-o", "page.html"])
        .refuses(&["cannot write page.html: it is an input of this command"]);
    scratch.write("scratch.csv", "subgraph,operator,bytes\n0,0,4\n");
    for words in [&["tiers", "--machine", "generic"][..], &["overlap", "--machine", "luna"]] {
        let more = ["net.json", "--scratch", "scratch.csv", "--output", "scratch.csv"];
        scratch.plimsoll(&[words, &more].concat()).refuses(&["scratch.csv: it is an input of this command"]);
    }
}

#[test]
fn negative_values_are_rejected_with_the_name_of_the_option() {
    let scratch = Scratch::new();
    scratch.write("tiny.csv", TINY);
    for (command, option) in [
        (&["solve", "tiny.csv"][..], "--capacity"),
        (&["solve", "tiny.csv"], "--seed"),
        (&["solve", "tiny.csv"], "--time-limit"),
        (&["plan", "tiny.csv"], "--runs"),
        (&["audit", "tiny.csv"], "--planner-peak"),
        (&["audit", "tiny.csv"], "--max-gap"),
        (&["generate", "uniform"], "--count"),
        (&["measure", "calibrate"], "--repeat"),
    ] {
        scratch.plimsoll(&[command, &[option, "-1"]].concat()).refuses(&["invalid value '-1'", option]);
    }
}

#[test]
fn lists_in_json_are_not_objects() {
    let scratch = Scratch::new();
    let graph = |tensors: &str, body: &str| {
        format!(
            r#"{{"format": "plimsoll-graph", "version": 1, "name": "x", "tensors": {tensors}, "body": {body}}}"#
        )
    };
    for text in ["[]".to_owned(), graph("[]", "[]"), graph(r#"[["a", 4]]"#, "{}")] {
        scratch.write("net.json", text);
        for command in ["import", "plan", "audit"] {
            scratch
                .plimsoll(&[command, "net.json"])
                .refuses(&["net.json: line 1, ", "a list is not an object"]);
        }
    }
    scratch.write("tiny.csv", TINY);
    scratch.plimsoll(&["solve", "tiny.csv", "-o", "l.csv", "--certificate", "c.json"]).exits(0);
    let certificate: serde_json::Value = serde_json::from_str(&scratch.read("c.json")).unwrap();
    let mut other = certificate.clone();
    other["lower_bound"]["witness"] = serde_json::json!(["load", 0]);
    for text in ["[1]".to_owned(), other.to_string()] {
        scratch.write("c.json", text);
        scratch
            .plimsoll(&["verify", "tiny.csv", "l.csv", "--certificate", "c.json"])
            .refuses(&["c.json: not a certificate: ", "a list is not an object"]);
    }
}

#[test]
fn errors_name_the_file() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    scratch.write("empty.toml", "");
    scratch
        .plimsoll(&["fuse", "net.json", "--units", "empty.toml"])
        .refuses(&["empty.toml, line 1: the list of processing units is empty"]);
    std::fs::create_dir(scratch.path("folder")).unwrap();
    for words in [&["order"][..], &["plan"], &["import"], &["fuse"], &["spill", "--capacity", "9"]] {
        let run = scratch.plimsoll(&[words, &["folder"]].concat()).exits(2);
        assert!(run.stderr.starts_with("plimsoll: folder: it is a folder, not a graph"), "{}", run.stderr);
    }
    scratch.write("tiny.csv", TINY);
    let run = scratch.plimsoll(&["spill", "tiny.csv", "--capacity", "6", "--traffic", "none.csv"]).exits(2);
    assert!(run.stderr.starts_with("plimsoll: none.csv: "), "{}", run.stderr);
    let run = scratch.plimsoll(&["spill", "tiny.csv", "--capacity", "6", "--keep", "z"]).exits(2);
    assert!(run.stderr.starts_with("plimsoll: tiny.csv: no buffer is called 'z'"), "{}", run.stderr);
}

#[test]
fn bad_benchmarks_are_rejected() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("full")).unwrap();
    scratch.write("full/file", "x");
    let refuses = |words: &[&str], parts: &[&str]| {
        scratch.plimsoll(words).refuses(parts);
    };
    refuses(&["bench", "nonsense"], &["nonsense", "embedded"]);
    refuses(&["bench", "minimalloc"], &["PLIMSOLL_CORPORA"]);
    refuses(&["bench", "--algorithms", "exakt"], &["exakt", "'exact'", "plimsoll list algorithms"]);
    refuses(&["bench", "--external", "x"], &["NAME="]);
    refuses(&["bench", "--external", "x=cmd {input}"], &["{output}"]);
    refuses(&["bench", "--external", "first-fit-size=cmd {input} {output}"], &["taken"]);
    refuses(&["bench", "--out", "full"], &["full", "--force"]);
    refuses(&["bench", "--seeds", "0"], &["--seeds"]);
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_written_in_place() {
    use std::process::{Command, Stdio};
    let scratch = Scratch::new();
    scratch.write("i.csv", "id,lower,upper,size\na,0,2,4\n");
    scratch.write("real.csv", "old");
    std::os::unix::fs::symlink(scratch.path("real.csv"), scratch.path("link.csv")).unwrap();
    scratch.plimsoll(&["solve", "i.csv", "-o", "link.csv"]).exits(0);
    assert!(std::fs::symlink_metadata(scratch.path("link.csv")).unwrap().is_symlink());
    assert!(scratch.read("real.csv").contains("offset"));
    let pipe = scratch.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    scratch.plimsoll(&["solve", "i.csv", "-o", "pipe"]).exits(0);
    if std::fs::symlink_metadata(&pipe).unwrap().is_file() {
        reader.kill().unwrap();
        panic!("the pipe was replaced");
    }
    let read = reader.wait_with_output().unwrap();
    assert!(String::from_utf8(read.stdout).unwrap().contains("offset"));
}

#[test]
fn suffixes_of_other_formats_are_rejected() {
    let scratch = Scratch::new();
    scratch.write("tiny.9.csv", TINY);
    let refused: [(&[&str], &str, &str); 26] = [
        (
            &["solve", "tiny.9.csv", "-o"],
            "x.json",
            "the output is CSV or a C header, not JSON; use a name ending in .csv or .h",
        ),
        (
            &["solve", "tiny.9.csv", "--plot"],
            "x.tif",
            "the output is a picture, not '.tif'; use a name ending in .svg or .png",
        ),
        (&["solve", "tiny.9.csv", "-o"], "x.cvs", "the output is CSV or a C header, not '.cvs'"),
        (&["bench", "--out"], "x.csv", "the output is a folder, not CSV; use a name without a suffix"),
        (&["sweep", "s.toml", "--out"], "x.json", "the output is a folder, not JSON"),
        (&["man"], "x.txt.gz", "the output is a folder, not a compressed file"),
        (&["solve", "tiny.9.csv", "--certificate"], "x.csv", "the output is JSON, not CSV"),
        (&["import", "net.json", "-o"], "x.toml", "the output is JSON"),
        (&["import", "net.json", "--dot"], "x.svg", "use a name ending in .dot or .gv"),
        (&["order", "net.json", "--instance"], "x.json", "the output is CSV"),
        (&["order", "net.json", "-o"], "x.html", "the output is CSV, not HTML"),
        (&["order", "net.json", "--plot"], "x.pdf", "the output is a picture, not PDF"),
        (&["plan", "net.json", "-o"], "x.csv.gz", "the output is CSV, not a compressed file"),
        (&["plan", "net.json", "--tensors"], "x.md", "the output is CSV, JSON or a C header"),
        (&["plan", "net.json", "--orders"], "x.JSON", "the output is CSV"),
        (&["plan", "net.json", "--plot"], "x.jpg", "the output is a picture, not JPEG"),
        (&["overlap", "net.json", "--trace"], "x.svg", "the output is JSON"),
        (&["overlap", "net.json", "--gantt"], "x.webp", "the output is a picture"),
        (&["overlap", "net.json", "--instructions"], "x.json", "the output is CSV"),
        (&["spill", "tiny.9.csv", "--capacity", "6", "--output"], "x.json", "the output is CSV"),
        (&["tiers", "net.json", "--machine", "generic", "--output"], "x.json", "the output is CSV"),
        (&["fuse", "net.json", "--output"], "x.csv", "--output 'x.csv': the output is JSON, not CSV"),
        (&["fuse", "net.json", "--compare", "--output"], "x.json", "--output 'x.json': the output is CSV"),
        (&["measure", "calibrate", "-o"], "x.json", "the output is TOML, not JSON"),
        (&["generate", "uniform", "--out"], "x.json", "--out 'x.json': the output is CSV, not JSON"),
        (&["generate", "lenet5", "--out"], "x.csv", "--out 'x.csv': the output is JSON, not CSV"),
    ];
    for (words, name, why) in refused {
        scratch.plimsoll(&[words, &[name]].concat()).refuses(&[name, why]);
        assert!(!scratch.path(name).exists(), "{name}");
    }
    for name in ["x", "x.txt", "x.log", "x.CSV", "/dev/null"] {
        scratch.plimsoll(&["solve", "tiny.9.csv", "--algorithm", "first-fit-size", "-o", name]).exits(0);
    }
}

/// Copies a model from the seeds of the fuzz targets.
fn model(scratch: &Scratch, name: &str) {
    let seed =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/onnx_model").join(name);
    scratch.write(name, std::fs::read(seed).unwrap());
}

#[test]
fn errors_about_free_dimensions_name_the_options_that_bind_them() {
    let scratch = Scratch::new();
    for name in ["branch.onnx", "function.onnx", "loop.onnx"] {
        model(&scratch, name);
    }
    for command in ["import", "order", "plan"] {
        scratch.plimsoll(&[command, "branch.onnx"]).refuses(&[
            "branch.onnx: 1 dimension has no value: N ('x' dimension 0); try --dim N=1, or --dim-default 1",
        ]);
        scratch.plimsoll(&[command, "branch.onnx", "--dim", "N=1"]).exits(0);
        scratch.plimsoll(&[command, "branch.onnx", "--dim-default", "1", "--value", "c=1"]).exits(0);
    }
    let import = |words: &[&str]| scratch.plimsoll(&[&["import"], words].concat());
    let made = import(&["function.onnx", "--dim-default", "3", "--json", "-o", "graph.json"]).exits(0);
    drop(made);
    import(&["graph.json", "--dim-default", "3"])
        .refuses(&["graph.json: --dim-default 3", "the option does not apply to a graph"]);
    import(&["graph.json", "--value", "x=3"])
        .refuses(&["graph.json: --value x=3", "the option does not apply to a graph"]);
    import(&["graph.json", "--tensor-shape", "x=3"])
        .refuses(&["--tensor-shape x=3", "the option does not apply to a graph"]);
    import(&["function.onnx", "--dim-default", "0"]).refuses(&["--dim-default"]);
    import(&["branch.onnx", "--dim", "N=1", "--value", "c=1,0"])
        .refuses(&["--value c=1,0: 2 values, but the input is"]);
    import(&["branch.onnx", "--value", "c=x"]).refuses(&["NAME=I,J,.."]);
    import(&["branch.onnx", "--value", "c=1", "--value", "c=0"]).refuses(&["--value 'c' is given twice"]);
    import(&["loop.onnx", "--tensor-shape", "w=3"])
        .refuses(&["--tensor-shape w=3: operator 1 'w' (Add) produces 2"]);
    import(&["loop.onnx", "--tensor-shape", "ww=3"]).refuses(&["no tensor of that name; similar names: w"]);
    import(&["loop.onnx", "--tensor-shape", "w=2"]).exits(0);
    scratch.write("tiny.csv", TINY);
    scratch
        .plimsoll(&["spill", "tiny.csv", "--dim-default", "1"])
        .refuses(&["are not allowed with a CSV instance"]);
}

#[test]
fn missing_arguments_are_explained() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    let run = scratch.plimsoll(&["overlap", "net.json"]).exits(2);
    assert!(
        run.stderr.contains("--machine <NAME|FILE.toml>; Machine: luna, ethos-u, generic"),
        "{}",
        run.stderr
    );
    let run = scratch.plimsoll(&["reproduce"]).exits(2);
    assert!(run.stderr.contains("<PAPER>; Paper: luna, mini-infer"), "{}", run.stderr);
}
