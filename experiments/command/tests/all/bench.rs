//! `plimsoll bench`: its output, its records, and its behaviour on failures.

use crate::common::{Scratch, TINY};
use std::collections::BTreeMap;

type Record = BTreeMap<String, String>;

fn rows(scratch: &Scratch, folder: &str) -> Vec<Record> {
    let mut reader = csv::Reader::from_path(scratch.path(folder).join("rows.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn row<'a>(rows: &'a [Record], instance: &str, algorithm: &str) -> &'a Record {
    let found = rows.iter().find(|row| row["instance"] == instance && row["algorithm"] == algorithm);
    found.unwrap_or_else(|| panic!("no row of {algorithm} on {instance}"))
}

#[test]
fn a_record_contains_rows_pages_and_maps() {
    let scratch = Scratch::new();
    let words =
        ["bench", "embedded", "--solvers", "large-first,sequential", "--problems", "offsets", "--out", "rec"];
    let run = scratch.plimsoll(&[&words[..], &["--details"]].concat()).exits(0);
    assert!(run.stdout.contains("pisarchyk-lee") && run.stdout.contains("gap %"));
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let rows = rows(&scratch, "rec");
    let instances: Vec<&String> = rows.iter().step_by(2).map(|row| &row["instance"]).collect();
    assert!(instances.len() >= 12 && rows.len() == 2 * instances.len());
    for row in &rows {
        assert_eq!((row["status"].as_str(), row["verdict"].as_str()), ("done", "valid"));
        assert_eq!((row["schema_version"].as_str(), row["sha256"].len()), ("5", 64));
        assert_eq!((row["whole_process"].as_str(), row["repetition"].as_str()), ("false", "1"));
        let number = |column: &str| row[column].parse::<u64>().unwrap();
        assert!(number("lower_bound") <= number("best_bound") && number("best_bound") <= number("value"));
        assert!(number("load") <= number("value") && number("cores") >= 1);
        assert_eq!(row["claim"] == "optimal", row["lower_bound"] == row["value"]);
        assert!(row["timestamp"].ends_with('Z') && !row["commit"].is_empty() && !row["rustc"].is_empty());
    }
    for instance in instances {
        let map = scratch.read(&format!("rec/maps/{instance}.svg"));
        assert!(map.starts_with("<svg ") && map.contains("<title>"), "{instance}");
    }
    assert!(
        scratch
            .read("rec/README.md")
            .contains("    plimsoll bench embedded --solvers large-first,sequential")
    );
    assert!(scratch.read("rec/summary.md").contains("| algorithm |"));
    // The page lists exactly the files that exist.
    let readme = scratch.read("rec/README.md");
    assert!(readme.contains("| `rows.csv` |") && readme.contains("| `maps/*.svg` |"), "{readme}");
    assert!(!readme.contains("trace.csv") && !readme.contains("charts/"), "{readme}");
    // A folder that is not empty requires --force.
    scratch.plimsoll(&words).exits(2);
    scratch.plimsoll(&[&words[..], &["--force"]].concat()).exits(0);
}

#[test]
fn the_default_output_is_one_screen_and_a_page() {
    let scratch = Scratch::new();
    let words = ["bench", "--time-limit", "0.01", "--out", "rec"];
    let run = scratch.plimsoll(&[&words[..], &["--report"]].concat()).exits(0);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines.len() <= 40 && lines.iter().all(|line| line.chars().count() <= 100), "{}", run.stdout);
    for column in ["algorithm", "mean gap %", "worst gap %", "optimal", "seconds"] {
        assert!(run.stdout.contains(column), "{column}: {}", run.stdout);
    }
    assert!(
        run.stdout.contains("written to rec:") && run.stdout.contains("report page: rec/report/report.html")
    );
    assert!(scratch.read("rec/report/report.html").contains("<h1>Plimsoll report</h1>"));
    assert!(scratch.read("rec/summary.md").lines().count() > 900);
    // A second record in the same folder replaces the page.
    scratch.plimsoll(&[&words[..], &["--report", "--force"]].concat()).exits(0);
    let details = scratch.plimsoll(&["bench", "--time-limit", "0.01", "--details"]).exits(0).stdout;
    assert!(details.lines().count() > 900 && details.contains("claimed optimal"), "{details}");
    scratch.plimsoll(&["bench", "--report"]).refuses(&["--out"]);
}

#[test]
fn every_seed_has_a_row() {
    let scratch = Scratch::new();
    scratch.write("tiny.csv", TINY);
    let words = ["bench", "tiny.csv", "--time-limit", "1", "--seed", "3", "--seeds", "2", "--out", "rec"];
    scratch.plimsoll(&words).exits(0);
    let rows = rows(&scratch, "rec");
    assert!(rows.iter().all(|row| row["seed"] == "3" || row["seed"] == "4"));
    let large: Vec<&Record> = rows.iter().filter(|row| row["algorithm"] == "large-first").collect();
    assert_eq!(large.len(), 2);
}

#[test]
fn unreadable_instances_are_rows_and_other_runs_continue() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("suite")).unwrap();
    scratch.write("suite/bad.csv", "id,lower,upper,size\na,5,5,4\n");
    scratch.write("suite/tiny.csv", TINY);
    let run = scratch.plimsoll(&["bench", "suite", "--solvers", "large-first", "--out", "rec"]).exits(0);
    assert!(run.stdout.contains("unreadable:") && run.stdout.contains("bad.csv: line 2"));
    let rows = rows(&scratch, "rec");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["status"], "unreadable");
    assert!(rows[0]["error"].contains("line 2"));
    assert_eq!(row(&rows, "tiny", "large-first")["claim"], "optimal");
}

