//! An answer compared with a capacity.

use crate::report::{Text, bytes};
use plimsoll::model::Bytes;
use serde::Serialize;

/// An answer, and a lower bound on all answers, compared with a capacity.
#[derive(Clone, Copy, Serialize)]
pub struct Fit {
    /// `None` if neither the answer nor the bound decides whether the capacity suffices.
    fits: Option<bool>,
    /// Every answer exceeds the capacity by at least this many bytes; `None` if no answer exists.
    pub shortfall_min: Option<Bytes>,
    /// Bytes by which the answer exceeds the capacity; `None` without an answer.
    pub shortfall_max: Option<Bytes>,
    #[serde(skip)]
    capacity: Bytes,
    /// The bytes of the capacity that the answer does not need, if the answer fits.
    #[serde(skip)]
    pub spare: Option<Bytes>,
}

impl Fit {
    /// Compares an answer of `value` bytes and the bound with a capacity. There is no bound if no answer
    /// exists.
    pub fn new(capacity: Bytes, value: Option<Bytes>, bound: Option<Bytes>) -> Self {
        let over = |value: Bytes| Bytes::new(value.get().saturating_sub(capacity.get()));
        let spare = value.and_then(|value| Some(Bytes::new(capacity.get().checked_sub(value.get())?)));
        let is_refuted = bound.is_none_or(|bound| bound > capacity);
        let fits = if spare.is_some() { Some(true) } else { is_refuted.then_some(false) };
        Self { fits, shortfall_min: bound.map(over), shortfall_max: value.map(over), capacity, spare }
    }

    /// Adds the line `capacity`. If the answer fits, the line contains the text `fits` and the spare bytes.
    /// Otherwise, it contains the text `short`, which describes the shortfall.
    pub fn print(self, text: &mut Text, fits: &str, short: &str) {
        let capacity = bytes(self.capacity);
        match self.spare {
            Some(spare) => {
                text.line("capacity", format_args!("{capacity}: {fits}, {} to spare", bytes(spare)));
            }
            None => text.line("capacity", format_args!("{capacity}: {short}")),
        }
    }
}
