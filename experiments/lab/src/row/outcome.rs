//! Stores the results of a run of a built-in algorithm in a row.

use super::{Measured, Row, Status, Unit};
use crate::machine::timestamp;
use plimsoll::posed::{Answer, Fault, Posed, Unanswered};
use plimsoll_model::{Problem, Value};
use plimsoll_support::files::write_atomically;
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the time to the best answer in the column `phases`.
const TO_BEST: &str = "to-best";

/// Returns the total time of each phase. A phase may occur several times.
fn summed(phases: &[(String, f64)]) -> BTreeMap<String, f64> {
    let mut times = BTreeMap::new();
    for (name, seconds) in phases {
        *times.entry(name.clone()).or_insert(0.0) += seconds;
    }
    times
}

impl From<Fault> for Status {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unsupported => Self::Skipped,
            Fault::Rejected => Self::Refused,
            Fault::Internal => Self::Failed,
        }
    }
}

impl Row {
    /// Sets the results of a run of an algorithm.
    #[must_use]
    pub fn answered<P: Problem>(self, run: Measured, result: &Result<Answer<P>, Unanswered>) -> Self {
        let answered = match result {
            Ok(answer) => self.done::<P>(answer),
            Err(reason) => self.without(reason.fault().into(), &reason.to_string()),
        };
        Self {
            problem: P::NAME.to_owned(),
            unit: Unit::of::<P::Value>(),
            seconds: Some(run.seconds),
            own_seconds: Some(run.seconds),
            peak_memory_bytes: run.peak_memory,
            timestamp: timestamp(),
            ..answered
        }
    }

    /// Sets the answer of a completed run.
    fn done<P: Problem>(self, answer: &Answer<P>) -> Self {
        let stats = &answer.stats;
        let answered = Self {
            status: Status::Done,
            claim: Some(answer.claim),
            stop: Some(answer.stop),
            value: answer.value.map(Value::number),
            error: answer.remark.clone(),
            phases: summed(&stats.phases),
            counters: stats.counters.clone(),
            nodes: Some(stats.nodes),
            ..self
        };
        match &answer.proof {
            None => answered,
            Some(proof) => Self {
                lower_bound: Some(proof.bound.number()),
                witness: Some(proof.witness.clone()),
                arithmetic: Some(proof.arithmetic),
                ..answered
            },
        }
    }

    /// Returns the value of the counter of this name.
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.counters.get(name).copied()
    }

    /// Stores the time to the best answer, in seconds. The stored time never exceeds the time of the run.
    #[must_use]
    pub fn with_time_to_best(mut self, seconds: Option<f64>) -> Self {
        if let Some(seconds) = seconds.map(|seconds| seconds.min(self.seconds.unwrap_or(seconds))) {
            self.phases.insert(TO_BEST.to_owned(), seconds);
        }
        self
    }

    /// Returns the time until the run found its value, in seconds. Returns `None` if the run found no
    /// value, or if the time was not stored.
    pub fn time_to_best(&self) -> Option<f64> {
        self.phases.get(TO_BEST).copied()
    }

    /// Writes the solution to a file below `folder` that is named for the run, see [`Self::keeping_as`].
    #[must_use]
    pub fn keeping<P: Posed>(
        self,
        question: &P::Question<'_>,
        solution: Option<&P::Solution>,
        folder: &Path,
    ) -> Self {
        let name = self.run.to_string();
        match solution {
            Some(solution) => self.keeping_as::<P>(question, solution, folder, &name),
            None => self,
        }
    }

    /// Writes the solution to the file `layouts/NAME.csv` below `folder`, and sets the column `layout` to its
    /// path. If the file cannot be written, the column `error` contains the reason.
    #[must_use]
    pub fn keeping_as<P: Posed>(
        self,
        question: &P::Question<'_>,
        solution: &P::Solution,
        folder: &Path,
        name: &str,
    ) -> Self {
        let mut rows = Vec::new();
        if !P::written(question, solution, &mut rows).unwrap_or_default() {
            return self;
        }
        let layout = super::layout_of(name);
        let path = folder.join(&layout);
        match write_atomically(&path, |file| file.write_all(&rows)) {
            Ok(()) => Self { layout, ..self },
            Err(error) => Self { error: format!("{}: {error}", path.display()), ..self },
        }
    }
}
