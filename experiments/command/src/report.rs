//! The report of a command: one value that is printed as JSON or as text.

use crate::failure::Failure;
use crate::output;
use plimsoll::assumptions::Assumption;
use plimsoll::model::csv::Rows;
use plimsoll::model::timelines::Time;
use plimsoll::model::{BufferId, Bytes, Instance, RegionId};
use plimsoll_lab::report::table::{Align, Table, wrapped};
use plimsoll_lab::report::{human, percent};
use plimsoll_support::printable::printable_line;
use serde::{Serialize, Serializer};
use std::fmt::{Display, Write as _};

/// Width in columns of the names at the start of lines, including the blanks after them.
const LABEL: usize = 13;

/// A report. Its serialised form is the output of `--json`.
pub trait Printed: Serialize {
    /// Adds the report as text.
    fn print(&self, text: &mut Text);
}

/// Prints a report on standard output, as one JSON object or as text.
pub fn print(report: &impl Printed, is_json: bool) -> Result<(), Failure> {
    if is_json {
        return output::print_json(report);
    }
    let mut text = Text::default();
    report.print(&mut text);
    output::print(&text.0)
}

/// The text of a report, as wide as the output.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// Adds a line. Long text continues on further lines. Line breaks, which may come from names in input
    /// files, are escaped.
    pub fn line(&mut self, name: &str, text: impl Display) {
        let mut name = name;
        for line in wrapped(&printable_line(&text.to_string()), output::width().saturating_sub(LABEL)) {
            let _ = writeln!(self.0, "{name:<12} {line}");
            name = "";
        }
    }

    /// Adds paragraphs, whose lines wrap.
    pub fn push(&mut self, text: &str) {
        self.0.push_str(&output::filled(text));
    }

    /// Adds another text.
    pub fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Adds text unchanged.
    pub fn verbatim(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Adds a line with the gap in percent, if there is one.
    pub fn gap(&mut self, gap: Option<f64>) {
        if let Some(gap) = gap {
            self.line("gap", format_args!("{} %", percent(gap)));
        }
    }

    /// Adds a line with the time of a run.
    pub fn time(&mut self, seconds: f64) {
        self.line("time", human::seconds(seconds));
    }

    /// Adds a line with the time of a search and the number of its nodes.
    pub fn search(&mut self, seconds: f64, nodes: u64) {
        self.line("time", format_args!("{}, {}", human::seconds(seconds), human::count(nodes, "node")));
    }

    /// Adds the assumptions on which the claims of the report rest.
    pub fn assuming(&mut self, assumptions: &[Assumption]) {
        let list: Vec<String> = assumptions.iter().map(ToString::to_string).collect();
        self.line("assuming", list.join(", "));
    }

    /// Adds the lines for memory without sharing and for weights.
    pub fn unshared(&mut self, naive: Bytes, arena: Bytes, weights: Bytes) {
        let times = naive.get() as f64 / arena.get().max(1) as f64;
        self.line("naive", format_args!("{}, {times:.2} times the arena", bytes(naive)));
        self.line("weights", sized(weights, " bytes"));
    }

    /// Adds a table after a blank line. A column is aligned like its first value that is not empty. A table
    /// that is too wide omits the column `kind`.
    pub fn table<R: IntoIterator<Item = Cell>>(
        &mut self,
        columns: &[&str],
        rows: impl IntoIterator<Item = R>,
    ) {
        let rows: Vec<Vec<Cell>> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        let align =
            |at: usize| match rows.iter().map(|row| &row[at]).find(|cell| !matches!(cell, Cell::Empty)) {
                Some(Cell::Text(_)) => Align::Left,
                _ => Align::Right,
            };
        let mut table = Table::new(columns.iter().enumerate().map(|(at, name)| (*name, align(at))));
        for row in &rows {
            table.row(row.iter().map(Cell::shown));
        }
        if !table.fits(output::width()) {
            table = table.without("kind");
        }
        let blank = if self.0.is_empty() { "" } else { "\n" };
        let _ = write!(self.0, "{blank}{}", table.text_within(output::width()));
    }
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// No value.
    Empty,
    /// A number, with its unit if it has one; aligned to the right.
    Number(String),
    /// Text, aligned to the left.
    Text(String),
}

impl Cell {
    /// Returns a percentage with two decimals.
    pub fn percent(share: Option<f64>) -> Self {
        share.map(percent).map_or(Self::Empty, Self::Number)
    }

    /// Returns a duration in a suitable unit.
    pub fn seconds(seconds: f64) -> Self {
        Self::Number(human::seconds(seconds))
    }

    /// Returns the number and the name of a region.
    pub fn region(region: RegionId, name: &str) -> Self {
        Self::Text(format!("{region}:{name}"))
    }

