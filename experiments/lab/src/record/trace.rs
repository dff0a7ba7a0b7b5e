//! Traces: the improvements of value and bound during runs.
//!
//! Runs of built-in algorithms are traced through their observer, whose clock starts with the run. The
//! trace of an external process contains the timestamped reports of the process, and finally the checked
//! value. Only improvements are kept. `rows.csv` stores a trace in one column with one word per event.
//! `trace.csv` is derived from that column and has one line per event.

use super::{Record, TRACE, rank};
use plimsoll_model::files::write_durably;
use plimsoll_model::{Bound, Observer, Problem, Value};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::time::Instant;

/// A line of `trace.csv`. The fields are the columns, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    /// The suite of the instance.
    pub suite: String,
    /// The name of the instance.
    pub instance: String,
    /// The problem, such as `offsets`.
    pub problem: String,
    /// The name of the algorithm.
    pub algorithm: String,
    /// The seed of the run.
    pub seed: u64,
    /// Number of the run among all runs of this algorithm on this instance, counted from 1.
    pub run: u64,
    /// Wall-clock time since the start of the run, in seconds.
    pub seconds: f64,
    /// `incumbent`, `bound` or `end`, with the suffix `-claimed` if an external process reports the event.
    pub event: String,
    /// The best value so far.
    #[serde(alias = "peak")]
    pub value: Option<u64>,
    /// The best bound so far.
    pub lower_bound: Option<u64>,
}

/// An event of a run. Its textual form is a word of the column `trace`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Time since the start of the run, in seconds.
    pub seconds: f64,
    /// `incumbent`, `bound` or `end`.
    pub what: &'static str,
    /// The best value so far.
    pub value: Option<u64>,
    /// The best bound so far.
    pub bound: Option<u64>,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let Self { seconds, what, value, bound } = self;
        write!(f, "{seconds:.6}:{what}:{}:{}", number(*value), number(*bound))
    }
}

/// A trace of improvements.
#[derive(Clone, Debug, Default)]
pub struct Improvements {
    value: Option<u64>,
    bound: Option<u64>,
    /// The events, in order.
    pub events: Vec<Event>,
}

impl Improvements {
    /// Adds a value if it is better than all earlier ones.
    pub fn value(&mut self, seconds: f64, unit: &str, value: u64) {
        if self.value.is_none_or(|best| rank(unit, value) < rank(unit, best)) {
            self.value = Some(value);
            self.push(seconds, "incumbent");
        }
    }

    /// Adds a bound if it is tighter than all earlier ones.
    pub fn bound(&mut self, seconds: f64, unit: &str, bound: u64) {
        if self.bound.is_none_or(|best| rank(unit, bound) > rank(unit, best)) {
            self.bound = Some(bound);
            self.push(seconds, "bound");
        }
    }

    /// Returns the time at which a value was first found, in seconds.
    pub fn reached(&self, value: u64) -> Option<f64> {
        self.events.iter().find(|event| event.value == Some(value)).map(|event| event.seconds)
    }

    /// Adds the value and the bound of the record, which the observer may not have received, and then the
    /// end of the run.
    fn end(&mut self, seconds: f64, record: &Record) {
        if let Some(value) = record.value {
            self.value(seconds, &record.unit, value);
        }
        if let Some(bound) = record.lower_bound {
            self.bound(seconds, &record.unit, bound);
        }
        self.push(seconds, "end");
    }

    fn push(&mut self, seconds: f64, what: &'static str) {
        self.events.push(Event { seconds, what, value: self.value, bound: self.bound });
    }
}

impl fmt::Display for Improvements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words(self.events.iter().map(ToString::to_string)))
    }
}

/// An observer that records improvements.
#[derive(Clone, Debug)]
pub struct Recorder {
    started: Instant,
    trace: Improvements,
}

impl Recorder {
    /// Creates a recorder whose clock starts now.
    pub fn start() -> Self {
        Self { started: Instant::now(), trace: Improvements::default() }
    }

    /// Returns the trace of a run that ended with this record.
    pub fn finish(mut self, record: &Record) -> Improvements {
        let seconds = record.seconds.unwrap_or_default();
        // The clock of the recorder started slightly before that of the run.
        let seconds = self.trace.events.last().map_or(seconds, |last| last.seconds.max(seconds));
        self.trace.end(seconds, record);
        self.trace
    }
}

impl<P: Problem> Observer<P> for Recorder {
    fn incumbent(&mut self, _: &P::Solution, value: P::Value) {
        self.trace.value(self.started.elapsed().as_secs_f64(), P::Value::UNIT, value.number());
    }

    fn bound(&mut self, bound: &Bound<P>) {
        self.trace.bound(self.started.elapsed().as_secs_f64(), P::Value::UNIT, bound.value.number());
    }
}

/// Returns the trace of a process. The last events are the checked result and the end of the run. If the
/// status of the run is `done`, the reports of the process come first. Reported values that are better than
/// the checked value are omitted.
pub fn of_process(record: &Record, reported: &Improvements) -> String {
    let mut all = Vec::new();
    if record.status == "done" {
        // A reported value that is better than the checked one is wrong.
        let honest = |value: u64| record.value.is_some_and(|valid| record.rank(value) >= record.rank(valid));
        let events = reported.events.iter().filter(|event| event.value.is_none_or(honest));
        all.extend(
            events.map(|event| event.to_string().replacen(event.what, &format!("{}-claimed", event.what), 1)),
        );
    }
    let mut end = Improvements::default();
    end.end(record.seconds.unwrap_or_default(), record);
    all.extend(end.events.iter().map(ToString::to_string));
    words(all)
}

fn words(all: impl IntoIterator<Item = String>) -> String {
    all.into_iter().collect::<Vec<_>>().join(" ")
}

