//! `plimsoll bench`: runs many algorithms on many instances and compares the results with the best proven
//! bounds.

mod args;
mod lanes;
mod processes;
mod runs;
mod screen;
mod store;

use super::choose::misspelt;
use super::externals::FirstFailures;
use crate::args::end_note;
use crate::failure::{Failure, NOTHING_FOUND, code_of_runs, nothing_read};
use crate::output;
use crate::report::pinned;
pub use args::BenchArgs;
use indicatif::{ProgressBar, ProgressStyle};
use plimsoll::interrupt;
use plimsoll::model::printable::printable;
use plimsoll::model::{Offsets, Problem};
use plimsoll::posed::Subject;
use plimsoll_lab::external::reaper;
use plimsoll_lab::record::{Record, failures, lines};
use plimsoll_lab::report::certificates::certificates;
use plimsoll_lab::report::human;
use plimsoll_lab::report::plots::time_profile;
use plimsoll_lab::report::ratios;
use plimsoll_lab::report::summary::{self, Comparison, Peer, Question, questions};
use plimsoll_lab::report::table::wrapped;
use plimsoll_lab::report::times::{self, Clock};
use plimsoll_lab::suite::{
    CORPORA, Case, Origin, Reading, SUITES, Suite, SuiteError, cases, corpora, fits_any,
};
use runs::Bench;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;
use store::Store;

/// The interval of the progress indicator while instances are generated.
const TICK: Duration = Duration::from_millis(200);

pub fn main(args: &BenchArgs) -> Result<u8, Failure> {
    let own = std::env::current_exe().unwrap_or_else(|_| "plimsoll".into());
    reaper::employ(vec![own.into(), "reaper".into()]);
    let mut bench = Bench::resolve(args)?;
    let (cases, mut notes) = collect(args)?;
    let store = args.out.as_deref().map(|folder| Store::open(folder, args.force, args.extras()));
    let mut store = store.transpose()?;
    let read: BTreeSet<&String> = cases.iter().flat_map(|case| &case.notes).collect();
    for note in read {
        output::complain(&format!("note: {note}"));
    }
    let ends: Vec<&str> = cases.iter().filter_map(|case| case.end).collect();
    if let Some(first) = ends.first() {
        output::complain(&format!("note: {}: {}", human::count(ends.len(), "instance"), end_note(first)));
    }
    notes.extend(pinned_note(&cases));
    notes.extend(bench.check_cases(&cases)?);
    for note in &notes {
        output::print(&output::filled(note))?;
    }
    let all: usize = cases.iter().map(|case| bench.runs_on(case)).sum();
    let bar = ProgressBar::new(all as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    let (mut rows, failed): (Vec<Record>, _) = (Vec::new(), FirstFailures::default());
    for case in interrupt::until_requested(&cases) {
        let mut own = bench.case(case, &bar, store.as_mut());
        for (row, run) in own.iter_mut().zip(rows.len() as u64..) {
            row.run = run;
            failed.report(row, &bar);
        }
        let stored = store.as_mut().is_none_or(|store| output::late(store.append(&own)).is_some());
        rows.extend(own);
        if !stored {
            notes
                .push(format!("stopped after {} of {all} runs, because a row cannot be written", rows.len()));
            break;
        }
    }
    bar.finish_and_clear();
    if interrupt::is_requested() {
        notes.push(format!("interrupted after {} of {all} runs", rows.len()));
        output::print(&format!("{}\n", notes[notes.len() - 1]))?;
    }
    report(&bench, &rows, &notes, store.as_ref())?;
    for case in &cases {
        if let Err(error) = &case.subject {
            output::complain(&format!("unreadable: {error}"));
        }
    }
    if !cases.is_empty() && cases.iter().all(|case| case.subject.is_err()) {
        return Err(nothing_read());
    }
    let refused = rows.iter().any(|row| row.status == "refused" && row.kind != "external");
    if rows.is_empty() {
        return Ok(NOTHING_FOUND);
    }
    Ok(code_of_runs(&failures(&rows), refused))
}

/// Prints the summary. With `--verbose`, prints the tables of all runs before it. With `--out`, also writes
/// the charts and pages of the record.
fn report(bench: &Bench, rows: &[Record], notes: &[String], store: Option<&Store>) -> Result<(), Failure> {
    let (comparison, width) = (bench.comparison(), output::width());
    let verbose = bench.shared.args.verbose;
    let mut text = if verbose { details(rows, width) } else { String::new() };
    text += &screen::screen(rows, bench.shared.args.time_limit, comparison.shift, !verbose, width);
    if comparison.is_asked {
        text += &compared(rows, comparison, verbose, width);
    }
    for row in rows.iter().filter(|row| row.status == "unreadable") {
        let _ = write!(text, "\n{}", output::filled(&format!("unreadable: {}", row.error)));
    }
    let failed = lines(&failures(rows));
    if !failed.is_empty() {
        let _ = write!(text, "\n{}", output::filled(&failed));
    }
    output::print(&text)?;
    let Some(store) = store else {
        let more = "\n--verbose prints every run; --out DIR writes rows, layouts as pictures and charts, and with \
                    --report an HTML page\n";
        return if verbose { Ok(()) } else { output::print(&output::filled(more)) };
    };
    if comparison.is_asked
        && let Some((_, own)) = questions(rows).iter().find(|(question, _)| question == Offsets::NAME)
        && let Some(chart) = time_profile(&times::of(own))
    {
        store.chart("profile", &chart)?;
    }
    store.gaps(rows)?;
    let command = output::command_line();
    let peers: Vec<Peer> = bench.peers().collect();
    let question = Question { command: &command, machine: &bench.machine, notes, peers: &peers, comparison };
    store.finish(&question, rows)?;
    let folder = store.folder();
    output::print(&format!("\nwritten to {}: README.md lists the files\n", folder.display()))?;
    if bench.shared.args.report {
        let page = super::report::write(&[folder.to_owned()], &folder.join("report"))?;
        output::print(&format!("report page: {}\n", page.display()))?;
    }
    Ok(())
}

/// Returns the tables of all runs and of their certificates.
fn details(rows: &[Record], width: usize) -> String {
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

/// Returns the tables of times. With `verbose` and a reference, also returns the ratios on every instance.
fn compared(rows: &[Record], comparison: Comparison<'_>, verbose: bool, width: usize) -> String {
    let mut text = String::new();
    let shift = comparison.shift;
    for (question, own) in questions(rows).iter().rev() {
        let group = times::of(own);
        let reference = comparison.reference.filter(|_| verbose);
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

/// Maximum number of instances that a note names.
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
