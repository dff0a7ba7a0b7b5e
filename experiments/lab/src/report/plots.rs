//! The charts of an analysis.
//!
//! A line of a performance profile of times (Dolan and Moré 2002) starts at factor 1 with the share of
//! instances on which the algorithm is the fastest. Towards the right, it rises to the share of instances
//! that the algorithm solves. Shares refer to all instances, including those that no algorithm solves.

use crate::analysis::curves::{self, Curve};
use crate::analysis::standing::VIRTUAL;
use crate::analysis::{Group, Study};
use crate::report::axis::{Axis, Unit};
use crate::report::chart::{BLACK, Chart, Series};
use crate::report::trace::trace_charts;

/// Maximum number of instances per group for which traces are drawn.
const TRACES: usize = 6;

/// A chart of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The index of the study.
    pub study: usize,
    /// The index of the group within the study.
    pub group: usize,
    /// The file name without its extension. The name is valid on any file system.
    pub name: String,
    /// The title of the chart, used as its label and caption.
    pub title: String,
    /// The chart as SVG.
    pub svg: String,
}

/// Returns the non-empty charts of all groups, in order.
pub fn plots(studies: &[Study]) -> Vec<Plot> {
    let mut plots = Vec::new();
    for (at, study) in studies.iter().enumerate() {
        for (nth, group) in study.groups.iter().enumerate() {
            let charts = [
                ("profile-time", time_profile(group)),
                ("profile-value", value_profile(group)),
                ("cactus", cactus(group)),
                ("gap-over-time", gap_chart(group)),
            ];
            let charts = charts.into_iter().filter_map(|(what, chart)| Some((what.to_owned(), chart?)));
            let traces = trace_charts(group).take(TRACES).enumerate();
            let traces =
                traces.map(|(at, (name, chart))| (format!("trace-{}-{}", at + 1, harmless(name)), chart));
            for (what, chart) in charts.chain(traces) {
                let name = format!("{:02}-{}-{}-{what}", at + 1, harmless(&study.record.name), nth + 1);
                plots.push(Plot { study: at, group: nth, name, svg: chart.svg(), title: chart.title });
            }
        }
    }
    plots
}

/// Makes a name valid in file systems and links. Invalid characters become `_`, and only the first 80
/// characters are kept.
pub fn harmless(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.chars().map(plain).take(80).collect()
}

/// Returns a performance profile: the share of instances solved within a factor of the fastest time.
/// Returns `None` if there are fewer than two algorithms, or if nothing was solved.
pub fn time_profile(group: &Group) -> Option<Chart> {
    let curves = curves::time_profile(group);
    let total = group.instances.len();
    let last = curves.iter().filter_map(|curve| curve.points.last());
    let largest = last.map(|last| last.0).fold(2.0f64, f64::max);
    (!curves.is_empty()).then(|| Chart {
        title: "Performance profile: time".to_owned(),
        caption: format!(
            "{}: share of {total} instances solved within a factor of the fastest time to solve",
            group.question
        ),
        x: Axis {
            label: "factor of the fastest time to solve",
            unit: Unit::Number,
            low: 1.0,
            high: largest * 1.3,
            logarithmic: true,
        },
        y: SHARE,
        series: from(1.0, series(group, curves, 1.0, counted(total), |point| point)),
    })
}

/// The vertical axis of profiles.
const SHARE: Axis =
    Axis { label: "share of instances", unit: Unit::Number, low: 0.0, high: 1.0, logarithmic: false };

/// Returns the label of a curve: the algorithm, and the number of instances with a point on the curve.
fn counted(total: usize) -> impl Fn(&Curve) -> String {
    move |curve| format!("{} ({} of {total})", curve.algorithm, curve.points.len())
}

/// The largest gap on an axis, in percent. Larger gaps are not shown.
const MOST_GAP: f64 = 100.0;

fn value_profile(group: &Group) -> Option<Chart> {
    let curves = curves::value_profile(group);
    let total = group.instances.len();
    let percent = |factor: f64| (factor - 1.0) * 100.0;
    let most = curves.iter().filter_map(|c| c.points.last()).map(|last| percent(last.0)).fold(0.1, f64::max);
    let mut series = series(group, curves, 1.0, counted(total), |(x, y)| (percent(x), y));
    for one in &mut series {
        one.points.retain(|&(gap, _)| gap <= MOST_GAP);
    }
    (!series.is_empty()).then(|| Chart {
        title: "Performance profile: value".to_owned(),
        caption: format!(
            "{}: share of {total} instances whose value is within this gap of the best bound; at the left edge the value equals the bound",
            group.question
        ),
        x: Axis {
            label: "gap to the best bound",
            unit: Unit::Percent,
            low: 0.0,
            high: (most * 1.05).min(MOST_GAP),
            logarithmic: false,
        },
        y: SHARE,
        series: from(0.0, series),
    })
}

