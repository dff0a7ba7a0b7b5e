//! The tables of an analysis, and its summary in Markdown.

use crate::analysis::files::status_counts;
use crate::analysis::{Cell, Group, Mean, Options, Standing, Study};
use crate::report::certificates::{EXPLANATION, certificates};
use crate::report::ranking::{
    CERTIFIED, certified, headline, labels, mean_time, ranking, real, time, to_solve,
};
use crate::report::ratios::{own_ratios, ratios};
use crate::report::summary::questions;
use crate::report::table::{Align, Column, Table};
use crate::report::times::{Clock, figure, of};
use crate::report::{human, percent};
use crate::row::Row;
use plimsoll::arithmetic::Arithmetic;
use std::fmt::Write as _;

const LEFT: Align = Align::Left;
const RIGHT: Align = Align::Right;

/// Returns definitions of the terms used in the tables, one line each.
pub fn definitions(options: Options<'_>) -> Vec<String> {
    let Options { target_gap, shift, .. } = options;
    let solved = match target_gap {
        Some(target) => format!(
            "Solved: the run proved its answer or decided the given capacity. If no capacity was given, a run that \
             ended with a gap of at most {target} % also counts as solved. Its time is that of the whole run."
        ),
        None => "Solved: the run proved its answer (optimal, infeasible) or decided the given capacity."
            .to_owned(),
    };
    vec![
        "Group: the runs of one problem with the same terms, question (decide or optimise), time limit, node limit, \
         number of threads and machine. No average spans several groups."
            .to_owned(),
        "Best bound: the best bound that a run proved for the instance and problem. Bounds that a valid value \
         contradicts are ignored. The load is used only if there is no other bound."
            .to_owned(),
        "Value of an algorithm on an instance: the median over seeds and repetitions. A run without a value counts \
         as the worst. For an even number of runs, the median is the worse of the two middle values. For bytes and \
         picoseconds, lower values are better; for relations, higher values are better. Gap: the distance from the \
         best bound, in percent of that bound. The mean gap and the worst gap cover the instances with a value, which \
         may differ between algorithms."
            .to_owned(),
        solved,
        format!(
            "Time spent: the median time of the runs that ended, solved or not. 'spent' is its geometric mean over the \
             instances, shifted by {shift} s."
        ),
        "Time to the best answer: the median time until a run found its value, although it may continue afterwards. A \
         process that does not report when it found its value counts with its whole time. 'to best' is the shifted \
         geometric mean."
            .to_owned(),
        "Time to proof (or to decide a capacity): the median over seeds and repetitions. An unsolved run counts as \
         longer than every solved run. If the median run is unsolved, the time is the limit, or the time of the longest \
         run if there is no limit. This is a lower bound, marked >. 'to proof' is the shifted geometric mean over all \
         instances on which the algorithm ran. PAR-2 is the mean with such limits counted twice. Both are absent (-) if \
         there are unsolved runs without a time limit. They are also absent for algorithms that prove no optima, such \
         as heuristics: they end early without a proof, so the limit is not their time to proof."
            .to_owned(),
        "Certified: of the runs that proved their answer, the number whose optimality or infeasibility is \
         confirmed by a proof that the independent checker accepted, or by a witness that was recomputed."
            .to_owned(),
        "Wins: the number of instances on which at least two algorithms ran and no other has a better value (or a \
         shorter time). A win is shared if another algorithm has the same value or time."
            .to_owned(),
        "Virtual best: the best algorithm on each instance. Three columns show what it would lose without an algorithm: \
         'gap lost, points' is the increase of its mean gap in percentage points, 'uniquely solved' is the number of \
         instances that no other algorithm solves, and 'time factor' is the factor by which its shifted mean time grows."
            .to_owned(),
        "Primal integral (Berthold 2013): the integral of |p - q| / max(p, q) from the start to the time limit or, without \
         a limit, to the last event of any run on the instance. Here p is the best value so far and q the best valid \
         value of all runs. The integrand is 1 before the first value. The integral is given in seconds and in percent \
         of its maximum, averaged over the traced instances."
            .to_owned(),
    ]
}

fn maybe(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(String::new, show)
}

