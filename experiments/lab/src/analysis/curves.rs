//! Curves of a group: performance profiles, cactus plots, gaps over time.

use super::standing::VIRTUAL;
use super::{Cell, Group, distinct};
use crate::record::{TraceRow, runs};
use plimsoll_model::gap_percent;

/// A curve of one algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The algorithm.
    pub algorithm: String,
    /// Points by ascending x.
    pub points: Vec<(f64, f64)>,
}

fn values(group: &Group, value: impl Fn(usize, &Cell) -> Option<f64>) -> Vec<Vec<Option<f64>>> {
    let of = |own: &Vec<Option<Cell>>| {
        own.iter().enumerate().map(|(at, cell)| cell.as_ref().and_then(|cell| value(at, cell))).collect()
    };
    group.cells.iter().map(of).collect()
}

fn named(group: &Group, curves: Vec<Vec<(f64, f64)>>) -> Vec<Curve> {
    let names = group.algorithms.iter().map(|(name, _)| name.clone());
    names.zip(curves).map(|(algorithm, points)| Curve { algorithm, points }).collect()
}

fn seconds(cell: &Cell) -> Option<f64> {
    cell.time.filter(|time| !time.censored).map(|time| time.seconds)
}

/// Performance profile of times: factor of the fastest, share of all instances. Empty where nothing was solved or fewer
/// than two algorithms took part.
pub fn time_profile(group: &Group) -> Vec<Curve> {
    let cells = values(group, |_, cell| seconds(cell).map(|seconds| seconds.max(LEAST)));
    profile(group, &cells, &best(&cells))
}

/// Performance profile of values: 1 + gap to the best bound, share of all instances. Empty where no instance has a
/// bound above zero and a value, or fewer than two algorithms took part.
pub fn value_profile(group: &Group) -> Vec<Curve> {
    let bound = |at: usize| group.instances[at].best_bound;
    let cells = values(group, |at, cell| match (cell.value?, bound(at)?) {
        (0, 0) => Some(1.0),
        (_, 0) => None,
        // In whole numbers as long as possible: what is minimised is divided by its bound.
        (value, bound) => Some(bound.saturating_add(value.abs_diff(bound)) as f64 / bound as f64),
    });
    profile(group, &cells, &vec![Some(1.0); group.instances.len()])
}

fn profile(group: &Group, cells: &[Vec<Option<f64>>], reference: &[Option<f64>]) -> Vec<Curve> {
    if group.algorithms.len() < 2 || cells.iter().flatten().all(Option::is_none) {
        return Vec::new();
    }
    named(group, shares(cells, reference, group.instances.len()))
}

/// Cactus: seconds, and the number of instances solved within that limit. The virtual best is the last where there are
/// several algorithms. Empty where nothing was solved.
pub fn cactus(group: &Group) -> Vec<Curve> {
    let cells = values(group, |_, cell| seconds(cell));
    let ranked = |own: &[Option<f64>]| -> Vec<(f64, f64)> {
        let mut times: Vec<f64> = own.iter().flatten().copied().collect();
        times.sort_by(f64::total_cmp);
        times.into_iter().enumerate().map(|(nth, seconds)| (seconds, (nth + 1) as f64)).collect()
    };
    if cells.iter().flatten().all(Option::is_none) {
        return Vec::new();
    }
    let mut curves = named(group, cells.iter().map(|own| ranked(own)).collect());
    if curves.len() > 1 {
        curves.push(Curve { algorithm: VIRTUAL.to_owned(), points: ranked(&best(&cells)) });
    }
    curves
}

/// Where times are divided, none is shorter, seconds.
pub const LEAST: f64 = 1e-9;

