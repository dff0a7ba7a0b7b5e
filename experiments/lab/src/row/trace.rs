//! Traces: the improvements of value and bound during runs.
//!
//! Runs of built-in algorithms are traced through their observer, whose clock starts with the run. The
//! trace of an external process contains the timestamped reports of the process, and finally the checked
//! value. Only improvements are kept. A row stores its trace in one column with one word per event.
//! `trace.csv` repeats the traces with one line per event.

use super::{Happening, Row, TRACE, Unit};
use crate::machine::MemoryMeter;
use plimsoll_model::{Bound, Observer, Problem, Value};
use plimsoll_support::files::write_durably;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::Instant;

/// An event of a run. As a word, it is `seconds:event:value:bound`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Time since the start of the run, in seconds.
    pub seconds: f64,
    /// What happened.
    pub happening: Happening,
    /// Whether an external process reported the event, so that it is unchecked.
    pub claimed: bool,
    /// The best value so far.
    pub value: Option<u64>,
    /// The best bound so far.
    pub bound: Option<u64>,
}

/// The suffix of events that an external process reports.
const CLAIMED: &str = "-claimed";

impl Event {
    /// Returns the name of the event, such as `incumbent` or `incumbent-claimed`.
    fn name(&self) -> String {
        format!("{}{}", self.happening.as_str(), if self.claimed { CLAIMED } else { "" })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        write!(f, "{}:{}:{}:{}", self.seconds, self.name(), number(self.value), number(self.bound))
    }
}

impl FromStr for Event {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let mut parts = text.split(':');
            let seconds = parts.next()?.parse().ok()?;
            let name = parts.next()?;
            let (name, claimed) = name.strip_suffix(CLAIMED).map_or((name, false), |name| (name, true));
            let happening = name.parse().ok()?;
            let number = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
            let (value, bound) = (number(parts.next()?)?, number(parts.next()?)?);
            parts.next().is_none().then_some(Self { seconds, happening, claimed, value, bound })
        };
        read().ok_or_else(|| "expected seconds:event:value:bound words separated by spaces".to_owned())
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
    pub fn value(&mut self, seconds: f64, unit: Unit, value: u64) {
        if self.value.is_none_or(|best| unit.rank(value) < unit.rank(best)) {
            self.value = Some(value);
            self.push(seconds, Happening::Incumbent);
        }
    }

    /// Adds a bound if it is tighter than all earlier ones.
    pub fn bound(&mut self, seconds: f64, unit: Unit, bound: u64) {
        if self.bound.is_none_or(|best| unit.rank(bound) > unit.rank(best)) {
            self.bound = Some(bound);
            self.push(seconds, Happening::Bound);
        }
    }

    /// Returns the time at which a value was first found, in seconds.
    pub fn reached(&self, value: u64) -> Option<f64> {
        self.events.iter().find(|event| event.value == Some(value)).map(|event| event.seconds)
    }

    /// Adds the value and the bound of the row, which the observer may not have received, and then the end of
    /// the run.
    fn end(&mut self, seconds: f64, row: &Row) {
        if let Some(value) = row.value {
            self.value(seconds, row.unit, value);
        }
        if let Some(bound) = row.lower_bound {
            self.bound(seconds, row.unit, bound);
        }
        self.push(seconds, Happening::End);
    }

    fn push(&mut self, seconds: f64, happening: Happening) {
        let Self { value, bound, .. } = *self;
        self.events.push(Event { seconds, happening, claimed: false, value, bound });
    }
}

/// An observer that records improvements, the time of a run and its memory.
#[derive(Debug)]
pub struct Recorder {
    meter: MemoryMeter,
    started: Instant,
    trace: Improvements,
    end: Option<Measured>,
}

/// The measurements of a run.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The wall-clock time of the algorithm in seconds, without the checker.
    pub seconds: f64,
    /// The peak resident memory of the process in bytes, if it could be measured.
    pub peak_memory: Option<u64>,
}

impl Recorder {
    /// Creates a recorder whose clock starts now.
    pub fn start() -> Self {
        let meter = MemoryMeter::start();
        Self { meter, started: Instant::now(), trace: Improvements::default(), end: None }
    }

    /// Returns the measurements at the end of the run. A run that did not report its end ends now.
    pub fn measured(&mut self) -> Measured {
        let Self { meter, started, .. } = &*self;
        let now = || Measured { seconds: started.elapsed().as_secs_f64(), peak_memory: meter.peak() };
        let end = self.end.unwrap_or_else(now);
        *self.end.insert(end)
    }

    /// Returns the trace of a run that ended with this row.
    pub fn finish(mut self, row: &Row) -> Improvements {
        let seconds = row.seconds.unwrap_or_default();
        // The clock of the recorder started slightly before that of the run.
        let seconds = self.trace.events.last().map_or(seconds, |last| last.seconds.max(seconds));
        self.trace.end(seconds, row);
        self.trace
    }
}

impl<P: Problem> Observer<P> for Recorder {
    fn incumbent(&mut self, _: &P::Solution, value: P::Value) {
        self.trace.value(self.started.elapsed().as_secs_f64(), Unit::of::<P::Value>(), value.number());
    }

    fn bound(&mut self, bound: &Bound<P>) {
        self.trace.bound(self.started.elapsed().as_secs_f64(), Unit::of::<P::Value>(), bound.value.number());
    }

    fn ended(&mut self) {
        self.measured();
    }
}

