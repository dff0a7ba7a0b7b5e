//! Tests `sweep` and `merge`: runs, stored rows, resuming, and joining shards.

use crate::common::{Scratch, TINY};
use plimsoll::model::Claim;
use plimsoll_lab::row::{MEASURED, Row, Status, read};
use std::collections::BTreeMap;

const SMALL: &str = r#"
seeds = "0..2"
repetitions = 2

[limits]
nodes = [50, 200]

[[instances]]
family = "uniform"
buffers = [5, 30]
seeds = [1, 2]

[[algorithms]]
names = ["first-fit-size", "search"]

[[algorithms]]
names = "shared-greedy-by-size"
seeds = 0
repetitions = 1
"#;

/// Number of runs of [`SMALL`].
const RUNS: usize = 4 * (2 * 2 * 2 * 2 + 2);

type Cells = BTreeMap<String, String>;

/// Returns the rows without measured times and memory.
fn steady(scratch: &Scratch, folder: &str) -> Vec<Cells> {
    let mut reader = csv::Reader::from_path(scratch.path(folder).join("rows.csv")).unwrap();
    let rows = reader.deserialize::<Cells>().map(Result::unwrap);
    rows.map(|row| row.into_iter().filter(|(name, _)| !MEASURED.contains(&name.as_str())).collect()).collect()
}

fn rows(scratch: &Scratch, folder: &str) -> Vec<Row> {
    read(&scratch.path(folder).join("rows.csv")).unwrap()
}

fn small() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("s.toml", SMALL);
    scratch
}

#[test]
fn every_run_has_a_row_in_order() {
    let scratch = small();
    let run = scratch.plimsoll(&["sweep", "s.toml", "--out", "a"]).exits(0);
    assert!(
        run.stdout.starts_with(&format!("runs         {RUNS}\nrows         {RUNS} done\n")),
        "{}",
        run.stdout
    );
    let rows = rows(&scratch, "a");
    assert_eq!(rows.len(), RUNS);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!((row.run, row.key.len(), row.sha256.len()), (at as u64, 32, 64));
        assert_eq!(row.status, Status::Done);
        assert!(row.lower_bound.unwrap() <= row.value.unwrap() && row.load.is_some());
        assert!(row.seconds.unwrap() >= 0.0 && row.timestamp.ends_with('Z') && row.machine.cores > 0);
        assert!(cfg!(not(target_os = "linux")) || row.peak_memory_bytes >= row.resident_bytes);
    }
    assert_eq!((rows[0].instance.as_str(), rows[0].algorithm.as_str()), ("uniform-5-1", "first-fit-size"));
    assert_eq!((rows[0].node_limit, rows[0].seed, rows[1].repetition, rows[2].seed), (Some(50), 0, 2, 1));
    let last = rows.last().unwrap();
    assert_eq!(
        (last.problem.as_str(), last.node_limit, last.suite.as_str()),
        ("shared-objects", Some(200), "uniform")
    );
    let keys: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
    assert_eq!(keys.len(), RUNS);
    // Concurrent runs give the same rows, and a second sweep has nothing to run.
    let words = ["sweep", "s.toml", "--out", "b", "--jobs", "3", "--json"];
    let json = scratch.plimsoll(&words).exits(0).json();
    assert_eq!((json["runs"].as_u64(), json["kept"].as_u64()), (Some(RUNS as u64), Some(0)));
    assert_eq!(steady(&scratch, "a"), steady(&scratch, "b"));
    let before = scratch.read("b/rows.csv");
    let json = scratch.plimsoll(&words).exits(0).json();
    assert_eq!(
        (json["kept"].as_u64(), json["statuses"]["done"].as_u64()),
        (Some(RUNS as u64), Some(RUNS as u64))
    );
    assert_eq!(scratch.read("b/rows.csv"), before);
}

