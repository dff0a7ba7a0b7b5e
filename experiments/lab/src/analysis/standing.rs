//! How an algorithm stands over all instances of a group, and the virtual best of all.

use super::time::{Time, shifted_geometric_mean};
use super::{Cell, Group};
use std::collections::BTreeMap;

/// A mean that is only a lower bound where times took part that are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// True where it is only a lower bound.
    pub bound: bool,
}

/// One algorithm, or the virtual best.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// Its name.
    pub algorithm: String,
    /// `heuristic`, `exact`, `external`; `virtual`.
    pub kind: String,
    /// Instances it ran on.
    pub instances: usize,
    /// Runs.
    pub runs: usize,
    /// Instances with a median value.
    pub answered: usize,
    /// Instances solved.
    pub solved: usize,
    /// Runs that solved.
    pub solved_runs: usize,
    /// Instances where the median value is the best bound.
    pub at_bound: usize,
    /// Mean gap over the instances that have one, percent.
    pub mean_gap: Option<f64>,
    /// Largest gap, percent.
    pub worst_gap: Option<f64>,
    /// Shifted geometric mean of times to solve, seconds; with unsolved instances as their limit, none where they have no limit,
    /// and none of heuristics that are to minimise.
    pub mean_time: Option<Mean>,
    /// PAR-2: mean of times to solve with unsolved instances as twice their limit, seconds; none where the other is.
    pub par2: Option<f64>,
    /// Shifted geometric mean of the seconds spent, solved or not.
    pub mean_spent: Option<f64>,
    /// Instances where it alone has the best value.
    pub value_alone: usize,
    /// Instances where it shares the best value.
    pub value_shared: usize,
    /// Instances where it alone has the shortest time.
    pub time_alone: usize,
    /// Instances where it shares the shortest time.
    pub time_shared: usize,
    /// Instances that the virtual best solves no more without it.
    pub only_solver: Option<usize>,
    /// Factor by which the virtual best's mean time grows without it; a lower bound where limits take part.
    pub time_factor: Option<Mean>,
    /// Percentage points by which the virtual best's mean gap grows without it, over instances where others have a value.
    pub gap_loss: Option<f64>,
    /// Mean primal integral over traced instances, seconds.
    pub integral: Option<f64>,
    /// The same as a share of the horizon, percent.
    pub integral_share: Option<f64>,
    /// Runs by what became of them, other than `done`.
    pub troubles: BTreeMap<String, usize>,
}

/// How times are averaged.
#[derive(Clone, Copy)]
struct Terms {
    shift: f64,
    /// Whether runs had a time limit, which can stand for those that did not solve.
    limited: bool,
}

/// The name of the virtual best.
pub const VIRTUAL: &str = "virtual best";

/// The mean of some values; `None` of none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standings of a group: its algorithms, then, where there are at least two, their virtual best.
/// O(algorithms^2 * instances).
pub fn standings(group: &Group, shift: f64) -> Vec<Standing> {
    let terms = Terms { shift, limited: group.question.time_limit.is_some() };
    let all = virtual_best(group, None);
    let mut found: Vec<Standing> = (0..group.algorithms.len())
        .map(|who| {
            let (name, kind) = &group.algorithms[who];
            let mut own = summed(name, kind, &group.cells[who], terms);
            // Who is alone wins nothing.
            if group.algorithms.len() > 1 {
                wins(group, who, &mut own);
                contribution(group, who, &all, terms, &mut own);
            }
            own
        })
        .collect();
    if group.algorithms.len() > 1 {
        found.push(summed(VIRTUAL, "virtual", &all, terms));
    }
    found
}

/// Cells of the best of all algorithms, or of all but one.
pub fn virtual_best(group: &Group, without: Option<usize>) -> Vec<Option<Cell>> {
    let best = |at: usize| {
        let others = group.cells.iter().enumerate().filter(|(who, _)| Some(*who) != without);
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
            troubles: BTreeMap::new(),
            integral: integral.min_by(|a, b| a.seconds.total_cmp(&b.seconds)),
        })
    };
    (0..group.instances.len()).map(best).collect()
}

/// Whether the median run solves: by time where there are times, else by count.
pub fn is_solved(cell: &Cell) -> bool {
    cell.time.map_or(cell.solved * 2 > cell.runs, |time| !time.censored)
}

