//! Tables, rows, summaries, maps and charts.

pub mod bars;
mod basis;
pub mod branches;
pub mod chart;
pub mod failures;
pub mod html;
pub mod layouts;
pub mod memory;
pub mod overview;
pub mod plots;
pub mod profile;
pub mod ratios;
pub mod rows;
mod scene;
pub mod summary;
pub mod svg;
pub mod table;
pub mod timeline;
pub mod times;
pub mod trace;

pub use basis::Basis;

use plimsoll_model::Bytes;

/// How far a value lies above a bound, in percent of the bound; `None` above a bound of zero.
pub fn gap_percent(value: Bytes, bound: Bytes) -> Option<f64> {
    match (value.get(), bound.get()) {
        (value, bound) if value == bound => Some(0.0),
        (_, 0) => None,
        (value, bound) => Some((value as f64 - bound as f64) * 100.0 / bound as f64),
    }
}

/// A part in percent of a whole; none of nothing.
pub fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part * 100.0 / whole)
}

/// A percentage with two digits; one that is not zero never looks like zero.
pub fn percent(gap: f64) -> String {
    if gap > 0.0 && gap < 0.01 { "<0.01".to_owned() } else { format!("{gap:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_honest() {
        let gap = |value, bound| gap_percent(Bytes::new(value), Bytes::new(bound));
        assert_eq!(gap(0, 0), Some(0.0));
        assert_eq!(gap(5, 0), None);
        assert_eq!(gap(110, 100), Some(10.0));
        assert_eq!(percent(0.0), "0.00");
        assert_eq!(percent(0.000_1), "<0.01");
        assert_eq!(percent(12.345), "12.35");
    }
}
