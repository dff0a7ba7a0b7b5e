//! `plimsoll sweep`: runs all experiments that a TOML file describes.

use super::externals::FirstFailures;
use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, RUNS_CODES, code_of_runs, nothing_read};
use crate::format;
use crate::input::{folder_of, input_file, is_copy};
use crate::output;
use crate::progress;
use crate::report::{self, Printed, Text};
use crate::signals::First;
use clap::Args;
use plimsoll_lab::executor::{Report, Start, run_in_workers, serve};
use plimsoll_lab::experiment::{Experiment, ExperimentError, Input, Run, Shard};
use plimsoll_lab::external::{VersionCommands, reaper};
use plimsoll_lab::report::human;
use plimsoll_lab::row::{Failures, Row, Status, lines};
use plimsoll_lab::suite::CORPORA;
use plimsoll_lab::sweep;
use plimsoll_lab::sweep::slurm::{self, Scripts};
use plimsoll_support::printable::printable_line;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Default number of tasks of an array job.
const ARRAY: u64 = 16;

/// Maximum number of errors shown for inputs that cannot be read.
const SHOWN: usize = 20;

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Self {
        match &error {
            ExperimentError::Worker(_) => Self::internal(error),
            ExperimentError::Interrupted => Self { code: NOTHING_FOUND, message: error.to_string() },
            _ => Self::input(error),
        }
    }
}

#[derive(Args, Debug)]
pub struct SweepArgs {
    /// Sweep: a TOML file with instances, algorithms, limits, seeds, repetitions and metrics
    #[arg(value_name = "FILE.toml", value_parser = input_file())]
    file: PathBuf,
    /// Write rows.csv and experiment.json into this folder; if it contains rows of this sweep, only the
    /// missing runs start
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run", value_parser = format::folder())]
    out: Option<PathBuf>,
    /// Number of concurrent runs, each in a separate process
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Run only shard I of N; `merge` joins the shards
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// List the runs without starting them; no command of the file runs
    #[arg(long, conflicts_with = "slurm")]
    dry_run: bool,
    /// Write Slurm scripts for an array job that runs the shards and for a job that joins them, and submit
    /// both if `sbatch` is available
    #[arg(long, conflicts_with = "shard")]
    slurm: bool,
    /// Options to pass to `sbatch`, on one line
    #[arg(
        long,
        value_name = "'OPTION ..'",
        requires = "slurm",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    slurm_options: String,
    /// Number of tasks of the array job, one shard each; at most the number of runs [default: 16]
    #[arg(long, value_name = "N", requires = "slurm", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    array: Option<u64>,
    /// Write the scripts without submitting them; no command of the file runs
    #[arg(long, requires = "slurm")]
    no_submit: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Command for SweepArgs {
    const NAME: &str = "sweep";
    const ABOUT: &str = "Run all experiments that a TOML file describes, or resume an interrupted sweep";
    const TASK: Task = Task::Algorithms;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "printf '%s\\n' 'instances=[{suite=\"embedded\"}]' 'algorithms=[{names=\"greedy-by-size\"}]' > s.toml && plimsoll sweep s.toml --dry-run",
            "Describe a sweep, and list its runs",
        ),
        ("plimsoll sweep s.toml --out record", "Execute or resume the runs"),
    ];
    const CODES: &str = RUNS_CODES;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &SweepArgs) -> Result<u8, Failure> {
    let commands = if args.dry_run || args.no_submit { VersionCommands::Skip } else { VersionCommands::Run };
    let sweep = sweep::read(&args.file, folder_of(&args.file), commands)?;
    let unreadable = sweep.unreadable();
    for error in unreadable.iter().take(SHOWN) {
        output::complain(&format!("unreadable: {error}"));
    }
    if unreadable.len() > SHOWN {
        let more = unreadable.len() - SHOWN;
        output::complain(&format!("unreadable: and {more} more inputs; rows.csv contains the errors"));
    }
    if unreadable.iter().any(|error| error.contains("--dim")) {
        output::complain(
            "note: in a sweep file, --dim N=1 is dim = { N = 1 }, and --dim-default 1 is dim_default = 1",
        );
    }
    if args.dry_run {
        return dry_run(args, &sweep);
    }
    let Some(out) = &args.out else { return Err(Failure::input("--out DIR is required")) };
    if args.slurm {
        if is_copy(&args.file) {
            return Err(Failure::input(
                "--slurm: the jobs read the sweep file, which cannot be standard input",
            ));
        }
        return submit(args, &sweep, out);
    }
    let (report, jobs) = (attempt(args, &sweep, out)?, usize::from(args.jobs));
    for note in &report.notes {
        output::complain(note);
    }
    let printed = SweepReport {
        runs: report.runs,
        kept: report.kept,
        torn_bytes: report.torn,
        statuses: &report.statuses,
        failures: &report.failures,
        seconds: report.seconds,
        algorithm_seconds: report.busy,
        overhead_seconds: report.overhead(jobs),
        open: report.open,
        jobs,
        shard: args.shard.map(|shard| shard.to_string()),
        out,
    };
    report::print(&printed, args.json)?;
    if !sweep.inputs.is_empty() && sweep.inputs.iter().all(Input::is_unreadable) {
        return Err(nothing_read());
    }
    match code_of_runs(&report.failures, report.statuses.contains_key(&Status::Refused)) {
        ANSWERED if report.open > 0 => Ok(NOTHING_FOUND),
        code => Ok(code),
    }
}

