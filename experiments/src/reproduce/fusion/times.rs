//! Tables 1 to 3 of the paper: what they print, checked against itself.

use super::super::Reproduction;
use crate::report::table::{Align, Table};

/// Seconds of one network in table 1: baseline, algorithm, hardware, both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub network: &'static str,
    pub inference: [f64; 4],
    total: [f64; 4],
}

pub(super) const TABLE_1: [Measured; 2] = [
    Measured {
        network: "YOLOX-Nano",
        inference: [1.135, 0.482, 1.130, 0.424],
        total: [1.318, 0.596, 1.313, 0.538],
    },
    Measured {
        network: "YOLOv5s",
        inference: [15.088, 4.554, 15.079, 4.360],
        total: [18.369, 7.654, 18.318, 7.491],
    },
];

/// Table 2 by network: gain of the total and of inference in percent, speed-up of the total and of inference, as printed.
const TABLE_2: [[&str; 4]; 2] = [["59.22", "62.67", "2.45", "2.68"], ["59.22", "71.10", "2.45", "3.46"]];

/// Table 2 by network: how much faster a subgraph is on average, percent.
const SUBGRAPH_GAINS: [f64; 2] = [71.54, 70.66];

/// Table 3 by network, seconds at 1 GHz: inference, total.
const TABLE_3: [(f64, f64); 2] = [(0.088, 0.283), (2.434, 5.566)];

/// Clock of the logic in tables 1 and 3, hertz.
const CLOCKS: (f64, f64) = (200e6, 1e9);

/// Printed seconds are rounded to so much at most.
const HALF: f64 = 0.000_5;

/// How much less the second is, in percent of the first.
fn gain(from: f64, to: f64) -> f64 {
    (1.0 - to / from) * 100.0
}

impl Measured {
    /// Gains of the total and of inference in percent, speed-ups of the total and of inference, both measures together.
    fn performance(&self) -> [f64; 4] {
        let (inference, total) = (self.inference, self.total);
        [
            gain(total[0], total[3]),
            gain(inference[0], inference[3]),
            total[0] / total[3],
            inference[0] / inference[3],
        ]
    }

    /// The least and the greatest [`Measured::performance`] that the rounding of seconds allows.
    fn range(&self) -> [[f64; 4]; 2] {
        [HALF, -HALF].map(|up| {
            let shift = |times: [f64; 4]| [times[0] - up, times[1], times[2], times[3] + up];
            let (inference, total) = (shift(self.inference), shift(self.total));
            Self { inference, total, ..*self }.performance()
        })
    }

    /// Seconds outside of inference: baseline, algorithm, hardware, both.
    fn outside(&self) -> [f64; 4] {
        [0, 1, 2, 3].map(|at| self.total[at] - self.inference[at])
    }
}

/// Table 1: the gains it implies.
pub(super) fn ablation(found: &mut Reproduction) {
    let mut table = Table::new([
        ("network", Align::Left),
        ("seconds of", Align::Left),
        ("baseline", Align::Right),
        ("algorithm", Align::Right),
        ("hardware", Align::Right),
        ("both", Align::Right),
    ]);
    for one in &TABLE_1 {
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
    for one in &TABLE_1 {
        let own = one.inference;
        found.line(format!(
            "{}: the memory saves {:.0} ms of inference alone and {:.0} ms where operators are fused across units",
            one.network,
            (own[0] - own[2]) * 1e3,
            (own[1] - own[3]) * 1e3
        ));
    }
}

/// Whether a printed number is the computed one, or one that rounding allows.
fn verdict(printed: &str, computed: f64, (low, high): (f64, f64)) -> &'static str {
    let number: f64 = printed.parse().unwrap_or(f64::NAN);
    if format!("{computed:.2}") == printed {
        "agrees"
    } else if (low - 0.005..=high + 0.005).contains(&number) {
        "possible, as seconds are rounded"
    } else {
        "differs"
    }
}