/// The least value per instance, from values by algorithm and instance.
pub fn best(cells: &[Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let total = cells.iter().map(Vec::len).max().unwrap_or(0);
    (0..total)
        .map(|instance| cells.iter().filter_map(|own| own.get(instance).copied().flatten()).reduce(f64::min))
        .collect()
}

/// Per algorithm the factors at which its line rises, each with the share of `total` instances within it; both
/// ascend. A value counts by its factor of the reference of its instance. O(algorithms * instances * log(instances)).
pub fn shares(cells: &[Vec<Option<f64>>], reference: &[Option<f64>], total: usize) -> Vec<Vec<(f64, f64)>> {
    let curve = |own: &Vec<Option<f64>>| {
        let factors = own.iter().zip(reference).filter_map(|(value, best)| Some((*value)? / (*best)?));
        let mut factors: Vec<f64> = factors.filter(|factor| factor.is_finite()).collect();
        factors.sort_by(f64::total_cmp);
        let ranked = factors.iter().enumerate();
        ranked.map(|(nth, &factor)| (factor, (nth + 1) as f64 / total.max(1) as f64)).collect()
    };
    cells.iter().map(curve).collect()
}

/// Where time begins in the charts, seconds: earlier events are drawn there.
pub const DAWN: f64 = 0.001;

/// Gap of a run that has nothing yet, percent; a larger one counts as this.
const WORST_GAP: f64 = 100.0;

/// The mean gap of one algorithm over time.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanGap {
    /// The algorithm.
    pub algorithm: String,
    /// Runs that take part.
    pub runs: usize,
    /// Seconds since the start, and the mean gap from then on, percent; by ascending time.
    pub points: Vec<(f64, f64)>,
}

/// Per algorithm the mean over instances and traced runs of the gap to the best bound at each moment; a run without a
/// value counts as 100 %, runs on instances without a bound do not count. Also the number of instances.
/// O(lines * log(lines)).
pub fn gaps(group: &Group) -> (Vec<MeanGap>, usize) {
    let best_bound = |row: &TraceRow| {
        let its = |i: &&super::InstanceFacts| i.suite == row.suite && i.name == row.instance;
        group.instances.iter().find(its).and_then(|instance| instance.best_bound)
    };
    let mut means = Vec::new();
    let mut instances: Vec<(&str, &str)> = Vec::new();
    for name in distinct(group.trace.iter().map(|row| row.algorithm.as_str())) {
        // Each improvement lowers the sum by what it gains.
        let mut gains: Vec<(f64, f64)> = Vec::new();
        let mut count = 0;
        for run in runs(&group.trace).filter(|run| run[0].algorithm == name) {
            let Some(bound) = best_bound(&run[0]) else { continue };
            if !instances.contains(&(&run[0].suite, &run[0].instance)) {
                instances.push((&run[0].suite, &run[0].instance));
            }
            count += 1;
            let mut gap = WORST_GAP;
            for row in run {
                let now = row.value.and_then(|value| gap_percent(value, bound));
                let now = now.map_or(gap, |now| now.clamp(0.0, gap));
                if now < gap {
                    gains.push((row.seconds.max(DAWN), gap - now));
                    gap = now;
                }
            }
        }
        if count == 0 {
            continue;
        }
        gains.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = WORST_GAP * count as f64;
        let mut points = vec![(DAWN, sum / count as f64)];
        for (seconds, gain) in gains {
            sum -= gain;
            points.push((seconds, (sum / count as f64).max(0.0)));
        }
        means.push(MeanGap { algorithm: name.to_owned(), runs: count, points });
    }
    (means, instances.len())
}

#[cfg(test)]
mod tests {
    use super::super::InstanceFacts;
    use super::*;

    #[test]
    fn the_mean_gap_falls_as_runs_improve() {
        let line = |algorithm: &str, run, seconds, value, lower_bound| TraceRow {
            algorithm: algorithm.into(),
            run,
            seconds,
            value,
            lower_bound,
            ..TraceRow::default()
        };
        let trace = vec![
            line("x", 1, 0.1, Some(300), None),
            line("x", 1, 1.0, Some(110), None),
            line("x", 2, 0.5, Some(100), None),
            line("y", 1, 3.0, None, Some(90)),
        ];
        let instance = InstanceFacts { best_bound: Some(100), ..InstanceFacts::default() };
        let mut group = Group { trace, instances: vec![instance], ..Group::default() };
        let (means, total) = gaps(&group);
        assert_eq!((means[0].runs, total), (2, 1));
        assert_eq!(means[0].points, [(DAWN, 100.0), (0.5, 50.0), (1.0, 5.0)]);
        assert_eq!(means[1].points, [(DAWN, 100.0)]);
        group.instances.clear();
        assert_eq!(gaps(&group), (Vec::new(), 0));
    }
}