#[test]
fn a_dry_run_lists_runs_and_writes_nothing() {
    let scratch = small();
    let run = scratch.narrow(&["sweep", "s.toml", "--dry-run"]).exits(0);
    // Long lines continue below their text.
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    assert_eq!(run.stdout.lines().filter(|line| !line.starts_with(' ')).count(), RUNS + 1);
    assert!(run.stdout.starts_with(&format!(
        "{RUNS} runs: 4 instances, 3 algorithms\n0  uniform uniform-5-1 by first-fit-size"
    )));
    let json =
        scratch.plimsoll(&["sweep", "s.toml", "--dry-run", "--json", "--shard", "2/3"]).exits(0).json();
    let listed: Vec<u64> =
        json["list"].as_array().unwrap().iter().map(|run| run["run"].as_u64().unwrap()).collect();
    assert_eq!(listed, (0..RUNS as u64).filter(|run| run % 3 == 1).collect::<Vec<_>>());
    assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), 1);
    scratch.plimsoll(&["sweep", "s.toml"]).refuses(&["--out"]);
}

#[test]
fn failures_are_rows() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("set")).unwrap();
    scratch.write("set/bad.csv", "id,lower,upper,size\na,5,5,4\n");
    scratch.write("set/tiny.8.csv", TINY);
    scratch.write("free.csv", TINY);
    scratch.write(
        "s.toml",
        r#"
metrics = ["stop", "seconds"]
[[instances]]
path = "set"
[[instances]]
path = "fr*.csv"
[[instances]]
family = "uniform"
buffers = 400
[[algorithms]]
names = ["first-fit-size", "brute-force"]
decide = "file"
"#,
    );
    scratch.plimsoll(&["sweep", "s.toml", "--out", "o"]).exits(0);
    let rows = rows(&scratch, "o");
    let of = |instance: &str| {
        let own = rows.iter().filter(|row| row.instance.contains(instance));
        own.map(|row| row.status.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of("bad.csv"), ["unreadable"; 2]);
    assert!(
        rows[0].instance == "set/bad.csv" && rows[0].error.starts_with("set/bad.csv: line 2"),
        "{:?}",
        rows[0]
    );
    assert_eq!(of("tiny"), ["done"; 2]);
    assert_eq!((rows[2].capacity, rows[2].stop.is_some(), rows[2].nodes), (Some(8), true, None));
    assert_eq!(of("free"), ["skipped"; 2]);
    assert!(rows[4].error.contains("no capacity to decide"));
    let header = scratch.read("o/rows.csv").lines().next().unwrap().to_owned();
    assert!(header.ends_with(",lower_bound,error,stop,seconds"), "{header}");
}

#[test]
fn unsupported_instances_are_rows() {
    let scratch = Scratch::new();
    let text = SMALL.replace("\"search\"", "\"brute-force\"").replace("[5, 30]", "400");
    scratch.write("s.toml", text);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "o"]).exits(0);
    let rows = rows(&scratch, "o");
    let declined: Vec<&Row> = rows.iter().filter(|row| row.algorithm == "brute-force").collect();
    assert!(!declined.is_empty());
    assert!(
        declined.iter().all(|row| row.status == Status::Skipped && row.error.contains("exceed the limit"))
    );
}

#[test]
fn graphs_are_ordered() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "shared-if", "--seed", "1", "--out", "net.json"]).exits(0);
    scratch.write("bad.json", "{}");
    scratch.write(
        "s.toml",
        r#"
[[instances]]
graph = "*.json"
[[instances]]
family = "chain"
params = { n = [3, 4] }
[[algorithms]]
names = ["exact", "as-in-file"]
problem = "orders"
"#,
    );
    scratch.plimsoll(&["sweep", "s.toml", "--out", "o"]).exits(0);
    let rows = rows(&scratch, "o");
    assert!(rows.iter().filter(|row| row.instance == "bad.json").all(|row| row.status == Status::Unreadable));
    let exact = rows.iter().find(|row| row.instance == "shared-if-1" && row.algorithm == "exact").unwrap();
    assert_eq!((exact.value, exact.claim, exact.operators), (Some(12051), Some(Claim::Optimal), Some(18)));
    assert!(rows.iter().any(|row| row.instance == "chain-n-4-0" && row.status == Status::Done));
}

