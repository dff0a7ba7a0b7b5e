//! `plimsoll recheck`: reruns records and compares the results.

use crate::args::{OpenArgs, seconds};
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::output;
use clap::Args;
use plimsoll_lab::experiment::Manifest;
use plimsoll_lab::recheck::{Effort, Finding, Verdict, read_rows, recheck};
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::row::leads_out;
use plimsoll_lab::suite::Reading;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
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

pub fn main(args: &RecheckArgs) -> Result<u8, Failure> {
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
    if args.json {
        output::print_json(&json!({ "records": checked.iter().map(as_json).collect::<Vec<_>>() }))?;
    } else {
        output::print(&text(&checked))?;
    }
    let differs = checked.iter().flat_map(|(_, findings)| findings).any(is_different);
    Ok(if differs { REFUTED } else { ANSWERED })
}

fn is_different(finding: &Finding) -> bool {
    matches!(finding.verdict, Verdict::Differs { .. })
}

/// Returns the number of equal rows, of different rows, and of skipped rows by reason.
fn counts(findings: &[Finding]) -> (usize, usize, BTreeMap<&'static str, usize>) {
    let mut left = BTreeMap::new();
    for finding in findings {
        if let Verdict::Left(why) = finding.verdict {
            *left.entry(why).or_default() += 1;
        }
    }
    let same = findings.iter().filter(|finding| finding.verdict == Verdict::Same).count();
    (same, findings.iter().filter(|&finding| is_different(finding)).count(), left)
}

fn text(checked: &[(PathBuf, Vec<Finding>)]) -> String {
    let columns = [("record", Align::Left), ("rows", Align::Right), ("same", Align::Right)];
    let more = [("differ", Align::Right), ("not rerun", Align::Left)];
    let mut table = Table::new(columns.into_iter().chain(more));
    let mut details = String::new();
    for (path, findings) in checked {
        let (same, different, left) = counts(findings);
        let reasons: Vec<String> = left.iter().map(|(why, count)| format!("{count} {why}")).collect();
        let numbers = [findings.len(), same, different].map(|number| number.to_string());
        table.row([name(path)].into_iter().chain(numbers).chain([reasons.join(", ")]));
        for finding in findings.iter().filter(|&finding| is_different(finding)).take(SHOWN) {
            let _ = writeln!(details, "{}", difference(path, finding));
        }
        if different > SHOWN {
            let _ = writeln!(details, "{}: and {} more", name(path), different - SHOWN);
        }
    }
    let gap = if details.is_empty() { "" } else { "\n" };
    output::filled(&format!("{}{gap}{details}", table.text_within(output::width())))
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn difference(path: &Path, finding: &Finding) -> String {
    let Finding { line, instance, algorithm, verdict } = finding;
    let what = match verdict {
        Verdict::Differs { column, recorded, today } => format!("{column} was {recorded}, is now {today}"),
        Verdict::Same | Verdict::Left(_) => String::new(),
    };
    format!("{}: line {line}: {algorithm} on {instance}: {what}", name(path))
}

fn as_json((path, findings): &(PathBuf, Vec<Finding>)) -> Value {
    let (same, different, left) = counts(findings);
    let differences = findings.iter().filter_map(|finding| match &finding.verdict {
        Verdict::Differs { column, recorded, today } => Some(json!({
            "line": finding.line,
            "instance": finding.instance,
            "algorithm": finding.algorithm,
            "column": column,
            "recorded": recorded,
            "today": today,
        })),
        Verdict::Same | Verdict::Left(_) => None,
    });
    json!({
        "record": name(path),
        "rows": findings.len(),
        "same": same,
        "differ": different,
        "left": left,
        "differences": differences.collect::<Vec<_>>(),
    })
}
