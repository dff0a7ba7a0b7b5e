//! Solved runs, and medians and means of times.
//!
//! - A run is *solved* if it answers the question within the limit. If a capacity is decided, the answer is a
//!   layout within the capacity or a proof of infeasibility. Otherwise it is a proven optimum ([`solved`]).
//! - The *time spent* by an algorithm on an instance is the median over its completed runs, solved or not.
//! - The *time to the best answer* is the median over its runs with an answer. It is measured until the run
//!   finds its value, even if the run continues afterwards.
//! - The *time to solve* is also the median over the runs, but an unsolved run counts as longer than every
//!   solved one. If the median run is unsolved, the time is *censored*: it is the limit, which is only a
//!   lower bound. A heuristic that optimises usually ends without a proof, long before the limit
//!   ([`can_prove`]). The time to solve of such a heuristic is undefined, and means of these times are
//!   omitted.
//! - The *shifted geometric mean* with shift s is `exp(mean(ln(t + s))) - s` over all instances. The shift
//!   limits the influence of instances that are solved in a few milliseconds (Achterberg 2007, Constraint
//!   Integer Programming).
//! - *PAR-2* is the mean time to solve over all instances, where each censored time is doubled.

use crate::row::{AlgorithmKind, Claimed, Row};
use plimsoll_model::Claim;

/// Returns true if a run answers its question. Unverified claims of an external program count.
pub fn solved(row: &Row) -> bool {
    row.is_done()
        && (row.is_proved()
            || row.claimed.is_some_and(Claimed::is_settled)
            || row.decides() && row.claim == Some(Claim::Feasible))
}

/// Returns true if the algorithm of a run can be expected to answer the question. A heuristic can decide a
/// capacity by finding a layout that fits, but it proves an optimum only if its value happens to equal a
/// bound. An external program can be expected to prove an optimum only if the run claims one.
pub fn can_prove(row: &Row) -> bool {
    row.decides()
        || match row.kind {
            Some(AlgorithmKind::Heuristic) => false,
            Some(AlgorithmKind::External) => row.claimed.is_some_and(Claimed::is_settled),
            Some(AlgorithmKind::Exact) | None => true,
        }
}

/// The median time of one algorithm on one instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// The time in seconds. A censored time is the limit or, without a limit, the longest time of a run.
    pub seconds: f64,
    /// Whether the median run is unsolved.
    pub censored: bool,
    /// The value of one unit in the last digit of a printed time, in seconds, or 0 for a measured time.
    pub resolution: f64,
    /// Number of solved runs.
    pub solved: usize,
    /// Number of runs in total.
    pub runs: usize,
}

/// The properties of a run on which the median depends.
#[derive(Clone, Copy, Debug)]
pub struct TimedRun {
    /// The time in seconds, or `None` if the run is solved but its time is unknown.
    pub seconds: Option<f64>,
    /// Whether the run answers the question.
    pub solved: bool,
    /// The time limit of the run, in seconds.
    pub limit: Option<f64>,
    /// The value of one unit in the last digit of a printed time, in seconds.
    pub resolution: f64,
}

/// Returns the median time of the given runs. For an even number of runs, this is the mean of the middle two,
/// and it is censored if either is unsolved. An unsolved run counts as longer than every solved one. Returns
/// `None` without runs, or if a time is unknown.
pub fn median_time(runs: impl Iterator<Item = TimedRun>) -> Option<Time> {
    let mut limit: Option<f64> = None;
    let mut seconds: Vec<f64> = Vec::new();
    let (mut count, mut longest, mut resolution) = (0, 0.0f64, 0.0f64);
    for run in runs {
        count += 1;
        limit = limit.or(run.limit);
        let own = run.seconds?;
        longest = longest.max(own);
        resolution = resolution.max(run.resolution);
        seconds.push(if run.solved { own } else { f64::INFINITY });
    }
    if count == 0 {
        return None;
    }
    seconds.sort_by(f64::total_cmp);
    let solved = seconds.iter().filter(|seconds| seconds.is_finite()).count();
    let middle = f64::midpoint(seconds[(count - 1) / 2], seconds[count / 2]);
    let censored = middle.is_infinite();
    let seconds = if censored { limit.unwrap_or(longest) } else { middle };
    Some(Time { seconds, censored, resolution, solved, runs: count })
}

/// Returns the median of times. For an even number of times, this is the mean of the middle two. Returns
/// `None` without times.
pub fn median(seconds: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = seconds.collect();
    all.sort_by(f64::total_cmp);
    (!all.is_empty()).then(|| f64::midpoint(all[(all.len() - 1) / 2], all[all.len() / 2]))
}

/// Returns the shifted geometric mean of times in seconds, or `None` without values.
pub fn shifted_geometric_mean(seconds: &[f64], shift: f64) -> Option<f64> {
    let sum: f64 = seconds.iter().map(|seconds| (seconds + shift).ln()).sum();
    (!seconds.is_empty()).then(|| ((sum / seconds.len() as f64).exp() - shift).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Decide, Status};

    fn row(decide: Option<Decide>, claim: Claim) -> Row {
        Row { decide, status: Status::Done, claim: Some(claim), ..Row::default() }
    }

    const LOAD: Option<Decide> = Some(Decide::Load);

    #[test]
    fn the_question_determines_which_runs_are_solved() {
        let minimised = |claim, claimed| solved(&Row { claimed, ..row(None, claim) });
        let optimal = Some(Claimed::Optimal);
        assert!(!minimised(Claim::Feasible, None) && minimised(Claim::Optimal, None));
        assert!(minimised(Claim::Feasible, optimal));
        assert!(solved(&row(LOAD, Claim::Feasible)) && solved(&row(LOAD, Claim::Infeasible)));
        assert!(!solved(&row(LOAD, Claim::Unknown)));
        assert!(!solved(&Row { status: Status::Refused, ..row(LOAD, Claim::Optimal) }));
    }

    #[test]
    fn an_external_program_that_claims_an_optimum_can_prove_one() {
        use AlgorithmKind::{Exact, External, Heuristic};
        let own = |kind, claimed, decide| {
            can_prove(&Row { kind: Some(kind), claimed, ..row(decide, Claim::Feasible) })
        };
        let optimal = Some(Claimed::Optimal);
        assert!(own(Exact, None, None) && own(External, optimal, None) && own(Heuristic, None, LOAD));
        assert!(!own(External, None, None) && !own(Heuristic, None, None));
    }

    #[test]
    fn means_are_shifted() {
        let mean = shifted_geometric_mean(&[1.0, 100.0], 0.0).unwrap();
        assert!((mean - 10.0).abs() < 1e-9);
        let mean = shifted_geometric_mean(&[0.0, 0.03], 0.01).unwrap();
        assert!((mean - 0.01).abs() < 1e-9);
        assert_eq!(shifted_geometric_mean(&[], 0.01), None);
    }
}