    fn shown(&self) -> String {
        match self {
            Self::Empty => "-".to_owned(),
            Self::Number(number) => number.clone(),
            Self::Text(text) => printable_line(text).into_owned(),
        }
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// Implements the conversion of types to cells.
macro_rules! into_cell {
    ($variant:ident: $($of:ty),*) => {
        $(impl From<$of> for Cell {
            fn from(value: $of) -> Self {
                Self::$variant(value.to_string())
            }
        })*
    };
}

into_cell!(Number: i64, u64, usize, Bytes, Time);
into_cell!(Text: &str, &String, String);

/// The layout of a report with `--with-layout`: one object per row that `--output` writes.
#[derive(Serialize)]
pub struct WithLayout<'a> {
    /// `None` if there is no layout.
    pub layout: Option<Rows<'a>>,
}

/// Returns the cells of one row.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => { [$($crate::report::Cell::from($cell)),*] };
}
pub(crate) use cells;

/// Serialises assumptions with their descriptions.
pub fn assumptions<S: Serializer>(list: &[Assumption], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Described<'a> {
        assumption: &'a Assumption,
        text: String,
    }
    serializer.collect_seq(list.iter().map(|one| Described { assumption: one, text: one.to_string() }))
}

/// Returns the names of buffers.
pub fn names<'a>(instance: &'a Instance, buffers: &[BufferId]) -> Vec<&'a str> {
    buffers.iter().map(|&id| instance.buffer(id).name()).collect()
}

/// Formats a number of bytes with its unit, followed by binary units if the number is long.
pub fn bytes(number: Bytes) -> String {
    human::exact(number.get())
}

/// Formats a number of bytes followed by `words`. A long number is repeated in binary units: `11 live bytes`,
/// `1310720 live bytes (1.25 MiB)`.
pub fn sized(number: Bytes, words: &str) -> String {
    human::sized(number.get(), words)
}

/// Formats a number of bytes without its unit, followed by binary units if the number is long.
pub fn size(number: Bytes) -> String {
    sized(number, "")
}

/// Appends `note` to `text` in parentheses. If `text` already ends in parentheses, the note is added inside
/// them.
pub fn noted(text: &str, note: &str) -> String {
    text.strip_suffix(')').map_or_else(|| format!("{text} ({note})"), |text| format!("{text}; {note})"))
}

/// Describes a capacity and, if it is in the name of a file, its origin.
pub fn capacity(limit: Bytes, from: Option<&str>) -> String {
    let limit = size(limit);
    match from.filter(|from| !from.starts_with("--")) {
        Some(from) => format!(", capacity {}", noted(&limit, from)),
        None => format!(", capacity {limit}"),
    }
}

/// Returns the number of buffers with fixed offsets.
pub fn pinned(instance: &Instance) -> usize {
    instance.buffers().iter().filter(|buffer| buffer.fixed().is_some()).count()
}

/// Describes how many buffers are pinned.
pub fn pins(pinned: usize, buffers: usize) -> String {
    format!("{pinned} of {} at fixed offsets", human::count(buffers, "buffer"))
}

/// Names at most `most` buffers with their sizes, and counts the others. Sizes are in bytes, without binary
/// units.
pub fn named(instance: &Instance, buffers: &[BufferId], most: usize) -> String {
    let one = |&id: &BufferId| {
        let buffer = instance.buffer(id);
        let unit = if buffer.size() == Bytes::new(1) { "byte" } else { "bytes" };
        format!("{} ({} {unit})", shortened(buffer.name()), buffer.size())
    };
    let mut names: Vec<String> = buffers.iter().take(most).map(one).collect();
    if buffers.len() > most {
        names.push(format!("and {} more", buffers.len() - most));
    }
    names.join(", ")
}

/// Shortens a name that is longer than half the output width to the part before its first semicolon. The
/// `TFLite` converter joins the names of fused operators with semicolons.
fn shortened(name: &str) -> String {
    match name.split_once(';') {
        Some((first, _)) if name.len() > output::width() / 2 => format!("{first};..."),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_by_type() {
        let mut text = Text::default();
        text.line("graph", "{net}\n!");
        text.search(1.23456, 3);
        text.gap(Some(12.5));
        let rows = [
            ("body", Some(Time::new(1_500)), Some(0.001), "optimal (floating point)"),
            ("a, b", None, None, "feasible"),
        ];
        text.table(
            &["region", "time", "over %", "claim"],
            rows.iter().enumerate().map(|(at, &(name, time, over, claim))| {
                cells![Cell::region(RegionId::at(at), name), time, Cell::percent(over), claim]
            }),
        );
        let expected = "graph        {net}\\u{a}!\ntime         1.23 s, 3 nodes\ngap          12.50 %\n\n\
            region      time  over %  claim\n\
            ------  --------  ------  ------------------------\n\
            0:body  1.500 ns   <0.01  optimal (floating point)\n\
            1:a, b         -       -  feasible\n";
        assert_eq!(text.0, expected);
    }
}
