//! Failures of external programs, reported while the other runs continue.

use crate::output;
use indicatif::ProgressBar;
use plimsoll_lab::record::Record;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The external programs whose first failure has already been reported.
#[derive(Default)]
pub struct FirstFailures(Mutex<BTreeSet<String>>);

impl FirstFailures {
    /// If the row is the first failure of its external program, reports the error on standard error.
    pub fn report(&self, row: &Record, bar: &ProgressBar) {
        let is_failed = matches!(row.status.as_str(), "failed" | "crashed" | "killed");
        if row.kind != "external" || !is_failed {
            return;
        }
        let is_first = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(row.algorithm.clone());
        if is_first {
            let Record { algorithm, instance, error, .. } = row;
            bar.suspend(|| output::complain(&format!("{algorithm} failed on {instance}: {error}")));
        }
    }
}
