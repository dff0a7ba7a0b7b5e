//! Tests processes of sweeps that are killed, crash, hang, use too much memory or lose their parent.
use crate::common::{Moments, Scratch, command};
use plimsoll_lab::executor::{Report, Start, run_in_workers};
use plimsoll_lab::experiment::ExperimentError;
use plimsoll_lab::external::VersionCommands;
use plimsoll_lab::machine::Machine;
use plimsoll_lab::row::{MEASURED, Row, Status, read};
use plimsoll_lab::sweep;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Cells = BTreeMap<String, String>;

fn steady(scratch: &Scratch, folder: &str) -> Vec<Cells> {
    let mut reader = csv::Reader::from_path(scratch.path(folder).join("rows.csv")).unwrap();
    let rows = reader.deserialize::<Cells>().map(Result::unwrap);
    rows.map(|row| row.into_iter().filter(|(name, _)| !MEASURED.contains(&name.as_str())).collect()).collect()
}

/// Starts a sweep in a new process group.
fn start(scratch: &Scratch, words: &[&str]) -> Child {
    let mut command = command(&scratch.path(""));
    command.args(words).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().unwrap()
}

/// Kills a sweep, or its whole process group, without cleanup.
fn kill(child: &Child, group: bool) {
    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let killed = if group { kill_process_group(pid, Signal::KILL) } else { kill_process(pid, Signal::KILL) };
    // The child is not reaped yet, so its id is valid even if it has ended.
    killed.unwrap();
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(600), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills a sweep several times, and compares its final rows with those of an undisturbed sweep.
fn killed_at_random(seeds: u64, nodes: u64, kills: u32, moments: u64) {
    let scratch = Scratch::new();
    scratch.write(
        "s.toml",
        format!(
            "seeds = \"0..{seeds}\"\n[limits]\nnodes = {nodes}\n\
             [[instances]]\nfamily = \"guillotine\"\nbuffers = [20, 40]\nseeds = \"0..5\"\n\
             [[algorithms]]\nnames = [\"first-fit-size\", \"iterated-search\", \"search\"]\n\
             [[algorithms]]\nproblem = \"pools\"\nnames = \"shared-greedy-by-size\"\n\
             [[algorithms]]\nproblem = \"split-buffers\"\nnames = \"heuristics\"\n"
        ),
    );
    scratch.plimsoll(&["sweep", "s.toml", "--out", "whole", "--jobs", "2"]).exits(0);
    let wanted = steady(&scratch, "whole");
    let mut moments = Moments(moments);
    // On a busy machine, every kill may come too late to interrupt anything. The kills are then repeated.
    while !cut_by_kills(&scratch, &wanted, kills, &mut moments) {
        std::fs::remove_dir_all(scratch.path("cut")).unwrap();
    }
}

/// Kills a sweep several times and lets it finish. Its rows must equal `wanted`. Returns true if only some of
/// the rows existed after a kill.
fn cut_by_kills(scratch: &Scratch, wanted: &[Cells], kills: u32, moments: &mut Moments) -> bool {
    let runs = wanted.len();
    let written = || {
        let text = std::fs::read(scratch.path("cut").join("rows.csv")).unwrap_or_default();
        text.split(|&byte| byte == b'\n').count().saturating_sub(2)
    };
    // Each kill comes a random time after a given number of rows, because the speed of the machine varies.
    // For the first kill, this number is 0.
    let mut targets: Vec<usize> =
        (1..kills).map(|_| 1 + (moments.next() * (runs - 2) as f64) as usize).collect();
    targets.push(0);
    targets.sort_unstable();
    let mut left = Vec::new();
    for target in targets {
        let mut child = start(scratch, &["sweep", "s.toml", "--out", "cut", "--jobs", "2"]);
        wait_until("rows are written", || written() >= target);
        std::thread::sleep(Duration::from_secs_f64(moments.next() * 0.005));
        kill(&child, true);
        child.wait().unwrap();
        left.push(written());
    }
    scratch.plimsoll(&["sweep", "s.toml", "--out", "cut", "--jobs", "2"]).exits(0);
    let rows = steady(scratch, "cut");
    eprintln!("{runs} runs; rows after each kill: {left:?}");
    assert!(left.is_sorted());
    assert_eq!(rows.len(), runs);
    assert!(rows == wanted, "rows differ");
    left.iter().any(|left| (1..runs).contains(left))
}

#[test]
fn a_killed_sweep_resumes_to_the_same_rows() {
    killed_at_random(2, 4_000, 4, 0x9e37_79b9_7f4a_7c15);
}

#[test]
#[ignore = "takes a while"]
fn a_sweep_of_a_thousand_runs_killed_five_times_resumes_to_the_same_rows() {
    killed_at_random(20, 500, 5, 0x2545_f491_4f6c_dd1d);
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_does_not_outlive_its_parent_and_a_folder_has_one_writer() {
    let scratch = Scratch::new();
    scratch.write(
        "s.toml",
        "[limits]\ntime = 50\n[[instances]]\nfamily = \"guillotine\"\nbuffers = 120\n[[algorithms]]\nnames = \"iterated-search\"\n",
    );
    let mut child = start(&scratch, &["sweep", "s.toml", "--out", "o"]);
    let id = child.id();
    let workers = || -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        children.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    wait_until("a worker begins", || !workers().is_empty());
    let worker = workers().remove(0);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "o"]).refuses(&["o is in use by another process"]);
    // Kills only the parent process.
    kill(&child, false);
    assert!(!child.wait().unwrap().success());
    wait_until("the worker ends", || {
        let status = std::fs::read_to_string(format!("/proc/{worker}/status")).unwrap_or_default();
        status.is_empty() || status.contains("State:\tZ")
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_above_its_memory_limit_is_a_row() {
    let scratch = Scratch::new();
    scratch.write(
        "s.toml",
        "[limits]\ntime = 20\nmemory = 1_000_000\n[[instances]]\nfamily = \"guillotine\"\nbuffers = 120\n\
         [[algorithms]]\nnames = \"iterated-search\"\n",
    );
    scratch.plimsoll(&["sweep", "s.toml", "--out", "o"]).exits(0);
    let row = &read(&scratch.path("o/rows.csv")).unwrap()[0];
    assert_eq!(row.status, Status::OutOfMemory, "{row:?}");
    assert!(row.error.contains("resident memory of ") && row.peak_memory_bytes > Some(1_000_000));
}

/// Runs a sweep of three runs with a shell script as its worker. The time limit is generous because the
/// machine may be busy. `HELLO` in the script stands for the greeting of the worker.
fn with_worker(script: &str) -> (Result<Report, ExperimentError>, Vec<Row>) {
    with_worker_within("time = 300\n", script)
}

/// Runs the same sweep as [`with_worker`], but with the given limits.
fn with_worker_within(limits: &str, script: &str) -> (Result<Report, ExperimentError>, Vec<Row>) {
    let scratch = Scratch::new();
    scratch.write(
        "s.toml",
        format!(
            "seeds = \"0..3\"\n[limits]\n{limits}[[instances]]\nfamily = \"uniform\"\nbuffers = 3\n\
             [[algorithms]]\nnames = \"first-fit-size\"\n"
        ),
    );
    let machine = Machine::here();
    let hello = format!(
        "echo '{{\"hello\":{{\"version\":\"{}\",\"commit\":\"{}\"}}}}'",
        machine.version, machine.commit
    );
    let text = format!("#!/bin/sh\n{}\n", script.replace("HELLO", &hello));
    let path = scratch.write("worker.sh", text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let sweep = sweep::read(&scratch.path("s.toml"), &scratch.path(""), VersionCommands::Run).unwrap();
    let worker: [OsString; 2] = ["sh".into(), path.into()];
    let out = scratch.path("o");
    let start = Start { out: &out, shard: None, jobs: 1, worker: &worker, progress: &|_, _, _| () };
    let report = run_in_workers(&sweep, &start);
    (report, read(&out.join("rows.csv")).unwrap_or_default())
}

const READ: &str = "read input; echo '{\"input\":{\"error\":null}}'; read run";

fn statuses(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.status.as_str()).collect()
}

#[test]
fn a_worker_that_crashes_is_replaced() {
    let (report, rows) = with_worker(&format!("HELLO; {READ}; echo 'it broke' >&2; kill -SEGV $$"));
    assert_eq!(statuses(&rows), ["crashed"; 3]);
    assert_eq!(report.unwrap().statuses[&Status::Crashed], 3);
    assert!(
        rows[0].error.contains("signal: 11") && rows[0].error.ends_with("stderr: it broke"),
        "{}",
        rows[0].error
    );
    let (_, rows) =
        with_worker(&format!("HELLO; {READ}; echo 'memory allocation of 9 bytes failed' >&2; exit 3"));
    assert_eq!(statuses(&rows), ["out-of-memory"; 3]);
    let (_, rows) = with_worker("HELLO; read input; exit 7");
    assert!(rows.iter().all(|row| row.status == Status::Crashed && row.error.contains("exit status: 7")));
}

#[test]
fn a_worker_that_hangs_is_killed() {
    let limits = "time = 0.1\ngrace = 0.2\n";
    let (_, rows) = with_worker_within(limits, &format!("HELLO; {READ}; exec sleep 600"));
    assert_eq!(statuses(&rows), ["killed"; 3]);
    assert!(rows[0].error.contains("killed after 0.3 s"), "{:?}", rows[0]);
}

#[test]
fn output_that_is_not_a_reply_is_ignored() {
    // Answers with the record of the request.
    let answer = r#"echo noise; echo "$run" | sed 's/^{"run":{"asked":/{"answer":/; s/,"extras":.*/}/;
        s/"status":"failed"/"status":"done"/; s/"claim":null/"claim":"optimal"/; s/"value":null/"value":7/'"#;
    let script = format!("echo noise; HELLO; {READ}; {answer}; while read run; do {answer}; done");
    let (_, rows) = with_worker(&script);
    assert_eq!(statuses(&rows), ["done", "done", "done"]);
    assert!(rows.iter().all(|row| row.value == Some(7)));
    let (_, rows) = with_worker("HELLO; while read input; do echo '{\"input\":{\"error\":\"torn\"}}'; done");
    assert!(rows.iter().all(|row| row.status == Status::Unreadable && row.error == "torn"));
}

#[test]
fn a_worker_that_does_not_start_ends_the_sweep() {
    for (script, why) in [
        ("exit 4", "exit status: 4"),
        (
            "echo '{\"hello\":{\"version\":\"0\",\"commit\":\"x\"}}'; exec cat",
            "the worker is version 0, commit x; expected",
        ),
        ("echo '{\"input\":{\"error\":null}}'; exec cat", "the worker does not identify itself"),
    ] {
        let (report, rows) = with_worker(script);
        let error = report.unwrap_err().to_string();
        assert!(error.contains("cannot start a worker process") && error.contains(why), "{error}");
        assert!(rows.is_empty());
    }
}

/// Runs the command with a `PATH` whose first folder is `bin`.
fn with_path(scratch: &Scratch, words: &[&str]) -> crate::common::Run {
    let path = format!("{}:/usr/bin:/bin", scratch.path("bin").display());
    let mut command = command(&scratch.path(""));
    command.args(words).env("PATH", path).env("PLIMSOLL_CORPORA", "/some where");
    crate::common::Run::from(command.output().unwrap())
}

#[test]
fn scripts_for_slurm_run_the_whole_sweep() {
    let scratch = Scratch::new();
    let text = "seeds = \"0..5\"\n[[instances]]\nfamily = \"uniform\"\nbuffers = 9\nseeds = [1, 2]\n[[algorithms]]\nnames = \"first-fit-size\"\n";
    scratch.write("it's.toml", text);
    std::fs::create_dir(scratch.path("bin")).unwrap();
    // A script that logs its arguments, and answers like Slurm.
    scratch.write(
        "bin/sbatch",
        "#!/bin/sh\necho \"$@\" >> calls\necho \"4$(wc -l < calls | tr -d ' ');main\"\n",
    );
    std::fs::set_permissions(scratch.path("bin/sbatch"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let words = [
        "sweep",
        "it's.toml",
        "--out",
        "o ut",
        "--slurm",
        "--array",
        "3",
        "--slurm-options",
        "--time=9 -p debug",
    ];
    let run = with_path(&scratch, &words).exits(0);
    assert!(
        run.stdout.starts_with("runs         10 in 3 shards\n")
            && run.stdout.ends_with("submitted    41, then 42\n"),
        "{}",
        run.stdout
    );
    let calls = scratch.read("calls");
    let calls: Vec<&str> = calls.lines().collect();
    assert!(
        calls.len() == 2 && calls[0].starts_with("--parsable ") && calls[0].ends_with("array.sh"),
        "{calls:?}"
    );
    assert!(calls[1].starts_with("--parsable --dependency=afterany:41 ") && calls[1].ends_with("merge.sh"));
    let array = scratch.read("o ut/slurm/array.sh");
    assert!(
        array.contains("\n#SBATCH --array=1-3\n") && array.contains("\n#SBATCH --time=9 -p debug\n"),
        "{array}"
    );
    assert!(array.contains("export PLIMSOLL_CORPORA='/some where'\n"));
    // The scripts run from any folder.
    let sh = |script: &str, task: &str| {
        let path = scratch.path("o ut/slurm").join(script);
        Command::new("sh").arg(path).env("SLURM_ARRAY_TASK_ID", task).current_dir("/").output().unwrap()
    };
    for task in ["1", "3"] {
        assert!(sh("array.sh", task).status.success());
    }
    let early = sh("merge.sh", "");
    assert_eq!(early.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&early.stderr).contains("contains no sweep"), "{early:?}");
    assert!(sh("array.sh", "2").status.success() && sh("merge.sh", "").status.success());
    scratch.plimsoll(&["sweep", "it's.toml", "--out", "whole"]).exits(0);
    assert_eq!(steady(&scratch, "o ut"), steady(&scratch, "whole"));
    let other: Vec<&str> = words.iter().map(|word| if *word == "3" { "4" } else { word }).collect();
    with_path(&scratch, &other).refuses(&["o ut/shards/1 contains another sweep: shard 1/3 instead of 1/4"]);
    let more = with_path(&scratch, &[&words[..], &["--no-submit", "--json"]].concat()).exits(0).json();
    assert!(more["array_job"].is_null() && more["shards"] == 3);
    assert_eq!(scratch.read("calls").lines().count(), 2);
}

#[test]
fn errors_of_sbatch_are_reported() {
    let scratch = Scratch::new();
    scratch.write(
        "s.toml",
        "[[instances]]\nfamily = \"uniform\"\nbuffers = 9\n[[algorithms]]\nnames = \"first-fit-size\"\n",
    );
    std::fs::create_dir(scratch.path("bin")).unwrap();
    let fake = |text: &str| {
        let path = scratch.write("bin/sbatch", format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let words = ["sweep", "s.toml", "--out", "o", "--slurm"];
    fake("echo 'invalid partition' >&2; exit 1");
    with_path(&scratch, &words).refuses(&["sbatch: ", "array.sh: exit status: 1: invalid partition"]);
    fake("echo 'sbatch: error: Batch job submission failed: Invalid job array specification' >&2; exit 1");
    with_path(&scratch, &words).refuses(&["Invalid job array specification (use fewer tasks: --array below"]);
    fake("echo Submitted batch job 7");
    with_path(&scratch, &words).refuses(&["unexpected answer 'Submitted batch job 7'; expected a job id"]);
    let quoted: Vec<&str> = words.iter().map(|word| if *word == "o" { "o\"p" } else { word }).collect();
    with_path(&scratch, &quoted).refuses(&["o\"p: a script cannot contain a path"]);
    for bad in ["--array=1-9", "-p x -a 3", "--dependency=x", "-a3", "-o/log", "--arr=9", "-p x --dep=7"] {
        with_path(&scratch, &[&words[..], &["--slurm-options", bad]].concat())
            .refuses(&["is set by this command"]);
    }
    with_path(&scratch, &[&words[..], &["--shard", "1/2"]].concat()).refuses(&["--shard"]);
    scratch.plimsoll(&["sweep", "s.toml", "--out", "o", "--array", "2"]).refuses(&["--slurm"]);
}
