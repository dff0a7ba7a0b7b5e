//! Every order algorithm on one graph, beside the best bound that any of them proved.

use super::args::OrderArgs;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::Registry;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, GraphRunError, OrderedRegion};
use plimsoll::interrupt;
use plimsoll::model::graph::Graph;
use plimsoll::model::{Claim, SolveError};
use plimsoll::run::RunError;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::{Basis, gap_percent, percent};
use serde::Serialize;
use std::fmt::Write as _;

/// One algorithm on the body of the graph.
#[derive(Debug, Serialize)]
struct Row {
    graph: String,
    operators: usize,
    order: &'static str,
    kind: String,
    claim: &'static str,
    stop: &'static str,
    peak: u64,
    lower_bound: u64,
    /// Of the peak over the best bound that any algorithm proved.
    gap_percent: Option<f64>,
    seconds: f64,
    nodes: u64,
    seed: u64,
    /// Of the bound.
    arithmetic: Arithmetic,
}

/// Runs every algorithm; those that decline the graph are left out.
pub(super) fn compare(args: &OrderArgs, registry: &Registry, import: &Import) -> Result<u8, Failure> {
    let graph = &import.graph;
    let (mut rows, mut proved) = (Vec::new(), Vec::new());
    for entry in interrupt::until_requested(&registry.orders) {
        let run = GraphRun {
            liveness: args.liveness.options(),
            order: entry,
            setup: args.effort.setup(),
            limits: args.effort.limits_each_from_now(),
        };
        match run.order(graph) {
            Ok(regions) => {
                let arithmetic = regions.iter().map(|one| Arithmetic::of(&one.outcome.lower_bound.witness));
                let arithmetic = arithmetic.max().unwrap_or_default();
                if let Some(body) = regions.last() {
                    if regions.iter().all(|one| one.outcome.claim == Claim::Optimal) {
                        proved.push((body.peak.get(), arithmetic));
                    }
                    let row = row(args, graph, entry.name, entry.kind.to_string(), body);
                    rows.push(Row { arithmetic, ..row });
                }
            }
            Err(GraphRunError::Run { source: RunError::Solve(SolveError::Unsupported { .. }), .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    settle(graph, &mut rows, &proved);
    if let Some(path) = &args.output {
        output::write_file(path, |file| output::csv(file, &rows))?;
    }
    if args.json {
        output::print_json(&rows)?;
    } else {
        output::print(&(Basis::of(import).text() + &text(graph, &rows)))?;
    }
    Ok(ANSWERED)
}

/// Puts every row beside the best bound. What regions inside operators take differs from algorithm to algorithm, and with
/// it the problem that a row's own bound is of: where there are some, only an optimum of all of them is a bound for all.
fn settle(graph: &Graph, rows: &mut [Row], proved: &[(u64, Arithmetic)]) {
    let bound = if graph.regions().len() == 1 {
        rows.iter().map(|row| row.lower_bound).max().unwrap_or(0)
    } else {
        proved.last().map_or(0, |proof| proof.0)
    };
    let arithmetic = Arithmetic::of_best(proved.iter().copied());
    for row in rows {
        row.gap_percent = gap_percent(row.peak, bound);
        if graph.regions().len() > 1 {
            (row.lower_bound, row.arithmetic) = (bound, arithmetic);
            row.claim = if row.peak == bound { Claim::Optimal } else { Claim::Feasible }.as_str();
        }
    }
}

fn row(args: &OrderArgs, graph: &Graph, order: &'static str, kind: String, body: &OrderedRegion) -> Row {
    let bound = body.outcome.lower_bound.value;
    Row {
        graph: graph.name().to_owned(),
        operators: body.storages.problem.len(),
        order,
        kind,
        claim: body.outcome.claim.as_str(),
        stop: body.outcome.stop.as_str(),
        peak: body.peak.get(),
        lower_bound: bound.get(),
        gap_percent: gap_percent(body.peak.get(), bound.get()),
        seconds: body.seconds,
        nodes: body.outcome.stats.nodes,
        seed: args.effort.seed,
        arithmetic: Arithmetic::of(&body.outcome.lower_bound.witness),
    }
}

fn text(graph: &Graph, rows: &[Row]) -> String {
    let mut table = Table::new([
        ("order", Align::Left),
        ("kind", Align::Left),
        ("peak", Align::Right),
        ("over best bound", Align::Right),
        ("own bound", Align::Right),
        ("claim", Align::Left),
        ("seconds", Align::Right),
    ]);
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by_key(|row| row.peak);
    for row in sorted {
        let gap = row.gap_percent.map_or_else(|| "-".to_owned(), |gap| format!("{} %", percent(gap)));
        let (peak, bound) = (row.peak.to_string(), row.lower_bound.to_string());
        let seconds = format!("{:.3}", row.seconds);
        let claim = row.arithmetic.mark(row.claim);
        table.row([row.order.to_owned(), row.kind.clone(), peak, gap, bound, claim, seconds]);
    }
    let mut text = String::new();
    let operators = rows.first().map_or(0, |row| row.operators);
    let _ = writeln!(text, "{}: {operators} operators in the body; bytes alive\n", graph.name());
    text.push_str(&table.text());
    text
}
