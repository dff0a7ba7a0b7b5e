//! Reruns the records in `results/` and compares all results that do not depend on time. If a test fails, an
//! algorithm now gives an answer that differs from the record. Either this is a defect, or the record must be
//! regenerated (`make results`, or `scripts/results.sh WORD`). Records of real instances and models are
//! checked if `PLIMSOLL_CORPORA` is set. The tests rerun a sample; with `--include-ignored`, they rerun all
//! short runs.

use crate::common::Scratch;
use plimsoll_lab::recheck::{Effort, Verdict, read_rows, recheck};
use plimsoll_lab::suite::Reading;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

type Row = BTreeMap<String, String>;

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
    let scratch = Scratch::new();
    let bench = [
        "bench",
        "embedded",
        "--algorithms",
        "naive,exact,mini-infer",
        "--node-limit",
        "1000",
        "--out",
        "record",
    ];
    scratch.plimsoll(&bench).exits(0);
    let good = scratch.plimsoll(&["recheck", "record"]).exits(0).stdout;
    assert!(good.starts_with("record") && good.lines().count() == 3, "{good}");
    let rows = scratch.read("record/rows.csv");
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = header.iter().position(|column| column == "buffers").unwrap();
    let mut lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let number = lines[0][at].to_owned();
    let cell = |(nth, cell)| if nth == at { "999999" } else { cell };
    lines[0] = lines[0].iter().enumerate().map(cell).collect();
    let mut writer = csv::Writer::from_path(scratch.path("changed.csv")).unwrap();
    [&header].into_iter().chain(&lines).for_each(|line| writer.write_record(line).unwrap());
    writer.flush().unwrap();
    let bad = scratch.plimsoll(&["recheck", "record", "changed.csv"]).exits(1).stdout;
    assert!(bad.contains("changed.csv: line 2: naive on "), "{bad}");
    assert!(bad.contains(&format!("buffers was 999999, is now {number}")), "{bad}");
    let json = scratch.plimsoll(&["recheck", "changed.csv", "--json", "--every", "1"]).exits(1).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["records"][0]["differ"], 1);
    assert_eq!(json["records"][0]["differences"][0]["line"], 2);

    scratch.write("other.csv", "graph,peak\na,1\n");
    scratch.plimsoll(&["recheck", "other.csv"]).refuses(&["other.csv", "missing column 'suite'"]);
    scratch.plimsoll(&["recheck", "nowhere"]).refuses(&["nowhere"]);
    scratch.write("torn.csv", format!("{rows}6,embedded"));
    scratch.plimsoll(&["recheck", "torn.csv"]).refuses(&["torn.csv", "line"]);
    scratch.write("moved.csv", rows.replace("embedded", "no-such-suite"));
    scratch.plimsoll(&["recheck", "moved.csv"]).refuses(&["moved.csv", "no-such-suite"]);
    scratch.plimsoll(&["recheck"]).exits(2);
}

/// A record of graphs. `{column}` in its command stands for the value of this column in the row.
struct OfGraphs {
    word: &'static str,
    /// The file that lists the families of its graphs.
    families: &'static str,
    /// Columns that distinguish the calls of the command; the column of the graph comes first.
    keys: &'static [&'static str],
    command: &'static str,
    /// True if models keep the batch size of their file.
    own_batch: bool,
}

/// The records that `bench` does not write.
const OF_GRAPHS: [OfGraphs; 1] = [OfGraphs {
    word: "structure",
    families: "networks.txt",
    keys: &["graph"],
    command: "plan {graph} --conflicts compare --time-limit 10",
    own_batch: true,
}];

