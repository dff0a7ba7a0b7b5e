//! Table 3 of the LUNA paper: its consistency, and the bounds on computing time and fetching time that
//! follow from its two columns.
//!
//! Let operator i of n compute for time c(i), and let its weights be fetched in time l(i), including setup
//! latency. C and T are the sums of c(i) and l(i). Without overlap, the run takes S = C + T. With ping-pong,
//! the weights of operator i are fetched while operator i - 1 computes. The run then takes
//! `P = l(0) + sum of max(c(i - 1), l(i)) + c(n - 1)`. Since `max(a, b) = a + b - min(a, b)`, the saved time
//! `D = S - P` is the sum of `min(c(i - 1), l(i))` over `i >= 1`.
//!
//! - **Any distribution**: D is at most C and at most T, so C and T both lie between S - P and P. As shares
//!   of S, they lie between the gain and one minus the gain, and no gain exceeds one half. These bounds are
//!   tight: for every such C, two operators with c = (C, 0) and l = (T - D, D) take exactly the times S and
//!   P.
//! - **Uniform**: With n equal operators, `D = min(C, T) (n - 1) / n`, so the smaller of C and T is
//!   `D n / (n - 1)`. This time must not exceed S / 2, which means `n (S - 2 D) >= S`.
//! - **Regions**: If there is no overlap across borders of regions, terms of the sum are missing, but the
//!   first result still holds.

use crate::Reproduction;
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

/// One row of table 3. Times are integers in microseconds, as printed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct PrintedTimes {
    pub model: String,
    pub synchronous: u64,
    pub overlapped: u64,
    pub gain: u64,
}

/// The joined model, and its parts.
const JOINED: (&str, [&str; 2]) = ("FusionDetect", ["BodyDetect", "FaceDetect"]);

impl PrintedTimes {
    /// Returns the gain that follows from the two times of the row, in hundredths of a percent, rounded. It
    /// is negative if ping-pong takes longer.
    pub fn computed(&self) -> i64 {
        let saved = i128::from(self.synchronous) - i128::from(self.overlapped);
        let whole = i128::from(self.synchronous.max(1));
        (saved * 20_000 + whole).div_euclid(2 * whole) as i64
    }

    /// Returns the lower and the upper bound on the computing time in microseconds, which also hold for the
    /// fetching time. Returns `None` if no chain of operators matches the two times of the row.
    pub fn split(&self) -> Option<(u64, u64)> {
        let saved = self.synchronous.checked_sub(self.overlapped)?;
        (saved <= self.overlapped).then_some((saved, self.overlapped))
    }

    /// Returns the smaller of the computing time and the fetching time in a chain of `operators` equal
    /// operators, in microseconds. Returns `None` if no such chain matches the two times of the row.
    pub fn uniform(&self, operators: u64) -> Option<f64> {
        let (saved, _) = self.split()?;
        if saved == 0 {
            // Either computing or fetching takes no time, or there is only one operator.
            return Some(0.0);
        }
        let gaps = operators.checked_sub(1).filter(|&gaps| gaps > 0)?;
        let fits =
            2 * u128::from(operators) * u128::from(saved) <= u128::from(gaps) * u128::from(self.synchronous);
        fits.then(|| saved as f64 * operators as f64 / gaps as f64)
    }

    /// Returns the minimum number of equal operators that can match the two times of the row.
    pub fn fewest(&self) -> Option<u64> {
        let (saved, _) = self.split()?;
        if saved == 0 {
            return Some(1);
        }
        // A gain of one half requires infinitely many operators.
        let rest = self.synchronous - 2 * saved;
        (rest > 0).then(|| self.synchronous.div_ceil(rest).max(2))
    }
}

/// Numbers of operators of the uniform chains that the table shows.
const CHAINS: [u64; 2] = [10, 100];

impl PrintedTimes {
    /// Returns the facts that follow from the times of the row.
    pub fn facts(&self) -> Value {
        let chain = |operators| self.uniform(operators).map(|micros| micros.round() as u64);
        let fewest = self.fewest();
        let chains = [fewest.and_then(chain), chain(CHAINS[0]), chain(CHAINS[1])];
        context! {
            model => &self.model, synchronous => self.synchronous, overlapped => self.overlapped,
            gain => self.gain, computed => self.computed(), split => self.split(), fewest, chains,
        }
    }
}

/// Checks the printed table for consistency.
pub(super) fn arithmetic(rows: &[PrintedTimes], claimed: u64, found: &mut Reproduction) {
    let best = rows.iter().max_by_key(|row| row.computed()).map(|best| {
        let agrees = best.computed() >= 0 && (best.computed() + 50) / 100 == claimed as i64;
        context! { model => &best.model, computed => best.computed(), agrees }
    });
    found.fact("best_time", best);
    found.fact("repeated", repeated(rows));
    found.fact("parts", joined(rows));
}

