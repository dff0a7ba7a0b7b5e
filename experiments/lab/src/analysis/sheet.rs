//! CSV files that do not contain runs.

use crate::row::{CsvFile, RowError};

/// A table read from a CSV file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    file: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The lines below the header. Each has as many cells as the header and comes with its line number in the
    /// file, counted from 1.
    pub lines: Vec<(u64, Vec<String>)>,
}

impl Sheet {
    /// Reads all lines of a file. O(bytes).
    ///
    /// # Errors
    /// [`RowError`] with the line number.
    pub fn of(file: &CsvFile) -> Result<Self, RowError> {
        Ok(Self { file: file.name(), columns: file.columns.clone(), lines: file.lines()? })
    }

    /// Returns the name of the file.
    pub fn name(&self) -> String {
        self.file.clone()
    }

    /// Returns true if at least one cell of a column is a number, and all others are numbers, dashes or
    /// empty.
    pub fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.lines.iter().map(|(_, cells)| cells[column].trim());
        let blank = |cell: &str| cell.is_empty() || cell == "-";
        let number = |cell: &str| cell.parse::<f64>().is_ok_and(f64::is_finite);
        cells.clone().any(|cell| !blank(cell)) && cells.all(|cell| blank(cell) || number(cell))
    }
}
