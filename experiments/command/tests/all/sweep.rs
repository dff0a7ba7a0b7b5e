//! Tests `sweep` and `merge`: runs, stored rows, resuming, and joining shards.

use crate::common::{Scratch, TINY, has};
use plimsoll::model::Claim;
use plimsoll_lab::row::Status;
use serde_json::json;

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

fn small() -> Scratch {
    Scratch::with("s.toml", SMALL)
}

/// Checks that a sweep file is refused.
#[track_caller]
fn refused(scratch: &Scratch, text: &str, parts: &[&str]) {
    scratch.write("s.toml", text);
    scratch.refuses("sweep s.toml --dry-run", parts);
}

#[test]
fn every_run_has_a_row_in_order() {
    let scratch = small();
    let text = scratch.ok("sweep s.toml --out a").stdout;
    assert!(text.starts_with(&format!("runs         {RUNS}\nrows         {RUNS} done\n")), "{text}");
    let rows = scratch.rows("a");
    assert_eq!(rows.len(), RUNS);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!((row.run, row.key.len(), row.sha256.len()), (at as u64, 32, 64));
        assert_eq!(row.status, Status::Done);
        assert!(row.lower_bound.unwrap() <= row.value.unwrap() && row.load.is_some());
        assert!(row.seconds.unwrap() >= 0.0 && row.timestamp.ends_with('Z') && row.machine.cores > 0);
        assert!(cfg!(not(target_os = "linux")) || row.peak_memory_bytes >= row.resident_bytes);
    }
    assert_eq!([&*rows[0].instance, &*rows[0].algorithm], ["uniform-5-1", "first-fit-size"]);
    assert_eq!((rows[0].node_limit, rows[0].seed, rows[1].repetition, rows[2].seed), (Some(50), 0, 2, 1));
    let last = rows.last().unwrap();
    assert_eq!([&*last.problem, &*last.suite], ["shared-objects", "uniform"]);
    assert_eq!(last.node_limit, Some(200));
    let keys: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
    assert_eq!(keys.len(), RUNS);
    // Concurrent runs give the same rows, and a second sweep has nothing to run.
    let line = "sweep s.toml --out b --jobs 3";
    has(&scratch.json(line), &json!({ "runs": RUNS, "kept": 0 }));
    assert_eq!(scratch.steady("a"), scratch.steady("b"));
    let before = scratch.read("b/rows.csv");
    has(&scratch.json(line), &json!({ "kept": RUNS, "statuses": { "done": RUNS } }));
    assert_eq!(scratch.read("b/rows.csv"), before);
}

#[test]
fn a_dry_run_lists_runs_and_writes_nothing() {
    let scratch = small();
    let text = scratch.narrow(&["sweep", "s.toml", "--dry-run"]).exits(0).stdout;
    // Long lines continue below their text.
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text.lines().filter(|line| !line.starts_with(' ')).count(), RUNS + 1);
    let start = format!("{RUNS} runs: 4 instances, 3 algorithms\n0  uniform uniform-5-1 by first-fit-size");
    assert!(text.starts_with(&start), "{text}");
    let json = scratch.json("sweep s.toml --dry-run --shard 2/3");
    let listed = json["list"].as_array().unwrap().iter().map(|run| run["run"].as_u64().unwrap());
    assert!(listed.eq((0..RUNS as u64).filter(|run| run % 3 == 1)), "{json}");
    assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), 1);
    scratch.refuses("sweep s.toml", &["--out"]);
}

