//! The results of each algorithm, and of the virtual best, over all instances of a group.

use super::time::{Time, shifted_geometric_mean};
use super::{Cell, Group, Question, Sort};
use crate::row::{AlgorithmKind, Status};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A mean of times. If any of the times is censored, the mean is only a lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean, in the unit of the times.
    pub value: f64,
    /// Whether the mean is only a lower bound.
    pub bound: bool,
}

/// The results of one algorithm, or of the virtual best, over all instances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The name of the algorithm.
    pub algorithm: String,
    /// The kind, or `None` for the virtual best.
    pub kind: Option<AlgorithmKind>,
    /// Number of instances on which the algorithm ran.
    pub instances: usize,
    /// Number of runs on these instances.
    pub runs: usize,
    /// Number of instances with a median value.
    pub answered: usize,
    /// Number of solved instances.
    pub solved: usize,
    /// Number of solved runs.
    pub solved_runs: usize,
    /// Number of runs that proved their answer.
    pub proved_runs: usize,
    /// Number of the runs in `proved_runs` that a proof or a witness certifies, or `None` if no bound of the
    /// group is certified.
    pub certified_runs: Option<usize>,
    /// Number of instances whose median value equals the best bound.
    pub at_bound: usize,
    /// Mean gap in percent, over the instances for which the gap is defined.
    pub mean_gap: Option<f64>,
    /// Largest gap in percent, over the instances for which the gap is defined.
    pub worst_gap: Option<f64>,
    /// Shifted geometric mean of the times to solve, in seconds. Unsolved instances count with their time
    /// limit. The mean is `None` if unsolved instances have no time limit, and for heuristics that
    /// optimise.
    pub mean_time: Option<Mean>,
    /// PAR-2: the mean time to solve in seconds, with unsolved instances counted as twice their limit. `None`
    /// if `mean_time` is `None`.
    pub par2: Option<f64>,
    /// Shifted geometric mean of the times spent on all instances, solved or not, in seconds.
    pub mean_spent: Option<f64>,
    /// Shifted geometric mean of the times to the best answer, in seconds.
    pub mean_to_best: Option<f64>,
    /// Number of instances on which only this algorithm has the best value.
    pub value_alone: usize,
    /// Number of instances on which this algorithm and others have the best value.
    pub value_shared: usize,
    /// Number of instances on which only this algorithm has the shortest time to solve.
    pub time_alone: usize,
    /// Number of instances on which this algorithm and others have the shortest time to solve.
    pub time_shared: usize,
    /// Number of instances that only this algorithm solves.
    pub only_solver: Option<usize>,
    /// Ratio of the mean times of the virtual best without and with this algorithm, after the shift is added
    /// to both means. It is only a lower bound if the time to solve some instance becomes censored without
    /// this algorithm.
    pub time_factor: Option<Mean>,
    /// Whether the algorithm can be expected to prove its answers; see [`Cell::proves`].
    pub proves: bool,
    /// Percentage points by which the mean gap of the virtual best grows without this algorithm, over the
    /// instances on which others have a value.
    pub gap_loss: Option<f64>,
    /// Mean primal integral over the traced instances, in seconds.
    pub integral: Option<f64>,
    /// Mean primal integral over the traced instances, in percent of the horizon.
    pub integral_share: Option<f64>,
    /// Number of runs with each status other than `done`.
    pub troubles: BTreeMap<Status, usize>,
}

impl Standing {
    /// Returns true for the virtual best.
    pub fn is_virtual(&self) -> bool {
        self.kind.is_none()
    }

    /// Returns true for an external program.
    pub fn is_external(&self) -> bool {
        self.kind == Some(AlgorithmKind::External)
    }

    /// Returns the kind of the algorithm, or `virtual`.
    pub fn kind_word(&self) -> &'static str {
        self.kind.map_or("virtual", AlgorithmKind::as_str)
    }
}

/// The parameters of averages of times.
#[derive(Clone, Copy)]
struct Terms {
    shift: f64,
    /// Whether the runs had a time limit, which then replaces the time of each unsolved run.
    limited: bool,
}

/// The name of the virtual best.
pub const VIRTUAL: &str = "virtual best";

/// Returns the arithmetic mean, or `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the standings of the algorithms of a group, followed by the virtual best if there are at least two
/// algorithms. O(algorithms^2 * instances).
pub fn standings(group: &Group, shift: f64) -> Vec<Standing> {
    let terms = Terms { shift, limited: group.question.time_limit.is_some() };
    let all = virtual_best(group, None);
    let mut found: Vec<Standing> = (0..group.algorithms.len())
        .map(|nth| {
            let (name, kind) = &group.algorithms[nth];
            let mut own = summed(name, Some(*kind), &group.cells[nth], terms);
            let certified = || group.cells[nth].iter().flatten().map(|cell| cell.certified).sum();
            own.certified_runs = group.certifies.then(certified);
            // With a single algorithm, there are no wins.
            if group.algorithms.len() > 1 {
                wins(group, nth, &mut own);
                contribution(group, nth, &all, terms, &mut own);
            }
            own
        })
        .collect();
    if group.algorithms.len() > 1 {
        found.push(summed(VIRTUAL, None, &all, terms));
    }
    found
}

