//! Curves of a group: performance profiles, cactus plots, gaps over time.

use super::standing::VIRTUAL;
use super::{Cell, Group};
use crate::report::profile::{LEAST, best, shares};
use crate::report::trace::{MeanGap, TraceRow, mean_gaps};

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

/// Performance profile of peaks: factor of the best bound, share of all instances. Empty where no instance has a bound
/// above zero and a peak, or fewer than two algorithms took part.
pub fn peak_profile(group: &Group) -> Vec<Curve> {
    let bound = |at: usize| group.instances[at].best_bound;
    // A peak of zero is its bound.
    let cells = values(group, |at, cell| match (cell.peak?, bound(at)?) {
        (0, _) => Some(1.0),
        (_, 0) => None,
        (peak, bound) => Some(peak as f64 / bound as f64),
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

/// Mean gaps over time of the traced runs, and the number of instances.
pub fn gaps(group: &Group) -> (Vec<MeanGap>, usize) {
    let bound = |row: &TraceRow| {
        let its = |i: &&super::InstanceFacts| i.suite == row.suite && i.name == row.instance;
        group.instances.iter().find(its).and_then(|instance| instance.best_bound)
    };
    mean_gaps(&group.trace, bound)
}
