//! The algorithms of a group in one table, and their comparison in one sentence.

use crate::analysis::standing::sort;
use crate::analysis::{Group, Mean, Question, Sort, Standing};
use crate::report::table::{Align, Column, Table};
use crate::report::{human, percent};
use crate::row::AlgorithmKind;
use std::fmt::Write as _;

/// A cell without a value, for example the time to proof of a heuristic.
pub(super) const NONE: &str = "-";

/// Returns the standings of algorithms, without the virtual best.
pub fn real(standings: &[Standing]) -> impl Iterator<Item = &Standing> {
    standings.iter().filter(|own| !own.is_virtual())
}

/// Formats a time, or returns a dash if there is none.
pub(super) fn time(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| NONE.to_owned(), human::seconds)
}

/// Formats a mean time. A lower bound is marked with `>`.
pub(super) fn mean_time(mean: Option<Mean>) -> String {
    let bound = mean.is_some_and(|mean| mean.bound);
    format!("{}{}", if bound { ">" } else { "" }, time(mean.map(|mean| mean.value)))
}

/// Returns the header of the column that contains the times to solve.
pub(super) fn to_solve(decide: bool) -> &'static str {
    if decide { "to decide" } else { "to proof" }
}

/// Returns a table with one row per algorithm. The columns are the gaps, the number of optima, the time
/// spent, the time to the best answer, the time to proof, and the number of certified runs among the proved
/// runs. If the question is to decide a capacity, the table counts decided instances instead of optima.
/// Callers remove the column [`CERTIFIED`] if it is empty.
pub fn ranking<'a>(decide: bool, standings: impl IntoIterator<Item = &'a Standing>) -> Table {
    let gap = |gap: Option<f64>| gap.map_or_else(|| NONE.to_owned(), percent);
    let columns: [Column<'_, &Standing>; 8] = [
        ("algorithm", Align::Left, &|own| own.algorithm.clone()),
        ("gap %", Align::Right, &|own| gap(own.mean_gap)),
        ("worst %", Align::Right, &|own| gap(own.worst_gap)),
        (if decide { "decided" } else { "optimal" }, Align::Right, &|own| {
            format!("{}/{}", if decide { own.solved } else { own.at_bound }, own.instances)
        }),
        ("spent", Align::Right, &|own| time(own.mean_spent)),
        ("to best", Align::Right, &|own| time(own.mean_to_best)),
        (to_solve(decide), Align::Right, &|own| mean_time(own.mean_time)),
        (CERTIFIED, Align::Right, &|own| certified(own, "/")),
    ];
    Table::of(&columns, standings)
}

/// The header of the column with the certified runs, which is empty if no bound is certified.
pub const CERTIFIED: &str = "certified";

/// Returns the numbers of certified and proved runs as text, separated by `of`. Returns an empty string if no
/// bound is certified.
pub(super) fn certified(own: &Standing, of: &str) -> String {
    own.certified_runs.map_or_else(String::new, |count| format!("{count}{of}{}", own.proved_runs))
}

/// Returns a short name for the question of each group: the problem, followed by its terms if several
/// questions have the same problem. If questions differ only in limits or machines, the name contains all
/// parts of the question.
pub fn labels<'a>(groups: impl Iterator<Item = &'a Group>) -> Vec<String> {
    let all: Vec<&Question> = groups.map(|group| &group.question).collect();
    let same = |problem: &str| all.iter().filter(|question| question.problem == problem).count();
    let label = |question: &Question| {
        let Question { problem, terms, .. } = question;
        let twins = all.iter().filter(|other| other.problem == *problem && other.terms == *terms).count();
        match (twins, same(problem)) {
            (1, 1) => problem.clone(),
            (1, _) if terms.is_empty() => problem.clone(),
            (1, _) => format!("{problem}, {terms}"),
            _ => question.to_string(),
        }
    };
    all.iter().map(|question| label(question)).collect()
}