#[test]
fn decide_uses_the_capacity_of_the_file() {
    let scratch = Scratch::new();
    scratch.write("tiny.8.csv", TINY);
    scratch.write("free.csv", TINY);
    let words =
        ["bench", "tiny.8.csv", "free.csv", "--solvers", "large-first,naive", "--problems", "offsets"];
    scratch.plimsoll(&[&words[..], &["--decide", "--out", "rec"]].concat()).exits(0);
    let decided = rows(&scratch, "rec");
    assert_eq!(row(&decided, "tiny", "large-first")["capacity"], "8");
    assert_eq!(row(&decided, "tiny", "naive")["claim"], "unknown");
    assert_eq!(row(&decided, "free", "naive")["status"], "skipped");
    scratch.plimsoll(&[&words[..], &["--out", "free"]].concat()).exits(0);
    let minimised = rows(&scratch, "free");
    assert_eq!(row(&minimised, "tiny", "naive")["claim"], "feasible");
    assert_eq!(row(&minimised, "tiny", "naive")["capacity"], "");
}

#[test]
fn any_capacity_can_be_decided_on_chosen_instances() {
    let scratch = Scratch::new();
    for name in ["tiny.9.csv", "taken.csv", "other.9.csv"] {
        scratch.write(name, TINY);
    }
    let words =
        ["bench", "tiny.9.csv", "taken.csv", "other.9.csv", "--only", "t*", "--solvers", "large-first"];
    for (decide, capacities) in
        [("--decide=load", ["8", "8"]), ("--decide=7", ["7", "7"]), ("--decide", ["9", ""])]
    {
        scratch.plimsoll(&[&words[..], &[decide, "--out", "rec", "--force"]].concat()).exits(0);
        let rows = rows(&scratch, "rec");
        assert!(rows.iter().all(|row| row["instance"] != "other"));
        let of = |instance: &str| row(&rows, instance, "large-first")["capacity"].clone();
        assert_eq!([of("tiny"), of("taken")], capacities);
    }
    scratch
        .plimsoll(&["bench", "tiny.9.csv", "--only", "x*"])
        .refuses(&["--only x*: nothing in tiny.9.csv matches"]);
}