/// No arguments.
#[derive(Args, Debug)]
pub struct WorkerArgs {}

impl Command for WorkerArgs {
    const NAME: &str = "sweep-worker";
    const ABOUT: &str = "Execute the runs of a sweep that are requested on standard input";
    const TASK: Task = Task::Internal;
    const EXAMPLES: &[(&str, &str)] = &[];
    const SIGNAL: Option<First> = None;
    const MAIN: Main<Self> =
        |_, _| serve(std::io::stdin(), std::io::stdout()).map(|()| ANSWERED).map_err(Failure::internal);
}

fn own_binary() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::internal(format!("cannot find this executable: {error}")))
}

fn attempt(args: &SweepArgs, sweep: &Experiment, out: &Path) -> Result<Report, Failure> {
    let own: OsString = own_binary()?.into();
    let worker: [OsString; 2] = [own.clone(), "sweep-worker".into()];
    reaper::employ(vec![own, "reaper".into()]);
    let bar = progress::of_runs(0);
    let (drawn, failed) = (!bar.is_hidden(), FirstFailures::default());
    let progress = |row: &Row, there: u64, runs: u64| {
        failed.report(row, &bar);
        if drawn {
            bar.set_length(runs);
            bar.set_position(there);
            bar.set_message(printable_line(&format!("{} {}", row.instance, row.algorithm)).into_owned());
        }
    };
    let jobs = usize::from(args.jobs);
    let report =
        run_in_workers(sweep, &Start { out, shard: args.shard, jobs, worker: &worker, progress: &progress });
    bar.finish_and_clear();
    Ok(report?)
}

/// The report on the runs of a sweep.
#[derive(Serialize)]
struct SweepReport<'a> {
    runs: u64,
    kept: u64,
    torn_bytes: u64,
    statuses: &'a BTreeMap<Status, u64>,
    failures: &'a [Failures],
    seconds: f64,
    algorithm_seconds: f64,
    overhead_seconds: Option<f64>,
    open: u64,
    jobs: usize,
    shard: Option<String>,
    out: &'a Path,
}

impl Printed for SweepReport<'_> {
    fn print(&self, text: &mut Text) {
        let mut line = |name: &str, words: String| text.verbatim(&format!("{name:<12} {words}\n"));
        let kept = if self.kept > 0 { format!(", {} already had rows", self.kept) } else { String::new() };
        line("runs", format!("{}{kept}", self.runs));
        if self.torn_bytes > 0 {
            line("removed", format!("{} bytes of an incomplete row", self.torn_bytes));
        }
        let statuses = self.statuses.iter().map(|(name, count)| format!("{count} {name}"));
        line("rows", statuses.collect::<Vec<_>>().join(", "));
        lines(self.failures).lines().for_each(|failure| line("failures", failure.to_owned()));
        if let Some(overhead) = self.overhead_seconds {
            let [time, busy, overhead] = [self.seconds, self.algorithm_seconds, overhead].map(human::seconds);
            line("time", format!("{time}, {busy} in algorithms, {overhead} overhead per run"));
        }
        line("written to", self.out.display().to_string());
        if self.open > 0 {
            let hint = "runs are missing; run the same command again to resume";
            line("interrupted", format!("{} {hint}", self.open));
        }
    }
}

/// Returns the runs of the sweep, or of the requested shard.
fn own<'a>(args: &SweepArgs, sweep: &'a Experiment) -> Vec<&'a Run> {
    sweep.runs.iter().filter(|run| args.shard.is_none_or(|shard| shard.has(run.index))).collect()
}

