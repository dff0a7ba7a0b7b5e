//! How long algorithms take, compared: shifted geometric means, penalised averages, ratios, wins.
//!
//! Definitions, for one problem and rows that differ in instance, algorithm and run (seed or repetition):
//!
//! - A run *solves* where it answers the question within the limit: a layout within the capacity or the proof that
//!   there is none where a capacity is to be decided, a proven optimum otherwise ([`solved`]).
//! - The *time* of an algorithm on an instance is the median over its runs; a run that does not solve counts as
//!   longer than every one that does. Where that median is a run that did not solve, the time is the limit and
//!   marked as only a lower bound: it is *censored*.
//! - The *shifted geometric mean* with shift s is `exp(mean(ln(t + s))) - s` over all instances; the shift keeps
//!   instances of a few milliseconds from deciding everything (Achterberg 2007, Constraint Integer Programming).
//! - *PAR-2* is the mean over all instances with censored times counted twice.
//! - A *ratio* divides the time of an algorithm by that of the reference; above 1 the reference is faster.
//!
//! O(rows * (algorithms + instances)).

use crate::plan::ProblemKind;
use crate::report::rows::Row;
use crate::report::table::{Align, Table};

/// Shift of geometric means where nobody chose another, seconds.
pub const SHIFT: f64 = 0.01;

/// True where the run answers the question that was put.
pub fn solved(row: &Row) -> bool {
    let settles = |claim: &str| claim == "optimal" || claim == "infeasible";
    row.status == "done"
        && (settles(&row.claim) || settles(&row.claimed) || row.decide && row.claim == "feasible")
}

/// Median seconds of one algorithm on one instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// Seconds; the limit where censored.
    pub seconds: f64,
    /// True where the median run did not solve.
    pub censored: bool,
    /// Runs that solved.
    pub solved: usize,
    /// Runs.
    pub runs: usize,
}

/// Times by algorithm and instance.
#[derive(Clone, Debug, Default)]
pub struct Times<'a> {
    /// Suite and name of every instance.
    pub instances: Vec<(&'a str, &'a str)>,
    /// Every algorithm, in the order of the rows.
    pub algorithms: Vec<&'a str>,
    /// By algorithm, then instance; `None` where there was no run.
    pub cells: Vec<Vec<Option<Time>>>,
}

impl<'a> Times<'a> {
    /// Gathers the rows of one problem.
    pub fn of(rows: &'a [Row], problem: ProblemKind) -> Self {
        let own = || rows.iter().filter(|row| row.problem == problem.as_str());
        let mut times = Self::default();
        for row in own() {
            remember(&mut times.instances, (row.suite.as_str(), row.instance.as_str()));
            remember(&mut times.algorithms, row.algorithm.as_str());
        }
        for algorithm in &times.algorithms {
            let time = |instance: &(&str, &str)| {
                let its = own().filter(|row| {
                    row.algorithm == *algorithm && (row.suite.as_str(), row.instance.as_str()) == *instance
                });
                median(its)
            };
            times.cells.push(times.instances.iter().map(time).collect());
        }
        times
    }

    fn position(&self, algorithm: &str) -> Option<usize> {
        self.algorithms.iter().position(|&name| name == algorithm)
    }

    /// Whether the algorithm at this position has the least time on an instance.
    fn wins(&self, at: usize, instance: usize) -> bool {
        let time =
            |at: usize| self.cells[at][instance].filter(|time| !time.censored).map(|time| time.seconds);
        let Some(own) = time(at) else { return false };
        (0..self.cells.len()).filter_map(time).all(|other| own <= other)
    }
}

fn remember<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The median of some runs; of an even number the mean of the middle two, censored where either did not solve.
fn median<'a>(runs: impl Iterator<Item = &'a Row>) -> Option<Time> {
    let mut limit: Option<f64> = None;
    let mut seconds: Vec<f64> = Vec::new();
    let (mut count, mut longest) = (0, 0.0f64);
    for row in runs {
        count += 1;
        limit = limit.or(row.time_limit);
        let own = row.seconds.unwrap_or(0.0);
        longest = longest.max(own);
        seconds.push(if solved(row) { own } else { f64::INFINITY });
    }
    if count == 0 {
        return None;
    }
    seconds.sort_by(f64::total_cmp);
    let solved = seconds.iter().filter(|seconds| seconds.is_finite()).count();
    let middle = f64::midpoint(seconds[(count - 1) / 2], seconds[count / 2]);
    let censored = middle.is_infinite();
    let seconds = if censored { limit.unwrap_or(longest) } else { middle };
    Some(Time { seconds, censored, solved, runs: count })
}

/// Shifted geometric mean of seconds; `None` of none.
pub fn shifted_geometric_mean(seconds: &[f64], shift: f64) -> Option<f64> {
    let sum: f64 = seconds.iter().map(|seconds| (seconds + shift).ln()).sum();
    (!seconds.is_empty()).then(|| ((sum / seconds.len() as f64).exp() - shift).max(0.0))
}