/// Returns a table of the quality of the values, one row per algorithm.
pub fn values(group: &Group, standings: &[Standing]) -> Table {
    let wins =
        |own: &Standing, count: usize| if own.is_virtual() { String::new() } else { count.to_string() };
    let columns: [Column<'_, &Standing>; 12] = [
        ("algorithm", LEFT, &|own| own.algorithm.clone()),
        ("kind", LEFT, &|own| own.kind_word().to_owned()),
        ("instances", RIGHT, &|own| part(own.instances, group)),
        ("runs", RIGHT, &|own| own.runs.to_string()),
        ("with a value", RIGHT, &|own| part(own.answered, group)),
        ("at the bound", RIGHT, &|own| own.at_bound.to_string()),
        ("mean gap %", RIGHT, &|own| maybe(own.mean_gap, percent)),
        ("worst gap %", RIGHT, &|own| maybe(own.worst_gap, percent)),
        ("wins alone", RIGHT, &|own| wins(own, own.value_alone)),
        ("wins shared", RIGHT, &|own| wins(own, own.value_shared)),
        ("gap lost, points", RIGHT, &|own| maybe(own.gap_loss, percent)),
        ("without answer", LEFT, &|own| status_counts(&own.troubles)),
    ];
    Table::of(&columns, standings)
}

/// Returns a number of instances, as "N of M" if it is less than the number of all instances of the group.
fn part(count: usize, group: &Group) -> String {
    let all = group.instances.len();
    if count == all { count.to_string() } else { format!("{count} of {all}") }
}

/// Returns a table of times, one row per algorithm, or `None` if no times were recorded.
pub fn times(group: &Group, standings: &[Standing]) -> Option<Table> {
    standings.iter().find(|own| own.mean_time.is_some() || own.mean_spent.is_some())?;
    let decide = group.question.decide;
    let real = |own: &Standing, text: String| if own.is_virtual() { String::new() } else { text };
    let columns: [Column<'_, &Standing>; 15] = [
        ("algorithm", LEFT, &|own| own.algorithm.clone()),
        ("instances", RIGHT, &|own| part(own.instances, group)),
        ("spent", RIGHT, &|own| time(own.mean_spent)),
        ("to best", RIGHT, &|own| time(own.mean_to_best)),
        (to_solve(decide), RIGHT, &|own| mean_time(own.mean_time)),
        // PAR-2 counts limits twice, so it is not a bound and has no mark.
        ("PAR-2", RIGHT, &|own| time(own.par2)),
        (if decide { "decided" } else { "proved" }, RIGHT, &|own| own.solved.to_string()),
        ("solved runs", RIGHT, &|own| real(own, format!("{} of {}", own.solved_runs, own.runs))),
        (CERTIFIED, RIGHT, &|own| certified(own, " of ")),
        ("wins alone", RIGHT, &|own| real(own, own.time_alone.to_string())),
        ("wins shared", RIGHT, &|own| real(own, own.time_shared.to_string())),
        ("uniquely solved", RIGHT, &|own| {
            own.only_solver.map_or_else(String::new, |count| count.to_string())
        }),
        ("time factor", RIGHT, &|own| factor(own.time_factor)),
        (INTEGRALS[0], RIGHT, &|own| own.integral.map_or_else(String::new, human::seconds)),
        (INTEGRALS[1], RIGHT, &|own| maybe(own.integral_share, percent)),
    ];
    Some(Table::of(&columns, standings).without_empty(&INTEGRALS).without_empty(&[CERTIFIED]))
}

/// The columns that only traced runs have.
const INTEGRALS: [&str; 2] = ["primal integral", "primal integral %"];

fn factor(mean: Option<Mean>) -> String {
    mean.map_or_else(String::new, |mean| {
        format!("{}{}", if mean.bound { ">" } else { "" }, figure(mean.value))
    })
}