#[test]
fn failures_are_rows() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("set")).unwrap();
    scratch.write("set/bad.csv", "id,lower,upper,size\na,5,5,4\n");
    scratch.write("set/tiny.8.csv", TINY);
    scratch.write("free.csv", TINY);
    let text = "metrics = ['stop', 'seconds']\n[[instances]]\npath = 'set'\n[[instances]]\npath = 'fr*.csv'\n\
        [[instances]]\nfamily = 'uniform'\nbuffers = 400\n\
        [[algorithms]]\nnames = ['first-fit-size', 'brute-force']\ndecide = 'file'\n";
    scratch.write("s.toml", text);
    scratch.ok("sweep s.toml --out o");
    let rows = scratch.rows("o");
    let of = |instance: &str| {
        let own = rows.iter().filter(|row| row.instance.contains(instance));
        own.map(|row| row.status.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of("bad.csv"), ["unreadable"; 2]);
    assert!(rows[0].instance == "set/bad.csv" && rows[0].error.starts_with("set/bad.csv: line 2"));
    assert_eq!(of("tiny"), ["done"; 2]);
    assert_eq!((rows[2].capacity, rows[2].stop.is_some(), rows[2].nodes), (Some(8), true, None));
    assert_eq!(of("free"), ["skipped"; 2]);
    assert!(rows[4].error.contains("no capacity to decide"));
    let header = scratch.read("o/rows.csv").lines().next().unwrap().to_owned();
    assert!(header.ends_with(",lower_bound,error,stop,seconds"), "{header}");
}

#[test]
fn graphs_are_ordered() {
    let scratch = Scratch::after("generate shared-if --seed 1 --out net.json");
    scratch.write("bad.json", "{}");
    let text = "[[instances]]\ngraph = '*.json'\n[[instances]]\nfamily = 'chain'\nparams = { n = [3, 4] }\n\
        [[algorithms]]\nnames = ['exact', 'as-in-file']\nproblem = 'orders'\n";
    scratch.write("s.toml", text);
    scratch.ok("sweep s.toml --out o");
    let rows = scratch.rows("o");
    assert!(rows.iter().filter(|row| row.instance == "bad.json").all(|row| row.status == Status::Unreadable));
    let exact = rows.iter().find(|row| row.instance == "shared-if-1" && row.algorithm == "exact").unwrap();
    assert_eq!((exact.value, exact.claim, exact.operators), (Some(12051), Some(Claim::Optimal), Some(18)));
    assert!(rows.iter().any(|row| row.instance == "chain-n-4-0" && row.status == Status::Done));
}

#[test]
fn a_sweep_resumes_from_any_byte() {
    let scratch = small();
    scratch.ok("sweep s.toml --out a");
    let (whole, wanted) = (scratch.read("a/rows.csv"), scratch.steady("a"));
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let row = whole.len() - lines[RUNS].len() - lines[RUNS - 1].len();
    // The file is truncated in the header, within a row, between rows, and one byte before the end.
    for length in [0, 10, lines[0].len(), row + 1, row + 40, row + lines[RUNS - 1].len(), whole.len() - 1] {
        let piece = &whole[..length];
        scratch.write("a/rows.csv", piece);
        let json = scratch.json("sweep s.toml --out a");
        assert_eq!(json["kept"], piece.matches('\n').count().saturating_sub(1), "{length}");
        assert_eq!(json["torn_bytes"] != 0, !piece.is_empty() && !piece.ends_with('\n'));
        assert_eq!(scratch.steady("a"), wanted, "{length}");
    }
    // Rows removed from the middle are restored at the same position.
    let thinned = lines.iter().enumerate().filter(|(at, _)| at % 3 != 1).map(|(_, line)| *line);
    scratch.write("a/rows.csv", thinned.collect::<String>());
    scratch.ok("sweep s.toml --out a --jobs 2");
    assert_eq!(scratch.steady("a"), wanted);
}

#[test]
fn rows_of_another_sweep_are_rejected() {
    let scratch = small();
    let line = "sweep s.toml --out a";
    scratch.ok(line);
    let whole = scratch.read("a/rows.csv");
    for (text, why) in [
        (format!("{whole}{}\n", whole.lines().nth(1).unwrap()), "rows.csv: line 74: run 0 already has a row"),
        (whole.replacen("\n6,0,", "\n6,1,", 1), "line 2: run 1 with key"),
        (whole.replacen("run,key", "key,run", 1), "a/rows.csv: line"),
        ("run,key\n".to_owned(), "line 1: the columns differ from those of this sweep"),
    ] {
        scratch.write("a/rows.csv", text);
        scratch.refuses(line, &[why]);
    }
    scratch.write("a/rows.csv", &whole);
    std::fs::remove_file(scratch.path("a/experiment.json")).unwrap();
    scratch.refuses(line, &["a contains another sweep: found rows.csv without experiment.json"]);
    scratch.write("a/experiment.json", "{}");
    scratch.refuses(line, &["a/experiment.json: line 1, column 2: the member 'format' is missing"]);
}

