//! `plimsoll sweep`: runs all experiments that a TOML file describes.

use super::externals::FirstFailures;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, code_of_runs, nothing_read};
use crate::format;
use crate::input::{folder_of, input_file, is_copy};
use crate::output;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use plimsoll::model::printable::printable_line;
use plimsoll_lab::executor::{Report, Start, run_in_workers, serve};
use plimsoll_lab::experiment::{Experiment, ExperimentError, Input, Run, Shard};
use plimsoll_lab::external::{VersionCommands, reaper};
use plimsoll_lab::report::human;
use plimsoll_lab::row::{Row, Status, lines};
use plimsoll_lab::suite::CORPORA;
use plimsoll_lab::sweep;
use plimsoll_lab::sweep::slurm::{self, Scripts};
use serde_json::json;
use std::ffi::OsString;
use std::fmt::Write as _;
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

pub fn main(args: &SweepArgs) -> Result<u8, Failure> {
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
    if args.json {
        output::print_json(&json!({
            "runs": report.runs,
            "kept": report.kept,
            "torn_bytes": report.torn,
            "statuses": report.statuses,
            "failures": report.failures,
            "seconds": report.seconds,
            "algorithm_seconds": report.busy,
            "overhead_seconds": report.overhead(jobs),
            "open": report.open,
            "jobs": jobs,
            "shard": args.shard.map(|shard| shard.to_string()),
            "out": out.display().to_string(),
        }))?;
    } else {
        output::print(&text(&report, jobs, out))?;
    }
    if !sweep.inputs.is_empty() && sweep.inputs.iter().all(Input::is_unreadable) {
        return Err(nothing_read());
    }
    match code_of_runs(&report.failures, report.statuses.contains_key(&Status::Refused)) {
        ANSWERED if report.open > 0 => Ok(NOTHING_FOUND),
        code => Ok(code),
    }
}

/// Executes the runs that are requested on standard input, until standard input ends.
pub fn worker() -> Result<u8, Failure> {
    let served = serve(std::io::stdin(), std::io::stdout());
    served.map_err(Failure::internal)?;
    Ok(ANSWERED)
}

fn own_binary() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::internal(format!("cannot find this executable: {error}")))
}

fn attempt(args: &SweepArgs, sweep: &Experiment, out: &Path) -> Result<Report, Failure> {
    let own: OsString = own_binary()?.into();
    let worker: [OsString; 2] = [own.clone(), "sweep-worker".into()];
    reaper::employ(vec![own, "reaper".into()]);
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
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

fn text(report: &Report, jobs: usize, out: &Path) -> String {
    let mut text = format!("runs         {}", report.runs);
    if report.kept > 0 {
        let _ = write!(text, ", {} already had rows", report.kept);
    }
    text.push('\n');
    if report.torn > 0 {
        let _ = writeln!(text, "removed      {} bytes of an incomplete row", report.torn);
    }
    let statuses: Vec<String> =
        report.statuses.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let _ = writeln!(text, "rows         {}", statuses.join(", "));
    for line in lines(&report.failures).lines() {
        let _ = writeln!(text, "failures     {line}");
    }
    if let Some(overhead) = report.overhead(jobs) {
        let [time, busy, overhead] = [report.seconds, report.busy, overhead].map(human::seconds);
        let _ = writeln!(text, "time         {time}, {busy} in algorithms, {overhead} overhead per run");
    }
    let _ = writeln!(text, "written to   {}", out.display());
    if report.open > 0 {
        let _ = writeln!(
            text,
            "interrupted  {} runs are missing; run the same command again to resume",
            report.open
        );
    }
    text
}

/// Returns the runs of the sweep, or of the requested shard.
fn own<'a>(args: &SweepArgs, sweep: &'a Experiment) -> Vec<&'a Run> {
    sweep.runs.iter().filter(|run| args.shard.is_none_or(|shard| shard.has(run.index))).collect()
}

fn dry_run(args: &SweepArgs, sweep: &Experiment) -> Result<u8, Failure> {
    let runs = own(args, sweep);
    if args.json {
        let listed: Vec<_> = runs
            .iter()
            .map(|run| {
                let (input, task) = (&sweep.inputs[run.input], &sweep.tasks[run.task]);
                json!({
                    "run": run.index,
                    "key": sweep.known_key(run),
                    "suite": input.suite,
                    "instance": input.name,
                    "problem": task.problem,
                    "algorithm": &task.algorithm,
                    "threads": task.threads,
                    "seed": run.seed,
                    "repetition": run.repetition,
                    "time_limit": run.time.map(|time| time.as_secs_f64()),
                    "node_limit": run.nodes,
                })
            })
            .collect();
        output::print_json(&json!({ "runs": runs.len(), "list": listed }))?;
        return Ok(ANSWERED);
    }
    let (inputs, tasks) = (sweep.inputs.len(), sweep.tasks.len());
    let mut text = format!(
        "{}: {}, {}",
        human::count(runs.len(), "run"),
        human::count(inputs, "instance"),
        human::count(tasks, "algorithm")
    );
    if let Some(shard) = args.shard {
        let _ = write!(text, ", shard {shard} of {}", human::count(sweep.runs.len(), "run"));
    }
    text.push('\n');
    for run in runs {
        let _ = writeln!(text, "{}  {}", run.index, sweep.describe(run));
    }
    output::print(&output::filled(&text))?;
    Ok(ANSWERED)
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
    if args.json {
        output::print_json(&json!({
            "runs": runs,
            "shards": array,
            "array_script": written.array.display().to_string(),
            "merge_script": written.merge.display().to_string(),
            "array_job": jobs.as_ref().map(|jobs| &jobs.0),
            "merge_job": jobs.as_ref().map(|jobs| &jobs.1),
        }))?;
        return Ok(ANSWERED);
    }
    let mut text = format!("runs         {runs} in {}\n", human::count(array, "shard"));
    let _ = writeln!(text, "scripts      {}", written.array.display());
    let _ = writeln!(text, "             {}", written.merge.display());
    let _ = match (&jobs, args.no_submit) {
        (Some((array, merge)), _) => writeln!(text, "submitted    {array}, then {merge}"),
        (None, true) => writeln!(text, "submitted    no"),
        (None, false) => writeln!(text, "submitted    no, as sbatch is not on the PATH"),
    };
    output::print(&text)?;
    Ok(ANSWERED)
}

fn absolute(folder: &str) -> String {
    std::path::absolute(folder).map_or_else(|_| folder.to_owned(), |path| path.to_string_lossy().into_owned())
}