/// Returns a table with one row per instance and one column per algorithm.
fn by_instance(group: &Group, what: &str, show: impl Fn(&Cell) -> String) -> Table {
    let Group { question, instances, algorithms, cells, .. } = group;
    let (bound, best) = (format!("best bound, {}", question.unit), format!("best value, {}", question.unit));
    let facts = ["suite", "instance", "buffers", "operators", "load, bytes", &bound, &best];
    let names: Vec<String> = algorithms.iter().map(|(name, _)| format!("{name} {what}")).collect();
    let columns = facts.iter().copied().chain(names.iter().map(String::as_str)).enumerate();
    let mut table = Table::new(columns.map(|(at, name)| (name, if at < 2 { LEFT } else { RIGHT })));
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let count = |value: Option<usize>| number(value.map(|count| count as u64));
    let suites = instances.iter().any(|instance| instance.suite != instances[0].suite);
    for (at, instance) in instances.iter().enumerate() {
        let mark = match (instance.bound_from, instance.arithmetic) {
            ("load", _) => " (load)",
            (_, Arithmetic::FloatingPoint) => " (floating point)",
            _ => "",
        };
        let capacity = instance.capacity.map_or_else(String::new, |capacity| format!(" within {capacity}"));
        let facts = [
            if suites { instance.suite.clone() } else { String::new() },
            format!("{}{capacity}", instance.name),
            count(instance.buffers),
            count(instance.operators),
            number(instance.load),
            format!("{}{mark}", number(instance.best_bound)),
            number(instance.best_value),
        ];
        let own = cells.iter().map(|own| own[at].as_ref().map_or_else(String::new, &show));
        table.row(facts.into_iter().chain(own));
    }
    table.without_empty(&["suite", "buffers", "operators", "load, bytes"])
}

/// Returns a table of the gap of every algorithm on every instance. Without a bound, the table shows
/// values.
pub fn gaps_by_instance(group: &Group) -> Table {
    by_instance(group, "gap %", |cell| match (cell.gap, cell.value) {
        (Some(gap), _) => percent(gap),
        (None, Some(value)) => format!("{value} {}", group.question.unit),
        (None, None) if cell.troubles.is_empty() => "- (no solution)".to_owned(),
        (None, None) => format!(
            "- ({})",
            cell.troubles.keys().map(|status| status.as_str()).collect::<Vec<_>>().join(", ")
        ),
    })
}

/// Returns a table of the time that every algorithm spent on every instance, or `None` if no times were
/// recorded.
pub fn spent_by_instance(group: &Group) -> Option<Table> {
    group.cells.iter().flatten().flatten().find(|cell| cell.spent.is_some())?;
    Some(by_instance(group, "spent", |cell| time(cell.spent)))
}

/// Returns a table of the time in which every algorithm solved every instance, or `None` if no such time is
/// known.
pub fn times_by_instance(group: &Group) -> Option<Table> {
    group.cells.iter().flatten().flatten().find(|cell| cell.time_to_solve().is_some())?;
    Some(by_instance(group, to_solve(group.question.decide), |cell| {
        mean_time(cell.time_to_solve().map(|time| Mean { value: time.seconds, bound: time.censored }))
    }))
}

/// Returns a table with one row per run without an answer.
pub fn troubles<'a>(rows: impl Iterator<Item = &'a Row>) -> Table {
    let columns: [Column<'_, &Row>; 8] = [
        ("line", RIGHT, &|row| row.line.to_string()),
        ("instance", LEFT, &|row| row.instance.clone()),
        ("problem", LEFT, &|row| row.problem.clone()),
        ("algorithm", LEFT, &|row| row.algorithm.clone()),
        ("seed", RIGHT, &|row| row.seed.to_string()),
        ("run", RIGHT, &|row| row.repetition.to_string()),
        ("status", LEFT, &|row| row.status.to_string()),
        ("error", LEFT, &|row| row.error.clone()),
    ];
    Table::of(&columns, rows)
}

/// Returns a table with one row of counts per record. The numbers of instances and algorithms are the
/// maxima over the groups of the record.
pub fn records(studies: &[Study]) -> Table {
    let most = |study: &Study, count: fn(&Group) -> usize| {
        study.groups.iter().map(count).max().unwrap_or(0).to_string()
    };
    let columns: [Column<'_, &Study>; 7] = [
        ("record", LEFT, &|study| study.record.name.clone()),
        ("runs", RIGHT, &|study| study.record.observations.len().to_string()),
        ("without answer", RIGHT, &|study| study.troubles().count().to_string()),
        ("groups", RIGHT, &|study| study.groups.len().to_string()),
        ("instances", RIGHT, &|study| most(study, |group| group.instances.len())),
        ("algorithms", RIGHT, &|study| most(study, |group| group.algorithms.len())),
        ("other tables", RIGHT, &|study| study.record.sheets.len().to_string()),
    ];
    Table::of(&columns, studies)
}

