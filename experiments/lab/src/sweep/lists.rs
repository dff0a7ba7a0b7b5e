//! Parses the values in a sweep file. Most keys accept a single value or a list of values.

use crate::row::Decide;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use toml::Value;

/// Maximum length of a range.
const MOST: u64 = 10_000_000;

/// A whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Whole(pub u64);

/// One whole number, a list of whole numbers, or a range such as `"0..10"`, which excludes its end.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Numbers(pub Vec<u64>);

/// One non-negative number of seconds, or a list of such numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Seconds(pub Vec<Duration>);

/// One name, or a list of names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Words(pub Vec<String>);

/// A capacity to decide.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Capacity(pub Decide);

fn expected<T>(value: &Value, what: &str) -> Result<T, String> {
    let found = match value {
        Value::String(text) => format!("{text:?}"),
        Value::Integer(number) => format!("`{number}`"),
        Value::Float(number) => format!("`{number}`"),
        other => other.type_str().to_owned(),
    };
    Err(format!("invalid value {found}, expected {what}"))
}

fn whole(value: &Value) -> Result<u64, String> {
    match value {
        Value::Integer(number) => {
            u64::try_from(*number).map_err(|_| format!("{number} is not a non-negative whole number"))
        }
        _ => expected(value, "a non-negative whole number"),
    }
}

fn seconds(value: &Value) -> Result<Duration, String> {
    match value {
        Value::Float(number) => Duration::try_from_secs_f64(*number)
            .map_err(|_| format!("{number} is not a non-negative number of seconds")),
        Value::Integer(_) => whole(value).map(Duration::from_secs),
        _ => expected(value, "a non-negative number of seconds"),
    }
}

fn word(value: &Value) -> Result<String, String> {
    value
        .as_str()
        .map_or_else(|| expected(value, "a quoted string, or a list of them"), |text| Ok(text.to_owned()))
}

/// Reads one value or a list of values.
fn several<T>(value: &Value, read: fn(&Value) -> Result<T, String>) -> Result<Vec<T>, String> {
    match value {
        Value::Array(list) if list.is_empty() => Err("the list is empty".to_owned()),
        Value::Array(list) => list.iter().map(read).collect(),
        _ => read(value).map(|one| vec![one]),
    }
}

fn range(text: &str) -> Result<Vec<u64>, String> {
    let ends = text.split_once("..").map(|(from, to)| (from.trim().parse::<u64>(), to.trim().parse::<u64>()));
    let Some((Ok(from), Ok(to))) = ends else {
        return Err(format!("'{text}' is not a range such as \"0..10\""));
    };
    match to.checked_sub(from) {
        None | Some(0) => Err(format!("the range '{text}' is empty")),
        Some(long) if long > MOST => Err(format!("the range '{text}' contains more than {MOST} numbers")),
        Some(_) => Ok((from..to).collect()),
    }
}

impl TryFrom<Value> for Whole {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        whole(&value).map(Self)
    }
}

impl TryFrom<Value> for Numbers {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match &value {
            Value::String(text) => range(text),
            Value::Integer(_) | Value::Array(_) => several(&value, whole),
            _ => {
                expected(&value, "a non-negative whole number, a list of them, or a range such as \"0..10\"")
            }
        }
        .map(Self)
    }
}

impl TryFrom<Value> for Seconds {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        several(&value, seconds).map(Self)
    }
}

impl TryFrom<Value> for Words {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        several(&value, word).map(Self)
    }
}

impl TryFrom<Value> for Capacity {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value.as_str() {
            Some("file") => Ok(Self(Decide::File)),
            Some("load") => Ok(Self(Decide::Load)),
            None if value.is_integer() => whole(&value).map(|bytes| Self(Decide::Bytes(bytes))),
            _ => expected(&value, "\"file\", \"load\", or a number of bytes"),
        }
    }
}

/// Returns all combinations of one value per parameter. The last parameter varies fastest.
pub(super) fn products(params: &BTreeMap<String, Numbers>) -> Vec<BTreeMap<String, u64>> {
    let mut all = vec![BTreeMap::new()];
    for (name, values) in params {
        let with = |chosen: &BTreeMap<String, u64>, value: u64| {
            let mut more = chosen.clone();
            more.insert(name.clone(), value);
            more
        };
        all = all.iter().flat_map(|chosen| values.0.iter().map(move |&value| with(chosen, value))).collect();
    }
    all
}
