//! What became of a run of our own, as columns.

use super::Record;
use crate::machine::timestamp;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::graphs::{GraphRunError, OrderedRegion};
use plimsoll::plan::Plan;
use plimsoll::run::{Attempt, RunError};
use plimsoll_model::files::write_atomically;
use plimsoll_model::{Claim, Instance, Orders, Outcome, Problem, SolveError, Value};
use std::path::Path;

impl Record {
    /// Adds what an algorithm did with an input.
    #[must_use]
    pub fn attempted<P: Problem>(self, input: &P::Input, attempt: &Attempt<P>) -> Self {
        let answered = match &attempt.result {
            Ok(outcome) => self.done::<P>(input, outcome),
            Err(error) => self.broken(error, error),
        };
        Self {
            problem: P::NAME.to_owned(),
            unit: P::Value::UNIT.to_owned(),
            seconds: Some(attempt.seconds),
            own_seconds: Some(attempt.seconds),
            peak_memory_bytes: attempt.peak_memory,
            timestamp: timestamp(),
            ..answered
        }
    }

    /// Adds what an algorithm for orders did with the regions of a graph: value, bound and claim are those of the body, the
    /// last; nodes are a sum. A bound of the body counts what the regions inside it need as they are ordered: it holds for
    /// the graph only where those orders are proved optimal, and is omitted elsewhere.
    #[must_use]
    pub fn ordered(self, result: &Result<Vec<OrderedRegion>, GraphRunError>, seconds: f64) -> Self {
        let answered = match result {
            Ok(regions) => self.ordered_regions(regions),
            Err(error) => match error {
                GraphRunError::Races { .. } => {
                    Self { verdict: "refused".to_owned(), ..self.without("refused", error) }
                }
                GraphRunError::Problem { .. } | GraphRunError::Structure { .. } => {
                    self.without("skipped", error)
                }
                // As of an instance for which nothing was found within the limits.
                GraphRunError::Nothing { .. } => {
                    Self { claim: Claim::Unknown.as_str().to_owned(), ..self.without("done", error) }
                }
                GraphRunError::Run { source, .. } => self.broken(source, error),
            },
        };
        Self { seconds: Some(seconds), own_seconds: Some(seconds), timestamp: timestamp(), ..answered }
    }

    fn ordered_regions(self, regions: &[OrderedRegion]) -> Self {
        let Some((body, inner)) = regions.split_last() else { return self };
        // The bound of the body rests on those of the regions inside it.
        let each = regions.iter().map(|one| Arithmetic::of(&one.outcome.lower_bound.witness));
        let arithmetic = each.max().unwrap_or_default().as_str().to_owned();
        let nodes = regions.iter().map(|region| region.outcome.stats.nodes).sum();
        let done = self.done::<Orders>(&body.storages.problem, &body.outcome);
        let mut answered = Self { nodes: Some(nodes), phases: String::new(), arithmetic, ..done };
        if inner.iter().any(|region| region.outcome.claim != Claim::Optimal) {
            answered.lower_bound = None;
            answered.bound_witness.clear();
            answered.arithmetic.clear();
            if answered.value.is_some() {
                Claim::Feasible.as_str().clone_into(&mut answered.claim);
            }
        }
        answered
    }

    /// Adds what an algorithm that ended reports.
    fn done<P: Problem>(self, input: &P::Input, outcome: &Outcome<P>) -> Self {
        let joined = |words: Vec<String>| words.join(" ");
        let (stats, bound) = (&outcome.stats, &outcome.lower_bound);
        Self {
            status: "done".to_owned(),
            claim: outcome.claim.as_str().to_owned(),
            stop: outcome.stop.as_str().to_owned(),
            value: outcome.value.map(Value::number),
            lower_bound: Some(bound.value.number()),
            bound_witness: P::explain(input, &bound.witness),
            arithmetic: Arithmetic::of(&bound.witness).as_str().to_owned(),
            verdict: if outcome.solution.is_some() { "valid" } else { "" }.to_owned(),
            phases: joined(stats.phases.iter().map(|(name, time)| format!("{name}={time:.6}")).collect()),
            counters: joined(
                stats.counters.iter().map(|(name, number)| format!("{name}={number}")).collect(),
            ),
            nodes: Some(stats.nodes),
            ..self
        }
    }

    /// Adds why there is no answer.
    fn broken(self, error: &RunError, why: &impl ToString) -> Self {
        match error {
            RunError::Solve(SolveError::Unsupported { .. }) => self.without("skipped", why),
            RunError::Refused(_) => Self { verdict: "refused".to_owned(), ..self.without("refused", why) },
            RunError::Solve(_) | RunError::Panicked(_) => self.without("failed", why),
        }
    }

    /// Writes the solution to a file below `folder` and names it.
    #[must_use]
    pub fn keeping<P: Plan>(
        self,
        instance: &Instance,
        solution: Option<&P::Solution>,
        folder: &Path,
    ) -> Self {
        let Some(solution) = solution else { return self };
        let layout = super::layout_of(self.run);
        let path = folder.join(&layout);
        match write_atomically(&path, |file| P::write(instance, solution, file)) {
            Ok(()) => Self { layout, ..self },
            Err(error) => Self { error: format!("{}: {error}", path.display()), ..self },
        }
    }
}