#[test]
fn built_in_algorithms_run_as_processes_and_are_compared() {
    let scratch = Scratch::new();
    scratch.write("tiny.8.csv", TINY);
    scratch.write("less.7.csv", TINY);
    let words = ["bench", "tiny.8.csv", "less.7.csv", "--decide", "--processes", "--solvers", "exact,naive"];
    let more = ["--seeds", "2", "--reference", "exact", "--shift", "0.5", "--details", "--out", "rec"];
    let run = scratch.plimsoll(&[&words[..], &more].concat()).exits(0);
    assert!(run.stdout.contains("naive / exact") && run.stdout.contains("shift 0.5"));
    let rows = rows(&scratch, "rec");
    assert_eq!(rows.len(), 8);
    for row in &rows {
        assert_eq!(
            (row["problem"].as_str(), row["status"].as_str(), row["error"].as_str()),
            ("offsets", "done", "")
        );
        assert_eq!((row["whole_process"].as_str(), row["decide"].as_str()), ("true", "file"));
        assert!(row["params"].starts_with("plimsoll solve {input} "), "{}", row["params"]);
        assert!(row["seconds"].parse::<f64>().unwrap() > 0.0 && !row["lower_bound"].is_empty());
    }
    let claims = |instance: &str, algorithm: &str| row(&rows, instance, algorithm)["claim"].clone();
    assert_eq!([claims("tiny", "exact"), claims("less", "exact")], ["optimal", "infeasible"]);
    // A heuristic proves infeasibility only if the load exceeds the capacity. Otherwise, if it finds no
    // layout within the capacity, it makes no claim.
    assert_eq!(claims("tiny", "naive"), "unknown");
    assert_eq!(row(&rows, "tiny", "exact")["kind"], "exact");
    let seeds: Vec<&str> = rows.iter().map(|row| row["seed"].as_str()).take(2).collect();
    assert_eq!(seeds, ["0", "1"]);
    assert!(scratch.read("rec/charts/profile.svg").contains("Performance profile"));
    let summary = scratch.read("rec/summary.md");
    assert!(summary.contains("## offsets: ratios to exact") && summary.contains("naive own ms"));
    // When minimising, the capacity in the file name is ignored.
    let words = ["bench", "less.7.csv", "--processes", "--solvers", "naive", "--out", "free"];
    scratch.plimsoll(&words).exits(0);
    assert_eq!(row(&self::rows(&scratch, "free"), "less", "naive")["claim"], "feasible");
}

#[test]
fn unsupported_questions_are_rejected() {
    let scratch = Scratch::new();
    scratch.write("tiny.8.csv", TINY);
    let refused = |more: &[&str], why: &str| {
        scratch.plimsoll(&[&["bench", "tiny.8.csv", "--solvers", "exact"], more].concat()).refuses(&[why]);
    };
    refused(&["--processes", "--problems", "pools"], "--processes supports only the problem offsets");
    refused(&["--reference", "naive"], "--reference 'naive': this algorithm is not part of the benchmark");
    refused(&["--decide=some"], "expected a size such as 1048576, 64k, 1.5MiB or 2GB, or file, or load");
    refused(&["--external-version", "x=true"], "no external planner is called 'x'");
    refused(&["--trace"], "--out");
}