#[test]
fn a_sweep_resumes_from_any_byte() {
    let scratch = small();
    scratch.plimsoll(&["sweep", "s.toml", "--out", "a"]).exits(0);
    let (whole, wanted) = (scratch.read("a/rows.csv"), steady(&scratch, "a"));
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let row = whole.len() - lines[RUNS].len() - lines[RUNS - 1].len();
    // The file is truncated in the header, within a row, between rows, and one byte before the end.
    for length in [0, 10, lines[0].len(), row + 1, row + 40, row + lines[RUNS - 1].len(), whole.len() - 1] {
        scratch.write("a/rows.csv", &whole[..length]);
        let json = scratch.plimsoll(&["sweep", "s.toml", "--out", "a", "--json"]).exits(0).json();
        let piece = &whole[..length];
        let kept = piece.matches('\n').count().saturating_sub(1);
        assert_eq!(json["kept"].as_u64(), Some(kept as u64), "{length}");
        assert_eq!(json["torn_bytes"] != 0, !piece.is_empty() && !piece.ends_with('\n'));
        assert_eq!(steady(&scratch, "a"), wanted, "{length}");
    }
    // Rows removed from the middle are restored at the same position.
    let thinned: String =
        lines.iter().enumerate().filter(|(at, _)| at % 3 != 1).map(|(_, line)| *line).collect();
    scratch.write("a/rows.csv", thinned);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "a", "--jobs", "2"]).exits(0);
    assert_eq!(steady(&scratch, "a"), wanted);
}

#[test]
fn rows_of_another_sweep_are_rejected() {
    let scratch = small();
    scratch.plimsoll(&["sweep", "s.toml", "--out", "a"]).exits(0);
    let whole = scratch.read("a/rows.csv");
    let words = ["sweep", "s.toml", "--out", "a"];
    scratch.write("a/rows.csv", format!("{whole}{}", whole.lines().nth(1).unwrap()) + "\n");
    scratch.plimsoll(&words).refuses(&["rows.csv: line 74: run 0 already has a row"]);
    scratch.write("a/rows.csv", whole.replacen("\n6,0,", "\n6,1,", 1));
    scratch.plimsoll(&words).refuses(&["line 2: run 1 with key"]);
    scratch.write("a/rows.csv", whole.replacen("run,key", "key,run", 1));
    scratch.plimsoll(&words).refuses(&["a/rows.csv: line"]);
    scratch.write("a/rows.csv", "run,key\n");
    scratch.plimsoll(&words).refuses(&["line 1: the columns differ from those of this sweep"]);
    scratch.write("a/rows.csv", &whole);
    std::fs::remove_file(scratch.path("a/experiment.json")).unwrap();
    scratch.plimsoll(&words).refuses(&["a contains another sweep: found rows.csv without experiment.json"]);
    scratch.write("a/experiment.json", "{}");
    scratch
        .plimsoll(&words)
        .refuses(&["a/experiment.json: line 1, column 2: the member 'format' is missing"]);
}

#[test]
fn a_changed_sweep_is_rejected_with_the_difference() {
    let scratch = small();
    scratch.plimsoll(&["sweep", "s.toml", "--out", "a"]).exits(0);
    for (from, to, difference) in [
        (
            "buffers = [5, 30]",
            "buffers = [5, 31]",
            "instances: uniform 'uniform-30-1' instead of uniform 'uniform-31-1'",
        ),
        (
            "seeds = [1, 2]",
            "seeds = [1, 2, 3]",
            "instances: uniform 'uniform-30-1' instead of uniform 'uniform-5-3'",
        ),
        ("[50, 200]", "[50]", "algorithm first-fit-size (offsets): nodes is [50,200] instead of [50]"),
        ("[50, 200]", "[50, 200]\ntime = 1.5", "time is [none] instead of [1.5]"),
        ("[50, 200]", "[50, 200]\nmemory = 9999999999", "limits.memory is none instead of 9999999999"),
        ("\"0..2\"", "\"0..3\"", "seeds is [0,1] instead of [0,1,2]"),
        ("repetitions = 2", "repetitions = 3", "repetitions is 2 instead of 3"),
        (
            "\"search\"",
            "\"first-fit-start\"",
            "algorithms: search (offsets) instead of first-fit-start (offsets)",
        ),
        ("repetitions = 2", "repetitions = 2\nmetrics = []", "metrics is none instead of []"),
        ("names = \"shared", "threads = 2\nnames = \"shared", "threads is 1 instead of 2"),
    ] {
        scratch.write("t.toml", SMALL.replacen(from, to, 1));
        scratch
            .plimsoll(&["sweep", "t.toml", "--out", "a"])
            .refuses(&["a contains another sweep: ", difference]);
    }
    // A different file that describes the same sweep is accepted.
    scratch.write("t.toml", format!("# again\n{}", SMALL.replace("\"0..2\"", "[0, 1]")));
    scratch.plimsoll(&["sweep", "t.toml", "--out", "a"]).exits(0);
    scratch
        .plimsoll(&["sweep", "s.toml", "--out", "a", "--shard", "1/2"])
        .refuses(&["all runs instead of shard 1/2"]);
}

