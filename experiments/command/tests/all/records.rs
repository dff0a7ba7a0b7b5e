//! Reruns the records in `results/` and compares all results that do not depend on time. If a test fails, an
//! algorithm now gives an answer that differs from the record. Either this is a defect, or the record must be
//! regenerated (`make results`, or `scripts/results.sh WORD`). Records of real instances and models are
//! checked if `PLIMSOLL_CORPORA` is set. The tests rerun a sample; with `--include-ignored`, they rerun all
//! short runs.

use crate::common::{Cells, Scratch};
use plimsoll_lab::recheck::{Effort, Verdict, read_rows, recheck};
use plimsoll_lab::suite::Reading;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn corpora() -> Option<PathBuf> {
    std::env::var_os("PLIMSOLL_CORPORA").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Returns the folders in `results/`, keyed by the part of their name after date and processor.
fn records() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("results")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Names consist of year, month, day, processor and keyword.
        if let Some(word) = name.splitn(5, '-').nth(4) {
            assert!(
                found.insert(word.to_owned(), path).is_none(),
                "two records of {word}: keep the later one"
            );
        }
    }
    found
}

fn header(rows: &Path) -> String {
    std::fs::read_to_string(rows).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

fn benchmarks(effort: Effort) {
    let registry = plimsoll::registry();
    let (mut same, mut differences) = (0, Vec::new());
    for (word, folder) in records() {
        let file = folder.join("rows.csv");
        if !header(&file).starts_with("schema_version,") {
            continue;
        }
        for finding in
            recheck(&read_rows(&file).unwrap(), &[], &registry, effort, &Reading::default()).unwrap()
        {
            match finding.verdict {
                Verdict::Same => same += 1,
                Verdict::Differs { .. } => differences.push(format!("{word}: {finding:?}")),
                Verdict::Left(_) => {}
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let enough = if corpora().is_some() { 100 } else { 50 };
    assert!(same >= enough, "only {same} rows were compared");
}

#[test]
fn benchmarks_are_reproduced() {
    benchmarks(Effort { slowest: 0.01, every: 7 });
}

#[test]
#[ignore = "takes minutes: reruns every run of at most half a second"]
fn benchmarks_are_reproduced_in_full() {
    benchmarks(Effort { slowest: 0.5, every: 1 });
}

#[test]
fn a_record_is_rerun_and_compared() {
    let scratch =
        Scratch::after("bench embedded --algorithms naive,exact,mini-infer --node-limit 1000 --out record");
    let good = scratch.ok("recheck record").stdout;
    assert!(good.starts_with("record") && good.lines().count() == 3, "{good}");
    let mut rows = scratch.cells("record/rows.csv");
    let number = rows[0].insert("buffers".to_owned(), "999999".to_owned()).unwrap();
    let mut writer = csv::Writer::from_path(scratch.path("changed.csv")).unwrap();
    writer.write_record(rows[0].keys()).unwrap();
    for row in &rows {
        writer.write_record(row.values()).unwrap();
    }
    writer.flush().unwrap();
    let bad = scratch.run("recheck record changed.csv").exits(1);
    let differs = format!("buffers was 999999, is now {number}");
    bad.prints(&["changed.csv: line 2: naive on ", &differs]);
    let json = scratch.run("recheck changed.csv --json --every 1").exits(1).json();
    let record = &json["records"][0];
    assert!(record["differ"] == 1 && record["differences"][0]["line"] == 2, "{record}");
    let rows = scratch.read("record/rows.csv");
    scratch.write("other.csv", "graph,peak\na,1\n");
    scratch.write("torn.csv", format!("{rows}6,embedded"));
    scratch.write("moved.csv", rows.replace("embedded", "no-such-suite"));
    for (name, part) in [
        ("other.csv", "missing column 'suite'"),
        ("nowhere", "nowhere"),
        ("torn.csv", "line"),
        ("moved.csv", "no-such-suite"),
    ] {
        scratch.refuses(format!("recheck {name}"), &[name, part]);
    }
    scratch.run("recheck").exits(2);
}

/// Returns the paths of the graphs of the record `structure` by name. Generated graphs are in a scratch folder,
/// and real models are in the corpora.
fn graphs(scratch: &Scratch) -> BTreeMap<String, PathBuf> {
    for line in std::fs::read_to_string(root().join("datasets/data/networks.txt")).unwrap().lines() {
        scratch.ok(format!("generate {line}"));
    }
    let mut folders = vec![scratch.path("")];
    if let Some(corpora) = corpora() {
        folders.extend(["onnx", "tflite"].map(|folder| corpora.join(folder)));
    }
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path)).collect()
}

/// Plans a graph as for the record `structure` and returns the new rows.
fn rerun(graph: &Path, scratch: &Scratch) -> Vec<Cells> {
    let path = graph.to_str().unwrap();
    let mut words =
        vec!["plan", path, "--conflicts", "compare", "--time-limit", "10", "--output", "rows.csv"];
    if graph.file_name().unwrap().to_string_lossy().starts_with("silero") {
        words.extend(["--input-shape", "input=1x576", "--input-shape", "state=2x1x128"]);
    }
    let run = scratch.plimsoll(&words);
    // Exit code 1 means that nothing fits, which is recorded as a row too.
    assert!(matches!(run.code, 0 | 1), "{words:?}: {}", run.stderr);
    scratch.cells("rows.csv")
}

/// Removes measured times, and reduces the labels of unnamed operators to their kinds. Older records number
/// these operators (`'ADD#14'`), and newer records label them by an output (`'ADD(sum)'`).
fn repeatable(row: &Cells) -> Cells {
    let kind = |name: &str| match name.split_once(['#', '(']) {
        Some((kind, rest)) if rest.ends_with(')') || rest.parse::<u64>().is_ok() => kind.to_owned(),
        _ => name.to_owned(),
    };
    let mut row = row.clone();
    row.remove("seconds");
    if let Some(witness) = row.get_mut("witness") {
        *witness = witness.split('\'').map(kind).collect::<Vec<_>>().join("'");
    }
    row
}

/// Reruns the record `structure`, which `bench` does not write.
fn structure(slowest: f64, every: usize) {
    if let Some(reason) = plimsoll::excluded("ilp") {
        return eprintln!("skipped: {reason}");
    }
    let Some(folder) = records().remove("structure") else { return };
    let scratch = Scratch::new();
    let graphs = graphs(&scratch);
    let mut reader = csv::Reader::from_path(folder.join("rows.csv")).unwrap();
    let rows: Vec<Cells> = reader.deserialize().map(Result::unwrap).collect();
    let (mut quick, mut compared) = (0, 0);
    for group in rows.chunk_by(|a, b| a["graph"] == b["graph"]) {
        let name = &group[0]["graph"];
        let Some(graph) = graphs.get(name) else { continue };
        let seconds: f64 = group.iter().map(|row| row["seconds"].parse().unwrap_or(0.0)).sum();
        let by_clock = |row: &Cells| row.get("stop").is_some_and(|stop| stop == "time-limit");
        if seconds > slowest || group.iter().any(by_clock) {
            continue;
        }
        quick += 1;
        if quick % every != 0 {
            continue;
        }
        compared += 1;
        let today = rerun(graph, &scratch);
        assert_eq!(group.len(), today.len(), "{name}: number of rows");
        for (recorded, today) in group.iter().map(repeatable).zip(today.iter().map(repeatable)) {
            let differing = recorded.iter().find(|(name, value)| today.get(*name) != Some(*value));
            assert!(differing.is_none(), "{name}: {differing:?} is on record, not {today:?}");
        }
    }
    assert!(compared > 0, "nothing was compared");
    eprintln!("{compared} of {quick} quick calls compared");
}

#[test]
fn graph_records_are_reproduced() {
    structure(0.1, 7);
}

#[test]
#[ignore = "takes minutes: reruns every call of at most two seconds"]
fn graph_records_are_reproduced_in_full() {
    structure(2.0, 1);
}

#[test]
fn unreadable_instances_are_compared_and_lines_refer_to_the_file() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("some")).unwrap();
    scratch.write("some/bad.csv", "id,lower,upper,size\na,0\n");
    scratch.write("some/good.csv", "id,lower,upper,size\na,0,3,5\nb,1,4,7\n");
    scratch.run("bench some --algorithms exact --problems offsets --out record");
    scratch.ok("recheck record");
    // A quoted field may contain line breaks.
    let text = scratch.read("record/rows.csv").replace("line 2: ", "line\n2: ");
    assert!(text.contains(",12,12,"), "{text}");
    scratch.write("rows.csv", text.replace(",12,12,", ",13,12,"));
    let run = scratch.run("recheck rows.csv").exits(1);
    run.prints(&["rows.csv: line 4: exact on good: value was 13, is now 12"]);
    scratch.write("some/bad.csv", "id,lower,upper,size\na,0,1,1\n");
    scratch.run("recheck record").exits(1).prints(&["is now no instance of that name"]);
}

