//! Tests processes of sweeps that are killed, crash, hang, use too much memory or lose their parent.
use crate::common::{Cells, Moments, Run, Scratch, command, contains};
use plimsoll_lab::executor::{Report, Start, run_in_workers};
use plimsoll_lab::experiment::ExperimentError;
use plimsoll_lab::external::VersionCommands;
use plimsoll_lab::machine::Machine;
use plimsoll_lab::row::{Row, Status, read};
use plimsoll_lab::sweep;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Starts a sweep in a new process group.
fn start(scratch: &Scratch, line: &str) -> Child {
    let mut command = command(&scratch.path(""));
    command.args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().unwrap()
}

/// Kills a sweep, or its whole process group, without cleanup.
fn kill(child: &Child, group: bool) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let killed = if group { kill_process_group(pid, Signal::KILL) } else { kill_process(pid, Signal::KILL) };
    // The child is not reaped yet, so its id is valid even if it has ended.
    killed.unwrap();
}

fn wait_until(what: &str, done: impl FnMut() -> bool) {
    crate::common::wait_until(what, Duration::from_secs(600), done);
}

/// Kills a sweep several times, and compares its final rows with those of an undisturbed sweep.
fn killed_at_random(seeds: u64, nodes: u64, kills: u32, moments: u64) {
    let text = format!(
        "seeds = '0..{seeds}'\nlimits.nodes = {nodes}\n\
         [[instances]]\nfamily = 'guillotine'\nbuffers = [20, 40]\nseeds = '0..5'\n\
         [[algorithms]]\nnames = ['first-fit-size', 'iterated-search', 'search']\n\
         [[algorithms]]\nproblem = 'shared-objects'\nnames = 'shared-greedy-by-size'\n\
         [[algorithms]]\nproblem = 'split-buffers'\nnames = 'heuristics'\n"
    );
    let scratch = Scratch::with("s.toml", text);
    scratch.ok("sweep s.toml --out whole --jobs 2");
    let wanted = scratch.steady("whole");
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
        let mut child = start(scratch, "sweep s.toml --out cut --jobs 2");
        wait_until("rows are written", || written() >= target);
        std::thread::sleep(Duration::from_secs_f64(moments.next() * 0.005));
        kill(&child, true);
        child.wait().unwrap();
        left.push(written());
    }
    scratch.ok("sweep s.toml --out cut --jobs 2");
    let rows = scratch.steady("cut");
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

