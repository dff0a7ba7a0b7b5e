//! Tests that answers, rows and files survive Ctrl-C, SIGTERM and SIGKILL, and that all started processes
//! end.
use crate::common::{Moments, Run, Scratch, command, contains, has};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Creates a scratch folder with inputs that keep every command busy.
fn inputs() -> Scratch {
    let scratch = Scratch::after("generate perturbed --buffers 300 --seed 3 -o hard.csv");
    scratch.ok("generate layered --param n=300 --param width=12 -o layered.json");
    scratch.ok("generate darts -o darts.json");
    scratch
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap()
}

fn wait_until(what: &str, done: impl FnMut() -> bool) {
    crate::common::wait_until(what, Duration::from_secs(120), done);
}

/// Returns true if the process has installed a handler for the signal, according to its mask in /proc.
fn handles(child: &Child, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

fn is_running(id: &str) -> bool {
    // A zombie counts as ended.
    let status = std::fs::read_to_string(format!("/proc/{}/status", id.trim())).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

/// Starts the command, waits until it has installed a handler for the signal, and then waits for the
/// duration `moment`. Then sends the signal and waits until the command ends.
fn interrupted(scratch: &Scratch, line: &str, signal: Signal, moment: Duration) -> Run {
    interrupted_times(scratch, line, signal, moment, 1)
}

/// Like [`interrupted`], but sends the signal several times at once.
fn interrupted_times(scratch: &Scratch, line: &str, signal: Signal, moment: Duration, times: u64) -> Run {
    let mut command = command(&scratch.path(""));
    command.args(shlex::split(line).unwrap()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a handler", || handles(&child, signal) || !matches!(child.try_wait(), Ok(None)));
    std::thread::sleep(moment);
    for _ in 0..times {
        // A process that has ended is not reaped yet, so its id is still valid.
        kill_process(pid(&child), signal).unwrap();
    }
    Run::from(child.wait_with_output().unwrap())
}

fn temporaries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains("tmp")).collect()
}

#[test]
fn solve_ends_with_its_best_answer() {
    let scratch = inputs();
    for signal in [Signal::INT, Signal::TERM] {
        let line = "solve hard.csv --algorithm search --time-limit 1000 --json -o out.csv";
        let answer = interrupted(&scratch, line, signal, Duration::from_millis(300)).exits(0).json();
        has(&answer, &json!({ "stop": "interrupted", "claim": "feasible" }));
        assert!(answer["peak"].as_u64() > answer["lower_bound"].as_u64(), "{answer}");
        has(&scratch.json("verify hard.csv out.csv"), &json!({ "peak": answer["peak"] }));
        assert_eq!(temporaries(&scratch.path("")), Vec::<String>::new());
    }
}

/// The commands that search, each with an input that takes a long time. The second part of an entry names a
/// member that the JSON object must contain; it is empty if no member is checked.
const SEARCHES: [(&str, &str); 8] = [
    ("solve hard.csv", "lower_bound"),
    ("order layered.json", "lower_bound"),
    ("order layered.json --compare", ""),
    ("plan layered.json", "regions"),
    ("overlap darts.json --machine generic", ""),
    ("tiers darts.json --machine generic", ""),
    ("fuse darts.json", ""),
    ("spill layered.json --capacity 9000000", ""),
];

/// Interrupts one of the searches. Its output must be an answer, or a report that none was found.
fn search_ends(scratch: &Scratch, at: usize, signal: Signal, moment: Duration) {
    let (line, member) = SEARCHES[at];
    let run = interrupted(scratch, &format!("{line} --json"), signal, moment);
    assert!(matches!(run.code, 0 | 1 | 3), "{line}: code {}: {} {}", run.code, run.stdout, run.stderr);
    if run.code == 0 {
        let answer = run.json();
        assert!(member.is_empty() || !answer[member].is_null(), "{line}: {answer}");
    }
    assert_eq!(temporaries(&scratch.path("")), Vec::<String>::new());
}

#[test]
fn every_search_ends_with_an_answer() {
    let scratch = inputs();
    for at in 0..SEARCHES.len() {
        search_ends(&scratch, at, Signal::TERM, Duration::from_millis(40));
    }
}

/// Interrupts a long-running benchmark. The files that it wrote must be complete.
fn bench_ends(scratch: &Scratch, signal: Signal, moment: Duration) {
    let line = "bench hard.csv --algorithms first-fit-size,search --time-limit 1000 --out b --force";
    let run = interrupted(scratch, line, signal, moment);
    assert!(matches!(run.code, 0 | 3), "code {}: {}", run.code, run.stderr);
    run.prints(&["interrupted after"]);
    assert_eq!(scratch.cells("b/rows.csv").is_empty(), run.code == 3);
    contains(&scratch.read("b/README.md"), &["interrupted after"]);
}

#[test]
fn repeated_signals_at_once_count_as_one() {
    let scratch = inputs();
    let line = "solve hard.csv --algorithm search --time-limit 1000 --json";
    let run = interrupted_times(&scratch, line, Signal::INT, Duration::from_millis(300), 3).exits(0);
    assert_eq!(run.json()["stop"], "interrupted");
}

#[test]
fn view_writes_the_best_answer() {
    let scratch = inputs();
    for signal in [Signal::INT, Signal::TERM] {
        let line = "view hard.csv -o page.html -- --algorithm search --time-limit 1000";
        interrupted(&scratch, line, signal, Duration::from_millis(600)).exits(0).prints(&["page.html: "]);
        contains(&scratch.read("page.html"), &["interrupted"]);
        std::fs::remove_file(scratch.path("page.html")).unwrap();
    }
}

#[test]
fn generators_of_suites_end() {
    let scratch = Scratch::new();
    scratch.write("s.toml", "[[instances]]\nsuite = 'above-load-wide'\n[[algorithms]]\nnames = 'naive'\n");
    for line in ["bench above-load-wide --algorithms naive", "sweep s.toml --dry-run"] {
        let run = interrupted(&scratch, line, Signal::INT, Duration::from_millis(200)).exits(3);
        run.warns(&["interrupted while the instances were"]);
    }
}

#[test]
fn bench_keeps_its_rows() {
    let scratch = inputs();
    bench_ends(&scratch, Signal::INT, Duration::from_millis(300));
    let rows = scratch.read("b/rows.csv");
    assert!(rows.contains("interrupted") || rows.lines().count() == 2, "{rows}");
}

const SWEEP: &str = "[limits]\ntime = 1000\n[[instances]]\npath = \"hard.csv\"\n[[algorithms]]\n\
    names = [\"first-fit-size\", \"search\"]\nseeds = 3\n";

/// Interrupts a sweep. Exactly the finished runs must have rows.
fn sweep_ends(scratch: &Scratch, signal: Signal, moment: Duration) {
    scratch.write("s.toml", SWEEP);
    let report = interrupted(scratch, "sweep s.toml --out s --json", signal, moment).exits(3).json();
    let rows: u64 = report["statuses"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(report["runs"].as_u64().unwrap(), rows + report["open"].as_u64().unwrap());
    assert_eq!(scratch.cells("s/rows.csv").len() as u64, rows);
    assert_eq!(temporaries(&scratch.path("s")), Vec::<String>::new());
}

#[test]
fn a_sweep_keeps_finished_runs_only() {
    let scratch = inputs();
    // The first sweep writes the folder, and the second resumes it.
    for signal in [Signal::INT, Signal::TERM] {
        sweep_ends(&scratch, signal, Duration::from_millis(300));
    }
}

#[test]
fn commands_without_an_answer_leave_no_partial_files() {
    let scratch = Scratch::new();
    let words = ["generate", "uniform", "--buffers", "10000000", "-o", "large.csv"];
    let run = {
        let mut command = command(&scratch.path(""));
        let mut child = command.args(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("a temporary file", || !temporaries(&scratch.path("")).is_empty());
        kill_process(pid(&child), Signal::TERM).unwrap();
        wait_until("the end", || matches!(child.try_wait(), Ok(Some(_))));
        Run::from(child.wait_with_output().unwrap())
    };
    assert_eq!(run.exits(143).stderr, "plimsoll: interrupted\n");
    assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), 0);
}

/// Returns the command line of an external program that writes its process id to a file and never ends.
fn endless(scratch: &Scratch) -> String {
    let mark = scratch.path("pid");
    format!(
        "sh -c 'echo $$ > {0}.part; mv {0}.part {0}; sleep 1000 & wait' x {{input}} {{output}}",
        mark.display()
    )
}

/// Starts a bench or sweep, and waits until its external program runs. Returns the process of the command
/// and the process id of the program.
fn with_external(scratch: &Scratch, words: &[&str]) -> (Child, String) {
    let _ = std::fs::remove_file(scratch.path("pid"));
    let mut command = command(&scratch.path(""));
    command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.env("TMPDIR", scratch.path("scratch")).spawn().unwrap();
    wait_until("an external", || scratch.path("pid").exists());
    let id = scratch.read("pid");
    assert!(is_running(&id));
    (child, id)
}

#[test]
fn external_programs_end_with_the_command() {
    let scratch = Scratch::with("tiny.csv", crate::common::TINY);
    std::fs::create_dir(scratch.path("scratch")).unwrap();
    let line = endless(&scratch);
    let sweep = format!(
        "[[instances]]\npath = \"tiny.csv\"\n[[algorithms]]\nnames = \"e\"\nexternal = {}\n",
        serde_json::to_string(&line).unwrap()
    );
    scratch.write("e.toml", sweep);
    let named = format!("e={line}");
    let bench = ["bench", "tiny.csv", "--algorithms", "naive", "--time-limit", "1000", "--external", &named];
    for words in [&bench[..], &["sweep", "e.toml", "--out", "e"]] {
        for signal in [Signal::INT, Signal::KILL] {
            let (mut child, id) = with_external(&scratch, words);
            kill_process(pid(&child), signal).unwrap();
            child.wait().unwrap();
            wait_until("the end of the external", || !is_running(&id));
            // The scratch files of the external program are removed too.
            wait_until("an empty folder", || {
                std::fs::read_dir(scratch.path("scratch")).unwrap().count() == 0
            });
        }
    }
}

/// Interrupts all commands above, two hundred times in total, at random moments.
#[test]
#[ignore = "takes minutes"]
fn two_hundred_interrupts() {
    let scratch = inputs();
    let mut moments = Moments(7);
    for nth in 0..200 {
        let signal = if nth % 3 == 0 { Signal::TERM } else { Signal::INT };
        let moment = Duration::from_secs_f64(moments.next().powi(2) * 2.0);
        match nth % (SEARCHES.len() + 2) {
            8 => bench_ends(&scratch, signal, moment),
            9 => sweep_ends(&scratch, signal, moment),
            at => search_ends(&scratch, at, signal, moment),
        }
    }
}