/// Returns one sentence about the best algorithm, the number of instances that it solves, and the results of
/// the other algorithms. Returns `None` if the best algorithm decides no instance or, for an optimised value,
/// if its gap is not defined on any instance.
pub fn headline(group: &Group, standings: &[Standing]) -> Option<String> {
    let mut all: Vec<Standing> = real(standings).cloned().collect();
    sort(&mut all, &group.question, Sort::Gap);
    let (first, others) = all.split_first()?;
    if group.question.decide { decided(first, others) } else { optimised(first, others) }
}

fn decided(first: &Standing, others: &[Standing]) -> Option<String> {
    if first.solved == 0 {
        return None;
    }
    let name = &first.algorithm;
    let mean =
        first.mean_spent.map_or_else(String::new, |mean| format!(" in {} on average", human::seconds(mean)));
    let rest = match (others.last(), others.first()) {
        (Some(least), Some(most)) if others.len() > 1 && least.solved < most.solved => {
            format!("; the {} others decide {} to {}", others.len(), least.solved, most.solved)
        }
        (Some(least), _) if others.len() > 1 => {
            format!("; the {} others decide {}", others.len(), least.solved)
        }
        (Some(one), _) => format!("; {} decides {}", one.algorithm, one.solved),
        _ => String::new(),
    };
    let others = others.iter().filter(|_| others.len() > 1);
    let rest = rest + &externals(others, |own| format!("{} decides {}", own.algorithm, own.solved));
    Some(format!("{name} decides {}{mean}{rest}.", of_all(first)))
}

/// Names the external programs among several algorithms, as in `, of which mine has 1.50 %`.
fn externals<'a>(of: impl Iterator<Item = &'a Standing>, describe: impl Fn(&Standing) -> String) -> String {
    let all: Vec<String> = of.filter(|own| own.is_external()).map(describe).collect();
    if all.is_empty() { String::new() } else { format!(", of which {}", and(&all)) }
}

