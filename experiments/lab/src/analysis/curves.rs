//! Curves of a group: performance profiles, cactus plots, and gaps over time.

use super::standing::VIRTUAL;
use super::{Cell, Group};
use crate::row::AlgorithmKind;
use plimsoll_model::gap_percent;
use std::collections::BTreeSet;

/// A curve of one algorithm or of the virtual best.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The name of the algorithm.
    pub algorithm: String,
    /// Points in ascending order of x.
    pub points: Vec<(f64, f64)>,
}

/// One number per algorithm and instance.
type Numbers = Vec<Vec<Option<f64>>>;

fn numbers(group: &Group, number: impl Fn(usize, &Cell) -> Option<f64>) -> Numbers {
    let of = |own: &Vec<Option<Cell>>| {
        own.iter().enumerate().map(|(at, cell)| cell.as_ref().and_then(|cell| number(at, cell))).collect()
    };
    group.cells.iter().map(of).collect()
}

fn seconds(cell: &Cell) -> Option<f64> {
    cell.time.filter(|time| !time.censored).map(|time| time.seconds)
}

/// Returns the smallest number of each instance over all algorithms.
fn least(numbers: &Numbers) -> Vec<Option<f64>> {
    let total = numbers.first().map_or(0, Vec::len);
    (0..total).map(|at| numbers.iter().filter_map(|own| own[at]).reduce(f64::min)).collect()
}

/// Returns the numbers in ascending order. Each is paired with its rank, counted from 1, divided by `total`.
fn ranked(numbers: &[Option<f64>], total: f64) -> Vec<(f64, f64)> {
    let mut numbers: Vec<f64> = numbers.iter().flatten().copied().collect();
    numbers.sort_by(f64::total_cmp);
    numbers.into_iter().zip(1u32..).map(|(number, nth)| (number, f64::from(nth) / total)).collect()
}

/// Returns one curve per algorithm, or no curves if no algorithm has a number. O(algorithms * instances *
/// log(instances)).
fn curves(group: &Group, numbers: &Numbers, total: f64) -> Vec<Curve> {
    if numbers.iter().flatten().all(Option::is_none) {
        return Vec::new();
    }
    let curve = |((algorithm, _), own): (&(String, AlgorithmKind), &Vec<Option<f64>>)| Curve {
        algorithm: algorithm.clone(),
        points: ranked(own, total),
    };
    group.algorithms.iter().zip(numbers).map(curve).collect()
}

fn profile(group: &Group, factors: &Numbers) -> Vec<Curve> {
    if group.algorithms.len() < 2 {
        return Vec::new();
    }
    curves(group, factors, group.instances.len() as f64)
}

/// Returns the performance profile of times. The factor of an instance is the time of an algorithm divided by
/// the fastest time on this instance. The y axis is the share of instances whose factor is at most x. Returns
/// no curves if nothing was solved or if there are fewer than two algorithms.
pub fn time_profile(group: &Group) -> Vec<Curve> {
    let mut factors = numbers(group, |_, cell| seconds(cell).map(|seconds| seconds.max(LEAST)));
    let fastest = least(&factors);
    for own in &mut factors {
        for (time, fastest) in own.iter_mut().zip(&fastest) {
            *time = time.zip(*fastest).map(|(time, fastest)| time / fastest);
        }
    }
    profile(group, &factors)
}

/// Returns the performance profile of values. The factor of an instance is 1 plus the gap to the best bound,
/// as a fraction of that bound. The y axis is the share of instances whose factor is at most x. If value and
/// bound are both 0, the factor is 1. The factor is undefined if the value or the bound is missing, or if
/// only the bound is 0. Returns no curves if every factor is undefined, or if there are fewer than two
/// algorithms.
pub fn value_profile(group: &Group) -> Vec<Curve> {
    let factors = numbers(group, |at, cell| match (cell.value?, group.instances[at].best_bound?) {
        (0, 0) => Some(1.0),
        (_, 0) => None,
        // The sum is computed in integers. The deviation is absolute because relations are maximised.
        (value, bound) => Some(bound.saturating_add(value.abs_diff(bound)) as f64 / bound as f64),
    });
    profile(group, &factors)
}

