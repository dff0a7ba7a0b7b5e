//! How long algorithms take, compared: shifted geometric means, penalised averages, ratios, wins.
//!
//! Definitions are those of [`analysis::time`](crate::analysis::time). Times are those of whole processes or runs, or those that
//! algorithms measure themselves ([`Clock`]).
//!
//! O(rows * (algorithms + instances)).

use crate::analysis::time::{
    Run, Time, can_prove, median_spent, median_time, shifted_geometric_mean, solved,
};
use crate::record::Record;
use crate::report::table::{Align, Table};
use plimsoll::plan::ProblemKind;

/// Shift of geometric means where nobody chose another, seconds.
pub const SHIFT: f64 = 0.01;

/// Whose clock times are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The benchmark's: of whole processes where they are processes.
    Bench,
    /// The algorithm's own: from after reading the instance to its answer.
    Own,
}

impl Clock {
    /// Seconds of a run; `None` where this clock shows none although the run solved.
    fn seconds(self, row: &Record) -> Option<f64> {
        match self {
            Self::Bench => Some(row.seconds.unwrap_or(0.0)),
            Self::Own if solved(row) => row.own_seconds,
            Self::Own => Some(0.0),
        }
    }
}

/// Times by algorithm and instance.
#[derive(Clone, Debug, Default)]
pub struct Times<'a> {
    /// Suite and name of every instance.
    pub instances: Vec<(&'a str, &'a str)>,
    /// Every algorithm, in the order of the rows.
    pub algorithms: Vec<&'a str>,
    /// Time to solve by algorithm, then instance; `None` where there was no run, and where none is to be expected.
    pub cells: Vec<Vec<Option<Time>>>,
    /// Median seconds spent, the same way; `None` where no run has any.
    pub spent: Vec<Vec<Option<f64>>>,
    /// By algorithm: whether it sets out to solve.
    pub proves: Vec<bool>,
    /// By algorithm: its runs, and those of them that solved.
    pub runs: Vec<(usize, usize)>,
}

impl<'a> Times<'a> {
    /// Gathers the rows of one problem.
    pub fn of(rows: &'a [Record], problem: ProblemKind) -> Self {
        Self::by(Clock::Bench, rows, problem)
    }

    /// The same by another clock. An instance on which a run solved but has no time by that clock has no median.
    pub fn by(clock: Clock, rows: &'a [Record], problem: ProblemKind) -> Self {
        let own = || rows.iter().filter(|row| row.problem == problem.as_str());
        let mut times = Self::default();
        for row in own() {
            remember(&mut times.instances, (row.suite.as_str(), row.instance.as_str()));
            remember(&mut times.algorithms, row.algorithm.as_str());
        }
        for algorithm in &times.algorithms {
            let its = || own().filter(|row| row.algorithm == *algorithm);
            let on = |instance: (&'a str, &'a str)| {
                its().filter(move |row| (row.suite.as_str(), row.instance.as_str()) == instance)
            };
            let proves = its().any(|row| can_prove(row));
            let time = |&instance: &(&'a str, &'a str)| {
                median(on(instance), clock).filter(|time| proves || !time.censored)
            };
            let spent =
                |&instance: &(&'a str, &'a str)| median_spent(on(instance).filter_map(|row| row.seconds));
            times.cells.push(times.instances.iter().map(time).collect());
            times.spent.push(times.instances.iter().map(spent).collect());
            times.proves.push(proves);
            times.runs.push((its().count(), its().filter(|row| solved(row)).count()));
        }
        times
    }

    /// Leaves out the other algorithms.
    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let kept: Vec<bool> = self.algorithms.iter().map(|name| keep(name)).collect();
        let mut at = kept.iter();
        self.cells.retain(|_| at.next() == Some(&true));
        at = kept.iter();
        self.spent.retain(|_| at.next() == Some(&true));
        at = kept.iter();
        self.proves.retain(|_| at.next() == Some(&true));
        at = kept.iter();
        self.runs.retain(|_| at.next() == Some(&true));
        self.algorithms.retain(|name| keep(name));
    }

    pub(crate) fn position(&self, algorithm: &str) -> Option<usize> {
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

pub(crate) fn remember<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn median<'a>(runs: impl Iterator<Item = &'a Record>, clock: Clock) -> Option<Time> {
    median_time(runs.map(|row| Run {
        seconds: clock.seconds(row),
        solved: solved(row),
        limit: row.time_limit,
        resolution: if clock == Clock::Own { row.own_resolution.unwrap_or(0.0) } else { 0.0 },
    }))
}

