//! Table 3 of the paper: its arithmetic, and what both of its times say about computing and fetching.
//!
//! Let operator i of n compute for c(i) and have its weights fetched in l(i), start-up included; C and T are the sums. Without
//! overlap that takes S = C + T. With ping-pong, weights of operator i are fetched while i - 1 computes:
//! P = l(0) + sum of max(c(i - 1), l(i)) + c(n - 1). As max(a, b) = a + b - min(a, b), what is saved is
//! D = S - P = sum of min(c(i - 1), l(i)) over i from 1 on.
//!
//! - **Any distribution**: D is at most C and at most T, so that both lie from S - P to P; in shares of S, from the
//!   gain to one less the gain, and no gain exceeds a half. Nothing more follows: two operators with c = (C, 0) and l = (T - D, D) take
//!   both times, for every such C.
//! - **Uniform**, n equal operators: D = min(C, T) (n - 1) / n, so that the smaller of both is D n / (n - 1), which must not
//!   exceed S / 2: n (S - 2 D) >= S.
//! - **Regions** over whose borders nothing overlaps leave out terms of the sum; the first result stays.

use super::printed::shown;
use crate::Reproduction;
use plimsoll_lab::report::table::{Align, Table};

/// One row of table 3. Times are whole microseconds, as printed.
#[derive(Clone, Copy, Debug)]
pub struct PrintedTimes {
    /// The model's name there.
    pub model: &'static str,
    /// Without overlap, microseconds.
    pub synchronous: u64,
    /// With ping-pong, microseconds.
    pub overlapped: u64,
    /// The gain, hundredths of a percent.
    pub gain: u64,
}

const fn row(model: &'static str, synchronous: u64, overlapped: u64, gain: u64) -> PrintedTimes {
    PrintedTimes { model, synchronous, overlapped, gain }
}

/// Table 3.
pub(super) const ROWS: [PrintedTimes; 5] = [
    row("FaceAlign", 2_411_414, 1_712_770, 2897),
    row("FaceDetect", 4_978_807, 4_342_279, 1278),
    row("BodyDetect", 1_712_770, 1_702_147, 62),
    row("FusionDetect", 6_006_455, 5_129_129, 1461),
    row("wake-up", 2_229_174, 1_695_734, 2393),
];

/// The joined model, and its parts.
const JOINED: (&str, [&str; 2]) = ("FusionDetect", ["BodyDetect", "FaceDetect"]);

impl PrintedTimes {
    /// The gain that follows from both times, hundredths of a percent, rounded; below zero where ping-pong takes longer.
    pub fn computed(&self) -> i64 {
        let saved = i128::from(self.synchronous) - i128::from(self.overlapped);
        let whole = i128::from(self.synchronous.max(1));
        (saved * 20_000 + whole).div_euclid(2 * whole) as i64
    }

    /// From where to where computing may lie, and fetching likewise, microseconds; none where no chain takes both times.
    pub fn split(&self) -> Option<(u64, u64)> {
        let saved = self.synchronous.checked_sub(self.overlapped)?;
        (saved <= self.overlapped).then_some((saved, self.overlapped))
    }

    /// The smaller of computing and fetching in a chain of so many equal operators, microseconds; none where no such
    /// chain takes both times.
    pub fn uniform(&self, operators: u64) -> Option<f64> {
        let (saved, _) = self.split()?;
        if saved == 0 {
            // Either of both is nothing, or there is one operator.
            return Some(0.0);
        }
        let gaps = operators.checked_sub(1).filter(|&gaps| gaps > 0)?;
        let fits =
            2 * u128::from(operators) * u128::from(saved) <= u128::from(gaps) * u128::from(self.synchronous);
        fits.then(|| saved as f64 * operators as f64 / gaps as f64)
    }

    /// The fewest equal operators that can take both times.
    pub fn fewest(&self) -> Option<u64> {
        let (saved, _) = self.split()?;
        if saved == 0 {
            return Some(1);
        }
        // A gain of a half needs infinitely many.
        let rest = self.synchronous - 2 * saved;
        (rest > 0).then(|| self.synchronous.div_ceil(rest).max(2))
    }
}