fn read(path: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// Returns the paths of the graphs and instances of a record by name. Generated files are in a scratch
/// folder, and real files are in the corpora.
fn files(record: &OfGraphs, scratch: &Scratch) -> BTreeMap<String, PathBuf> {
    let families = root().join("datasets/data").join(record.families);
    for line in std::fs::read_to_string(families).unwrap().lines() {
        let words: Vec<&str> = ["generate"].into_iter().chain(line.split_whitespace()).collect();
        scratch.plimsoll(&words).exits(0);
    }
    let mut folders = vec![scratch.path("")];
    if let Some(corpora) = corpora() {
        folders.extend(["onnx", "tflite", "minimalloc"].map(|folder| corpora.join(folder)));
    }
    let mut found = BTreeMap::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy();
            // The file of instance A is A.1048576.csv.
            let name = if path.extension().is_some_and(|it| it == "csv") {
                stem.split('.').next().unwrap()
            } else {
                &stem
            };
            found.insert(name.to_owned(), path.clone());
        }
    }
    found
}

/// Returns the options that bind the free dimensions of a model.
fn open_shapes(path: &Path, own_batch: bool) -> &'static [&'static str] {
    if path.file_name().unwrap().to_string_lossy().starts_with("silero") {
        &["--input-shape", "input=1x576", "--input-shape", "state=2x1x128"]
    } else if path.extension().is_some_and(|it| it == "onnx") && !own_batch {
        &["--batch", "1"]
    } else {
        &[]
    }
}

/// Reruns the command of a row and returns the new rows.
fn rerun(record: &OfGraphs, row: &Row, graph: &Path, scratch: &Scratch) -> Vec<Row> {
    let filled = |word: &str| match word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
        Some(column) if column == record.keys[0] => graph.to_string_lossy().into_owned(),
        Some(column) => row[column].clone(),
        None => word.to_owned(),
    };
    let words: Vec<String> = record.command.split(' ').map(filled).collect();
    let output = scratch.path("rows.csv");
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    let run =
        command.args(&words).args(open_shapes(graph, record.own_batch)).arg("--output").arg(&output).output();
    let run = run.unwrap();
    // Exit code 1 means that nothing fits, which is recorded as a row too.
    assert!(matches!(run.status.code(), Some(0 | 1)), "{words:?}: {}", String::from_utf8_lossy(&run.stderr));
    read(&output)
}

/// Returns the rows without measured times and with the labels of unnamed operators reduced to their kinds.
fn repeatable(rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        row.remove("seconds");
        if let Some(witness) = row.get_mut("witness") {
            *witness = without_numbers(witness);
        }
    }
    rows
}

/// Reduces the labels of unnamed operators to their kinds. Older records number these operators (`'ADD#14'`),
/// and newer records label them by an output (`'ADD(sum)'`).
fn without_numbers(witness: &str) -> String {
    let kind = |name: &str| match name.split_once(['#', '(']) {
        Some((kind, rest)) if rest.ends_with(')') || rest.parse::<u64>().is_ok() => kind.to_owned(),
        _ => name.to_owned(),
    };
    witness.split('\'').map(kind).collect::<Vec<_>>().join("'")
}

fn graphs(record: &OfGraphs, slowest: f64, every: usize) {
    let Some(folder) = records().remove(record.word) else { return };
    let scratch = Scratch::new();
    let files = files(record, &scratch);
    let rows = read(&folder.join("rows.csv"));
    let key = |row: &Row| record.keys.iter().map(|&column| row[column].clone()).collect::<Vec<_>>();
    let (mut quick, mut compared) = (0, 0);
    for group in rows.chunk_by(|a, b| key(a) == key(b)) {
        let Some(graph) = files.get(&group[0][record.keys[0]]) else { continue };
        let seconds: f64 = group.iter().map(|row| row["seconds"].parse().unwrap_or(0.0)).sum();
        let by_clock = |row: &Row| row.get("stop").is_some_and(|stop| stop == "time-limit");
        if seconds > slowest || group.iter().any(by_clock) {
            continue;
        }
        quick += 1;
        if quick % every != 0 {
            continue;
        }
        compared += 1;
        let today = rerun(record, &group[0], graph, &scratch);
        let (recorded, today) = (repeatable(group), repeatable(&today));
        assert_eq!(recorded.len(), today.len(), "{}: {:?}: number of rows", record.word, key(&group[0]));
        for (recorded, today) in recorded.iter().zip(&today) {
            let differing = recorded.iter().find(|(name, value)| today.get(*name) != Some(*value));
            assert!(differing.is_none(), "{}: {differing:?} is on record, not {today:?}", record.word);
        }
    }
    assert!(compared > 0, "{}: nothing was compared", record.word);
    eprintln!("{}: {compared} of {quick} quick calls compared", record.word);
}

