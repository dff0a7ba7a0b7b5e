//! Tests edge cases of sweeps: unusual paths, excessive numbers, full disks, and processes that end in an
//! unusual order.

use crate::common::{Run, Scratch, TINY, command, contains, has};
use plimsoll::model::{Claim, Stop};
use plimsoll_lab::row::{AlgorithmKind, Claimed, Row, Status};
use serde_json::{Value, json};

const LARGE_FIRST: &str = "[[algorithms]]\nnames = 'first-fit-size'\n";

/// Returns the pairs of suite and instance of a sweep, from a dry run.
fn inputs(scratch: &Scratch, file: &str) -> Vec<String> {
    let json = scratch.json(format!("sweep {file} --dry-run"));
    let text = |run: &Value, key: &str| run[key].as_str().unwrap().to_owned();
    let list = json["list"].as_array().unwrap().iter();
    list.map(|run| text(run, "suite") + ": " + &text(run, "instance")).collect()
}

#[test]
fn a_bound_of_a_body_counts_only_if_its_regions_are_proved() {
    let scratch = Scratch::new();
    let text = "[[instances]]\nfamily = 'loops'\nseeds = '2..5'\n[[algorithms]]\nproblem = 'orders'\n\
        nodes = 2000\nnames = ['dfs-right', 'inductor-dfs', 'exact']\n";
    scratch.write("s.toml", text);
    // A bad order inside a loop raises the bound of that run above the peaks of other runs.
    scratch.ok("sweep s.toml --out o");
    let rows = scratch.rows("o");
    assert!(rows.iter().all(|row| row.status == Status::Done && row.value.is_some()));
    let best = |row: &Row| rows.iter().filter(|r| r.sha256 == row.sha256).filter_map(|r| r.value).min();
    assert!(rows.iter().any(|row| row.value > best(row)));
    for row in &rows {
        assert!(row.lower_bound.is_none_or(|bound| Some(bound) <= best(row)), "{row:?}");
        assert!(row.claim != Some(Claim::Optimal) || row.value == best(row), "{row:?}");
    }
    assert!(rows.iter().any(|row| row.lower_bound.is_none() && row.claim == Some(Claim::Feasible)));
    assert!(rows.iter().filter(|row| row.algorithm == "exact").all(|row| row.claim == Some(Claim::Optimal)));
    // An algorithm that finds no order within the limits has not failed.
    let text = "[[instances]]\nfamily = 'loops'\n[[algorithms]]\nproblem = 'orders'\nnodes = 0\nnames = 'dfs-right'\n";
    scratch.write("t.toml", text);
    scratch.ok("sweep t.toml --out t");
    let row = scratch.rows("t").remove(0);
    assert_eq!((row.status, row.claim, row.value), (Status::Done, Some(Claim::Unknown), None), "{row:?}");
}

#[test]
fn absolute_and_parent_paths_are_found() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("in")).unwrap();
    scratch.write("in/i.csv", TINY);
    scratch.write("in/bad.csv", "id\n");
    let absolute = scratch.path("in/i.csv");
    let whole = absolute.to_str().unwrap();
    scratch.write("s.toml", format!("[[instances]]\npath = {whole:?}\n{LARGE_FIRST}"));
    assert_eq!(inputs(&scratch, "s.toml"), [format!("{whole}: i")]);
    std::fs::create_dir(scratch.path("sub")).unwrap();
    scratch.write("sub/s.toml", format!("[[instances]]\npath = '../in/*.csv'\n{LARGE_FIRST}"));
    assert_eq!(inputs(&scratch, "sub/s.toml"), ["../in/*.csv: ../in/bad.csv", "../in/*.csv: i"]);
    // This time, the command runs in the folder of the sweep file.
    let run = command(&scratch.path("sub")).args(["sweep", "s.toml", "--out", "o"]).output();
    Run::from(run.unwrap()).exits(0).prints(&["1 done, 1 unreadable"]);
    let rows = scratch.rows("sub/o");
    assert_eq!(rows[0].instance, "../in/bad.csv");
    assert!(rows[0].error.starts_with("../in/bad.csv: "), "{}", rows[0].error);
}