/// Microseconds as the paper prints them.
pub(super) fn millis(micros: u64) -> String {
    format!("{}.{:03}", micros / 1000, micros % 1000)
}

fn percents(hundredths: i64) -> String {
    shown(hundredths as f64 / 100.0)
}

/// Checks the printed table, and says what its times allow.
pub(super) fn arithmetic(rows: &[PrintedTimes], claimed: u64, found: &mut Reproduction) {
    let mut table = Table::new([
        ("printed", Align::Left),
        ("synchronous ms", Align::Right),
        ("ping-pong ms", Align::Right),
        ("saved ms", Align::Right),
        ("gain printed", Align::Right),
        ("gain computed", Align::Right),
    ]);
    for row in rows {
        let saved = row.synchronous as i64 - row.overlapped as i64;
        let sign = if saved < 0 { "-" } else { "" };
        table.row([
            row.model.to_owned(),
            millis(row.synchronous),
            millis(row.overlapped),
            format!("{sign}{}", millis(saved.unsigned_abs())),
            percents(row.gain as i64),
            percents(row.computed()),
        ]);
    }
    found.section("The printed table 3, checked against itself");
    found.table(table);
    found.line("gain computed: 1 - ping-pong / synchronous, rounded to the digits printed");
    let wrong: Vec<&PrintedTimes> = rows.iter().filter(|row| row.computed() != row.gain as i64).collect();
    for row in &wrong {
        found.line(format!(
            "{}: {} is printed, its two times give {}",
            row.model,
            percents(row.gain as i64),
            percents(row.computed())
        ));
    }
    if wrong.is_empty() {
        found.line(format!("all {} gains follow from their two times to the last digit", rows.len()));
    }
    if let Some(best) = rows.iter().max_by_key(|row| row.computed()) {
        let same = best.computed() >= 0 && (best.computed() + 50) / 100 == claimed as i64;
        found.line(format!(
            "the best gain is {} ({}); abstract and conclusion print {claimed} %, which is {}",
            percents(best.computed()),
            best.model,
            if same { "the same, rounded" } else { "not the same" }
        ));
    }
    repeated(rows, found);
    joined(rows, found);
}

/// Times that stand in two rows.
fn repeated(rows: &[PrintedTimes], found: &mut Reproduction) {
    let times = |row: &PrintedTimes| [("synchronous", row.synchronous), ("ping-pong", row.overlapped)];
    for (at, one) in rows.iter().enumerate() {
        for other in &rows[at + 1..] {
            for (name, time) in times(other) {
                for (before, _) in times(one).into_iter().filter(|&(_, before)| before == time) {
                    let follows = other.computed() == other.gain as i64;
                    let when = if follows {
                        "; its gain follows from it, so that it was there before the gain"
                    } else {
                        ""
                    };
                    found.line(format!(
                        "the {name} time of {} is the {before} time of {} to the last digit, {} ms: a likely slip in copying{when}",
                        other.model,
                        one.model,
                        millis(time)
                    ));
                }
            }
        }
    }
}

/// The model that joins two others.
fn joined(rows: &[PrintedTimes], found: &mut Reproduction) {
    let named = |name: &str| rows.iter().find(|row| row.model == name);
    let (Some(whole), [Some(one), Some(other)]) = (named(JOINED.0), JOINED.1.map(named)) else { return };
    let longer = one.synchronous.max(other.synchronous);
    let both = one.synchronous + other.synchronous;
    found.line(format!(
        "{} joins cropped {} and {} under one branch; it takes {} ms, {} of both in turn, and {} ms {}",
        whole.model,
        one.model,
        other.model,
        millis(whole.synchronous),
        shown(100.0 * whole.synchronous as f64 / both.max(1) as f64),
        millis(whole.synchronous.abs_diff(longer)),
        if whole.synchronous > longer {
            "more than the longer one alone: the paper does not say what runs besides one branch"
        } else {
            "less than the longer one alone"
        }
    ));
}

/// Chains of so many operators are shown.
const CHAINS: [u64; 2] = [10, 100];

