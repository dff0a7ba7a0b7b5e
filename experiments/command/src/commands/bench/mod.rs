//! `plimsoll bench`: runs many algorithms on many instances and compares the results with the best proven
//! bounds.

mod args;
mod experiment;
mod screen;
mod store;

use super::choose::misspelt;
use super::externals::FirstFailures;
use crate::args::end_note;
use crate::command::{Command, Main, Task};
use crate::failure::{Failure, NOTHING_FOUND, RUNS_CODES, code_of_runs, nothing_read};
use crate::output;
use crate::progress;
use crate::report::pinned;
use crate::signals::First;
pub use args::BenchArgs;
use experiment::Selection;
use indicatif::ProgressBar;
use plimsoll::interrupt;
use plimsoll::model::{Offsets, Problem};
use plimsoll::posed::{Posed, Subject};
use plimsoll_lab::analysis::Folder;
use plimsoll_lab::executor::{Audience, run_here};
use plimsoll_lab::experiment::Input;
use plimsoll_lab::external::reaper;
use plimsoll_lab::report::certificates::certificates;
use plimsoll_lab::report::human;
use plimsoll_lab::report::plots::time_profile;
use plimsoll_lab::report::ratios;
use plimsoll_lab::report::summary::{self, questions};
use plimsoll_lab::report::table::wrapped;
use plimsoll_lab::report::times::{self, Clock};
use plimsoll_lab::row::{Row, Status, failures, lines, settle};
use plimsoll_lab::suite::{
    CORPORA, Case, Origin, Reading, SUITES, Suite, SuiteError, cases, corpora, fits_any,
};
use plimsoll_support::printable::{printable, printable_line};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;
use store::{Finished, Record};

/// The interval of the progress indicator while instances are generated.
const TICK: Duration = Duration::from_millis(200);

/// The longest benchmark that needs no announcement.
const MOMENT: Duration = Duration::from_secs(60);

impl Command for BenchArgs {
    const NAME: &str = "bench";
    const ABOUT: &str =
        "Run many algorithms on many instances, and compare the results with the best proven bounds";
    const TASK: Task = Task::Algorithms;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll bench embedded --only patent --algorithms exact,greedy-by-size",
            "Run two algorithms on built-in instances",
        ),
        (
            "plimsoll generate uniform --param buffers=50 --count 3 --out set && plimsoll bench 'set/*.csv' --algorithms exact,valley-fit --out record",
            "Run two algorithms on your own files, and keep the rows",
        ),
    ];
    const CODES: &str = RUNS_CODES;
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &BenchArgs) -> Result<u8, Failure> {
    let own = std::env::current_exe().unwrap_or_else(|_| "plimsoll".into());
    reaper::employ(vec![own.into(), "reaper".into()]);
    let selection = Selection::resolve(args)?;
    let (cases, mut notes) = collect(args)?;
    let read: BTreeSet<&String> = cases.iter().flat_map(|case| &case.notes).collect();
    for note in read {
        output::complain(&format!("note: {note}"));
    }
    let ends: Vec<&str> = cases.iter().filter_map(|case| case.end).collect();
    if let Some(first) = ends.first() {
        output::complain(&format!("note: {}: {}", human::count(ends.len(), "instance"), end_note(first)));
    }
    notes.extend(pinned_note(&cases));
    let (experiment, note) = selection.experiment(cases)?;
    notes.extend(note);
    let record =
        args.out.as_deref().map(|folder| Record::open(folder, args.force, &experiment)).transpose()?;
    for note in &notes {
        output::print(&output::filled(note))?;
    }
    announce(args, experiment.runs.len());
    let mut stage = Stage::new(experiment.runs.len(), record);
    run_here(&experiment, &plimsoll::registry(), &mut stage);
    let (finished, rows) = stage.end(&mut notes)?;
    report(args, &rows, &notes, finished.as_ref())?;
    for error in experiment.unreadable() {
        output::complain(&format!("unreadable: {error}"));
    }
    if !experiment.inputs.is_empty() && experiment.inputs.iter().all(Input::is_unreadable) {
        return Err(nothing_read());
    }
    let refused = rows.iter().any(|row| row.status == Status::Refused && !row.is_external());
    if rows.is_empty() {
        return Ok(NOTHING_FOUND);
    }
    Ok(code_of_runs(&failures(&rows), refused))
}

/// Reports on a terminal how long the runs can take, if this is more than a moment.
fn announce(args: &BenchArgs, runs: usize) {
    // The limit of a run applies to its proof again.
    let limit = args.time_limit.as_secs_f64() * if args.proofs { 2.0 } else { 1.0 };
    let longest = limit * runs as f64;
    if longest > MOMENT.as_secs_f64() && std::io::stderr().is_terminal() {
        let (runs, each) = (human::count(runs, "run"), human::seconds(limit));
        let longest = human::seconds(longest);
        output::complain(&format!("note: {runs} of at most {each} each take at most {longest}"));
    }
}

