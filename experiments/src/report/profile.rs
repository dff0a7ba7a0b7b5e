//! Performance profiles (Dolan and Moré 2002): for each algorithm the share of instances it solves within a factor of
//! the fastest time.
//!
//! At factor 1 a line shows how often its algorithm is the fastest; to the right it rises towards the share it
//! solves at all. Times are medians over runs; instances that nobody solves count in the share.

use crate::report::chart::{Axis, Chart, Series};
use crate::report::times::Times;

/// The profile; `None` where fewer than two algorithms took part, or nothing was solved.
pub fn profile(times: &Times<'_>, question: &str) -> Option<Chart> {
    let total = times.instances.len();
    let solved = |at: usize, instance: usize| {
        times.cells[at][instance].filter(|time| !time.censored).map(|time| time.seconds.max(1e-9))
    };
    let all = 0..times.algorithms.len();
    let fastest: Vec<Option<f64>> = (0..total)
        .map(|instance| all.clone().filter_map(|at| solved(at, instance)).reduce(f64::min))
        .collect();
    if times.algorithms.len() < 2 || fastest.iter().all(Option::is_none) {
        return None;
    }
    let mut largest = 2.0f64;
    let mut series = Vec::new();
    for (at, name) in times.algorithms.iter().enumerate() {
        let ratios = fastest
            .iter()
            .enumerate()
            .filter_map(|(instance, fastest)| Some(solved(at, instance)? / (*fastest)?));
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        largest = largest.max(ratios.last().copied().unwrap_or(1.0));
        let mut points = vec![(1.0, 0.0)];
        points
            .extend(ratios.iter().enumerate().map(|(nth, &ratio)| (ratio, (nth + 1) as f64 / total as f64)));
        let name = format!("{name} ({} of {total})", ratios.len());
        series.push(Series { name, colour: at, dashed: false, points });
    }
    Some(Chart {
        title: "Performance profile".to_owned(),
        caption: format!("{question}: share of {total} instances solved within a factor of the fastest time"),
        x: Axis { label: "factor of the fastest time", low: 1.0, high: largest * 1.3, logarithmic: true },
        y: Axis { label: "share of instances", low: 0.0, high: 1.0, logarithmic: false },
        series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ProblemKind;
    use crate::report::times::tests::row;

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
