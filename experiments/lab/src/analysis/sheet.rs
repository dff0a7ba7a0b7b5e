//! A CSV file as it stands: names of columns, and lines.

use super::AnalysisError;
use crate::sweep::rows::{RowsError, WholeLines, whole_lines};
use std::path::{Path, PathBuf};

/// What a CSV file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// Which file.
    pub path: PathBuf,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The lines below the first, each as long as that, with its number in the file, from 1.
    pub lines: Vec<(u64, Vec<String>)>,
    /// Length of a last line that was cut short and does not count, bytes.
    pub torn: u64,
}

impl Sheet {
    /// Reads a file. A last line without a line break was cut short and does not count. O(bytes).
    ///
    /// # Errors
    /// [`AnalysisError::Rows`] with the line that is none, [`AnalysisError::Nothing`] where there is no first line, or
    /// two columns have one name.
    pub fn read(path: &Path) -> Result<Self, AnalysisError> {
        let WholeLines { text, torn } = whole_lines(path)?;
        let nothing = |why: String| AnalysisError::Nothing { path: path.to_owned(), why };
        let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| RowsError::of(path, &error, 1))?.clone();
        let columns: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        if columns.is_empty() {
            return Err(nothing("it holds no whole line".to_owned()));
        }
        for (at, name) in columns.iter().enumerate() {
            if columns[..at].contains(name) {
                return Err(nothing(format!("line 1: two columns are called '{name}'")));
            }
        }
        let mut lines = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| RowsError::of(path, &error, lines.len() + 2))?;
            let line = record.position().map_or(0, csv::Position::line);
            lines.push((line, record.iter().map(str::to_owned).collect()));
        }
        Ok(Self { path: path.to_owned(), columns, lines, torn })
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The name of the file.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether a column holds numbers and nothing else, apart from cells that are empty or a dash.
    pub fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.lines.iter().map(|(_, cells)| cells[column].trim());
        let blank = |cell: &str| cell.is_empty() || cell == "-";
        let number = |cell: &str| cell.parse::<f64>().is_ok_and(f64::is_finite);
        cells.clone().any(|cell| !blank(cell)) && cells.all(|cell| blank(cell) || number(cell))
    }
}
