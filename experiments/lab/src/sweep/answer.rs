//! What became of one run, as it is said in rows: by whoever ran it, or by whoever waited in vain.

use super::trace::words;
use crate::external::ExternalAttempt;
use crate::external::judge::{Whose, judge};
use crate::report::rows::Row;
use crate::report::trace::{Recorder, TraceRow, of_process};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::graphs::{GraphRunError, OrderedRegion};
use plimsoll::plan::Plan;
use plimsoll::run::{Attempt, RunError};
use plimsoll_model::files::write_atomically;
use plimsoll_model::{Claim, Instance, Offsets, Orders, Outcome, Problem, SolveError, Value};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What became of one run; the fields of the same names of a [`Row`] and of a
/// [`SweepRow`](super::rows::SweepRow).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// How it went.
    pub status: String,
    /// What is proved.
    pub claim: String,
    /// Why it ended.
    pub stop: String,
    /// Peak or total, bytes.
    pub peak: Option<u64>,
    /// Lower bound, bytes.
    pub lower_bound: Option<u64>,
    /// Why the bound holds.
    pub bound_witness: String,
    /// In which arithmetic it was proved.
    pub arithmetic: String,
    /// The checker's word.
    pub verdict: String,
    /// Seconds.
    pub seconds: Option<f64>,
    /// Seconds per phase.
    pub phases: String,
    /// Counters.
    pub counters: String,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Highest resident memory, bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Resident memory before, bytes.
    pub resident_bytes: Option<u64>,
    /// What went wrong.
    pub error: String,
    /// What an external binary claims.
    pub claimed: String,
    /// Lower bound that an external binary claims, bytes.
    pub claimed_bound: Option<u64>,
    /// When what got better.
    pub trace: String,
    /// Whether its layout was kept where it was to be.
    pub kept: bool,
}

impl Answer {
    /// A run that has no answer.
    pub fn without(status: &str, error: &(impl ToString + ?Sized)) -> Self {
        Self { status: status.to_owned(), error: error.to_string(), ..Self::default() }
    }

    /// What an algorithm did with an input.
    pub fn of<P: Problem>(input: &P::Input, attempt: &Attempt<P>) -> Self {
        let answer = match &attempt.result {
            Ok(outcome) => Self::done::<P>(input, outcome),
            Err(error) => {
                let (status, verdict) = word(error);
                Self { verdict: verdict.to_owned(), ..Self::without(status, error) }
            }
        };
        Self { seconds: Some(attempt.seconds), peak_memory_bytes: attempt.peak_memory, ..answer }
    }

    /// What an algorithm for orders did to the regions of a graph: value, bound and claim are those of the body, the last;
    /// seconds and nodes are sums. A bound of the body counts what the regions inside it need as they are ordered: it holds for
    /// the graph only where those orders are proved to be the best, and is left out elsewhere.
    pub fn of_orders(result: &Result<Vec<OrderedRegion>, GraphRunError>, seconds: f64) -> Self {
        let answer = match result {
            Ok(regions) => regions.split_last().map_or_else(Self::default, |(body, inner)| {
                let nodes = regions.iter().map(|region| region.outcome.stats.nodes).sum();
                // The bound of the body counts on those of the regions inside it.
                let each = regions.iter().map(|one| Arithmetic::of(&one.outcome.lower_bound.witness));
                let arithmetic = each.max().unwrap_or_default().as_str().to_owned();
                let done = Self::done::<Orders>(&body.storages.problem, &body.outcome);
                let mut answer = Self { nodes: Some(nodes), phases: String::new(), arithmetic, ..done };
                if inner.iter().any(|region| region.outcome.claim != Claim::Optimal) {
                    answer.lower_bound = None;
                    answer.bound_witness.clear();
                    answer.arithmetic.clear();
                    if answer.peak.is_some() {
                        Claim::Feasible.as_str().clone_into(&mut answer.claim);
                    }
                }
                answer
            }),
            Err(error) => {
                let (status, verdict) = match error {
                    GraphRunError::Races { .. } => ("refused", "refused"),
                    GraphRunError::Problem { .. } | GraphRunError::Structure { .. } => ("skipped", ""),
                    GraphRunError::Nothing { .. } => ("done", ""),
                    GraphRunError::Run { source, .. } => word(source),
                };
                // As of an instance for which nothing was found within the limits.
                let claim = if status == "done" { Claim::Unknown.as_str() } else { "" }.to_owned();
                Self { verdict: verdict.to_owned(), claim, ..Self::without(status, error) }
            }
        };
        Self { seconds: Some(seconds), ..answer }
    }

