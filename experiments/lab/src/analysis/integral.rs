//! Primal integrals (Berthold 2013), which express solution quality over time as one number.

use crate::row::Event;
use std::collections::BTreeMap;

/// A traced run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traced {
    /// The index of the algorithm.
    pub algorithm: usize,
    /// The index of the instance.
    pub instance: usize,
    /// The events of the run, in order.
    pub events: Vec<Event>,
}

/// The integral of the primal gap over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integral {
    /// The mean of the integrals of the runs, in seconds. It is 0 if every run has the best value from the
    /// start, and equals `horizon` if no run ever has a value.
    pub seconds: f64,
    /// The time at which the integral ends, in seconds. This is the time limit or, without a limit, the time
    /// of the last event of any run on the instance.
    pub horizon: f64,
    /// Number of traced runs.
    pub runs: usize,
    /// Whether any of the values is an unchecked claim of an external program.
    pub claimed: bool,
}

/// Returns the primal gap of a value to the best known value, from 0 to 1.
fn primal_gap(value: u64, best: u64) -> f64 {
    let most = value.max(best);
    if most == 0 { 0.0 } else { value.abs_diff(best) as f64 / most as f64 }
}

/// Returns the primal integral of one run, in seconds. The values must be in ascending order of time. Each
/// value holds until the next one, and the last value holds until the horizon. The gap before the first value
/// is 1. O(events).
pub fn integral(events: impl IntoIterator<Item = (f64, u64)>, best: u64, horizon: f64) -> f64 {
    let (mut sum, mut since, mut gap) = (0.0, 0.0f64, 1.0);
    for (seconds, value) in events {
        let now = seconds.clamp(since, horizon.max(since));
        sum += gap * (now - since);
        (since, gap) = (now, primal_gap(value, best));
    }
    sum + gap * (horizon - since).max(0.0)
}

/// Returns the mean integral of the traced runs for each pair of algorithm and instance of a group. `best`
/// contains the best value of each instance.
pub(super) fn integrals(
    traced: &[Traced],
    best: &[Option<u64>],
    limit: Option<f64>,
) -> BTreeMap<(usize, usize), Integral> {
    let mut sums: BTreeMap<(usize, usize), Integral> = BTreeMap::new();
    let mut last: BTreeMap<usize, f64> = BTreeMap::new();
    for run in traced {
        let most = last.entry(run.instance).or_default();
        *most = run.events.iter().map(|event| event.seconds).fold(*most, f64::max);
    }
    for run in traced {
        let Some(best) = best[run.instance] else { continue };
        let horizon = limit.or_else(|| last.get(&run.instance).copied());
        let Some(horizon) = horizon.filter(|horizon| *horizon > 0.0) else { continue };
        let events = run.events.iter().filter_map(|event| Some((event.seconds, event.value?)));
        let nothing = Integral { seconds: 0.0, horizon, runs: 0, claimed: false };
        let sum = sums.entry((run.algorithm, run.instance)).or_insert(nothing);
        sum.seconds += integral(events, best, horizon);
        sum.runs += 1;
        sum.claimed |= run.events.iter().any(|event| event.claimed);
    }
    for sum in sums.values_mut() {
        sum.seconds /= sum.runs as f64;
    }
    sums
}