#[test]
fn a_changed_sweep_is_rejected_with_the_difference() {
    let scratch = small();
    scratch.ok("sweep s.toml --out a");
    let instances = "instances: uniform 'uniform-30-1' instead of uniform";
    for (from, to, difference) in [
        ("buffers = [5, 30]", "buffers = [5, 31]", &*format!("{instances} 'uniform-31-1'")),
        ("seeds = [1, 2]", "seeds = [1, 2, 3]", &format!("{instances} 'uniform-5-3'")),
        ("[50, 200]", "[50]", "algorithm first-fit-size (offsets): nodes is [50,200] instead of [50]"),
        ("[50, 200]", "[50, 200]\ntime = 1.5", "time is [none] instead of [1.5]"),
        ("[50, 200]", "[50, 200]\nmemory = 9999999999", "limits.memory is none instead of 9999999999"),
        ("\"0..2\"", "\"0..3\"", "seeds is [0,1] instead of [0,1,2]"),
        ("repetitions = 2", "repetitions = 3", "repetitions is 2 instead of 3"),
        ("\"search\"", "'short-first'", "algorithms: search (offsets) instead of short-first (offsets)"),
        ("repetitions = 2", "repetitions = 2\nmetrics = []", "metrics is none instead of []"),
        ("names = \"shared", "threads = 2\nnames = \"shared", "threads is 1 instead of 2"),
    ] {
        scratch.write("t.toml", SMALL.replacen(from, to, 1));
        scratch.refuses("sweep t.toml --out a", &["a contains another sweep: ", difference]);
    }
    // A different file that describes the same sweep is accepted.
    scratch.write("t.toml", format!("# again\n{}", SMALL.replace("\"0..2\"", "[0, 1]")));
    scratch.ok("sweep t.toml --out a");
    scratch.refuses("sweep s.toml --out a --shard 1/2", &["all runs instead of shard 1/2"]);
    // The contents of the instances belong to the sweep.
    scratch.write("i.csv", TINY);
    scratch.write("i.toml", "[[instances]]\npath = 'i.csv'\n[[algorithms]]\nnames = 'first-fit-size'\n");
    scratch.ok("sweep i.toml --out i");
    scratch.write("i.csv", TINY.replace(",4\n", ",5\n"));
    scratch.refuses("sweep i.toml --out i", &["instances: i.csv 'i' has different contents"]);
}

