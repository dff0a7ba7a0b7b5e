//! Stores the results of a run of a built-in algorithm in a record.

use super::Record;
use crate::machine::timestamp;
use plimsoll::posed::{Answer, Answered, Posed, Unanswered};
use plimsoll_model::files::write_atomically;
use plimsoll_model::{Problem, Value};
use std::fmt::Write as _;
use std::path::Path;

/// The name of the time to the best answer in the column `phases`.
const TO_BEST: &str = "to-best";

/// Returns the value for `name` in a string of space-separated words of the form `name=value`.
fn word<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut words = text.split(' ').filter_map(|word| word.split_once('='));
    words.find(|(own, _)| *own == name).map(|(_, value)| value)
}

impl Record {
    /// Sets the results of a run of an algorithm.
    #[must_use]
    pub fn answered<P: Problem>(self, run: &Answered<P>) -> Self {
        let answered = match &run.result {
            Ok(answer) => self.done::<P>(answer),
            Err(Unanswered::Declined(why)) => self.without("skipped", why),
            Err(Unanswered::Refused(why)) => {
                Self { verdict: "refused".to_owned(), ..self.without("refused", why) }
            }
            Err(Unanswered::Failed(why)) => self.without("failed", why),
        };
        Self {
            problem: P::NAME.to_owned(),
            unit: P::Value::UNIT.to_owned(),
            seconds: Some(run.seconds),
            own_seconds: Some(run.seconds),
            peak_memory_bytes: run.peak_memory,
            timestamp: timestamp(),
            ..answered
        }
    }

    /// Sets the answer of a completed run.
    fn done<P: Problem>(self, answer: &Answer<P>) -> Self {
        let joined = |words: Vec<String>| words.join(" ");
        let stats = &answer.stats;
        let answered = Self {
            status: "done".to_owned(),
            claim: answer.claim.as_str().to_owned(),
            stop: answer.stop.as_str().to_owned(),
            value: answer.value.map(Value::number),
            verdict: if answer.value.is_some() { "valid" } else { "" }.to_owned(),
            error: answer.remark.clone(),
            phases: joined(stats.phases.iter().map(|(name, time)| format!("{name}={time:.6}")).collect()),
            counters: joined(
                stats.counters.iter().map(|(name, number)| format!("{name}={number}")).collect(),
            ),
            nodes: Some(stats.nodes),
            ..self
        };
        match &answer.proof {
            None => answered,
            Some(proof) => Self {
                lower_bound: Some(proof.bound.number()),
                bound_witness: proof.reason.clone(),
                arithmetic: proof.arithmetic.as_str().to_owned(),
                ..answered
            },
        }
    }

    /// Returns the value of the counter of this name.
    pub fn counter(&self, name: &str) -> Option<u64> {
        word(&self.counters, name)?.parse().ok()
    }

    /// Stores the time to the best answer, in seconds. The stored time never exceeds the time of the run.
    #[must_use]
    pub fn with_time_to_best(mut self, seconds: Option<f64>) -> Self {
        if let Some(seconds) = seconds.map(|seconds| seconds.min(self.seconds.unwrap_or(seconds))) {
            let blank = if self.phases.is_empty() { "" } else { " " };
            let _ = write!(self.phases, "{blank}{TO_BEST}={seconds:.9}");
        }
        self
    }

    /// Returns the time until the run found its value, in seconds. Returns `None` if the run found no
    /// value, or if the time was not stored.
    pub fn time_to_best(&self) -> Option<f64> {
        word(&self.phases, TO_BEST)?.parse().ok()
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
