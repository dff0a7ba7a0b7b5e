//! The analysis as CSV files. They contain the numbers that charts and pages show.

use super::curves::{self, Curve};
use super::standing::{Mean, is_solved};
use super::{Cell, Group, InstanceFacts, Question, Standing, Study};
use crate::row::{Row, Status};
use std::collections::BTreeMap;

/// The names of all files that [`files`] may return.
pub const NAMES: [&str; 6] =
    ["instances.csv", "algorithms.csv", "profile.csv", "cactus.csv", "gap-over-time.csv", "troubles.csv"];

/// Returns the name and the contents of each file that has rows, in the order of [`NAMES`].
pub fn files(studies: &[Study]) -> Vec<(&'static str, String)> {
    let makers = [instances, algorithms, profiles, cactuses, gaps, troubles];
    let all = NAMES.into_iter().zip(makers.map(|maker: fn(&[Study]) -> Vec<Line>| maker(studies)));
    all.filter(|(_, lines)| lines.len() > 1).map(|(name, lines)| (name, text(&lines))).collect()
}

type Line = Vec<String>;

/// The name of a column, and the function that formats its cell for a row.
type Column<T> = (&'static str, fn(&T) -> String);

fn text(lines: &[Line]) -> String {
    let mut writer = csv::WriterBuilder::new().flexible(false).from_writer(Vec::new());
    for line in lines {
        // Writing into a vector cannot fail, and all lines of a file have the same number of cells.
        let written = writer.write_record(line);
        debug_assert!(written.is_ok());
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn header(names: &[&str]) -> Vec<Line> {
    vec![names.iter().map(|&name| name.to_owned()).collect()]
}

fn names<T>(columns: &[Column<T>]) -> impl Iterator<Item = &'static str> {
    columns.iter().map(|(name, _)| *name)
}

fn cells<T>(columns: &[Column<T>], row: &T) -> impl Iterator<Item = String> {
    columns.iter().map(move |(_, cell)| cell(row))
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Returns the number of runs for every status other than `done`, as `status=number` pairs separated by
/// spaces.
pub fn status_counts(troubles: &BTreeMap<Status, usize>) -> String {
    troubles.iter().map(|(name, count)| format!("{name}={count}")).collect::<Vec<_>>().join(" ")
}

/// A group with its standings, the name of its record, and its position among the groups of that record,
/// counted from 1.
struct Place<'a> {
    record: &'a str,
    nth: usize,
    group: &'a Group,
    standings: &'a [Standing],
}

impl Place<'_> {
    fn name(&self) -> [String; 2] {
        [self.record.to_owned(), self.nth.to_string()]
    }

    fn question(&self) -> impl Iterator<Item = String> {
        self.name().into_iter().chain(cells(&QUESTION, &self.group.question))
    }
}

fn each(studies: &[Study]) -> impl Iterator<Item = Place<'_>> {
    studies.iter().flat_map(|study| {
        let groups = study.groups.iter().zip(&study.standings).zip(1..);
        let record = study.record.name.as_str();
        groups.map(move |((group, standings), nth)| Place { record, nth, group, standings })
    })
}

const PLACE: [&str; 2] = ["record", "group"];

const QUESTION: [Column<Question>; 9] = [
    ("problem", |asked| asked.problem.clone()),
    ("unit", |asked| asked.unit.to_string()),
    ("terms", |asked| asked.terms.to_string()),
    ("decide", |asked| asked.decide.to_string()),
    ("time_limit", |asked| shown(asked.time_limit)),
    ("node_limit", |asked| shown(asked.node_limit)),
    ("threads", |asked| asked.threads.to_string()),
    ("cpu", |asked| asked.cpu.clone()),
    ("cores", |asked| asked.cores.to_string()),
];

const FACTS: [Column<InstanceFacts>; 11] = [
    ("suite", |its| its.suite.clone()),
    ("instance", |its| its.name.clone()),
    ("sha256", |its| its.sha256.clone()),
    ("buffers", |its| shown(its.buffers)),
    ("operators", |its| shown(its.operators)),
    ("load", |its| shown(its.load)),
    ("capacity", |its| shown(its.capacity)),
    ("best_bound", |its| shown(its.best_bound)),
    ("bound_from", |its| its.bound_from.to_owned()),
    ("bound_arithmetic", |its| its.best_bound.map_or("", |_| its.arithmetic.as_str()).to_owned()),
    ("best_value", |its| shown(its.best_value)),
];

const FIGURES: [Column<Cell>; 13] = [
    ("runs", |own| own.runs.to_string()),
    ("solved_runs", |own| own.solved.to_string()),
    ("solved", |own| is_solved(own).to_string()),
    ("median_value", |own| shown(own.value)),
    ("gap_percent", |own| shown(own.gap)),
    ("median_seconds", |own| shown(own.time_to_solve().map(|time| time.seconds))),
    ("censored", |own| shown(own.time_to_solve().map(|time| time.censored))),
    ("spent_seconds", |own| shown(own.spent)),
    ("primal_integral_seconds", |own| shown(own.integral.map(|integral| integral.seconds))),
    ("primal_integral_horizon", |own| shown(own.integral.map(|integral| integral.horizon))),
    ("claimed", |own| shown(own.integral.map(|integral| integral.claimed))),
    ("troubles", |own| status_counts(&own.troubles)),
    ("to_best_seconds", |own| shown(own.to_best)),
];