/// Returns the trace of a process. The last events are the checked result and the end of the run. If the run
/// is done, the reports of the process come first. Reported values that are better than the checked value are
/// omitted.
pub fn of_process(row: &Row, reported: &Improvements) -> Vec<Event> {
    let mut all = Vec::new();
    if row.is_done() {
        // A reported value that is better than the checked one is wrong.
        let honest = |value: u64| row.value.is_some_and(|valid| row.unit.rank(value) >= row.unit.rank(valid));
        let events = reported.events.iter().filter(|event| event.value.is_none_or(honest));
        all.extend(events.map(|event| Event { claimed: true, ..*event }));
    }
    let mut end = Improvements::default();
    end.end(row.seconds.unwrap_or_default(), row);
    all.extend(end.events);
    all
}

/// A line of `trace.csv`. The fields are the columns, in this order.
#[derive(Serialize)]
struct Line<'a> {
    suite: &'a str,
    instance: &'a str,
    problem: &'a str,
    algorithm: &'a str,
    seed: u64,
    /// Number of the run among all runs of this algorithm on this instance, counted from 1.
    run: u64,
    seconds: f64,
    event: String,
    value: Option<u64>,
    lower_bound: Option<u64>,
}

/// Writes the traces of rows into the file `trace.csv` of a folder, with one line per event. Runs of one
/// algorithm on one instance are numbered from 1.
///
/// # Errors
/// Returns the errors from the file system.
pub fn write_trace(folder: &Path, rows: &[Row]) -> io::Result<()> {
    let mut counts: HashMap<[&str; 4], u64> = HashMap::new();
    write_durably(&folder.join(TRACE), |file| {
        let mut writer = csv::Writer::from_writer(file);
        for row in rows {
            let [suite, instance] = [&row.suite, &row.instance].map(String::as_str);
            let [problem, algorithm] = [&row.problem, &row.algorithm].map(String::as_str);
            let run = counts.entry([suite, instance, problem, algorithm]).or_default();
            *run += 1;
            for event in &row.trace {
                let (event, Event { seconds, value, bound, .. }) = (event.name(), *event);
                let (run, lower_bound) = (*run, bound);
                let seed = row.seed;
                writer.serialize(Line {
                    suite,
                    instance,
                    problem,
                    algorithm,
                    seed,
                    run,
                    seconds,
                    event,
                    value,
                    lower_bound,
                })?;
            }
        }
        writer.flush()
    })
}

#[cfg(test)]
mod tests {
    use super::super::Status;
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
        let row = Row { seconds: Some(2.0), value: Some(6), lower_bound: Some(3), ..Row::default() };
        let trace = recorder.finish(&row);
        assert_eq!((trace.reached(8), trace.reached(7).is_some_and(|seconds| seconds < 2.0)), (None, true));
        assert_eq!(trace.reached(6), Some(2.0));
        let seen: Vec<_> =
            trace.events.iter().map(|event| (event.name(), event.value, event.bound)).collect();
        let expected = [
            ("incumbent", Some(9), None),
            ("bound", Some(9), Some(3)),
            ("incumbent", Some(7), Some(3)),
            ("incumbent", Some(6), Some(3)),
            ("end", Some(6), Some(3)),
        ];
        assert_eq!(seen, expected.map(|(name, value, bound)| (name.to_owned(), value, bound)));
        assert!(trace.events.is_sorted_by(|a, b| a.seconds <= b.seconds));
        let folder = tempfile::tempdir().unwrap();
        write_trace(folder.path(), &[Row { trace: trace.events, ..row }]).unwrap();
        let text = std::fs::read_to_string(folder.path().join(TRACE)).unwrap();
        assert!(text.ends_with(",0,1,2.0,end,6,3\n") && text.lines().count() == 6, "{text}");
    }

    #[test]
    fn more_relations_are_an_improvement() {
        let mut trace = Improvements::default();
        for value in [3, 2, 5] {
            trace.value(0.5, Unit::Relations, value);
        }
        for bound in [9, 10, 8] {
            trace.bound(1.0, Unit::Relations, bound);
        }
        let value = Some(6);
        trace.end(2.0, &Row { unit: Unit::Relations, value, lower_bound: Some(6), ..Row::default() });
        let seen: Vec<_> =
            trace.events.iter().map(|event| (event.happening, event.value, event.bound)).collect();
        let bounds = [None, None, Some(9), Some(8), Some(8), Some(6), Some(6)];
        let values = [3, 5, 5, 5, 6, 6, 6].map(Some);
        let what = [Happening::Incumbent; 2].into_iter().chain([Happening::Bound; 2]);
        let what = what.chain([Happening::Incumbent, Happening::Bound, Happening::End]);
        let expected: Vec<_> = what.zip(values).zip(bounds).collect();
        assert!(seen.into_iter().map(|(what, value, bound)| ((what, value), bound)).eq(expected));
    }

    #[test]
    fn reports_of_processes_are_marked() {
        let mut reported = Improvements::default();
        reported.value(0.5, Unit::Bytes, 9);
        reported.value(1.0, Unit::Bytes, 5);
        reported.bound(1.5, Unit::Bytes, 4);
        let row = Row { status: Status::Done, value: Some(8), seconds: Some(2.0), ..Row::default() };
        let words: Vec<String> = of_process(&row, &reported).iter().map(ToString::to_string).collect();
        assert_eq!(words, ["0.5:incumbent-claimed:9:", "2:incumbent:8:", "2:end:8:"]);
        assert!(words.iter().all(|word| word.parse::<Event>().unwrap().to_string() == *word));
        for bad in ["", "x:end::", "1:fine::", "1:end:-2:", "1:end:2", "1:end:2:3:4"] {
            assert!(bad.parse::<Event>().is_err(), "{bad}");
        }
    }
}