fn cactus(group: &Group) -> Option<Chart> {
    let curves = curves::cactus(group);
    let total = group.instances.len();
    let times = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.0);
    let first = times().fold(f64::INFINITY, f64::min).max(1e-6);
    let last = times().fold(first, f64::max).max(group.question.time_limit.unwrap_or(0.0));
    (!curves.is_empty()).then(|| Chart {
        title: "Cactus: instances solved over time".to_owned(),
        caption: format!("{}: number of {total} instances solved within a time limit", group.question),
        x: Axis {
            label: "time limit",
            unit: Unit::Seconds,
            low: first / 1.5,
            high: (last * 1.1).max(first * 10.0),
            logarithmic: true,
        },
        y: Axis {
            label: "instances solved",
            unit: Unit::Count,
            low: 0.0,
            high: total.max(1) as f64,
            logarithmic: false,
        },
        series: series(group, curves, 1.0, counted(total), |point| point),
    })
}

/// Returns a chart of the mean gap over time, or `None` if no run on an instance with a bound was traced.
pub fn gap_chart(group: &Group) -> Option<Chart> {
    let (curves, total) = curves::gaps(group);
    let first = curves.first()?.points.first()?.0;
    let last = curves.iter().filter_map(|curve| curve.points.last()).map(|last| last.0).fold(first, f64::max);
    let last = last.max(group.question.time_limit.unwrap_or(0.0));
    // The gap before the first value is off the chart if it is far above the other gaps.
    let most = curves.iter().filter_map(|curve| curve.points.get(1)).map(|point| point.1).fold(0.1, f64::max);
    Some(Chart {
        title: "Gap over time".to_owned(),
        caption: format!(
            "{}: mean gap to the best bound over {total} instances; a gap counts as 100 % if it is larger or if there is no value yet",
            group.question
        ),
        x: Axis {
            label: "time since the start",
            unit: Unit::Seconds,
            low: first,
            high: (last * 1.1).max(first * 10.0),
            logarithmic: true,
        },
        y: Axis {
            label: "mean gap to the best bound",
            unit: Unit::Percent,
            low: 0.0,
            high: (most * 1.05).min(MOST_GAP),
            logarithmic: false,
        },
        series: series(group, curves, -1.0, |curve| curve.algorithm.clone(), |point| point),
    })
}

/// Starts each line in the lower left corner, where x is `low`.
fn from(low: f64, mut series: Vec<Series>) -> Vec<Series> {
    for one in &mut series {
        one.points.insert(0, (low, 0.0));
    }
    series
}

/// Returns the lines in the order of the legend: sorted by the last value times `sign`, in descending order.
/// An algorithm has the same colour in all charts. The virtual best is black.
fn series(
    group: &Group,
    curves: Vec<Curve>,
    sign: f64,
    name: impl Fn(&Curve) -> String,
    place: impl Fn((f64, f64)) -> (f64, f64),
) -> Vec<Series> {
    let one = |curve: Curve| {
        let at = group.algorithms.iter().position(|(name, _)| *name == curve.algorithm).unwrap_or(0);
        let virtually = curve.algorithm == VIRTUAL;
        Series {
            name: name(&curve),
            colour: if virtually { BLACK } else { at + at / BLACK },
            dashed: virtually,
            dots: false,
            points: curve.points.into_iter().map(&place).collect(),
        }
    };
    let mut series: Vec<Series> = curves.into_iter().map(one).collect();
    let end = |series: &Series| series.points.last().map_or(f64::NEG_INFINITY, |last| sign * last.1);
    series.sort_by(|a, b| end(b).total_cmp(&end(a)));
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::times;
    use crate::report::times::tests::row;
    use plimsoll_model::Claim;

    #[test]
    fn shares_rise_with_the_factor() {
        let rows = [
            row("a", "fast", 0.1, Claim::Optimal),
            row("a", "slow", 1.0, Claim::Optimal),
            row("b", "fast", 0.1, Claim::Feasible),
            row("b", "slow", 10.0, Claim::Unknown),
            row("c", "fast", 10.0, Claim::Unknown),
            row("c", "slow", 10.0, Claim::Unknown),
        ];
        let chart = time_profile(&times::of(&rows)).unwrap();
        let third = 1.0 / 3.0;
        assert_eq!(chart.series[0].points, [(1.0, 0.0), (1.0, third), (1.0, 2.0 * third)]);
        assert_eq!(chart.series[1].points, [(1.0, 0.0), (10.0, third)]);
        assert_eq!(chart.series[1].name, "slow (1 of 3)");
        assert!(time_profile(&times::of(&rows[..1])).is_none());
        assert!(time_profile(&times::of(&rows[4..])).is_none());
    }
}