/// Returns one cell per instance with the best value, the shortest times and the smallest primal integral of
/// all algorithms. The algorithm with the index `without` is ignored.
pub fn virtual_best(group: &Group, without: Option<usize>) -> Vec<Option<Cell>> {
    let best = |at: usize| {
        let others = group.cells.iter().enumerate().filter(|(nth, _)| Some(*nth) != without);
        let cells: Vec<&Cell> = others.filter_map(|(_, own)| own[at].as_ref()).collect();
        if cells.is_empty() {
            return None;
        }
        let rank = |time: &Time| (time.censored, time.seconds);
        let first = cells
            .iter()
            .filter_map(|cell| cell.time)
            .min_by(|a, b| rank(a).0.cmp(&rank(b).0).then(a.seconds.total_cmp(&b.seconds)));
        let value_rank = |cell: &&&Cell| cell.value.map(|value| group.question.rank(value));
        let lead = cells.iter().filter(|cell| cell.value.is_some()).min_by_key(value_rank);
        let solved = cells.iter().any(|cell| is_solved(cell));
        let least =
            |value: fn(&Cell) -> Option<f64>| cells.iter().filter_map(|cell| value(cell)).reduce(f64::min);
        let integral = cells.iter().filter_map(|cell| cell.integral);
        Some(Cell {
            runs: cells.iter().map(|cell| cell.runs).sum(),
            solved: usize::from(solved),
            value: lead.and_then(|cell| cell.value),
            gap: lead.and_then(|cell| cell.gap),
            time: first,
            proves: cells.iter().any(|cell| cell.proves),
            spent: least(|cell| cell.spent),
            to_best: least(|cell| cell.to_best),
            troubles: BTreeMap::new(),
            integral: integral.min_by(|a, b| a.seconds.total_cmp(&b.seconds)),
            ..Cell::default()
        })
    };
    (0..group.instances.len()).map(best).collect()
}

/// Returns true if the median run solves the instance. Without recorded times, more than half of the runs
/// must solve it.
pub fn is_solved(cell: &Cell) -> bool {
    cell.time.map_or(cell.solved * 2 > cell.runs, |time| !time.censored)
}

fn summed(name: &str, kind: Option<AlgorithmKind>, cells: &[Option<Cell>], terms: Terms) -> Standing {
    let own: Vec<&Cell> = cells.iter().flatten().collect();
    let gaps: Vec<f64> = own.iter().filter_map(|cell| cell.gap).collect();
    let spent: Vec<f64> = own.iter().filter_map(|cell| cell.spent).collect();
    let to_best: Vec<f64> = own.iter().filter_map(|cell| cell.to_best).collect();
    let integrals: Vec<f64> = own.iter().filter_map(|cell| cell.integral).map(|i| i.seconds).collect();
    let parts: Vec<f64> =
        own.iter().filter_map(|cell| cell.integral).map(|i| i.seconds / i.horizon * 100.0).collect();
    let mut troubles: BTreeMap<Status, usize> = BTreeMap::new();
    for (status, count) in own.iter().flat_map(|cell| &cell.troubles) {
        *troubles.entry(*status).or_default() += count;
    }
    let times: Vec<Time> = own.iter().filter_map(|cell| cell.time).collect();
    let penalised: Vec<f64> =
        times.iter().map(|time| if time.censored { 2.0 } else { 1.0 } * time.seconds).collect();
    let virtually = kind.is_none();
    let proves = own.iter().any(|cell| cell.proves);
    Standing {
        algorithm: name.to_owned(),
        kind,
        instances: own.len(),
        runs: own.iter().map(|cell| cell.runs).sum(),
        answered: own.iter().filter(|cell| cell.value.is_some()).count(),
        solved: own.iter().filter(|cell| is_solved(cell)).count(),
        solved_runs: if virtually { 0 } else { own.iter().map(|cell| cell.solved).sum() },
        proved_runs: own.iter().map(|cell| cell.proved).sum(),
        at_bound: gaps.iter().filter(|&&gap| gap == 0.0).count(),
        mean_gap: mean(&gaps),
        worst_gap: gaps.iter().copied().reduce(f64::max),
        mean_time: mean_time(&times, terms).filter(|_| proves),
        par2: mean(&penalised).filter(|_| proves && is_averaged(&times, terms)),
        mean_spent: shifted_geometric_mean(&spent, terms.shift),
        mean_to_best: shifted_geometric_mean(&to_best, terms.shift),
        proves,
        integral: mean(&integrals),
        integral_share: mean(&parts),
        troubles,
        ..Standing::default()
    }
}