#[test]
fn a_trace_contains_improvements_and_is_drawn() {
    let scratch = Scratch::new();
    scratch.write("tiny.csv", TINY);
    let words = ["bench", "tiny.csv", "--solvers", "exact,large-first", "--trace", "--out", "rec"];
    scratch.plimsoll(&words).exits(0);
    let mut reader = csv::Reader::from_path(scratch.path("rec/trace.csv")).unwrap();
    let lines: Vec<Record> = reader.deserialize().map(Result::unwrap).collect();
    let own = |algorithm: &str| -> Vec<&Record> {
        let its = |line: &&Record| line["algorithm"] == algorithm && line["problem"] == "offsets";
        lines.iter().filter(its).collect()
    };
    for algorithm in ["exact", "large-first"] {
        let last = own(algorithm).pop().unwrap();
        assert_eq!(
            (last["event"].as_str(), last["value"].as_str(), last["lower_bound"].as_str()),
            ("end", "8", "8")
        );
        assert!(own(algorithm).iter().any(|line| line["event"] == "incumbent"));
        assert!(own(algorithm).is_sorted_by_key(|line| line["seconds"].parse::<f64>().unwrap().to_bits()));
    }
    assert!(scratch.read("rec/charts/gap-tiny.svg").contains("exact, bound"));
    assert!(scratch.read("rec/charts/gap.svg").contains("Gap over time"));
    // A new record without a trace removes the old trace.
    scratch.plimsoll(&["bench", "tiny.csv", "--solvers", "exact", "--out", "rec", "--force"]).exits(0);
    assert!(!scratch.path("rec/trace.csv").exists() && !scratch.path("rec/charts/gap.svg").exists());
}

#[cfg(unix)]
#[test]
fn external_programs_have_seeds_versions_and_claims() {
    let scratch = Scratch::new();
    scratch.write("tiny.9.csv", TINY);
    let peer = "#!/bin/sh\ncase $1 in\n\
        seeded) echo '{\"seconds\": 0.0, \"peak\": 12}'; echo \"{\\\"lower_bound\\\": 7, \\\"claim\\\": \\\"optimal\\\"}\"\n\
            printf 'id,offset\\na,0\\nb,4\\nc,4\\n' > \"$3\" ;;\n\
        wrong) echo '{\"lower_bound\": 9, \"claim\": \"optimal\"}'\n\
            printf 'id,offset\\na,0\\nb,4\\nc,8\\n' > \"$3\" ;;\n\
        empty) echo '{\"claim\": \"optimal\"}' ;;\nesac\n";
    scratch.write("peer.sh", peer);
    let external = |kind: &str, more: &str| format!("{kind}=sh peer.sh {kind} {{input}} {{output}} {more}");
    let (seeded, wrong, empty) = (external("seeded", "{seed}"), external("wrong", ""), external("empty", ""));
    let words = ["bench", "tiny.9.csv", "--solvers", "large-first", "--problems", "offsets", "--seed", "4"];
    let peers = ["--external", &seeded, "--external", &wrong, "--external", &empty];
    let more = ["--seeds", "3", "--repeat", "2", "--trace", "--out", "rec"];
    let version = ["--external-version", "seeded=echo 1.2 of may"];
    // `empty` reports that it found no layout, which is not a failure.
    scratch.plimsoll(&[&words[..], &peers, &more, &version].concat()).exits(0);
    let rows = rows(&scratch, "rec");
    let of = |kind: &str| -> Vec<&Record> { rows.iter().filter(|row| row["algorithm"] == kind).collect() };
    let column =
        |kind: &str, column: &str| -> Vec<&str> { of(kind).iter().map(|row| row[column].as_str()).collect() };
    assert_eq!(column("seeded", "seed"), ["4", "5", "6"]);
    assert_eq!(column("seeded", "repetition"), ["1", "2", "3"]);
    assert_eq!(column("seeded", "version"), ["1.2 of may"; 3]);
    assert_eq!(column("seeded", "claimed_bound"), ["7"; 3]);
    assert_eq!(
        (column("seeded", "claim"), column("seeded", "claimed")),
        (vec!["optimal"; 3], vec!["optimal"; 3])
    );
    assert_eq!((column("wrong", "seed"), column("wrong", "repetition")), (vec!["4"; 2], vec!["1", "2"]));
    assert_eq!(column("wrong", "claimed"), ["contradicted"; 2]);
    assert_eq!(column("wrong", "claimed_bound"), [""; 2]);
    assert!(column("wrong", "error")[0].contains("contradicted by 8"));
    // Without a layout, the claim of a peer is ignored.
    assert_eq!((column("empty", "claimed"), column("empty", "claim")), (vec![""; 2], vec!["unknown"; 2]));
    assert!(
        scratch
            .read("rec/README.md")
            .contains("- external seeded: 1.2 of may; run as `sh peer.sh seeded {input}")
    );
    let trace = scratch.read("rec/trace.csv");
    assert!(trace.contains("seeded,4,1,0.0,incumbent-claimed,12,"), "{trace}");
}