/// Where the runs of the benchmark appear: the progress bar, and the rows in memory or in a folder.
struct Stage {
    bar: ProgressBar,
    failed: FirstFailures,
    runs: usize,
    done: usize,
    record: Option<Record>,
    /// The rows, if there is no folder.
    rows: Vec<Row>,
    is_stuck: bool,
}

impl Stage {
    fn new(runs: usize, record: Option<Record>) -> Self {
        let bar = progress::of_runs(runs as u64);
        let failed = FirstFailures::default();
        Self { bar, failed, runs, done: 0, record, rows: Vec::new(), is_stuck: false }
    }

    /// Ends the progress bar, and returns the folder and all rows.
    fn end(self, notes: &mut Vec<String>) -> Result<(Option<Finished>, Vec<Row>), Failure> {
        self.bar.finish_and_clear();
        let (done, runs) = (self.done, self.runs);
        if self.is_stuck {
            notes.push(format!("stopped after {done} of {runs} runs, because a row cannot be written"));
        }
        if interrupt::is_requested() {
            notes.push(format!("interrupted after {done} of {runs} runs"));
            output::print(&format!("{}\n", notes[notes.len() - 1]))?;
        }
        let Some(record) = self.record else {
            let mut rows = self.rows;
            settle(&mut rows);
            return Ok((None, rows));
        };
        let (finished, rows) = record.close()?;
        Ok((Some(finished), rows))
    }
}

impl Audience for Stage {
    fn starting(&mut self, asked: &Row) {
        let message = format!("{} {}", asked.instance, asked.algorithm);
        self.bar.set_message(printable_line(&message).into_owned());
    }

    fn solved<P: Posed>(&mut self, question: &P::Question<'_>, row: &Row, solution: &P::Solution) {
        if let Some(record) = &mut self.record {
            record.keep::<P>(question, row, solution);
        }
    }

    fn ended(&mut self, row: Row) -> ControlFlow<()> {
        self.bar.inc(1);
        self.done += 1;
        self.failed.report(&row, &self.bar);
        let Some(record) = &mut self.record else {
            self.rows.push(row);
            return ControlFlow::Continue(());
        };
        if output::late(record.append(row)).is_some() {
            return ControlFlow::Continue(());
        }
        self.is_stuck = true;
        ControlFlow::Break(())
    }
}

/// Prints the summary. With `--verbose`, prints the tables of all runs before it. With `--out`, also writes
/// the charts and pages of the record.
fn report(
    args: &BenchArgs,
    rows: &[Row],
    notes: &[String],
    finished: Option<&Finished>,
) -> Result<(), Failure> {
    let (width, shift) = (output::width(), args.shift.as_secs_f64());
    let compares = args.decide.is_some() || args.reference.is_some();
    let mut text = if args.verbose { details(rows, width) } else { String::new() };
    text += &screen::screen(rows, args.time_limit, shift, !args.verbose, width);
    if compares {
        let reference = args.reference.as_deref().filter(|_| args.verbose);
        text += &compared(rows, reference, shift, width);
    }
    let unreadable = rows.iter().filter(|row| row.status == Status::Unreadable);
    for error in unreadable.map(|row| &row.error).collect::<BTreeSet<_>>() {
        let _ = write!(text, "\n{}", output::filled(&format!("unreadable: {error}")));
    }
    let failed = lines(&failures(rows));
    if !failed.is_empty() {
        let _ = write!(text, "\n{}", output::filled(&failed));
    }
    output::print(&text)?;
    let Some(finished) = finished else {
        let more = "\n--verbose prints every run; --out DIR writes rows, layouts as pictures and charts, and with \
                    --report an HTML page\n";
        return if args.verbose { Ok(()) } else { output::print(&output::filled(more)) };
    };
    if compares
        && let Some((_, own)) = questions(rows).iter().find(|(question, _)| question == Offsets::NAME)
        && let Some(chart) = time_profile(&times::of(own))
    {
        finished.chart("profile", &chart)?;
    }
    finished.gaps(rows)?;
    finished.explain(notes)?;
    let folder = finished.folder();
    output::print(&format!("\nwritten to {}: README.md lists the files\n", folder.display()))?;
    if args.report {
        let record = Folder::held(folder, rows.to_vec())?;
        let page = super::report::write(record, &folder.join("report"))?;
        output::print(&format!("report page: {}\n", page.display()))?;
    }
    Ok(())
}

/// Returns the tables of all runs and of their certificates.
fn details(rows: &[Row], width: usize) -> String {
    let mut text = String::new();
    // The main problem comes last, because the end of the output stays visible.
    for (question, own) in questions(rows).iter().rev() {
        if let Some(table) = summary::runs(own) {
            let title = wrapped(question, width).join("\n");
            let _ = writeln!(text, "{title}\n\n{}", table.text_within(width));
        }
        if let Some(table) = certificates(own) {
            let title = wrapped(&format!("{question}, certificates"), width).join("\n");
            let _ = writeln!(text, "{title}\n\n{}", table.text_within(width));
        }
    }
    text
}