/// Returns true if a mean of these times is meaningful. Without a limit, an unsolved run has no time, and an
/// algorithm that gives up early would appear to be the fastest.
fn is_averaged(times: &[Time], terms: Terms) -> bool {
    terms.limited || times.iter().all(|time| !time.censored)
}

fn mean_time(times: &[Time], terms: Terms) -> Option<Mean> {
    if !is_averaged(times, terms) {
        return None;
    }
    let seconds: Vec<f64> = times.iter().map(|time| time.seconds).collect();
    let value = shifted_geometric_mean(&seconds, terms.shift)?;
    Some(Mean { value, bound: times.iter().any(|time| time.censored) })
}

/// Sorts standings; the virtual best stays last.
pub fn sort(standings: &mut [Standing], question: &Question, sort: Sort) {
    let last = |mean: Option<f64>| mean.unwrap_or(f64::INFINITY);
    let by_time = |a: &Standing, b: &Standing| last(a.mean_spent).total_cmp(&last(b.mean_spent));
    let by_gap = |a: &Standing, b: &Standing| {
        let solved = if question.decide { b.solved.cmp(&a.solved) } else { Ordering::Equal };
        let silent = |own: &Standing| own.instances - own.answered;
        solved
            .then(silent(a).cmp(&silent(b)))
            .then(last(a.mean_gap).total_cmp(&last(b.mean_gap)))
            .then(b.solved.cmp(&a.solved))
            .then(by_time(a, b))
    };
    standings.sort_by(|a, b| {
        a.is_virtual().cmp(&b.is_virtual()).then_with(|| match sort {
            Sort::Gap => by_gap(a, b),
            Sort::Time => by_time(a, b),
            Sort::Name => a.algorithm.cmp(&b.algorithm),
        })
    });
}

/// Counts the wins of an algorithm. It wins in value on an instance if no other algorithm has a better value.
/// It wins in time if it solves the instance and no other algorithm has a shorter time to solve. Instances on
/// which no other algorithm ran do not count.
fn wins(group: &Group, nth: usize, own: &mut Standing) {
    let others = |at: usize| {
        let cells = group.cells.iter().enumerate().filter(move |(other, _)| *other != nth);
        cells.filter_map(move |(_, cells)| cells[at].as_ref())
    };
    let ranked = |cell: &Cell| cell.value.map(|value| group.question.rank(value));
    let solved = |cell: &Cell| cell.time.filter(|time| !time.censored).map(|time| time.seconds);
    for (at, cell) in group.cells[nth].iter().enumerate() {
        let Some(cell) = cell else { continue };
        if others(at).next().is_none() {
            continue;
        }
        if let Some(own_rank) = ranked(cell) {
            match others(at).filter_map(ranked).min() {
                Some(least) if least < own_rank => {}
                Some(least) if least == own_rank => own.value_shared += 1,
                _ => own.value_alone += 1,
            }
        }
        if let Some(time) = solved(cell) {
            match others(at).filter_map(solved).reduce(f64::min) {
                Some(least) if least < time => {}
                Some(least) if least <= time => own.time_shared += 1,
                _ => own.time_alone += 1,
            }
        }
    }
}

/// Computes how much worse the virtual best is without an algorithm.
fn contribution(group: &Group, nth: usize, all: &[Option<Cell>], terms: Terms, own: &mut Standing) {
    let without = virtual_best(group, Some(nth));
    let pairs = || all.iter().zip(&without).filter_map(|(all, less)| Some((all.as_ref()?, less.as_ref())));
    let solved = pairs().filter(|(all, less)| is_solved(all) && !less.is_some_and(is_solved));
    own.only_solver = Some(solved.count());
    let timed: Vec<(Time, Time)> = pairs().filter_map(|(all, less)| Some((all.time?, less?.time?))).collect();
    let part = |pick: fn(&(Time, Time)) -> Time| {
        let times: Vec<Time> = timed.iter().map(pick).collect();
        mean_time(&times, terms)
    };
    if let (Some(with), Some(less)) = (part(|pair| pair.0), part(|pair| pair.1)) {
        // A time that is censored both with and without the algorithm counts in both means. The factor is
        // only a lower bound if some time becomes censored without the algorithm.
        let lost = timed.iter().any(|(with, less)| less.censored && !with.censored);
        let value = (less.value + terms.shift) / (with.value + terms.shift);
        own.time_factor = value.is_finite().then_some(Mean { value, bound: lost });
    }
    let losses: Vec<f64> = pairs().filter_map(|(all, less)| Some(less?.gap? - all.gap?)).collect();
    own.gap_loss = mean(&losses);
}
