//! Counts certified runs, and measures the size and time of their proofs.

use crate::analysis::distinct;
use crate::analysis::time::{median, shifted_geometric_mean};
use crate::report::human;
use crate::report::ranking::CERTIFIED;
use crate::report::table::{Align, Column, Table};
use crate::report::times::figure;
use crate::row::{Evidence, Row};
use crate::suite::SUITES;

/// The explanation of the table.
pub const EXPLANATION: &str = "\
Certified: the proved runs (optimal or infeasible) whose bound is confirmed by a witness that was recomputed,
or by a proof that the independent checker accepted. Size: the median and the largest size of the proofs.
Overhead: the time of a run with its proof, divided by the time of the run. Check: the time to check the proof,
divided by the time of the run. Both are geometric means over the runs with a proof, followed by the largest
ratio.";

/// The runs of one algorithm on one suite.
struct Runs<'a> {
    suite: &'a str,
    algorithm: &'a str,
    rows: Vec<&'a Row>,
}

impl Runs<'_> {
    fn count(&self, is_counted: impl Fn(&Row) -> bool) -> usize {
        self.rows.iter().filter(|row| is_counted(row)).count()
    }

    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.rows.iter().filter_map(|row| row.proof_bytes)
    }

    /// Returns the ratios of a time to the time of the run.
    fn ratios(&self, time: fn(&Row) -> Option<f64>) -> Vec<f64> {
        let ratio = |row: &&Row| Some(time(row)? / row.seconds.filter(|&seconds| seconds > 0.0)?);
        self.rows.iter().filter_map(ratio).collect()
    }
}

fn mean(ratios: &[f64]) -> String {
    shifted_geometric_mean(ratios, 0.0).map_or_else(String::new, figure)
}

fn most(ratios: &[f64]) -> String {
    ratios.iter().copied().reduce(f64::max).map_or_else(String::new, figure)
}

fn with_proof(row: &Row) -> Option<f64> {
    Some(row.seconds? + row.proof_seconds?)
}

fn checked(row: &Row) -> Option<f64> {
    row.check_seconds
}

/// Returns a table with one row per suite and algorithm with proved runs, or `None` if no run is certified.
pub fn certificates(rows: &[Row]) -> Option<Table> {
    rows.iter().find(|row| row.certified.is_some())?;
    let proved = |row: &&Row| row.is_done() && row.is_proved() && !row.is_external();
    let mut all: Vec<Runs> = Vec::new();
    // All instances from files form one suite.
    let suite_of =
        |row: &Row| SUITES.iter().find(|suite| suite.name == row.suite).map_or("", |suite| suite.name);
    for suite in distinct(rows.iter().map(suite_of)) {
        let own: Vec<&Row> = rows.iter().filter(proved).filter(|row| suite_of(row) == suite).collect();
        for algorithm in distinct(own.iter().map(|row| row.algorithm.as_str())) {
            let rows = own.iter().copied().filter(|row| row.algorithm == algorithm).collect();
            all.push(Runs { suite, algorithm, rows });
        }
    }
    let median = |own: &Runs| median(own.sizes().map(|bytes| bytes as f64)).map(|bytes| bytes as u64);
    let size = |bytes: Option<u64>| bytes.map_or_else(String::new, human::bytes);
    let columns: [Column<'_, &Runs>; 11] = [
        ("suite", Align::Left, &|own| own.suite.to_owned()),
        ("algorithm", Align::Left, &|own| own.algorithm.to_owned()),
        ("proved", Align::Right, &|own| own.rows.len().to_string()),
        (CERTIFIED, Align::Right, &|own| own.count(Row::is_certified).to_string()),
        ("by proof", Align::Right, &|own| {
            own.count(|row| row.certified_by == Some(Evidence::Proof)).to_string()
        }),
        ("size", Align::Right, &|own| size(median(own))),
        ("largest", Align::Right, &|own| size(own.sizes().max())),
        ("overhead", Align::Right, &|own| mean(&own.ratios(with_proof))),
        ("worst", Align::Right, &|own| most(&own.ratios(with_proof))),
        ("check", Align::Right, &|own| mean(&own.ratios(checked))),
        ("slowest", Align::Right, &|own| most(&own.ratios(checked))),
    ];
    Some(
        Table::of(&columns, &all)
            .without_empty(&["suite", "size", "largest", "overhead", "worst", "check", "slowest"]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Certified, Status};
    use plimsoll_model::Claim;

    const OPTIMAL: Option<Certified> = Some(Certified::Optimal);

    #[test]
    fn ratios_are_those_of_runs_with_proofs() {
        let run = |certified, by, seconds: Option<f64>| Row {
            suite: "above-load".to_owned(),
            algorithm: "exact".to_owned(),
            status: Status::Done,
            claim: Some(Claim::Optimal),
            seconds: Some(0.5),
            certified,
            certified_by: by,
            proof_bytes: seconds.map(|_| 2048),
            proof_seconds: seconds,
            check_seconds: seconds.map(|_| 0.25),
            ..Row::default()
        };
        assert!(certificates(&[run(None, None, None)]).is_none());
        let rows = [
            run(OPTIMAL, Some(Evidence::Witness), None),
            run(OPTIMAL, Some(Evidence::Proof), Some(0.0)),
            run(OPTIMAL, Some(Evidence::Proof), Some(1.5)),
            run(None, None, None),
            Row {
                claim: Some(Claim::Feasible),
                ..run(Some(Certified::Bound), Some(Evidence::Witness), None)
            },
        ];
        let table = certificates(&rows).unwrap();
        let sizes = ["2.00 KiB", "2.00 KiB"];
        let cells =
            [&["above-load", "exact", "4", "3", "2"][..], &sizes, &["2.00", "4.00", "0.5000", "0.5000"]]
                .concat();
        assert_eq!(table.rows(), [cells]);
    }
}
