//! One run on record, whoever wrote it down: `bench` in any version of its columns, or `sweep`.

use super::{AnalysisError, Sheet};
use crate::report::rows::SCHEMA_VERSION;
use crate::sweep::rows::SweepRow;
use plimsoll::arithmetic::Arithmetic;
use std::collections::BTreeMap;
use std::str::FromStr;

/// One attempted run. What a file does not tell is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Its line in the file, from 1.
    pub line: u64,
    /// Suite of the instance.
    pub suite: String,
    /// The instance.
    pub instance: String,
    /// SHA-256 of the instance.
    pub sha256: String,
    /// Number of buffers.
    pub buffers: Option<u64>,
    /// Load, bytes.
    pub load: Option<u64>,
    /// Capacity to decide or to keep, bytes.
    pub capacity: Option<u64>,
    /// `offsets`, `scattered`, `pools`, `orders`.
    pub problem: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// `heuristic`, `exact`, `external`.
    pub kind: String,
    /// Seed.
    pub seed: u64,
    /// Which of several equal runs, from 1.
    pub repetition: u64,
    /// Which run of its algorithm on its instance, from 1, whatever its seed and limits: as traces count.
    pub nth: u64,
    /// Threads allowed.
    pub threads: u64,
    /// Time limit, seconds.
    pub time_limit: Option<f64>,
    /// Node limit.
    pub node_limit: Option<u64>,
    /// True where the run was to decide the capacity, false where to minimise.
    pub decide: bool,
    /// `done`, or what kept it from that.
    pub status: String,
    /// What is proved.
    pub claim: String,
    /// What an external binary claims.
    pub claimed: String,
    /// Peak or total, bytes.
    pub peak: Option<u64>,
    /// Lower bound the run proved, bytes.
    pub lower_bound: Option<u64>,
    /// In which arithmetic; of older files, by the name of the solver that proved it.
    pub arithmetic: Arithmetic,
    /// Best bound that the file tells for its instance and problem, bytes.
    pub best_bound: Option<u64>,
    /// The checker's word.
    pub verdict: String,
    /// Wall-clock seconds.
    pub seconds: Option<f64>,
    /// True where these are those of a process of its own.
    pub whole_process: bool,
    /// Processor.
    pub cpu: String,
    /// Threads of the machine.
    pub cores: u64,
    /// Commit of the sources.
    pub commit: String,
    /// What went wrong.
    pub error: String,
    /// Where its layout is, from the folder of the record; empty where none was kept.
    pub layout: String,
}

/// Columns without which a file holds no runs.
const NEEDED: [&str; 4] = ["instance", "problem", "algorithm", "status"];

/// Columns of `bench` that `sweep` does not have.
const BENCH: [&str; 10] = [
    "schema_version",
    "params",
    "run",
    "claimed",
    "claimed_bound",
    "best_bound",
    "whole_process",
    "own_seconds",
    "own_resolution",
    "decide",
];

/// Whether a file is one of runs, by its columns: it has those that a run needs, and is marked as `bench` or `sweep` mark
/// theirs.
pub fn has_runs(sheet: &Sheet) -> bool {
    let has = |name: &str| sheet.column(name).is_some();
    has("schema_version") || has("key") && has("repetition") && has("algorithm")
}

/// The runs of a file, in its order, and columns that say nothing to this version.
///
/// # Errors
/// [`AnalysisError::Column`] where a column is missing that every version has, [`AnalysisError::Value`] naming line,
/// column and value where a cell is not what its column holds, or versions are mixed or unknown.
pub fn observations(sheet: &Sheet) -> Result<(Vec<Observation>, Vec<String>), AnalysisError> {
    for column in NEEDED {
        if sheet.column(column).is_none() {
            return Err(AnalysisError::Column { path: sheet.path.clone(), column: column.to_owned() });
        }
    }
    let known = |name: &str| SweepRow::COLUMNS.contains(&name) || BENCH.contains(&name);
    let unknown = sheet.columns.iter().filter(|name| !known(name)).cloned().collect();
    let first = sheet.lines.first().map(|(_, cells)| cells);
    let versions = sheet.column("schema_version");
    let mut found = Vec::with_capacity(sheet.lines.len());
    for (line, cells) in &sheet.lines {
        let line = Line { sheet, number: *line, cells };
        if let (Some(at), Some(first)) = (versions, first) {
            let version: u32 = line.number("schema_version")?.unwrap_or(0);
            if version == 0 || version > SCHEMA_VERSION {
                return Err(line.wrong(at, format!("and this version knows 1 to {SCHEMA_VERSION}")));
            }
            if cells[at] != first[at] {
                return Err(line.wrong(at, format!("where the rows before have {}", first[at])));
            }
        }
        found.push(line.observation(versions.is_some())?);
    }
    if versions.is_none() {
        number(&mut found);
    }
    Ok((found, unknown))
}

