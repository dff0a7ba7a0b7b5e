//! The header of a CSV file: the columns, their names and their positions.

use super::error::CsvErrorKind;
use strsim::levenshtein;

/// The convention for the end of a lifespan or a gap in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Endpoints {
    /// `[lower, upper)`: the end is the first step after the interval.
    #[default]
    HalfOpen,
    /// `[start, end]`: the end is the last step of the interval.
    Inclusive,
}

/// Returns true if `written` is probably a misspelling of `name`.
fn is_near(written: &str, name: &str) -> bool {
    levenshtein(&written.to_lowercase(), name) <= name.len() / 4 + usize::from(name.len() > 2)
}

/// The positions of the columns, and the convention for the ends of intervals.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    names: Vec<String>,
    /// Positions of unknown columns.
    unknown: Vec<usize>,
    at: [Option<usize>; Column::ALL.len()],
    pub endpoints: Endpoints,
}

/// The names of the column with the ends of lifespans that stand for the last live step.
const INCLUSIVE: [&str; 2] = ["end", "finish"];

/// Names that other programs use for columns with the lengths of lifespans.
const LENGTHS: [&str; 4] = ["width", "duration", "lifetime", "len"];

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
    Above,
    Pool,
    PoolSize,
    Pieces,
    Tier,
    Traffic,
}

impl Column {
    const ALL: [Self; 16] = [
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
        Self::Above,
        Self::Pool,
        Self::PoolSize,
        Self::Pieces,
        Self::Tier,
        Self::Traffic,
    ];

    /// Returns the column with the given name, if any.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.names().contains(&name))
    }

    /// Returns the accepted names of the column, the preferred one first.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Id => &["id", "buffer", "buffer_id"],
            Self::Lower => &["lower", "begin", "start"],
            Self::Upper => &["upper", "end", "finish"],
            Self::Size => &["size"],
            Self::Alignment => &["alignment"],
            Self::Gaps => &["gaps"],
            Self::Hint => &["hint"],
            Self::Offset => &["offset"],
            Self::Separations => &["separations"],
            Self::Exclusions => &["exclusions"],
            Self::Above => &["above"],
            Self::Pool => &["pool"],
            Self::PoolSize => &["pool_size"],
            Self::Pieces => &["pieces"],
            Self::Tier => &["tier"],
            Self::Traffic => &["traffic"],
        }
    }

    /// Returns names that other programs use for the column. The reader does not accept these names, but its
    /// error messages suggest renaming such a column.
    const fn other_words(self) -> &'static [&'static str] {
        match self {
            Self::Id => &["name", "tensor", "tensor_id", "tensor_name", "buffer_name"],
            Self::Lower => &[
                "from",
                "first",
                "first_use",
                "first_op",
                "birth",
                "alloc",
                "produced",
                "start_time",
                "x",
                "x0",
            ],
            Self::Upper => &[
                "to", "last", "last_use", "last_op", "death", "free", "until", "end_time", "stop", "x1", "x2",
            ],
            Self::Size => &["bytes", "nbytes", "length", "size_bytes", "num_bytes", "height"],
            Self::Offset => &["address", "addr", "position", "location", "y"],
            _ => &[],
        }
    }
}

impl Header {
    /// Parses the header. Ignores a byte order mark, unknown columns, and blanks around names.
    pub fn parse<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, CsvErrorKind> {
        let names: Vec<String> =
            names.map(|name| name.trim_start_matches('\u{feff}').trim().to_owned()).collect();
        if let [name] = names.as_slice()
            && let Some(separator) = name.chars().find(|one| [';', '\t', '|'].contains(one))
        {
            return Err(CsvErrorKind::Separator { header: name.clone(), separator });
        }
        let mut at: [Option<usize>; Column::ALL.len()] = [None; Column::ALL.len()];
        let mut endpoints = Endpoints::HalfOpen;
        let mut unknown = Vec::new();
        for (position, name) in names.iter().enumerate() {
            let Some(column) = Column::named(name) else {
                unknown.push(position);
                continue;
            };
            if let Some(first) = at[column as usize].replace(position) {
                return Err(CsvErrorKind::DuplicateColumn(names[first].clone(), name.clone()));
            }
            if INCLUSIVE.contains(&name.as_str()) {
                endpoints = Endpoints::Inclusive;
            }
        }
        Ok(Self { names, unknown, at, endpoints })
    }

