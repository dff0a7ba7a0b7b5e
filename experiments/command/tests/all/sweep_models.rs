//! Tests models in sweeps and benchmarks: the problems derived from them, and the values of their dimensions.

use crate::common::{Scratch, TINY};
use plimsoll_lab::row::{AlgorithmKind, Decide, MEASURED, Row, Status, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns a scratch folder with a folder `m` of models in all formats, including a model that cannot be
/// read.
fn models() -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("m")).unwrap();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for name in ["onnx_model/branch.onnx", "onnx_model/convolution.onnx", "tflite_model/chain.tflite"] {
        let seed = std::fs::read(seeds.join(name)).unwrap();
        scratch.write(&format!("m/{}", name.split_once('/').unwrap().1), seed);
    }
    scratch.plimsoll(&["generate", "shared-if", "--seed", "1", "--out", "m/net.json"]).exits(0);
    scratch.write("m/torn.tflite", b"\x1c\0\0\0TFL3");
    scratch
}

const SWEEP: &str = r#"
layouts = true

[limits]
nodes = 1000

[[instances]]
path = "m"
as = ["offsets", "order", "joint", "overlap"]

[[algorithms]]
names = ["exact", "first-fit-size"]
[[algorithms]]
names = ["exact", "greedy"]
problem = "orders"
[[algorithms]]
names = "exact"
problem = "joint"
[[algorithms]]
names = "prefetch"
problem = "timelines"
"#;

/// Number of runs of [`SWEEP`].
const RUNS: usize = 5 * 6;

fn rows(scratch: &Scratch, folder: &str) -> Vec<Row> {
    read(&scratch.path(folder).join("rows.csv")).unwrap()
}

/// Returns the rows without measured times and memory.
fn steady(scratch: &Scratch, folder: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(scratch.path(folder).join("rows.csv")).unwrap();
    let rows = reader.deserialize::<BTreeMap<String, String>>().map(Result::unwrap);
    rows.map(|row| row.into_iter().filter(|(name, _)| !MEASURED.contains(&name.as_str())).collect()).collect()
}

/// Reruns a record and asserts that there are no differences.
fn rechecks(scratch: &Scratch, folder: &str) {
    let json = scratch.plimsoll(&["recheck", folder, "--json", "--slowest", "60"]).exits(0).json();
    let record = &json["records"][0];
    assert!(record["differ"] == 0 && record["same"].as_u64() > Some(0), "{record}");
}

#[test]
fn one_sweep_compares_algorithms_over_a_folder_of_models() {
    let scratch = models();
    scratch.write("s.toml", SWEEP);
    let run = scratch.plimsoll(&["sweep", "s.toml", "--out", "o", "--jobs", "2"]).exits(0);
    assert!(run.stdout.contains("rows         18 done, 12 unreadable\n"), "{}", run.stdout);
    // Every error is shown once, with its file, and does not affect the other models.
    for part in ["unreadable: m/branch.onnx: 1 dimension has no value: N", "unreadable: m/torn.tflite: "] {
        assert_eq!(run.stderr.matches(part).count(), 1, "{}", run.stderr);
    }
    assert!(run.stderr.contains("dim = { N = 1 }"), "{}", run.stderr);
    let found = rows(&scratch, "o");
    assert_eq!(found.len(), RUNS);
    let names: BTreeSet<(&str, &str)> =
        found.iter().map(|row| (row.suite.as_str(), row.instance.as_str())).collect();
    let expected = ["chain", "convolution", "m/branch.onnx", "m/torn.tflite", "shared-if-1"];
    assert_eq!(names, expected.map(|name| ("m", name)).into());
    for row in found.iter().filter(|row| row.status == Status::Done) {
        let on_instance = row.problem == "offsets";
        assert_eq!((row.buffers.is_some(), row.operators.is_some()), (on_instance, !on_instance), "{row:?}");
        assert_eq!(
            (row.load.is_some(), row.terms.to_string() == "order=as-in-file"),
            (on_instance, on_instance)
        );
        assert_eq!(row.layout.is_empty(), !on_instance, "{row:?}");
    }
    // In the order of the file, a layout needs at least the peak of the best order.
    let value = |problem: &str| {
        let own = |row: &&Row| row.instance == "shared-if-1" && row.problem == problem;
        found.iter().filter(own).find(|row| row.algorithm == "exact").unwrap().value.unwrap()
    };
    assert!(value("orders") <= value("joint") && value("joint") <= value("offsets"));
    rechecks(&scratch, "o");
    scratch.plimsoll(&["report", "o", "--out", "r"]).exits(0);
    let page = scratch.read("r/report.html");
    assert!(page.contains("order=as-in-file") && page.contains("shared-if-1"));
    let readme = scratch.read("o/README.md");
    assert!(
        readme.contains("| m | m/branch.onnx, chain, convolution, .. (5 in all) | order=as-in-file |  |")
    );
    assert!(readme.contains("| `layouts/*.csv` |") && !readme.contains("trace.csv"), "{readme}");
}