/// The key of a run in a trace: suite, instance, problem and algorithm; the seed; the number of the run.
pub type RunKey<'a> = ([&'a str; 4], u64, u64);

impl Record {
    /// Returns the key of the run in a trace.
    pub fn run_key(&self) -> RunKey<'_> {
        ([&self.suite, &self.instance, &self.problem, &self.algorithm], self.seed, self.nth)
    }
}

impl TraceRow {
    /// Returns the key of the run to which the line belongs.
    pub fn run_key(&self) -> RunKey<'_> {
        ([&self.suite, &self.instance, &self.problem, &self.algorithm], self.seed, self.run)
    }
}

/// Numbers the runs of each algorithm on each instance, counted from 1 as in traces.
pub fn number_runs(records: &mut [Record]) {
    let mut counts: HashMap<[String; 4], u64> = HashMap::new();
    for record in records {
        let count = counts.entry(record.run_key().0.map(str::to_owned)).or_default();
        *count += 1;
        record.nth = *count;
    }
}

/// Splits a trace into runs, which are groups of consecutive lines with the same key.
pub fn runs(trace: &[TraceRow]) -> impl Iterator<Item = &[TraceRow]> {
    trace.chunk_by(|a, b| a.run_key() == b.run_key())
}

/// Returns the trace lines of all records, in order. Runs of one algorithm on one instance are numbered from
/// 1.
pub fn trace_rows(records: &[Record]) -> Vec<TraceRow> {
    let mut counts: HashMap<[&str; 4], u64> = HashMap::new();
    let mut lines = Vec::new();
    for record in records {
        let nth = counts.entry(record.run_key().0).or_default();
        *nth += 1;
        for word in record.trace.split_whitespace() {
            let mut parts = word.split(':');
            let mut next = || parts.next().unwrap_or_default();
            lines.push(TraceRow {
                suite: record.suite.clone(),
                instance: record.instance.clone(),
                problem: record.problem.clone(),
                algorithm: record.algorithm.clone(),
                seed: record.seed,
                run: *nth,
                seconds: next().parse().unwrap_or_default(),
                event: next().to_owned(),
                value: next().parse().ok(),
                lower_bound: next().parse().ok(),
            });
        }
    }
    lines
}

/// Writes `trace.csv` into a folder.
///
/// # Errors
/// Returns the errors from the file system.
pub fn write_trace(folder: &Path, records: &[Record]) -> io::Result<()> {
    write_durably(&folder.join(TRACE), |file| {
        let mut writer = csv::Writer::from_writer(file);
        for line in trace_rows(records) {
            writer.serialize(line)?;
        }
        writer.flush()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::{Bytes, Layout, LowerBound, Offsets, Witness};

    #[test]
    fn only_improvements_are_recorded() {
        let mut recorder = Recorder::start();
        let observer: &mut dyn Observer<Offsets> = &mut recorder;
        let layout = Layout::from_raw([]);
        let bound = |value| LowerBound::new(Bytes::new(value), Witness::Trivial);
        observer.incumbent(&layout, Bytes::new(9));
        observer.incumbent(&layout, Bytes::new(9));
        observer.bound(&bound(3));
        observer.incumbent(&layout, Bytes::new(7));
        observer.bound(&bound(2));
        let record = Record { seconds: Some(2.0), value: Some(6), lower_bound: Some(3), ..Record::default() };
        let trace = recorder.finish(&record);
        assert_eq!((trace.reached(8), trace.reached(7).is_some_and(|seconds| seconds < 2.0)), (None, true));
        assert_eq!(trace.reached(6), Some(2.0));
        let trace = trace.to_string();
        let lines = trace_rows(&[Record { trace, ..record }]);
        let seen: Vec<_> =
            lines.iter().map(|line| (line.event.as_str(), line.value, line.lower_bound)).collect();
        assert_eq!(
            seen,
            [
                ("incumbent", Some(9), None),
                ("bound", Some(9), Some(3)),
                ("incumbent", Some(7), Some(3)),
                ("incumbent", Some(6), Some(3)),
                ("end", Some(6), Some(3)),
            ]
        );
        assert!(lines.is_sorted_by(|a, b| a.seconds <= b.seconds));
    }

    #[test]
    fn more_relations_are_an_improvement() {
        let mut trace = Improvements::default();
        for value in [3, 2, 5] {
            trace.value(0.5, "relations", value);
        }
        for bound in [9, 10, 8] {
            trace.bound(1.0, "relations", bound);
        }
        let value = Some(6);
        trace
            .end(2.0, &Record { unit: "relations".into(), value, lower_bound: Some(6), ..Record::default() });
        let seen: Vec<_> = trace.events.iter().map(|event| (event.what, event.value, event.bound)).collect();
        let bounds = [None, None, Some(9), Some(8), Some(8), Some(6), Some(6)];
        let values = [3, 5, 5, 5, 6, 6, 6].map(Some);
        let what = ["incumbent", "incumbent", "bound", "bound", "incumbent", "bound", "end"];
        let expected: Vec<_> = what.into_iter().zip(values).zip(bounds).collect();
        assert!(seen.into_iter().map(|(what, value, bound)| ((what, value), bound)).eq(expected));
    }

    #[test]
    fn reports_of_processes_are_marked() {
        let mut reported = Improvements::default();
        reported.value(0.5, "bytes", 9);
        reported.value(1.0, "bytes", 5);
        reported.bound(1.5, "bytes", 4);
        let record =
            Record { status: "done".into(), value: Some(8), seconds: Some(2.0), ..Record::default() };
        let trace = of_process(&record, &reported);
        assert_eq!(trace, "0.500000:incumbent-claimed:9: 2.000000:incumbent:8: 2.000000:end:8:");
    }
}
