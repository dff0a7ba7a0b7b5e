//! Charts of the live bytes over time, before and after reordering.

use super::axis::{Axis, Unit};
use super::chart::{BLACK, Chart, Series};
use plimsoll::graphs::OrderedRegion;
use plimsoll_model::Bytes;
use plimsoll_model::orders::Order;

/// Returns a chart of the live bytes at every step of a region, with the lower bound. The chart compares the
/// file order with the order that the algorithm found.
pub fn profile_chart(graph: &str, algorithm: &str, one: &OrderedRegion) -> Chart {
    let problem = &one.storages.problem;
    let bound = one.outcome.lower_bound.value;
    let line = |name: &str, colour: usize, order: &Order| {
        let live = order.profile(problem);
        let points = live.iter().enumerate().map(|(step, bytes)| (step as f64, bytes.get() as f64));
        Series { name: name.to_owned(), colour, dashed: false, dots: false, points: points.collect() }
    };
    let file = problem.as_in_file();
    let mut series = vec![line("as in file", 1, &file), line(algorithm, 0, &one.order)];
    if series[0].points == series[1].points {
        // Only one of the lines would be visible.
        series.remove(0);
        series[0].name = format!("{algorithm}, same as in file");
    }
    let end = (problem.len() as f64).max(1.0);
    series.push(Series {
        name: "bound over all orders".to_owned(),
        colour: BLACK,
        dashed: true,
        dots: false,
        points: vec![(0.0, bound.get() as f64)],
    });
    let high = one.file_peak.max(one.peak).max(Bytes::new(1)).get() as f64 * 1.04;
    Chart {
        title: format!("{graph}: live bytes"),
        caption: format!(
            "{} operators; as in file {}, {algorithm} {}, bound {} bytes ({})",
            problem.len(),
            one.file_peak,
            one.peak,
            bound,
            one.outcome.claim
        ),
        x: Axis { label: "step", unit: Unit::Count, low: 0.0, high: end, logarithmic: false },
        y: Axis { label: "live memory", unit: Unit::Bytes, low: 0.0, high, logarithmic: false },
        series,
    }
}
