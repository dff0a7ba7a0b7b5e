//! Failures of external programs, reported while the other runs continue.

use crate::output;
use indicatif::ProgressBar;
use plimsoll_lab::row::Row;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The external programs whose first failure has already been reported.
#[derive(Default)]
pub struct FirstFailures(Mutex<BTreeSet<String>>);

impl FirstFailures {
    /// If the row is the first failure of its external program, reports the error on standard error.
    pub fn report(&self, row: &Row, bar: &ProgressBar) {
        if !row.is_external() || !row.status.is_broken() {
            return;
        }
        let is_first = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(row.algorithm.clone());
        if is_first {
            let Row { algorithm, instance, error, .. } = row;
            bar.suspend(|| output::complain(&format!("{algorithm} failed on {instance}: {error}")));
        }
    }
}