#[cfg(unix)]
#[test]
fn external_programs_follow_the_same_rules() {
    let scratch = Scratch::new();
    scratch.write("tiny.9.csv", TINY);
    // The first argument of this peer selects its answer.
    let peer = "#!/bin/sh\ncase $1 in\n\
        good) printf 'id,offset\\na,0\\nb,4\\nc,4\\n' > \"$3\" ;;\n\
        high) printf 'id,offset\\na,0\\nb,4\\nc,8\\n' > \"$3\" ;;\n\
        wrong) printf 'id,offset\\na,0\\nb,3\\nc,4\\n' > \"$3\" ;;\n\
        garbage) head -c 3000 /dev/urandom > \"$3\" ;;\n\
        quiet) ;;\n\
        fails) echo \"capacity was $4\" >&2; exit 7 ;;\nesac\n";
    scratch.write("a peer.sh", peer);
    let kinds = ["good", "high", "wrong", "garbage", "quiet", "fails"];
    let externals: Vec<String> = kinds
        .iter()
        .map(|kind| format!("{kind}=sh 'a peer.sh' {kind} {{input}} {{output}} {{capacity}}"))
        .collect();
    let mut words = vec!["bench", "tiny.9.csv", "--solvers", "large-first", "--problems", "offsets"];
    words.extend(["--time-limit", "600", "--out", "rec"]);
    words.extend(externals.iter().flat_map(|external| ["--external", external]));
    // All runs of some programs failed, and all answers of one program were rejected.
    let run = scratch.plimsoll(&words).exits(1);
    let reason = "fails (offsets) failed in 1 of 1 runs; tiny: no answer was written; exit status: 7; stderr: capacity was 9\n";
    assert!(run.stdout.contains(reason), "{}", run.stdout);
    let summary = scratch.read("rec/summary.md");
    assert!(summary.contains("## Failed algorithms\n\n- ") && summary.contains(reason), "{summary}");
    let rows = rows(&scratch, "rec");
    let of = |kind: &str| {
        let row = row(&rows, "tiny", kind);
        assert_eq!((row["kind"].as_str(), row["lower_bound"].as_str()), ("external", ""));
        assert!(row["params"].contains("{input}"));
        (row["status"].clone(), row["claim"].clone(), row["value"].clone(), row["error"].clone())
    };
    let is = |kind: &str, status: &str, claim: &str, peak: &str, error: &str| {
        let found = of(kind);
        assert_eq!(
            (found.0.as_str(), found.1.as_str(), found.2.as_str()),
            (status, claim, peak),
            "{kind}: {}",
            found.3
        );
        assert!(found.3.contains(error), "{kind}: {}", found.3);
    };
    is("good", "done", "optimal", "8", "");
    is("high", "done", "feasible", "12", "");
    is("wrong", "refused", "", "", "conflict and share 1 bytes");
    is("garbage", "failed", "", "", "the answer: line 1");
    is("quiet", "failed", "", "", "no answer");
    is("fails", "failed", "", "", "exit status: 7; stderr: capacity was 9");
    // Without a capacity in the name, the load is the capacity.
    scratch.write("free.csv", TINY);
    let fails = externals.iter().find(|external| external.starts_with("fails")).unwrap();
    let words = ["bench", "free.csv", "--solvers", "large-first", "--external", fails, "--out", "free"];
    scratch.plimsoll(&words).exits(3);
    let rows = self::rows(&scratch, "free");
    assert!(row(&rows, "free", "fails")["error"].contains("capacity was 8"));
}

