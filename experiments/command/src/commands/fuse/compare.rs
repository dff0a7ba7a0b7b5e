//! `plimsoll fuse --compare`: every algorithm, within units and across them.

use super::args::FuseArgs;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::fusion::{FuseError, FuseRun, FusionTotals};
use plimsoll::interrupt;
use plimsoll::model::fusion::{Fusions, UnitRule};
use plimsoll::model::graph::Graph;
use plimsoll::model::{Entry, Relations, SolveError};
use plimsoll::run::{RunError, contradiction};
use plimsoll_lab::report::table::{Align, Table};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Row {
    graph: String,
    patterns: String,
    units: String,
    rule: &'static str,
    method: &'static str,
    kind: String,
    operators: usize,
    relations: usize,
    groups: usize,
    merged: usize,
    optimised: usize,
    upper_bound: usize,
    claim: &'static str,
    stop: &'static str,
    seconds: f64,
    nodes: u64,
    /// Of the bound.
    arithmetic: Arithmetic,
}

#[derive(Debug, Serialize)]
struct Comparison {
    graph: String,
    rows: Vec<Row>,
}

/// Runs the comparison. Algorithms that decline are left out.
pub(super) fn main(
    args: &FuseArgs,
    entries: &[&'static Entry<Fusions>],
    graph: &Graph,
    run: FuseRun<'_>,
) -> Result<u8, Failure> {
    let mut rows = Vec::new();
    for rule in [UnitRule::Same, UnitRule::Any] {
        let from = rows.len();
        for &entry in interrupt::until_requested(entries) {
            let run = FuseRun { rule, entry, limits: args.effort.limits_each_from_now(), ..run };
            let regions = match run.fuse(graph) {
                Err(FuseError::Run { source: RunError::Solve(SolveError::Unsupported { .. }), .. }) => {
                    continue;
                }
                result => result?,
            };
            let totals = FusionTotals::of(&regions);
            let stop = regions.iter().map(|one| one.outcome.stop.as_str()).find(|&stop| stop != "completed");
            rows.push(Row {
                graph: graph.name().to_owned(),
                patterns: args.patterns.clone(),
                units: args.units.clone(),
                rule: rule.as_str(),
                method: entry.name,
                kind: entry.kind.to_string(),
                operators: totals.operators,
                relations: totals.coverage.relations,
                groups: totals.groups,
                merged: totals.merged(),
                optimised: totals.coverage.optimised,
                upper_bound: totals.bound,
                claim: totals.claim().as_str(),
                stop: stop.unwrap_or("completed"),
                seconds: regions.iter().map(|one| one.seconds).sum(),
                nodes: regions.iter().map(|one| one.outcome.stats.nodes).sum(),
                arithmetic: totals.arithmetic,
            });
        }
        let count =
            |row: &Row| (row.method, Some(Relations::new(row.optimised)), Relations::new(row.upper_bound));
        if let Some(reason) = contradiction(rows[from..].iter().map(count)) {
            return Err(Failure::internal(reason));
        }
    }
    if let Some(path) = &args.output {
        output::write_file(path, |file| output::csv(file, &rows))?;
    }
    if args.json {
        output::print_json(&Comparison { graph: graph.name().to_owned(), rows })?;
    } else {
        output::print(&table(&rows).text())?;
    }
    Ok(ANSWERED)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        ("rule", Align::Left),
        ("method", Align::Left),
        ("relations", Align::Right),
        ("optimised", Align::Right),
        ("coverage", Align::Right),
        ("bound", Align::Right),
        ("groups", Align::Right),
        ("merged", Align::Right),
        ("claim", Align::Left),
        ("seconds", Align::Right),
    ]);
    for row in rows {
        let coverage = match row.relations {
            0 => "-".to_owned(),
            all => format!("{:.1} %", 100.0 * row.optimised as f64 / all as f64),
        };
        table.row([
            row.rule.to_owned(),
            row.method.to_owned(),
            row.relations.to_string(),
            row.optimised.to_string(),
            coverage,
            row.upper_bound.to_string(),
            row.groups.to_string(),
            row.merged.to_string(),
            row.arithmetic.mark(row.claim),
            format!("{:.3}", row.seconds),
        ]);
    }
    table
}
