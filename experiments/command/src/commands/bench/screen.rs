//! The default output of `bench`: a summary of at most one screen.

use plimsoll_lab::record::Record;
use plimsoll_lab::report::percent;
use plimsoll_lab::report::summary::{Tally, floating, problems, tallies};
use plimsoll_lab::report::table::{Align, Table};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::time::Duration;

/// Maximum number of table rows, divided evenly among the problems. The whole output then fits on a screen of
/// 40 lines.
const ROWS: usize = 27;
/// Minimum number of rows per problem: the two best algorithms and the number of others.
const FEWEST: usize = 3;
/// Maximum length of an algorithm's name, in characters.
const NAME: usize = 36;

/// Compares by the number of runs without a value, then by mean gap, then by time.
fn rank(one: &Tally, other: &Tally) -> Ordering {
    let silent = |own: &Tally| own.runs - own.gaps.len();
    let mean = |own: &Tally| own.mean_gap().unwrap_or(f64::INFINITY);
    let by = silent(one).cmp(&silent(other)).then(mean(one).total_cmp(&mean(other)));
    by.then(one.seconds.total_cmp(&other.seconds))
}

fn cells(own: &Tally) -> [String; 5] {
    let gap = |gap: Option<f64>| gap.map_or_else(|| "-".to_owned(), percent);
    [
        own.algorithm.chars().take(NAME).collect(),
        gap(own.mean_gap()),
        gap(own.worst_gap()),
        format!("{} of {}", own.at_bound(), own.runs),
        format!("{:.3}", own.seconds),
    ]
}

/// Returns the summary: the numbers of instances, problems and runs, and a table of the best algorithms per
/// problem. It is empty if nothing ran.
pub fn screen(rows: &[Record], limit: Duration) -> String {
    let ran: Vec<&Record> = rows.iter().filter(|row| !row.algorithm.is_empty()).collect();
    let problems = problems(rows);
    if problems.is_empty() {
        return String::new();
    }
    let named = |graphs: bool| -> BTreeSet<_> {
        let own = ran.iter().filter(|row| row.operators.is_some() == graphs);
        own.map(|row| (&row.suite, &row.instance)).collect()
    };
    let mut table = Table::new([
        ("problem", Align::Left),
        ("algorithm", Align::Left),
        ("mean gap %", Align::Right),
        ("worst gap %", Align::Right),
        ("optimal", Align::Right),
        ("seconds", Align::Right),
    ]);
    let most = (ROWS / problems.len()).max(FEWEST);
    for problem in &problems {
        let mut lines = tallies(rows.iter().filter(|row| row.problem == *problem));
        lines.sort_by(rank);
        let shown = if lines.len() > most { most - 1 } else { lines.len() };
        for (at, line) in lines[..shown].iter().enumerate() {
            let problem = if at == 0 { (*problem).to_owned() } else { String::new() };
            table.row([problem].into_iter().chain(cells(line)));
        }
        if lines.len() > shown {
            table.row([String::new(), format!("and {} more", lines.len() - shown)]);
        }
    }
    let floating = match floating(rows).len() {
        0 => String::new(),
        1 => "\n1 best bound rests on floating-point arithmetic alone\n".to_owned(),
        count => format!("\n{count} best bounds rest on floating-point arithmetic alone\n"),
    };
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let subjects = [(named(false).len(), "instance"), (named(true).len(), "graph")];
    let subjects = subjects.into_iter().filter(|(count, _)| *count > 0);
    format!(
        "{}, {}, {} of at most {} s; gaps to the best proven bound\n\n{}{floating}",
        subjects.map(|(count, what)| plural(count, what)).collect::<Vec<_>>().join(", "),
        plural(problems.len(), "problem"),
        plural(ran.len(), "run"),
        limit.as_secs_f64(),
        table.text()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(problem: &str, algorithm: &str, instance: &str, gap: Option<f64>) -> Record {
        Record {
            problem: problem.to_owned(),
            algorithm: algorithm.to_owned(),
            instance: instance.to_owned(),
            gap_percent: gap,
            seconds: Some(0.25),
            ..Record::default()
        }
    }

    #[test]
    fn the_best_come_first_and_the_rest_is_counted() {
        let mut rows = Vec::new();
        for at in 0..40 {
            rows.push(row("offsets", &format!("a{at}"), "x", Some(f64::from(40 - at))));
        }
        rows.push(row("offsets", "silent", "x", None));
        rows.extend([row("orders", "b", "x", Some(0.0)), row("orders", "b", "y", Some(1.0))]);
        let text = screen(&rows, Duration::from_millis(1500));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "2 instances, 2 problems, 43 runs of at most 1.5 s; gaps to the best proven bound"
        );
        assert!(
            lines[4].starts_with("offsets  a39") && lines[4].ends_with("1.00         1.00   0 of 1    0.250"),
            "{text}"
        );
        assert!(text.contains("         and 29 more\n"), "{text}");
        assert!(text.contains("orders   b                  0.50         1.00   1 of 2    0.500"), "{text}");
        assert_eq!(screen(&[], Duration::ZERO), "");
    }

    #[test]
    fn nine_problems_fit_on_a_screen() {
        let problem = |at: usize| format!("problem-{}", at % 9);
        let rows: Vec<Record> = (0..900)
            .map(|at| row(&problem(at), &format!("{at}-{}", "long".repeat(20)), "x", Some(1e4)))
            .collect();
        let text = screen(&rows, Duration::from_secs(10));
        assert!(text.lines().count() <= 33, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
