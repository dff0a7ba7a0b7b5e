//! What became of one run, as a worker says it or as whoever waited for it has to.

use crate::graphs::{GraphRunError, OrderedRegion};
use crate::plan::Plan;
use crate::report::rows::Row;
use crate::run::{Attempt, RunError};
use plimsoll_model::{Bytes, SolveError};
use serde::{Deserialize, Serialize};

/// What became of one run; the fields of [`SweepRow`](super::rows::SweepRow) of the same names.
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
}

impl Answer {
    /// A run that has no answer.
    pub fn without(status: &str, error: &(impl ToString + ?Sized)) -> Self {
        Self { status: status.to_owned(), error: error.to_string(), ..Self::default() }
    }

    /// What an algorithm for instances did.
    pub fn of<P: Plan>(attempt: &Attempt<P::Solution>) -> Self {
        Self::from_row(Row::default().attempted::<P>(attempt))
    }

    /// What an algorithm for orders did to the regions of a graph: value, bound and claim are those of the body, the last;
    /// seconds and nodes are sums.
    pub fn of_orders(result: &Result<Vec<OrderedRegion>, GraphRunError>, seconds: f64) -> Self {
        let mut answer = match result {
            Ok(regions) => regions.last().map_or_else(Self::default, |body| {
                let outcome = &body.outcome;
                let nodes = regions.iter().map(|region| region.outcome.stats.nodes).sum();
                let counters = outcome.stats.counters.iter().map(|(name, number)| format!("{name}={number}"));
                let solved = outcome.solution.is_some();
                Self {
                    status: "done".to_owned(),
                    claim: outcome.claim.as_str().to_owned(),
                    stop: outcome.stop.as_str().to_owned(),
                    peak: outcome.value.map(Bytes::get),
                    lower_bound: Some(outcome.lower_bound.value.get()),
                    bound_witness: outcome.lower_bound.witness.to_string(),
                    verdict: if solved { "valid" } else { "" }.to_owned(),
                    counters: counters.collect::<Vec<_>>().join(" "),
                    nodes: Some(nodes),
                    ..Self::default()
                }
            }),
            Err(error) => {
                let (status, verdict) = match error {
                    GraphRunError::Races { .. } | GraphRunError::Run { source: RunError::Refused(_), .. } => {
                        ("refused", "refused")
                    }
                    GraphRunError::Problem { .. }
                    | GraphRunError::Structure { .. }
                    | GraphRunError::Run {
                        source: RunError::Solve(SolveError::Unsupported { .. }), ..
                    } => ("skipped", ""),
                    GraphRunError::Run { .. } | GraphRunError::Nothing { .. } => ("failed", ""),
                };
                Self { verdict: verdict.to_owned(), ..Self::without(status, error) }
            }
        };
        answer.seconds = Some(seconds);
        answer
    }

    fn from_row(row: Row) -> Self {
        Self {
            status: row.status,
            claim: row.claim,
            stop: row.stop,
            peak: row.peak,
            lower_bound: row.lower_bound,
            bound_witness: row.bound_witness,
            verdict: row.verdict,
            seconds: row.seconds,
            phases: row.phases,
            counters: row.counters,
            nodes: row.nodes,
            peak_memory_bytes: row.peak_memory_bytes,
            resident_bytes: None,
            error: row.error,
        }
    }
}
