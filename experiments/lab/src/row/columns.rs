//! The columns of a file, and the conversion of rows to CSV lines and back.

use super::Row;
use super::cell::Cell;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A column: its name, and how to write and read a cell of it.
struct Column {
    name: &'static str,
    text: fn(&Row) -> String,
    read: fn(&mut Row, &str) -> Result<(), String>,
}

/// Lists the columns: fields of [`Row`], and fields of its machine.
macro_rules! columns {
    ($($($field:ident).+),* $(,)?) => {
        [$(Column {
            name: columns!(@name $($field).+),
            text: |row| Cell::text(&row.$($field).+),
            read: |row, text| {
                row.$($field).+ = Cell::read(text)?;
                Ok(())
            },
        }),*]
    };
    (@name machine.$field:ident) => { stringify!($field) };
    (@name $field:ident) => { stringify!($field) };
}

/// All columns, in the order of the fields of [`Row`].
static ALL: &[Column] = &columns![
    schema_version,
    run,
    key,
    suite,
    instance,
    sha256,
    problem,
    unit,
    terms,
    algorithm,
    kind,
    threads,
    decide,
    capacity,
    time_limit,
    node_limit,
    seed,
    repetition,
    status,
    claim,
    value,
    lower_bound,
    error,
    stop,
    witness,
    arithmetic,
    floor,
    best_bound,
    gap_percent,
    buffers,
    operators,
    load,
    seconds,
    whole_process,
    own_seconds,
    own_resolution,
    phases,
    counters,
    nodes,
    peak_memory_bytes,
    resident_bytes,
    machine.commit,
    machine.dirty,
    machine.version,
    machine.rustc,
    machine.profile,
    machine.cpu,
    machine.cores,
    timestamp,
    params,
    claimed,
    claimed_bound,
    certified,
    certified_by,
    proof_bytes,
    proof_seconds,
    check_seconds,
    trace,
    layout,
];

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

/// Returns the columns that a sweep may keep or omit with its key `metrics`.
pub fn metrics() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|column| column.name).skip_while(|name| *name != LAST_FIXED).skip(1)
}

/// Returns true if the column is stored only on request.
fn is_on_request(name: &str) -> bool {
    Extras::ALL.columns().any(|own| own == name)
}

/// Returns true if there is a column of this name.
pub(super) fn is_known(name: &str) -> bool {
    ALL.iter().any(|column| column.name == name)
}

/// Sets the field of a row to the text of a cell. Columns of other names are ignored.
///
/// # Errors
/// What was expected, if the text is not a value of the column.
pub(super) fn read_cell(row: &mut Row, name: &str, text: &str) -> Result<(), String> {
    let column = ALL.iter().find(|column| column.name == name);
    column.map_or(Ok(()), |column| (column.read)(row, text))
}

/// Returns the texts of a cell in two rows if they differ.
pub(crate) fn difference(name: &str, one: &Row, other: &Row) -> Option<[String; 2]> {
    let column = ALL.iter().find(|column| column.name == name)?;
    let texts = [one, other].map(|row| (column.text)(row));
    (texts[0] != texts[1]).then_some(texts)
}

/// The columns of one file, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(Vec<usize>);

impl Columns {
    /// Returns all columns except those that are stored only on request.
    pub fn all() -> Self {
        Self::kept(|name| !is_on_request(name))
    }

    fn kept(is_kept: impl Fn(&str) -> bool) -> Self {
        let all = ALL.iter().enumerate().filter(|(_, column)| is_kept(column.name));
        Self(all.map(|(at, _)| at).collect())
    }

    /// Returns the columns that every file has, the metrics named in `kept`, and the columns that `extras`
    /// request. If `kept` is `None`, all metrics are kept except those that are stored only on request.
    /// Returns `None` if a name in `kept` is not a metric.
    pub fn of(kept: Option<&[String]>, extras: Extras) -> Option<Self> {
        let metrics: BTreeSet<&str> = metrics().collect();
        if kept.is_some_and(|kept| kept.iter().any(|name| !metrics.contains(name.as_str()))) {
            return None;
        }
        let on_request: Vec<&str> = extras.columns().collect();
        Some(Self::kept(|name| {
            !metrics.contains(name)
                || on_request.contains(&name)
                || kept.map_or(!is_on_request(name), |kept| kept.iter().any(|own| own == name))
        }))
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|&at| ALL[at].name)
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

    /// Returns a row as one line with its line break.
    pub fn line(&self, row: &Row) -> String {
        line(self.0.iter().map(|&at| (ALL[at].text)(row)))
    }

    /// Returns a whole file: the header and the rows.
    pub fn file<'a>(&self, rows: impl IntoIterator<Item = &'a Row>) -> String {
        rows.into_iter().fold(self.header(), |text, row| text + &self.line(row))
    }
}

fn line(cells: impl Iterator<Item = impl AsRef<[u8]>>) -> String {
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

    #[test]
    fn the_columns_are_the_fields_of_a_row() {
        let json = serde_json::to_value(Row::default()).unwrap();
        let fields: BTreeSet<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ALL.iter().map(|column| column.name).collect());
    }
}
