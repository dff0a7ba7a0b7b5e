//! Terms: the `KEY=VALUE` settings of a question, such as `machine=luna`.

use plimsoll_model::Bytes;
use plimsoll_model::graph::{Boundary, LivenessOptions};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// The terms of a question by key. In files and arguments they are written as `KEY=VALUE`, separated by
/// spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Terms(BTreeMap<String, String>);

/// An invalid term.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    /// A word that is not of the form `KEY=VALUE`.
    #[error("'{0}': expected KEY=VALUE, as in machine=luna")]
    Word(String),
    /// A key that is given twice.
    #[error("term '{0}' is given twice")]
    Twice(String),
    /// A value that its key does not accept.
    #[error("term {key}={value}: {why}")]
    Value {
        /// The key with the invalid value.
        key: &'static str,
        /// The invalid value.
        value: String,
        /// What is wrong, and what is allowed.
        why: String,
    },
    /// A key that is not a term of any of the problems.
    #[error("unknown term '{key}' for {problems}; expected {known}")]
    Unknown {
        /// The unknown key.
        key: String,
        /// Names of the problems.
        problems: String,
        /// The keys of these problems.
        known: String,
    },
}

impl FromStr for Terms {
    type Err = TermError;

    fn from_str(text: &str) -> Result<Self, TermError> {
        let mut terms = BTreeMap::new();
        for word in text.split_whitespace() {
            let pair = word.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
            let (key, value) = pair.ok_or_else(|| TermError::Word(word.to_owned()))?;
            if terms.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(TermError::Twice(key.to_owned()));
            }
        }
        Ok(Self(terms))
    }
}

impl TryFrom<String> for Terms {
    type Error = TermError;

    fn try_from(text: String) -> Result<Self, TermError> {
        text.parse()
    }
}

impl From<Terms> for String {
    fn from(terms: Terms) -> Self {
        terms.to_string()
    }
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        f.write_str(&words.join(" "))
    }
}

impl Terms {
    /// Returns terms with a single key.
    pub fn one(key: &str, value: impl fmt::Display) -> Self {
        Self(BTreeMap::from([(key.to_owned(), value.to_string())]))
    }

    /// Returns true if there are no terms.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the terms of a list of keys. A key that is not given has its default value, or is omitted if
    /// the default is empty.
    #[must_use]
    pub(super) fn among(&self, keys: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        let own = |(key, default): (&'static str, &'static str)| {
            let value = self.get(key).or((!default.is_empty()).then_some(default))?;
            Some((key.to_owned(), value.to_owned()))
        };
        Self(keys.into_iter().filter_map(own).collect())
    }

    /// Rejects a key that is not among `keys`, which are the keys of `problems`.
    pub(super) fn known(&self, keys: &BTreeSet<&str>, problems: &[&str]) -> Result<(), TermError> {
        let Some(key) = self.0.keys().find(|key| !keys.contains(key.as_str())) else { return Ok(()) };
        let known: Vec<&str> = keys.iter().copied().collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(TermError::Unknown { key: key.clone(), problems: problems.join(", "), known })
    }

    /// Rejects a key that has no meaning for a problem.
    pub(super) fn refuse(&self, key: &'static str, why: &str) -> Result<(), TermError> {
        self.read(key, |_| Err::<(), _>(why.to_owned())).map(drop)
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Parses the value of a key with `read`, which returns a message if the value is invalid.
    pub(super) fn read<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, TermError> {
        let wrong = |value: &str, why| TermError::Value { key, value: value.to_owned(), why };
        self.get(key).map(|value| read(value).map_err(|why| wrong(value, why))).transpose()
    }

    /// Parses the value of a key as one of the given keywords; the first one is the default.
    pub(super) fn one_of<T: Copy>(&self, key: &'static str, words: &[(&str, T)]) -> Result<T, TermError> {
        let named = |value: &str| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let found = words.iter().find(|(word, _)| *word == value);
            found.map(|(_, meant)| *meant).ok_or_else(|| format!("expected {}", known.join(", ")))
        };
        Ok(self.read(key, named)?.unwrap_or(words[0].1))
    }

    fn flag(&self, key: &'static str) -> Result<bool, TermError> {
        self.one_of(key, &[("no", false), ("yes", true)])
    }

    /// Parses the options of the liveness analysis.
    pub(super) fn liveness(&self) -> Result<LivenessOptions, TermError> {
        let bytes = |text: &str| {
            let number = text.parse().ok().filter(|&number: &u64| number > 0);
            number.map(Bytes::new).ok_or_else(|| "expected a number of bytes, at least 1".to_owned())
        };
        let default = LivenessOptions::default();
        Ok(LivenessOptions {
            boundary: self.one_of("boundary", BOUNDARIES)?,
            weights: self.flag("weights")?,
            states: !self.flag("no-states")?,
            views: !self.flag("no-views")?,
            in_place: self.flag("in-place")?,
            align: self.read("align", bytes)?.unwrap_or(default.align),
            ..default
        })
    }
}

/// The keys of the liveness options.
pub(super) const LIVENESS: [&str; 6] = ["boundary", "weights", "no-states", "no-views", "in-place", "align"];

/// Returns the keys of the terms under which a graph becomes an instance, with their default values.
pub(super) fn instance_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIVENESS.iter().map(|key| (*key, "")).chain([("order", "as-in-file")])
}

const BOUNDARIES: &[(&str, Boundary)] = &[
    ("arena", Boundary::Arena),
    ("held", Boundary::Held),
    ("persistent", Boundary::Persistent),
    ("outside", Boundary::Outside),
];
