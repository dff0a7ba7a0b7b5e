//! The columns of a file, and the conversion of records to CSV lines.

use super::Record;
use csv::StringRecord;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The names of all columns, in order.
static NAMES: LazyLock<StringRecord> = LazyLock::new(|| first_line(&Record::default(), true));

/// The last of the columns that every file has. The columns up to this one identify the run and contain its
/// result.
const LAST_FIXED: &str = "error";
/// The columns about proofs.
const PROOFS: [&str; 5] = ["certified", "certified_by", "proof_bytes", "proof_seconds", "check_seconds"];

/// The groups of columns that are recorded only on request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extras {
    /// Improvements over time.
    pub trace: bool,
    /// Paths of layouts.
    pub layouts: bool,
    /// The claims that proofs or witnesses certify, and the sizes and times of the proofs.
    pub proofs: bool,
}

impl Extras {
    const ALL: Self = Self { trace: true, layouts: true, proofs: true };

    fn columns(self) -> impl Iterator<Item = &'static str> {
        let Self { trace, layouts, proofs } = self;
        let groups = [(trace, &["trace"][..]), (layouts, &["layout"]), (proofs, &PROOFS)];
        groups.into_iter().filter(|(on, _)| *on).flat_map(|(_, names)| names.iter().copied())
    }
}

/// Columns that may differ between repetitions of a run because they depend on time or memory. For runs
/// without a time limit, all other columns are reproducible with the same build on the same machine.
pub const MEASURED: [&str; 9] = [
    "seconds",
    "own_seconds",
    "phases",
    "peak_memory_bytes",
    "resident_bytes",
    "timestamp",
    "proof_seconds",
    "check_seconds",
    "trace",
];

/// Returns the cells of the header if `header` is set, and otherwise the cells of the record.
fn first_line(record: &Record, header: bool) -> StringRecord {
    let mut writer = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
    // Writing into a vector cannot fail.
    let written = writer.serialize(record);
    debug_assert!(written.is_ok());
    let text = writer.into_inner().unwrap_or_default();
    let mut lines = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_slice());
    lines.records().next().and_then(Result::ok).unwrap_or_default()
}

/// Returns the columns that a sweep may keep or omit with its key `metrics`.
pub fn metrics() -> impl Iterator<Item = &'static str> {
    NAMES.iter().skip_while(|name| *name != LAST_FIXED).skip(1)
}

/// Returns true if the column is stored only on request.
fn is_on_request(name: &str) -> bool {
    Extras::ALL.columns().any(|own| own == name)
}

/// Returns true if there is a column of this name.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.iter().any(|known| known == name)
}

/// The columns of one file, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(Vec<usize>);

impl Columns {
    /// Returns all columns except those that are stored only on request.
    pub fn all() -> Self {
        let all = NAMES.iter().enumerate().filter(|(_, name)| !is_on_request(name));
        Self(all.map(|(at, _)| at).collect())
    }

    /// Returns the columns that every file has, the metrics named in `kept`, and the columns that `extras`
    /// request. If `kept` is `None`, all metrics are kept except those that are stored only on request.
    /// Returns `None` if a name in `kept` is not a metric.
    pub fn of(kept: Option<&[String]>, extras: Extras) -> Option<Self> {
        if kept.is_some_and(|kept| kept.iter().any(|name| !metrics().any(|known| known == name))) {
            return None;
        }
        let on_request: Vec<&str> = extras.columns().collect();
        let metrics: Vec<&str> = metrics().collect();
        let is_kept = |name: &str| {
            let by_default = !is_on_request(name);
            !metrics.contains(&name)
                || on_request.contains(&name)
                || kept.map_or(by_default, |kept| kept.iter().any(|own| own == name))
        };
        let all = NAMES.iter().enumerate();
        Some(Self(all.filter(|(_, name)| is_kept(name)).map(|(at, _)| at).collect()))
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|&at| &NAMES[at])
    }

    /// Returns true if there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    /// Returns the groups of optional columns that are present.
    pub fn extras(&self) -> Extras {
        let has = |name: &str| self.has(name);
        Extras { trace: has("trace"), layouts: has("layout"), proofs: PROOFS.into_iter().any(has) }
    }

    /// Returns the header of the file with its line break.
    pub fn header(&self) -> String {
        line(self.names())
    }

    /// Returns a record as one line with its line break. Line breaks and NUL characters inside cells become
    /// spaces.
    pub fn line(&self, record: &Record) -> String {
        let cells = first_line(record, false);
        let plain: Vec<String> =
            self.0.iter().map(|&at| cells[at].replace(['\n', '\r', '\0'], " ")).collect();
        line(plain.iter().map(String::as_str))
    }

    /// Returns a whole file: the header and the records.
    pub fn file<'a>(&self, records: impl IntoIterator<Item = &'a Record>) -> String {
        records.into_iter().fold(self.header(), |text, record| text + &self.line(record))
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing into a vector cannot fail, and cells are UTF-8.
    let written = writer.write_record(cells);
    debug_assert!(written.is_ok());
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeping(names: &[&str]) -> Option<Columns> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Columns::of(Some(&names), Extras::default())
    }

    #[test]
    fn fixed_columns_end_with_the_error() {
        assert!(
            metrics().next() == Some("stop") && MEASURED.iter().all(|name| metrics().any(|m| m == *name))
        );
        assert!(keeping(&["seconds", "seconds"]).unwrap().header().ends_with(",error,seconds\n"));
        assert!(keeping(&["error"]).is_none() && keeping(&["x"]).is_none());
        let with = |extras| Columns::of(None, extras).unwrap().header();
        let layouts = Extras { layouts: true, ..Extras::default() };
        assert!(with(layouts).ends_with(",claimed,claimed_bound,layout\n"));
        let proofs = Extras { proofs: true, ..Extras::default() };
        let end = ",claimed_bound,certified,certified_by,proof_bytes,proof_seconds,check_seconds\n";
        assert!(with(proofs).ends_with(end));
        assert_eq!(with(Extras::default()), Columns::all().header());
    }
}