/// Joins words with commas and `and`.
fn and(words: &[String]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// Returns the number of solved instances, as in `3 of 7 instances`.
fn of_all(own: &Standing) -> String {
    match (own.solved, own.instances) {
        (1, 1) => "the instance".to_owned(),
        (solved, all) if solved == all => format!("all {all} instances"),
        (solved, all) => format!("{solved} of {all} instance{}", if all == 1 { "" } else { "s" }),
    }
}

fn optimised(first: &Standing, others: &[Standing]) -> Option<String> {
    let gap = first.mean_gap?;
    let is_tied = |own: &&Standing| own.answered == first.answered && own.mean_gap == first.mean_gap;
    let tied = others.iter().filter(is_tied).count();
    let name = &first.algorithm;
    let best = || std::iter::once(first).chain(others.iter().filter(is_tied));
    // A heuristic proves nothing itself. Its value can only equal a bound that is computed before any run.
    let (prover, proof) = match best()
        .filter(|own| own.kind != Some(AlgorithmKind::Heuristic))
        .min_by_key(|own| std::cmp::Reverse(own.solved))
    {
        Some(own) if own.solved > 0 => (&own.algorithm, format!("proves {} optimal", of_all(own))),
        _ if first.solved > 0 => {
            (name, format!("reaches, on {}, a bound that needs no search", of_all(first)))
        }
        _ => (name, "proves no optimum".to_owned()),
    };
    let gap = percent(gap);
    let mut text = match (others.len(), tied) {
        (0, _) => format!("{name} has a mean gap of {gap} % and {proof}"),
        (_, 0) => format!("{name} is best with a mean gap of {gap} % and {proof}"),
        (_, 1) => {
            let other = others.iter().find(is_tied).map_or("", |own| &own.algorithm);
            format!("{name} and {other} are best with a mean gap of {gap} %, and {prover} {proof}")
        }
        _ => {
            // External programs are named even if many algorithms tie.
            let named = others.iter().filter(is_tied).filter(|own| own.is_external());
            let mut names: Vec<String> =
                std::iter::once(first).chain(named).map(|own| own.algorithm.clone()).collect();
            match tied + 1 - names.len() {
                0 => {}
                1 => names.push("1 other".to_owned()),
                more => names.push(format!("{more} others")),
            }
            format!("{} are best with a mean gap of {gap} %, and {prover} {proof}", and(&names))
        }
    };
    if first.answered < first.instances {
        // Tied algorithms have values on equally many instances.
        let silent = if tied == 0 { name.as_str() } else { "each of them" };
        let (missing, all) = (first.instances - first.answered, first.instances);
        let _ = write!(text, "; {silent} has no value on {missing} of {all} instances");
    }
    let rest: Vec<&Standing> = others.iter().filter(|own| !is_tied(own)).collect();
    Some(format!("{text}{}.", behind(&rest)))
}

/// Returns the end of the sentence. It contains the range of the mean gaps of the other algorithms, the gaps
/// of the external programs among them, and the external programs without a value.
fn behind(others: &[&Standing]) -> String {
    let rest: Vec<&Standing> = others.iter().copied().filter(|own| own.mean_gap.is_some()).collect();
    let gaps = || rest.iter().filter_map(|own| own.mean_gap);
    let (least, most) = (gaps().fold(f64::INFINITY, f64::min), gaps().fold(0.0, f64::max));
    let (least, most) = (percent(least), percent(most));
    let end = match rest.as_slice() {
        [] => String::new(),
        [one] => format!("; the mean gap of {} is {least} %", one.algorithm),
        _ if least == most => format!("; the mean gap of the {} others is {least} %", rest.len()),
        _ => format!("; the mean gaps of the {} others are {least} % to {most} %", rest.len()),
    };
    let several = rest.iter().copied().filter(|_| rest.len() > 1);
    let named = externals(several, |own| {
        format!("{} has {} %", own.algorithm, percent(own.mean_gap.unwrap_or_default()))
    });
    let is_silent = |own: &&Standing| own.is_external() && own.mean_gap.is_none();
    let silent: Vec<String> =
        others.iter().copied().filter(is_silent).map(|own| own.algorithm.clone()).collect();
    let silent = match silent.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} has no value"),
        _ => format!("; {} have no value", and(&silent)),
    };
    format!("{end}{named}{silent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(algorithm: &str, gap: Option<f64>, solved: usize, spent: f64) -> Standing {
        Standing {
            algorithm: algorithm.to_owned(),
            kind: Some(AlgorithmKind::Exact),
            instances: 3,
            answered: if gap.is_some() { 3 } else { 0 },
            mean_gap: gap,
            solved,
            mean_spent: Some(spent),
            ..Standing::default()
        }
    }

    fn group(decide: bool) -> Group {
        Group { question: Question { decide, ..Question::default() }, ..Group::default() }
    }

    #[test]
    fn the_best_is_named_first() {
        let best = Standing { kind: None, ..own("virtual best", Some(0.0), 3, 0.1) };
        let mut all = vec![own("slow", Some(0.0), 1, 9.0), own("exact", Some(0.0), 3, 1.0), best];
        let text = |all: &[Standing], decide| headline(&group(decide), all).unwrap();
        assert_eq!(
            text(&all, false),
            "exact and slow are best with a mean gap of 0.00 %, and exact proves all 3 instances optimal."
        );
        all[0].mean_gap = Some(12.5);
        let one = "exact is best with a mean gap of 0.00 % and proves all 3 instances optimal; the mean gap of slow is 12.50 %.";
        assert_eq!(text(&all, false), one);
        all.push(own("worse", Some(20.0), 0, 0.1));
        all.push(own("silent", None, 0, 0.1));
        assert!(text(&all, false).ends_with("; the mean gaps of the 2 others are 12.50 % to 20.00 %."));
        assert_eq!(
            text(&all, true),
            "exact decides all 3 instances in 1.00 s on average; the 3 others decide 0 to 1."
        );
        let partial = |name| Standing { answered: 2, ..own(name, Some(0.0), 2, 1.0) };
        assert_eq!(
            text(&[partial("exact")], false),
            "exact has a mean gap of 0.00 % and proves 2 of 3 instances optimal; exact has no value on 1 of 3 instances."
        );
        let tied = text(&[partial("exact"), partial("other")], false);
        assert!(tied.ends_with("; each of them has no value on 1 of 3 instances."), "{tied}");
        let alone = [own("fast", Some(1.0), 0, 1.0)];
        assert_eq!(text(&alone, false), "fast has a mean gap of 1.00 % and proves no optimum.");
        assert_eq!(headline(&group(false), &[own("silent", None, 0, 1.0)]), None);
        assert_eq!((headline(&group(true), &alone), headline(&group(false), &[])), (None, None));
    }

    #[test]
    fn external_programs_are_always_named() {
        let external = |name, gap| Standing { kind: Some(AlgorithmKind::External), ..own(name, gap, 1, 0.1) };
        let text = |all: &[Standing], decide| headline(&group(decide), all).unwrap();
        let mut all = vec![
            own("exact", Some(0.0), 3, 1.0),
            own("slow", Some(1.0), 0, 1.0),
            external("mine", Some(2.0)),
            external("other", None),
        ];
        let end = "; the mean gaps of the 2 others are 1.00 % to 2.00 %, of which mine has 2.00 %; other has no value.";
        assert!(text(&all, false).ends_with(end), "{}", text(&all, false));
        let end = "; the 3 others decide 0 to 1, of which mine decides 1 and other decides 1.";
        assert!(text(&all, true).ends_with(end), "{}", text(&all, true));
        all[2].mean_gap = Some(0.0);
        all[1].mean_gap = Some(0.0);
        assert!(text(&all, false).starts_with("exact, mine and 1 other are best"), "{}", text(&all, false));
    }

    #[test]
    fn heuristics_reach_bounds_and_exact_algorithms_prove_them() {
        let heuristic =
            |name, gap| Standing { kind: Some(AlgorithmKind::Heuristic), ..own(name, Some(gap), 3, 0.1) };
        let text = |all: &[Standing]| headline(&group(false), all).unwrap();
        let alone = text(&[heuristic("fast", 0.0), heuristic("worse", 1.0)]);
        let reaches = "fast is best with a mean gap of 0.00 % and reaches, on all 3 instances, a bound that needs no search";
        assert!(alone.starts_with(reaches), "{alone}");
        let tied = text(&[heuristic("fast", 0.0), own("slow", Some(0.0), 3, 9.0)]);
        assert!(tied.ends_with(", and slow proves all 3 instances optimal."), "{tied}");
    }

    #[test]
    fn labels_are_as_short_as_possible() {
        let group = |problem: &str, terms: &str| Group {
            question: Question {
                problem: problem.to_owned(),
                terms: terms.parse().unwrap(),
                ..Question::default()
            },
            ..Group::default()
        };
        let groups = [
            group("offsets", ""),
            group("tiers", "machine=b"),
            group("fusion", "a=1"),
            group("fusion", "a=2"),
        ];
        assert_eq!(labels(groups.iter()), ["offsets", "tiers", "fusion, a=1", "fusion, a=2"]);
        let twins = labels([group("offsets", ""), group("offsets", "")].iter());
        assert!(twins[0].starts_with("offsets, minimise, no time limit"), "{twins:?}");
    }

    #[test]
    fn a_heuristic_has_no_time_to_proof() {
        let exact =
            Standing { mean_time: Some(Mean { value: 5.0, bound: true }), ..own("exact", Some(0.0), 3, 2.0) };
        let quick = Standing { mean_to_best: Some(4e-5), ..own("quick", Some(1.0), 0, 6e-5) };
        let text = ranking(false, [&exact, &quick]).without_empty(&[CERTIFIED]).text();
        let cells: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split("  ").filter(|cell| !cell.is_empty()).map(str::trim).collect())
            .collect();
        assert_eq!(cells[2], ["exact", "0.00", "-", "0/3", "2.00 s", "-", ">5.00 s"]);
        assert_eq!(cells[3], ["quick", "1.00", "-", "0/3", "60.0 µs", "40.0 µs", "-"]);
    }
}
