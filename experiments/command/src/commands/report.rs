//! `plimsoll report`: analyses rows and writes tables, charts and an HTML page.

use super::choose::{in_order, unknown};
use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::output;
use crate::report::{self, Printed, Text};
use clap::{Args, ValueEnum};
use plimsoll_lab::analysis::folder::{Folder as Record, PAGE};
use plimsoll_lab::analysis::{AnalysisError, Options, Sort, Study, files, find, study};
use plimsoll_lab::report::html::{Page, page};
use plimsoll_lab::report::table::wrapped;
use plimsoll_lab::report::times::SHIFT;
use plimsoll_lab::report::{overview, plots};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        Self::input(error)
    }
}

const TITLE: &str = "Plimsoll report";
const SUMMARY: &str = "summary.md";
const CHARTS: &str = "charts";

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Folders written by `bench`, `sweep` or `merge`, CSV files of rows, or folders that contain such
    /// folders
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Write the report into this folder, which must be missing, empty or an earlier report; an earlier
    /// report is replaced
    #[arg(long, value_name = "DIR", value_parser = format::folder(), required_unless_present = "latex")]
    out: Option<PathBuf>,
    /// Also count an optimising run as solved if its gap to the best bound is at most P percent [default:
    /// only if it proved its answer]
    #[arg(long, value_name = "P", value_parser = percent)]
    target_gap: Option<f64>,
    /// Shift of the shifted geometric means of times, such as 0.01 or 10ms
    #[arg(long, value_name = "SECONDS", default_value_t = SHIFT, value_parser = seconds)]
    shift: f64,
    /// Compare only these algorithms; runs of other algorithms still count towards best bounds and best
    /// values
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = in_order)]
    algorithms: Vec<String>,
    /// Also compare the times on every instance with those of this algorithm (in summary.md)
    #[arg(long, value_name = "NAME", value_parser = in_order)]
    reference: Option<String>,
    /// Order of the algorithms in tables
    #[arg(long, value_enum, default_value_t = SortArg::Gap)]
    sort: SortArg,
    /// Print a LaTeX table (booktabs) of the algorithms instead of text
    #[arg(long, conflicts_with = "json")]
    latex: bool,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = TITLE)]
    title: String,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// The order of algorithms in tables.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SortArg {
    /// Fewest instances without an answer first, then lowest mean gap
    Gap,
    /// Lowest mean time spent first
    Time,
    /// By name
    Name,
}

impl From<SortArg> for Sort {
    fn from(sort: SortArg) -> Self {
        match sort {
            SortArg::Gap => Self::Gap,
            SortArg::Time => Self::Time,
            SortArg::Name => Self::Name,
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    at_least_zero(text, "a percentage")
}

fn seconds(text: &str) -> Result<f64, String> {
    crate::args::seconds(text).map(|time| time.as_secs_f64())
}

fn at_least_zero(text: &str, what: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("expected {what}"))?;
    if number.is_finite() && number >= 0.0 {
        Ok(number)
    } else {
        Err(format!("expected {what} of at least 0"))
    }
}

impl Command for ReportArgs {
    const NAME: &str = "report";
    const ABOUT: &str = "Analyse the results of `bench` and `sweep` in tables, charts and an HTML page";
    const TASK: Task = Task::Algorithms;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll bench embedded --only patent --algorithms exact,greedy-by-size --out record && plimsoll report record --out page",
            "Analyse the record of a benchmark in tables, charts and an HTML page",
        ),
        (
            "plimsoll report record --out page --target-gap 1",
            "Count runs with a gap of at most 1 % as solved",
        ),
    ];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &ReportArgs) -> Result<u8, Failure> {
    let algorithms = &args.algorithms;
    let options = Options {
        target_gap: args.target_gap,
        shift: args.shift,
        algorithms,
        sort: args.sort.into(),
        reference: args.reference.as_deref(),
    };
    let folder = args.out.as_deref().map(|out| Folder::open(out, &args.paths)).transpose()?;
    let studies = analyse(find(&args.paths)?, options)?;
    let written = folder.and_then(|folder| output::late(fill(&folder, &args.title, &studies, options)));
    if args.latex {
        output::print(&overview::latex(&studies))?;
        return Ok(ANSWERED);
    }
    print(args, &studies, &written.unwrap_or_default())
}

/// Writes the report of a record with default options, and returns the path of its page.
pub fn write(record: Record, out: &Path) -> Result<PathBuf, Failure> {
    let options = Options { shift: SHIFT, ..Options::default() };
    let folder = Folder::open(out, std::slice::from_ref(&record.folder))?;
    fill(&folder, TITLE, &analyse(vec![record], options)?, options).map(|_| out.join(PAGE))
}

/// The files of a report: relative paths and contents.
type Files = Vec<(PathBuf, Vec<u8>)>;

fn analyse(records: Vec<Record>, options: Options<'_>) -> Result<Vec<Study>, Failure> {
    for record in &records {
        for note in &record.notes {
            output::complain(&format!("{}: {note}", record.name));
        }
    }
    let rows = || records.iter().flat_map(|record| &record.observations);
    let mut named = options.algorithms.iter().map(String::as_str).chain(options.reference);
    if let Some(bad) = named.find(|name| !rows().any(|row| row.algorithm == *name)) {
        let known: BTreeSet<&str> = rows().map(|row| row.algorithm.as_str()).collect();
        return Err(unknown(
            "algorithm",
            bad,
            &known.into_iter().collect::<Vec<_>>(),
            "plimsoll list algorithms",
        ));
    }
    Ok(study(records, options))
}

