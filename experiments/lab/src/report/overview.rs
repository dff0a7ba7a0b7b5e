//! Tables of an analysis, and its summary as Markdown.

use crate::analysis::files::told;
use crate::analysis::{Cell, Group, Mean, Options, Standing, Study};
use crate::record::Record;
use crate::report::percent;
use crate::report::table::{Align, Column, Table};
use crate::report::times::figure;
use plimsoll::arithmetic::Arithmetic;
use std::fmt::Write as _;

const LEFT: Align = Align::Left;
const RIGHT: Align = Align::Right;

/// What the tables mean, one line each.
pub fn definitions(options: Options) -> Vec<String> {
    let Options { target_gap, shift } = options;
    let solved = match target_gap {
        Some(target) => format!(
            "Solved: the run proved its answer, decided the capacity it had to, or, where none was to be decided, ended with \
             a gap of at most {target} %; its time is that of the whole run."
        ),
        None => "Solved: the run proved its answer (optimal, infeasible), or decided the capacity it had to."
            .to_owned(),
    };
    vec![
        "Groups hold runs of one problem on the same terms, question (decide or optimise), time and node limit, number of threads and \
         machine. Nothing is averaged over groups."
            .to_owned(),
        "Best bound: the best that any run on record proved for the instance and problem and no valid value contradicts; \
         the load only where there is no other."
            .to_owned(),
        "Value of an algorithm on an instance: the median over seeds and repetitions, a run without one counting as worst; of \
         an even number the worse of the middle two. Of bytes and picoseconds less is better, of relations more. Gap: \
         distance from the best bound, percent of it; mean and worst over the instances with a value, which may be fewer than \
         others have."
            .to_owned(),
        solved,
        format!(
            "Time spent: the median seconds of the runs that ended, solved or not; spent s: its shifted geometric mean, shift \
             {shift} s."
        ),
        "Time to solve: the median over seeds and repetitions, a run that did not solve counting as longer than all that did; \
         where the median run did not solve it is the limit (or the longest run where there is none), and a lower \
         bound, marked >. To solve s: its shifted geometric mean over all instances the algorithm ran on; PAR-2: mean with such \
         limits twice. Both are empty where runs without a time limit did not solve, and of heuristics that had no capacity to decide: \
         they end without a proof, except where they happen to meet a bound, and have no time to solve elsewhere."
            .to_owned(),
        "Wins: instances where no other has a better value, or a shorter time, and at least one other ran; shared \
         where another has the same.".to_owned(),
        "Virtual best: on every instance the best of all. Without an algorithm it loses what stands in the columns \
         'gap lost, points' (percentage points of its mean gap), 'only it solves' and 'time factor' (of its mean with the shift added)."
            .to_owned(),
        "Primal integral (Berthold 2013): integral from start to limit of |p - q| / max(p, q), best value p so far, best \
         valid value q on record, 1 before the first value; seconds, and percent of the limit. Mean over traced instances."
            .to_owned(),
    ]
}

fn maybe(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(String::new, show)
}

/// Seconds, down to microseconds; what is not zero never looks like it.
fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 0.01 => figure(s),
        s if s >= 5e-7 => format!("{s:.6}"),
        s if s > 0.0 => "<0.000001".to_owned(),
        _ => "0".to_owned(),
    }
}

fn mean(mean: Option<Mean>, show: fn(f64) -> String) -> String {
    mean.map_or_else(String::new, |mean| format!("{}{}", if mean.bound { ">" } else { "" }, show(mean.value)))
}

/// How good the answers of each algorithm are.
pub fn values(group: &Group, standings: &[Standing]) -> Table {
    let wins =
        |own: &Standing, count: usize| if own.kind == "virtual" { String::new() } else { count.to_string() };
    let columns: [Column<'_, &Standing>; 12] = [
        ("algorithm", LEFT, &|own| own.algorithm.clone()),
        ("kind", LEFT, &|own| own.kind.clone()),
        ("instances", RIGHT, &|own| part(own.instances, group)),
        ("runs", RIGHT, &|own| own.runs.to_string()),
        ("with a value", RIGHT, &|own| part(own.answered, group)),
        ("at the bound", RIGHT, &|own| own.at_bound.to_string()),
        ("mean gap %", RIGHT, &|own| maybe(own.mean_gap, percent)),
        ("worst gap %", RIGHT, &|own| maybe(own.worst_gap, percent)),
        ("wins alone", RIGHT, &|own| wins(own, own.value_alone)),
        ("wins shared", RIGHT, &|own| wins(own, own.value_shared)),
        ("gap lost, points", RIGHT, &|own| maybe(own.gap_loss, percent)),
        ("without answer", LEFT, &|own| told(&own.troubles)),
    ];
    Table::of(&columns, standings)
}

/// A number of instances, told apart where it is not all.
fn part(count: usize, group: &Group) -> String {
    let all = group.instances.len();
    if count == all { count.to_string() } else { format!("{count} of {all}") }
}