#[test]
fn graph_records_are_reproduced() {
    if let Some(reason) = plimsoll::excluded("ilp") {
        return eprintln!("skipped: {reason}");
    }
    for record in &OF_GRAPHS {
        graphs(record, 0.1, 7);
    }
}

#[test]
#[ignore = "takes minutes: reruns every call of at most two seconds"]
fn graph_records_are_reproduced_in_full() {
    if let Some(reason) = plimsoll::excluded("ilp") {
        return eprintln!("skipped: {reason}");
    }
    for record in &OF_GRAPHS {
        graphs(record, 2.0, 1);
    }
}

#[test]
fn unreadable_instances_are_compared_and_lines_refer_to_the_file() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("some")).unwrap();
    scratch.write("some/bad.csv", "id,lower,upper,size\na,0\n");
    scratch.write("some/good.csv", "id,lower,upper,size\na,0,3,5\nb,1,4,7\n");
    let words = ["bench", "some", "--algorithms", "exact", "--problems", "offsets", "--out", "record"];
    scratch.plimsoll(&words);
    scratch.plimsoll(&["recheck", "record"]).exits(0);
    // A quoted field may contain line breaks.
    let text = scratch.read("record/rows.csv").replace("line 2: ", "line\n2: ");
    assert!(text.contains(",12,12,"), "{text}");
    scratch.write("rows.csv", text.replace(",12,12,", ",13,12,"));
    let run = scratch.plimsoll(&["recheck", "rows.csv"]).exits(1);
    assert!(
        run.stdout.contains("rows.csv: line 4: exact on good: value was 13, is now 12"),
        "{}",
        run.stdout
    );
    scratch.write("some/bad.csv", "id,lower,upper,size\na,0,1,1\n");
    let run = scratch.plimsoll(&["recheck", "record"]).exits(1);
    assert!(run.stdout.contains("is now no instance of that name"), "{}", run.stdout);
}

#[test]
fn sweeps_that_omit_compared_columns_are_refused() {
    let scratch = Scratch::new();
    scratch.write("a.csv", "id,lower,upper,size\na,0,3,5\nb,1,4,7\n");
    let all = ["stop", "witness", "buffers", "load", "counters", "nodes"];
    for omitted in ["", "buffers", "load", "stop"] {
        let kept: Vec<&str> = all.into_iter().filter(|&name| name != omitted).collect();
        let head = format!("metrics = {kept:?}\n[limits]\nnodes = 100\n");
        let body = "[[instances]]\npath = \"a.csv\"\n[[algorithms]]\nnames = \"exact\"\n";
        scratch.write("sweep.toml", head + body);
        let folder = format!("record-{omitted}");
        scratch.plimsoll(&["sweep", "sweep.toml", "--out", &folder]).exits(0);
        if omitted.is_empty() {
            scratch.plimsoll(&["recheck", &folder]).exits(0);
        } else {
            let column = format!("missing column '{omitted}', which is compared");
            scratch.plimsoll(&["recheck", &folder]).refuses(&["rows.csv", &column, "`metrics`"]);
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
        scratch.plimsoll(&["reproduce", paper, "--out", paper]).exits(0);
        let rows = format!("{paper}/rows.csv");
        let recorded = std::fs::read_to_string(folder.join(&rows)).unwrap();
        assert_eq!(scratch.read(&format!("{paper}/{rows}")), recorded, "{paper}");
    }
}