fn summed(name: &str, kind: &str, cells: &[Option<Cell>], terms: Terms) -> Standing {
    let own: Vec<&Cell> = cells.iter().flatten().collect();
    let gaps: Vec<f64> = own.iter().filter_map(|cell| cell.gap).collect();
    let spent: Vec<f64> = own.iter().filter_map(|cell| cell.spent).collect();
    let integrals: Vec<f64> = own.iter().filter_map(|cell| cell.integral).map(|i| i.seconds).collect();
    let parts: Vec<f64> =
        own.iter().filter_map(|cell| cell.integral).map(|i| i.seconds / i.horizon * 100.0).collect();
    let mut troubles: BTreeMap<String, usize> = BTreeMap::new();
    for (status, count) in own.iter().flat_map(|cell| &cell.troubles) {
        *troubles.entry(status.clone()).or_default() += count;
    }
    let times: Vec<Time> = own.iter().filter_map(|cell| cell.time).collect();
    let penalised: Vec<f64> =
        times.iter().map(|time| if time.censored { 2.0 } else { 1.0 } * time.seconds).collect();
    let virtually = kind == "virtual";
    let proves = own.iter().any(|cell| cell.proves);
    Standing {
        algorithm: name.to_owned(),
        kind: kind.to_owned(),
        instances: own.len(),
        runs: own.iter().map(|cell| cell.runs).sum(),
        answered: own.iter().filter(|cell| cell.value.is_some()).count(),
        solved: own.iter().filter(|cell| is_solved(cell)).count(),
        solved_runs: if virtually { 0 } else { own.iter().map(|cell| cell.solved).sum() },
        at_bound: gaps.iter().filter(|&&gap| gap == 0.0).count(),
        mean_gap: mean(&gaps),
        worst_gap: gaps.iter().copied().reduce(f64::max),
        mean_time: mean_time(&times, terms).filter(|_| proves),
        par2: mean(&penalised).filter(|_| proves && is_averaged(&times, terms)),
        mean_spent: shifted_geometric_mean(&spent, terms.shift),
        integral: mean(&integrals),
        integral_share: mean(&parts),
        troubles,
        ..Standing::default()
    }
}

/// Whether these times have a mean: without a limit nothing stands for a run that did not solve, and what gave up at once
/// would seem the fastest.
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

/// Counts where no other has a better value, a shorter time.
fn wins(group: &Group, who: usize, own: &mut Standing) {
    let others = |at: usize| {
        let cells = group.cells.iter().enumerate().filter(move |(other, _)| *other != who);
        cells.filter_map(move |(_, cells)| cells[at].as_ref())
    };
    let ranked = |cell: &Cell| cell.value.map(|value| group.question.rank(value));
    let solved = |cell: &Cell| cell.time.filter(|time| !time.censored).map(|time| time.seconds);
    for (at, cell) in group.cells[who].iter().enumerate() {
        let Some(cell) = cell else { continue };
        // Where no other ran there is nothing to win.
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

/// What the virtual best loses without an algorithm.
fn contribution(group: &Group, who: usize, all: &[Option<Cell>], terms: Terms, own: &mut Standing) {
    let without = virtual_best(group, Some(who));
    let pairs = || all.iter().zip(&without).filter_map(|(all, less)| Some((all.as_ref()?, less.as_ref())));
    let solved = pairs().filter(|(all, less)| is_solved(all) && !less.is_some_and(is_solved));
    own.only_solver = Some(solved.count());
    let timed: Vec<(Time, Time)> = pairs().filter_map(|(all, less)| Some((all.time?, less?.time?))).collect();
    let part = |pick: fn(&(Time, Time)) -> Time| {
        let times: Vec<Time> = timed.iter().map(pick).collect();
        mean_time(&times, terms)
    };
    if let (Some(with), Some(less)) = (part(|pair| pair.0), part(|pair| pair.1)) {
        // Where both are limits, both means hold them; the factor is a lower bound only where one more is lost.
        let lost = timed.iter().any(|(with, less)| less.censored && !with.censored);
        let value = (less.value + terms.shift) / (with.value + terms.shift);
        own.time_factor = value.is_finite().then_some(Mean { value, bound: lost });
    }
    let losses: Vec<f64> = pairs().filter_map(|(all, less)| Some(less?.gap? - all.gap?)).collect();
    own.gap_loss = mean(&losses);
}
