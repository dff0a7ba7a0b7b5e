//! Courses of runs: in `rows.csv` a column with a word per event, so that it goes the way of its row; in `trace.csv`, made from
//! it when all rows are in, a line per event, in the columns that `bench --trace` writes.

use super::SweepError;
use super::rows::SweepRow;
use crate::report::trace::TraceRow;
use plimsoll_model::files::write_durably;
use std::collections::HashMap;
use std::path::Path;

/// The name of the file in the folder of a sweep.
pub const TRACE: &str = "trace.csv";

/// Events as words `seconds:event:peak:bound`, separated by blanks.
pub(super) fn words(events: &[TraceRow]) -> String {
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let word = |event: &TraceRow| {
        let (peak, bound) = (number(event.peak), number(event.lower_bound));
        format!("{:.6}:{}:{peak}:{bound}", event.seconds, event.event)
    };
    events.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The lines of all rows, in their order. Runs of one algorithm on one instance count from 1.
pub fn lines(rows: &[SweepRow]) -> Vec<TraceRow> {
    let mut counts: HashMap<(&str, &str, &str, &str), u64> = HashMap::new();
    let mut lines = Vec::new();
    for row in rows {
        let nth = counts.entry((&row.suite, &row.instance, &row.problem, &row.algorithm)).or_default();
        *nth += 1;
        for word in row.trace.split(' ').filter(|word| !word.is_empty()) {
            let mut parts = word.split(':');
            let mut next = || parts.next().unwrap_or_default();
            lines.push(TraceRow {
                suite: row.suite.clone(),
                instance: row.instance.clone(),
                problem: row.problem.clone(),
                algorithm: row.algorithm.clone(),
                seed: row.seed,
                run: *nth,
                seconds: next().parse().unwrap_or_default(),
                event: next().to_owned(),
                peak: next().parse().ok(),
                lower_bound: next().parse().ok(),
            });
        }
    }
    lines
}

/// Writes `trace.csv` into a folder.
pub(super) fn write(folder: &Path, rows: &[SweepRow]) -> Result<(), SweepError> {
    let path = folder.join(TRACE);
    let written = write_durably(&path, |file| {
        let mut writer = csv::Writer::from_writer(file);
        for line in lines(rows) {
            writer.serialize(line)?;
        }
        writer.flush()
    });
    written.map_err(|source| SweepError::Io { path, source })
}