#[test]
fn sweeps_of_models_resume_and_join() {
    let scratch = models();
    scratch.write("s.toml", SWEEP);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "o"]).exits(0);
    let wanted = steady(&scratch, "o");
    let whole = scratch.read("o/rows.csv");
    for length in [whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        scratch.write("o/rows.csv", &whole[..length]);
        let json = scratch.plimsoll(&["sweep", "s.toml", "--out", "o", "--json"]).exits(0).json();
        assert!((1..RUNS as u64).contains(&json["kept"].as_u64().unwrap()));
        assert_eq!(steady(&scratch, "o"), wanted, "{length}");
    }
    for part in ["1", "2"] {
        let shard = format!("{part}/2");
        scratch.plimsoll(&["sweep", "s.toml", "--out", part, "--shard", &shard]).exits(0);
    }
    scratch.plimsoll(&["merge", "1", "2", "--out", "joined"]).exits(0);
    assert_eq!(steady(&scratch, "joined"), wanted);
    assert!(scratch.read("joined/README.md").contains("| m | m/branch.onnx"));
    rechecks(&scratch, "joined");
    // A manifest without import options and terms, as older versions wrote it, describes the same sweep.
    scratch.write("t.toml", "[[instances]]\npath = \"m/c*.onnx\"\nbatch = 2\n[[algorithms]]\nnames = \"exact\"\nproblem = \"orders\"\n");
    scratch.plimsoll(&["sweep", "t.toml", "--out", "t"]).exits(0);
    let mut manifest: serde_json::Value = serde_json::from_str(&scratch.read("t/experiment.json")).unwrap();
    let input = manifest["sweep"]["inputs"][0].as_object_mut().unwrap();
    assert_eq!(input.remove("model").unwrap()["import"]["batch"], 2);
    scratch.write("t/experiment.json", manifest.to_string());
    let json = scratch.plimsoll(&["sweep", "t.toml", "--out", "t", "--json"]).exits(0).json();
    assert_eq!(json["kept"], 1);
    // A file with other terms describes another sweep.
    scratch.write("s.toml", SWEEP.replace("as =", "terms = \"order=exact\"\nas ="));
    let run = scratch.plimsoll(&["sweep", "s.toml", "--out", "o"]).exits(2);
    assert!(run.stderr.contains(
        "o contains another sweep: instances: terms of m 'm/branch.onnx' is \"order=as-in-file\" instead \
         of \"order=exact\""
    ));
}