/// A layout that is written before the time limit is an answer. How long writing takes depends on the
/// machine.
#[cfg(unix)]
#[test]
fn external_programs_are_killed_at_the_limit() {
    let scratch = Scratch::new();
    scratch.write("tiny.9.csv", TINY);
    scratch.write("late.sh", "printf 'id,offset\\na,0\\nb,4\\nc,4\\n' > \"$2\"; exec sleep 600\n");
    let late = |limit: &str| {
        let words =
            ["bench", "tiny.9.csv", "--solvers", "large-first", "--problems", "offsets", "--out", "rec"];
        let externals =
            ["late=sh late.sh {input} {output}", "sleeps=sh -c 'exec sleep 600' x {input} {output}"];
        let externals = externals.iter().flat_map(|external| ["--external", external]).collect::<Vec<_>>();
        let words = [&words[..], &externals, &["--time-limit", limit, "--force"]].concat();
        scratch.plimsoll(&words).exits(0);
        let rows = rows(&scratch, "rec");
        for killed in ["late", "sleeps"].map(|name| row(&rows, "tiny", name)) {
            assert_eq!((killed["status"].as_str(), killed["stop"].as_str()), ("done", "time-limit"));
            assert!(killed["error"].contains("killed at the time limit"), "{}", killed["error"]);
        }
        assert_eq!(row(&rows, "tiny", "sleeps")["claim"], "unknown");
        let late = row(&rows, "tiny", "late");
        (late["claim"].clone(), late["value"].clone())
    };
    let mut limits = ["0.5", "5", "50"].into_iter();
    let found = limits.find_map(|limit| Some(late(limit)).filter(|(claim, _)| claim != "unknown"));
    assert_eq!(found, Some(("optimal".to_owned(), "8".to_owned())));
}

/// A failed run is recorded as a row. The exit code differs only if all runs failed.
#[cfg(unix)]
#[test]
fn failures_of_external_programs_are_reported_with_their_reason() {
    let scratch = Scratch::new();
    scratch.write("tiny.9.csv", TINY);
    scratch.write("other.csv", "id,lower,upper,size\na,0,2,5\n");
    scratch.write(
        "peer.sh",
        "if test $1 = always || grep -q '^a,0,2,5' \"$2\"; then\n\
         printf 'Traceback (most recent call last):\\n  File \"plan.py\", line 3, in plan\\n' >&2\n\
         printf '\\033[31mValueError: no space\\033[0m\\n\\n' >&2; exit 1; fi\n\
         printf 'id,offset\\na,0\\nb,4\\nc,4\\n' > \"$3\"\n",
    );
    let reason = "no answer was written; exit status: 1; stderr: ValueError: no space";
    let bench = |kind: &str, code: i32| {
        let external = format!("peer=sh peer.sh {kind} {{input}} {{output}}");
        let suites =
            ["bench", "tiny.9.csv", "other.csv", "--solvers", "large-first", "--problems", "offsets"];
        let run = scratch.plimsoll(&[&suites[..], &["--external", &external]].concat()).exits(code);
        // The first failure is reported at once, and only that one.
        let first = if kind == "once" { "other" } else { "tiny" };
        assert_eq!(run.stderr, format!("plimsoll: peer failed on {first}: {reason}\n"));
        run.stdout
    };
    assert!(bench("once", 0).contains(&format!("\npeer (offsets) failed in 1 of 2 runs; other: {reason}\n")));
    assert!(
        bench("always", 3).contains(&format!("\npeer (offsets) failed in 2 of 2 runs; tiny: {reason}\n"))
    );
    let missing =
        ["bench", "tiny.9.csv", "--solvers", "large-first", "--external", "p=/no/such {input} {output}"];
    let run = scratch.plimsoll(&missing).exits(3);
    assert!(
        run.stdout.contains("p (offsets) failed in 1 of 1 runs; tiny: cannot run '/no/such': "),
        "{}",
        run.stdout
    );
}

