//! Rows of a sweep: one line of `rows.csv` per attempted run.
//!
//! A row is one physical line (line breaks inside of cells become blanks), so that a file that was cut short is a file of
//! whole rows and at most one piece of a row, which has no line break behind it.

use crate::machine::Machine;
use crate::report::gap_percent;
use crate::report::rows::{contradiction, impossible};
use crate::sweep::answer::Answer;
use plimsoll_model::Bytes;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The name of the file in the folder of a sweep.
pub const ROWS: &str = "rows.csv";

/// The folder of layouts in it.
pub const LAYOUTS: &str = "layouts";

/// What a column holds as text; empty where it does not apply.
trait Cell {
    fn cell(&self) -> String;
}

macro_rules! printed {
    ($($type:ty),*) => { $(impl Cell for $type { fn cell(&self) -> String { self.to_string() } })* };
}
printed!(u64, usize, f64);

impl Cell for String {
    fn cell(&self) -> String {
        self.replace(['\n', '\r', '\0'], " ")
    }
}

impl<T: Cell> Cell for Option<T> {
    fn cell(&self) -> String {
        self.as_ref().map_or_else(String::new, Cell::cell)
    }
}

/// Makes the row, the names of its columns and its cells from one list.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// One attempted run. Fields are columns, in this order; what does not apply, or was not kept, is empty.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(default)]
        pub struct SweepRow {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl SweepRow {
            /// Names of all columns, in order.
            pub const COLUMNS: &'static [&'static str] = &[$(stringify!($name)),*];

            fn cells(&self) -> Vec<String> {
                vec![$(self.$name.cell()),*]
            }
        }
    };
}

columns! {
    /// Number of the run in the sweep, from 0.
    run: u64,
    /// What tells the run from all others: a hash of instance, algorithm, parameters, seed, repetition and limits.
    key: String,
    /// Suite, path or family of the instance, as the sweep names it.
    suite: String,
    /// The instance.
    instance: String,
    /// SHA-256 of the instance, or graph, in the form this project writes it.
    sha256: String,
    /// `offsets`, `scattered`, `pools`, `orders`.
    problem: String,
    /// Name of the algorithm.
    algorithm: String,
    /// `heuristic`, `exact`, `external`.
    kind: String,
    /// Threads allowed.
    threads: usize,
    /// `file`, `load` or a number of bytes where the run is to decide a capacity; empty where it is to minimise.
    decide: String,
    /// The capacity to decide, bytes; of an external binary the one that it is told.
    capacity: Option<u64>,
    /// Time limit, seconds.
    time_limit: Option<f64>,
    /// Node limit.
    node_limit: Option<u64>,
    /// Seed.
    seed: u64,
    /// Which of several equal runs, from 1.
    repetition: u64,
    /// `done`, `skipped` (declined), `failed` (broke), `refused` (by the checker), `unreadable` (instance), `crashed`
    /// (process), `killed` (hung), `out-of-memory`.
    status: String,
    /// What is proved.
    claim: String,
    /// Peak or total, bytes.
    peak: Option<u64>,
    /// Lower bound the run proved, bytes.
    lower_bound: Option<u64>,
    /// The checker's word: `valid`, `refused`, or empty where there was nothing to check.
    verdict: String,
    /// What went wrong.
    error: String,
    /// Why it ended.
    stop: String,
    /// Why the bound holds.
    bound_witness: String,
    /// In which arithmetic the bound was proved: `exact`, `floating-point`.
    arithmetic: String,
    /// How far the peak lies above the run's own bound, percent of the bound.
    gap_percent: Option<f64>,
    /// Number of buffers; of a graph, none.
    buffers: Option<usize>,
    /// Number of operators; of an instance, none.
    operators: Option<usize>,
    /// Load, bytes; of a graph, none.
    load: Option<u64>,
    /// Wall-clock seconds of the algorithm alone, or until the process ended; of an external binary those of its process.
    seconds: Option<f64>,
    /// Seconds per phase, `name=seconds` separated by blanks.
    phases: String,
    /// Counters of the algorithm, `name=number` separated by blanks.
    counters: String,
    /// Nodes.
    nodes: Option<u64>,
    /// Highest resident memory of the process during the run, bytes.
    peak_memory_bytes: Option<u64>,
    /// Resident memory of the process before the run, bytes: what the figure above holds of no fault of the run.
    resident_bytes: Option<u64>,
    /// Commit of the sources.
    commit: String,
    /// Whether sources differed from it.
    dirty: String,
    /// Version of the command, or of the external binary where it was asked.
    version: String,
    /// Compiler.
    rustc: String,
    /// Build profile.
    profile: String,
    /// Processor.
    cpu: String,
    /// Threads of the machine.
    cores: usize,
    /// When the run ended, UTC.
    timestamp: String,
    /// What an external binary claims; `contradicted` where a valid solution of somebody shows that it is wrong.
    claimed: String,
    /// Lower bound that an external binary claims, bytes.
    claimed_bound: Option<u64>,
    /// When what got better, words `seconds:event:peak:bound` separated by blanks; only with `trace = true`, and not of orders.
    trace: String,
    /// Where the layout is, from the folder of the sweep; only with `layouts = true`, and not of orders.
    layout: String,
}

