//! Tables that are generated from rows.

use crate::analysis::standing::sort;
use crate::analysis::{Group, Options, Sort, Standing, distinct, groups, standings};
use crate::report::ranking::{CERTIFIED, NONE, ranking, real, time};
use crate::report::table::{Align, Table};
use crate::report::times::SHIFT;
use crate::report::{human, percent};
use crate::row::{Certified, Evidence, Row, failures, lines};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::posed::Terms;
use plimsoll_model::Stop;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Maximum length of a remark in a table, in characters.
const REMARK: usize = 70;

/// Returns the problems of the rows, in order of first appearance.
pub fn problems(rows: &[Row]) -> Vec<&str> {
    distinct(rows.iter().map(|row| row.problem.as_str()).filter(|problem| !problem.is_empty()))
}

/// Groups the rows by question, which is the problem with its terms ("tiers, machine=b"). Questions are in
/// order of first appearance.
pub fn questions(rows: &[Row]) -> Vec<(String, Vec<Row>)> {
    let mut all: Vec<(String, Vec<Row>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.problem.is_empty()) {
        let words = if row.terms.is_empty() {
            row.problem.clone()
        } else {
            format!("{}, {}", row.problem, row.terms)
        };
        match all.iter_mut().find(|(known, _)| *known == words) {
            Some((_, own)) => own.push(row.clone()),
            None => all.push((words, vec![row.clone()])),
        }
    }
    all
}

/// Returns a table of the runs of a question, grouped by instance. Returns `None` if there are no rows.
pub fn runs(rows: &[Row]) -> Option<Table> {
    rows.first()?;
    let mut table = Table::new([
        ("algorithm", Align::Left),
        ("seed", Align::Right),
        ("value", Align::Right),
        ("gap %", Align::Right),
        ("claim", Align::Left),
        ("spent", Align::Right),
        ("to best", Align::Right),
        (CERTIFIED, Align::Left),
        ("proof", Align::Right),
    ]);
    let seeds = rows.iter().any(|row| row.seed != rows[0].seed);
    let (floating, contradictory) = (floating(rows), contradictory(rows));
    let mut previous = None;
    for row in rows {
        if previous.replace(instance(row)) != Some(instance(row)) {
            let own = instance(row);
            table.heading(facts(row, floating.contains(&own), contradictory.contains(&own)));
        }
        let claim = row.claim.map_or_else(|| row.status.to_string(), |claim| row.arithmetic().mark(claim));
        let stop = row.stop.filter(|stop| *stop != Stop::Completed);
        table.row([
            format!("  {}", row.algorithm),
            if seeds { row.seed.to_string() } else { String::new() },
            row.value.map_or_else(|| NONE.to_owned(), |value| value.to_string()),
            row.gap_percent.map_or_else(|| NONE.to_owned(), percent),
            claim + &stop.map_or_else(String::new, |stop| format!(", {stop}")),
            time(row.seconds),
            time(row.time_to_best()),
            certified(row),
            row.proof_bytes.map_or_else(String::new, human::bytes),
        ]);
        if !row.error.is_empty() {
            table.heading(format!("    {}", shorten(&row.error)));
        }
    }
    Some(table.without_empty(&["seed", CERTIFIED, "proof"]))
}

/// Returns what certifies the claim of a run (`proof` or `witness`), or `bound` if only the bound is
/// certified.
fn certified(row: &Row) -> String {
    let word = match row.certified {
        Some(Certified::Bound) => row.certified.map(Certified::as_str),
        _ => row.certified_by.map(Evidence::as_str),
    };
    word.unwrap_or_default().to_owned()
}

/// Returns the name of an instance or graph, its size, its load, and its best bound, unless no answer exists.
fn facts(row: &Row, is_floating: bool, is_contradictory: bool) -> String {
    let mut text = row.instance.clone();
    let mut blank = ": ";
    let size = row.buffers.map(|count| (count, "buffer")).or(row.operators.map(|count| (count, "operator")));
    let size = size.map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }));
    let load = row.load.map(|load| format!("load {load}"));
    let mark = if is_floating { " (floating point)" } else { "" };
    let bound = if is_contradictory {
        Some("no answer exists, because fixed offsets contradict each other".to_owned())
    } else {
        row.best_bound.map(|bound| format!("best bound {bound}{mark} {}", row.unit))
    };
    for fact in [size, load, bound].into_iter().flatten() {
        let _ = write!(text, "{blank}{fact}");
        blank = ", ";
    }
    text
}