    /// What an external binary left, seen through the checker. Its claims are kept as claims; seconds are those of its process,
    /// by its own clock, where it was asked how it prints them, the phase `own`.
    pub fn of_peer(instance: &Instance, attempt: ExternalAttempt, traced: bool, keep: Option<&Path>) -> Self {
        let mut row = Row::default();
        let (course, seconds) = (attempt.course(), attempt.seconds);
        let found = judge(&mut row, instance, Whose::Foreign(Offsets::floor(instance).value), attempt);
        let trace = if traced { words(&of_process(&row, &course, seconds)) } else { String::new() };
        let layout = found.as_ref().map(|(layout, _)| layout);
        Self {
            trace,
            status: row.status,
            claim: row.claim,
            stop: row.stop,
            peak: row.peak,
            verdict: row.verdict,
            seconds: row.seconds,
            phases: row.own_seconds.map_or_else(String::new, |seconds| format!("own={seconds:.6}")),
            nodes: row.nodes,
            peak_memory_bytes: row.peak_memory_bytes,
            error: row.error,
            claimed: row.claimed,
            claimed_bound: row.claimed_bound,
            ..Self::default()
        }
        .keeping::<Offsets>(instance, layout, keep)
    }

    /// Adds what happened on the way.
    #[must_use]
    pub fn traced(mut self, recorder: Recorder) -> Self {
        let events = recorder.finish(self.seconds.unwrap_or_default(), self.peak, self.lower_bound);
        let line = TraceRow::default();
        if self.status == "done" {
            self.trace = words(&events.iter().map(|event| line.with(event, false)).collect::<Vec<_>>());
        }
        self
    }

    /// Writes the solution to a file, where there is one and it is to be kept.
    #[must_use]
    pub fn keeping<P: Plan>(
        mut self,
        instance: &Instance,
        found: Option<&P::Solution>,
        keep: Option<&Path>,
    ) -> Self {
        if let (Some(path), Some(found)) = (keep, found) {
            match write_atomically(path, |file| P::write(instance, found, file)) {
                Ok(()) => self.kept = true,
                Err(error) => self.error = format!("{}: {error}", path.display()),
            }
        }
        self
    }

    /// What an algorithm says that came to its end.
    fn done<P: Problem>(input: &P::Input, outcome: &Outcome<P>) -> Self {
        let joined = |words: Vec<String>| words.join(" ");
        let stats = &outcome.stats;
        Self {
            status: "done".to_owned(),
            claim: outcome.claim.as_str().to_owned(),
            stop: outcome.stop.as_str().to_owned(),
            peak: outcome.value.map(Value::number),
            lower_bound: Some(outcome.lower_bound.value.number()),
            bound_witness: P::explain(input, &outcome.lower_bound.witness),
            arithmetic: Arithmetic::of(&outcome.lower_bound.witness).as_str().to_owned(),
            verdict: if outcome.solution.is_some() { "valid" } else { "" }.to_owned(),
            phases: joined(stats.phases.iter().map(|(name, time)| format!("{name}={time:.6}")).collect()),
            counters: joined(
                stats.counters.iter().map(|(name, number)| format!("{name}={number}")).collect(),
            ),
            nodes: Some(stats.nodes),
            ..Self::default()
        }
    }
}

/// The status of a run that gave no answer, and the checker's word.
fn word(error: &RunError) -> (&'static str, &'static str) {
    match error {
        RunError::Solve(SolveError::Unsupported { .. }) => ("skipped", ""),
        RunError::Refused(_) => ("refused", "refused"),
        RunError::Solve(_) | RunError::Panicked(_) => ("failed", ""),
    }
}
