//! Values of a sweep that may be one or several.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::time::Duration;

/// Most numbers that a range may stand for.
const MOST: u64 = 10_000_000;

/// A whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole(pub u64);

/// Whole numbers: one, a list, or a range without its end, `"0..10"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbers(pub Vec<u64>);

/// Seconds from 0 on: one number or a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seconds(pub Vec<Duration>);

/// Words: one or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words(pub Vec<String>);

/// A capacity to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Capacity {
    /// The one the instance came with.
    File,
    /// The load.
    Load,
    /// This, bytes.
    Bytes(u64),
}

fn whole<E: Error>(value: i64) -> Result<u64, E> {
    u64::try_from(value).map_err(|_| E::custom(format!("{value} is not a whole number from 0 on")))
}

fn duration<E: Error>(value: f64) -> Result<Duration, E> {
    let wrong = || E::custom(format!("{value} is not a number of seconds from 0 on"));
    if value.is_nan() || value < 0.0 {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(value).map_err(|_| wrong())
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Own;
        impl Visitor<'_> for Own {
            type Value = Whole;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 0 on")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Whole, E> {
                whole(value).map(Whole)
            }
        }
        deserializer.deserialize_any(Own)
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Own;
        impl<'de> Visitor<'de> for Own {
            type Value = Numbers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 0 on, a list of them, or a range such as \"0..10\"")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Numbers, E> {
                Ok(Numbers(vec![whole(value)?]))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Numbers, E> {
                let ends = text.split_once("..").map(|(from, to)| (from.trim().parse(), to.trim().parse()));
                let Some((Ok(from), Ok(to))) = ends else {
                    return Err(E::custom(format!("'{text}' is no range such as \"0..10\"")));
                };
                let (from, to): (u64, u64) = (from, to);
                match to.checked_sub(from) {
                    None | Some(0) => Err(E::custom(format!("the range '{text}' is empty"))),
                    Some(long) if long > MOST => {
                        Err(E::custom(format!("the range '{text}' holds more than {MOST} numbers")))
                    }
                    Some(_) => Ok(Numbers((from..to).collect())),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
                let mut numbers = Vec::new();
                while let Some(Whole(value)) = list.next_element()? {
                    numbers.push(value);
                }
                non_empty(numbers).map(Numbers)
            }
        }
        deserializer.deserialize_any(Own)
    }
}

fn non_empty<T, E: Error>(list: Vec<T>) -> Result<Vec<T>, E> {
    if list.is_empty() { Err(E::custom("the list is empty")) } else { Ok(list) }
}

/// A number of seconds inside a list.
struct Second(Duration);

impl<'de> Deserialize<'de> for Second {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = Seconds::deserialize(deserializer)?;
        match seconds.0.as_slice() {
            [one] => Ok(Self(*one)),
            _ => Err(D::Error::custom("a list inside of a list of seconds")),
        }
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Own;
        impl<'de> Visitor<'de> for Own {
            type Value = Seconds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of seconds from 0 on, or a list of them")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Seconds, E> {
                Ok(Seconds(vec![Duration::from_secs(whole(value)?)]))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Seconds, E> {
                Ok(Seconds(vec![duration(value)?]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Seconds, A::Error> {
                let mut seconds = Vec::new();
                while let Some(Second(value)) = list.next_element()? {
                    seconds.push(value);
                }
                non_empty(seconds).map(Seconds)
            }
        }
        deserializer.deserialize_any(Own)
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Own;
        impl<'de> Visitor<'de> for Own {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word in quotes, or a list of them")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Words, E> {
                Ok(Words(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Words, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = list.next_element::<String>()? {
                    words.push(word);
                }
                non_empty(words).map(Words)
            }
        }
        deserializer.deserialize_any(Own)
    }
}

impl<'de> Deserialize<'de> for Capacity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Own;
        impl Visitor<'_> for Own {
            type Value = Capacity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"file\", \"load\", or a number of bytes")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Capacity, E> {
                whole(value).map(Capacity::Bytes)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Capacity, E> {
                match text {
                    "file" => Ok(Capacity::File),
                    "load" => Ok(Capacity::Load),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Own)
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("file"),
            Self::Load => f.write_str("load"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
        }
    }
}
