//! Tests models in sweeps and benchmarks: the problems derived from them, and the values of their dimensions.

use crate::common::{Scratch, TINY, contains, has, seed};
use plimsoll_lab::row::{AlgorithmKind, Decide, Row, Status};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Returns a scratch folder with a folder `m` of models in all formats, including a model that cannot be
/// read.
fn models() -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("m")).unwrap();
    for name in ["branch.onnx", "convolution.onnx", "chain.tflite"] {
        scratch.write(&format!("m/{name}"), std::fs::read(seed(name)).unwrap());
    }
    scratch.ok("generate shared-if --seed 1 --out m/net.json");
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

/// Reruns a record and asserts that there are no differences.
fn rechecks(scratch: &Scratch, folder: &str) {
    let json = scratch.json(format!("recheck {folder} --slowest 60"));
    let record = &json["records"][0];
    assert!(record["differ"] == 0 && record["same"].as_u64() > Some(0), "{record}");
}

#[test]
fn one_sweep_compares_algorithms_over_a_folder_of_models() {
    let scratch = models();
    scratch.write("s.toml", SWEEP);
    let run = scratch.ok("sweep s.toml --out o --jobs 2");
    run.prints(&["rows         18 done, 12 unreadable\n"]).warns(&["dim = { N = 1 }"]);
    // Every error is shown once, with its file, and does not affect the other models.
    for part in ["unreadable: m/branch.onnx: 1 dimension has no value: N", "unreadable: m/torn.tflite: "] {
        assert_eq!(run.stderr.matches(part).count(), 1, "{}", run.stderr);
    }
    let found = scratch.rows("o");
    assert_eq!(found.len(), RUNS);
    let names: BTreeSet<[&str; 2]> = found.iter().map(|row| [&*row.suite, &*row.instance]).collect();
    let expected = ["chain", "convolution", "m/branch.onnx", "m/torn.tflite", "shared-if-1"];
    assert_eq!(names, expected.map(|name| ["m", name]).into());
    for row in found.iter().filter(|row| row.status == Status::Done) {
        let on_instance = row.problem == "offsets";
        let is_posed = row.terms.to_string() == "order=as-in-file";
        for is_set in [row.buffers.is_some(), row.load.is_some(), is_posed, !row.layout.is_empty()] {
            assert_eq!(is_set, on_instance, "{row:?}");
        }
        assert_eq!(row.operators.is_some(), !on_instance, "{row:?}");
    }
    // In the order of the file, a layout needs at least the peak of the best order.
    let value = |problem: &str| {
        let own = |row: &&Row| row.instance == "shared-if-1" && row.problem == problem;
        found.iter().filter(own).find(|row| row.algorithm == "exact").unwrap().value.unwrap()
    };
    assert!(value("orders") <= value("joint") && value("joint") <= value("offsets"));
    rechecks(&scratch, "o");
    scratch.ok("report o --out r");
    contains(&scratch.read("r/report.html"), &["order=as-in-file", "shared-if-1"]);
    let readme = scratch.read("o/README.md");
    contains(&readme, &["| m | m/branch.onnx, chain, convolution, .. (5 in all) | order=as-in-file |  |"]);
    assert!(readme.contains("| `layouts/*.csv` |") && !readme.contains("trace.csv"), "{readme}");
}

#[test]
fn sweeps_of_models_resume_and_join() {
    let scratch = models();
    scratch.write("s.toml", SWEEP);
    scratch.ok("sweep s.toml --out o");
    let wanted = scratch.steady("o");
    let whole = scratch.read("o/rows.csv");
    for length in [whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        scratch.write("o/rows.csv", &whole[..length]);
        let kept = scratch.json("sweep s.toml --out o")["kept"].as_u64().unwrap();
        assert!((1..RUNS as u64).contains(&kept));
        assert_eq!(scratch.steady("o"), wanted, "{length}");
    }
    for part in ["1", "2"] {
        scratch.ok(format!("sweep s.toml --out {part} --shard {part}/2"));
    }
    scratch.ok("merge 1 2 --out joined");
    assert_eq!(scratch.steady("joined"), wanted);
    assert!(scratch.read("joined/README.md").contains("| m | m/branch.onnx"));
    rechecks(&scratch, "joined");
    // A manifest without import options and terms, as older versions wrote it, describes the same sweep.
    let text =
        "[[instances]]\npath = 'm/c*.onnx'\nbatch = 2\n[[algorithms]]\nnames = 'exact'\nproblem = 'orders'\n";
    scratch.write("t.toml", text);
    scratch.ok("sweep t.toml --out t");
    let mut manifest = scratch.document("t/experiment.json");
    let input = manifest["sweep"]["inputs"][0].as_object_mut().unwrap();
    assert_eq!(input.remove("model").unwrap()["import"]["batch"], 2);
    scratch.write("t/experiment.json", manifest.to_string());
    has(&scratch.json("sweep t.toml --out t"), &json!({ "kept": 1 }));
    // A file with other terms describes another sweep.
    scratch.write("s.toml", SWEEP.replace("as =", "terms = \"order=exact\"\nas ="));
    let why = "o contains another sweep: instances: terms of m 'm/branch.onnx' is \"order=as-in-file\" instead \
         of \"order=exact\"";
    scratch.run("sweep s.toml --out o").exits(2).warns(&[why]);
}

