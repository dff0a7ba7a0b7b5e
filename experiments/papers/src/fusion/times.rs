//! Tables 1 to 3 of the paper: what they print, checked against itself.

use super::super::{Amount, Reproduction, Row};
use super::Inputs;
use plimsoll_lab::report::table::{Align, Table};

/// What tables 1 to 3 print of one network.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Its name.
    pub network: &'static str,
    /// The family that generates it.
    pub family: &'static str,
    /// Table 1, seconds of inference: baseline, algorithm, hardware, both.
    pub inference: [f64; 4],
    /// Table 1, seconds in total.
    pub total: [f64; 4],
    /// Table 2: gain of the total and of inference in percent, speed-up of the total and of inference.
    pub performance: [f64; 4],
    /// Table 2: how much faster a subgraph is on average, percent.
    pub subgraph_gain: f64,
    /// Table 3, seconds at 1 GHz: inference, total.
    pub fast: (f64, f64),
}

/// Tables 1 to 3.
pub const TABLE_1: [Measured; 2] = [
    Measured {
        network: "YOLOX-Nano",
        family: "yolox-nano",
        inference: [1.135, 0.482, 1.130, 0.424],
        total: [1.318, 0.596, 1.313, 0.538],
        performance: [59.22, 62.67, 2.45, 2.68],
        subgraph_gain: 71.54,
        fast: (0.088, 0.283),
    },
    Measured {
        network: "YOLOv5s",
        family: "yolov5s",
        inference: [15.088, 4.554, 15.079, 4.360],
        total: [18.369, 7.654, 18.318, 7.491],
        performance: [59.22, 71.10, 2.45, 3.46],
        subgraph_gain: 70.66,
        fast: (2.434, 5.566),
    },
];

/// Printed seconds are rounded to so much at most.
const HALF: f64 = 0.000_5;

/// How much less the second is, in percent of the first.
fn gain(from: f64, to: f64) -> f64 {
    (1.0 - to / from) * 100.0
}

impl Measured {
    /// Gains of the total and of inference in percent, speed-ups of the total and of inference, both measures together.
    fn computed(&self) -> [f64; 4] {
        let (inference, total) = (self.inference, self.total);
        [
            gain(total[0], total[3]),
            gain(inference[0], inference[3]),
            total[0] / total[3],
            inference[0] / inference[3],
        ]
    }

    /// The least and the greatest [`Measured::computed`] that the rounding of seconds allows.
    fn range(&self) -> [[f64; 4]; 2] {
        [HALF, -HALF].map(|up| {
            let shift = |times: [f64; 4]| [times[0] - up, times[1], times[2], times[3] + up];
            let (inference, total) = (shift(self.inference), shift(self.total));
            Self { inference, total, ..*self }.computed()
        })
    }

    /// Seconds outside of inference: baseline, algorithm, hardware, both.
    fn outside(&self) -> [f64; 4] {
        [0, 1, 2, 3].map(|at| self.total[at] - self.inference[at])
    }
}

/// Table 1: the gains it implies.
pub(super) fn ablation(all: &[Measured], found: &mut Reproduction) {
    let mut table = Table::new([
        ("network", Align::Left),
        ("seconds of", Align::Left),
        ("baseline", Align::Right),
        ("algorithm", Align::Right),
        ("hardware", Align::Right),
        ("both", Align::Right),
    ]);
    for one in all {
        for (what, times) in [("inference", one.inference), ("total", one.total), ("the rest", one.outside())]
        {
            let cell = |at: usize| {
                let saved = gain(times[0], times[at]);
                if at == 0 { format!("{:.3}", times[0]) } else { format!("{:.3} ({saved:.1} %)", times[at]) }
            };
            let cells = [0, 1, 2, 3].map(cell);
            table.row([one.network.to_owned(), what.to_owned()].into_iter().chain(cells));
        }
    }
    found.section("Table 1: seconds printed, and what each measure saves");
    found.table(table);
    found.line("in brackets the seconds saved in percent of the baseline, computed; the rest is total less inference, computed");
    for one in all {
        let own = one.inference;
        found.line(format!(
            "{}: the memory saves {:.0} ms of inference alone and {:.0} ms where operators are fused across units",
            one.network,
            (own[0] - own[2]) * 1e3,
            (own[1] - own[3]) * 1e3
        ));
    }
}

/// A printed number beside the one that follows from table 1, where rounding may have moved it from `low` to `high`.
fn beside(row: Row, computed: f64, (low, high): (f64, f64)) -> Row {
    let ours = Amount::Decimal(computed, 2);
    let Some(printed) = row.printed.clone() else { return row.same(ours, "from table 1") };
    if printed.agrees(&ours) {
        return row.same(ours, "from table 1");
    }
    let number = if let Amount::Decimal(number, _) = printed { number } else { f64::NAN };
    let range = format!("{low:.2} to {high:.2}");
    if (low - 0.005..=high + 0.005).contains(&number) {
        row.differs(ours, format!("from table 1, whose seconds are rounded: {range} are possible"))
    } else {
        // Neither the number nor a rounding of it.
        row.same(ours, format!("from table 1: {range} are possible"))
    }
}

