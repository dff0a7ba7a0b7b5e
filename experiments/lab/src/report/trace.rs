//! Charts of traces: value and bound of one instance over time, and the mean gap over all.

use crate::analysis::curves::{DAWN, algorithms, mean_gaps};
use crate::record::{TraceRow, runs};
use crate::report::chart::{Axis, Chart, Series};

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
        let (peaks, bounds) = (points(|row| row.value), points(|row| row.lower_bound));
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

    fn line(algorithm: &str, run: u64, seconds: f64, value: Option<u64>, bound: Option<u64>) -> TraceRow {
        TraceRow {
            suite: "s".into(),
            instance: "a".into(),
            algorithm: algorithm.into(),
            run,
            seconds,
            value,
            lower_bound: bound,
            ..TraceRow::default()
        }
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
