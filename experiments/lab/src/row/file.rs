//! Reads CSV files, in particular the rows of experiments.

use super::columns::{is_known, read_cell};
use super::{Row, SCHEMA_VERSION, Status};
use csv::StringRecord;
use std::path::{Path, PathBuf};

/// An error while reading a CSV file.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// The file or folder cannot be read.
    #[error("cannot read {path}: {1}", path = .0.display())]
    Io(PathBuf, #[source] std::io::Error),
    /// A line, counted from 1, is invalid.
    #[error("{path}: line {1}: {2}", path = .0.display())]
    Line(PathBuf, u64, String),
}

/// The columns that every file of rows has.
const NEEDED: [&str; 6] = ["schema_version", "instance", "problem", "algorithm", "kind", "status"];

/// The complete lines of a CSV file. A last line without a line break counts as truncated and is skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The names of the columns. The list is empty if the file has no complete line.
    pub columns: Vec<String>,
    /// The text up to the last line break.
    text: String,
    /// Length of a truncated last line in bytes, or 0.
    pub torn: u64,
}

/// Reads the rows of a file. O(bytes of the file).
///
/// # Errors
/// [`RowError`] if the file cannot be read or a line is invalid.
pub fn read(path: &Path) -> Result<Vec<Row>, RowError> {
    CsvFile::read(path)?.rows()
}

impl CsvFile {
    /// Reads a file. O(bytes of the file).
    ///
    /// # Errors
    /// [`RowError`] if the file cannot be read, is not UTF-8, or has two columns of the same name.
    pub fn read(path: &Path) -> Result<Self, RowError> {
        let path = path.to_owned();
        let mut bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(RowError::Io(path, source)),
        };
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let torn = (bytes.len() - whole) as u64;
        bytes.truncate(whole);
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = valid.split(|&byte| byte == b'\n').count() as u64;
                return Err(RowError::Line(path, line, "the line is not UTF-8".to_owned()));
            }
        };
        let mut file = Self { path, columns: Vec::new(), text, torn };
        let header = file.reader().headers().map_err(|error| file.wrong_line(&error, 1))?.clone();
        for name in header.iter().map(str::trim) {
            if file.columns.iter().any(|other| other == name) {
                return Err(file.wrong(1, format!("two columns are named '{name}'")));
            }
            file.columns.push(name.to_owned());
        }
        Ok(file)
    }

    fn reader(&self) -> csv::Reader<&[u8]> {
        csv::Reader::from_reader(self.text.as_bytes())
    }

    /// Returns the name of the file.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the total length of the complete lines, in bytes.
    pub fn whole(&self) -> u64 {
        self.text.len() as u64
    }

    /// Returns true if the file has a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }

    /// Checks that the file has all of the given columns.
    ///
    /// # Errors
    /// [`RowError::Line`] if a column is missing.
    pub fn require(&self, columns: &[&str]) -> Result<(), RowError> {
        let missing = columns.iter().find(|column| !self.has(column));
        missing.map_or(Ok(()), |column| Err(self.wrong(1, format!("missing column '{column}'"))))
    }

    /// Returns true if the file contains rows of experiments, of any schema version.
    pub fn has_rows(&self) -> bool {
        self.has("schema_version")
    }

    /// Returns the columns of the file that rows do not have.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str).filter(|name| !is_known(name))
    }

    /// Returns the lines below the header. Each has as many cells as the header and comes with its line
    /// number in the file, counted from 1.
    ///
    /// # Errors
    /// [`RowError::Line`] if a line is invalid.
    pub fn lines(&self) -> Result<Vec<(u64, Vec<String>)>, RowError> {
        let cells = |line: StringRecord| Ok(line.iter().map(str::to_owned).collect());
        self.each(cells)
    }

    fn each<T>(&self, read: impl Fn(StringRecord) -> Result<T, String>) -> Result<Vec<(u64, T)>, RowError> {
        let mut all = Vec::new();
        for line in self.reader().into_records() {
            let line = line.map_err(|error| self.wrong_line(&error, all.len() as u64 + 2))?;
            let number = line.position().map_or(0, csv::Position::line);
            all.push((number, read(line).map_err(|why| self.wrong(number, why))?));
        }
        Ok(all)
    }

    /// Returns the rows in file order. Missing columns are empty.
    ///
    /// # Errors
    /// [`RowError::Line`] if a required column is missing, a cell is invalid, or the schema version is not
    /// supported.
    pub fn rows(&self) -> Result<Vec<Row>, RowError> {
        if self.columns.is_empty() {
            return Ok(Vec::new());
        }
        self.require(&NEEDED)?;
        let read = |line: StringRecord| {
            let mut row = Row::default();
            for (name, text) in self.columns.iter().zip(&line) {
                read_cell(&mut row, name, text).map_err(|why| format!("{name} is '{text}': {why}"))?;
            }
            check(&row)?;
            Ok(row)
        };
        let rows = self.each(read)?;
        Ok(rows.into_iter().map(|(line, row)| Row { line, ..row }).collect())
    }

    /// Returns an error for the line with the given number, counted from 1.
    pub fn wrong(&self, line: u64, why: String) -> RowError {
        RowError::Line(self.path.clone(), line, why)
    }

    fn wrong_line(&self, error: &csv::Error, line: u64) -> RowError {
        let line = error.position().map_or(line, csv::Position::line);
        match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                self.wrong(line, format!("{len} fields, but the header has {expected_len}"))
            }
            _ => self.wrong(line, error.to_string()),
        }
    }
}