#[test]
fn a_changed_instance_is_another_sweep() {
    let scratch = Scratch::new();
    scratch.write("i.csv", TINY);
    scratch.write("s.toml", "[[instances]]\npath = \"i.csv\"\n[[algorithms]]\nnames = \"first-fit-size\"\n");
    scratch.plimsoll(&["sweep", "s.toml", "--out", "a"]).exits(0);
    scratch.write("i.csv", TINY.replace(",4\n", ",5\n"));
    scratch
        .plimsoll(&["sweep", "s.toml", "--out", "a"])
        .refuses(&["instances: i.csv 'i' has different contents"]);
}

#[test]
fn shards_join_to_the_whole_sweep() {
    let scratch = small();
    scratch.plimsoll(&["sweep", "s.toml", "--out", "whole"]).exits(0);
    for part in ["1", "2", "3"] {
        let shard = format!("{part}/3");
        scratch.plimsoll(&["sweep", "s.toml", "--out", part, "--shard", &shard, "--jobs", "2"]).exits(0);
    }
    assert_eq!(rows(&scratch, "1").len() + rows(&scratch, "2").len() + rows(&scratch, "3").len(), RUNS);
    let run = scratch.plimsoll(&["merge", "3", "1", "2", "--out", "m"]).exits(0);
    assert!(run.stdout.starts_with(&format!("rows         {RUNS} of {RUNS} runs\n")), "{}", run.stdout);
    assert_eq!(steady(&scratch, "m"), steady(&scratch, "whole"));
    // The joined folder belongs to the whole sweep.
    let json = scratch.plimsoll(&["sweep", "s.toml", "--out", "m", "--json"]).exits(0).json();
    assert_eq!(json["kept"].as_u64(), Some(RUNS as u64));
    scratch
        .plimsoll(&["merge", "1", "2", "3", "--out", "m"])
        .refuses(&["m already contains rows; --force replaces them"]);
    scratch.plimsoll(&["merge", "1", "2", "3", "--out", "m", "--force"]).exits(0);
    scratch
        .plimsoll(&["merge", "1", "2", "3", "--out", "1", "--force"])
        .refuses(&["the output folder 1 is one of the input folders"]);
    scratch.plimsoll(&["merge", "1", "2", "--out", "n"]).refuses(&[
        "24 of 72 runs are missing: 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, ..; missing shards: 3/3 (--partial",
    ]);
    scratch.plimsoll(&["merge", "1", "2", "2", "3", "--out", "n"]).refuses(&[
        "run 1 (uniform uniform-5-1 by first-fit-size) is duplicated: in 2/rows.csv and in 2/rows.csv",
    ]);
    scratch.plimsoll(&["merge", "1", "whole", "--out", "n"]).refuses(&[
        "run 0",
        "is duplicated",
        "1/rows.csv",
        "whole/rows.csv",
    ]);
    scratch.plimsoll(&["merge", "1", "nowhere", "--out", "n"]).refuses(&["nowhere contains no sweep"]);
    scratch.write("t.toml", SMALL.replace("\"0..2\"", "\"0..3\""));
    scratch.plimsoll(&["sweep", "t.toml", "--out", "4", "--shard", "3/3"]).exits(0);
    scratch
        .plimsoll(&["merge", "1", "2", "4", "--out", "n"])
        .refuses(&["1 does not belong to the same sweep as 4: algorithm first-fit-size (offsets): seeds is"]);
    // A partial merge can be completed.
    let run = scratch.plimsoll(&["merge", "1", "2", "--out", "p", "--partial"]).exits(0);
    assert!(run.stdout.contains("missing      24 of 72 runs"), "{}", run.stdout);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "p"]).exits(0);
    assert_eq!(steady(&scratch, "p"), steady(&scratch, "whole"));
}