#[test]
fn any_part_of_a_path_may_be_a_pattern() {
    let scratch = Scratch::new();
    for folder in ["m/a", "m/b", "m/c", "m/a.csv"] {
        std::fs::create_dir_all(scratch.path(folder)).unwrap();
    }
    scratch.write("m/plain", "no folder");
    for name in ["m/a/i.csv", "m/b/i.csv", "m/b/note.txt"] {
        scratch.write(name, TINY);
    }
    scratch.ok("generate chain --param n=3 --out m/c/g.json");
    for (path, names) in [
        ("m/*/*.csv", &["m/a/*.csv: i", "m/b/*.csv: i"][..]),
        ("m/?/*.csv", &["m/a/*.csv: i", "m/b/*.csv: i"]),
        ("*/b/i.csv", &["m/b/i.csv: i"]),
        ("m/b/*", &["m/b/*: i"]),
        ("m/b/*.txt", &["m/b/*.txt: note"]),
    ] {
        scratch.write("s.toml", format!("[[instances]]\npath = '{path}'\n{LARGE_FIRST}"));
        assert_eq!(inputs(&scratch, "s.toml"), names, "{path}");
    }
    for (entry, part) in [
        ("path = 'm/*/x.csv'", "'m/*/x.csv' contains no file with instances"),
        ("path = 'nowhere/*/x.csv'", "cannot read the folder nowhere: "),
        ("path = ''", "path is empty"),
        ("graph = 'm'", "graph 'm' is a folder; name its files, such as \"m/*.json\""),
    ] {
        scratch.write("s.toml", format!("[[instances]]\n{entry}\n{LARGE_FIRST}"));
        scratch.refuses("sweep s.toml --dry-run", &["s.toml: line 1: instances[1]", part]);
    }
}

#[test]
fn runs_are_distinguished_by_capacity() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("m")).unwrap();
    scratch.write("m/a.8.csv", TINY);
    scratch.write("m/a.9.csv", TINY);
    let minimise = format!("[[instances]]\npath = 'm'\n{LARGE_FIRST}");
    scratch.write("s.toml", minimise.clone() + "decide = 'file'\n");
    scratch.ok("sweep s.toml --out o");
    assert!(scratch.rows("o").iter().map(|row| row.capacity).eq([Some(8), Some(9)]));
    std::fs::rename(scratch.path("m/a.9.csv"), scratch.path("m/a.7.csv")).unwrap();
    scratch.refuses("sweep s.toml --out o", &["instances: capacity of m 'a' is 8 instead of 7"]);
    // A sweep that minimises the peak ignores the capacity.
    std::fs::remove_file(scratch.path("m/a.8.csv")).unwrap();
    scratch.write("s.toml", minimise);
    scratch.ok("sweep s.toml --out p");
    std::fs::rename(scratch.path("m/a.7.csv"), scratch.path("m/a.8.csv")).unwrap();
    scratch.ok("sweep s.toml --out p");
}

#[test]
fn excessive_numbers_are_rejected_immediately() {
    let scratch = Scratch::with("i.csv", TINY);
    let instances = "[[instances]]\npath = 'i.csv'\n";
    let all = format!("{instances}{LARGE_FIRST}");
    let many = "line 3: with algorithm 'first-fit-size' (offsets) the sweep has more than 10000000 runs";
    for (text, parts) in [
        (format!("{all}repetitions = 9223372036854775807\n"), &[many, "775807 repetitions"][..]),
        (format!("{all}repetitions = 1000\nseeds = '0..10000000'\n"), &[many, "10000000 seeds"]),
        (
            format!("[[instances]]\nfamily = 'uniform'\nbuffers = 1000000000000\n{LARGE_FIRST}"),
            &["line 1", "buffers is 1000000000000, but must be at most 16777216"],
        ),
        (format!("limits.memory = 1.5\n{all}"), &["line 1", "`1.5`, expected a non-negative whole number"]),
        (format!("limits.memory = 0\n{all}"), &["line 1: limits.memory is 0"]),
        (format!("limits.grace = [1, 2]\n{all}"), &["line 1: limits.grace: expected one"]),
        (format!("seeds = [1, '2']\n{all}"), &["line 1", "\"2\", expected a non-negative whole number"]),
        (format!("{instances}{all}"), &["line 3: run 1 duplicates run 0"]),
        (format!("{all}{LARGE_FIRST}"), &["line 5: run 1 duplicates run 0"]),
        (format!("{all}[[algorithms]]\nnames = 'dp'\n"), &["line 5: algorithm 'dp' (orders)"]),
        ("algorithms = []\ninstances = []\n".to_owned(), &["line 2: instances: the list is empty"]),
    ] {
        scratch.write("s.toml", text);
        scratch.refuses("sweep s.toml --dry-run", parts);
    }
    // Huge numbers of shards are listed briefly.
    scratch.write("s.toml", format!("seeds = '0..4'\n{all}"));
    scratch.ok("sweep s.toml --out a --shard 1/1000000000000");
    let missing = "3 of 4 runs are missing: 1, 2, 3; missing shards: 2/1000000000000, ";
    scratch.refuses("merge a --out m", &[missing, "11/1000000000000, .. (--partial"]);
}