/// Finds times that occur in two rows.
fn repeated(rows: &[PrintedTimes]) -> Vec<Value> {
    let times = |row: &PrintedTimes| [("synchronous", row.synchronous), ("ping-pong", row.overlapped)];
    let mut repeated = Vec::new();
    for (at, one) in rows.iter().enumerate() {
        for other in &rows[at + 1..] {
            for (name, time) in times(other) {
                for (before, _) in times(one).into_iter().filter(|&(_, before)| before == time) {
                    let follows = other.computed() == other.gain as i64;
                    let (model, other) = (&other.model, &one.model);
                    repeated.push(context! { name, model, other_name => before, other, time, follows });
                }
            }
        }
    }
    repeated
}

/// Returns the facts about the model that joins two others.
fn joined(rows: &[PrintedTimes]) -> Option<Value> {
    let named = |name: &str| rows.iter().find(|row| row.model == name);
    let (whole, [one, other]) = (named(JOINED.0)?, JOINED.1.map(named));
    let (one, other) = (one?, other?);
    let longer = one.synchronous.max(other.synchronous);
    let both = one.synchronous + other.synchronous;
    Some(context! {
        whole => &whole.model, one => &one.model, other => &other.model, time => whole.synchronous,
        share => 100.0 * whole.synchronous as f64 / both.max(1) as f64,
        difference => whole.synchronous.abs_diff(longer), longer => whole.synchronous > longer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::luna::Inputs;
    use plimsoll_heuristics::timelines::Turns;
    use plimsoll_model::timelines::{Dma, Time, TimedOperator, TimelineProblem};
    use plimsoll_model::{Budget, Bytes, Solver};

    /// Returns the times that a chain of operators takes without overlap and with ping-pong. Each operator is
    /// given by its computing time and its fetching time. A byte is fetched in one picosecond.
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
        PrintedTimes { model: "r".to_owned(), synchronous, overlapped, gain: 0 }
    }

    fn printed() -> Vec<PrintedTimes> {
        Inputs::default().times
    }

    /// Returns a deterministic pseudorandom number below `limit`.
    fn draw(state: &mut u64, limit: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % limit
    }

    /// Returns the members of a value that have these names.
    fn numbers(value: &Value, names: [&str; 3]) -> [String; 3] {
        names.map(|name| value.get_attr(name).unwrap().to_string())
    }

    #[test]
    fn printed_gains_follow_from_printed_times() {
        let rows = printed();
        assert!(rows.iter().all(|row| row.computed() == row.gain as i64));
        let repeated = repeated(&rows);
        assert_eq!(repeated.len(), 1);
        assert_eq!(numbers(&repeated[0], ["model", "other", "time"]), ["BodyDetect", "FaceAlign", "1712770"]);
        let parts = joined(&rows).unwrap();
        assert_eq!(numbers(&parts, ["time", "difference", "longer"]), ["6006455", "1027648", "True"]);
    }

    #[test]
    fn another_number_gives_another_text() {
        let mut rows = printed();
        rows[2].synchronous += 1000;
        rows[0].gain = 2900;
        rows[4].overlapped = 1_000_000;
        assert_eq!((rows[0].computed(), rows[2].computed()), (2897, 68));
        assert!(repeated(&rows).is_empty());
        // The saving exceeds one half, which is impossible for any chain.
        assert_eq!((rows[4].split(), rows[4].fewest(), rows[4].uniform(10)), (None, None, None));
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
            let (least, high) = row.split().expect("the times come from a chain");
            for part in [computing, fetching] {
                assert!((least..=high).contains(&part), "{chain:?}");
                touched[0] |= least > 0 && part == least;
                touched[1] |= part == high && least > 0;
            }
        }
        assert_eq!(touched, [true; 2]);
        for row in printed() {
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
        // Two equal operators save at most 25 %, and three at most 33.33 %, so a gain of 28.97 % requires
        // three.
        let rows = printed();
        let fewest: Vec<Option<u64>> = rows.iter().map(PrintedTimes::fewest).collect();
        assert_eq!(fewest, [Some(3), Some(2), Some(2), Some(2), Some(2)]);
        assert_eq!((rows[0].uniform(2), rows[0].uniform(1)), (None, None));
        let half = of((100, 50));
        assert_eq!((half.split(), half.fewest()), (Some((50, 50)), None));
        assert_eq!((of((7, 7)).fewest(), of((7, 7)).uniform(1)), (Some(1), Some(0.0)));
    }
}