/// Counts runs as the trace of a sweep does: those of an algorithm on an instance in the order of the rows.
fn number(rows: &mut [Observation]) {
    let mut counts: BTreeMap<[String; 4], u64> = BTreeMap::new();
    for row in rows {
        let names = [&row.suite, &row.instance, &row.problem, &row.algorithm];
        let count = counts.entry(names.map(Clone::clone)).or_default();
        *count += 1;
        row.nth = *count;
    }
}

struct Line<'a> {
    sheet: &'a Sheet,
    number: u64,
    cells: &'a [String],
}

impl Line<'_> {
    fn text(&self, column: &str) -> &str {
        self.sheet.column(column).map_or("", |at| self.cells[at].as_str())
    }

    fn wrong(&self, at: usize, why: String) -> AnalysisError {
        AnalysisError::Value {
            path: self.sheet.path.clone(),
            line: self.number,
            column: self.sheet.columns[at].clone(),
            value: self.cells[at].clone(),
            why,
        }
    }

    /// The number in a column; none where it is empty, or where there is no such column.
    fn number<T: FromStr>(&self, column: &str) -> Result<Option<T>, AnalysisError> {
        let Some(at) = self.sheet.column(column).filter(|&at| !self.cells[at].is_empty()) else {
            return Ok(None);
        };
        let why = || self.wrong(at, "which is no number of its kind".to_owned());
        self.cells[at].parse().map(Some).map_err(|_| why())
    }

    fn seconds(&self, column: &str) -> Result<Option<f64>, AnalysisError> {
        match self.number::<f64>(column)? {
            Some(seconds) if !(seconds.is_finite() && seconds >= 0.0) => {
                let at = self.sheet.column(column).unwrap_or(0);
                Err(self.wrong(at, "which is no time".to_owned()))
            }
            seconds => Ok(seconds),
        }
    }

    /// In `bench` a switch; in `sweep` what capacity there is to decide, empty where it is to minimise.
    fn decide(&self, bench: bool) -> Result<bool, AnalysisError> {
        match self.text("decide") {
            "" | "false" => Ok(false),
            "true" => Ok(true),
            _ if !bench => Ok(true),
            _ => {
                let at = self.sheet.column("decide").unwrap_or(0);
                Err(self.wrong(at, "neither true nor false".to_owned()))
            }
        }
    }

    fn arithmetic(&self) -> Result<Arithmetic, AnalysisError> {
        let known = [Arithmetic::Exact, Arithmetic::FloatingPoint];
        match (self.text("arithmetic"), self.sheet.column("arithmetic")) {
            ("", _) | (_, None) => Ok(Arithmetic::of_words(self.text("bound_witness"))),
            (text, Some(at)) => known
                .into_iter()
                .find(|one| one.as_str() == text)
                .ok_or_else(|| self.wrong(at, "neither exact nor floating-point".to_owned())),
        }
    }

    fn observation(&self, bench: bool) -> Result<Observation, AnalysisError> {
        for column in ["instance", "problem", "algorithm", "status"] {
            // An instance that cannot be read has neither problem nor algorithm.
            if self.text(column).is_empty() && self.text("status") != "unreadable" {
                let at = self.sheet.column(column).unwrap_or(0);
                return Err(self.wrong(at, "where something has to stand".to_owned()));
            }
        }
        let text = |column: &str| self.text(column).to_owned();
        let repetition = if bench { "run" } else { "repetition" };
        let nth = self.number(repetition)?.unwrap_or(1);
        Ok(Observation {
            line: self.number,
            suite: text("suite"),
            instance: text("instance"),
            sha256: text("sha256"),
            buffers: self.number("buffers")?,
            load: self.number("load")?,
            capacity: self.number("capacity")?,
            problem: text("problem"),
            algorithm: text("algorithm"),
            kind: text("kind"),
            seed: self.number("seed")?.unwrap_or(0),
            repetition: nth,
            nth,
            threads: self.number("threads")?.unwrap_or(1),
            time_limit: self.seconds("time_limit")?,
            node_limit: self.number("node_limit")?,
            decide: self.decide(bench)?,
            status: text("status"),
            claim: text("claim"),
            claimed: text("claimed"),
            peak: self.number("peak")?,
            lower_bound: self.number("lower_bound")?,
            arithmetic: self.arithmetic()?,
            best_bound: self.number("best_bound")?,
            verdict: text("verdict"),
            seconds: self.seconds("seconds")?,
            whole_process: self.text("whole_process") == "true",
            cpu: text("cpu"),
            cores: self.number("cores")?.unwrap_or(0),
            commit: text("commit"),
            error: text("error"),
            layout: text("layout"),
        })
    }
}
