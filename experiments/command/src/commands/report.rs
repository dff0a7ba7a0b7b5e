//! `plimsoll report`: analyses rows and writes tables, charts and an HTML page.

use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::output;
use clap::Args;
use plimsoll_lab::analysis::folder::PAGE;
use plimsoll_lab::analysis::{AnalysisError, Options, Study, files, find, study};
use plimsoll_lab::report::html::{Page, page};
use plimsoll_lab::report::times::SHIFT;
use plimsoll_lab::report::{overview, plots};
use serde_json::json;
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
    #[arg(long, value_name = "DIR", value_parser = format::folder())]
    out: PathBuf,
    /// Count a run that minimises as solved if its gap to the best bound is at most P percent [default: only
    /// if it proved its answer]
    #[arg(long, value_name = "P", value_parser = percent)]
    target_gap: Option<f64>,
    /// Shift of the shifted geometric means of times, in seconds
    #[arg(long, value_name = "S", default_value_t = SHIFT, value_parser = seconds)]
    shift: f64,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = TITLE)]
    title: String,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    at_least_zero(text, "a percentage")
}

fn seconds(text: &str) -> Result<f64, String> {
    at_least_zero(text, "a number of seconds")
}

fn at_least_zero(text: &str, what: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("expected {what}"))?;
    if number.is_finite() && number >= 0.0 {
        Ok(number)
    } else {
        Err(format!("expected {what} of at least 0"))
    }
}

pub fn main(args: &ReportArgs) -> Result<u8, Failure> {
    let options = Options { target_gap: args.target_gap, shift: args.shift };
    let (studies, written) = analyse(&args.paths, &args.out, &args.title, options)?;
    print(args, &studies, &written)
}

/// Writes the report of some records with default options, and returns the path of its page.
pub fn write(paths: &[PathBuf], out: &Path) -> Result<PathBuf, Failure> {
    let options = Options { target_gap: None, shift: SHIFT };
    analyse(paths, out, TITLE, options).map(|_| out.join(PAGE))
}

/// The files of a report: relative paths and contents.
type Files = Vec<(PathBuf, Vec<u8>)>;

fn analyse(
    paths: &[PathBuf],
    out: &Path,
    title: &str,
    options: Options,
) -> Result<(Vec<Study>, Files), Failure> {
    let folder = Folder::open(out, paths)?;
    let records = find(paths)?;
    for record in &records {
        for note in &record.notes {
            output::complain(&format!("{}: {note}", record.name));
        }
    }
    let studies = study(records, options);
    let mut written: Files = files::files(&studies)
        .into_iter()
        .map(|(name, text)| (PathBuf::from(name), text.into_bytes()))
        .collect();
    let plots = plots::plots(&studies);
    for plot in &plots {
        let name = Path::new(CHARTS).join(format!("{}.svg", plot.name));
        written.push((name, plot.svg.clone().into_bytes()));
    }
    written.push((PathBuf::from(SUMMARY), overview::summary(title, &studies, options).into_bytes()));
    let page = page(&Page { title, studies: &studies, plots: &plots, options });
    written.push((PathBuf::from(PAGE), page.into_bytes()));
    folder.fill(&written)?;
    Ok((studies, written))
}

fn print(args: &ReportArgs, studies: &[Study], written: &[(PathBuf, Vec<u8>)]) -> Result<u8, Failure> {
    let runs: usize = studies.iter().map(|study| study.record.observations.len()).sum();
    let groups: usize = studies.iter().map(|study| study.groups.len()).sum();
    let sheets: usize = studies.iter().map(|study| study.record.sheets.len()).sum();
    let troubles: usize = studies.iter().map(|study| study.troubles().count()).sum();
    let page = args.out.join(PAGE);
    if args.json {
        let names: Vec<String> = written.iter().map(|(name, _)| name.display().to_string()).collect();
        output::print_json(&json!({
            "records": studies.len(),
            "runs": runs,
            "groups": groups,
            "other_tables": sheets,
            "without_answer": troubles,
            "files": names,
            "out": args.out.display().to_string(),
        }))?;
    } else {
        output::print(&format!(
            "records      {}\nruns         {runs} in {groups} groups, {troubles} without an answer\n\
             other tables {sheets}\nfiles        {}\npage         {}\n",
            studies.len(),
            written.len(),
            page.display()
        ))?;
    }
    Ok(ANSWERED)
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

    /// Writes all files to a temporary folder, then replaces the folder.
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
