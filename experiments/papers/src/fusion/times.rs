//! Tables 1 to 3 of the fusion paper, checked for consistency.

use super::{Inputs, Measured};
use crate::{Amount, Reproduction};
use minijinja::{Value, context};

/// Maximum rounding error of a printed time, in seconds.
const HALF: f64 = 0.000_5;

/// The rows of table 2: gains in percent and speed-ups.
const PERFORMANCE: [(&str, &str); 4] = [
    ("gain of the total", "%"),
    ("gain of inference", "%"),
    ("speed-up of the total", "times"),
    ("speed-up of inference", "times"),
];

/// Returns the reduction from the first to the second value in percent.
fn gain(from: f64, to: f64) -> f64 {
    (1.0 - to / from) * 100.0
}

/// Returns the share of the running time, in percent, that must become `factor` times as fast to achieve a
/// speed-up, according to Amdahl's law.
fn quickened(speedup: f64, factor: f64) -> f64 {
    (1.0 - 1.0 / speedup) / (1.0 - 1.0 / factor) * 100.0
}

impl Measured {
    /// Computes table 2 from table 1, for the algorithm and the hardware together.
    fn computed(&self) -> [f64; 4] {
        let (inference, total) = (self.inference, self.total);
        [
            gain(total[0], total[3]),
            gain(inference[0], inference[3]),
            total[0] / total[3],
            inference[0] / inference[3],
        ]
    }

    /// Returns the minimum and the maximum of [`Measured::computed`] that the rounding of seconds allows.
    fn range(&self) -> [[f64; 4]; 2] {
        [HALF, -HALF].map(|up| {
            let shift = |times: [f64; 4]| [times[0] - up, times[1], times[2], times[3] + up];
            let (inference, total) = (shift(self.inference), shift(self.total));
            Self { inference, total, ..self.clone() }.computed()
        })
    }

    /// Returns the seconds outside inference for the baseline, the algorithm, the hardware, and both.
    fn outside(&self) -> [f64; 4] {
        [0, 1, 2, 3].map(|at| self.total[at] - self.inference[at])
    }

    /// Compares table 2 with the values that follow from table 1.
    fn performance(&self) -> Vec<Value> {
        let ([low, high], computed) = (self.range(), self.computed());
        let row = |(at, (what, unit)): (usize, (&str, &str))| {
            let (printed, computed) = (self.performance[at], computed[at]);
            let (expect, why) = rounded(printed, computed, (low[at], high[at]));
            context! { what, unit, printed, computed, expect, why }
        };
        PERFORMANCE.into_iter().enumerate().map(row).collect()
    }

    fn facts(&self, factor: f64) -> Value {
        let parts = [("inference", self.inference), ("total", self.total), ("the rest", self.outside())];
        let ablation = parts.map(|(what, times)| {
            let cell = |seconds: f64| context! { seconds, saved => gain(times[0], seconds) };
            context! { what, cells => times.map(cell) }
        });
        let (inference, total) = self.fast;
        let (slow, rest) = (self.outside()[3], total - inference);
        context! {
            network => &self.network, inference => self.inference, total => self.total, fast => [inference, total],
            subgraph_gain => self.subgraph_gain, performance => self.performance(), ablation, slow, rest,
            least => self.inference[3] / factor, own => inference + slow,
            keeps => (rest - slow).abs() <= 2.5 * HALF,
            quickened => quickened(self.inference[3] / inference, factor),
        }
    }
}

/// Returns the expected result of comparing a printed number with the number computed from table 1, and the
/// reason. Because table 1 is rounded, the exact result lies between `low` and `high`.
fn rounded(printed: f64, computed: f64, (low, high): (f64, f64)) -> (&'static str, String) {
    let range = format!("{low:.2} to {high:.2}");
    if Amount::Decimal(printed, 2).agrees(&Amount::Decimal(computed, 2)) {
        ("same", String::new())
    } else if (low - 0.005..=high + 0.005).contains(&printed) {
        ("differs", format!(", whose seconds are rounded: {range} are possible"))
    } else {
        // The numbers differ, and rounding cannot explain the difference.
        ("same", format!(": {range} are possible"))
    }
}

/// Defines the facts that follow from table 1.
pub(super) fn tables(inputs: &Inputs, found: &mut Reproduction) {
    let factor = inputs.clocks.1 / inputs.clocks.0;
    found.fact("factor", factor);
    found.fact("seconds", inputs.seconds.iter().map(|one| one.facts(factor)).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_numbers_follow_the_printed_ones() {
        let [nano, large]: [Measured; 2] = Inputs::default().seconds.try_into().unwrap();
        let shown = |one: &Measured| one.computed().map(|number| format!("{number:.2}"));
        assert_eq!(shown(&large), ["59.22", "71.10", "2.45", "3.46"]);
        assert_eq!(shown(&nano), ["59.18", "62.64", "2.45", "2.68"]);
        let mut other = large;
        other.inference[3] = 7.544;
        assert_eq!(shown(&other)[3], "2.00");
        let (range, own) = (nano.range(), nano.computed());
        assert!((0..4).all(|at| range[0][at] < own[at] && own[at] < range[1][at]));
        let found = [59.18, 59.22, 59.40].map(|printed| rounded(printed, own[0], (range[0][0], range[1][0])));
        assert_eq!(found.each_ref().map(|(expect, _)| *expect), ["same", "differs", "same"]);
        assert!(found[0].1.is_empty() && found[2].1.ends_with("are possible"));
        assert!((other.outside()[3] + 0.053).abs() < 1e-9);
        assert!((quickened(5.0, 5.0) - 100.0).abs() < 1e-9 && quickened(1.0, 5.0).abs() < 1e-9);
    }
}
