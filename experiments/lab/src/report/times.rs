//! Comparisons of times: shifted geometric means, penalised averages and wins.
//!
//! The definitions are those of [`analysis::time`](crate::analysis::time). A time is measured for
//! the whole process or run, or reported by the algorithm itself ([`Clock`]).
//!
//! **Complexity.** O(rows * (log(rows) + algorithms) + algorithms^2 * instances) for the rows of one
//! question.

use crate::analysis::standing::sort;
use crate::analysis::time::solved;
use crate::analysis::{Group, Options, Sort, Standing, groups, standings};
use crate::report::ranking::{mean_time, real, time, to_solve};
use crate::report::table::{Align, Column, Table};
use crate::row::Row;

/// Default shift of geometric means, in seconds.
pub const SHIFT: f64 = 0.01;

/// The clock by which times are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The clock of the benchmark. It measures the whole process of an external program.
    Bench,
    /// The clock of the algorithm itself. It runs from the end of reading the instance to the answer.
    Own,
}

/// Groups the results of all algorithms on the instances of one question. Times are measured by the
/// benchmark.
pub fn of(rows: &[Row]) -> Group {
    by(Clock::Bench, rows)
}

/// Groups the results as [`of`] does, with times of a given clock. If a solved run has no time of that
/// clock, its algorithm has no median time on that instance.
pub fn by(clock: Clock, rows: &[Row]) -> Group {
    let mut own = rows.to_vec();
    if clock == Clock::Own {
        for row in &mut own {
            // An unsolved run counts with its time limit.
            row.seconds = if solved(row) { row.own_seconds } else { Some(0.0) };
        }
    }
    // The shift is applied when means are shown.
    let options = Options::default();
    groups(&own, options).into_iter().next().unwrap_or_default()
}

/// Returns a table with one row per algorithm: instances solved, time spent, time to the best answer, time to
/// solve, and wins. Returns `None` if there are no rows.
pub fn table(group: &Group, shift: f64) -> Option<Table> {
    let decide = group.question.decide;
    let columns: [Column<'_, &Standing>; 8] = [
        ("algorithm", Align::Left, &|own| own.algorithm.clone()),
        (if decide { "decided" } else { "proved" }, Align::Right, &|own| {
            format!("{}/{}", own.solved, own.instances)
        }),
        ("runs", Align::Right, &|own| format!("{}/{}", own.solved_runs, own.runs)),
        ("spent", Align::Right, &|own| time(own.mean_spent)),
        ("to best", Align::Right, &|own| time(own.mean_to_best)),
        (to_solve(decide), Align::Right, &|own| mean_time(own.mean_time)),
        ("PAR-2", Align::Right, &|own| time(own.par2)),
        ("wins", Align::Right, &|own| (own.time_alone + own.time_shared).to_string()),
    ];
    let mut standings = standings(group, shift);
    sort(&mut standings, &group.question, Sort::Gap);
    let table = Table::of(&columns, real(&standings));
    (!table.is_empty()).then_some(table)
}

