//! Finds records on disk: folders of CSV files at or below the given paths.

use super::{AnalysisError, Sheet};
use crate::experiment::Manifest;
use crate::row::{CsvFile, ROWS, Row, RowError, TRACE};
use plimsoll_support::contents::has_suffix;
use std::path::{Path, PathBuf};

/// A record: a folder of CSV files, or a single file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folder {
    /// The name of the folder or file, relative to the given path.
    pub name: String,
    /// The folder of the record. For a single file, this is the folder that contains it.
    pub folder: PathBuf,
    /// The README of the folder or, if it has none, of its parent folder, in Markdown.
    pub readme: Option<String>,
    /// The runs, from files with the columns of records.
    pub observations: Vec<Row>,
    /// CSV files with other columns.
    pub sheets: Vec<Sheet>,
    /// SVG pictures, sorted by name.
    pub pictures: Vec<PathBuf>,
    /// Notes for the reader, for example on truncated rows and unknown columns.
    pub notes: Vec<String>,
}

/// Maximum depth of the search for folders.
const DEPTH: usize = 4;
/// The file name of the page of a report. A folder that contains this file is not a record.
pub const PAGE: &str = "report.html";

/// Finds the records at and below the given paths, in the order of the paths. Folders are visited in
/// alphabetical order. A folder that contains CSV files is a record. Other folders are searched. Symbolic
/// links inside a folder are not followed, because they may lead out of the record.
///
/// # Errors
/// [`AnalysisError::Missing`] for a path that does not exist. [`AnalysisError::Nothing`] for a path without
/// rows and for a single file without the columns of a record. Other [`AnalysisError`]s for a file that cannot be read or has an invalid line.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Folder>, AnalysisError> {
    let mut records: Vec<Folder> = Vec::new();
    for path in paths {
        if !path.exists() {
            return Err(AnalysisError::Missing(path.clone()));
        }
        let before = records.len();
        let name = named(path);
        if path.is_file() && !has_suffix(path, &["csv"]) {
            let why = "expected a folder or a CSV file (.csv)".to_owned();
            return Err(AnalysisError::Nothing { path: path.clone(), why });
        }
        if path.is_file() {
            let record = read(&name, std::slice::from_ref(path), &[], None)?;
            if let Some(sheet) = record.sheets.first() {
                let columns = sheet.columns.join(",");
                let why = format!("the columns are not those of a record: {columns}");
                return Err(AnalysisError::Nothing { path: path.clone(), why });
            }
            records.push(record);
        } else {
            search(path, &name, None, DEPTH, &mut records)?;
        }
        if records.len() == before {
            let why = "no CSV file in this folder or below it".to_owned();
            return Err(AnalysisError::Nothing { path: path.clone(), why });
        }
        if records[before..].iter().all(Folder::is_empty) {
            let why = format!("the files ({ROWS} and others) contain no rows");
            return Err(AnalysisError::Nothing { path: path.clone(), why });
        }
    }
    // If two records have the same name, the later one gets a numeric suffix.
    for at in 1..records.len() {
        let taken = |name: &str| records[..at].iter().any(|other| other.name == name);
        if taken(&records[at].name) {
            let free = (2..=records.len() + 1).map(|nth| format!("{}-{nth}", records[at].name));
            records[at].name = free.into_iter().find(|name| !taken(name)).unwrap_or_default();
        }
    }
    Ok(records)
}

impl Folder {
    /// Returns the record that this process has just written into a folder, with its rows.
    ///
    /// # Errors
    /// [`AnalysisError`] if the folder or its manifest cannot be read.
    pub fn held(folder: &Path, observations: Vec<Row>) -> Result<Self, AnalysisError> {
        let mut notes = Vec::new();
        let pictures = pictures(folder, &entries(folder, &mut notes)?, &mut notes)?;
        let (name, readme) = (named(folder), text_of(folder, "README.md"));
        let folder = folder.to_owned();
        let mut record = Self { name, folder, readme, observations, pictures, notes, ..Self::default() };
        record.add_manifest()?;
        Ok(record)
    }

    fn is_empty(&self) -> bool {
        self.observations.is_empty() && self.sheets.iter().all(|sheet| sheet.lines.is_empty())
    }
}

