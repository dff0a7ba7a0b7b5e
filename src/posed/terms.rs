//! What defines a question beside its subject: words such as `machine=luna`.

use plimsoll_model::Bytes;
use plimsoll_model::graph::{Boundary, LivenessOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// Terms of a question by key. In files and arguments they are words `KEY=VALUE`, separated by blanks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms(BTreeMap<String, String>);

/// A term that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    /// No word of the form `KEY=VALUE`.
    #[error("'{0}': expected KEY=VALUE, as in machine=luna")]
    Word(String),
    /// A key given twice.
    #[error("term '{0}' is given twice")]
    Twice(String),
    /// A value that its key does not take.
    #[error("term {key}={value}: {why}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// What is wrong.
        why: String,
    },
    /// A key that no problem at hand knows.
    #[error("term '{key}' is unknown to {problems}; known: {known}")]
    Unknown {
        /// The key.
        key: String,
        /// The problems.
        problems: String,
        /// Their keys.
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

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        f.write_str(&words.join(" "))
    }
}

impl Terms {
    /// Those of a list of keys, with the value that holds where nothing is said.
    #[must_use]
    pub(super) fn among(&self, keys: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        let own = |(key, default): (&'static str, &'static str)| {
            let value = self.get(key).or((!default.is_empty()).then_some(default))?;
            Some((key.to_owned(), value.to_owned()))
        };
        Self(keys.into_iter().filter_map(own).collect())
    }

    /// Refuses a key that is none of these, which are those of some problems.
    pub(super) fn known(&self, keys: &BTreeSet<&str>, problems: &[&str]) -> Result<(), TermError> {
        let Some(key) = self.0.keys().find(|key| !keys.contains(key.as_str())) else { return Ok(()) };
        let known: Vec<&str> = keys.iter().copied().collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(TermError::Unknown { key: key.clone(), problems: problems.join(", "), known })
    }

    /// Refuses a key that means nothing to a problem.
    pub(super) fn refuse(&self, key: &'static str, why: &str) -> Result<(), TermError> {
        self.read(key, |_| Err::<(), _>(why.to_owned())).map(drop)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The value of a key as `read` reads it; its message says what is wrong.
    pub(super) fn read<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, TermError> {
        let wrong = |value: &str, why| TermError::Value { key, value: value.to_owned(), why };
        self.get(key).map(|value| read(value).map_err(|why| wrong(value, why))).transpose()
    }

    /// The value of a key as one of some words; the first where nothing is said.
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

    /// What liveness assumes.
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
        })
    }
}

/// Keys of what liveness assumes.
pub(super) const LIVENESS: [&str; 6] = ["boundary", "weights", "no-states", "no-views", "in-place", "align"];

const BOUNDARIES: &[(&str, Boundary)] = &[
    ("arena", Boundary::Arena),
    ("held", Boundary::Held),
    ("persistent", Boundary::Persistent),
    ("outside", Boundary::Outside),
];