/// Returns the cactus plot. The x axis is a time limit in seconds. The y axis is the number of instances
/// solved within this limit. With several algorithms, the last curve is the virtual best. Returns no curves
/// if nothing was solved.
pub fn cactus(group: &Group) -> Vec<Curve> {
    let times = numbers(group, |_, cell| seconds(cell));
    let mut curves = curves(group, &times, 1.0);
    if curves.len() > 1 {
        curves.push(Curve { algorithm: VIRTUAL.to_owned(), points: ranked(&least(&times), 1.0) });
    }
    curves
}

/// The smallest time used in a ratio, in seconds.
const LEAST: f64 = 1e-9;

/// The left end of time axes, in seconds. Earlier events are drawn there.
pub const DAWN: f64 = 0.001;

/// The gap of a run without a value, in percent. Larger gaps are capped at this value.
const WORST_GAP: f64 = 100.0;

/// Returns one curve per algorithm, and the number of instances that the curves cover. The x axis is the time
/// since the start in seconds. The y axis is the mean gap to the best bound, in percent, from that time until
/// the next point. The mean covers the traced runs on instances with a bound. A run without a value counts as
/// 100 %. O(events * log(events) + runs *
/// algorithms).
pub fn gaps(group: &Group) -> (Vec<Curve>, usize) {
    let mut means = Vec::new();
    let mut instances = BTreeSet::new();
    for (nth, (name, _)) in group.algorithms.iter().enumerate() {
        // Each improvement lowers the sum of the gaps by its gain.
        let mut gains: Vec<(f64, f64)> = Vec::new();
        let mut count = 0.0;
        for run in group.traced.iter().filter(|run| run.algorithm == nth) {
            let Some(bound) = group.instances[run.instance].best_bound else { continue };
            instances.insert(run.instance);
            count += 1.0;
            let mut gap = WORST_GAP;
            for event in &run.events {
                let now = event.value.and_then(|value| gap_percent(value, bound));
                let now = now.map_or(gap, |now| now.clamp(0.0, gap));
                if now < gap {
                    gains.push((event.seconds.max(DAWN), gap - now));
                    gap = now;
                }
            }
        }
        if count == 0.0 {
            continue;
        }
        gains.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = WORST_GAP * count;
        let mut points = vec![(DAWN, sum / count)];
        for (seconds, gain) in gains {
            sum -= gain;
            points.push((seconds, (sum / count).max(0.0)));
        }
        means.push(Curve { algorithm: name.clone(), points });
    }
    (means, instances.len())
}

#[cfg(test)]
mod tests {
    use super::super::InstanceFacts;
    use super::super::integral::Traced;
    use super::*;
    use crate::row::{Event, Happening};

    #[test]
    fn the_mean_gap_falls_as_runs_improve() {
        let run = |algorithm, events: &[(f64, Option<u64>)]| {
            let event = |&(seconds, value): &(f64, Option<u64>)| {
                let happening = if value.is_some() { Happening::Incumbent } else { Happening::Bound };
                Event { seconds, happening, claimed: false, value, bound: None }
            };
            Traced { algorithm, instance: 0, events: events.iter().map(event).collect() }
        };
        let traced = vec![
            run(0, &[(0.1, Some(300)), (1.0, Some(110))]),
            run(0, &[(0.5, Some(100))]),
            run(1, &[(3.0, None)]),
        ];
        let algorithms = ["x", "y"].map(|name| (name.to_owned(), AlgorithmKind::Heuristic)).to_vec();
        let instance = InstanceFacts { best_bound: Some(100), ..InstanceFacts::default() };
        let mut group = Group { instances: vec![instance], algorithms, traced, ..Group::default() };
        let (means, total) = gaps(&group);
        assert_eq!((means.len(), total), (2, 1));
        assert_eq!(means[0].points, [(DAWN, 100.0), (0.5, 50.0), (1.0, 5.0)]);
        assert_eq!(means[1].points, [(DAWN, 100.0)]);
        group.traced.clear();
        assert_eq!(gaps(&group), (Vec::new(), 0));
    }
}