/// Returns the tables of times. With a reference, also returns the ratios on every instance.
fn compared(rows: &[Row], reference: Option<&str>, shift: f64, width: usize) -> String {
    let mut text = String::new();
    for (question, own) in questions(rows).iter().rev() {
        let group = times::of(own);
        let ratios = reference.and_then(|reference| ratios::ratios(&group, reference, Clock::Bench));
        let own_ratios = reference.and_then(|reference| ratios::own_ratios(own, reference));
        for table in [own_ratios, ratios].into_iter().flatten() {
            let title = wrapped(&format!("{question}, ratios of times"), width).join("\n");
            let _ = write!(text, "\n{title}\n\n{}", table.text_within(width));
        }
        if let Some(table) = times::table(&group, shift) {
            let title =
                wrapped(&format!("{question}, times (geometric means, shift {shift} s)"), width).join("\n");
            let _ = write!(text, "\n{title}\n\n{}", table.text_within(width));
        }
    }
    text
}

/// Returns a note that names the instances with pinned buffers, if there are any.
fn pinned_note(cases: &[Case]) -> Option<String> {
    let pinned = |case: &Case| match &case.subject {
        Ok(Subject::Instance(instance)) => {
            let count = pinned(instance);
            (count > 0).then(|| format!("{} ({count} of {})", case.name, instance.len()))
        }
        _ => None,
    };
    let named: Vec<String> = cases.iter().filter_map(pinned).collect();
    // More than a line would hide the results.
    let more = if named.len() > MOST_NAMES { named.len() - 1 } else { 0 };
    let and = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text = named[..named.len() - more].join(", ");
    (!named.is_empty()).then(|| format!("buffers pinned at fixed offsets: {text}{and}"))
}

/// Maximum number of instances that a note names. If there are more, it names one.
const MOST_NAMES: usize = 3;

/// The suites that need no files.
const OWN: [&str; 4] = ["embedded", "attributed", "captured-sample", "graphs"];

/// Returns the failure for a suite that cannot be read. For an unknown name, it suggests the nearest names of
/// suites and of files in the same folder.
fn not_found(error: &SuiteError) -> Failure {
    let SuiteError::Unknown(name) = error else { return Failure::input(error) };
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let listed = std::fs::read_dir(if folder == Path::new("") { Path::new(".") } else { folder });
    let files = listed.into_iter().flatten().flatten().map(|entry| folder.join(entry.file_name()));
    let files: Vec<String> = files.map(|path| path.display().to_string()).collect();
    let suites = SUITES.iter().map(|suite| suite.name);
    let mut known: Vec<&str> = suites.chain(files.iter().map(String::as_str)).collect();
    known.sort_unstable();
    misspelt(error, name, &known)
}

/// Returns the requested instances and graphs, and notes about them.
fn collect(args: &BenchArgs) -> Result<(Vec<Case>, Vec<String>), Failure> {
    let mut notes = Vec::new();
    let plain = |suite: &&Suite| matches!(suite.origin, Origin::Corpora(_));
    let suites: Vec<String> = if !args.suites.is_empty() {
        args.suites.clone()
    } else if let Some(root) = corpora() {
        // The folder may contain only some of the corpora.
        let there = |suite: &&Suite| suite.origin.folder().is_some_and(|folder| root.join(folder).is_dir());
        let (present, absent): (Vec<&Suite>, Vec<&Suite>) = SUITES.iter().filter(plain).partition(there);
        notes.extend(absent.iter().map(|suite| format!("{CORPORA} has no folder {}", suite.name)));
        OWN.into_iter().chain(present.iter().map(|suite| suite.name)).map(str::to_owned).collect()
    } else {
        notes.push(format!("{CORPORA} is not set: running only embedded instances and graphs"));
        OWN.map(str::to_owned).to_vec()
    };
    let reading = Reading { endpoints: args.endpoints.map(Into::into), import: args.import.options()? };
    let mut all = Vec::new();
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(TICK);
    for suite in interrupt::until_requested(&suites) {
        bar.set_message(format!("reading {}", printable(suite)));
        all.extend(cases(suite, &reading).map_err(|error| not_found(&error))?);
    }
    bar.finish_and_clear();
    if interrupt::is_requested() {
        let message = "interrupted while the instances were read or generated".to_owned();
        return Err(Failure { code: NOTHING_FOUND, message });
    }
    if all.is_empty() {
        return Err(Failure::input(format!("{}: no instances or graphs", suites.join(", "))));
    }
    all.retain(|case| fits_any(&args.only, &case.name));
    if all.is_empty() {
        let patterns = args.only.join(", ");
        return Err(Failure::input(format!("--only {patterns}: nothing in {} matches", suites.join(", "))));
    }
    let external = |name: &String| SUITES.iter().any(|s| s.name == name && s.origin.folder().is_some());
    if corpora().is_some() && suites.iter().any(external) {
        notes.push(format!("external instances from {CORPORA}"));
    }
    Ok((all, notes))
}