/// How long they take; `None` where no times were kept.
pub fn times(group: &Group, standings: &[Standing], shift: f64) -> Option<Table> {
    standings.iter().find(|own| own.mean_time.is_some() || own.mean_spent.is_some())?;
    let name = format!("to solve s (shift {shift})");
    let real = |own: &Standing, text: String| if own.kind == "virtual" { String::new() } else { text };
    let columns: [Column<'_, &Standing>; 13] = [
        ("algorithm", LEFT, &|own| own.algorithm.clone()),
        ("instances", RIGHT, &|own| part(own.instances, group)),
        ("spent s", RIGHT, &|own| maybe(own.mean_spent, seconds)),
        ("solved", RIGHT, &|own| own.solved.to_string()),
        ("solved runs", RIGHT, &|own| real(own, format!("{} of {}", own.solved_runs, own.runs))),
        (&name, RIGHT, &|own| mean(own.mean_time, seconds)),
        // A mean that counts limits twice is no bound of anything: it has no mark.
        ("PAR-2 s", RIGHT, &|own| maybe(own.par2, seconds)),
        ("wins alone", RIGHT, &|own| real(own, own.time_alone.to_string())),
        ("wins shared", RIGHT, &|own| real(own, own.time_shared.to_string())),
        ("only it solves", RIGHT, &|own| own.only_solver.map_or_else(String::new, |count| count.to_string())),
        ("time factor", RIGHT, &|own| mean(own.time_factor, figure)),
        ("primal integral s", RIGHT, &|own| maybe(own.integral, seconds)),
        ("primal integral %", RIGHT, &|own| maybe(own.integral_share, percent)),
    ];
    let table = Table::of(&columns, standings);
    Some(table.without_empty(&["primal integral s", "primal integral %"]))
}

/// One row per instance with a column per algorithm.
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

/// Gaps, instance by algorithm. Without a bound, values.
pub fn gaps_by_instance(group: &Group) -> Table {
    by_instance(group, "gap %", |cell| match (cell.gap, cell.value) {
        (Some(gap), _) => percent(gap),
        (None, Some(value)) => format!("{value} {}", group.question.unit),
        (None, None) => "-".to_owned(),
    })
}

/// Times spent, instance by algorithm; `None` where no times were kept.
pub fn spent_by_instance(group: &Group) -> Option<Table> {
    group.cells.iter().flatten().flatten().find(|cell| cell.spent.is_some())?;
    Some(by_instance(group, "s", |cell| cell.spent.map_or_else(|| "-".to_owned(), seconds)))
}

/// Times to solve, instance by algorithm; `None` where there are none.
pub fn times_by_instance(group: &Group) -> Option<Table> {
    group.cells.iter().flatten().flatten().find(|cell| cell.time_to_solve().is_some())?;
    Some(by_instance(group, "s", |cell| {
        cell.time_to_solve().map_or_else(
            || "-".to_owned(),
            |time| format!("{}{}", if time.censored { ">" } else { "" }, seconds(time.seconds)),
        )
    }))
}

/// Runs without an answer.
pub fn troubles<'a>(rows: impl Iterator<Item = &'a Record>) -> Table {
    let columns: [Column<'_, &Record>; 8] = [
        ("line", RIGHT, &|row| row.line.to_string()),
        ("instance", LEFT, &|row| row.instance.clone()),
        ("problem", LEFT, &|row| row.problem.clone()),
        ("algorithm", LEFT, &|row| row.algorithm.clone()),
        ("seed", RIGHT, &|row| row.seed.to_string()),
        ("run", RIGHT, &|row| row.repetition.to_string()),
        ("what", LEFT, &|row| row.status.clone()),
        ("why", LEFT, &|row| row.error.clone()),
    ];
    Table::of(&columns, rows)
}

/// How many of what there is, one row per record.
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

/// `summary.md`.
pub fn summary(title: &str, studies: &[Study], options: Options) -> String {
    let mut text = format!("# {title}\n\n{}\n", records(studies).markdown());
    for line in definitions(options) {
        let _ = writeln!(text, "- {line}");
    }
    for study in studies {
        let _ = write!(text, "\n## {}\n", study.record.name);
        for note in &study.record.notes {
            let _ = write!(text, "\n- note: {note}\n");
        }
        for (group, standings) in study.groups.iter().zip(&study.standings) {
            text.push_str(&of_group(group, standings, options.shift));
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

fn of_group(group: &Group, standings: &[Standing], shift: f64) -> String {
    let mut text = format!("\n### {}\n", group.question);
    for note in &group.notes {
        let _ = write!(text, "\n- note: {note}\n");
    }
    let _ = write!(text, "\n{}", values(group, standings).markdown());
    if let Some(table) = times(group, standings, shift) {
        let _ = write!(text, "\n{}", table.markdown());
    }
    let _ = write!(text, "\n{}", gaps_by_instance(group).markdown());
    text
}