/// What the printed times say about computing and fetching.
pub(super) fn splits(rows: &[PrintedTimes], found: &mut Reproduction) {
    let mut table = Table::new([
        ("printed", Align::Left),
        ("computing, and fetching: at least ms", Align::Right),
        ("at most ms", Align::Right),
        ("shares at least", Align::Right),
        ("at most", Align::Right),
        ("equal operators: at least", Align::Right),
        ("the smaller of both with as few, ms", Align::Right),
        ("with 10", Align::Right),
        ("with 100", Align::Right),
    ]);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
    for row in rows {
        let share = |micros: u64| shown(100.0 * micros as f64 / row.synchronous.max(1) as f64);
        let chain = |operators| or_none(row.uniform(operators).map(|micros| millis(micros.round() as u64)));
        let split = row.split();
        let fewest = row.fewest();
        table.row([
            row.model.to_owned(),
            or_none(split.map(|(least, _)| millis(least))),
            or_none(split.map(|(_, most)| millis(most))),
            or_none(split.map(|(least, _)| share(least))),
            or_none(split.map(|(_, most)| share(most))),
            or_none(fewest.map(|operators| operators.to_string())),
            fewest.map_or_else(|| "none".to_owned(), chain),
            chain(CHAINS[0]),
            chain(CHAINS[1]),
        ]);
    }
    found.section("What both times of table 3 allow");
    found.table(table);
    found.line("let S and P be the times without and with overlap, C all computing, T all fetching: S = C + T. Ping-pong fetches for an operator while the one before computes, and takes the longer of both, so that S - P is the sum of the shorter ones: at most C, and at most T. So C and T both lie from S - P to P, their shares of S from the gain to one less the gain, and no gain exceeds a half");
    found.line("nothing more follows: two operators that compute for C and nothing, and are fetched in P - C and S - P, take both times for every C in that range. Borders over which nothing overlaps change nothing about it");
    found.line("n equal operators save min(C, T) (n - 1) / n, so that the smaller of both is (S - P) n / (n - 1), computing or fetching, and at most S / 2");
    found.line("if what was measured without overlap did not fetch by DMA but let the processor copy, S says nothing about T: C is at most P, T from P - C to P, and copies take S - C");
    found.file("table-3-splits.csv", "table 3: gains computed again, and what its times allow", |file| {
        writeln!(file, "model,synchronous_us,ping_pong_us,gain_printed_percent,gain_computed_percent,least_us,most_us,fewest_equal_operators")?;
        for row in rows {
            let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
            let split = row.split();
            writeln!(
                file,
                "{},{},{},{:.2},{:.2},{},{},{}",
                row.model,
                row.synchronous,
                row.overlapped,
                row.gain as f64 / 100.0,
                row.computed() as f64 / 100.0,
                number(split.map(|(least, _)| least)),
                number(split.map(|(_, most)| most)),
                number(row.fewest())
            )?;
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_heuristics::overlap::Turns;
    use plimsoll_model::overlap::{Dma, Time, TimedOperator, TimelineProblem};
    use plimsoll_model::{Budget, Bytes, Solver};

    /// Times of a chain of operators (computing, fetching) by both schedules; a byte takes a picosecond.
    fn times(chain: &[(u64, u64)]) -> (u64, u64) {
        let operators = chain.iter().map(|&(compute, weights)| TimedOperator {
            name: "o".to_owned(),
            compute: Time::new(compute),
            weights: Bytes::new(weights),
            activations: Bytes::ZERO,
        });
        let dma = Dma { channels: 1, startup: Time::ZERO, bandwidth: 1_000_000_000_000 };
        let p =
            TimelineProblem::new("p", operators.collect(), dma, Bytes::new(1 << 50), Bytes::new(1)).unwrap();
        let makespan =
            |turns: Turns| turns.solution(&p, &mut Budget::unlimited()).unwrap().unwrap().makespan().get();
        (makespan(Turns::SYNCHRONOUS), makespan(Turns::PING_PONG))
    }

    fn of((synchronous, overlapped): (u64, u64)) -> PrintedTimes {
        row("r", synchronous, overlapped, 0)
    }

    /// The same numbers on any machine.
    fn draw(state: &mut u64, limit: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % limit
    }

    #[test]
    fn printed_gains_follow_from_printed_times() {
        assert!(ROWS.iter().all(|row| row.computed() == row.gain as i64));
        let mut found = Reproduction::default();
        arithmetic(&ROWS, 29, &mut found);
        splits(&ROWS, &mut found);
        let text = found.text();
        for part in [
            "all 5 gains follow",
            "the best gain is 28.97 % (FaceAlign); abstract and conclusion print 29 %, which is the same",
            "the synchronous time of BodyDetect is the ping-pong time of FaceAlign to the last digit, 1712.770 ms",
            "6006.455 ms, 89.76 % of both in turn, and 1027.648 ms more",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn another_number_gives_another_text() {
        let mut rows = ROWS;
        rows[2].synchronous += 1000;
        rows[0].gain = 2900;
        rows[4].overlapped = 1_000_000;
        let mut found = Reproduction::default();
        arithmetic(&rows, 29, &mut found);
        splits(&rows, &mut found);
        let text = found.text();
        assert!(text.contains("FaceAlign: 29.00 % is printed, its two times give 28.97 %"), "{text}");
        assert!(text.contains("BodyDetect: 0.62 % is printed, its two times give 0.68 %"));
        assert!(!text.contains("to the last digit, 1712.770") && !text.contains("gains follow"));
        // More than a half is saved: no chain does that.
        assert_eq!((rows[4].split(), rows[4].fewest(), rows[4].uniform(10)), (None, None, None));
        assert!(text.contains("none"));
    }

    #[test]
    fn every_chain_lies_within_and_every_split_has_a_chain() {
        let mut state = 1;
        let mut touched = [false; 2];
        for round in 0..2000 {
            let count = 1 + draw(&mut state, 8);
            let most = [3, 20, 1000][round % 3];
            let chain: Vec<(u64, u64)> =
                (0..count).map(|_| (draw(&mut state, most), draw(&mut state, most))).collect();
            let (computing, fetching): (u64, u64) =
                chain.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let row = of(times(&chain));
            assert_eq!(row.synchronous, computing + fetching);
            let (least, high) = row.split().expect("a chain took both times");
            for part in [computing, fetching] {
                assert!((least..=high).contains(&part), "{chain:?}");
                touched[0] |= least > 0 && part == least;
                touched[1] |= part == high && least > 0;
            }
        }
        assert_eq!(touched, [true; 2]);
        for row in ROWS {
            let (least, most) = row.split().unwrap();
            for tenth in 0..=10 {
                let computing = least + (most - least) * tenth / 10;
                let chain = [(computing, row.overlapped - computing), (0, row.synchronous - row.overlapped)];
                assert_eq!(times(&chain), (row.synchronous, row.overlapped), "{} {tenth}", row.model);
            }
        }
    }

    #[test]
    fn equal_operators_have_a_closed_form() {
        for (computing, fetching, operators) in
            [(60, 60, 3), (90, 30, 3), (30, 90, 3), (100, 40, 10), (7, 7, 1)]
        {
            let chain = vec![(computing / operators, fetching / operators); operators as usize];
            let row = of(times(&chain));
            let saved = (operators - 1) * computing.min(fetching) / operators;
            assert_eq!(row.synchronous - row.overlapped, saved);
            if operators > 1 {
                assert_eq!(row.uniform(operators), Some(computing.min(fetching) as f64));
                assert!(row.fewest().unwrap() <= operators);
            }
        }
        // 3 save at most a third: two cannot save 28.97 %, three can.
        assert_eq!(ROWS.map(|row| row.fewest()), [Some(3), Some(2), Some(2), Some(2), Some(2)]);
        assert_eq!((ROWS[0].uniform(2), ROWS[0].uniform(1)), (None, None));
        let half = row("h", 100, 50, 5000);
        assert_eq!((half.split(), half.fewest()), (Some((50, 50)), None));
        assert_eq!((of((7, 7)).fewest(), of((7, 7)).uniform(1)), (Some(1), Some(0.0)));
    }
}