#[test]
fn one_model_is_posed_in_several_ways() {
    let scratch = models();
    let text = "limits.nodes = 1000
[[instances]]
path = 'm/branch.onnx'
as = ['offsets', 'joint']
terms = 'order=exact boundary=outside'
dim = { N = [1, 4] }
[[instances]]
path = 'm/branch.onnx'
as = 'offsets'
dim_default = 4
[[instances]]
path = 'm/convolution.onnx'
as = ['offsets', 'spill']
input_shape = { x = [2, 2, 5, 5] }
element = 'float16'
[[algorithms]]
names = 'exact'
decide = 'load'
[[algorithms]]
names = 'exact'
problem = 'joint'
[[algorithms]]
names = 'exact'
problem = 'spilling'
[[algorithms]]
names = 'copy'
external = 'sh stack.sh {input} {output}'
";
    scratch.write("stack.sh", "awk -F, -v OFS=, 'NR == 1 { print $0, \"offset\"; next } { print $0, at + 0; at += $4 }' \"$1\" > \"$2\"\n");
    scratch.write("s.toml", text);
    scratch.ok("sweep s.toml --out o");
    let found = scratch.rows("o");
    let terms: Vec<String> = found.iter().map(|row| row.terms.to_string()).collect();
    let named: BTreeSet<[&str; 3]> =
        found.iter().zip(&terms).map(|(row, terms)| [&*row.instance, &*row.problem, &**terms]).collect();
    let (outside, file) = ("boundary=outside order=exact", "order=as-in-file");
    let spilling = found.iter().find(|row| row.problem == "spilling").unwrap().terms.to_string();
    let expected = [
        ["branch", "offsets", file],
        ["branch [N=1]", "joint", ""],
        ["branch [N=1]", "offsets", outside],
        ["branch [N=4]", "joint", ""],
        ["branch [N=4]", "offsets", outside],
        ["convolution", "offsets", file],
        ["convolution", "spilling", &spilling],
    ];
    assert_eq!(named, expected.into());
    assert!(found.iter().all(|row| row.status == Status::Done && row.value.is_some()), "{found:?}");
    // Apart from one byte for the condition, all sizes are multiples of N.
    let value = |instance: &str| {
        let own = |row: &&Row| row.instance == instance && row.problem == "joint";
        found.iter().filter(own).find(|row| row.kind == Some(AlgorithmKind::Exact)).unwrap().value.unwrap()
    };
    assert_eq!(4 * (value("branch [N=1]") - 1), value("branch [N=4]") - 1);
    // The load of each instance is the capacity to decide.
    assert!(found.iter().filter(|row| row.decide == Some(Decide::Load)).all(|row| row.capacity == row.load));
    rechecks(&scratch, "o");
    let readme = scratch.read("o/README.md");
    contains(&readme, &["| m/branch.onnx | branch [N=4] | boundary=outside order=exact | --dim N=4 |"]);
    contains(&readme, &["--input-shape x=2x2x5x5 --element float16"]);
}

