//! Charts of traces, which show the value and the bound of one instance over time.

use crate::analysis::Group;
use crate::analysis::curves::DAWN;
use crate::report::axis::{Axis, Unit};
use crate::report::chart::{Chart, Series};
use crate::report::scene::thousands;
use crate::row::Event;

/// Returns the charts of the traced instances of a group, with their names.
pub fn trace_charts(group: &Group) -> impl Iterator<Item = (&str, Chart)> {
    let chart = |at: usize| Some((group.instances[at].name.as_str(), trace_chart(group, at)?));
    (0..group.instances.len()).filter_map(chart)
}

/// Returns a chart of the value and the bound over time, for the first run of each algorithm on the instance
/// with this index. Returns `None` if the traces contain neither values nor bounds.
fn trace_chart(group: &Group, instance: usize) -> Option<Chart> {
    let mut series = Vec::new();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let own = || group.traced.iter().filter(|run| run.instance == instance);
    let first = |nth: usize| own().find(|run| run.algorithm == nth);
    let drawn = (0..group.algorithms.len()).filter_map(|nth| Some((&group.algorithms[nth].0, first(nth)?)));
    for (colour, (name, run)) in drawn.enumerate() {
        let points = |value: fn(&Event) -> Option<u64>| -> Vec<(f64, f64)> {
            run.events.iter().filter_map(|event| Some((event.seconds, value(event)? as f64))).collect()
        };
        let (values, bounds) = (points(|event| event.value), points(|event| event.bound));
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
    let (facts, unit) = (&group.instances[instance], group.question.unit);
    let best_bound = facts.best_bound;
    let margin = ((high - low) * 0.06).max(high * 0.001).max(1.0);
    let bound = best_bound.map_or_else(String::new, |bound| format!("; best bound {}", thousands(bound)));
    let last = own().flat_map(|run| &run.events).map(|event| event.seconds).fold(DAWN, f64::max);
    let of = if unit == crate::row::Unit::Bytes { Unit::Bytes } else { Unit::Number };
    Some(Chart {
        title: format!("{}: value and bound over time, {unit}", facts.name),
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
    use crate::analysis::InstanceFacts;
    use crate::analysis::integral::Traced;
    use crate::row::{AlgorithmKind, Happening};

    fn run(algorithm: usize, events: &[(f64, Option<u64>, Option<u64>)]) -> Traced {
        let event = |&(seconds, value, bound): &(f64, Option<u64>, Option<u64>)| {
            let happening = if value.is_some() { Happening::Incumbent } else { Happening::End };
            Event { seconds, happening, claimed: false, value, bound }
        };
        Traced { algorithm, instance: 0, events: events.iter().map(event).collect() }
    }

    #[test]
    fn a_trace_shows_first_runs_with_their_bounds() {
        let traced = vec![
            run(0, &[(0.1, Some(120), None), (0.2, Some(120), Some(90))]),
            run(0, &[(0.1, Some(100), None)]),
            run(1, &[(0.3, Some(110), None)]),
        ];
        let algorithms = ["x", "y"].map(|name| (name.to_owned(), AlgorithmKind::Heuristic)).to_vec();
        let facts = InstanceFacts { best_bound: Some(100), ..InstanceFacts::default() };
        let of = |traced| {
            let (algorithms, instances) = (algorithms.clone(), vec![facts.clone()]);
            trace_chart(&Group { instances, algorithms, traced, ..Group::default() }, 0)
        };
        let chart = of(traced).unwrap();
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["x", "x, bound", "y"]);
        assert!(chart.y.low < 90.0 && chart.y.high > 120.0 && chart.x.high >= 0.3);
        assert!(of(Vec::new()).is_none());
        assert!(of(vec![run(0, &[(1.0, None, None)])]).is_none());
    }
}