#[test]
fn sweeps_that_omit_compared_columns_are_refused() {
    let scratch = Scratch::with("a.csv", "id,lower,upper,size\na,0,3,5\nb,1,4,7\n");
    let all = ["stop", "witness", "buffers", "load", "counters", "nodes"];
    for omitted in ["none", "buffers", "load", "stop"] {
        let kept: Vec<&str> = all.into_iter().filter(|&name| name != omitted).collect();
        let head = format!("metrics = {kept:?}\nlimits.nodes = 100\n");
        let body = "[[instances]]\npath = 'a.csv'\n[[algorithms]]\nnames = 'exact'\n";
        scratch.write("sweep.toml", head + body);
        scratch.ok(format!("sweep sweep.toml --out {omitted}"));
        if omitted == "none" {
            scratch.ok("recheck none");
        } else {
            let column = format!("missing column '{omitted}', which is compared");
            scratch.refuses(format!("recheck {omitted}"), &["rows.csv", &column, "`metrics`"]);
        }
    }
}

/// Reproduces the papers whose rows depend on neither corpora nor times.
#[test]
fn published_results_are_reproduced() {
    if let Some(reason) = plimsoll::excluded("ilp") {
        return eprintln!("skipped: {reason}");
    }
    let folder = &records()["reproduce"];
    let scratch = Scratch::new();
    for paper in ["patent", "fusion", "cann"] {
        scratch.ok(format!("reproduce {paper} --out {paper}"));
        let rows = format!("{paper}/rows.csv");
        let recorded = std::fs::read_to_string(folder.join(&rows)).unwrap();
        assert_eq!(scratch.read(&format!("{paper}/{rows}")), recorded, "{paper}");
    }
}
