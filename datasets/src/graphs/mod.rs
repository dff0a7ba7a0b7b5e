//! Computation graphs and order problems made by rule.

mod small;

pub use small::{SmallOrderParams, min_peak_brute, small_order_problem};
