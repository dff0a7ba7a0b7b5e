//! A CSV file of other columns than those of runs.

use crate::record::{CsvFile, RecordError};

/// A table as it stands in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    file: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The lines below the first, each as long as that, with its number in the file, from 1.
    pub lines: Vec<(u64, Vec<String>)>,
}

impl Sheet {
    /// Everything in a file. O(bytes).
    ///
    /// # Errors
    /// [`RecordError`] with the line.
    pub fn of(file: &CsvFile) -> Result<Self, RecordError> {
        Ok(Self { file: file.name(), columns: file.columns.clone(), lines: file.lines()? })
    }

    /// The name of the file.
    pub fn name(&self) -> String {
        self.file.clone()
    }

    /// Whether a column holds numbers and nothing else, apart from cells that are empty or a dash.
    pub fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.lines.iter().map(|(_, cells)| cells[column].trim());
        let blank = |cell: &str| cell.is_empty() || cell == "-";
        let number = |cell: &str| cell.parse::<f64>().is_ok_and(f64::is_finite);
        cells.clone().any(|cell| !blank(cell)) && cells.all(|cell| blank(cell) || number(cell))
    }
}