/// Per algorithm: what it solved, how long it took, how often it was first. `None` without rows.
pub fn table(times: &Times<'_>, shift: f64) -> Option<Table> {
    let mean = format!("mean s (shift {shift})");
    let mut table = Table::new([
        ("algorithm", Align::Left),
        ("instances", Align::Right),
        ("solved", Align::Right),
        ("runs", Align::Right),
        ("solved runs", Align::Right),
        (mean.as_str(), Align::Right),
        ("PAR-2 s", Align::Right),
        ("wins", Align::Right),
    ]);
    for (at, (name, cells)) in times.algorithms.iter().zip(&times.cells).enumerate() {
        let own: Vec<Time> = cells.iter().flatten().copied().collect();
        let seconds: Vec<f64> = own.iter().map(|time| time.seconds).collect();
        let penalised = own.iter().map(|time| if time.censored { 2.0 } else { 1.0 } * time.seconds);
        let wins = (0..times.instances.len()).filter(|&instance| times.wins(at, instance)).count();
        table.row([
            (*name).to_owned(),
            own.len().to_string(),
            own.iter().filter(|time| !time.censored).count().to_string(),
            own.iter().map(|time| time.runs).sum::<usize>().to_string(),
            own.iter().map(|time| time.solved).sum::<usize>().to_string(),
            shifted_geometric_mean(&seconds, shift).map_or_else(String::new, figure),
            figure(penalised.sum::<f64>() / own.len().max(1) as f64),
            wins.to_string(),
        ]);
    }
    (!table.is_empty()).then_some(table)
}

/// Four digits that count, at most four behind the point.
pub(crate) fn figure(number: f64) -> String {
    match number {
        n if n >= 1000.0 => format!("{n:.0}"),
        n if n >= 100.0 => format!("{n:.1}"),
        n if n >= 1.0 => format!("{n:.2}"),
        n => format!("{n:.4}"),
    }
}

fn shown(time: Option<Time>) -> String {
    time.map_or_else(String::new, |time| {
        format!("{}{}", if time.censored { ">" } else { "" }, figure(time.seconds))
    })
}

/// A ratio to the reference, and whether it is only a lower bound.
type Ratio = (f64, bool);
/// One ratio for many.
type Summarise = fn(&[Ratio]) -> Option<Ratio>;

/// The ratio of a time to the reference's; `None` where the reference has none to divide by.
fn ratio(time: Option<Time>, reference: Option<Time>) -> Option<Ratio> {
    let (time, reference) = (time?, reference?);
    (!reference.censored && reference.seconds > 0.0)
        .then(|| (time.seconds / reference.seconds, time.censored))
}

fn shown_ratio(ratio: Option<Ratio>) -> String {
    ratio.map_or_else(String::new, |(ratio, censored)| {
        format!("{}{}", if censored { ">" } else { "" }, figure(ratio))
    })
}

/// Instance by instance: the time of the reference, and per other algorithm its time and its ratio to that. Below the
/// instances, for each suite, geometric mean and least ratio; where a censored time took part they are lower bounds.
/// `None` where the reference is unknown or alone.
pub fn ratios(times: &Times<'_>, reference: &str) -> Option<Table> {
    let at = times.position(reference)?;
    let others: Vec<usize> = (0..times.algorithms.len()).filter(|&other| other != at).collect();
    if others.is_empty() {
        return None;
    }
    let mut names = vec!["suite".to_owned(), "instance".to_owned(), format!("{reference} s")];
    for &other in &others {
        let name = times.algorithms[other];
        names.extend([format!("{name} s"), format!("{name} / {reference}")]);
    }
    let align = |column: usize| if column < 2 { Align::Left } else { Align::Right };
    let mut table = Table::new(names.iter().enumerate().map(|(column, name)| (name.as_str(), align(column))));
    let ratio_on =
        |other: usize, instance: usize| ratio(times.cells[other][instance], times.cells[at][instance]);
    for (nth, &(suite, instance)) in times.instances.iter().enumerate() {
        let mut cells = vec![suite.to_owned(), instance.to_owned(), shown(times.cells[at][nth])];
        for &other in &others {
            cells.extend([shown(times.cells[other][nth]), shown_ratio(ratio_on(other, nth))]);
        }
        table.row(cells);
    }
    let mut suites: Vec<&str> = Vec::new();
    for &(suite, _) in &times.instances {
        remember(&mut suites, suite);
    }
    for suite in suites {
        let of_suite = |other: usize| -> Vec<Ratio> {
            let its = (0..times.instances.len()).filter(|&nth| times.instances[nth].0 == suite);
            its.filter_map(|nth| ratio_on(other, nth)).collect()
        };
        // Where the reference did not solve there is no ratio, and the reader is told.
        let total = times.instances.iter().filter(|instance| instance.0 == suite).count();
        let count = others.iter().map(|&other| of_suite(other).len()).max().unwrap_or(0);
        let mean = if count == total {
            "geometric mean".to_owned()
        } else {
            format!("geometric mean of {count} of {total}")
        };
        let kinds: [(String, Summarise); 2] = [(mean, geometric_mean), ("least".to_owned(), least)];
        for (kind, summarise) in kinds {
            let mut cells = vec![suite.to_owned(), kind, String::new()];
            for &other in &others {
                cells.extend([String::new(), shown_ratio(summarise(&of_suite(other)))]);
            }
            table.row(cells);
        }
    }
    Some(table)
}