#[test]
fn files_of_other_origin_are_kept() {
    let scratch = small();
    std::fs::create_dir(scratch.path("own")).unwrap();
    scratch.write("own/README.md", "mine");
    let why = "cannot write own: it is neither empty nor the folder of a sweep";
    scratch.plimsoll(&["sweep", "s.toml", "--out", "own"]).refuses(&[why]);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "own", "--slurm", "--no-submit"]).refuses(&[why]);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "a"]).exits(0);
    scratch.plimsoll(&["merge", "a", "--out", "own"]).refuses(&[why, "--force writes into it anyway"]);
    assert_eq!(std::fs::read_dir(scratch.path("own")).unwrap().count(), 1);
    assert_eq!(scratch.read("own/README.md"), "mine");
    // A sweep that was killed before it wrote its manifest starts again.
    std::fs::create_dir(scratch.path("begun")).unwrap();
    scratch.write("begun/experiment.lock", "");
    scratch.write("begun/README.md", "");
    scratch.plimsoll(&["sweep", "s.toml", "--out", "begun"]).exits(0);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "begun"]).exits(0);
    scratch.plimsoll(&["merge", "a", "--out", "own", "--force"]).exits(0);
}

#[test]
fn a_sweep_without_readable_inputs_fails() {
    let scratch = Scratch::new();
    scratch.write("bad.csv", "id,lower,upper,size\na,5,5,4\n");
    let text = "[[instances]]\npath = \"bad.csv\"\n[[algorithms]]\nnames = \"first-fit-size\"\n";
    scratch.write("s.toml", text);
    let run = scratch.plimsoll(&["sweep", "s.toml", "--out", "a"]).exits(2);
    assert!(run.stderr.ends_with("none of the instances and graphs could be read\n"), "{}", run.stderr);
    assert_eq!(rows(&scratch, "a")[0].status, Status::Unreadable);
    let submit = ["sweep", "s.toml", "--out", "b", "--slurm", "--no-submit", "--array", "4"];
    let run = scratch.plimsoll(&submit).exits(0);
    assert!(run.stdout.starts_with("runs         1 in 1 shard\n"), "{}", run.stdout);
}

#[test]
fn names_with_parameters_are_checked() {
    let scratch = Scratch::new();
    scratch.write("i.csv", TINY);
    for (names, part) in [
        ("'search:-mem'", "line 4: algorithms[1]: 'search' has no parameter '-mem'"),
        (
            "['search:-memo:-twins', 'search:-twins:-memo']",
            "run 1 duplicates run 0: i.csv i by search:-memo:-twins (offsets)",
        ),
    ] {
        scratch
            .write("s.toml", format!("[[instances]]\npath = 'i.csv'\n\n[[algorithms]]\nnames = {names}\n"));
        scratch.plimsoll(&["sweep", "s.toml", "--dry-run"]).refuses(&[part]);
    }
}

