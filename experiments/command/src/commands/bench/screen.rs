//! The main table of `bench`: one row per algorithm, best first.

use plimsoll_lab::report::human;
use plimsoll_lab::report::ranking::{CERTIFIED, headline, labels, ranking, real};
use plimsoll_lab::report::summary::{floating, standings_of};
use plimsoll_lab::report::table::wrapped;
use plimsoll_lab::row::{Row, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Maximum number of table rows, divided evenly among the questions. With this limit, the whole output fits
/// on a screen of 40 lines.
const ROWS: usize = 27;
/// Minimum number of algorithms shown per question, even if the table then has more than [`ROWS`] rows.
const FEWEST: usize = 2;

/// Returns the numbers of instances, problems and runs, the headline if there is one question, and a table of
/// the algorithms by question. With `short`, the table contains only the best algorithms and all external
/// programs. Notes on floating-point bounds and skipped runs follow. The text is empty if nothing ran.
pub fn screen(rows: &[Row], limit: Duration, shift: f64, short: bool, width: usize) -> String {
    let ran: Vec<&Row> = rows.iter().filter(|row| !row.algorithm.is_empty()).collect();
    let all = standings_of(rows, shift);
    let Some((first, _)) = all.first() else { return String::new() };
    let decide = first.question.decide;
    let labels = labels(all.iter().map(|(group, _)| group));
    let most = (ROWS / all.len()).max(FEWEST + 1) - 1;
    let mut table = ranking(decide, []);
    for ((_, standings), label) in all.iter().zip(&labels) {
        let count = real(standings).count();
        let shown = if short && count > most { most } else { count };
        if all.len() > 1 || shown < count {
            let best = if shown < count { format!(": best {shown} of {count}") } else { String::new() };
            table.heading(format!("{label}{best}"));
        }
        // External programs are always shown.
        let rows = real(standings).enumerate().filter(|(at, own)| *at < shown || own.is_external());
        table.extend(ranking(decide, rows.map(|(_, own)| own)));
    }
    let problems: BTreeSet<&str> = all.iter().map(|(group, _)| group.question.problem.as_str()).collect();
    let named = |graphs: bool| -> BTreeSet<_> {
        let own = ran.iter().filter(|row| row.operators.is_some() == graphs);
        own.map(|row| (&row.suite, &row.instance)).collect()
    };
    let subjects = [(named(false).len(), "instance"), (named(true).len(), "graph")];
    let subjects = subjects.into_iter().filter(|(count, _)| *count > 0);
    let counts = format!(
        "{}, {}, {} of at most {}",
        subjects.map(|(count, what)| human::count(count, what)).collect::<Vec<_>>().join(", "),
        human::count(problems.len(), "problem"),
        human::count(ran.len(), "run"),
        human::seconds(limit.as_secs_f64()),
    );
    let headline = match all.as_slice() {
        [(group, standings)] => {
            headline(group, standings).map(|text| wrapped(&text, width).join("\n") + "\n")
        }
        _ => None,
    };
    let floating = match floating(rows).len() {
        0 => String::new(),
        1 => "\n1 best bound rests on floating-point arithmetic alone\n".to_owned(),
        count => format!("\n{count} best bounds rest on floating-point arithmetic alone\n"),
    };
    let skipped = skipped(rows, width);
    let blank = if skipped.is_empty() || !floating.is_empty() { "" } else { "\n" };
    format!(
        "{counts}\ngaps to the best proven bound; mean times\n\n{}{}{floating}{blank}{skipped}",
        headline.map_or_else(String::new, |text| text + "\n"),
        table.without_empty(&[CERTIFIED]).text_within(width)
    )
}

/// Returns one line per reason for which runs were skipped. Algorithms that do not support an instance for
/// the same reason share a line.
fn skipped(rows: &[Row], width: usize) -> String {
    let mut groups: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.status == Status::Skipped) {
        groups.entry(row.error.as_str()).or_default().push(row);
    }
    let line = |(why, rows): (&str, Vec<&Row>)| {
        let runs = human::count(rows.len(), "run");
        let distinct = |of: fn(&Row) -> &str| -> Vec<&str> {
            Vec::from_iter(rows.iter().map(|row| of(row)).collect::<BTreeSet<&str>>())
        };
        let problems = distinct(|row| &row.problem).join(", ");
        let algorithms = distinct(|row| &row.algorithm);
        let by = match algorithms.as_slice() {
            [only] => format!(" of {only}"),
            all => format!(" of {}", human::count(all.len(), "algorithm")),
        };
        wrapped(&format!("{problems}: {runs}{by} skipped: {why}"), width).join("\n") + "\n"
    };
    groups.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_lab::row::AlgorithmKind;

    fn row(problem: &str, algorithm: &str, instance: &str, gap: Option<u64>) -> Row {
        Row {
            problem: problem.to_owned(),
            algorithm: algorithm.to_owned(),
            kind: Some(AlgorithmKind::Heuristic),
            instance: instance.to_owned(),
            status: Status::Done,
            value: gap.map(|gap| 100 + gap),
            best_bound: Some(100),
            seconds: Some(0.25),
            ..Row::default()
        }
    }

    #[test]
    fn the_best_come_first_and_the_rest_is_counted() {
        let mut rows = Vec::new();
        for at in 0..40 {
            rows.push(row("offsets", &format!("a{at}"), "x", Some(40 - at)));
        }
        rows.push(row("offsets", "silent", "x", None));
        rows.extend([row("orders", "b", "x", Some(0)), row("orders", "b", "y", Some(1))]);
        let text = screen(&rows, Duration::from_millis(1500), 0.01, true, 80);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "2 instances, 2 problems, 43 runs of at most 1.50 s");
        assert_eq!(lines[5], "offsets: best 12 of 41");
        let cells: Vec<&str> = lines[6].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, ["a39", "1.00", "1.00", "0/1", "250 ms", "-", "-"], "{text}");
        assert!(text.contains("\norders\nb "), "{text}");
        assert_eq!(screen(&rows, Duration::ZERO, 0.01, false, 80).lines().count(), 5 + 1 + 41 + 1 + 1);
        assert_eq!(screen(&[], Duration::ZERO, 0.01, true, 80), "");
    }

    #[test]
    fn external_programs_are_shown_below_the_best() {
        let mut rows: Vec<Row> = (0..40).map(|at| row("offsets", &format!("a{at}"), "x", Some(at))).collect();
        rows.push(Row { kind: Some(AlgorithmKind::External), ..row("offsets", "mine", "x", Some(90)) });
        let text = screen(&rows, Duration::from_secs(1), 0.01, true, 80);
        assert!(text.contains("\nmine  ") && !text.contains("\na39 "), "{text}");
    }

    #[test]
    fn nine_problems_fit_on_a_screen() {
        let problem = |at: usize| format!("problem-{}", at % 9);
        let rows: Vec<Row> = (0..900)
            .map(|at| row(&problem(at), &format!("{at}-{}", "long".repeat(20)), "x", Some(10_000)))
            .collect();
        let text = screen(&rows, Duration::from_secs(10), 0.01, true, 80);
        assert!(text.lines().count() <= 33, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn skipped_runs_have_one_line_per_reason() {
        let why = |name: &str| row("offsets", name, "x", None).without(Status::Skipped, "there are gaps");
        let text = screen(&[why("a"), why("a")], Duration::from_secs(1), 0.01, true, 80);
        assert!(text.ends_with("\n\noffsets: 2 runs of a skipped: there are gaps\n"), "{text}");
        let text = screen(&[why("a"), why("b"), why("b")], Duration::from_secs(1), 0.01, true, 80);
        assert!(text.ends_with("\noffsets: 3 runs of 2 algorithms skipped: there are gaps\n"), "{text}");
    }

    #[test]
    fn a_single_question_has_a_headline() {
        let rows = [row("offsets", "a", "x", Some(2)), row("offsets", "b", "x", Some(4))];
        let text = screen(&rows, Duration::from_secs(1), 0.01, true, 60);
        assert!(text.contains("\na is best with a mean gap of 2.00 % and proves no optimum;\n"), "{text}");
        assert!(!text.contains("\noffsets"), "{text}");
    }
}
