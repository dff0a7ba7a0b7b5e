//! Every algorithm for spilling on one problem, beside the best bound that any of them proved.

use super::args::SpillArgs;
use super::input::{Input, failed, need};
use super::report;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::output;
use plimsoll::Registry;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::interrupt;
use plimsoll::model::{Bytes, Claim, Silent};
use plimsoll::run::{RunError, contradiction, run};
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::{gap_percent, percent};
use serde::Serialize;
use std::fmt::Write as _;

/// One algorithm.
#[derive(Debug, Serialize)]
struct Row {
    instance: String,
    buffers: usize,
    capacity: u64,
    load: u64,
    solver: &'static str,
    kind: String,
    claim: &'static str,
    stop: &'static str,
    traffic: Option<u64>,
    lower_bound: u64,
    /// Of the traffic over the best bound that any algorithm proved.
    gap_percent: Option<f64>,
    spilled: Option<usize>,
    seconds: f64,
    nodes: u64,
    seed: u64,
    /// Of the bound.
    arithmetic: Arithmetic,
}

/// Runs every algorithm; those that decline the problem are left out.
pub(super) fn compare(args: &SpillArgs, registry: &Registry, input: &Input) -> Result<u8, Failure> {
    let problem = &input.problem;
    let need = need(args, registry, problem.instance(), args.effort.limits_each().from_now())?;
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for entry in interrupt::until_requested(&registry.spilling) {
        let limits = args.effort.limits_each().from_now();
        let attempt = run(entry, problem, args.effort.setup(), limits, &mut Silent);
        let outcome = match attempt.result {
            Ok(outcome) => outcome,
            Err(RunError::Solve(plimsoll::model::SolveError::Unsupported { .. })) => continue,
            Err(error) => return Err(failed(error)),
        };
        claims.push(outcome.claim);
        rows.push(Row {
            instance: problem.instance().name().to_owned(),
            buffers: problem.instance().len(),
            capacity: problem.capacity().get(),
            load: plimsoll::model::load(problem.instance()).0.get(),
            solver: entry.name,
            kind: entry.kind.to_string(),
            claim: outcome.claim.as_str(),
            stop: outcome.stop.as_str(),
            traffic: outcome.value.map(Bytes::get),
            lower_bound: outcome.lower_bound.value.get(),
            gap_percent: None,
            spilled: outcome.solution.as_ref().map(|spill| spill.spilled().count()),
            seconds: attempt.seconds,
            nodes: outcome.stats.nodes,
            seed: args.effort.seed,
            arithmetic: Arithmetic::of(&outcome.lower_bound.witness),
        });
    }
    let answers =
        rows.iter().map(|row| (row.solver, row.traffic.map(Bytes::new), Bytes::new(row.lower_bound)));
    contradiction(answers).map_or(Ok(()), |reason| Err(Failure::internal(reason)))?;
    let bound = rows.iter().map(|row| row.lower_bound).max().unwrap_or(0);
    for row in &mut rows {
        row.gap_percent = row.traffic.and_then(|traffic| gap_percent(traffic, bound));
    }
    if let Some(path) = &args.output {
        output::write_file(path, |file| output::csv(file, &rows))?;
    }
    if args.json {
        output::print_json(&rows)?;
    } else {
        let mut text = input.basis.text();
        text.push_str(&report::need_text(problem, &need));
        text.push_str(&table(&rows));
        output::print(&text)?;
    }
    Ok(match claims.as_slice() {
        all if all.contains(&Claim::Infeasible) => REFUTED,
        all if all.iter().any(|claim| matches!(claim, Claim::Optimal | Claim::Feasible)) => ANSWERED,
        _ => NOTHING_FOUND,
    })
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new([
        ("solver", Align::Left),
        ("kind", Align::Left),
        ("traffic", Align::Right),
        ("over best bound", Align::Right),
        ("own bound", Align::Right),
        ("spilled", Align::Right),
        ("claim", Align::Left),
        ("seconds", Align::Right),
    ]);
    let word = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    for row in rows {
        let gap = row.gap_percent.map_or_else(|| "-".to_owned(), |gap| format!("{} %", percent(gap)));
        table.row([
            row.solver.to_owned(),
            row.kind.clone(),
            word(row.traffic),
            gap,
            row.lower_bound.to_string(),
            word(row.spilled.map(|count| count as u64)),
            row.arithmetic.mark(row.claim),
            format!("{:.3}", row.seconds),
        ]);
    }
    let mut text = String::new();
    let _ = write!(text, "\n{}", table.text());
    text
}