fn geometric_mean(ratios: &[Ratio]) -> Option<Ratio> {
    let sum: f64 = ratios.iter().map(|(ratio, _)| ratio.ln()).sum();
    let censored = ratios.iter().any(|&(_, censored)| censored);
    (!ratios.is_empty()).then(|| ((sum / ratios.len() as f64).exp(), censored))
}

fn least(ratios: &[Ratio]) -> Option<Ratio> {
    ratios.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row(instance: &str, algorithm: &str, seconds: f64, claim: &str) -> Row {
        Row {
            suite: "s".into(),
            instance: instance.into(),
            problem: "offsets".into(),
            algorithm: algorithm.into(),
            status: "done".into(),
            claim: claim.into(),
            decide: true,
            time_limit: Some(10.0),
            seconds: Some(seconds),
            ..Row::default()
        }
    }

    /// `fast` solves both in 0.1 s; `slow` needs 4 s for one and fails the other.
    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for instance in ["a", "b"] {
            rows.extend([0.3, 0.1, 0.05].map(|s| row(instance, "fast", s, "feasible")));
        }
        rows.push(row("a", "slow", 4.0, "optimal"));
        rows.push(row("b", "slow", 10.0, "unknown"));
        rows
    }

    #[test]
    fn medians_count_unsolved_runs_as_longest() {
        let rows = rows();
        let times = Times::of(&rows, ProblemKind::Offsets);
        assert_eq!(times.algorithms, ["fast", "slow"]);
        assert_eq!(times.cells[0][0], Some(Time { seconds: 0.1, censored: false, solved: 3, runs: 3 }));
        assert_eq!(times.cells[1][1], Some(Time { seconds: 10.0, censored: true, solved: 0, runs: 1 }));
        let half = [row("a", "x", 1.0, "optimal"), row("a", "x", 2.0, "unknown")];
        assert!(Times::of(&half, ProblemKind::Offsets).cells[0][0].unwrap().censored);
        let even = [row("a", "x", 1.0, "optimal"), row("a", "x", 2.0, "feasible")];
        assert_eq!(Times::of(&even, ProblemKind::Offsets).cells[0][0].map(|time| time.seconds), Some(1.5));
    }

    #[test]
    fn what_solves_depends_on_the_question() {
        let minimised = |claim: &str, claimed: &str| {
            solved(&Row { decide: false, claimed: claimed.into(), ..row("a", "x", 1.0, claim) })
        };
        assert!(!minimised("feasible", "") && minimised("optimal", "") && minimised("feasible", "optimal"));
        assert!(solved(&row("a", "x", 1.0, "feasible")) && solved(&row("a", "x", 1.0, "infeasible")));
        assert!(!solved(&row("a", "x", 1.0, "unknown")));
        assert!(!solved(&Row { status: "refused".into(), ..row("a", "x", 1.0, "optimal") }));
    }

    #[test]
    fn means_are_shifted() {
        let mean = shifted_geometric_mean(&[1.0, 100.0], 0.0).unwrap();
        assert!((mean - 10.0).abs() < 1e-9);
        let mean = shifted_geometric_mean(&[0.0, 0.03], 0.01).unwrap();
        assert!((mean - 0.01).abs() < 1e-9);
        assert_eq!(shifted_geometric_mean(&[], 0.01), None);
    }

    #[test]
    fn algorithms_are_compared_by_time() {
        let rows = rows();
        let text = table(&Times::of(&rows, ProblemKind::Offsets), 0.0).unwrap().text();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[2], ["fast", "2", "2", "6", "6", "0.1000", "0.1000", "2"]);
        assert_eq!(lines[3], ["slow", "2", "1", "2", "1", "6.32", "12.00", "0"]);
    }

    #[test]
    fn ratios_are_lower_bounds_where_a_time_is_censored() {
        let rows = rows();
        let times = Times::of(&rows, ProblemKind::Offsets);
        let text = ratios(&times, "fast").unwrap().text();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[2], ["s", "a", "0.1000", "4.00", "40.00"]);
        assert_eq!(lines[3], ["s", "b", "0.1000", ">10.00", ">100.0"]);
        assert_eq!(lines[4], ["s", "geometric", "mean", ">63.25"]);
        assert_eq!(lines[5], ["s", "least", "40.00"]);
        // A reference that did not solve gives no ratio.
        let text = ratios(&times, "slow").unwrap().text();
        assert!(text.lines().nth(3).unwrap().trim_end().ends_with("0.1000"), "{text}");
        assert!(text.contains("geometric mean of 1 of 2"));
        assert!(ratios(&times, "nobody").is_none());
    }
}