/// How many columns stand in every file: those that say which run it was, and what became of it.
const FIXED: usize = 21;

/// The columns that a sweep may keep or leave out (`metrics`).
pub fn metrics() -> &'static [&'static str] {
    &SweepRow::COLUMNS[FIXED..]
}

/// Columns that differ from time to time: what clocks and memory say. All others repeat where runs have no time limit, on
/// the same build and machine.
pub const MEASURED: [&str; 6] =
    ["seconds", "phases", "peak_memory_bytes", "resident_bytes", "timestamp", "trace"];
/// Columns that only those get who ask.
const ASKED: usize = 2;

impl SweepRow {
    /// Adds what is known of build and machine.
    #[must_use]
    pub fn on(mut self, machine: &Machine) -> Self {
        machine.commit.clone_into(&mut self.commit);
        machine.dirty.clone_into(&mut self.dirty);
        machine.version.clone_into(&mut self.version);
        machine.rustc.clone_into(&mut self.rustc);
        machine.profile.clone_into(&mut self.profile);
        self.cpu.clone_from(&machine.cpu);
        self.cores = machine.cores;
        self
    }

    /// Adds what became of the run.
    #[must_use]
    pub fn answered(mut self, answer: Answer) -> Self {
        self.gap_percent = match (answer.peak, answer.lower_bound) {
            (Some(peak), Some(bound)) => gap_percent(Bytes::new(peak), Bytes::new(bound)),
            _ => None,
        };
        self.status = answer.status;
        self.claim = answer.claim;
        self.peak = answer.peak;
        self.lower_bound = answer.lower_bound;
        self.verdict = answer.verdict;
        self.error = answer.error;
        self.stop = answer.stop;
        self.bound_witness = answer.bound_witness;
        self.arithmetic = answer.arithmetic;
        self.seconds = answer.seconds;
        self.phases = answer.phases;
        self.counters = answer.counters;
        self.nodes = answer.nodes;
        self.peak_memory_bytes = answer.peak_memory_bytes;
        self.resident_bytes = answer.resident_bytes;
        self.claimed = answer.claimed;
        self.claimed_bound = answer.claimed_bound;
        self.trace = answer.trace;
        if answer.kept {
            self.layout = layout_of(self.run);
        }
        self
    }
}

/// Where the layout of a run is, from the folder of the sweep.
pub fn layout_of(run: u64) -> String {
    format!("{LAYOUTS}/{run}.csv")
}

/// The columns of one sweep, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(Vec<usize>);

