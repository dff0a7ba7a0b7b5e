//! Failures of external programs, reported while the other runs continue, and the process that ends external
//! programs.

use crate::command::{Command, Main, Task};
use crate::failure::ANSWERED;
use crate::output;
use crate::signals::First;
use clap::Args;
use indicatif::ProgressBar;
use plimsoll_lab::external::reaper;
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

/// No arguments.
#[derive(Args, Debug)]
pub struct ReaperArgs {}

impl Command for ReaperArgs {
    const NAME: &str = "reaper";
    const ABOUT: &str = "Kill the external programs that a terminated process has left running";
    const TASK: Task = Task::Internal;
    const EXAMPLES: &[(&str, &str)] = &[];
    const SIGNAL: Option<First> = None;
    const MAIN: Main<Self> = |_, _| {
        reaper::serve(std::io::stdin());
        Ok(ANSWERED)
    };
}
