//! What happened while algorithms ran: better layouts and better bounds, and when; gap over time.
//!
//! Own runs are watched through their observer; its clock starts with the run. Of other processes the trace holds
//! what they say by their own clock, and their checked peak at their end. Only improvements are kept.

use crate::report::chart::{Axis, Chart, Series};
use crate::report::gap_percent;
use crate::report::rows::Row;
use plimsoll_model::{Bound, Bytes, Observer, Problem, Value};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// A line of `trace.csv`. Fields are columns, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    /// Suite of the instance.
    pub suite: String,
    /// The instance.
    pub instance: String,
    /// The problem.
    pub problem: String,
    /// The algorithm.
    pub algorithm: String,
    /// Seed.
    pub seed: u64,
    /// Which run of this algorithm on this instance, from 1.
    pub run: u64,
    /// Wall-clock seconds since its start.
    pub seconds: f64,
    /// `incumbent`, `bound`, `end`; with `-claimed` behind it where it is only a peer's word.
    pub event: String,
    /// Best value so far, bytes.
    pub peak: Option<u64>,
    /// Best bound so far, bytes.
    pub lower_bound: Option<u64>,
}

/// One event of a run, before it has a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Seconds since the start.
    pub seconds: f64,
    /// What happened.
    pub what: What,
    /// Best value so far, bytes.
    pub peak: Option<u64>,
    /// Best bound so far, bytes.
    pub bound: Option<u64>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A better layout.
    Incumbent,
    /// A better bound.
    Bound,
    /// The run ended.
    End,
}

/// Writes down what an observer is told.
#[derive(Clone, Debug)]
pub struct Recorder {
    started: Instant,
    course: Course,
}

/// A course of improvements.
#[derive(Clone, Debug, Default)]
pub struct Course {
    peak: Option<u64>,
    bound: Option<u64>,
    /// The events, in order.
    pub events: Vec<Event>,
}

impl Course {
    /// Adds a value, if it is better.
    pub fn peak(&mut self, seconds: f64, peak: u64) {
        if self.peak.is_none_or(|best| peak < best) {
            self.peak = Some(peak);
            self.push(seconds, What::Incumbent);
        }
    }

    /// Adds a bound, if it is better.
    pub fn bound(&mut self, seconds: f64, bound: u64) {
        if self.bound.is_none_or(|best| bound > best) {
            self.bound = Some(bound);
            self.push(seconds, What::Bound);
        }
    }

    /// Adds the end.
    pub fn end(&mut self, seconds: f64) {
        self.push(seconds, What::End);
    }

    fn push(&mut self, seconds: f64, what: What) {
        self.events.push(Event { seconds, what, peak: self.peak, bound: self.bound });
    }
}

impl Recorder {
    /// Starts the clock.
    pub fn start() -> Self {
        Self { started: Instant::now(), course: Course::default() }
    }

    /// The course with its end: what the outcome says counts, also where nobody was told.
    pub fn finish(mut self, seconds: f64, peak: Option<u64>, bound: Option<u64>) -> Vec<Event> {
        // The clock here started a little before that of the run.
        let seconds = self.course.events.last().map_or(seconds, |last| last.seconds.max(seconds));
        if let Some(peak) = peak {
            self.course.peak(seconds, peak);
        }
        if let Some(bound) = bound {
            self.course.bound(seconds, bound);
        }
        self.course.end(seconds);
        self.course.events
    }
}

impl<P: Problem> Observer<P> for Recorder {
    fn incumbent(&mut self, _: &P::Solution, value: P::Value) {
        self.course.peak(self.started.elapsed().as_secs_f64(), value.number());
    }

    fn bound(&mut self, bound: &Bound<P>) {
        self.course.bound(self.started.elapsed().as_secs_f64(), bound.value.number());
    }
}

/// The events of a process: what it said, as its word, where its answer passed the checker; then what was found valid.
pub fn of_process(row: &Row, heard: &Course, seconds: f64) -> Vec<TraceRow> {
    let line = TraceRow::of(row);
    let mut trace = Vec::new();
    if row.status == "done" {
        // A peak that is lower than the checked one of the end was never there.
        let honest = |peak: u64| row.peak.is_some_and(|valid| peak >= valid);
        let events = heard.events.iter().filter(|event| event.peak.is_none_or(honest));
        trace.extend(events.map(|event| line.with(event, true)));
    }
    let mut end = Course::default();
    if let Some(peak) = row.peak {
        end.peak(seconds, peak);
    }
    if let Some(bound) = row.lower_bound {
        end.bound(seconds, bound);
    }
    end.end(seconds);
    trace.extend(end.events.iter().map(|event| line.with(event, false)));
    trace
}