impl Columns {
    /// All that every file has, and these; `None` for a name that is no metric.
    pub fn keeping<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut chosen: Vec<usize> = (0..FIXED).collect();
        for name in names {
            chosen.push(FIXED + metrics().iter().position(|known| *known == name)?);
        }
        chosen.sort_unstable();
        chosen.dedup();
        Some(Self(chosen))
    }

    /// All but the last, which only those get who ask: the trace and the layout.
    pub fn all() -> Self {
        Self((0..SweepRow::COLUMNS.len() - ASKED).collect())
    }

    /// Those of a sweep: of these metrics or all, with trace and layout where asked. `None` for a name that is no metric.
    pub fn of(metrics: Option<&[String]>, trace: bool, layouts: bool) -> Option<Self> {
        let mut columns = metrics
            .map_or_else(|| Some(Self::all()), |names| Self::keeping(names.iter().map(String::as_str)))?;
        let asked = (SweepRow::COLUMNS.len() - ASKED..).zip([trace, layouts]);
        columns.0.extend(asked.filter_map(|(at, asked)| asked.then_some(at)));
        columns.0.sort_unstable();
        columns.0.dedup();
        Some(columns)
    }

    /// Whether a column of this name is kept.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|&at| SweepRow::COLUMNS[at] == name)
    }

    /// The first line of the file, with its line break.
    pub fn header(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|&at| SweepRow::COLUMNS[at]).collect();
        format!("{}\n", names.join(","))
    }

    /// One row as a line, with its line break and no other.
    pub fn line(&self, row: &SweepRow) -> String {
        let cells = row.cells();
        let mut line = String::new();
        for (nth, &at) in self.0.iter().enumerate() {
            if nth > 0 {
                line.push(',');
            }
            let cell = &cells[at];
            if cell.contains([',', '"']) {
                line.push('"');
                line.push_str(&cell.replace('"', "\"\""));
                line.push('"');
            } else {
                line.push_str(cell);
            }
        }
        line.push('\n');
        line
    }

    /// A whole file.
    pub fn file<'a>(&self, rows: impl IntoIterator<Item = &'a SweepRow>) -> String {
        rows.into_iter().fold(self.header(), |mut text, row| {
            text.push_str(&self.line(row));
            text
        })
    }
}

/// Why rows cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is no row.
    #[error("{}: line {line}: {why}", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// The first line, without its line break; `None` where the file does not hold a whole one.
    pub header: Option<String>,
    /// The rows, in the order of the file.
    pub rows: Vec<SweepRow>,
    /// Length of the whole lines, bytes: what lies behind is a row that was cut short.
    pub whole: u64,
    /// Length of what lies behind, bytes.
    pub torn: u64,
}

/// Reads the rows of a file. The last line does not count where it was cut short. O(bytes).
///
/// # Errors
/// [`RowsError`], with the line of what is no row.
pub fn read(path: &Path) -> Result<Vec<SweepRow>, RowsError> {
    read_whole(path).map(|read| read.rows)
}

/// The same, with what else is known of the file.
///
/// # Errors
/// [`RowsError`], with the line of what is no row.
pub fn read_whole(path: &Path) -> Result<Read, RowsError> {
    let WholeLines { text, torn } = whole_lines(path)?;
    let header = text.lines().next().map(str::to_owned);
    let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for row in reader.deserialize::<SweepRow>() {
        let row = row.map_err(|error| RowsError::of(path, &error, rows.len() + 2))?;
        if row.key.is_empty() {
            let why = "it has no key".to_owned();
            return Err(RowsError::Line { path: path.to_owned(), line: rows.len() + 2, why });
        }
        rows.push(row);
    }
    Ok(Read { header, rows, whole: text.len() as u64, torn })
}

/// The whole lines of a file that may have been cut short.
pub(crate) struct WholeLines {
    /// All up to the last line break.
    pub text: String,
    /// Length of what lies behind, bytes.
    pub torn: u64,
}

/// Reads the whole lines of a file. O(bytes).
pub(crate) fn whole_lines(path: &Path) -> Result<WholeLines, RowsError> {
    let mut bytes = std::fs::read(path).map_err(|source| RowsError::Io { path: path.to_owned(), source })?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let torn = (bytes.len() - whole) as u64;
    bytes.truncate(whole);
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = 1 + count(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        RowsError::Line { path: path.to_owned(), line, why: "it is not UTF-8".to_owned() }
    })?;
    Ok(WholeLines { text, torn })
}

impl RowsError {
    /// What is wrong with a line, or with this one where that is unknown.
    pub(crate) fn of(path: &Path, error: &csv::Error, line: usize) -> Self {
        let line = error.position().map_or(line, |position| position.line() as usize);
        Self::Line { path: path.to_owned(), line, why: said(error) }
    }
}

fn count(bytes: &[u8]) -> usize {
    bytes.split(|&byte| byte == b'\n').count() - 1
}

/// What is wrong with a line, without the position, which stands before it.
fn said(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|at| usize::try_from(at).ok());
            format!("field {}: {}", column.map_or(0, |at| at + 1), err.kind())
        }
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, where the first line has {expected_len}")
        }
        _ => error.to_string(),
    }
}

