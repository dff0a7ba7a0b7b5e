//! Tables, summaries, layout maps, charts and the HTML page of records.

pub mod axis;
pub mod bars;
mod basis;
pub mod branches;
pub mod certificates;
pub mod chart;
pub mod html;
pub mod human;
pub mod layouts;
pub mod map;
pub mod memory;
pub mod overview;
mod palette;
mod panel;
pub mod plots;
pub mod ranking;
pub mod ratios;
mod scene;
pub mod summary;
pub mod table;
pub mod timeline;
pub mod times;
pub mod trace;

pub use basis::Basis;

pub use plimsoll_model::gap_percent;

/// Returns `part` as a percentage of `whole`, or `None` if `whole` is zero.
pub fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part * 100.0 / whole)
}

/// Returns a percentage with two decimals. A positive value below 0.01 becomes `<0.01`.
pub fn percent(gap: f64) -> String {
    if gap > 0.0 && gap < 0.01 { "<0.01".to_owned() } else { format!("{gap:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_short() {
        assert_eq!(percent(0.0), "0.00");
        assert_eq!(percent(0.000_1), "<0.01");
        assert_eq!(percent(12.345), "12.35");
    }
}
