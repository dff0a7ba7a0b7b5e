//! Errors in CSV files, with file, line, column and value.

use crate::instance_error::InstanceError;
use crate::lifespan::LifespanError;
use crate::units::{Bytes, ParseBytesError};
use plimsoll_support::contents::ContentsError;
use std::fmt;

/// An error in a CSV file and its position.
#[derive(Debug)]
pub struct CsvError {
    /// The file name as given.
    pub file: String,
    /// The line number, counted from 1; `None` if the error does not concern a particular line.
    pub line: Option<u64>,
    /// The column name as written in the header; `None` if the error does not concern a particular column.
    pub column: Option<String>,
    /// The kind of error, with the value found and the values allowed.
    pub kind: Box<CsvErrorKind>,
}

/// The kind of error in a CSV file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum CsvErrorKind {
    /// The file could not be opened or read.
    #[error("cannot read: {0}")]
    Io(#[from] std::io::Error),
    /// A file that is compressed and cannot be decompressed, or that is known not to be CSV.
    #[error(transparent)]
    Contents(ContentsError),
    #[error("{0}")]
    Malformed(String),
    #[error("the columns of the header '{header}' are separated by {separator:?}; separate them with commas")]
    Separator { header: String, separator: char },
    #[error("the file is empty; expected a header with {0}")]
    Empty(&'static str),
    #[error(
        "missing column '{missing}'{}; the header has: {found}{}{}",
        others(.synonyms), .hint, layout(.found, .missing)
    )]
    MissingColumn {
        missing: &'static str,
        /// How to change the column in the file that probably has the meaning of the missing column.
        hint: String,
        /// The other accepted names of the missing column.
        synonyms: Vec<&'static str>,
        found: String,
    },
    #[error("columns '{0}' and '{1}' have the same meaning")]
    DuplicateColumn(String, String),
    /// The row has too many or too few fields.
    #[error("the row has {}, but the header has {expected}", fields(*.found))]
    FieldCount { expected: usize, found: usize },
    #[error("value '{value}' is not {expected}{}", plain(.value, .expected))]
    BadValue { value: String, expected: &'static str },
    #[error("value '{0}' is larger than {max}", max = u64::MAX)]
    TooLarge(String),
    #[error("value '{value}': {error}")]
    BadLifespan { value: String, error: LifespanError },
    #[error(
        "value '{0}': a gap during which part of the buffer stays live (a window '@lo:hi') is not supported; split the buffer instead"
    )]
    Window(String),
    #[error("value '{0}' is not the id of a buffer in this file")]
    UnknownId(String),
    #[error("value '{0}' is the buffer's own id")]
    OwnId(String),
    #[error("{error}{}", other_line(*.also))]
    Instance {
        error: InstanceError,
        /// The line of the other row, if the error involves two rows.
        also: Option<u64>,
    },
    #[error("the sizes of the pools add up to more than 2^63 - 1 bytes")]
    PoolsOverflow,
    /// The layout does not match the instance.
    #[error("{0}")]
    Layout(String),
}

fn others(synonyms: &[&str]) -> String {
    if synonyms.is_empty() { String::new() } else { format!(" (other names: {})", synonyms.join(", ")) }
}

/// Returns a hint if a layout was given in place of an instance.
fn layout(found: &str, missing: &str) -> &'static str {
    let is_layout = missing == "lower" && found.split(", ").any(|name| name == "offset");
    if is_layout { "; this is a layout, and the instance comes first" } else { "" }
}

/// Returns a suggestion to write a size such as `4KiB` as a plain number of bytes. Returns an empty string
/// if `value` is not such a size, or if no number of bytes is expected.
fn plain(value: &str, expected: &str) -> String {
    if !expected.contains("bytes") {
        return String::new();
    }
    match value.parse::<Bytes>() {
        Ok(bytes) if value.ends_with(|letter: char| letter.is_ascii_alphabetic()) => {
            format!("; write {bytes} for {value}")
        }
        Err(ParseBytesError::Unit { number, binary, decimal, .. }) => {
            let meant = [binary, decimal].map(|unit| format!("{number}{unit}"));
            let plain =
                meant.iter().filter_map(|text| Some(format!("{} for {text}", text.parse::<Bytes>().ok()?)));
            format!("; write {}", plain.collect::<Vec<_>>().join(" or "))
        }
        _ => String::new(),
    }
}

fn fields(count: usize) -> String {
    if count == 1 { "1 field".to_owned() } else { format!("{count} fields") }
}

fn other_line(also: Option<u64>) -> String {
    also.map(|line| format!(" (other row: line {line})")).unwrap_or_default()
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ": line {line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ": column '{column}'")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl std::error::Error for CsvError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.kind {
            CsvErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}
