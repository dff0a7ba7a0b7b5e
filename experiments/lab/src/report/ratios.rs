//! Times of algorithms relative to a reference algorithm, instance by instance.
//!
//! A *ratio* is the time of an algorithm divided by the time of the reference. If the ratio is above 1, the
//! reference is faster. A mark on a ratio shows the direction in which the ratio is uncertain:
//!
//! - If the time of the algorithm is only the limit, the ratio is a lower bound, marked `>`.
//! - Times printed with few digits are uncertain. The time of the algorithm is reduced by half a unit of its
//!   last printed digit. The time of the reference is increased by one unit of its own last digit. If this
//!   changes either time by more than 1 %, the ratio is marked as a lower bound.
//! - If the time of the algorithm is below one unit of its last digit (`0.000`), it is increased by one unit
//!   of this digit. The time of the reference is reduced by half a unit of its own last digit. The ratio is
//!   then an upper bound, marked `<`, and means exclude it.
//!
//! **Complexity.** O(algorithms * instances * suites).

use crate::analysis::time::Time;
use crate::analysis::{Group, distinct};
use crate::report::human;
use crate::report::table::{Align, Table};
use crate::report::times::{self, Clock, figure};
use crate::row::Row;
use std::collections::BTreeSet;

/// Fraction by which rounding may change a time before the ratio is marked.
const COARSE: f64 = 0.01;

/// The direction in which the true ratio may deviate from the computed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Exact,
    AtLeast,
    AtMost,
}