/// Checks the values of a row that its cells do not determine. Returns an error message if a value is
/// invalid.
fn check(row: &Row) -> Result<(), String> {
    let version = row.schema_version;
    if version != SCHEMA_VERSION {
        return Err(format!("schema_version is '{version}'; the supported version is {SCHEMA_VERSION}"));
    }
    let needed = [("instance", &row.instance), ("problem", &row.problem), ("algorithm", &row.algorithm)];
    // The row of an unreadable instance has neither problem nor algorithm.
    let empty = needed.iter().find(|(_, cell)| cell.is_empty() && row.status != Status::Unreadable);
    if let Some((column, _)) = empty {
        return Err(format!("{column} is '', but must not be empty"));
    }
    if row.kind.is_none() && row.status != Status::Unreadable {
        return Err("kind is '', but must not be empty".to_owned());
    }
    for (column, seconds) in [("time_limit", row.time_limit), ("seconds", row.seconds)] {
        if let Some(seconds) = seconds.filter(|seconds| !(seconds.is_finite() && *seconds >= 0.0)) {
            return Err(format!("{column} is '{seconds}'; expected a time in seconds, at least 0"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{
        AlgorithmKind, Certified, Claimed, Columns, Decide, Event, Evidence, Extras, Happening, ROWS,
    };
    use super::*;
    use plimsoll::arithmetic::Arithmetic;
    use plimsoll_model::{Claim, Stop, WitnessSummary};

    fn row(run: u64, error: &str) -> Row {
        let text = |text: &str| text.to_owned();
        Row {
            schema_version: SCHEMA_VERSION,
            run,
            key: format!("k{run}"),
            instance: text("i"),
            problem: text("offsets"),
            algorithm: text("a"),
            kind: Some(AlgorithmKind::Heuristic),
            status: Status::Done,
            error: text(error),
            ..Row::default()
        }
    }

    #[test]
    fn rows_are_single_lines_and_read_again() {
        let event =
            |seconds, happening| Event { seconds, happening, claimed: false, value: Some(9), bound: None };
        let full = Row {
            seconds: Some(0.1 + 0.2),
            value: Some(u64::MAX),
            terms: "machine=luna order=exact".parse().unwrap(),
            kind: Some(AlgorithmKind::External),
            decide: Some(Decide::Load),
            claim: Some(Claim::Optimal),
            stop: Some(Stop::NodeLimit),
            witness: Some(WitnessSummary::combined("sum", "regions", 3)),
            arithmetic: Some(Arithmetic::FloatingPoint),
            phases: [("to-best".to_owned(), 1.5e-7)].into(),
            counters: [("moves".to_owned(), 7), ("swaps".to_owned(), 0)].into(),
            claimed: Some(Claimed::Contradicted),
            certified: Some(Certified::Bound),
            certified_by: Some(Evidence::Witness),
            trace: vec![event(0.5, Happening::Incumbent), event(1.0, Happening::End)],
            ..row(0, "a \"b\", c\nd")
        };
        let rows = [full, Row { time_limit: Some(1e-9), ..row(1, "") }];
        let columns = Columns::of(None, Extras { trace: true, layouts: true, proofs: true }).unwrap();
        let text = columns.file(&rows);
        assert_eq!(text.lines().count(), 3);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ROWS);
        std::fs::write(&path, format!("{text}2,k2,half")).unwrap();
        let file = CsvFile::read(&path).unwrap();
        assert_eq!((file.whole(), file.torn), (text.len() as u64, 9));
        let read = file.rows().unwrap();
        assert_eq!(read[0], Row { line: 2, error: "a \"b\", c d".to_owned(), ..rows[0].clone() });
        assert_eq!(read[1], Row { line: 3, ..rows[1].clone() });
        assert_eq!(columns.file(&read), text);
        let json = serde_json::to_string(&rows[0]).unwrap();
        assert_eq!(serde_json::from_str::<Row>(&json).unwrap(), rows[0]);
    }

    #[test]
    fn numbers_and_words_of_data_frames_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ROWS);
        let header =
            "schema_version,instance,problem,algorithm,kind,status,value,nodes,whole_process,dirty\n";
        std::fs::write(&path, format!("{header}6.0,i,offsets,a,exact,done,9.0,,True,FALSE\n")).unwrap();
        let row = &read(&path).unwrap()[0];
        assert_eq!((row.value, row.nodes, row.whole_process), (Some(9), None, true));
        assert_eq!(row.machine.dirty, Some(false));
        for (cells, message) in
            [("9.5,,True", "value is '9.5': expected"), ("9,,yes", "whole_process is 'yes'")]
        {
            std::fs::write(&path, format!("{header}6,i,offsets,a,exact,done,{cells},\n")).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains(message));
        }
    }

    #[test]
    fn an_invalid_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ROWS);
        let columns = Columns::of(Some(&[]), Extras::default()).unwrap();
        let fails = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read(&path).unwrap_err().to_string()
        };
        let good = columns.file(&[row(0, "")]);
        let length = columns.names().count();
        assert!(
            fails(&format!("{good}1,k\n"))
                .contains(&format!("line 3: 2 fields, but the header has {length}"))
        );
        assert!(
            fails(&good.replace("6,0,k0", "6,x,k0")).contains("line 2: run is 'x': expected a whole number")
        );
        let wrong = fails(&good.replace(",done,", ",fine,"));
        assert!(wrong.contains("line 2: status is 'fine': expected done, skipped"), "{wrong}");
        assert!(fails(&good.replace("6,0,k0", "5,0,k0")).contains("the supported version is 6"));
        std::fs::write(&path, "").unwrap();
        assert_eq!(read(&path).unwrap(), []);
    }
}