/// Returns the headlines of all groups, each with a short name of its question.
pub fn headlines(studies: &[Study]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for study in studies {
        let record = if studies.len() > 1 { format!("{}, ", study.record.name) } else { String::new() };
        let named = study.groups.iter().zip(labels(study.groups.iter()));
        for ((group, label), standings) in named.zip(&study.standings) {
            all.extend(headline(group, standings).map(|text| (format!("{record}{label}"), text)));
        }
    }
    all
}

/// Returns the rankings of all groups, each as a LaTeX table.
pub fn latex(studies: &[Study]) -> String {
    let mut text = String::new();
    for study in studies {
        for (group, standings) in study.groups.iter().zip(&study.standings) {
            let _ = writeln!(
                text,
                "% {}, {}",
                one_line(&study.record.name),
                one_line(&group.question.to_string())
            );
            text.push_str(
                &ranking(group.question.decide, real(standings)).without_empty(&[CERTIFIED]).latex(),
            );
        }
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The explanation of the table of ratios of self-reported times.
const OWN_TIMES: &str = "\
Self-reported times (columns `own ms`) are measured by each program itself, from the end of reading the instance to
the answer. They exclude process start, reading, checking and writing, and are shown as the program prints them.
Rounding limits their precision. For a ratio, half a unit of the last printed digit is therefore subtracted from the
time of the program, and one unit of the last printed digit is added to the time of the reference. The ratio is marked
`>` if one of these changes exceeds 1 % of the time. If all digits of the time of the program are zero, one unit is used
as this time, and the ratio is marked `<` and excluded from means. An unsolved run counts with its time limit. The cell
of a solved run without a self-reported time is empty.";

/// Returns the text of `summary.md`.
pub fn summary(title: &str, studies: &[Study], options: Options<'_>) -> String {
    let mut text = format!("# {title}\n\n");
    for (question, headline) in headlines(studies) {
        let _ = writeln!(text, "- {question}: {headline}");
    }
    let _ = write!(text, "\n{}\n", records(studies).markdown());
    for line in definitions(options) {
        let _ = writeln!(text, "- {line}");
    }
    for study in studies {
        let _ = write!(text, "\n## {}\n", study.record.name);
        for note in &study.record.notes {
            let _ = write!(text, "\n- note: {note}\n");
        }
        for (group, standings) in study.groups.iter().zip(&study.standings) {
            text.push_str(&of_group(group, standings));
        }
        if let Some(reference) = options.reference {
            text.push_str(&ratios_to(reference, &study.record.observations));
        }
        if let Some(table) = certificates(&study.record.observations) {
            let _ = write!(text, "\n### Certificates\n\n{EXPLANATION}\n\n{}", table.markdown());
        }
        let troubles = troubles(study.troubles());
        if !troubles.is_empty() {
            let _ = write!(text, "\n### Runs without an answer\n\n{}", troubles.markdown());
        }
        for sheet in &study.record.sheets {
            let (lines, columns) = (sheet.lines.len(), sheet.columns.join(", "));
            let _ = write!(text, "\n`{}`: {lines} rows of {columns}\n", sheet.name());
        }
    }
    text
}

/// Returns the ratios of times to those of a reference, for every question on which the reference ran.
fn ratios_to(reference: &str, rows: &[Row]) -> String {
    let mut text = String::new();
    for (question, own) in questions(rows) {
        if let Some(table) = ratios(&of(&own), reference, Clock::Bench) {
            let _ = write!(
                text,
                "\n### Ratios to {reference}: {question}\n\nIf a ratio is above 1, {reference} is faster.\n\n{}",
                table.markdown()
            );
        }
        if let Some(table) = own_ratios(&own, reference) {
            let _ = write!(
                text,
                "\n### Ratios of self-reported times: {question}\n\n{OWN_TIMES}\n\n{}",
                table.markdown()
            );
        }
    }
    text
}

fn of_group(group: &Group, standings: &[Standing]) -> String {
    let mut text = format!("\n### {}\n", group.question);
    if let Some(headline) = headline(group, standings) {
        let _ = write!(text, "\n{headline}\n");
    }
    for note in &group.notes {
        let _ = write!(text, "\n- note: {note}\n");
    }
    let _ = write!(text, "\n{}", values(group, standings).markdown());
    if let Some(table) = times(group, standings) {
        let _ = write!(text, "\n{}", table.markdown());
    }
    let _ = write!(text, "\n{}", gaps_by_instance(group).markdown());
    text
}
