//! An answer compared with a capacity.

use crate::report::{Report, bytes};
use plimsoll::model::Bytes;
use serde_json::{Value, json};

/// An answer, and a lower bound on all answers, compared with a capacity.
#[derive(Clone, Copy)]
pub struct Fit {
    pub capacity: Bytes,
    /// Bytes that the answer needs; `None` without an answer.
    pub value: Option<Bytes>,
    pub bound: Bytes,
}

impl Fit {
    /// Returns the bytes of the capacity that the answer does not need, if the answer fits.
    pub fn spare(self) -> Option<Bytes> {
        Some(Bytes::new(self.capacity.get().checked_sub(self.value?.get())?))
    }

    /// Returns the shortfall of the bound: every answer exceeds the capacity by at least this many bytes.
    pub fn least(self) -> Bytes {
        self.over(self.bound)
    }

    /// Returns the shortfall of the answer.
    pub fn most(self) -> Option<Bytes> {
        self.value.map(|value| self.over(value))
    }

    fn over(self, value: Bytes) -> Bytes {
        Bytes::new(value.get().saturating_sub(self.capacity.get()))
    }

    /// Returns the members of a JSON report. `fits` is null if neither the answer nor the bound decides
    /// whether the capacity suffices.
    pub fn members(self) -> Value {
        let is_refuted = self.bound > self.capacity;
        json!({
            "capacity": self.capacity,
            "fits": if self.spare().is_some() { json!(true) } else if is_refuted { json!(false) } else { Value::Null },
            "shortfall_min": self.least(),
            "shortfall_max": self.most(),
        })
    }

    /// Adds the members and the line `capacity`. If the answer fits, the line contains the text `fits` and
    /// the spare bytes. Otherwise, it contains the text `short`, which describes the shortfall.
    pub fn report(self, report: &mut Report, fits: &str, short: &str) {
        report.extend(self.members());
        let capacity = bytes(self.capacity);
        match self.spare() {
            Some(spare) => {
                report.line("capacity", format_args!("{capacity}: {fits}, {} to spare", bytes(spare)));
            }
            None => report.line("capacity", format_args!("{capacity}: {short}")),
        }
    }
}