#[test]
fn one_model_is_posed_in_several_ways() {
    let scratch = models();
    let text = r#"
[limits]
nodes = 1000
[[instances]]
path = "m/branch.onnx"
as = ["offsets", "joint"]
terms = "order=exact boundary=outside"
dim = { N = [1, 4] }
[[instances]]
path = "m/branch.onnx"
as = "offsets"
dim_default = 4
[[instances]]
path = "m/convolution.onnx"
as = ["offsets", "spill"]
input_shape = { x = [2, 2, 5, 5] }
element = "float16"
[[algorithms]]
names = "exact"
decide = "load"
[[algorithms]]
names = "exact"
problem = "joint"
[[algorithms]]
names = "exact"
problem = "spilling"
[[algorithms]]
names = "copy"
external = "sh stack.sh {input} {output}"
"#;
    scratch.write("stack.sh", "awk -F, -v OFS=, 'NR == 1 { print $0, \"offset\"; next } { print $0, at + 0; at += $4 }' \"$1\" > \"$2\"\n");
    scratch.write("s.toml", text);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "o"]).exits(0);
    let found = rows(&scratch, "o");
    let terms: Vec<String> = found.iter().map(|row| row.terms.to_string()).collect();
    let named: BTreeSet<[&str; 3]> =
        found.iter().zip(&terms).map(|(row, terms)| [&*row.instance, &*row.problem, &**terms]).collect();
    let (outside, file) = ("boundary=outside order=exact", "order=as-in-file");
    let spilling = found.iter().find(|row| row.problem == "spilling").unwrap().terms.to_string();
    assert_eq!(
        named,
        [
            ["branch", "offsets", file],
            ["branch [N=1]", "joint", ""],
            ["branch [N=1]", "offsets", outside],
            ["branch [N=4]", "joint", ""],
            ["branch [N=4]", "offsets", outside],
            ["convolution", "offsets", file],
            ["convolution", "spilling", &spilling],
        ]
        .into()
    );
    assert!(found.iter().all(|row| row.status == Status::Done && row.value.is_some()), "{found:?}");
    let value = |instance: &str, problem: &str| {
        let own = |row: &&Row| {
            row.instance == instance && row.problem == problem && row.kind == Some(AlgorithmKind::Exact)
        };
        found.iter().find(own).unwrap().value.unwrap()
    };
    // Apart from one byte for the condition, all sizes are multiples of N.
    assert_eq!(4 * (value("branch [N=1]", "joint") - 1), value("branch [N=4]", "joint") - 1);
    // The load of each instance is the capacity to decide.
    assert!(found.iter().filter(|row| row.decide == Some(Decide::Load)).all(|row| row.capacity == row.load));
    rechecks(&scratch, "o");
    let readme = scratch.read("o/README.md");
    assert!(readme.contains("| m/branch.onnx | branch [N=4] | boundary=outside order=exact | --dim N=4 |"));
    assert!(readme.contains("--input-shape x=2x2x5x5 --element float16"), "{readme}");
}

#[test]
fn invalid_posings_name_line_key_and_value() {
    let scratch = models();
    scratch.write("i.csv", TINY);
    for (entry, algorithms, parts) in [
        (
            "path = \"m\"\nas = \"offset\"",
            "",
            &["line 1: instances[1]: as: unknown problem 'offset'; known: offsets"][..],
        ),
        ("path = \"m\"\nas = [\"orders\", \"order\"]", "", &["as: 'order' is given twice"]),
        ("path = \"m\"\nas = 3", "", &["line 3", "expected a quoted string"]),
        (
            "path = \"m\"\nas = \"joint\"\nterms = \"order=exact\"",
            "",
            &["terms is allowed only with as = \"offsets\"", "[[algorithms]]"],
        ),
        ("path = \"m\"\nterms = \"order=exact\"", "", &["terms is allowed only with as = \"offsets\""]),
        (
            "path = \"m\"\nas = \"offsets\"\nterms = \"order=x\"",
            "",
            &["terms: term order=x: expected an order"],
        ),
        (
            "path = \"m\"\nas = \"offsets\"\nterms = \"machine=luna\"",
            "",
            &["terms: unknown term 'machine'", "order"],
        ),
        (
            "path = \"i.csv\"\nas = \"joint\"",
            "",
            &["as: joint needs a graph or a model, but 'i' is an instance"],
        ),
        (
            "path = \"m\"\nas = [\"offsets\", \"joint\"]",
            "",
            &["line 1", "as: no algorithm in this file solves joint"],
        ),
        ("path = \"m\"\nas = \"offsets\"\nbatch = 0", "", &["batch is 0; expected at least 1"]),
        ("path = \"m\"\nas = \"offsets\"\ndim = { N = \"0..1001\" }", "", &["more than 1000 combinations"]),
        ("path = \"m\"\nas = \"offsets\"\ninput_shape = { x = [-1] }", "", &["line 4"]),
        (
            "family = \"chain\"\nas = \"offsets\"\nelement = \"float16\"",
            "",
            &["element is allowed only with suite"],
        ),
        ("path = \"m\"", "", &["no instance to run on; as = \"offsets\" derives instances from models"]),
        (
            "path = \"m\"\nas = \"offsets\"",
            "terms = \"order=exact\"",
            &["line 4", "terms: unknown term 'order' for offsets"],
        ),
    ] {
        let orders = if parts[0].contains("no instance to run on") {
            "[[algorithms]]\nnames = \"greedy\"\nproblem = \"orders\"\n"
        } else {
            ""
        };
        let text =
            format!("[[instances]]\n{entry}\n[[algorithms]]\nnames = \"exact\"\n{algorithms}\n{orders}");
        scratch.write("s.toml", text);
        let run = scratch.plimsoll(&["sweep", "s.toml", "--out", "o"]).exits(2);
        assert!(parts.iter().all(|part| run.stderr.contains(part)), "{entry}\n{}", run.stderr);
        assert!(!scratch.path("o").exists(), "{entry}");
    }
}

