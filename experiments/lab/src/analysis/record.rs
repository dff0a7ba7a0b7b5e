//! Records: folders that hold CSV files, found below the paths that a user names.

use super::observation::{Observation, has_runs, observations};
use super::{AnalysisError, Sheet};
use crate::report::trace::TraceRow;
use crate::sweep;
use crate::sweep::rows::ROWS;
use std::path::{Path, PathBuf};

/// A folder with something on record, or a single file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Its name: that of the folder or file, below the path that was named.
    pub name: String,
    /// The folder, or that of the file.
    pub folder: PathBuf,
    /// What is told about it, Markdown: its README, or that of the folder above.
    pub readme: Option<String>,
    /// Its own summary, Markdown; only where it holds no runs, whose summary is made anew.
    pub summary: Option<String>,
    /// Its runs.
    pub observations: Vec<Observation>,
    /// What happened while they ran, where that was kept.
    pub trace: Vec<TraceRow>,
    /// CSV files with other columns.
    pub sheets: Vec<Sheet>,
    /// Pictures of layouts and others, by name, ascending.
    pub pictures: Vec<PathBuf>,
    /// What the reader should know: rows cut short, columns that say nothing.
    pub notes: Vec<String>,
}

/// How deep folders are searched.
const DEPTH: usize = 4;
const TRACE: &str = "trace.csv";
/// The page of a report: a folder that holds it is no record.
pub const PAGE: &str = "report.html";

/// The records at and below some paths, in the order of paths, folders by name. A folder with CSV files is one; of
/// others the folders inside are looked at.
///
/// # Errors
/// [`AnalysisError`] naming file, line and value; [`AnalysisError::Nothing`] for a path without anything on record.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Record>, AnalysisError> {
    let mut records: Vec<Record> = Vec::new();
    for path in paths {
        if !path.exists() {
            return Err(AnalysisError::Missing(path.clone()));
        }
        let before = records.len();
        let name = named(path);
        if path.is_file() && !has_extension(path, "csv") {
            let why = "it is neither a folder nor a CSV file (.csv)".to_owned();
            return Err(AnalysisError::Nothing { path: path.clone(), why });
        }
        if path.is_file() {
            records.push(read(&name, std::slice::from_ref(path), &[], None)?);
        } else {
            search(path, &name, None, DEPTH, &mut records)?;
        }
        if records.len() == before {
            let why = "there is no CSV file in it, nor in the folders inside".to_owned();
            return Err(AnalysisError::Nothing { path: path.clone(), why });
        }
        if records[before..].iter().all(Record::is_empty) {
            let why = format!("there are no rows in its files ({ROWS} and others)");
            return Err(AnalysisError::Nothing { path: path.clone(), why });
        }
    }
    // Folders of one name from several paths stay apart.
    for at in 1..records.len() {
        let taken = |name: &str| records[..at].iter().any(|other| other.name == name);
        if taken(&records[at].name) {
            let free = (2..=records.len() + 1).map(|nth| format!("{}-{nth}", records[at].name));
            records[at].name = free.into_iter().find(|name| !taken(name)).unwrap_or_default();
        }
    }
    Ok(records)
}

impl Record {
    fn is_empty(&self) -> bool {
        self.observations.is_empty() && self.sheets.iter().all(|sheet| sheet.lines.is_empty())
    }
}