/// Sets rows against each other that solve the same problem for the same instance: a bound above the peak of a valid
/// solution is wrong, and its row is refused; what an external binary claims is marked where it is wrong. The lowest peak is never that of a row refused here, so that doing it for a
/// part of the rows first changes nothing.
pub fn settle(rows: &mut [SweepRow]) {
    use std::collections::HashMap;
    let place = |row: &SweepRow| (row.sha256.clone(), row.problem.clone());
    let mut lowest: HashMap<(String, String), u64> = HashMap::new();
    for row in rows.iter().filter(|row| row.verdict == "valid") {
        if let Some(peak) = row.peak {
            lowest.entry(place(row)).and_modify(|least| *least = peak.min(*least)).or_insert(peak);
        }
    }
    for row in rows.iter_mut() {
        let lowest = lowest.get(&place(row)).copied();
        let (claimed, peak, capacity) = (row.claimed.as_str(), row.peak, row.capacity);
        if let Some(remark) = contradiction(claimed, peak, row.claimed_bound, capacity, lowest) {
            row.error = format!("{}{}{remark}", row.error, if row.error.is_empty() { "" } else { "; " });
            "contradicted".clone_into(&mut row.claimed);
            row.claimed_bound = None;
        }
        let Some(bound) = row.lower_bound else { continue };
        let Some(why) = impossible(bound, lowest) else { continue };
        "refused".clone_into(&mut row.status);
        "refused".clone_into(&mut row.verdict);
        row.claim.clear();
        row.error = why;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(run: u64, error: &str) -> SweepRow {
        SweepRow { run, key: format!("k{run}"), error: error.to_owned(), ..SweepRow::default() }
    }

    #[test]
    fn fixed_columns_end_with_the_error() {
        assert_eq!(SweepRow::COLUMNS[FIXED - 1], "error");
        assert!(MEASURED.iter().all(|name| metrics().contains(name)));
        assert!(Columns::keeping(["seconds", "seconds"]).unwrap().header().ends_with(",error,seconds\n"));
        assert!(Columns::keeping(["error"]).is_none() && Columns::keeping(["x"]).is_none());
    }

    #[test]
    fn rows_are_single_lines_and_read_again() {
        let rows = [
            SweepRow { seconds: Some(0.1 + 0.2), peak: Some(u64::MAX), ..row(0, "a \"b\", c\nd") },
            SweepRow { time_limit: Some(1e-9), ..row(1, "") },
        ];
        let text = Columns::all().file(&rows);
        assert_eq!(text.lines().count(), 3);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ROWS);
        std::fs::write(&path, format!("{text}2,k2,half")).unwrap();
        let read = read_whole(&path).unwrap();
        assert_eq!((read.whole, read.torn), (text.len() as u64, 9));
        assert_eq!(read.rows[0].error, "a \"b\", c d");
        assert_eq!(read.rows[0].seconds, rows[0].seconds);
        assert_eq!(read.rows[1], rows[1]);
        assert_eq!(Columns::all().file(&read.rows), text);
    }

    #[test]
    fn what_is_no_row_is_named_by_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ROWS);
        let columns = Columns::keeping([]).unwrap();
        let fails = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read(&path).unwrap_err().to_string()
        };
        let good = columns.file(&[row(0, "")]);
        assert!(fails(&format!("{good}1,k\n")).contains("line 3: 2 fields, where the first line has 21"));
        assert!(fails(&good.replace("0,k0", "x,k0")).contains("line 2: field 1: "));
        assert!(fails(&good.replace("k0", "")).contains("line 2: it has no key"));
        std::fs::write(&path, "").unwrap();
        assert_eq!(read_whole(&path).unwrap(), Read::default());
    }

    #[test]
    fn bounds_above_peaks_of_others_are_refused_in_any_order() {
        let make = |run, peak, bound| SweepRow {
            peak: Some(peak),
            lower_bound: Some(bound),
            verdict: "valid".into(),
            ..row(run, "")
        };
        let mut rows = [make(0, 12, 11), make(1, 10, 10), make(2, 11, 9)];
        settle(&mut rows);
        let verdicts: Vec<&str> = rows.iter().map(|row| row.verdict.as_str()).collect();
        assert_eq!(verdicts, ["refused", "valid", "valid"]);
        let once = rows.clone();
        settle(&mut rows);
        assert_eq!(rows, once);
    }
}