fn instances(studies: &[Study]) -> Vec<Line> {
    let identity = ["algorithm", "kind"];
    let all =
        PLACE.into_iter().chain(names(&QUESTION)).chain(names(&FACTS)).chain(identity).chain(names(&FIGURES));
    let mut lines = header(&all.collect::<Vec<_>>());
    for place in each(studies) {
        let group = place.group;
        for (at, instance) in group.instances.iter().enumerate() {
            for ((name, kind), own) in group.algorithms.iter().zip(&group.cells) {
                let Some(cell) = &own[at] else { continue };
                let line = place.question().chain(cells(&FACTS, instance));
                let line = line.chain([name.clone(), kind.to_string()]).chain(cells(&FIGURES, cell));
                lines.push(line.collect());
            }
        }
    }
    lines
}

fn value(mean: Option<Mean>) -> String {
    shown(mean.map(|mean| mean.value))
}

fn is_bound(mean: Option<Mean>) -> String {
    shown(mean.map(|mean| mean.bound))
}

/// The columns of a standing that precede the column `of_instances`.
const IDENTITY: [Column<Standing>; 3] = [
    ("algorithm", |own| own.algorithm.clone()),
    ("kind", |own| own.kind_word().to_owned()),
    ("instances", |own| own.instances.to_string()),
];
const STANDING: [Column<Standing>; 25] = [
    ("runs", |own| own.runs.to_string()),
    ("answered", |own| own.answered.to_string()),
    ("solved", |own| own.solved.to_string()),
    ("solved_runs", |own| own.solved_runs.to_string()),
    ("at_bound", |own| own.at_bound.to_string()),
    ("mean_gap_percent", |own| shown(own.mean_gap)),
    ("worst_gap_percent", |own| shown(own.worst_gap)),
    ("mean_seconds", |own| value(own.mean_time)),
    ("mean_is_bound", |own| is_bound(own.mean_time)),
    ("par2_seconds", |own| shown(own.par2)),
    ("mean_spent_seconds", |own| shown(own.mean_spent)),
    ("value_wins_alone", |own| own.value_alone.to_string()),
    ("value_wins_shared", |own| own.value_shared.to_string()),
    ("time_wins_alone", |own| own.time_alone.to_string()),
    ("time_wins_shared", |own| own.time_shared.to_string()),
    ("virtual_best_solved_lost", |own| shown(own.only_solver)),
    ("virtual_best_time_factor", |own| value(own.time_factor)),
    ("virtual_best_factor_is_bound", |own| is_bound(own.time_factor)),
    ("virtual_best_gap_lost", |own| shown(own.gap_loss)),
    ("mean_primal_integral_seconds", |own| shown(own.integral)),
    ("mean_primal_integral_percent", |own| shown(own.integral_share)),
    ("troubles", |own| status_counts(&own.troubles)),
    ("mean_to_best_seconds", |own| shown(own.mean_to_best)),
    ("proved_runs", |own| own.proved_runs.to_string()),
    ("certified_runs", |own| shown(own.certified_runs)),
];

fn algorithms(studies: &[Study]) -> Vec<Line> {
    let all = PLACE
        .into_iter()
        .chain(names(&QUESTION))
        .chain(names(&IDENTITY))
        .chain(["of_instances"])
        .chain(names(&STANDING));
    let mut lines = header(&all.collect::<Vec<_>>());
    for place in each(studies) {
        for own in place.standings {
            let line = place.question().chain(cells(&IDENTITY, own));
            let line = line.chain([place.group.instances.len().to_string()]).chain(cells(&STANDING, own));
            lines.push(line.collect());
        }
    }
    lines
}

fn points(lines: &mut Vec<Line>, place: &[String], measure: Option<&str>, curves: &[Curve]) {
    for curve in curves {
        for (x, y) in &curve.points {
            let mut line = place.to_vec();
            line.extend(measure.map(str::to_owned));
            line.extend([curve.algorithm.clone(), x.to_string(), y.to_string()]);
            lines.push(line);
        }
    }
}

fn profiles(studies: &[Study]) -> Vec<Line> {
    let mut lines = header(&["record", "group", "measure", "algorithm", "factor", "share"]);
    for place in each(studies) {
        points(&mut lines, &place.name(), Some("time"), &curves::time_profile(place.group));
        points(&mut lines, &place.name(), Some("value"), &curves::value_profile(place.group));
    }
    lines
}

fn cactuses(studies: &[Study]) -> Vec<Line> {
    let mut lines = header(&["record", "group", "algorithm", "seconds", "solved"]);
    for place in each(studies) {
        points(&mut lines, &place.name(), None, &curves::cactus(place.group));
    }
    lines
}

fn gaps(studies: &[Study]) -> Vec<Line> {
    let mut lines = header(&["record", "group", "algorithm", "seconds", "mean_gap_percent"]);
    for place in each(studies) {
        points(&mut lines, &place.name(), None, &curves::gaps(place.group).0);
    }
    lines
}

const TROUBLES: [Column<Row>; 9] = [
    ("suite", |row| row.suite.clone()),
    ("instance", |row| row.instance.clone()),
    ("problem", |row| row.problem.clone()),
    ("algorithm", |row| row.algorithm.clone()),
    ("seed", |row| row.seed.to_string()),
    ("repetition", |row| row.repetition.to_string()),
    ("line", |row| row.line.to_string()),
    ("status", |row| row.status.to_string()),
    ("error", |row| row.error.clone()),
];

fn troubles(studies: &[Study]) -> Vec<Line> {
    let mut lines = header(&["record"].into_iter().chain(names(&TROUBLES)).collect::<Vec<_>>());
    for study in studies {
        let name = || [study.record.name.clone()].into_iter();
        lines.extend(study.troubles().map(|row| name().chain(cells(&TROUBLES, row)).collect()));
    }
    lines
}
