//! Reads records of every schema version from CSV files.

use super::columns::is_known;
use super::{Record, SCHEMA_VERSION, number_runs};
use csv::StringRecord;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// An error while reading a CSV file.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file or folder cannot be read.
    #[error("cannot read {path}: {1}", path = .0.display())]
    Io(PathBuf, #[source] std::io::Error),
    /// A line, counted from 1, is invalid.
    #[error("{path}: line {1}: {2}", path = .0.display())]
    Line(PathBuf, u64, String),
}

/// Wordings of witnesses in older records, each paired with the current wording.
const WITNESSES: [(&str, &str); 3] = [
    ("alive while ", "live while "),
    ("prices of operators", "dual multipliers of operators"),
    ("prices of room at ", "dual multipliers of capacity at "),
];

/// The columns that every file of runs has.
const NEEDED: [&str; 4] = ["instance", "problem", "algorithm", "status"];

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

/// Reads the records of a file. O(bytes of the file).
///
/// # Errors
/// [`RecordError`] if the file cannot be read or a line is invalid.
pub fn read(path: &Path) -> Result<Vec<Record>, RecordError> {
    CsvFile::read(path)?.records()
}

impl CsvFile {
    /// Reads a file. O(bytes of the file).
    ///
    /// # Errors
    /// [`RecordError`] if the file cannot be read, is not UTF-8, or has two columns of the same name.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let path = path.to_owned();
        let mut bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(RecordError::Io(path, source)),
        };
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let torn = (bytes.len() - whole) as u64;
        bytes.truncate(whole);
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = valid.split(|&byte| byte == b'\n').count() as u64;
                return Err(RecordError::Line(path, line, "the line is not UTF-8".to_owned()));
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
    /// [`RecordError::Line`] if a column is missing.
    pub fn require(&self, columns: &[&str]) -> Result<(), RecordError> {
        let missing = columns.iter().find(|column| !self.has(column));
        missing.map_or(Ok(()), |column| Err(self.wrong(1, format!("missing column '{column}'"))))
    }

    /// Returns true if the file contains records of `bench` or `sweep`, of any schema version.
    pub fn has_records(&self) -> bool {
        self.has("schema_version") || ["key", "repetition", "algorithm"].iter().all(|name| self.has(name))
    }

    /// Returns the columns of the file that no schema version has.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str).filter(|name| !is_known(name) && *name != "peak")
    }

    /// Returns the lines below the header. Each has as many cells as the header and comes with its line
    /// number in the file, counted from 1.
    ///
    /// # Errors
    /// [`RecordError::Line`] if a line is invalid.
    pub fn lines(&self) -> Result<Vec<(u64, Vec<String>)>, RecordError> {
        let cells = |line: StringRecord| Ok(line.iter().map(str::to_owned).collect());
        self.each(cells)
    }

    /// Returns the lines below the header as rows of type `T`, each with its line number in the file, counted
    /// from 1.
    ///
    /// # Errors
    /// [`RecordError::Line`] if a line is invalid.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<(u64, T)>, RecordError> {
        // Before version 5, the column `run` of `bench` contained the repetition.
        let counted = self.has("schema_version") && !self.has("repetition");
        let name = |name: &String| if counted && name == "run" { "repetition".into() } else { name.clone() };
        let header = StringRecord::from(self.columns.iter().map(name).collect::<Vec<String>>());
        self.each(|line| {
            line.deserialize(Some(&header)).map_err(|error| match error.kind() {
                csv::ErrorKind::Deserialize { err, .. } => {
                    let at = err.field().and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
                    format!("{} is '{}': {}", self.columns[at], &line[at], err.kind())
                }
                _ => error.to_string(),
            })
        })
    }

    fn each<T>(
        &self,
        read: impl Fn(StringRecord) -> Result<T, String>,
    ) -> Result<Vec<(u64, T)>, RecordError> {
        let mut all = Vec::new();
        for line in self.reader().into_records() {
            let line = line.map_err(|error| self.wrong_line(&error, all.len() as u64 + 2))?;
            let number = line.position().map_or(0, csv::Position::line);
            all.push((number, read(line).map_err(|why| self.wrong(number, why))?));
        }
        Ok(all)
    }

    /// Returns true if the file contains records of a sweep in a schema version before 5.
    pub fn is_older_sweep(&self) -> bool {
        !self.has("schema_version") && self.has_records()
    }

    /// Returns the records in file order, converted to the current schema version. Missing columns are empty.
    ///
    /// # Errors
    /// [`RecordError::Line`] if a required column is missing, a cell is invalid, or schema versions are mixed
    /// or unknown.
    pub fn records(&self) -> Result<Vec<Record>, RecordError> {
        if self.columns.is_empty() {
            return Ok(Vec::new());
        }
        self.require(&NEEDED)?;
        let mut records: Vec<Record> = Vec::new();
        let mut version = None;
        for (line, record) in self.rows::<Record>()? {
            let decide = if record.decide == "false" { String::new() } else { record.decide.clone() };
            let mut record = Record { line, decide, ..record };
            if let Some(today) = plimsoll::posed::problem(&record.problem) {
                today.clone_into(&mut record.problem);
            }
            // Older records contain other wordings of witnesses.
            for (former, today) in WITNESSES {
                record.bound_witness = record.bound_witness.replacen(former, today, 1);
            }
            let version = *version.get_or_insert(record.schema_version);
            self.check(&record, version).map_err(|why| self.wrong(line, why))?;
            record.schema_version = SCHEMA_VERSION;
            records.push(record);
        }
        number_runs(&mut records);
        Ok(records)
    }

    /// Checks the values of a record after the types of its cells have been checked. Returns an error
    /// message if a value is invalid.
    fn check(&self, record: &Record, first: u32) -> Result<(), String> {
        let version = record.schema_version;
        if self.has("schema_version") && !(1..=SCHEMA_VERSION).contains(&version) {
            return Err(format!(
                "schema_version is '{version}'; supported versions are 1 to {SCHEMA_VERSION}"
            ));
        }
        if version != first {
            return Err(format!("schema_version is '{version}', but earlier rows have {first}"));
        }
        let needed = [&record.instance, &record.problem, &record.algorithm, &record.status];
        let empty = NEEDED.iter().zip(needed).find(|(_, cell)| cell.is_empty());
        // The row of an unreadable instance has neither problem nor algorithm.
        if let Some((column, _)) = empty.filter(|_| record.status != "unreadable") {
            return Err(format!("{column} is '', but must not be empty"));
        }
        let known = matches!(record.decide.as_str(), "" | "true" | "file" | "load");
        if !known && record.decide.parse::<u64>().is_err() {
            let decide = &record.decide;
            return Err(format!("decide is '{decide}'; expected true, false, file, load or a capacity"));
        }
        if !matches!(record.arithmetic.as_str(), "" | "exact" | "floating-point") {
            let arithmetic = &record.arithmetic;
            return Err(format!("arithmetic is '{arithmetic}'; expected exact or floating-point"));
        }
        for (column, seconds) in [("time_limit", record.time_limit), ("seconds", record.seconds)] {
            if let Some(seconds) = seconds.filter(|seconds| !(seconds.is_finite() && *seconds >= 0.0)) {
                return Err(format!("{column} is '{seconds}'; expected a time in seconds, at least 0"));
            }
        }
        Ok(())
    }

    /// Returns an error for the line with the given number, counted from 1.
    pub fn wrong(&self, line: u64, why: String) -> RecordError {
        RecordError::Line(self.path.clone(), line, why)
    }

    fn wrong_line(&self, error: &csv::Error, line: u64) -> RecordError {
        let line = error.position().map_or(line, csv::Position::line);
        match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                self.wrong(line, format!("{len} fields, but the header has {expected_len}"))
            }
            _ => self.wrong(line, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Columns, Extras, ROWS};
    use super::*;

    fn record(run: u64, error: &str) -> Record {
        let text = |text: &str| text.to_owned();
        Record {
            schema_version: SCHEMA_VERSION,
            run,
            key: format!("k{run}"),
            instance: text("i"),
            problem: text("offsets"),
            algorithm: text("a"),
            status: text("done"),
            error: text(error),
            ..Record::default()
        }
    }

    #[test]
    fn records_are_single_lines_and_read_again() {
        let records = [
            Record { seconds: Some(0.1 + 0.2), value: Some(u64::MAX), ..record(0, "a \"b\", c\nd") },
            Record { time_limit: Some(1e-9), ..record(1, "") },
        ];
        let columns = Columns::of(None, Extras { trace: true, layouts: true, proofs: true }).unwrap();
        let text = columns.file(&records);
        assert_eq!(text.lines().count(), 3);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ROWS);
        std::fs::write(&path, format!("{text}2,k2,half")).unwrap();
        let file = CsvFile::read(&path).unwrap();
        assert_eq!((file.whole(), file.torn), (text.len() as u64, 9));
        let read = file.records().unwrap();
        assert_eq!(read[0].error, "a \"b\", c d");
        assert_eq!(read[0].seconds, records[0].seconds);
        assert_eq!(read[1], Record { line: 3, nth: 2, ..records[1].clone() });
        assert_eq!(columns.file(&read), text);
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
        let good = columns.file(&[record(0, "")]);
        let length = columns.names().count();
        assert!(
            fails(&format!("{good}1,k\n"))
                .contains(&format!("line 3: 2 fields, but the header has {length}"))
        );
        assert!(fails(&good.replace("5,0,k0", "5,x,k0")).contains("line 2: run is 'x': "));
        std::fs::write(&path, "").unwrap();
        assert_eq!(read(&path).unwrap(), []);
    }

    #[test]
    fn files_of_older_versions_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ROWS);
        let of = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read(&path).unwrap().remove(0)
        };
        let bench =
            of("schema_version,instance,problem,algorithm,run,decide,status,peak\n3,i,p,a,7,true,done,9\n");
        assert_eq!((bench.repetition, bench.run, bench.value, bench.decides()), (7, 0, Some(9), true));
        assert_eq!((bench.unit.as_str(), bench.threads, bench.line), ("bytes", 1, 2));
        let sweep = of("run,key,instance,problem,algorithm,repetition,decide,status\n3,k,i,p,a,7,,done\n");
        assert_eq!((sweep.repetition, sweep.run, sweep.decides()), (7, 3, false));
        let bench = of("schema_version,instance,problem,algorithm,decide,status\n2,i,p,a,false,done\n");
        assert!(!bench.decides());
    }
}