#[test]
fn benchmarks_derive_instances_from_models() {
    let scratch = models();
    let words = ["bench", "m", "--problems", "offsets,orders,shared-objects", "--node-limit", "1000"];
    let more = ["--algorithms", "exact,first-fit-size,shared-greedy-by-size", "--out", "o", "--report"];
    let run = scratch.plimsoll(&[&words[..], &more].concat()).exits(0);
    assert!(
        run.stdout.contains("instances are derived from the graphs, with order=as-in-file\n"),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains("m/branch.onnx: 1 dimension has no value"), "{}", run.stderr);
    let found = rows(&scratch, "o");
    let of = |problem: &str| found.iter().filter(|row| row.problem == problem).count();
    assert_eq!(
        (of("offsets"), of("orders"), found.iter().filter(|row| row.status == Status::Unreadable).count()),
        (10, 5, 8)
    );
    assert!(scratch.path("o/maps/chain.svg").exists());
    rechecks(&scratch, "o");
    // The same runs give the same results in a sweep.
    scratch.write("s.toml", SWEEP);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "swept"]).exits(0);
    let key =
        |row: &Row| [row.instance.clone(), row.problem.clone(), row.terms.to_string(), row.algorithm.clone()];
    let swept: BTreeMap<_, Row> = rows(&scratch, "swept").into_iter().map(|row| (key(&row), row)).collect();
    for row in found.iter().filter(|row| row.problem == "offsets") {
        let other = &swept[&key(row)];
        assert_eq!(
            (&row.sha256, row.value, row.lower_bound),
            (&other.sha256, other.value, other.lower_bound)
        );
    }
    // Every occurrence of --terms defines a separate question.
    let words =
        ["bench", "m/net.json", "--problems", "offsets", "--algorithms", "first-fit-size", "--out", "p"];
    scratch.plimsoll(&[&words[..], &["--terms", "order=exact", "--terms", "align=64"]].concat()).exits(0);
    let terms: Vec<String> = rows(&scratch, "p").into_iter().map(|row| row.terms.to_string()).collect();
    assert_eq!(terms, ["order=exact", "align=64 order=as-in-file"]);
    rechecks(&scratch, "p");
    scratch
        .plimsoll(&["bench", "m/net.json", "--problems", "offsets", "--terms", "order=x"])
        .refuses(&["--terms: term order=x: expected an order algorithm"]);
    // If the inputs include an instance, no instances are derived from graphs.
    scratch.write("i.csv", TINY);
    let words = ["bench", "i.csv", "m/net.json", "--problems", "offsets", "--algorithms", "first-fit-size"];
    scratch.plimsoll(&[&words[..], &["--out", "q"]].concat()).exits(0);
    assert_eq!(rows(&scratch, "q").len(), 1);
}
