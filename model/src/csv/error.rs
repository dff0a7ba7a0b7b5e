//! What can be wrong with a CSV file: always file, line, column, value.

use crate::instance_error::InstanceError;
use crate::lifespan::LifespanError;
use std::fmt;

/// A CSV file that could not be read, with the place.
#[derive(Debug)]
pub struct CsvError {
    /// The file, as it was named.
    pub file: String,
    /// Line, from 1; the header is line 1.
    pub line: Option<u64>,
    /// Column, by the name in the header.
    pub column: Option<String>,
    /// What is wrong, with the values found and allowed.
    pub kind: Box<CsvErrorKind>,
}

/// What is wrong with a CSV file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum CsvErrorKind {
    /// The file could not be opened or read.
    #[error("cannot read: {0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Malformed(String),
    #[error("the file is empty; expected a header with {0}")]
    Empty(&'static str),
    #[error("missing column '{missing}'{} ({synonyms}); the header has: {found}", perhaps(.likely.as_ref()))]
    MissingColumn {
        missing: &'static str,
        /// The column that was probably meant to be it.
        likely: Option<String>,
        /// Names it may carry.
        synonyms: String,
        found: String,
    },
    #[error("columns '{0}' and '{1}' mean the same")]
    DuplicateColumn(String, String),
    /// A row with too many or too few fields.
    #[error("the row has {}, the header {expected}", fields(*.found))]
    FieldCount { expected: usize, found: usize },
    #[error("value '{value}' is not {expected}")]
    BadValue { value: String, expected: &'static str },
    #[error("value '{0}' is larger than {max}", max = u64::MAX)]
    TooLarge(String),
    #[error("value '{value}': {error}")]
    BadLifespan { value: String, error: LifespanError },
    #[error(
        "value '{0}': a gap that keeps part of the buffer alive (a window '@lo:hi') is not supported; split the buffer instead"
    )]
    Window(String),
    #[error("value '{0}' names no buffer of this file")]
    UnknownId(String),
    #[error("value '{0}' is the buffer's own id")]
    OwnId(String),
    #[error("{error}{}", other_line(*.also))]
    Instance {
        error: InstanceError,
        /// Line of the other row concerned.
        also: Option<u64>,
    },
    /// A layout that does not answer this instance.
    #[error("{0}")]
    Layout(String),
}

fn perhaps(likely: Option<&String>) -> String {
    likely.map_or_else(String::new, |name| format!("; is column '{name}' misspelt?"))
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
