//! Performance profiles (Dolan and Moré 2002): for each algorithm the share of instances it solves within a factor of
//! the fastest time.
//!
//! At factor 1 a line shows how often its algorithm is the fastest; to the right it rises towards the share it
//! solves at all. Times are medians over runs; instances that nobody solves count in the share.

use crate::analysis::curves::{Curve, time_profile};
use crate::report::chart::{Axis, Chart, Series};
use crate::report::times::Times;

/// The profile; `None` where fewer than two algorithms took part, or nothing was solved.
pub fn profile(times: &Times, question: &str) -> Option<Chart> {
    let curves = time_profile(&times.0);
    if curves.is_empty() {
        return None;
    }
    let total = times.0.instances.len();
    Some(chart(
        &curves,
        total,
        "Performance profile",
        format!("{question}: share of {total} instances solved within a factor of the fastest time to solve"),
        "factor of the fastest time to solve",
    ))
}

/// The lines as a picture, from factor 1.
pub fn chart(curves: &[Curve], total: usize, title: &str, caption: String, label: &'static str) -> Chart {
    let largest =
        curves.iter().filter_map(|curve| curve.points.last()).map(|last| last.0).fold(2.0f64, f64::max);
    let lines = curves.iter().enumerate().map(|(at, curve)| Series {
        name: format!("{} ({} of {total})", curve.algorithm, curve.points.len()),
        colour: at,
        dashed: false,
        points: [(1.0, 0.0)].into_iter().chain(curve.points.iter().copied()).collect(),
    });
    Chart {
        title: title.to_owned(),
        caption,
        x: Axis { label, low: 1.0, high: largest * 1.3, logarithmic: true },
        y: Axis { label: "share of instances", low: 0.0, high: 1.0, logarithmic: false },
        series: lines.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::times::tests::row;
    use plimsoll::plan::ProblemKind;

    #[test]
    fn shares_rise_with_the_factor() {
        let rows = [
            row("a", "fast", 0.1, "optimal"),
            row("a", "slow", 1.0, "optimal"),
            row("b", "fast", 0.1, "feasible"),
            row("b", "slow", 10.0, "unknown"),
            row("c", "fast", 10.0, "unknown"),
            row("c", "slow", 10.0, "unknown"),
        ];
        let chart = profile(&Times::of(&rows, ProblemKind::Offsets), "decide").unwrap();
        let third = 1.0 / 3.0;
        assert_eq!(chart.series[0].points, [(1.0, 0.0), (1.0, third), (1.0, 2.0 * third)]);
        assert_eq!(chart.series[1].points, [(1.0, 0.0), (10.0, third)]);
        assert_eq!(chart.series[1].name, "slow (1 of 3)");
        assert!(profile(&Times::of(&rows[..1], ProblemKind::Offsets), "").is_none());
        assert!(profile(&Times::of(&rows[4..], ProblemKind::Offsets), "").is_none());
    }
}
