//! `plan --conflicts compare`: compares all conflict relations.

use super::args::PlanArgs;
use crate::commands::choose::named;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use crate::report::{self, Cell, Printed, Text, cells};
use plimsoll::Registry;
use plimsoll::datasets::Import;
use plimsoll::graphs::GraphRun;
use plimsoll::structure::{ComparedAlgorithms, RelationRow, compare};
use plimsoll_lab::report::{Basis, human};
use serde::Serialize;

pub fn relations(
    args: &PlanArgs,
    import: &Import,
    run: &GraphRun<'_>,
    registry: &Registry,
) -> Result<u8, Failure> {
    let algorithms = ComparedAlgorithms {
        reuse_by_size: named(&registry.offsets, "reuse-by-size", "solver")?,
        split_by_size: named(&registry.split_buffers, "split-by-size", "solver")?,
        exact: named(&registry.offsets, &args.algorithm, "algorithm")?,
        split: named(&registry.split_buffers, "exact", "solver")?,
    };
    let rows = compare(&import.graph, run, algorithms)?;
    if let Some(path) = &args.output {
        output::late(output::write_file(path, |file| output::csv(file, &rows)));
    }
    let (basis, exact) = (Basis::of(import), algorithms.exact.name);
    report::print(&RelationsReport { rows: &rows, basis, exact }, args.json)?;
    Ok(ANSWERED)
}

/// The rows of all relations.
#[derive(Serialize)]
#[serde(transparent)]
struct RelationsReport<'a> {
    rows: &'a [RelationRow],
    #[serde(skip)]
    basis: Basis,
    /// The exact algorithm.
    #[serde(skip)]
    exact: &'static str,
}

impl Printed for RelationsReport<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        let Some(first) = self.rows.first() else { return };
        let operators = human::count(first.operators, "operator");
        let (buffers, load) = (human::count(first.buffers, "buffer"), human::sized(first.load, ""));
        let sizes = format_args!("sizes in bytes; peak live bytes of the order: {load}");
        text.push(&format!("{}: {operators}, {buffers}; {sizes}\n", first.graph));
        let columns = [
            "conflicts",
            "pairs",
            "clique",
            "reuse-by-size",
            "split-by-size",
            self.exact,
            "claim",
            "gap %",
            "split",
            "claim",
            "ratio",
            "collisions",
            "concurrent",
        ];
        let row = |row: &RelationRow| {
            let gap = Cell::percent(plimsoll_lab::report::gap_percent(row.exact, row.exact_bound));
            let (claim, ratio) =
                (row.arithmetic.mark(row.exact_claim), Cell::Number(format!("{:.3}", row.ratio)));
            cells![
                &row.conflicts,
                row.pairs,
                row.clique,
                row.reuse_by_size,
                row.split_by_size,
                row.exact,
                claim,
                gap,
                row.split,
                row.split_claim.as_str(),
                ratio,
                row.collide_in_order,
                row.collide,
            ]
        };
        text.table(&columns, self.rows.iter().map(row));
        for row in self.rows.iter().filter(|row| row.overlooked > 0) {
            let pairs = human::count(row.overlooked, "pair");
            let what = "of buffers that are simultaneously live in the order";
            text.push(&format!("\n{} misses {pairs} {what}\n", row.conflicts));
            if let (Some(witness), true) = (&row.witness, row.collide_in_order > 0) {
                text.push(&format!("  {witness}\n"));
            }
        }
    }
}