    /// Returns the name of the column with the ends of lifespans if this name stands for the last live step.
    pub fn inclusive_end(&self) -> Option<&'static str> {
        let own = &self.names[self.position(Column::Upper)?];
        INCLUSIVE.into_iter().find(|name| name == own)
    }

    /// Checks that the header contains the given columns.
    pub fn require(&self, columns: &[Column]) -> Result<(), CsvErrorKind> {
        match columns.iter().find(|&&column| self.position(column).is_none()) {
            None => Ok(()),
            Some(column) => Err(CsvErrorKind::MissingColumn {
                missing: column.names()[0],
                hint: self.hint(*column),
                synonyms: column.names()[1..].to_vec(),
                found: self.names.join(", "),
            }),
        }
    }

    /// Returns the change of the header that probably adds a missing column, or an empty string.
    fn hint(&self, column: Column) -> String {
        let rename = |name, to: &str| format!("; rename '{name}' to {to}?");
        let ends = "'upper' (first step after the lifespan) or 'end' (last live step)";
        match (self.likely(column), self.similar(column)) {
            (None, Some(name)) if LENGTHS.contains(&name.to_lowercase().as_str()) => {
                format!("; replace the length '{name}' by 'upper', which is the start plus the length")
            }
            (None, Some(name)) if column == Column::Upper => rename(name, ends),
            (Some(name), _) | (None, Some(name)) => rename(name, &format!("'{}'", column.names()[0])),
            (None, None) => String::new(),
        }
    }

    /// Returns the known name that is most similar to the name of an unknown column, if it is similar enough.
    /// Only columns that the file lacks are considered.
    fn meant(&self, unknown: &str) -> Option<&'static str> {
        let free = Column::ALL.into_iter().filter(|&column| self.position(column).is_none());
        let names = free.flat_map(Column::names).copied();
        let far = |name: &&str| levenshtein(&unknown.to_lowercase(), name);
        names.min_by_key(far).filter(|name| is_near(unknown, name))
    }

    /// Returns the positions and names of the unknown columns.
    pub fn unknown(&self) -> impl Iterator<Item = (usize, &str)> {
        self.unknown.iter().map(|&at| (at, self.names[at].as_str()))
    }

    /// Returns the unknown column that is probably a misspelling of `column`, if any.
    pub fn likely(&self, column: Column) -> Option<String> {
        let names = self.unknown.iter().map(|&at| &self.names[at]);
        let near = names.filter(|name| column.names().iter().any(|own| is_near(name, own)));
        let far =
            |name: &&String| column.names().iter().map(|own| levenshtein(&name.to_lowercase(), own)).min();
        near.min_by_key(far).cloned()
    }

    /// Returns the unknown column whose name is often used for `column` in other programs, if any.
    fn similar(&self, column: Column) -> Option<String> {
        let lengths: &[&str] = if column == Column::Upper { &LENGTHS } else { &[] };
        let is_similar = |name: &str| column.other_words().contains(&name) || lengths.contains(&name);
        let names = self.unknown.iter().map(|&at| &self.names[at]);
        let mut similar = names.filter(|name| is_similar(&name.to_lowercase()));
        similar.next().cloned()
    }

    /// Returns the quoted names of the unknown columns, and of those columns in `others` that the file has.
    /// If an unknown name is close to a known name, a suggestion follows the unknown name.
    pub fn ignored(&self, others: &[Column]) -> Vec<String> {
        let word = |&at: &usize| {
            let name = &self.names[at];
            match self.meant(name) {
                Some(meant) => format!("'{name}' (did you mean '{meant}'?)"),
                None => format!("'{name}'"),
            }
        };
        let mut passed = self.unknown.clone();
        passed.extend(others.iter().filter_map(|&column| self.position(column)));
        passed.sort_unstable();
        passed.iter().map(word).collect()
    }

    pub fn position(&self, column: Column) -> Option<usize> {
        self.at[column as usize]
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the column name as written in the file, or the preferred name if the file lacks the column.
    pub fn written(&self, column: Column) -> &str {
        self.position(column).map_or(column.names()[0], |at| &self.names[at])
    }
}

/// Columns that occur only in answers.
pub(super) const ANSWER_COLUMNS: [Column; 5] =
    [Column::Pool, Column::PoolSize, Column::Pieces, Column::Tier, Column::Traffic];