#[test]
fn shards_join_to_the_whole_sweep() {
    let scratch = small();
    scratch.ok("sweep s.toml --out whole");
    for part in 1..=3 {
        scratch.ok(format!("sweep s.toml --out {part} --shard {part}/3 --jobs 2"));
    }
    assert_eq!(["1", "2", "3"].map(|part| scratch.rows(part).len()).iter().sum::<usize>(), RUNS);
    let text = scratch.ok("merge 3 1 2 --out m").stdout;
    assert!(text.starts_with(&format!("rows         {RUNS} of {RUNS} runs\n")), "{text}");
    assert_eq!(scratch.steady("m"), scratch.steady("whole"));
    // The joined folder belongs to the whole sweep.
    assert_eq!(scratch.json("sweep s.toml --out m")["kept"], RUNS);
    scratch.write("t.toml", SMALL.replace("\"0..2\"", "\"0..3\""));
    scratch.ok("sweep t.toml --out 4 --shard 3/3");
    for (line, parts) in [
        ("1 2 3 --out m", &["m already contains rows; --force replaces them"][..]),
        ("1 2 3 --out 1 --force", &["the output folder 1 is one of the input folders"]),
        (
            "1 2 --out n",
            &[
                "24 of 72 runs are missing: 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, ..; missing shards: 3/3 (--partial",
            ],
        ),
        (
            "1 2 2 3 --out n",
            &["run 1 (uniform uniform-5-1 by first-fit-size) is duplicated: in 2/rows.csv and in 2/rows.csv"],
        ),
        ("1 whole --out n", &["run 0", "is duplicated", "1/rows.csv", "whole/rows.csv"]),
        ("1 nowhere --out n", &["nowhere contains no sweep"]),
        (
            "1 2 4 --out n",
            &["1 does not belong to the same sweep as 4: algorithm first-fit-size (offsets): seeds is"],
        ),
    ] {
        scratch.refuses(format!("merge {line}"), parts);
    }
    scratch.ok("merge 1 2 3 --out m --force");
    // A partial merge can be completed.
    scratch.ok("merge 1 2 --out p --partial").prints(&["missing      24 of 72 runs"]);
    scratch.ok("sweep s.toml --out p");
    assert_eq!(scratch.steady("p"), scratch.steady("whole"));
}

#[test]
fn files_of_other_origin_are_kept() {
    let scratch = small();
    std::fs::create_dir(scratch.path("own")).unwrap();
    scratch.write("own/README.md", "mine");
    let why = "cannot write own: it is neither empty nor the folder of a sweep";
    scratch.refuses("sweep s.toml --out own", &[why]);
    scratch.refuses("sweep s.toml --out own --slurm --no-submit", &[why]);
    scratch.ok("sweep s.toml --out a");
    scratch.refuses("merge a --out own", &[why, "--force writes into it anyway"]);
    assert_eq!(std::fs::read_dir(scratch.path("own")).unwrap().count(), 1);
    assert_eq!(scratch.read("own/README.md"), "mine");
    // A sweep that was killed before it wrote its manifest starts again.
    std::fs::create_dir(scratch.path("begun")).unwrap();
    scratch.write("begun/experiment.lock", "");
    scratch.write("begun/README.md", "");
    scratch.ok("sweep s.toml --out begun");
    scratch.ok("sweep s.toml --out begun");
    scratch.ok("merge a --out own --force");
}

#[test]
fn a_sweep_without_readable_inputs_fails() {
    let scratch = Scratch::with("bad.csv", "id,lower,upper,size\na,5,5,4\n");
    scratch.write("s.toml", "[[instances]]\npath = 'bad.csv'\n[[algorithms]]\nnames = 'first-fit-size'\n");
    let run = scratch.run("sweep s.toml --out a").exits(2);
    assert!(run.stderr.ends_with("none of the instances and graphs could be read\n"), "{}", run.stderr);
    assert_eq!(scratch.rows("a")[0].status, Status::Unreadable);
    let text = scratch.ok("sweep s.toml --out b --slurm --no-submit --array 4").stdout;
    assert!(text.starts_with("runs         1 in 1 shard\n"), "{text}");
}