/// Starts a sweep of one long run, and returns its process and that of its worker.
#[cfg(target_os = "linux")]
fn long_run(scratch: &Scratch) -> (Child, i32) {
    let text = "limits.time = 50\n[[instances]]\nfamily = 'guillotine'\nbuffers = 120\n[[algorithms]]\n\
        names = 'iterated-search'\n";
    scratch.write("s.toml", text);
    let child = start(scratch, "sweep s.toml --out o");
    let worker = || -> Option<i32> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
        let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let ids: String = children.collect();
        ids.split_whitespace().next().map(|id| id.parse().unwrap())
    };
    wait_until("a worker begins", || worker().is_some());
    let worker = worker().unwrap();
    (child, worker)
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_does_not_outlive_its_parent_and_a_folder_has_one_writer() {
    let scratch = Scratch::new();
    let (mut child, worker) = long_run(&scratch);
    scratch.refuses("sweep s.toml --out o", &["o is in use by another process"]);
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
fn a_run_whose_job_is_cancelled_has_no_row() {
    let scratch = Scratch::new();
    let (mut child, worker) = long_run(&scratch);
    std::thread::sleep(Duration::from_millis(300));
    // A cluster ends the processes of a job sequentially, workers first.
    for id in [worker, i32::try_from(child.id()).unwrap()] {
        kill_process(Pid::from_raw(id).unwrap(), Signal::TERM).unwrap();
    }
    child.wait().unwrap();
    assert_eq!(scratch.rows("o").len(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_above_its_memory_limit_is_a_row() {
    let scratch = Scratch::new();
    let text = "limits.time = 20\nlimits.memory = 1_000_000\n[[instances]]\nfamily = 'guillotine'\n\
        buffers = 120\n[[algorithms]]\nnames = 'iterated-search'\n";
    scratch.write("s.toml", text);
    scratch.ok("sweep s.toml --out o");
    let row = &scratch.rows("o")[0];
    assert_eq!(row.status, Status::OutOfMemory, "{row:?}");
    assert!(row.error.contains("resident memory of ") && row.peak_memory_bytes > Some(1_000_000));
}

/// Runs a sweep of three runs with a shell script as its worker. The time limit is generous because the
/// machine may be busy. `HELLO` in the script stands for the greeting of the worker.
fn with_worker(script: &str) -> (Result<Report, ExperimentError>, Vec<Row>) {
    with_worker_within("limits.time = 300\n", script)
}

/// Runs the same sweep as [`with_worker`], but with the given limits.
fn with_worker_within(limits: &str, script: &str) -> (Result<Report, ExperimentError>, Vec<Row>) {
    let scratch = Scratch::new();
    let text = "[[instances]]\nfamily = 'uniform'\nbuffers = 3\n[[algorithms]]\nnames = 'first-fit-size'\n";
    scratch.write("s.toml", format!("seeds = '0..3'\n{limits}{text}"));
    let Machine { version, commit, .. } = Machine::here();
    let hello = format!(r#"echo '{{"hello":{{"version":"{version}","commit":"{commit}"}}}}'"#);
    let path = script_file(&scratch, "worker.sh", &script.replace("HELLO", &hello));
    let sweep = sweep::read(&scratch.path("s.toml"), &scratch.path(""), VersionCommands::Run).unwrap();
    let worker: [OsString; 2] = ["sh".into(), path.into()];
    let out = scratch.path("o");
    let start = Start { out: &out, shard: None, jobs: 1, worker: &worker, progress: &|_, _, _| () };
    let report = run_in_workers(&sweep, &start);
    (report, read(&out.join("rows.csv")).unwrap_or_default())
}

/// Writes a shell script that can be executed.
fn script_file(scratch: &Scratch, name: &str, text: &str) -> PathBuf {
    let path = scratch.write(name, format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
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
    let error = &rows[0].error;
    assert!(error.contains("signal: 11") && error.ends_with("stderr: it broke"), "{error}");
    let allocation = "echo 'memory allocation of 9 bytes failed' >&2; exit 3";
    let (_, rows) = with_worker(&format!("HELLO; {READ}; {allocation}"));
    assert_eq!(statuses(&rows), ["out-of-memory"; 3]);
    let (_, rows) = with_worker("HELLO; read input; exit 7");
    assert!(rows.iter().all(|row| row.status == Status::Crashed && row.error.contains("exit status: 7")));
}

#[test]
fn a_worker_that_hangs_is_killed() {
    let limits = "limits.time = 0.1\nlimits.grace = 0.2\n";
    let (_, rows) = with_worker_within(limits, &format!("HELLO; {READ}; exec sleep 600"));
    assert_eq!(statuses(&rows), ["killed"; 3]);
    contains(&rows[0].error, &["killed after 0.3 s"]);
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
fn with_path(scratch: &Scratch, line: &str) -> Run {
    let path = format!("{}:/usr/bin:/bin", scratch.path("bin").display());
    let mut command = command(&scratch.path(""));
    command.args(shlex::split(line).unwrap()).env("PATH", path).env("PLIMSOLL_CORPORA", "/some where");
    Run::from(command.output().unwrap())
}

#[test]
fn scripts_for_slurm_run_the_whole_sweep() {
    let scratch = Scratch::new();
    let text = "seeds = '0..5'\n[[instances]]\nfamily = 'uniform'\nbuffers = 9\nseeds = [1, 2]\n[[algorithms]]\nnames = 'first-fit-size'\n";
    scratch.write("it's.toml", text);
    std::fs::create_dir(scratch.path("bin")).unwrap();
    // A script that logs its arguments, and answers like Slurm.
    let answer = "echo \"$@\" >> calls\necho \"4$(wc -l < calls | tr -d ' ');main\"";
    script_file(&scratch, "bin/sbatch", answer);
    let submit = |array: u64, more: &str| {
        let line = "sweep \"it's.toml\" --out 'o ut' --slurm --slurm-options '--time=9 -p debug'";
        with_path(&scratch, &format!("{line} --array {array} {more}"))
    };
    let text = submit(3, "").exits(0).stdout;
    assert!(
        text.starts_with("runs         10 in 3 shards\n") && text.ends_with("submitted    41, then 42\n")
    );
    let calls = scratch.read("calls");
    let [first, second] = calls.lines().collect::<Vec<_>>()[..] else { panic!("{calls}") };
    assert!(first.starts_with("--parsable ") && first.ends_with("array.sh"), "{calls}");
    let after = "--parsable --dependency=afterany:41 ";
    assert!(second.starts_with(after) && second.ends_with("merge.sh"), "{calls}");
    let array = scratch.read("o ut/slurm/array.sh");
    contains(&array, &["\n#SBATCH --array=1-3\n", "\n#SBATCH --time=9 -p debug\n"]);
    contains(&array, &["export PLIMSOLL_CORPORA='/some where'\n"]);
    // The scripts run from any folder.
    let sh = |script: &str, task: &str| {
        let path = scratch.path("o ut/slurm").join(script);
        Command::new("sh").arg(path).env("SLURM_ARRAY_TASK_ID", task).current_dir("/").output().unwrap()
    };
    assert!(["1", "3"].iter().all(|task| sh("array.sh", task).status.success()));
    Run::from(sh("merge.sh", "")).exits(2).warns(&["contains no sweep"]);
    assert!(sh("array.sh", "2").status.success() && sh("merge.sh", "").status.success());
    scratch.ok("sweep \"it's.toml\" --out whole");
    assert_eq!(scratch.steady("o ut"), scratch.steady("whole"));
    submit(4, "").refuses(&["o ut/shards/1 contains another sweep: shard 1/3 instead of 1/4"]);
    let more = submit(3, "--no-submit --json").exits(0).json();
    assert!(more["array_job"].is_null() && more["shards"] == 3);
    assert_eq!(scratch.read("calls").lines().count(), 2);
}

#[test]
fn errors_of_sbatch_are_reported() {
    let scratch = Scratch::new();
    let text = "[[instances]]\nfamily = 'uniform'\nbuffers = 9\n[[algorithms]]\nnames = 'first-fit-size'\n";
    scratch.write("s.toml", text);
    std::fs::create_dir(scratch.path("bin")).unwrap();
    let line = "sweep s.toml --out o --slurm";
    let array = "Invalid job array specification";
    for (script, parts) in [
        (
            "echo 'invalid partition' >&2; exit 1",
            &["sbatch: ", "array.sh: exit status: 1: invalid partition"][..],
        ),
        (
            &format!("echo 'sbatch: error: Batch job submission failed: {array}' >&2; exit 1"),
            &[&format!("{array} (use fewer tasks: --array below")],
        ),
        ("echo Submitted batch job 7", &["unexpected answer 'Submitted batch job 7'; expected a job id"]),
    ] {
        script_file(&scratch, "bin/sbatch", script);
        with_path(&scratch, line).refuses(parts);
    }
    let quoted = "sweep s.toml --out 'o\"p' --slurm";
    with_path(&scratch, quoted).refuses(&["o\"p: a script cannot contain a path"]);
    for bad in ["--array=1-9", "-p x -a 3", "--dependency=x", "-a3", "-o/log", "--arr=9", "-p x --dep=7"] {
        let line = format!("{line} '--slurm-options={bad}'");
        with_path(&scratch, &line).refuses(&["is set by this command"]);
    }
    with_path(&scratch, &format!("{line} --shard 1/2")).refuses(&["--shard"]);
    scratch.refuses("sweep s.toml --out o --array 2", &["--slurm"]);
}