#[test]
fn a_worker_writes_every_reply_on_a_separate_line() {
    use std::io::{BufRead, Write};
    use std::process::Stdio;
    let scratch = Scratch::new();
    let mut command = command(&scratch.path(""));
    command.arg("sweep-worker").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    for request in ["", "nonsense\n"] {
        input.write_all(request.as_bytes()).unwrap();
        // The empty line ends a partial line that a library may have printed.
        assert_eq!(output.next().unwrap().unwrap(), "");
        assert!(output.next().unwrap().unwrap().starts_with("{\""));
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_sweep_with_a_full_disk_resumes_later() {
    let scratch = Scratch::new();
    let text = "seeds = '0..60'\n[[instances]]\nfamily = 'uniform'\nbuffers = 9\n";
    scratch.write("s.toml", format!("{text}{LARGE_FIRST}"));
    // A limit on file sizes imitates a full disk: the write that reaches it is truncated.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" sweep s.toml --out o --jobs 2";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_plimsoll")]).current_dir(scratch.path(""));
    let run = Run::from(command.output().unwrap()).exits(2);
    assert!(run.stderr.starts_with("plimsoll: o/rows.csv: ") && run.stderr.lines().count() == 1);
    // No partial row remains.
    let text = scratch.read("o/rows.csv");
    let kept = text.lines().count() - 1;
    assert!(text.ends_with('\n') && (1..60).contains(&kept), "{kept}");
    has(&scratch.json("sweep s.toml --out o"), &json!({ "kept": kept, "torn_bytes": 0 }));
    assert_eq!(scratch.rows("o").len(), 60);
}

#[cfg(target_os = "linux")]
#[test]
fn a_short_run_above_its_memory_limit_is_a_row_too() {
    let scratch = Scratch::with("i.csv", TINY);
    let text = "repetitions = 5\nlimits.memory = 1_000_000\n[[instances]]\npath = 'i.csv'\n";
    scratch.write("s.toml", format!("{text}{LARGE_FIRST}"));
    scratch.ok("sweep s.toml --out o");
    assert!(scratch.rows("o").iter().all(|row| row.status == Status::OutOfMemory));
}

/// A program that places all buffers end to end, prints its time, and prints its fourth argument as a claim.
#[cfg(unix)]
const STACK: &str = r#"awk -F, -v out="$2" 'NR == 1 { print "id,offset" > out; next } { print $1 "," at > out; at += $4 } BEGIN { at = 0 }' "$1"; echo "took 0.25 s"; echo "{\"claim\": \"$4\", \"lower_bound\": 12}""#;

#[cfg(unix)]
#[test]
fn external_programs_are_algorithms() {
    let scratch = Scratch::with("i.9.csv", TINY);
    scratch.write("stack.sh", STACK);
    let toml = |claim: &str, more: &str| {
        format!(
            "seeds = '0..3'\nlimits.nodes = [10, 20]\n[[instances]]\npath = 'i.9.csv'\n\
             [[algorithms]]\nnames = 'stack'\n\
             external = 'sh stack.sh {{input}} {{output}} {{capacity}} {claim}'\n\
             version = 'echo stack 1.2'\nelapsed = 'took ([0-9.]+) s'\n{more}\
             [[algorithms]]\nnames = 'first-fit-size'\nseeds = 0\nnodes = 10\n"
        )
    };
    scratch.write("s.toml", toml("optimal", ""));
    scratch.ok("sweep s.toml --out o");
    // The command has no {seed}, and node limits do not apply to it, so it runs once.
    let [row, other] = &scratch.rows("o")[..] else { panic!("two rows") };
    assert_eq!([&*row.algorithm, &*row.problem, &*row.machine.version], ["stack", "offsets", "stack 1.2"]);
    assert_eq!((row.kind, row.status), (Some(AlgorithmKind::External), Status::Done));
    assert_eq!((row.value, row.capacity, row.lower_bound, row.node_limit), (Some(12), Some(9), None, None));
    assert_eq!((row.own_seconds, row.own_resolution), (Some(0.25), Some(0.01)));
    // A built-in algorithm found a peak of 8, so neither the claimed optimum nor the claimed bound of 12 is
    // correct.
    assert_eq!((row.claim, row.claimed_bound), (Some(Claim::Feasible), None));
    assert_eq!(row.claimed, Some(Claimed::Contradicted));
    contains(&row.error, &["the claim is contradicted by 8, the value of a valid solution"]);
    assert!(other.value == Some(8) && other.claimed.is_none() && other.machine.version != "stack 1.2");
    let before = scratch.read("o/rows.csv");
    scratch.ok("sweep s.toml --out o");
    assert_eq!(scratch.read("o/rows.csv"), before);
    // A file with another command line or version describes another sweep.
    for (text, why) in [
        (toml("feasible", ""), "algorithm stack (offsets): external is \"sh stack.sh"),
        (
            toml("optimal", "").replace("1.2", "1.3"),
            "algorithm stack (offsets): version is \"stack 1.2\" instead of \"stack 1.3\"",
        ),
    ] {
        scratch.write("s.toml", text);
        scratch.refuses("sweep s.toml --out o", &[why]);
    }
    // A layout above the capacity to decide is not an answer. A command with {seed} runs once per seed.
    scratch.write("t.toml", toml("x{seed}", "decide = 'file'\ntime = 20\n"));
    scratch.ok("sweep t.toml --out p --jobs 2");
    let found = scratch.rows("p");
    let seeds: Vec<u64> = found[..3].iter().map(|row| row.seed).collect();
    assert_eq!((found.len(), seeds), (4, vec![0, 1, 2]));
    let is_open = |row: &Row| row.claim == Some(Claim::Unknown) && row.time_limit == Some(20.0);
    assert!(found[..3].iter().all(is_open), "{found:?}");
}

/// The reason is reported once, while the other runs continue.
#[cfg(unix)]
#[test]
fn a_failed_external_program_is_reported_on_standard_error() {
    let scratch = Scratch::with("i.9.csv", TINY);
    scratch.write("fail.sh", "echo boom >&2; exit 7\n");
    let toml = "[[instances]]\npath = 'i.9.csv'\n[[algorithms]]\nnames = 'fails'\nrepetitions = 2\n\
                external = 'sh fail.sh {input} {output}'\n";
    scratch.write("s.toml", format!("{toml}{LARGE_FIRST}"));
    let run = scratch.run("sweep s.toml --out o --json").exits(3);
    let reason = "no answer was written; exit status: 7; stderr: boom";
    assert_eq!(run.stderr, format!("plimsoll: fails failed on i: {reason}\n"));
    assert_eq!(run.json()["failures"][0]["failed"], 2);
}

#[cfg(unix)]
#[test]
fn bad_external_programs_are_rejected() {
    let scratch = Scratch::with("i.csv", TINY);
    let line = "external = 'cmd {input} {output}'\n";
    let with = |text: &str| {
        scratch.write("s.toml", format!("[[instances]]\npath = 'i.csv'\n[[algorithms]]\n{text}"));
    };
    for (text, part) in [
        (format!("names = 'exact'\n{line}"), "external 'exact': the name is already in use"),
        (format!("names = 'all'\n{line}"), "external 'all': the name is already in use"),
        (
            format!("names = ['a', 'b']\n{line}"),
            "names: an external planner must have exactly one name; found 2",
        ),
        (
            format!("names = 'a'\nproblem = 'shared-objects'\n{line}"),
            "problem is 'shared-objects'; external planners support only offsets",
        ),
        (format!("names = 'a'\nnodes = 5\n{line}"), "nodes: external planners have no node limit"),
        ("names = 'a'\nexternal = 'cmd {input}'\n".to_owned(), "the command has no {output}"),
        (format!("names = 'a'\nversion = ''\n{line}"), "external version 'a=': the command is empty"),
        (format!("names = 'a'\nelapsed = '('\n{line}"), "unclosed group"),
        ("names = 'exact'\nversion = 'x'\n".to_owned(), "version is allowed only with external"),
        (
            format!("names = 'a'\n{line}[[algorithms]]\nnames = 'a'\n{line}"),
            "another external planner is named 'a'",
        ),
    ] {
        with(&text);
        scratch.refuses("sweep s.toml --dry-run", &["s.toml: line ", "algorithms[", part]);
    }
    with(&format!("names = 'a'\nversion = '/no/such/binary'\n{line}"));
    let why = "s.toml: line 3: algorithms[1]: external version 'a=/no/such/binary'";
    scratch.refuses("sweep s.toml --out o", &[why]);
}

/// A sweep file names commands. Only a sweep that starts its runs executes them.
#[cfg(unix)]
#[test]
fn no_command_of_a_sweep_file_runs_in_a_dry_run() {
    let scratch = Scratch::with("i.csv", TINY);
    let toml = "[[instances]]\npath = \"i.csv\"\n[[algorithms]]\nnames = [\"first-fit-size\"]\n\
        [[algorithms]]\nnames = \"x\"\nexternal = \"sh -c 'touch ran-planner' {input} {output}\"\n\
        version = \"sh -c 'touch ran-version; echo 7'\"\n";
    scratch.write("s.toml", toml);
    scratch.ok("sweep s.toml --dry-run");
    let json = scratch.json("sweep s.toml --dry-run");
    // The key of a run contains the version of its planner.
    assert!(json["list"][0]["key"].is_string() && json["list"][1]["key"].is_null(), "{json}");
    let submit = "sweep s.toml --out o --slurm --array 1 --no-submit";
    scratch.ok(submit);
    let ran = |name: &str| scratch.path(name).exists();
    assert!(!ran("ran-version") && !ran("ran-planner"));
    // The scripts may be written again after a shard has run, and only for the same sweep.
    scratch.run("sweep s.toml --out o/shards/1 --shard 1/1").exits(3);
    assert!(ran("ran-version") && ran("ran-planner"));
    std::fs::remove_file(scratch.path("ran-version")).unwrap();
    scratch.ok(submit);
    assert!(!ran("ran-version"));
    scratch.write("s.toml", toml.replace("first-fit-size", "short-first"));
    scratch.refuses(submit, &["o/shards/1 contains another sweep: algorithms: first-fit-size"]);
}

/// If a program is missing, fails, hangs or uses too much memory, its run is recorded as a row.
#[cfg(target_os = "linux")]
#[test]
fn external_programs_may_fail() {
    let scratch = Scratch::with("i.csv", TINY);
    let sweep = |line: &str, limits: &str, code: i32| {
        let text = format!(
            "{limits}[[instances]]\npath = 'i.csv'\n[[algorithms]]\nnames = 'x'\nexternal = '''{line}'''\n"
        );
        scratch.write("s.toml", text);
        let _ = std::fs::remove_dir_all(scratch.path("o"));
        let printed = scratch.run("sweep s.toml --out o").exits(code).stdout;
        let row = scratch.rows("o").remove(0);
        let reason = format!("\nfailures     x (offsets) failed in 1 of 1 runs; i: {}\n", row.error);
        let merged = scratch.run("merge o --out m --force").exits(code).stdout;
        for text in [printed, merged] {
            assert_eq!(text.contains(&reason), code == 3, "{text}");
        }
        row
    };
    let gone = sweep("/no/such/binary {input} {output}", "", 3);
    assert!(gone.status == Status::Failed && gone.error.contains("cannot run '/no/such/binary'"), "{gone:?}");
    let broken = sweep("sh -c 'echo oops >&2; exit 3' x {input} {output}", "", 3);
    let reason = "exit status: 3; stderr: oops";
    assert!(broken.status == Status::Failed && broken.error.contains(reason), "{broken:?}");
    let hung = sweep("sh -c 'exec sleep 600' x {input} {output}", "limits.time = 0.2\n", 0);
    assert_eq!((hung.status, hung.stop), (Status::Done, Some(Stop::TimeLimit)));
    let large = sweep("sh -c 'sleep 2' x {input} {output}", "limits.memory = 1000\n", 0);
    assert!(large.status == Status::OutOfMemory && large.peak_memory_bytes > Some(1000), "{large:?}");
}

#[test]
fn traces_and_layouts_are_kept_on_request() {
    let scratch = Scratch::new();
    let text = "trace = true\nlayouts = true\nseeds = '0..2'\nlimits.nodes = 300\n\
        [[instances]]\nfamily = 'guillotine'\nbuffers = [9, 30]\n\
        [[algorithms]]\nnames = ['iterated-search', 'brute-force']\n\
        [[algorithms]]\nproblem = 'shared-objects'\nnames = 'in-order'\n";
    scratch.write("s.toml", text);
    scratch.ok("sweep s.toml --out o");
    let found = scratch.rows("o");
    // `brute-force` does not support the larger instance.
    let mut skipped = found.iter().filter(|row| row.status == Status::Skipped).peekable();
    assert!(skipped.peek().is_some_and(|row| row.error.contains("exceed the limit")), "{found:?}");
    assert!(skipped.all(|row| row.layout.is_empty() && row.trace.is_empty()));
    for (at, row) in found.iter().enumerate().filter(|(_, row)| row.status == Status::Done) {
        let last = row.trace.last().unwrap().to_string();
        let bound = row.lower_bound.map_or_else(String::new, |bound| bound.to_string());
        assert!(last.ends_with(&format!(":end:{}:{bound}", row.value.unwrap())), "{last}");
        assert_eq!(row.layout, format!("layouts/{at}.csv"));
    }
    // The stored layouts are valid.
    let is_large = |row: &&Row| row.instance.starts_with("guillotine-30") && row.problem == "offsets";
    let row = found.iter().find(is_large).unwrap();
    scratch.ok("generate guillotine --buffers 30 --seed 0 --out i.csv");
    scratch.ok(format!("verify i.csv o/{}", row.layout));
    // Traces of sweeps and of benchmarks have the same columns.
    scratch.ok("bench i.csv --algorithms first-fit-size --trace --out b");
    let first = |file: &str| scratch.read(file).lines().next().unwrap().to_owned();
    assert_eq!(first("o/trace.csv"), first("b/trace.csv"));
    let events: usize = found.iter().map(|row| row.trace.len()).sum();
    assert_eq!(scratch.read("o/trace.csv").lines().count(), events + 1);
    // A merge keeps the layouts and traces of its shards.
    for part in ["1", "2"] {
        scratch.ok(format!("sweep s.toml --out {part} --shard {part}/2"));
    }
    scratch.ok("merge 1 2 --out m");
    for row in found.iter().filter(|row| !row.layout.is_empty()) {
        assert_eq!(scratch.read(&format!("m/{}", row.layout)), scratch.read(&format!("o/{}", row.layout)));
    }
    assert_eq!(scratch.read("m/trace.csv").lines().count(), events + 1);
    // Traces and layouts are written only on request.
    scratch.write("s.toml", text.replace("trace = true\nlayouts = true\n", ""));
    scratch.refuses("sweep s.toml --out o", &["trace is true instead of false"]);
    scratch.ok("sweep s.toml --out p");
    assert!(!scratch.path("p/trace.csv").exists() && !scratch.path("p/layouts").exists());
    assert!(first("p/rows.csv").ends_with(",claimed,claimed_bound"));
}
