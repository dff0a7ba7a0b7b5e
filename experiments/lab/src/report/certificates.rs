//! How many proved runs are certified, and what their proofs cost.

use crate::analysis::distinct;
use crate::analysis::time::{median, shifted_geometric_mean};
use crate::record::Record;
use crate::report::human;
use crate::report::table::{Align, Column, Table};
use crate::report::times::figure;

/// The explanation of the table.
pub const EXPLANATION: &str = "\
Certified: the proved runs (optimal or infeasible) whose bound is confirmed by a witness that was recomputed, or by a
proof that the independent checker accepted. The median and the largest size are those of the proofs. Overhead: the
time of a run with its proof, divided by the time of the run. Check: the time to check the proof, divided by the time of
the run. Both are geometric means over the runs with a proof, followed by the largest ratio.";

/// The runs of one algorithm on one suite.
struct Runs<'a> {
    suite: &'a str,
    algorithm: &'a str,
    rows: Vec<&'a Record>,
}

impl Runs<'_> {
    fn count(&self, is_counted: impl Fn(&Record) -> bool) -> usize {
        self.rows.iter().filter(|row| is_counted(row)).count()
    }

    /// Returns a median and a largest size, or an empty text without proofs.
    fn sizes(&self) -> String {
        let sizes = || self.rows.iter().filter_map(|row| row.proof_bytes);
        let (Some(median), Some(most)) = (median(sizes().map(|bytes| bytes as f64)), sizes().max()) else {
            return String::new();
        };
        format!("{}, {}", human::bytes(median as u64), human::bytes(most))
    }

    /// Returns the geometric mean and the largest of the ratios of a time to the time of the run.
    fn ratios(&self, time: impl Fn(&Record) -> Option<f64>) -> String {
        let ratio = |row: &&Record| Some(time(row)? / row.seconds.filter(|&seconds| seconds > 0.0)?);
        let ratios: Vec<f64> = self.rows.iter().filter_map(ratio).collect();
        let Some(most) = ratios.iter().copied().reduce(f64::max) else { return String::new() };
        let mean = shifted_geometric_mean(&ratios, 0.0).unwrap_or(most);
        format!("{}, {}", figure(mean), figure(most))
    }
}

/// Returns a table with one row per suite and algorithm that proved a run, or `None` if no run is certified.
pub fn certificates(rows: &[Record]) -> Option<Table> {
    rows.iter().find(|row| !row.certified.is_empty())?;
    let proved = |row: &&Record| row.status == "done" && row.is_proved() && row.kind != "external";
    let mut all: Vec<Runs> = Vec::new();
    for suite in distinct(rows.iter().map(|row| row.suite.as_str())) {
        let own: Vec<&Record> = rows.iter().filter(proved).filter(|row| row.suite == suite).collect();
        for algorithm in distinct(own.iter().map(|row| row.algorithm.as_str())) {
            let rows = own.iter().copied().filter(|row| row.algorithm == algorithm).collect();
            all.push(Runs { suite, algorithm, rows });
        }
    }
    let by = |own: &Runs, how: &str| own.count(|row| row.certified_by == how).to_string();
    let columns: [Column<'_, &Runs>; 9] = [
        ("suite", Align::Left, &|own| own.suite.to_owned()),
        ("algorithm", Align::Left, &|own| own.algorithm.to_owned()),
        ("proved", Align::Right, &|own| own.rows.len().to_string()),
        ("certified", Align::Right, &|own| own.count(Record::is_certified).to_string()),
        ("by witness", Align::Right, &|own| by(own, "witness")),
        ("by proof", Align::Right, &|own| by(own, "proof")),
        ("size", Align::Right, &|own| own.sizes()),
        ("overhead", Align::Right, &|own| own.ratios(|row| Some(row.seconds? + row.proof_seconds?))),
        ("check", Align::Right, &|own| own.ratios(|row| row.check_seconds)),
    ];
    Some(Table::of(&columns, &all).without_empty(&["suite", "size", "overhead", "check"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_runs_with_proofs() {
        let run = |certified: &str, by: &str, seconds: Option<f64>| Record {
            suite: "s".to_owned(),
            algorithm: "exact".to_owned(),
            status: "done".to_owned(),
            claim: "optimal".to_owned(),
            seconds: Some(0.5),
            certified: certified.to_owned(),
            certified_by: by.to_owned(),
            proof_bytes: seconds.map(|_| 2048),
            proof_seconds: seconds,
            check_seconds: seconds.map(|_| 0.25),
            ..Record::default()
        };
        assert!(certificates(&[run("", "", None)]).is_none());
        let rows = [
            run("optimal", "witness", None),
            run("optimal", "proof", Some(0.0)),
            run("optimal", "proof", Some(1.5)),
            run("", "", None),
            Record { claim: "feasible".to_owned(), ..run("bound", "witness", None) },
        ];
        let table = certificates(&rows).unwrap();
        let cells = ["s", "exact", "4", "3", "1", "2", "2.00 KiB, 2.00 KiB", "2.00, 4.00", "0.50, 0.50"];
        assert_eq!(table.rows(), [cells.map(str::to_owned)]);
    }
}