impl TraceRow {
    /// What names the run, before any event.
    pub fn of(row: &Row) -> Self {
        Self {
            suite: row.suite.clone(),
            instance: row.instance.clone(),
            problem: row.problem.clone(),
            algorithm: row.algorithm.clone(),
            seed: row.seed,
            run: row.run,
            ..Self::default()
        }
    }

    /// The event as a line beside those that name the run.
    #[must_use]
    pub fn with(&self, event: &Event, claimed: bool) -> Self {
        let what = match event.what {
            What::Incumbent => "incumbent",
            What::Bound => "bound",
            What::End => "end",
        };
        let suffix = if claimed && event.what != What::End { "-claimed" } else { "" };
        Self {
            seconds: event.seconds,
            event: format!("{what}{suffix}"),
            peak: event.peak,
            lower_bound: event.bound,
            ..self.clone()
        }
    }
}

/// Where time begins in the pictures, seconds: what happens earlier is drawn there.
const DAWN: f64 = 0.001;

/// The runs of a trace: consecutive lines of one run each.
pub(crate) fn runs(trace: &[TraceRow]) -> impl Iterator<Item = &[TraceRow]> {
    let run = |t: &TraceRow| {
        (t.suite.clone(), t.instance.clone(), t.problem.clone(), t.algorithm.clone(), t.seed, t.run)
    };
    trace.chunk_by(move |a, b| run(a) == run(b))
}

fn algorithms(trace: &[TraceRow]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in trace {
        if !names.contains(&row.algorithm.as_str()) {
            names.push(&row.algorithm);
        }
    }
    names
}

fn time_axis(trace: &[TraceRow]) -> Axis {
    let last = trace.iter().map(|row| row.seconds).fold(DAWN, f64::max);
    Axis {
        label: "seconds since the start",
        low: DAWN,
        high: (last * 1.2).max(DAWN * 10.0),
        logarithmic: true,
    }
}

/// One instance: value and bound of each algorithm over time, in its first run. `None` where nothing happened.
pub fn course_chart(trace: &[TraceRow], best_bound: Option<u64>) -> Option<Chart> {
    let first = trace.first()?;
    let mut series = Vec::new();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let names = algorithms(trace);
    for (colour, name) in names.iter().enumerate() {
        let run = runs(trace).find(|run| run[0].algorithm == *name)?;
        let points = |value: fn(&TraceRow) -> Option<u64>| -> Vec<(f64, f64)> {
            run.iter().filter_map(|row| Some((row.seconds, value(row)? as f64))).collect()
        };
        let (peaks, bounds) = (points(|row| row.peak), points(|row| row.lower_bound));
        for &(_, value) in peaks.iter().chain(&bounds) {
            (low, high) = (low.min(value), high.max(value));
        }
        let has_bound = !bounds.is_empty();
        let nothing = if peaks.is_empty() { " (no layout)" } else { "" };
        series.push(Series { name: format!("{name}{nothing}"), colour, dashed: false, points: peaks });
        if has_bound {
            series.push(Series { name: format!("{name}, bound"), colour, dashed: true, points: bounds });
        }
    }
    if low > high {
        return None;
    }
    let margin = ((high - low) * 0.06).max(high * 0.001).max(1.0);
    let bound = best_bound
        .map_or_else(String::new, |bound| format!("; best bound {} bytes", super::scene::thousands(bound)));
    Some(Chart {
        title: format!("{}: peak and bound over time", first.instance),
        caption: format!("solid: best peak so far, dotted: best lower bound so far{bound}"),
        x: time_axis(trace),
        y: Axis { label: "bytes", low: low - margin, high: high + margin, logarithmic: false },
        series,
    })
}

/// Gap of a run that has nothing yet, percent; a larger one counts as this.
const WORST_GAP: f64 = 100.0;

/// The mean gap of one algorithm over time.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanGap {
    /// The algorithm.
    pub algorithm: String,
    /// Runs that take part.
    pub runs: usize,
    /// Seconds since the start, and the mean gap from then on, percent; by ascending time.
    pub points: Vec<(f64, f64)>,
}