/// Table 2 from table 1.
pub(super) fn performance(all: &[Measured], found: &mut Reproduction) {
    let words = [
        ("gain of the total", "%"),
        ("gain of inference", "%"),
        ("speed-up of the total", "times"),
        ("speed-up of inference", "times"),
    ];
    found.section("Table 2: gains and speed-ups, recomputed from table 1");
    for one in all {
        let ([low, high], computed) = (one.range(), one.computed());
        for (at, (what, unit)) in words.into_iter().enumerate() {
            let row = Row::new("table 2", format!("{}, {what}", one.network), unit);
            let row = row.printed(Amount::Decimal(one.performance[at], 2));
            found.row(beside(row, computed[at], (low[at], high[at])));
        }
        let row = Row::new("table 2", format!("{}, gain of a subgraph on average", one.network), "%");
        let row = row.printed(Amount::Decimal(one.subgraph_gain, 2));
        found.row(row.missing("times of subgraphs are not printed"));
        found.line(format!(
            "{}: the total gains {:.2} %, inference {:.2} %; printed are {} and {} %",
            one.network, computed[0], computed[1], one.performance[0], one.performance[1]
        ));
    }
    if let [one, other, ..] = all
        && one.performance[0].to_bits() == other.performance[0].to_bits()
    {
        found.line(format!(
            "the same {} % is printed for the total of both networks, whose seconds in table 1 give {:.2} and {:.2} %",
            one.performance[0],
            one.computed()[0],
            other.computed()[0]
        ));
    }
}

/// Of a part that runs `factor` times as fast, the share that explains a speed-up (Amdahl), in percent.
fn quickened(speedup: f64, factor: f64) -> f64 {
    (1.0 - 1.0 / speedup) / (1.0 - 1.0 / factor) * 100.0
}

/// Table 3 from table 1.
pub(super) fn clock(inputs: &Inputs, found: &mut Reproduction) {
    let factor = inputs.clocks.1 / inputs.clocks.0;
    let mut table = Table::new([
        ("network", Align::Left),
        ("inference", Align::Right),
        ("speed-up", Align::Right),
        ("share that follows the clock", Align::Right),
        ("total", Align::Right),
        ("speed-up", Align::Right),
        ("rest at 200 MHz", Align::Right),
        ("rest at 1 GHz", Align::Right),
    ]);
    let mut lines = Vec::new();
    for one in &inputs.seconds {
        let (inference, total) = one.fast;
        let speedup = one.inference[3] / inference;
        let (slow, fast) = (one.outside()[3], total - inference);
        table.row([
            one.network.to_owned(),
            format!("{inference:.3}"),
            format!("{speedup:.2}"),
            format!("{:.1} %", quickened(speedup, factor)),
            format!("{total:.3}"),
            format!("{:.2}", one.total[3] / total),
            format!("{slow:.3}"),
            format!("{fast:.3}"),
        ]);
        let row = |what: &str| Row::new("table 3", format!("{}, {what}", one.network), "s");
        let least = one.inference[3] / factor;
        found.row(row("inference").printed(Amount::Decimal(inference, 3)).other(
            Amount::Decimal(least, 3),
            format!(
                "table 1, both measures, if all of it followed the clock, {factor} times as fast; {:.1} % do",
                quickened(speedup, factor)
            ),
        ));
        let own = inference + slow;
        let sum = row("total").printed(Amount::Decimal(total, 3));
        let by =
            "inference of table 3 and the rest of table 1: the processor that computes there keeps its clock";
        if (fast - slow).abs() <= 2.5 * HALF {
            found.row(sum.other(Amount::Decimal(own, 3), format!("{by}; seconds are rounded")));
            continue;
        }
        let told = format!(
            "outside of inference {slow:.3} s become {fast:.3} s, although the processor that computes there keeps its clock and nothing else got slower"
        );
        found.row(sum.differs(Amount::Decimal(own, 3), told.clone()));
        lines.push(format!("{}: {told}; with {slow:.3} s the total would be {own:.3} s", one.network));
    }
    found.section("Table 3: the logic at 1 GHz, simulated");
    found.table(table);
    found.line(format!("seconds printed; speed-ups against both measures at 200 MHz, computed; the clock is {factor} times as fast"));
    for line in lines {
        found.line(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn what_is_computed_follows_what_is_printed() {
        let rounded = |one: &Measured| one.computed().map(|number| format!("{number:.2}"));
        assert_eq!(rounded(&TABLE_1[1]), ["59.22", "71.10", "2.45", "3.46"]);
        assert_eq!(rounded(&TABLE_1[0]), ["59.18", "62.64", "2.45", "2.68"]);
        let mut other = TABLE_1[1];
        other.inference[3] = 7.544;
        assert_eq!(rounded(&other)[3], "2.00");
        let (range, own) = (TABLE_1[0].range(), TABLE_1[0].computed());
        assert!((0..4).all(|at| range[0][at] < own[at] && own[at] < range[1][at]));
        let verdicts = [59.18, 59.22, 59.40].map(|printed| {
            let row = Row::new("t", "r", "%").printed(Amount::Decimal(printed, 2));
            beside(row, own[0], (range[0][0], range[1][0])).verdict()
        });
        assert_eq!(verdicts, [Verdict::Same, Verdict::Explained, Verdict::Unexpected]);
        assert!((other.outside()[3] + 0.053).abs() < 1e-9);
        assert!((quickened(5.0, 5.0) - 100.0).abs() < 1e-9 && quickened(1.0, 5.0).abs() < 1e-9);
    }
}