/// The last name of a path, also of `.`.
fn named(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().map_or_else(|| "record".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Files and folders of a folder, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, AnalysisError> {
    let wrong = |source| crate::sweep::rows::RowsError::Io { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        found.push(entry.map_err(wrong)?.path());
    }
    found.sort();
    Ok(found)
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// Whether a path is a link to the folder it stands in or to one above: what lies there is no part of it.
fn leads_up(path: &Path, folder: &Path) -> bool {
    path.canonicalize().ok().zip(folder.canonicalize().ok()).is_some_and(|(to, from)| from.starts_with(to))
}

fn text_of(folder: &Path, name: &str) -> Option<String> {
    std::fs::read(folder.join(name)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn search(
    folder: &Path,
    name: &str,
    above: Option<&str>,
    depth: usize,
    records: &mut Vec<Record>,
) -> Result<(), AnalysisError> {
    let entries = entries(folder)?;
    if entries.iter().any(|path| path.file_name().is_some_and(|name| name == PAGE)) {
        return Ok(());
    }
    let files: Vec<PathBuf> =
        entries.iter().filter(|path| path.is_file() && has_extension(path, "csv")).cloned().collect();
    let readme = text_of(folder, "README.md");
    if files.is_empty() {
        if depth == 0 {
            return Ok(());
        }
        let mut told = readme.as_deref().or(above);
        let hidden =
            |path: &Path| path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        for inner in entries.iter().filter(|path| path.is_dir() && !hidden(path) && !leads_up(path, folder)) {
            let inner_name = named(inner);
            let inner_name = if depth == DEPTH { inner_name } else { format!("{name}/{inner_name}") };
            let before = records.len();
            search(inner, &inner_name, told, depth - 1, records)?;
            if records.len() > before {
                // What is told of several folders is told once.
                told = None;
            }
        }
        return Ok(());
    }
    let mut pictures: Vec<PathBuf> =
        entries.iter().filter(|path| path.is_file() && has_extension(path, "svg")).cloned().collect();
    // Charts of single instances; those of all are drawn anew.
    for (inner, start) in [("maps", ""), ("charts", "gap-")] {
        let inner = folder.join(inner);
        let wanted = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            has_extension(path, "svg") && name.starts_with(start)
        };
        if inner.is_dir() {
            pictures.extend(self::entries(&inner)?.into_iter().filter(wanted));
        }
    }
    let mut record = read(name, &files, &pictures, readme.as_deref().or(above))?;
    record.tell_of_sweep(folder)?;
    if record.observations.is_empty() {
        record.summary = text_of(folder, "summary.md");
    }
    records.push(record);
    Ok(())
}

fn read(
    name: &str,
    files: &[PathBuf],
    pictures: &[PathBuf],
    readme: Option<&str>,
) -> Result<Record, AnalysisError> {
    let mut record = Record {
        name: name.to_owned(),
        folder: files.first().and_then(|path| path.parent()).map(Path::to_owned).unwrap_or_default(),
        readme: readme.map(str::to_owned),
        pictures: pictures.to_vec(),
        ..Record::default()
    };
    for path in files {
        let sheet = Sheet::read(path)?;
        if sheet.torn > 0 {
            let torn = sheet.torn;
            record.notes.push(format!(
                "{}: the last line was cut short ({torn} bytes without a line break) and does not count",
                sheet.name()
            ));
        }
        if has_runs(&sheet) {
            let (found, unknown) = observations(&sheet)?;
            record.observations.extend(found);
            for column in unknown {
                record.notes.push(format!("{}: column '{column}' is unknown and not used", sheet.name()));
            }
        } else if sheet.name() == TRACE {
            record.trace.extend(trace(&sheet)?);
        } else {
            record.sheets.push(sheet);
        }
    }
    Ok(record)
}

/// The lines of a trace.
fn trace(sheet: &Sheet) -> Result<Vec<TraceRow>, AnalysisError> {
    let columns = csv::StringRecord::from(sheet.columns.clone());
    let one = |(line, cells): &(u64, Vec<String>)| {
        let row: Result<TraceRow, csv::Error> =
            csv::StringRecord::from(cells.clone()).deserialize(Some(&columns));
        row.map_err(|error| {
            let line = *line as usize;
            sweep::rows::RowsError::of(&sheet.path, &error, line).into()
        })
    };
    sheet.lines.iter().map(one).collect()
}

impl Record {
    /// What the record of a sweep tells: build and machine, also of rows that do not.
    fn tell_of_sweep(&mut self, folder: &Path) -> Result<(), AnalysisError> {
        let Some(record) = sweep::record::Record::read(folder)? else { return Ok(()) };
        let begun = &record.begun;
        for row in self.observations.iter_mut().filter(|row| row.cpu.is_empty()) {
            row.cpu.clone_from(&begun.cpu);
            row.cores = begun.cores as u64;
        }
        if self.readme.is_none() {
            let dirty = if begun.dirty == "true" { " with changes" } else { "" };
            self.readme = Some(format!(
                "# Sweep\n\nRows of `plimsoll sweep {}`, {} of {} runs.\n\n- plimsoll {}, commit {}{dirty}, {} build\n\
                 - {}\n- {}, {} threads\n",
                record.file,
                self.observations.len(),
                record.sweep.runs,
                begun.version,
                begun.commit,
                begun.profile,
                begun.rustc,
                begun.cpu,
                begun.cores
            ));
        }
        if (self.observations.len() as u64) < record.sweep.runs {
            self.notes.push(format!(
                "the sweep has {} runs, of which {} have rows",
                record.sweep.runs,
                self.observations.len()
            ));
        }
        Ok(())
    }
}
