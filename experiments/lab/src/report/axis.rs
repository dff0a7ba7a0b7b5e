//! Axes of pictures: scales, and ticks at round values, labelled with units.

use super::scene::{GRID, Point, SMALL, SOFT, Scene, WIDTH, text_width, thousands};

/// The unit of the values on an axis. The labels of the ticks show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number without a unit.
    Number,
    /// An integer without a unit, such as a step.
    Count,
    /// Bytes, with ticks at a distance that is a power of two.
    Bytes,
    /// Seconds, labelled in units from picoseconds to seconds.
    Seconds,
    /// A percentage.
    Percent,
}

/// An axis from `low` to `high`.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity.
    pub label: &'static str,
    /// The unit.
    pub unit: Unit,
    /// The lower end. It must be above 0 on a logarithmic axis.
    pub low: f64,
    /// The upper end, which must be above `low`.
    pub high: f64,
    /// Whether the scale is logarithmic.
    pub logarithmic: bool,
}

const BYTES: [(f64, &str); 7] = [
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
    (1_125_899_906_842_624.0, "PiB"),
    (1_152_921_504_606_846_976.0, "EiB"),
];
const SECONDS: [(f64, &str); 5] = [(1e-12, "ps"), (1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")];

impl Axis {
    /// Returns the position of a value on the axis, from 0 to 1. Values outside the range are clamped.
    pub(super) fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let (low, high) = (place(self.low), place(self.high));
        if high > low { ((place(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns at most `most` round values in ascending order, with their labels. A degenerate axis has no
    /// ticks.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let valid = self.low.is_finite() && self.high.is_finite() && self.low < self.high;
        if !valid || (self.logarithmic && self.low <= 0.0) {
            return Vec::new();
        }
        if self.logarithmic {
            let powers = self.powers(most);
            // A range of at most one decade may contain too few powers.
            if powers.len() > 2 || self.high / self.low > 10.0 {
                return powers.into_iter().map(|value| (value, self.label_of(value, value))).collect();
            }
        }
        let pace = self.pace(most);
        // Ticks are multiples of the distance rather than sums, so that rounding errors do not accumulate.
        let (first, last) = ((self.low / pace).ceil(), (self.high / pace + 1e-9).floor());
        let count = ((last - first) as usize).min(most);
        let value = |nth: usize| (first + nth as f64) * pace + 0.0;
        // The unit is at most four times the distance between ticks, so labels have at most two decimals.
        let scale = if self.unit == Unit::Bytes { self.high.min(4.0 * pace) } else { self.high };
        (0..=count).map(|nth| (value(nth), self.label_of(value(nth), scale))).collect()
    }

    /// Returns the distance between the ticks of a linear axis.
    fn pace(&self, most: usize) -> f64 {
        let least = ((self.high - self.low) / (most.max(2) - 1) as f64).max(f64::MIN_POSITIVE) * 0.999;
        match self.unit {
            Unit::Bytes => 2f64.powf(least.log2().ceil()).max(1.0),
            unit => {
                let power = 10f64.powf(least.log10().floor());
                let pace = [1.0, 2.0, 5.0].map(|m| m * power).into_iter().find(|&pace| pace >= least);
                let pace = pace.unwrap_or(10.0 * power);
                if unit == Unit::Count { pace.max(1.0) } else { pace }
            }
        }
    }

    /// Returns the ticks of a logarithmic axis: powers of two for bytes, and otherwise 1, 2 and 5 times
    /// powers of ten. If there are more than `most` of them, the ticks are every n-th power of two or of
    /// ten.
    fn powers(&self, most: usize) -> Vec<f64> {
        let slack = 1.0 + 1e-9;
        let within = |value: &f64| *value * slack >= self.low && *value <= self.high * slack;
        let base: f64 = if self.unit == Unit::Bytes { 2.0 } else { 10.0 };
        let exponents = self.low.log(base).floor() as i32..=self.high.log(base).ceil() as i32;
        if base > 2.0 {
            let each = |factors: &'static [f64]| -> Vec<f64> {
                let all = exponents.clone().flat_map(|nth| factors.iter().map(move |m| m * 10f64.powi(nth)));
                all.filter(within).collect()
            };
            if let Some(fine) = Some(each(&[1.0, 2.0, 5.0])).filter(|fine| fine.len() <= most) {
                return fine;
            }
        }
        // Only every n-th power is a tick, for the smallest n that gives at most `most` ticks.
        let every = |n: i32| -> Vec<f64> {
            let powers = exponents.clone().filter(|nth| nth.rem_euclid(n) == 0).map(|nth| base.powi(nth));
            powers.filter(within).collect()
        };
        (1..=1100).map(every).find(|ticks| ticks.len() <= most).unwrap_or_default()
    }

    /// Returns the label of a value, in the largest unit that is not above `scale`.
    fn label_of(&self, value: f64, scale: f64) -> String {
        let units: &[(f64, &str)] = match self.unit {
            Unit::Number | Unit::Count => return number(value),
            Unit::Percent => return format!("{} %", number(value)),
            Unit::Bytes => &BYTES,
            Unit::Seconds => &SECONDS,
        };
        if value == 0.0 {
            return "0".to_owned();
        }
        let fits = |(size, _): &&(f64, &str)| *size <= scale * (1.0 + 1e-9);
        let (size, unit) = units.iter().rev().find(fits).unwrap_or(&units[0]);
        format!("{} {unit}", number(value / size))
    }

    /// Draws the ticks of a horizontal axis from `left` to `right`: grid lines from `top` to `bottom` and
    /// the labels below. It draws at most ten ticks, and fewer if their labels would overlap.
    pub(super) fn draw_across(&self, scene: &mut Scene, (left, right): Point, (top, bottom): Point) {
        let placed = |most: usize| -> Vec<(f64, f64, String)> {
            let place = |(value, label): (f64, String)| {
                let (x, half) = (left + self.share(value) * (right - left), text_width(&label, SMALL) / 2.0);
                (x, x.clamp(half, (WIDTH - half).max(half)), label)
            };
            self.ticks(most).into_iter().map(place).collect()
        };
        let apart = |ticks: &Vec<(f64, f64, String)>| {
            let half = |label: &str| text_width(label, SMALL) / 2.0;
            ticks.windows(2).all(|two| two[1].1 - two[0].1 >= half(&two[0].2) + half(&two[1].2) + 9.0)
        };
        for (x, middle, label) in (1..=10).rev().map(placed).find(apart).unwrap_or_default() {
            scene.line((x, top), (x, bottom), GRID);
            let look = format!("text-anchor=\"middle\" font-size=\"{SMALL}\" {SOFT}");
            scene.text((middle, bottom + 17.0), &look, &label);
        }
    }
}

/// The ticks of a vertical axis with their labels.
pub(super) struct Side(Vec<(f64, String)>);

impl Side {
    pub(super) fn of(axis: &Axis) -> Self {
        Self(axis.ticks(7))
    }

    /// Returns the space that the labels need to the left of the axis.
    pub(super) fn width(&self) -> f64 {
        self.0.iter().map(|(_, label)| text_width(label, SMALL)).fold(0.0, f64::max) + 8.0
    }

    /// Draws the labels left of the axis, and grid lines to `right`. `y` maps a value to its position.
    pub(super) fn draw(&self, scene: &mut Scene, (left, right): Point, y: impl Fn(f64) -> f64) {
        let look = format!("text-anchor=\"end\" font-size=\"{SMALL}\" {SOFT}");
        for (value, label) in &self.0 {
            let y = y(*value);
            scene.line((left, y), (right, y), GRID);
            scene.text((left - 6.0, y + 4.5), &look, label);
        }
    }
}

/// Formats a number with at most six decimals, or in scientific notation if it is very small or very large.
/// Ticks are round numbers, so further digits are rounding noise.
fn number(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(0.001..9e15).contains(&size) {
        return format!("{number:e}");
    }
    let text = format!("{size:.6}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let rest = rest.trim_end_matches('0');
    let sign = if number < 0.0 { "-" } else { "" };
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{rest}", thousands(whole.parse().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(unit: Unit, low: f64, high: f64, logarithmic: bool) -> String {
        let ticks = Axis { label: "t", unit, low, high, logarithmic }.ticks(7);
        ticks.into_iter().map(|tick| tick.1).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn linear_ticks_are_few_and_round() {
        let linear = |unit, low, high| labels(unit, low, high, false);
        assert_eq!(linear(Unit::Number, 0.0, 1.0), "0, 0.2, 0.4, 0.6, 0.8, 1");
        assert_eq!(linear(Unit::Count, 0.0, 2.0), "0, 1, 2");
        assert_eq!(linear(Unit::Count, 0.0, 12.0), "0, 2, 4, 6, 8, 10, 12");
        assert_eq!(linear(Unit::Bytes, 0.0, 12.0), "0, 2 B, 4 B, 6 B, 8 B, 10 B, 12 B");
        assert_eq!(linear(Unit::Bytes, 0.0, 1_048_576.0), "0, 0.25 MiB, 0.5 MiB, 0.75 MiB, 1 MiB");
        assert_eq!(linear(Unit::Bytes, 0.0, 3e6), "0, 0.5 MiB, 1 MiB, 1.5 MiB, 2 MiB, 2.5 MiB");
        assert_eq!(linear(Unit::Bytes, 0.0, 56_000.0), "0, 16 KiB, 32 KiB, 48 KiB");
        assert!(linear(Unit::Bytes, 1_048_000.0, 1_048_600.0).ends_with(" 1\u{2009}048\u{2009}576 B"));
        assert_eq!(linear(Unit::Seconds, 0.0, 0.005), "0, 1 ms, 2 ms, 3 ms, 4 ms, 5 ms");
        assert_eq!(linear(Unit::Seconds, 0.0, 1.1), "0, 0.2 s, 0.4 s, 0.6 s, 0.8 s, 1 s");
        assert_eq!(linear(Unit::Percent, -20.0, 60.0), "-20 %, 0 %, 20 %, 40 %, 60 %");
        assert!(linear(Unit::Count, 5.0, 5.0).is_empty() && linear(Unit::Count, 0.0, f64::NAN).is_empty());
        assert!(linear(Unit::Bytes, 0.0, u64::MAX as f64).ends_with("16 EiB"));
    }

    #[test]
    fn logarithmic_ticks_are_few_and_round() {
        let logarithmic = |unit, low, high| labels(unit, low, high, true);
        assert_eq!(logarithmic(Unit::Number, 1.0, 60.0), "1, 2, 5, 10, 20, 50");
        assert_eq!(logarithmic(Unit::Number, 1.0, 1.3), "1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3");
        assert_eq!(logarithmic(Unit::Seconds, 0.001, 70.0), "1 ms, 10 ms, 100 ms, 1 s, 10 s");
        assert_eq!(
            logarithmic(Unit::Bytes, 1000.0, 5e6),
            "1 KiB, 4 KiB, 16 KiB, 64 KiB, 256 KiB, 1 MiB, 4 MiB"
        );
        assert_eq!(logarithmic(Unit::Percent, 0.01, 110.0), "0.01 %, 0.1 %, 1 %, 10 %, 100 %");
        assert_eq!(logarithmic(Unit::Number, 0.0, 5.0), "");
    }
}