/// Per algorithm: time spent, what it solved, time to solve, how often it was first. `None` without rows.
pub fn table(times: &Times<'_>, shift: f64) -> Option<Table> {
    let spent = format!("spent s (shift {shift})");
    let mean = format!("to solve s (shift {shift})");
    let mut table = Table::new([
        ("algorithm", Align::Left),
        ("instances", Align::Right),
        ("runs", Align::Right),
        (spent.as_str(), Align::Right),
        ("solved", Align::Right),
        ("solved runs", Align::Right),
        (mean.as_str(), Align::Right),
        ("PAR-2 s", Align::Right),
        ("wins", Align::Right),
    ]);
    for (at, (name, cells)) in times.algorithms.iter().zip(&times.cells).enumerate() {
        let own: Vec<Time> = cells.iter().flatten().copied().collect();
        let spent: Vec<f64> = times.spent[at].iter().flatten().copied().collect();
        let (runs, solved_runs) = times.runs[at];
        let to_solve = |figure: Option<String>| {
            if times.proves[at] { figure.unwrap_or_default() } else { "-".to_owned() }
        };
        let seconds: Vec<f64> = own.iter().map(|time| time.seconds).collect();
        let penalised = own.iter().map(|time| if time.censored { 2.0 } else { 1.0 } * time.seconds);
        let wins = (0..times.instances.len()).filter(|&instance| times.wins(at, instance)).count();
        table.row([
            (*name).to_owned(),
            spent.len().max(own.len()).to_string(),
            runs.to_string(),
            shifted_geometric_mean(&spent, shift).map_or_else(String::new, figure),
            own.iter().filter(|time| !time.censored).count().to_string(),
            solved_runs.to_string(),
            to_solve(shifted_geometric_mean(&seconds, shift).map(figure)),
            to_solve(Some(figure(penalised.sum::<f64>() / own.len().max(1) as f64))),
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row(instance: &str, algorithm: &str, seconds: f64, claim: &str) -> Record {
        Record {
            suite: "s".into(),
            instance: instance.into(),
            problem: "offsets".into(),
            algorithm: algorithm.into(),
            status: "done".into(),
            claim: claim.into(),
            decide: "load".into(),
            time_limit: Some(10.0),
            seconds: Some(seconds),
            ..Record::default()
        }
    }

    /// `fast` solves both in 0.1 s; `slow` needs 4 s for one and fails the other.
    pub(crate) fn rows() -> Vec<Record> {
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
        assert_eq!(
            times.cells[0][0],
            Some(Time { seconds: 0.1, censored: false, resolution: 0.0, solved: 3, runs: 3 })
        );
        assert_eq!(
            times.cells[1][1],
            Some(Time { seconds: 10.0, censored: true, resolution: 0.0, solved: 0, runs: 1 })
        );
        let half = [row("a", "x", 1.0, "optimal"), row("a", "x", 2.0, "unknown")];
        assert!(Times::of(&half, ProblemKind::Offsets).cells[0][0].unwrap().censored);
        let even = [row("a", "x", 1.0, "optimal"), row("a", "x", 2.0, "feasible")];
        assert_eq!(Times::of(&even, ProblemKind::Offsets).cells[0][0].map(|time| time.seconds), Some(1.5));
    }

    #[test]
    fn algorithms_are_compared_by_time() {
        let rows = rows();
        let text = table(&Times::of(&rows, ProblemKind::Offsets), 0.0).unwrap().text();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[2], ["fast", "2", "6", "0.1000", "2", "6", "0.1000", "0.1000", "2"]);
        assert_eq!(lines[3], ["slow", "2", "2", "6.32", "1", "1", "6.32", "12.00", "0"]);
    }

    /// What ends in microseconds is not shown as long as the limit, only because it proves nothing.
    #[test]
    fn heuristics_spend_time_and_have_none_to_a_proof() {
        let ran = |instance: &str, seconds, claim: &str, decide: &str| Record {
            kind: "heuristic".into(),
            decide: decide.into(),
            ..row(instance, "quick", seconds, claim)
        };
        let rows = [ran("a", 6e-5, "feasible", ""), ran("b", 6e-5, "optimal", "")];
        let times = Times::of(&rows, ProblemKind::Offsets);
        assert_eq!((times.cells[0][0], times.spent[0][0]), (None, Some(6e-5)));
        assert_eq!(times.cells[0][1].map(|time| (time.seconds, time.censored)), Some((6e-5, false)));
        let text = table(&times, 0.0).unwrap().text();
        let line: Vec<&str> = text.lines().nth(2).unwrap().split_whitespace().collect();
        assert_eq!(line, ["quick", "2", "2", "0.0001", "1", "1", "-", "-", "1"]);
        // A capacity is decided by keeping it: one that does not has not answered.
        let rows = [ran("a", 6e-5, "unknown", "load")];
        assert!(Times::of(&rows, ProblemKind::Offsets).cells[0][0].unwrap().censored);
    }

    #[test]
    fn own_clocks_may_be_silent() {
        let own = |seconds, resolution| Record {
            own_seconds: seconds,
            own_resolution: resolution,
            ..row("a", "x", 1.0, "optimal")
        };
        let time = |rows: &[Record]| Times::by(Clock::Own, rows, ProblemKind::Offsets).cells[0][0];
        let found = time(&[own(Some(0.25), Some(0.001)), own(Some(0.75), None)]).unwrap();
        assert_eq!(
            (found.seconds.to_bits(), found.resolution.to_bits()),
            (0.5f64.to_bits(), 0.001f64.to_bits())
        );
        assert_eq!(time(&[own(Some(0.25), None), own(None, None)]), None);
        // Who did not solve has no time of its own, but the limit.
        let found = time(&[row("a", "x", 10.0, "unknown")]).unwrap();
        assert!(found.censored && found.seconds > 9.9);
    }
}
