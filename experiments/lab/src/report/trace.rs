//! Charts of traces, which show the value and the bound of one instance over time.

use crate::analysis::curves::DAWN;
use crate::analysis::{Group, distinct};
use crate::record::{TraceRow, runs};
use crate::report::axis::{Axis, Unit};
use crate::report::chart::{Chart, Series};
use crate::report::scene::thousands;

/// Returns the charts of the traced instances of a group, with their names.
pub fn trace_charts(group: &Group) -> impl Iterator<Item = (&str, Chart)> {
    let same = |a: &TraceRow, b: &TraceRow| (&a.suite, &a.instance) == (&b.suite, &b.instance);
    group.trace.chunk_by(same).filter_map(|own| {
        let (suite, name) = (&own[0].suite, &own[0].instance);
        let bound = group.instances.iter().find(|its| (&its.suite, &its.name) == (suite, name));
        let bound = bound.and_then(|its| its.best_bound);
        Some((name.as_str(), trace_chart(own, &group.question.unit, bound)?))
    })
}

/// Returns a chart of the value and the bound over time, for the first run of each algorithm on one instance.
/// Returns `None` if the trace contains neither values nor bounds.
fn trace_chart(trace: &[TraceRow], unit: &str, best_bound: Option<u64>) -> Option<Chart> {
    let first = trace.first()?;
    let mut series = Vec::new();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let names = distinct(trace.iter().map(|row| row.algorithm.as_str()));
    for (colour, name) in names.into_iter().enumerate() {
        let run = runs(trace).find(|run| run[0].algorithm == name)?;
        let points = |value: fn(&TraceRow) -> Option<u64>| -> Vec<(f64, f64)> {
            run.iter().filter_map(|row| Some((row.seconds, value(row)? as f64))).collect()
        };
        let (values, bounds) = (points(|row| row.value), points(|row| row.lower_bound));
        for &(_, value) in values.iter().chain(&bounds) {
            (low, high) = (low.min(value), high.max(value));
        }
        let has_bound = !bounds.is_empty();
        let nothing = if values.is_empty() { " (nothing found)" } else { "" };
        let line = |name, dashed, points| Series { name, colour, dashed, dots: false, points };
        series.push(line(format!("{name}{nothing}"), false, values));
        if has_bound {
            series.push(line(format!("{name}, bound"), true, bounds));
        }
    }
    if low > high {
        return None;
    }
    let margin = ((high - low) * 0.06).max(high * 0.001).max(1.0);
    let bound = best_bound.map_or_else(String::new, |bound| format!("; best bound {}", thousands(bound)));
    let last = trace.iter().map(|row| row.seconds).fold(DAWN, f64::max);
    let of = if unit == "bytes" { Unit::Bytes } else { Unit::Number };
    Some(Chart {
        title: format!("{}: value and bound over time, {unit}", first.instance),
        caption: format!("solid: best value so far; dotted: best bound so far{bound}"),
        x: Axis {
            label: "time since the start",
            unit: Unit::Seconds,
            low: DAWN,
            high: (last * 1.2).max(DAWN * 10.0),
            logarithmic: true,
        },
        y: Axis { label: "value", unit: of, low: low - margin, high: high + margin, logarithmic: false },
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
    fn a_trace_shows_first_runs_with_their_bounds() {
        let trace = [
            line("x", 1, 0.1, Some(120), None),
            line("x", 1, 0.2, Some(120), Some(90)),
            line("x", 2, 0.1, Some(100), None),
            line("y", 1, 0.3, Some(110), None),
        ];
        let chart = trace_chart(&trace, "bytes", Some(100)).unwrap();
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["x", "x, bound", "y"]);
        assert!(chart.y.low < 90.0 && chart.y.high > 120.0 && chart.x.high >= 0.3);
        assert!(trace_chart(&[], "bytes", None).is_none());
        assert!(trace_chart(&[line("x", 1, 1.0, None, None)], "bytes", None).is_none());
    }
}