#[test]
fn invalid_posings_name_line_key_and_value() {
    let scratch = models();
    scratch.write("i.csv", TINY);
    let algorithms = "[[algorithms]]\nnames = 'exact'\n";
    let only_offsets = "terms is allowed only with as = \"offsets\"";
    for (entry, more, parts) in [
        (
            "path = 'm'\nas = 'offset'",
            "",
            &["line 1: instances[1]: as: unknown problem 'offset'; known: offsets"][..],
        ),
        ("path = 'm'\nas = ['orders', 'order']", "", &["as: 'order' is given twice"]),
        ("path = 'm'\nas = 3", "", &["line 3", "expected a quoted string"]),
        ("path = 'm'\nas = 'joint'\nterms = 'order=exact'", "", &[only_offsets, "[[algorithms]]"]),
        ("path = 'm'\nterms = 'order=exact'", "", &[only_offsets]),
        ("path = 'm'\nas = 'offsets'\nterms = 'order=x'", "", &["terms: term order=x: expected an order"]),
        (
            "path = 'm'\nas = 'offsets'\nterms = 'machine=luna'",
            "",
            &["terms: unknown term 'machine'", "order"],
        ),
        ("path = 'i.csv'\nas = 'joint'", "", &["as: joint needs a graph or a model, but 'i' is an instance"]),
        (
            "path = 'm'\nas = ['offsets', 'joint']",
            "",
            &["line 1", "as: no algorithm in this file solves joint"],
        ),
        ("path = 'm'\nas = 'offsets'\nbatch = 0", "", &["batch is 0; expected at least 1"]),
        ("path = 'm'\nas = 'offsets'\ndim = { N = '0..1001' }", "", &["more than 1000 combinations"]),
        ("path = 'm'\nas = 'offsets'\ninput_shape = { x = [-1] }", "", &["line 4"]),
        (
            "family = 'chain'\nas = 'offsets'\nelement = 'float16'",
            "",
            &["element is allowed only with suite"],
        ),
        (
            "path = 'm'",
            "[[algorithms]]\nnames = 'greedy'\nproblem = 'orders'\n",
            &["no instance to run on; as = \"offsets\" derives instances from models"],
        ),
        (
            "path = 'm'\nas = 'offsets'",
            "terms = 'order=exact'\n",
            &["line 4", "terms: unknown term 'order' for offsets"],
        ),
    ] {
        scratch.write("s.toml", format!("[[instances]]\n{entry}\n{algorithms}{more}"));
        scratch.run("sweep s.toml --out o").exits(2).warns(parts);
        assert!(!scratch.path("o").exists(), "{entry}");
    }
}

#[test]
fn benchmarks_derive_instances_from_models() {
    let scratch = models();
    let line = "bench m --problems offsets,orders,shared-objects --node-limit 1000 --out o --report";
    let run = scratch.ok(format!("{line} --algorithms exact,first-fit-size,shared-greedy-by-size"));
    run.warns(&["m/branch.onnx: 1 dimension has no value"]);
    let found = scratch.rows("o");
    let count = |is_own: &dyn Fn(&Row) -> bool| found.iter().filter(|row| is_own(row)).count();
    let of = |problem: &str| count(&|row| row.problem == problem);
    let unreadable = count(&|row| row.status == Status::Unreadable);
    assert_eq!([of("offsets"), of("orders"), unreadable], [10, 5, 8]);
    assert!(scratch.path("o/maps/chain.svg").exists());
    rechecks(&scratch, "o");
    // The same runs give the same results in a sweep.
    scratch.write("s.toml", SWEEP);
    scratch.ok("sweep s.toml --out swept");
    let key =
        |row: &Row| [row.instance.clone(), row.problem.clone(), row.terms.to_string(), row.algorithm.clone()];
    let swept: BTreeMap<_, Row> = scratch.rows("swept").into_iter().map(|row| (key(&row), row)).collect();
    for row in found.iter().filter(|row| row.problem == "offsets") {
        let result = |row: &Row| (row.sha256.clone(), row.value, row.lower_bound);
        assert_eq!(result(row), result(&swept[&key(row)]));
    }
    // Every occurrence of --terms defines a separate question.
    let line = "bench m/net.json --problems offsets";
    scratch.ok(format!("{line} --algorithms first-fit-size --out p --terms order=exact --terms align=64"));
    let terms: Vec<String> = scratch.rows("p").iter().map(|row| row.terms.to_string()).collect();
    assert_eq!(terms, ["order=exact", "align=64 order=as-in-file"]);
    rechecks(&scratch, "p");
    let why = "--terms: term order=x: expected an order algorithm";
    scratch.refuses(format!("{line} --terms order=x"), &[why]);
    // If the inputs include an instance, no instances are derived from graphs.
    scratch.write("i.csv", TINY);
    scratch.ok("bench i.csv m/net.json --problems offsets --algorithms first-fit-size --out q");
    assert_eq!(scratch.rows("q").len(), 1);
}