#[test]
fn the_command_can_be_an_external_program() {
    let scratch = Scratch::new();
    scratch.write("tiny.8.csv", TINY);
    let binary = env!("CARGO_BIN_EXE_plimsoll");
    let external = format!("self='{binary}' solve {{input}} --solver large-first --output {{output}}");
    let words = ["bench", "tiny.8.csv", "--solvers", "sequential", "--external", &external, "--out", "rec"];
    scratch.plimsoll(&words).exits(0);
    assert_eq!(row(&rows(&scratch, "rec"), "tiny", "self")["claim"], "optimal");
}

#[cfg(unix)]
#[test]
fn own_times_are_compared_in_addition_to_process_times() {
    let scratch = Scratch::new();
    scratch.write("tiny.8.csv", TINY);
    let peer = "#!/bin/sh\nprintf 'id,offset\\na,0\\nb,4\\nc,4\\n' > \"$3\"\n\
        case $1 in\nlong) echo 'Elapsed time 2.500s' >&2 ;;\nshort) echo 'Elapsed time 0.000s' ;;\n\
        odd) echo 'Elapsed time ages' ;;\nesac\n";
    scratch.write("peer.sh", peer);
    let kinds = ["long", "short", "odd", "mute"];
    let externals = kinds.map(|kind| format!("{kind}=sh peer.sh {kind} {{input}} {{output}}"));
    let patterns = kinds.map(|kind| format!("{kind}=Elapsed time ([^s]+)"));
    let mut words = vec!["bench", "tiny.8.csv", "--decide", "--processes", "--solvers", "exact"];
    words.extend(["--reference", "exact", "--details", "--out", "rec"]);
    words.extend(externals.iter().flat_map(|external| ["--external", external]));
    words.extend(patterns.iter().flat_map(|pattern| ["--external-elapsed", pattern]));
    let run = scratch.plimsoll(&words).exits(0);
    assert!(run.stdout.contains("long own ms"), "{}", run.stdout);
    let rows = rows(&scratch, "rec");
    let own = |algorithm: &str| {
        let row = row(&rows, "tiny", algorithm);
        assert_eq!((row["status"].as_str(), row["whole_process"].as_str()), ("done", "true"), "{algorithm}");
        (row["own_seconds"].clone(), row["own_resolution"].clone(), row["error"].clone())
    };
    let exact: f64 = own("exact").0.parse().unwrap();
    assert!(exact > 0.0 && exact < row(&rows, "tiny", "exact")["seconds"].parse().unwrap());
    assert_eq!((own("long").0.as_str(), own("long").1.as_str()), ("2.5", "0.001"));
    assert_eq!((own("short").0.as_str(), own("short").1.as_str()), ("0.0", "0.001"));
    let (odd, mute) = (own("odd"), own("mute"));
    assert_eq!((odd.0 + &odd.1, mute.0 + &mute.1), (String::new(), String::new()));
    assert!(odd.2.contains("no self-reported time: 'age' is not a number of seconds"), "{}", odd.2);
    assert!(mute.2.contains("no self-reported time: no output matches 'Elapsed time ([^s]+)'"), "{}", mute.2);
    let summary = scratch.read("rec/summary.md");
    assert!(
        summary.contains("## offsets: ratios to exact")
            && summary.contains("## offsets: ratios of self-reported times")
    );
    assert!(summary.contains(" 2500 |") && summary.contains("| <1.00 | <"), "{summary}");
    // A program that reports no times has no column for them.
    assert!(!summary.contains("mute own ms") && !summary.contains("odd own ms"));
    let refused = |pattern: &str, why: &str| {
        let words = ["bench", "tiny.8.csv", "--external", &externals[0], "--external-elapsed", pattern];
        scratch.plimsoll(&words).refuses(&[&format!("external elapsed '{pattern}'"), why]);
    };
    refused("other=(a)", "no external planner is called 'other'");
    refused("long=(a", "unclosed group");
    refused("long=a", "0 groups instead of one");
}