/// Returns the last component of a path. A path such as `.` is resolved first.
fn named(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().map_or_else(|| "record".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns the entries of a folder without symbolic links, sorted by name. Adds a note for each link.
fn entries(folder: &Path, notes: &mut Vec<String>) -> Result<Vec<PathBuf>, AnalysisError> {
    let wrong = |source| RowError::Io(folder.to_owned(), source);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_symlink() {
            notes.push(format!("{} is a symbolic link and was skipped", path.display()));
        } else {
            found.push(path);
        }
    }
    found.sort();
    notes.sort();
    Ok(found)
}

fn text_of(folder: &Path, name: &str) -> Option<String> {
    let path = folder.join(name);
    if path.is_symlink() {
        return None;
    }
    std::fs::read(&path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn search(
    folder: &Path,
    name: &str,
    above: Option<&str>,
    depth: usize,
    records: &mut Vec<Folder>,
) -> Result<(), AnalysisError> {
    let mut notes = Vec::new();
    let entries = entries(folder, &mut notes)?;
    if entries.iter().any(|path| path.file_name().is_some_and(|name| name == PAGE)) {
        return Ok(());
    }
    let files: Vec<PathBuf> =
        entries.iter().filter(|path| path.is_file() && has_suffix(path, &["csv"])).cloned().collect();
    let readme = text_of(folder, "README.md");
    if files.is_empty() {
        if depth == 0 {
            return Ok(());
        }
        let first = records.len();
        let mut inherited = readme.as_deref().or(above);
        let hidden =
            |path: &Path| path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        for inner in entries.iter().filter(|path| path.is_dir() && !hidden(path)) {
            let inner_name = named(inner);
            let inner_name = if depth == DEPTH { inner_name } else { format!("{name}/{inner_name}") };
            let before = records.len();
            search(inner, &inner_name, inherited, depth - 1, records)?;
            if records.len() > before {
                // A README that describes several folders is shown only once.
                inherited = None;
            }
        }
        if let Some(record) = records.get_mut(first) {
            record.notes.extend(notes);
        }
        return Ok(());
    }
    let pictures = pictures(folder, &entries, &mut notes)?;
    let mut record = read(name, &files, &pictures, readme.as_deref().or(above))?;
    record.notes.extend(notes);
    record.add_manifest()?;
    records.push(record);
    Ok(())
}

/// Returns the pictures of a record, sorted by name within each folder.
fn pictures(
    folder: &Path,
    entries: &[PathBuf],
    notes: &mut Vec<String>,
) -> Result<Vec<PathBuf>, AnalysisError> {
    let mut pictures: Vec<PathBuf> =
        entries.iter().filter(|path| path.is_file() && has_suffix(path, &["svg"])).cloned().collect();
    // Only layout maps and charts of single instances are read. Charts over all instances are regenerated.
    for (inner, start) in [("maps", ""), ("charts", "gap-")] {
        let inner = folder.join(inner);
        let wanted = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            has_suffix(path, &["svg"]) && name.starts_with(start)
        };
        if inner.is_dir() && !inner.is_symlink() {
            pictures.extend(self::entries(&inner, notes)?.into_iter().filter(wanted));
        }
    }
    Ok(pictures)
}

fn read(
    name: &str,
    files: &[PathBuf],
    pictures: &[PathBuf],
    readme: Option<&str>,
) -> Result<Folder, AnalysisError> {
    let mut record = Folder {
        name: name.to_owned(),
        folder: files.first().and_then(|path| path.parent()).map(Path::to_owned).unwrap_or_default(),
        readme: readme.map(str::to_owned),
        pictures: pictures.to_vec(),
        ..Folder::default()
    };
    for path in files {
        let file = CsvFile::read(path)?;
        let name = file.name();
        if file.columns.is_empty() {
            let why = "the file contains no complete line".to_owned();
            return Err(AnalysisError::Nothing { path: path.clone(), why });
        }
        if file.torn > 0 {
            let torn = file.torn;
            record.notes.push(format!(
                "{name}: the last line is truncated ({torn} bytes without a line break) and was skipped"
            ));
        }
        if file.has_rows() {
            record.observations.extend(file.rows()?);
            let unknown = file.unknown();
            record
                .notes
                .extend(unknown.map(|column| format!("{name}: unknown column '{column}' is ignored")));
        } else if name != TRACE {
            // The rows contain the traces, too.
            record.sheets.push(Sheet::of(&file)?);
        }
    }
    Ok(record)
}

impl Folder {
    /// Uses the manifest of a sweep, if there is one. Rows without a machine get the machine of the
    /// manifest.
    fn add_manifest(&mut self) -> Result<(), AnalysisError> {
        let Some(manifest) = Manifest::read(&self.folder)? else { return Ok(()) };
        let begun = &manifest.begun.machine;
        for row in self.observations.iter_mut().filter(|row| row.machine.cpu.is_empty()) {
            row.machine.cpu.clone_from(&begun.cpu);
            row.machine.cores = begun.cores;
        }
        if (self.observations.len() as u64) < manifest.sweep.runs {
            self.notes.push(format!(
                "{} of the {} runs of the sweep have rows",
                self.observations.len(),
                manifest.sweep.runs
            ));
        }
        Ok(())
    }
}