/// Table 2 from table 1.
pub(super) fn performance(found: &mut Reproduction) {
    let mut table = Table::new([
        ("network", Align::Left),
        ("what", Align::Left),
        ("printed", Align::Right),
        ("computed", Align::Right),
        ("as table 1 is rounded", Align::Right),
        ("verdict", Align::Left),
    ]);
    let words =
        ["gain of the total, %", "gain of inference, %", "speed-up of the total", "speed-up of inference"];
    let mut wrong = Vec::new();
    for (one, printed) in TABLE_1.iter().zip(TABLE_2) {
        let ([low, high], computed) = (one.range(), one.performance());
        for (at, (what, printed)) in words.iter().zip(printed).enumerate() {
            let verdict = verdict(printed, computed[at], (low[at], high[at]));
            let computed = format!("{:.2}", computed[at]);
            if verdict != "agrees" {
                wrong.push(format!(
                    "{}, {what}: printed {printed}, from table 1 {computed}: {verdict}",
                    one.network
                ));
            }
            let range = format!("{:.2} to {:.2}", low[at], high[at]);
            let cells = [what, printed, &computed, &range, verdict].map(ToOwned::to_owned);
            table.row([one.network.to_owned()].into_iter().chain(cells));
        }
    }
    found.section("Table 2: gains and speed-ups, recomputed from table 1");
    found.table(table);
    for line in wrong {
        found.line(line);
    }
    let [nano, large] = TABLE_2;
    if nano[0] == large[0] {
        found.line(format!(
            "the same {} % is printed for the total of both networks, whose seconds in table 1 give {:.2} and {:.2} %",
            nano[0],
            TABLE_1[0].performance()[0],
            TABLE_1[1].performance()[0]
        ));
    }
    found.line(format!(
        "average gains per subgraph, {} and {} %, cannot be derived: times of subgraphs are not printed",
        SUBGRAPH_GAINS[0], SUBGRAPH_GAINS[1]
    ));
}

/// Of a part that runs `factor` times as fast, the share that explains a speed-up (Amdahl), in percent.
fn quickened(speedup: f64, factor: f64) -> f64 {
    (1.0 - 1.0 / speedup) / (1.0 - 1.0 / factor) * 100.0
}

/// Table 3 from table 1.
pub(super) fn clock(found: &mut Reproduction) {
    let factor = CLOCKS.1 / CLOCKS.0;
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
    for (one, (inference, total)) in TABLE_1.iter().zip(TABLE_3) {
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
        if (fast - slow).abs() > 0.002 {
            lines.push(format!(
                "{}: outside of inference {slow:.3} s become {fast:.3} s, although the processor that computes there keeps its clock and nothing else got slower; with {slow:.3} s the total would be {:.3} s",
                one.network,
                inference + slow
            ));
        }
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

    #[test]
    fn what_is_computed_follows_what_is_printed() {
        let rounded = |one: &Measured| one.performance().map(|number| format!("{number:.2}"));
        assert_eq!(rounded(&TABLE_1[1]), ["59.22", "71.10", "2.45", "3.46"]);
        assert_eq!(rounded(&TABLE_1[0]), ["59.18", "62.64", "2.45", "2.68"]);
        let mut other = TABLE_1[1];
        other.inference[3] = 7.544;
        assert_eq!(rounded(&other)[3], "2.00");
        let (range, own) = (TABLE_1[0].range(), TABLE_1[0].performance());
        assert!((0..4).all(|at| range[0][at] < own[at] && own[at] < range[1][at]));
        let verdicts =
            ["59.18", "59.22", "59.40"].map(|printed| verdict(printed, own[0], (range[0][0], range[1][0])));
        assert_eq!(verdicts, ["agrees", "possible, as seconds are rounded", "differs"]);
        assert!((other.outside()[3] + 0.053).abs() < 1e-9);
        assert!((quickened(5.0, 5.0) - 100.0).abs() < 1e-9 && quickened(1.0, 5.0).abs() < 1e-9);
    }
}