/// Formats a number with at most four decimals, and with fewer decimals for larger numbers. Numbers of at
/// least 1 have at least three significant digits.
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
    use crate::analysis::time::Time;
    use crate::row::{AlgorithmKind, Decide, Status};
    use plimsoll_model::Claim;

    pub(crate) fn row(instance: &str, algorithm: &str, seconds: f64, claim: Claim) -> Row {
        Row {
            suite: "s".into(),
            instance: instance.into(),
            problem: "offsets".into(),
            algorithm: algorithm.into(),
            status: Status::Done,
            claim: Some(claim),
            decide: Some(Decide::Load),
            time_limit: Some(10.0),
            seconds: Some(seconds),
            ..Row::default()
        }
    }

    /// `fast` solves both instances in 0.1 s. `slow` needs 4 s for one and does not solve the other.
    pub(crate) fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for instance in ["a", "b"] {
            rows.extend([0.3, 0.1, 0.05].map(|s| row(instance, "fast", s, Claim::Feasible)));
        }
        rows.push(row("a", "slow", 4.0, Claim::Optimal));
        rows.push(row("b", "slow", 10.0, Claim::Unknown));
        rows
    }

    #[test]
    fn medians_count_unsolved_runs_as_longest() {
        let rows = rows();
        let times = of(&rows);
        let names: Vec<&str> = times.algorithms.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["fast", "slow"]);
        assert_eq!(
            times.time_to_solve(0, 0),
            Some(Time { seconds: 0.1, censored: false, resolution: 0.0, solved: 3, runs: 3 })
        );
        assert_eq!(
            times.time_to_solve(1, 1),
            Some(Time { seconds: 10.0, censored: true, resolution: 0.0, solved: 0, runs: 1 })
        );
        let half = [row("a", "x", 1.0, Claim::Optimal), row("a", "x", 2.0, Claim::Unknown)];
        assert!(of(&half).time_to_solve(0, 0).unwrap().censored);
        let even = [row("a", "x", 1.0, Claim::Optimal), row("a", "x", 2.0, Claim::Feasible)];
        assert_eq!(of(&even).time_to_solve(0, 0).map(|time| time.seconds), Some(1.5));
    }

    fn cells(line: &str) -> Vec<&str> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
    }

    #[test]
    fn algorithms_are_compared_by_time() {
        let rows = rows();
        let text = table(&of(&rows), 0.0).unwrap().text();
        let lines: Vec<Vec<&str>> = text.lines().map(cells).collect();
        assert_eq!(lines[2], ["fast", "2/2", "6/6", "100 ms", "-", "100 ms", "100 ms", "2"]);
        assert_eq!(lines[3], ["slow", "1/2", "1/2", "6.32 s", "-", ">6.32 s", "12.0 s", "0"]);
    }

    /// A run that ends in microseconds without a proof is not shown as a run that used the whole limit.
    #[test]
    fn heuristics_have_time_spent_but_no_time_to_solve() {
        let ran = |instance: &str, seconds, claim, decide| Row {
            kind: Some(AlgorithmKind::Heuristic),
            decide,
            ..row(instance, "quick", seconds, claim)
        };
        let rows = [ran("a", 6e-5, Claim::Feasible, None), ran("b", 6e-5, Claim::Optimal, None)];
        let times = of(&rows);
        let cell = times.cells[0][0].as_ref().unwrap();
        assert_eq!((times.time_to_solve(0, 0), cell.spent), (None, Some(6e-5)));
        assert_eq!(times.time_to_solve(0, 1).map(|time| (time.seconds, time.censored)), Some((6e-5, false)));
        let text = table(&times, 0.0).unwrap().text();
        let line = cells(text.lines().nth(2).unwrap());
        assert_eq!(line, ["quick", "1/2", "1/2", "60.0 µs", "-", "-", "-", "0"]);
        // A layout within the capacity decides it. A heuristic that finds no such layout has not answered.
        let rows = [ran("a", 6e-5, Claim::Unknown, Some(Decide::Load))];
        assert!(of(&rows).time_to_solve(0, 0).unwrap().censored);
    }

    #[test]
    fn own_times_may_be_missing() {
        let own = |seconds, resolution| Row {
            own_seconds: seconds,
            own_resolution: resolution,
            ..row("a", "x", 1.0, Claim::Optimal)
        };
        let time = |rows: &[Row]| by(Clock::Own, rows).time_to_solve(0, 0);
        let found = time(&[own(Some(0.25), Some(0.001)), own(Some(0.75), None)]).unwrap();
        assert_eq!(
            (found.seconds.to_bits(), found.resolution.to_bits()),
            (0.5f64.to_bits(), 0.001f64.to_bits())
        );
        assert_eq!(time(&[own(Some(0.25), None), own(None, None)]), None);
        // An unsolved run has no self-reported time, so it counts with its time limit.
        let found = time(&[row("a", "x", 10.0, Claim::Unknown)]).unwrap();
        assert!(found.censored && found.seconds > 9.9);
    }
}