/// Groups runs by question. The standings of each group are sorted by gap.
pub fn standings_of(rows: &[Row], shift: f64) -> Vec<(Group, Vec<Standing>)> {
    let with_standings = |group: Group| {
        let mut all = standings(&group, shift);
        sort(&mut all, &group.question, Sort::Gap);
        (group, all)
    };
    groups(rows, Options::default()).into_iter().map(with_standings).collect()
}

/// Returns one table of the algorithms per question, best first, and the errors of failed runs.
pub fn ranked(rows: &[Row]) -> String {
    let table = |(group, all): &(Group, Vec<Standing>)| {
        ranking(group.question.decide, real(all)).without_empty(&[CERTIFIED]).text()
    };
    standings_of(rows, SHIFT).iter().map(table).collect::<String>() + &lines(&failures(rows))
}

/// An instance, identified by problem, terms, suite and name.
type Instance<'a> = ([&'a str; 3], &'a Terms);

fn instance(row: &Row) -> Instance<'_> {
    ([&row.problem, &row.suite, &row.instance], &row.terms)
}

/// Returns the instances whose best bound is proved only in floating-point arithmetic.
pub fn floating(rows: &[Row]) -> BTreeSet<Instance<'_>> {
    let best = |row: &&Row| row.is_done() && row.best_bound.is_some() && row.lower_bound == row.best_bound;
    let by = |arithmetic: Arithmetic| -> BTreeSet<Instance<'_>> {
        rows.iter().filter(best).filter(|row| row.arithmetic() == arithmetic).map(instance).collect()
    };
    &by(Arithmetic::FloatingPoint) - &by(Arithmetic::Exact)
}

/// Returns the instances whose fixed offsets contradict each other. Their bounds are above every value.
fn contradictory(rows: &[Row]) -> BTreeSet<Instance<'_>> {
    let overlap = |row: &&Row| row.witness.as_ref().is_some_and(|own| own.kind() == "contradiction");
    rows.iter().filter(overlap).map(instance).collect()
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= REMARK {
        return text.to_owned();
    }
    let kept: String = text.chars().take(REMARK - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{AlgorithmKind, Status};
    use plimsoll_model::Claim;

    fn rows() -> Vec<Row> {
        let row = |instance: &str, algorithm: &str, peak, gap| Row {
            suite: "s".into(),
            instance: instance.into(),
            load: Some(10),
            best_bound: Some(10),
            problem: "offsets".into(),
            algorithm: algorithm.into(),
            kind: Some(AlgorithmKind::Heuristic),
            claim: Some(Claim::Feasible),
            status: Status::Done,
            value: peak,
            gap_percent: gap,
            seconds: Some(0.5),
            ..Row::default()
        };
        let mut failed = row("b", "y", None, None);
        failed.claim = None;
        failed.status = Status::Failed;
        failed.error = "a long story | ".repeat(9);
        vec![row("a", "x", Some(10), Some(0.0)), row("a", "y", Some(12), Some(20.0)), failed]
    }

    #[test]
    fn runs_are_grouped_by_instance() {
        let text = runs(&rows()).unwrap().text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("to best") && !lines[0].contains("seed"));
        assert_eq!(
            (lines[2], lines[5]),
            ("a: load 10, best bound 10 bytes", "b: load 10, best bound 10 bytes")
        );
        assert!(lines[3].starts_with("  x") && lines[4].contains("20.00") && lines[6].contains("failed"));
        assert!(lines[7].starts_with("    a long story") && lines[7].ends_with('…'));
        assert!(runs(&[]).is_none());
    }

    #[test]
    fn questions_are_problems_on_their_terms() {
        let on =
            |terms: &str| Row { problem: "tiers".into(), terms: terms.parse().unwrap(), ..Row::default() };
        let rows = [on("machine=b"), on(""), on("machine=b"), Row::default()];
        let found: Vec<_> = questions(&rows).into_iter().map(|(words, own)| (words, own.len())).collect();
        assert_eq!(found, [("tiers, machine=b".to_owned(), 2), ("tiers".to_owned(), 1)]);
        assert_eq!(problems(&rows), ["tiers"]);
    }
}
