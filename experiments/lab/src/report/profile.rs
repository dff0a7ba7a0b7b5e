//! Performance profiles (Dolan and Moré 2002): for each algorithm the share of instances it solves within a factor of
//! the fastest time.
//!
//! At factor 1 a line shows how often its algorithm is the fastest; to the right it rises towards the share it
//! solves at all. Times are medians over runs; instances that nobody solves count in the share.

use crate::analysis::curves::{LEAST, best, shares};
use crate::analysis::time::Time;
use crate::report::chart::{Axis, Chart, Series};
use crate::report::times::Times;

/// The profile; `None` where fewer than two algorithms took part, or nothing was solved.
pub fn profile(times: &Times<'_>, question: &str) -> Option<Chart> {
    let total = times.instances.len();
    let solved = |time: &Option<Time>| time.filter(|time| !time.censored).map(|time| time.seconds.max(LEAST));
    let cells: Vec<Vec<Option<f64>>> =
        times.cells.iter().map(|own| own.iter().map(solved).collect()).collect();
    if times.algorithms.len() < 2 || cells.iter().flatten().all(Option::is_none) {
        return None;
    }
    let curves = shares(&cells, &best(&cells), total);
    Some(chart(
        &times.algorithms,
        &curves,
        total,
        "Performance profile",
        format!("{question}: share of {total} instances solved within a factor of the fastest time to solve"),
        "factor of the fastest time to solve",
    ))
}

/// The lines as a picture, from factor 1.
pub fn chart(
    names: &[&str],
    curves: &[Vec<(f64, f64)>],
    total: usize,
    title: &str,
    caption: String,
    label: &'static str,
) -> Chart {
    let largest = curves.iter().filter_map(|curve| curve.last()).map(|last| last.0).fold(2.0f64, f64::max);
    let lines = names.iter().zip(curves).enumerate().map(|(at, (name, curve))| Series {
        name: format!("{name} ({} of {total})", curve.len()),
        colour: at,
        dashed: false,
        points: [(1.0, 0.0)].into_iter().chain(curve.iter().copied()).collect(),
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