/// Writes the files of a report, and returns their names and contents.
fn fill(folder: &Folder<'_>, title: &str, studies: &[Study], options: Options<'_>) -> Result<Files, Failure> {
    let mut written: Files = files::files(studies)
        .into_iter()
        .map(|(name, text)| (PathBuf::from(name), text.into_bytes()))
        .collect();
    let plots = plots::plots(studies);
    for plot in &plots {
        let name = Path::new(CHARTS).join(format!("{}.svg", plot.name));
        written.push((name, plot.svg.clone().into_bytes()));
    }
    written.push((PathBuf::from(SUMMARY), overview::summary(title, studies, options).into_bytes()));
    let page = page(&Page { title, studies, plots: &plots, options });
    written.push((PathBuf::from(PAGE), page.into_bytes()));
    folder.fill(&written)?;
    Ok(written)
}

fn print(args: &ReportArgs, studies: &[Study], written: &[(PathBuf, Vec<u8>)]) -> Result<u8, Failure> {
    let headline = |(question, headline)| Headline { question, headline };
    let summary = Summary {
        records: studies.len(),
        runs: studies.iter().map(|study| study.record.observations.len()).sum(),
        groups: studies.iter().map(|study| study.groups.len()).sum(),
        other_tables: studies.iter().map(|study| study.record.sheets.len()).sum(),
        without_answer: studies.iter().map(|study| study.troubles().count()).sum(),
        files: written.iter().map(|(name, _)| name.as_path()).collect(),
        out: args.out.as_deref().unwrap_or(Path::new("")),
        headlines: overview::headlines(studies).into_iter().map(headline).collect(),
    };
    report::print(&summary, args.json)?;
    Ok(ANSWERED)
}

/// The summary of a written report.
#[derive(Serialize)]
struct Summary<'a> {
    records: usize,
    runs: usize,
    groups: usize,
    other_tables: usize,
    without_answer: usize,
    files: Vec<&'a Path>,
    out: &'a Path,
    headlines: Vec<Headline>,
}

#[derive(Serialize)]
struct Headline {
    question: String,
    headline: String,
}

impl Printed for Summary<'_> {
    fn print(&self, text: &mut Text) {
        let Self { records, runs, groups, other_tables, without_answer, files, out, headlines } = self;
        for Headline { question, headline } in headlines {
            let lines = wrapped(&format!("{question}: {headline}"), output::width());
            text.verbatim(&format!("{}\n", lines.join("\n")));
        }
        if !headlines.is_empty() {
            text.verbatim("\n");
        }
        let (files, page) = (files.len(), out.join(PAGE));
        text.verbatim(&format!(
            "records      {records}\nruns         {runs} in {groups} groups, {without_answer} without an answer\n\
             other tables {other_tables}\nfiles        {files}\npage         {}\n",
            page.display()
        ));
    }
}

struct Folder<'a> {
    path: &'a Path,
    above: PathBuf,
}

impl<'a> Folder<'a> {
    /// Checks, before any work, that the folder is missing, empty or an earlier report, and contains no
    /// input.
    fn open(path: &'a Path, inputs: &[PathBuf]) -> Result<Self, Failure> {
        let refuse = |why: &str| Err(Failure::input(format!("cannot write {}: {why}", path.display())));
        let above = match path.parent() {
            Some(above) if !above.as_os_str().is_empty() => above.to_owned(),
            _ => PathBuf::from("."),
        };
        if path.file_name().is_none() {
            return refuse("the path has no folder name");
        }
        if path.exists() {
            if !path.is_dir() {
                return refuse("it is not a folder");
            }
            let own = path.canonicalize().ok();
            let holds = |input: &PathBuf| {
                input.canonicalize().ok().zip(own.as_ref()).is_some_and(|(input, own)| input.starts_with(own))
            };
            if inputs.iter().any(holds) {
                return refuse("it contains an input of this command");
            }
            let wrong = |error| Failure::input(format!("cannot read {}: {error}", path.display()));
            let mut names = Vec::new();
            for entry in fs::read_dir(path).map_err(wrong)? {
                names.push(entry.map_err(wrong)?.file_name().to_string_lossy().into_owned());
            }
            names.sort();
            if !names.is_empty() && !names.iter().any(|name| name == PAGE) {
                return refuse("it is neither empty nor an earlier report");
            }
            let own = [PAGE, SUMMARY, CHARTS].into_iter().chain(files::NAMES);
            if let Some(other) = names.iter().find(|name| !own.clone().any(|own| own == *name)) {
                return refuse(&format!("it contains '{other}', which is not part of a report"));
            }
        }
        Ok(Self { path, above })
    }

    /// Writes all files to a temporary folder, which then replaces the folder of the report.
    fn fill(&self, files: &[(PathBuf, Vec<u8>)]) -> Result<(), Failure> {
        let wrong =
            |error: std::io::Error| Failure::input(format!("cannot write {}: {error}", self.path.display()));
        fs::create_dir_all(&self.above).map_err(wrong)?;
        let scratch = tempfile::Builder::new().prefix(".plimsoll").tempdir_in(&self.above).map_err(wrong)?;
        let fresh = scratch.path().join("new");
        for (name, bytes) in files {
            let path = fresh.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&fresh)).map_err(wrong)?;
            let mut file = fs::File::create(&path).map_err(wrong)?;
            file.write_all(bytes).and_then(|()| file.sync_all()).map_err(wrong)?;
        }
        if self.path.exists() {
            fs::rename(self.path, scratch.path().join("old")).map_err(wrong)?;
        }
        fs::rename(&fresh, self.path).map_err(wrong)
    }
}