fn dry_run<'a>(args: &SweepArgs, sweep: &'a Experiment) -> Result<u8, Failure> {
    let runs = own(args, sweep);
    let row = |run: &'a Run| {
        let (input, task) = (&sweep.inputs[run.input], &sweep.tasks[run.task]);
        RunRow {
            run: run.index,
            key: sweep.known_key(run),
            suite: &input.suite,
            instance: &input.name,
            problem: task.problem,
            algorithm: &task.algorithm,
            threads: task.threads,
            seed: run.seed,
            repetition: run.repetition,
            time_limit: run.time.map(|time| time.as_secs_f64()),
            node_limit: run.nodes,
            line: sweep.describe(run),
        }
    };
    let [own, inputs, tasks] =
        [(runs.len(), "run"), (sweep.inputs.len(), "instance"), (sweep.tasks.len(), "algorithm")]
            .map(|(number, noun)| human::count(number, noun));
    let shard = args.shard.map_or_else(String::new, |shard| {
        format!(", shard {shard} of {}", human::count(sweep.runs.len(), "run"))
    });
    let head = format!("{own}: {inputs}, {tasks}{shard}\n");
    report::print(
        &RunList { runs: runs.len(), list: runs.iter().copied().map(row).collect(), head },
        args.json,
    )?;
    Ok(ANSWERED)
}

/// The runs of a sweep.
#[derive(Serialize)]
struct RunList<'a> {
    runs: usize,
    list: Vec<RunRow<'a>>,
    #[serde(skip)]
    head: String,
}

#[derive(Serialize)]
struct RunRow<'a> {
    run: u64,
    key: Option<&'a str>,
    suite: &'a str,
    instance: &'a str,
    problem: &'static str,
    algorithm: &'a str,
    threads: usize,
    seed: u64,
    repetition: u64,
    time_limit: Option<f64>,
    node_limit: Option<u64>,
    #[serde(skip)]
    line: String,
}

impl Printed for RunList<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.head);
        self.list.iter().for_each(|row| text.push(&format!("{}  {}\n", row.run, row.line)));
    }
}

fn submit(args: &SweepArgs, sweep: &Experiment, out: &Path) -> Result<u8, Failure> {
    let runs = sweep.runs.len() as u64;
    let array = args.array.unwrap_or(ARRAY).min(runs);
    let corpora = std::env::var(CORPORA).ok().filter(|folder| !folder.is_empty());
    let environment: Vec<(String, String)> =
        corpora.map(|folder| (CORPORA.to_owned(), absolute(&folder))).into_iter().collect();
    let command = own_binary()?;
    let scripts = Scripts {
        file: &args.file,
        out,
        array,
        jobs: usize::from(args.jobs),
        options: &args.slurm_options,
        command: &command,
        environment: &environment,
    };
    scripts.check(sweep)?;
    let written = scripts.write()?;
    let jobs = if args.no_submit || !slurm::is_there() { None } else { Some(written.submit()?) };
    let (array_job, merge_job) = jobs.unzip();
    let report = Submission {
        runs,
        shards: array,
        array_script: written.array,
        merge_script: written.merge,
        array_job,
        merge_job,
        is_asked: !args.no_submit,
    };
    report::print(&report, args.json)?;
    Ok(ANSWERED)
}

/// The jobs of a sweep on a cluster.
#[derive(Serialize)]
struct Submission {
    runs: u64,
    shards: u64,
    array_script: PathBuf,
    merge_script: PathBuf,
    array_job: Option<String>,
    merge_job: Option<String>,
    /// Whether the jobs are to be submitted.
    #[serde(skip)]
    is_asked: bool,
}

impl Printed for Submission {
    fn print(&self, text: &mut Text) {
        let mut line = |name: &str, words: String| text.verbatim(&format!("{name:<12} {words}\n"));
        line("runs", format!("{} in {}", self.runs, human::count(self.shards, "shard")));
        line("scripts", self.array_script.display().to_string());
        line("", self.merge_script.display().to_string());
        line(
            "submitted",
            match (&self.array_job, &self.merge_job) {
                (Some(array), Some(merge)) => format!("{array}, then {merge}"),
                _ if !self.is_asked => "no".to_owned(),
                _ => "no, as sbatch is not on the PATH".to_owned(),
            },
        );
    }
}

fn absolute(folder: &str) -> String {
    std::path::absolute(folder).map_or_else(|_| folder.to_owned(), |path| path.to_string_lossy().into_owned())
}
