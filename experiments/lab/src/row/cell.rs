//! The text of one cell of `rows.csv`.

use super::{AlgorithmKind, Certified, Claimed, Decide, Event, Evidence, Status, Unit};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::posed::Terms;
use plimsoll_model::{Claim, Stop, WitnessSummary};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// A value that a cell can hold. Reading the text of a value yields the value.
pub(super) trait Cell: Sized {
    /// Returns the text of the cell.
    fn text(&self) -> String;

    /// Reads the text of a cell, or returns what was expected.
    fn read(text: &str) -> Result<Self, String>;
}

macro_rules! cells {
    ($($kind:ty: $expected:literal),* $(,)?) => {$(
        impl Cell for $kind {
            fn text(&self) -> String {
                self.to_string()
            }

            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| format!("expected {}", $expected))
            }
        }
    )*};
}

cells! {
    f64: "a number",
    WitnessSummary: "a JSON object",
}

macro_rules! cells_of_whole_numbers {
    ($($kind:ty),*) => {$(
        impl Cell for $kind {
            fn text(&self) -> String {
                self.to_string()
            }

            /// Data frames write a column of whole numbers with missing values as `9.0`.
            fn read(text: &str) -> Result<Self, String> {
                let digits = text.strip_suffix(".0").unwrap_or(text);
                digits.parse().map_err(|_| "expected a whole number".to_owned())
            }
        }
    )*};
}

cells_of_whole_numbers!(u32, u64, usize);

impl Cell for bool {
    fn text(&self) -> String {
        self.to_string()
    }

    /// Data frames write `True`, and spreadsheets write `TRUE`.
    fn read(text: &str) -> Result<Self, String> {
        text.to_ascii_lowercase().parse().map_err(|_| "expected true or false".to_owned())
    }
}

macro_rules! cells_of_words {
    ($($kind:ty),* $(,)?) => {$(
        impl Cell for $kind {
            fn text(&self) -> String {
                self.to_string()
            }

            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error| format!("{error}"))
            }
        }
    )*};
}

cells_of_words!(
    AlgorithmKind,
    Arithmetic,
    Certified,
    Claim,
    Claimed,
    Decide,
    Event,
    Evidence,
    Status,
    Stop,
    Terms,
    Unit
);

impl Cell for String {
    /// Line breaks and NUL characters become spaces, so that every row is one line.
    fn text(&self) -> String {
        self.replace(['\n', '\r', '\0'], " ")
    }

    fn read(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl<T: Cell> Cell for Option<T> {
    fn text(&self) -> String {
        self.as_ref().map_or_else(String::new, T::text)
    }

    fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(None) } else { T::read(text).map(Some) }
    }
}

/// The elements, separated by spaces.
impl<T: Cell> Cell for Vec<T> {
    fn text(&self) -> String {
        self.iter().map(T::text).collect::<Vec<_>>().join(" ")
    }

    fn read(text: &str) -> Result<Self, String> {
        text.split_whitespace().map(T::read).collect()
    }
}

/// A JSON object, or nothing if there are no entries. The names of counters may contain spaces.
impl<T: Serialize + DeserializeOwned> Cell for BTreeMap<String, T> {
    fn text(&self) -> String {
        if self.is_empty() { String::new() } else { serde_json::to_string(self).unwrap_or_default() }
    }

    fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::new());
        }
        serde_json::from_str(text).map_err(|_| "expected a JSON object of numbers".to_owned())
    }
}