#[test]
fn errors_in_sweep_files_name_line_key_and_value() {
    let scratch = Scratch::with("i.csv", TINY);
    let instances = "[[instances]]\npath = 'i.csv'\n";
    let algorithms = "[[algorithms]]\nnames = 'first-fit-size'\n";
    refused(&scratch, "", &["s.toml: line 1: missing field `instances`"]);
    refused(&scratch, "x = 1\n", &["line 1", "unknown field `x`"]);
    refused(&scratch, instances, &["missing field `algorithms`"]);
    refused(&scratch, "instances = []\nalgorithms = []\n", &["instances: the list is empty"]);
    for (entry, parts) in [
        ("suit = 'x'", &["line 2", "unknown field `suit`"][..]),
        ("suite = 'x'", &["line 1: instances[1]: unknown suite 'x'; known: embedded"]),
        ("", &["instances[1]: expected one of suite, path, family, graph; none is given"]),
        ("suite = 'a'\npath = 'b'", &["given: suite, path"]),
        ("path = 'no.csv'", &["instances[1]: path 'no.csv'", "neither"]),
        ("path = 'z*.csv'", &["'z*.csv' contains no file with instances"]),
        ("path = 'i.csv'\nonly = 'x*'", &["no instance of path 'i.csv' matches only = [\"x*\"]"]),
        ("path = 'i.csv'\nbuffers = 5", &["buffers is allowed only with family, not with path 'i.csv'"]),
        ("path = 'i.csv'\nendpoints = 'odd'", &["endpoints is 'odd'"]),
        ("family = 'packing'\nparams = { buffer = 5 }", &["family 'packing'", "buffer"]),
        ("family = 'packing'\nbuffers = 5\nparams = { buffers = 5 }", &["cannot both be given"]),
        ("family = 'uniform'\nbuffers = 0", &["buffers is 0, but must be at least 1"]),
        ("family = 'uniform'\nbuffers = -1", &["line 3", "-1 is not a non-negative whole number"]),
        ("family = 'uniform'\nbuffers = []", &["line 3", "the list is empty"]),
        ("family = 'uniform'\nbuffers = '3..3'", &["line 3", "the range '3..3' is empty"]),
        ("family = 'uniform'\nbuffers = 1.5", &["line 3", "expected a non-negative whole number"]),
        ("family = 'odd'\nbuffers = 1", &["unknown family 'odd'; known: uniform"]),
        ("family = 'chain'\nparams = { m = 1 }", &["chain has no parameter 'm'; it has n"]),
        ("graph = 'no.json'", &["graph 'no.json': no such file"]),
    ] {
        refused(&scratch, &format!("[[instances]]\n{entry}\n{algorithms}"), parts);
    }
    let size = "names = 'first-fit-size'";
    for (entry, parts) in [
        (
            "names = 'first-fit-siz'",
            &["line 3: algorithms[1]: unknown algorithm 'first-fit-siz' for offsets; expected one of "][..],
        ),
        (&format!("{size}\nproblem = 'x'"), &["unknown problem 'x'"]),
        (
            &format!("{size}\nproblem = 'shared-objects'"),
            &["unknown algorithm 'first-fit-size' for shared-objects; expected one of "],
        ),
        (&format!("{size}\nthreads = 0"), &["threads is 0; expected 1 to 1024"]),
        (&format!("{size}\ndecide = 'odd'"), &["line 5", "\"odd\"", "expected \"file\", \"load\""]),
        (&format!("{size}\ntime = -1.0"), &["line 5", "-1 is not a non-negative number of seconds"]),
        (&format!("{size}\nrepetitions = 0"), &["repetitions is 0"]),
        (
            &format!("{size}\nseeds = [1, 1]"),
            &["s.toml: line 3: run 1 duplicates run 0: i.csv i by first-fit-size (offsets), seed 1"],
        ),
        ("names = 'heuristics'\nproblem = 'orders'", &["i.csv 'i': no algorithm accepts this instance"]),
        (&format!("{size}\n[limits]\nmemory = 0"), &["limits.memory is 0"]),
        (&format!("{size}\n[limits]\ntim = 0"), &["line 6", "unknown field `tim`"]),
        ("names = 'search:-mem'", &["line 3: algorithms[1]: 'search' has no parameter '-mem'"]),
        (
            "names = ['search:-memo:-twins', 'search:-twins:-memo']",
            &["run 1 duplicates run 0: i.csv i by search:-memo:-twins (offsets)"],
        ),
    ] {
        refused(&scratch, &format!("{instances}[[algorithms]]\n{entry}\n"), parts);
    }
    let text = format!("metrics = ['second']\n{instances}{algorithms}");
    refused(&scratch, &text, &["line 1: metrics: unknown 'second'; known: stop"]);
    scratch.refuses("sweep no.toml --dry-run", &["no.toml: No such file"]);
    scratch.refuses("sweep s.toml --dry-run --shard 3/2", &["'3/2' is not a shard such as 1/4"]);
}