#[test]
fn errors_in_sweep_files_name_line_key_and_value() {
    let scratch = Scratch::new();
    scratch.write("i.csv", TINY);
    let instances = "[[instances]]\npath = \"i.csv\"\n";
    let algorithms = "[[algorithms]]\nnames = \"first-fit-size\"\n";
    for (text, parts) in [
        ("", &["s.toml: line 1: missing field `instances`"][..]),
        ("x = 1\n", &["line 1", "unknown field `x`"]),
        (instances, &["missing field `algorithms`"]),
        ("instances = []\nalgorithms = []\n", &["instances: the list is empty"]),
        ("[[instances]]\nsuit = \"x\"\n", &["line 2", "unknown field `suit`"]),
        ("[[instances]]\nsuite = \"x\"\n", &["line 1: instances[1]: unknown suite 'x'; known: embedded"]),
        ("[[instances]]\n", &["instances[1]: expected one of suite, path, family, graph; none is given"]),
        ("[[instances]]\nsuite = \"a\"\npath = \"b\"\n", &["given: suite, path"]),
        ("[[instances]]\npath = \"no.csv\"\n", &["instances[1]: path 'no.csv'", "neither"]),
        ("[[instances]]\npath = \"z*.csv\"\n", &["'z*.csv' contains no file with instances"]),
        (
            "[[instances]]\npath = \"i.csv\"\nonly = \"x*\"\n",
            &["no instance of path 'i.csv' matches only = [\"x*\"]"],
        ),
        (
            "[[instances]]\npath = \"i.csv\"\nbuffers = 5\n",
            &["buffers is allowed only with family, not with path 'i.csv'"],
        ),
        ("[[instances]]\npath = \"i.csv\"\nendpoints = \"odd\"\n", &["endpoints is 'odd'"]),
        ("[[instances]]\nfamily = \"packing\"\nparams = { buffer = 5 }\n", &["family 'packing'", "buffer"]),
        (
            "[[instances]]\nfamily = \"packing\"\nbuffers = 5\nparams = { buffers = 5 }\n",
            &["cannot both be given"],
        ),
        ("[[instances]]\nfamily = \"uniform\"\nbuffers = 0\n", &["buffers is 0, but must be at least 1"]),
        (
            "[[instances]]\nfamily = \"uniform\"\nbuffers = -1\n",
            &["line 3", "-1 is not a non-negative whole number"],
        ),
        ("[[instances]]\nfamily = \"uniform\"\nbuffers = []\n", &["line 3", "the list is empty"]),
        (
            "[[instances]]\nfamily = \"uniform\"\nbuffers = \"3..3\"\n",
            &["line 3", "the range '3..3' is empty"],
        ),
        (
            "[[instances]]\nfamily = \"uniform\"\nbuffers = 1.5\n",
            &["line 3", "expected a non-negative whole number"],
        ),
        ("[[instances]]\nfamily = \"odd\"\nbuffers = 1\n", &["unknown family 'odd'; known: uniform"]),
        (
            "[[instances]]\nfamily = \"chain\"\nparams = { m = 1 }\n",
            &["chain has no parameter 'm'; it has n"],
        ),
        ("[[instances]]\ngraph = \"no.json\"\n", &["graph 'no.json': no such file"]),
    ] {
        let rest = if text.contains("[[") && text != instances { algorithms } else { "" };
        scratch.write("s.toml", format!("{text}{rest}"));
        scratch.plimsoll(&["sweep", "s.toml", "--dry-run"]).refuses(parts);
    }
    for (text, parts) in [
        (
            "names = \"first-fit-siz\"\n",
            &["line 3: algorithms[1]: unknown algorithm 'first-fit-siz' for offsets; expected one of "][..],
        ),
        ("names = \"first-fit-size\"\nproblem = \"x\"\n", &["unknown problem 'x'"]),
        (
            "names = \"first-fit-size\"\nproblem = \"shared-objects\"\n",
            &["unknown algorithm 'first-fit-size' for shared-objects; expected one of "],
        ),
        ("names = \"first-fit-size\"\nthreads = 0\n", &["threads is 0; expected 1 to 1024"]),
        (
            "names = \"first-fit-size\"\ndecide = \"odd\"\n",
            &["line 5", "\"odd\"", "expected \"file\", \"load\""],
        ),
        (
            "names = \"first-fit-size\"\ntime = -1.0\n",
            &["line 5", "-1 is not a non-negative number of seconds"],
        ),
        ("names = \"first-fit-size\"\nrepetitions = 0\n", &["repetitions is 0"]),
        (
            "names = \"first-fit-size\"\nseeds = [1, 1]\n",
            &["s.toml: line 3: run 1 duplicates run 0: i.csv i by first-fit-size (offsets), seed 1"],
        ),
        (
            "names = \"heuristics\"\nproblem = \"orders\"\n",
            &["i.csv 'i': no algorithm accepts this instance"],
        ),
        ("names = \"first-fit-size\"\n[limits]\nmemory = 0\n", &["limits.memory is 0"]),
        ("names = \"first-fit-size\"\n[limits]\ntim = 0\n", &["line 6", "unknown field `tim`"]),
    ] {
        scratch.write("s.toml", format!("{instances}[[algorithms]]\n{text}"));
        scratch.plimsoll(&["sweep", "s.toml", "--dry-run"]).refuses(parts);
    }
    scratch.write("s.toml", format!("metrics = [\"second\"]\n{instances}{algorithms}"));
    scratch
        .plimsoll(&["sweep", "s.toml", "--dry-run"])
        .refuses(&["line 1: metrics: unknown 'second'; known: stop"]);
    scratch.plimsoll(&["sweep", "no.toml", "--dry-run"]).refuses(&["no.toml: No such file"]);
    scratch
        .plimsoll(&["sweep", "s.toml", "--dry-run", "--shard", "3/2"])
        .refuses(&["'3/2' is not a shard such as 1/4"]);
}