/// Per algorithm the mean over instances and runs of the gap to the best bound at each moment; a run without a layout
/// counts as 100 %. `best_bound` gives the best bound of a line's instance; lines without one do not count. Also the
/// number of instances. O(lines * log(lines)).
pub fn mean_gaps(trace: &[TraceRow], best_bound: impl Fn(&TraceRow) -> Option<u64>) -> (Vec<MeanGap>, usize) {
    let mut means = Vec::new();
    let mut instances: Vec<(&str, &str)> = Vec::new();
    for name in algorithms(trace) {
        // Each improvement lowers the sum by what it gains.
        let mut gains: Vec<(f64, f64)> = Vec::new();
        let mut count = 0;
        for run in runs(trace).filter(|run| run[0].algorithm == name) {
            let Some(bound) = best_bound(&run[0]) else { continue };
            if !instances.contains(&(&run[0].suite, &run[0].instance)) {
                instances.push((&run[0].suite, &run[0].instance));
            }
            count += 1;
            let mut gap = WORST_GAP;
            for row in run {
                let now = row.peak.and_then(|peak| gap_percent(Bytes::new(peak), Bytes::new(bound)));
                let now = now.map_or(gap, |now| now.clamp(0.0, gap));
                if now < gap {
                    gains.push((row.seconds.max(DAWN), gap - now));
                    gap = now;
                }
            }
        }
        if count == 0 {
            continue;
        }
        gains.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = WORST_GAP * count as f64;
        let mut points = vec![(DAWN, sum / count as f64)];
        for (seconds, gain) in gains {
            sum -= gain;
            points.push((seconds, (sum / count as f64).max(0.0)));
        }
        means.push(MeanGap { algorithm: name.to_owned(), runs: count, points });
    }
    (means, instances.len())
}

/// All instances: the mean gaps as a picture. `best_bound` gives the best bound of a suite's instance.
pub fn gap_chart(trace: &[TraceRow], best_bound: impl Fn(&str, &str) -> Option<u64>) -> Option<Chart> {
    let (means, total) = mean_gaps(trace, |row| best_bound(&row.suite, &row.instance));
    let series: Vec<Series> = means
        .into_iter()
        .enumerate()
        .map(|(colour, mean)| Series {
            name: mean.algorithm,
            colour,
            dashed: false,
            // On a logarithmic axis zero needs a place: the lower edge.
            points: mean.points.into_iter().map(|(x, gap)| (x, gap + 0.01)).collect(),
        })
        .collect();
    (!series.is_empty()).then(|| Chart {
        title: "Gap over time".to_owned(),
        caption: format!(
            "mean over {total} instances of the gap to the best bound; no layout yet counts as 100 %"
        ),
        x: time_axis(trace),
        y: Axis { label: "gap + 0.01, percent", low: 0.01, high: 110.0, logarithmic: true },
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::{Layout, LowerBound, Offsets, Witness};

    fn line(algorithm: &str, run: u64, seconds: f64, peak: Option<u64>, bound: Option<u64>) -> TraceRow {
        TraceRow {
            suite: "s".into(),
            instance: "a".into(),
            algorithm: algorithm.into(),
            run,
            seconds,
            peak,
            lower_bound: bound,
            ..TraceRow::default()
        }
    }

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
        let events = recorder.finish(2.0, Some(6), Some(3));
        let seen: Vec<_> = events.iter().map(|event| (event.what, event.peak, event.bound)).collect();
        assert_eq!(
            seen,
            [
                (What::Incumbent, Some(9), None),
                (What::Bound, Some(9), Some(3)),
                (What::Incumbent, Some(7), Some(3)),
                (What::Incumbent, Some(6), Some(3)),
                (What::End, Some(6), Some(3)),
            ]
        );
        assert!(events.is_sorted_by(|a, b| a.seconds <= b.seconds));
        let row = TraceRow::default();
        assert_eq!(row.with(&events[0], true).event, "incumbent-claimed");
        assert_eq!(row.with(&events[4], true).event, "end");
    }

    #[test]
    fn the_mean_gap_falls_as_runs_improve() {
        let trace = [
            line("x", 1, 0.1, Some(300), None),
            line("x", 1, 1.0, Some(110), None),
            line("x", 2, 0.5, Some(100), None),
            line("y", 1, 3.0, None, Some(90)),
        ];
        let chart = gap_chart(&trace, |_, _| Some(100)).unwrap();
        let x: Vec<(f64, f64)> = chart.series[0].points.clone();
        assert_eq!(x.len(), 3);
        assert!(
            (x[0].1 - 100.01).abs() < 1e-9 && (x[1].1 - 50.01).abs() < 1e-9 && (x[2].1 - 5.01).abs() < 1e-9
        );
        assert_eq!(chart.series[1].points.len(), 1);
        assert!(gap_chart(&trace, |_, _| None).is_none());
    }

    #[test]
    fn a_course_shows_first_runs_with_their_bounds() {
        let trace = [
            line("x", 1, 0.1, Some(120), None),
            line("x", 1, 0.2, Some(120), Some(90)),
            line("x", 2, 0.1, Some(100), None),
            line("y", 1, 0.3, Some(110), None),
        ];
        let chart = course_chart(&trace, Some(100)).unwrap();
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["x", "x, bound", "y"]);
        assert!(chart.y.low < 90.0 && chart.y.high > 120.0 && chart.x.high >= 0.3);
        assert!(course_chart(&[], None).is_none());
        assert!(course_chart(&[line("x", 1, 1.0, None, None)], None).is_none());
    }
}
