//! `plimsoll recheck`: reruns records and compares the results.

use crate::args::{OpenArgs, seconds};
use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::report::{self, Printed, Text, cells};
use clap::Args;
use plimsoll_lab::experiment::Manifest;
use plimsoll_lab::recheck::{Effort, Finding, Verdict, read_rows, recheck};
use plimsoll_lab::row::leads_out;
use plimsoll_lab::suite::Reading;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of differences shown per record; all are counted.
const SHOWN: usize = 20;

#[derive(Args, Debug)]
pub struct RecheckArgs {
    /// Folders written by `bench --out` or `sweep --out`, or the rows.csv files in them
    #[arg(value_name = "DIR", required = true)]
    records: Vec<PathBuf>,
    /// Rerun only runs that took at most this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    slowest: Duration,
    /// Rerun only every N-th of these runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    every: u64,
    #[command(flatten)]
    import: OpenArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Command for RecheckArgs {
    const NAME: &str = "recheck";
    const ABOUT: &str = "Rerun records of `bench` and compare all results that do not depend on time";
    const TASK: Task = Task::Algorithms;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll bench embedded --only patent --algorithms greedy-by-size --out record && plimsoll recheck record",
            "Rerun the rows of a record, and compare the results",
        ),
        ("plimsoll recheck record --every 2 --json", "Rerun every second row"),
    ];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &RecheckArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let effort = Effort { slowest: args.slowest.as_secs_f64(), every: args.every as usize };
    let reading = Reading { endpoints: None, import: args.import.options()? };
    // Reads all files before the first run.
    let read = |path: &PathBuf| {
        let file = if path.is_dir() { path.join("rows.csv") } else { path.clone() };
        if path.is_dir() && leads_out(&file, path) {
            let why = "it is a symbolic link out of the record";
            return Err(Failure::input(format!("{}: {why}", file.display())));
        }
        let rows = read_rows(&file).map_err(Failure::input)?;
        let manifest = Manifest::read(file.parent().unwrap_or(Path::new("")))?;
        Ok::<_, Failure>((path.clone(), rows, manifest.map_or_else(Vec::new, |own| own.sweep.inputs)))
    };
    let records = args.records.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut checked = Vec::new();
    for (path, rows, inputs) in records {
        let findings = recheck(&rows, &inputs, &registry, effort, &reading)
            .map_err(|error| Failure::input(error).about(&path))?;
        checked.push((path, findings));
    }
    let report = RecheckReport { records: checked.iter().map(RecordReport::of).collect() };
    report::print(&report, args.json)?;
    Ok(if report.records.iter().any(|record| record.differ > 0) { REFUTED } else { ANSWERED })
}

/// The report on all records.
#[derive(Serialize)]
struct RecheckReport<'a> {
    records: Vec<RecordReport<'a>>,
}

#[derive(Serialize)]
struct RecordReport<'a> {
    record: String,
    rows: usize,
    same: usize,
    differ: usize,
    /// Numbers of rows that are not rerun, by reason.
    left: BTreeMap<&'static str, usize>,
    differences: Vec<Difference<'a>>,
}

#[derive(Serialize)]
struct Difference<'a> {
    line: u64,
    instance: &'a str,
    algorithm: &'a str,
    column: &'static str,
    recorded: &'a str,
    today: &'a str,
}

impl<'a> RecordReport<'a> {
    fn of((path, findings): &'a (PathBuf, Vec<Finding>)) -> Self {
        let (mut left, mut differences) = (BTreeMap::new(), Vec::new());
        for Finding { line, instance, algorithm, verdict } in findings {
            match verdict {
                Verdict::Same => {}
                Verdict::Left(why) => *left.entry(*why).or_default() += 1,
                Verdict::Differs { column, recorded, today } => {
                    differences.push(Difference {
                        line: *line,
                        instance,
                        algorithm,
                        column,
                        recorded,
                        today,
                    });
                }
            }
        }
        let (rows, differ) = (findings.len(), differences.len());
        let same = rows - differ - left.values().sum::<usize>();
        Self { record: path.display().to_string(), rows, same, differ, left, differences }
    }
}

impl Printed for RecheckReport<'_> {
    fn print(&self, text: &mut Text) {
        let row = |one: &RecordReport<'_>| {
            let reasons: Vec<String> = one.left.iter().map(|(why, count)| format!("{count} {why}")).collect();
            cells![&one.record, one.rows, one.same, one.differ, reasons.join(", ")]
        };
        text.table(&["record", "rows", "same", "differ", "not rerun"], self.records.iter().map(row));
        if self.records.iter().any(|one| one.differ > 0) {
            text.push("\n");
        }
        for RecordReport { record, differ, differences, .. } in &self.records {
            for Difference { line, instance, algorithm, column, recorded, today } in
                differences.iter().take(SHOWN)
            {
                let what = format_args!("{column} was {recorded}, is now {today}");
                text.push(&format!("{record}: line {line}: {algorithm} on {instance}: {what}\n"));
            }
            if *differ > SHOWN {
                text.push(&format!("{record}: and {} more\n", differ - SHOWN));
            }
        }
    }
}
