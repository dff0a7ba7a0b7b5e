//! Which column means what.

use super::error::CsvErrorKind;

/// How a file writes the end of a lifespan or gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Endpoints {
    /// `[lower, upper)`: the end is the first step after.
    #[default]
    HalfOpen,
    /// `[start, end]`: the end is the last step inside.
    Inclusive,
}

/// Positions of the columns in a row, and how ends are written.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    names: Vec<String>,
    at: [Option<usize>; Column::ALL.len()],
    pub endpoints: Endpoints,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Id,
    Lower,
    Upper,
    Size,
    Alignment,
    Gaps,
    Hint,
    Offset,
    Separations,
    Exclusions,
}

impl Column {
    const ALL: [Self; 10] = [
        Self::Id,
        Self::Lower,
        Self::Upper,
        Self::Size,
        Self::Alignment,
        Self::Gaps,
        Self::Hint,
        Self::Offset,
        Self::Separations,
        Self::Exclusions,
    ];

    /// The column of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.names().contains(&name))
    }

    /// The names it may carry, the usual one first.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Id => &["id", "buffer", "buffer_id"],
            Self::Lower => &["lower", "begin", "start"],
            Self::Upper => &["upper", "end"],
            Self::Size => &["size"],
            Self::Alignment => &["alignment"],
            Self::Gaps => &["gaps"],
            Self::Hint => &["hint"],
            Self::Offset => &["offset"],
            Self::Separations => &["separations"],
            Self::Exclusions => &["exclusions"],
        }
    }
}

impl Header {
    /// Reads the names in the first row; blanks around them and a byte order mark are ignored.
    pub fn parse<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, CsvErrorKind> {
        let names: Vec<String> =
            names.map(|name| name.trim_start_matches('\u{feff}').trim().to_owned()).collect();
        let mut at: [Option<usize>; Column::ALL.len()] = [None; Column::ALL.len()];
        let mut endpoints = Endpoints::HalfOpen;
        for (position, name) in names.iter().enumerate() {
            let known = Column::named(name);
            let Some(column) = known else {
                return Err(CsvErrorKind::UnknownColumn(name.clone()));
            };
            if let Some(first) = at[column as usize].replace(position) {
                return Err(CsvErrorKind::DuplicateColumn(names[first].clone(), name.clone()));
            }
            if name == "end" {
                endpoints = Endpoints::Inclusive;
            }
        }
        Ok(Self { names, at, endpoints })
    }

    /// Refuses a header without the columns named.
    pub fn require(&self, columns: &[Column]) -> Result<(), CsvErrorKind> {
        match columns.iter().find(|&&column| self.position(column).is_none()) {
            None => Ok(()),
            Some(column) => Err(CsvErrorKind::MissingColumn {
                missing: column.names()[0],
                synonyms: format!(
                    "also called: {}",
                    match column.names() {
                        [_] => "nothing else".to_owned(),
                        [_, others @ ..] => others.join(", "),
                        [] => unreachable!("every column has a name"),
                    }
                ),
                found: self.names.join(", "),
            }),
        }
    }

    pub fn position(&self, column: Column) -> Option<usize> {
        self.at[column as usize]
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The column's name as the file writes it.
    pub fn written(&self, column: Column) -> &str {
        self.position(column).map_or(column.names()[0], |at| &self.names[at])
    }
}
