//! The analysis as CSV: one line per figure, so that programs find everything that pictures and pages show.

use super::curves::{self, Curve};
use super::standing::{Mean, is_solved};
use super::{Cell, Group, InstanceFacts, Standing, Study};
use std::collections::BTreeMap;

/// Names of all files there may be.
pub const NAMES: [&str; 6] =
    ["instances.csv", "algorithms.csv", "profile.csv", "cactus.csv", "gap-over-time.csv", "troubles.csv"];

/// The files that have something to tell: name and content, always in the order of [`NAMES`].
pub fn files(studies: &[Study]) -> Vec<(&'static str, String)> {
    let makers = [instances, algorithms, profiles, cactuses, gaps, troubles];
    let all = NAMES.into_iter().zip(makers.map(|maker: fn(&[Study]) -> Vec<Line>| maker(studies)));
    all.filter(|(_, lines)| lines.len() > 1).map(|(name, lines)| (name, text(&lines))).collect()
}

type Line = Vec<String>;

fn text(lines: &[Line]) -> String {
    let mut writer = csv::WriterBuilder::new().flexible(false).from_writer(Vec::new());
    for line in lines {
        // A vector takes everything it is given, and all lines of a file are equally long.
        let written = writer.write_record(line);
        debug_assert!(written.is_ok());
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn header(names: &[&str]) -> Vec<Line> {
    vec![names.iter().map(|&name| name.to_owned()).collect()]
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// What became of runs, other than `done`: `name=number` separated by blanks.
pub fn told(troubles: &BTreeMap<String, usize>) -> String {
    troubles.iter().map(|(name, count)| format!("{name}={count}")).collect::<Vec<_>>().join(" ")
}

/// Every group with the name of its record and its number there, from 1.
fn each(studies: &[Study]) -> impl Iterator<Item = ([String; 2], &Group, &[Standing])> {
    studies.iter().flat_map(|study| {
        let groups = study.groups.iter().zip(&study.standings).enumerate();
        groups.map(|(nth, (group, standings))| {
            ([study.record.name.clone(), (nth + 1).to_string()], group, standings.as_slice())
        })
    })
}

/// The columns that name the question of a group.
const QUESTION: [&str; 9] =
    ["record", "group", "problem", "decide", "time_limit", "node_limit", "threads", "cpu", "cores"];

fn question([record, nth]: [String; 2], group: &Group) -> Line {
    let q = &group.question;
    vec![
        record,
        nth,
        q.problem.clone(),
        q.decide.to_string(),
        shown(q.time_limit),
        shown(q.node_limit),
        q.threads.to_string(),
        q.cpu.clone(),
        q.cores.to_string(),
    ]
}

fn instances(studies: &[Study]) -> Vec<Line> {
    let mut names = QUESTION.to_vec();
    names.extend([
        "suite",
        "instance",
        "sha256",
        "buffers",
        "load",
        "capacity",
        "best_bound",
        "bound_from",
        "bound_arithmetic",
        "best_peak",
        "algorithm",
        "kind",
        "runs",
        "solved_runs",
        "solved",
        "median_peak",
        "gap_percent",
        "median_seconds",
        "censored",
        "spent_seconds",
        "primal_integral_seconds",
        "primal_integral_horizon",
        "claimed",
        "troubles",
    ]);
    let mut lines = header(&names);
    for (place, group, _) in each(studies) {
        for (at, instance) in group.instances.iter().enumerate() {
            for ((name, kind), own) in group.algorithms.iter().zip(&group.cells) {
                let Some(cell) = &own[at] else { continue };
                let mut line = question(place.clone(), group);
                line.extend(facts(instance));
                line.extend([name.clone(), kind.clone()]);
                line.extend(figures(cell));
                lines.push(line);
            }
        }
    }
    lines
}

fn facts(instance: &InstanceFacts) -> [String; 10] {
    [
        instance.suite.clone(),
        instance.name.clone(),
        instance.sha256.clone(),
        shown(instance.buffers),
        shown(instance.load),
        shown(instance.capacity),
        shown(instance.best_bound),
        instance.bound_from.to_owned(),
        instance.best_bound.map_or("", |_| instance.arithmetic.as_str()).to_owned(),
        shown(instance.best_peak),
    ]
}

fn figures(cell: &Cell) -> [String; 12] {
    [
        cell.runs.to_string(),
        cell.solved.to_string(),
        is_solved(cell).to_string(),
        shown(cell.peak),
        shown(cell.gap),
        shown(cell.time_to_solve().map(|time| time.seconds)),
        shown(cell.time_to_solve().map(|time| time.censored)),
        shown(cell.spent),
        shown(cell.integral.map(|integral| integral.seconds)),
        shown(cell.integral.map(|integral| integral.horizon)),
        shown(cell.integral.map(|integral| integral.claimed)),
        told(&cell.troubles),
    ]
}

/// The columns that tell how an algorithm stands.
const STANDING: [&str; 26] = [
    "algorithm",
    "kind",
    "instances",
    "of_instances",
    "runs",
    "answered",
    "solved",
    "solved_runs",
    "at_bound",
    "mean_gap_percent",
    "worst_gap_percent",
    "mean_seconds",
    "mean_is_bound",
    "par2_seconds",
    "mean_spent_seconds",
    "peak_wins_alone",
    "peak_wins_shared",
    "time_wins_alone",
    "time_wins_shared",
    "virtual_best_solved_lost",
    "virtual_best_time_factor",
    "virtual_best_factor_is_bound",
    "virtual_best_gap_lost",
    "mean_primal_integral_seconds",
    "mean_primal_integral_percent",
    "troubles",
];

fn algorithms(studies: &[Study]) -> Vec<Line> {
    let names = [&QUESTION[..], &STANDING].concat();
    let mut lines = header(&names);
    let value = |mean: Option<Mean>| shown(mean.map(|mean| mean.value));
    let bound = |mean: Option<Mean>| shown(mean.map(|mean| mean.bound));
    for (place, group, standings) in each(studies) {
        for own in standings {
            let mut line = question(place.clone(), group);
            line.extend([
                own.algorithm.clone(),
                own.kind.clone(),
                own.instances.to_string(),
                group.instances.len().to_string(),
                own.runs.to_string(),
                own.answered.to_string(),
                own.solved.to_string(),
                own.solved_runs.to_string(),
                own.at_bound.to_string(),
                shown(own.mean_gap),
                shown(own.worst_gap),
                value(own.mean_time),
                bound(own.mean_time),
                shown(own.par2),
                shown(own.mean_spent),
                own.peak_alone.to_string(),
                own.peak_shared.to_string(),
                own.time_alone.to_string(),
                own.time_shared.to_string(),
                shown(own.only_solver),
                value(own.time_factor),
                bound(own.time_factor),
                shown(own.gap_loss),
                shown(own.integral),
                shown(own.integral_share),
                told(&own.troubles),
            ]);
            lines.push(line);
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
    for (place, group, _) in each(studies) {
        points(&mut lines, &place, Some("time"), &curves::time_profile(group));
        points(&mut lines, &place, Some("peak"), &curves::peak_profile(group));
    }
    lines
}

fn cactuses(studies: &[Study]) -> Vec<Line> {
    let mut lines = header(&["record", "group", "algorithm", "seconds", "solved"]);
    for (place, group, _) in each(studies) {
        points(&mut lines, &place, None, &curves::cactus(group));
    }
    lines
}

fn gaps(studies: &[Study]) -> Vec<Line> {
    let mut lines = header(&["record", "group", "algorithm", "seconds", "mean_gap_percent"]);
    for (place, group, _) in each(studies) {
        let means = curves::gaps(group).0.into_iter();
        let means: Vec<Curve> =
            means.map(|mean| Curve { algorithm: mean.algorithm, points: mean.points }).collect();
        points(&mut lines, &place, None, &means);
    }
    lines
}

fn troubles(studies: &[Study]) -> Vec<Line> {
    let mut lines = header(&[
        "record",
        "suite",
        "instance",
        "problem",
        "algorithm",
        "seed",
        "repetition",
        "line",
        "status",
        "error",
    ]);
    for study in studies {
        for row in study.troubles() {
            lines.push(vec![
                study.record.name.clone(),
                row.suite.clone(),
                row.instance.clone(),
                row.problem.clone(),
                row.algorithm.clone(),
                row.seed.to_string(),
                row.repetition.to_string(),
                row.line.to_string(),
                row.status.clone(),
                row.error.clone(),
            ]);
        }
    }
    lines
}