impl Side {
    fn mark(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::AtLeast => ">",
            Self::AtMost => "<",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ratio {
    value: f64,
    side: Side,
}

/// A function that combines several ratios into one.
type Summarise = fn(&[Ratio]) -> Option<Ratio>;
/// A function that counts the ratios that a [`Summarise`] includes.
type Count = fn(&[Ratio]) -> usize;

/// Returns true if the time is only known to be below one unit of its last digit.
fn is_unseen(time: Time) -> bool {
    !time.censored && time.resolution > 0.0 && time.seconds < time.resolution
}

/// Returns the ratio of a time to the time of the reference, or `None` if there is no time or the reference
/// has no usable time.
fn ratio(time: Option<Time>, reference: Option<Time>) -> Option<Ratio> {
    let (time, reference) = (time?, reference.filter(|reference| !reference.censored)?);
    let least = |time: Time| if time.censored { time.seconds } else { time.seconds - time.resolution / 2.0 };
    let most = |time: Time| time.seconds + time.resolution;
    let (over, under, side) = if is_unseen(time) {
        (most(time), least(reference), Side::AtMost)
    } else {
        let coarse = |time: Time, moved: f64| moved > time.seconds * COARSE;
        let bound =
            time.censored || coarse(time, time.resolution / 2.0) || coarse(reference, reference.resolution);
        (least(time), most(reference), if bound { Side::AtLeast } else { Side::Exact })
    };
    (under > 0.0).then(|| Ratio { value: over / under, side })
}

fn shown_ratio(ratio: Option<Ratio>) -> String {
    ratio.map_or_else(String::new, |ratio| format!("{}{}", ratio.side.mark(), figure(ratio.value)))
}

/// Formats a time in the unit that the tables use for times of this clock.
fn shown(time: Option<Time>, clock: Clock) -> String {
    let figure = |seconds: f64| match clock {
        Clock::Bench => human::seconds(seconds),
        Clock::Own => figure(seconds * 1000.0),
    };
    time.map_or_else(String::new, |time| match time.censored {
        true => format!(">{}", figure(time.seconds)),
        false if is_unseen(time) => format!("<{}", figure(time.resolution)),
        false => figure(time.seconds),
    })
}

/// Returns a table of the ratios of self-reported times for the algorithms that report their times. Returns
/// `None` if no external process reports a time, or if the reference is unknown or is the only algorithm.
pub fn own_ratios(rows: &[Row], reference: &str) -> Option<Table> {
    let own = |row: &&Row| row.own_seconds.is_some();
    let timed: BTreeSet<&str> = rows.iter().filter(own).map(|row| row.algorithm.as_str()).collect();
    rows.iter().filter(own).find(|row| row.whole_process)?;
    let timed: Vec<Row> = rows.iter().filter(|row| timed.contains(row.algorithm.as_str())).cloned().collect();
    ratios(&times::by(Clock::Own, &timed), reference, Clock::Own)
}

/// Returns a table with one row per instance: the time of the reference, and the time and the ratio of each
/// other algorithm. Self-reported times are in milliseconds.
///
/// Below the instances, each suite has one row for the geometric mean and one for the smallest ratio. A
/// result derived from bounds is a bound itself. A result that does not cover all instances states how many
/// it covers.
///
/// Returns `None` if the reference is unknown or is the only algorithm.
pub fn ratios(group: &Group, reference: &str, clock: Clock) -> Option<Table> {
    let Group { instances, algorithms, .. } = group;
    let at = algorithms.iter().position(|(name, _)| name == reference)?;
    let others: Vec<usize> = (0..algorithms.len()).filter(|&other| other != at).collect();
    if others.is_empty() {
        return None;
    }
    let unit = match clock {
        Clock::Bench => "",
        Clock::Own => " own ms",
    };
    let mut names = vec!["suite".to_owned(), "instance".to_owned(), format!("{reference}{unit}")];
    for &other in &others {
        let name = &algorithms[other].0;
        names.extend([format!("{name}{unit}"), format!("{name} / {reference}")]);
    }
    let align = |column: usize| if column < 2 { Align::Left } else { Align::Right };
    let mut table = Table::new(names.iter().enumerate().map(|(column, name)| (name.as_str(), align(column))));
    let ratio_on = |other: usize, instance: usize| {
        ratio(group.time_to_solve(other, instance), group.time_to_solve(at, instance))
    };
    for (nth, instance) in instances.iter().enumerate() {
        let mut cells =
            vec![instance.suite.clone(), instance.name.clone(), shown(group.time_to_solve(at, nth), clock)];
        for &other in &others {
            cells.extend([shown(group.time_to_solve(other, nth), clock), shown_ratio(ratio_on(other, nth))]);
        }
        table.row(cells);
    }
    for suite in distinct(instances.iter().map(|instance| instance.suite.as_str())) {
        let of_suite = |other: usize| -> Vec<Ratio> {
            let its = (0..instances.len()).filter(|&nth| instances[nth].suite == suite);
            its.filter_map(|nth| ratio_on(other, nth)).collect()
        };
        let total = instances.iter().filter(|instance| instance.suite == suite).count();
        // A column that does not cover all instances shows how many it covers.
        let share = |count: usize| if count < total { format!("{count} of {total}") } else { String::new() };
        let kinds: [(&str, Summarise, Count); 2] = [
            ("geometric mean", geometric_mean, |ratios| meant(ratios).count()),
            ("least", least, <[Ratio]>::len),
        ];
        for (kind, summarise, count) in kinds {
            let mut cells = vec![suite.to_owned(), kind.to_owned(), String::new()];
            for &other in &others {
                let ratios = of_suite(other);
                cells.extend([share(count(&ratios)), shown_ratio(summarise(&ratios))]);
            }
            table.row(cells);
        }
    }
    Some(table)
}

/// Returns the ratios that a mean may include.
fn meant(ratios: &[Ratio]) -> impl Iterator<Item = &Ratio> {
    ratios.iter().filter(|ratio| ratio.side != Side::AtMost)
}

fn geometric_mean(ratios: &[Ratio]) -> Option<Ratio> {
    let count = meant(ratios).count();
    let sum: f64 = meant(ratios).map(|ratio| ratio.value.ln()).sum();
    let bound = meant(ratios).any(|ratio| ratio.side == Side::AtLeast);
    let side = if bound { Side::AtLeast } else { Side::Exact };
    (count > 0).then(|| Ratio { value: (sum / count as f64).exp(), side })
}

/// Returns the smallest ratio. If any ratio is an upper bound, lower bounds are ignored, and the result is
/// only an upper bound.
fn least(ratios: &[Ratio]) -> Option<Ratio> {
    let by_value = |a: &Ratio, b: &Ratio| a.value.total_cmp(&b.value);
    if ratios.iter().any(|ratio| ratio.side == Side::AtMost) {
        let above = ratios.iter().copied().filter(|ratio| ratio.side != Side::AtLeast);
        return above.min_by(by_value).map(|ratio| Ratio { side: Side::AtMost, ..ratio });
    }
    ratios.iter().copied().min_by(by_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::times::tests::{row, rows};
    use plimsoll_model::Claim;

    fn lines(table: &Table) -> Vec<String> {
        table.text().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn ratios_are_lower_bounds_where_a_time_is_censored() {
        let rows = rows();
        let times = times::of(&rows);
        let found = lines(&ratios(&times, "fast", Clock::Bench).unwrap());
        assert_eq!(found[2..4], ["s a 100 ms 4.00 s 40.00", "s b 100 ms >10.0 s >100.0"]);
        assert_eq!(found[4..], ["s geometric mean >63.25", "s least 40.00"]);
        // If the reference did not solve the instance, there is no ratio.
        let found = lines(&ratios(&times, "slow", Clock::Bench).unwrap());
        assert!(found[3].ends_with("100 ms") && found[4].contains("geometric mean 1 of 2"), "{found:?}");
        assert!(ratios(&times, "absent", Clock::Bench).is_none());
    }

    #[test]
    fn means_show_their_number_of_instances() {
        let mut rows: Vec<Row> = ["a", "b"].map(|name| row(name, "fast", 1.0, Claim::Optimal)).into();
        rows.extend(["a", "b"].map(|name| row(name, "all", 2.0, Claim::Optimal)));
        rows.push(row("a", "one", 4.0, Claim::Optimal));
        let times = times::of(&rows);
        let found = lines(&ratios(&times, "fast", Clock::Bench).unwrap());
        assert_eq!(found[4..], ["s geometric mean 2.00 1 of 2 4.00", "s least 2.00 1 of 2 4.00"]);
    }

    #[test]
    fn a_reference_that_is_moved_is_marked() {
        let time = |seconds, resolution| Time { seconds, resolution, censored: false, solved: 1, runs: 1 };
        let of = |resolution| ratio(Some(time(10.0, 0.0)), Some(time(1.0, resolution))).unwrap();
        assert_eq!((of(0.005).side, of(0.015).side), (Side::Exact, Side::AtLeast));
    }

    /// Turns the rows into rows of external processes, and adds a row without a self-reported time.
    fn with_whole(mut rows: Vec<Row>) -> Vec<Row> {
        rows.push(row("a", "silent", 1.0, Claim::Optimal));
        rows.into_iter().map(|row| Row { whole_process: true, ..row }).collect()
    }

    #[test]
    fn printed_times_are_as_precise_as_their_digits() {
        let own = |instance: &str, algorithm: &str, seconds: Option<f64>, resolution: Option<f64>| Row {
            own_seconds: seconds,
            own_resolution: resolution,
            ..row(instance, algorithm, 1.0, Claim::Optimal)
        };
        let mut rows: Vec<Row> =
            ["a", "b", "c", "d"].map(|instance| own(instance, "fast", Some(1e-4), None)).into();
        let peer = |instance: &str, seconds| own(instance, "peer", seconds, Some(0.001));
        rows.extend([peer("a", Some(4.0)), peer("b", Some(0.003)), peer("c", Some(0.0)), peer("d", None)]);
        let times = times::by(Clock::Own, &rows);
        let found = lines(&ratios(&times, "fast", Clock::Own).unwrap());
        assert_eq!(found[0], "suite instance fast own ms peer own ms peer / fast");
        assert_eq!(found[2..4], ["s a 0.1000 4000 39995", "s b 0.1000 3.00 >25.00"]);
        assert_eq!(found[4..6], ["s c 0.1000 <1.00 <10.00", "s d 0.1000"]);
        assert_eq!(lines(&own_ratios(&with_whole(rows.clone()), "fast").unwrap()), found);
        assert_eq!(own_ratios(&rows, "fast").map(|_| ()), None);
        assert_eq!(found[6..], ["s geometric mean 2 of 4 >999.9", "s least 3 of 4 <10.00"]);
    }
}
