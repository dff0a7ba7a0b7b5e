//! `plimsoll tiers --compare`: every placement of one graph.

use super::args::TiersArgs;
use super::report::{About, finite};
use crate::failure::{Failure, NOTHING_FOUND, code};
use crate::report::Report;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::interrupt;
use plimsoll::model::overlap::Time;
use plimsoll::model::tiers::Tiers;
use plimsoll::model::{Claim, Entry, Outcome, Silent, SolveError};
use plimsoll::run::{Attempt, RunError, contradiction, run};
use plimsoll_lab::report::gap_percent;
use serde_json::{Value, json};

/// Columns of --output.
const COLUMNS: &str = "graph, machine, fusion, groups, coverage, operators, tensors, bytes, addresses, \
    weight_traffic, compute_ps, overhead_ps, weights_ps, best_bound_ps, placement, claim, stop, transfer_ps, \
    lower_bound_ps, gap_percent, on_chip_percent, off_chip_traffic, inference_ps, nodes, seconds, reason, arithmetic";

/// What became of one placement: its outcome and seconds, or why it has none.
type Run = (&'static str, Result<(Outcome<Tiers>, f64), SolveError>);

pub(super) fn compare(
    args: &TiersArgs,
    entries: &[&'static Entry<Tiers>],
    about: &About<'_>,
) -> Result<u8, Failure> {
    let mut rows: Vec<Run> = Vec::new();
    for entry in interrupt::until_requested(entries) {
        let limits = args.effort.limits_each().from_now();
        let Attempt { result, seconds, .. } =
            run(entry, &about.case.problem, args.effort.setup(), limits, &mut Silent);
        match result {
            Ok(outcome) => rows.push((entry.name, Ok((outcome, seconds)))),
            // An entry that declines the problem by its size gets no line.
            Err(RunError::Solve(SolveError::Unsupported { .. })) => {}
            Err(RunError::Solve(error)) => rows.push((entry.name, Err(error))),
            Err(error) => return Err(Failure::internal(format!("{}: {error}", entry.name))),
        }
    }
    let outcomes = rows.iter().filter_map(|(name, row)| Some((*name, &row.as_ref().ok()?.0)));
    let answers = outcomes.map(|(name, outcome)| (name, outcome.value, outcome.lower_bound.value));
    if let Some(reason) = contradiction(answers) {
        return Err(Failure::internal(reason));
    }
    let (report, placements) = report(about, &rows);
    if let Some(path) = &args.output {
        report.write_rows(path, &placements, COLUMNS)?;
    }
    report.print(args.json)?;
    let claims = rows.iter().filter_map(|(_, row)| row.as_ref().ok()).map(|(outcome, _)| code(outcome.claim));
    Ok(claims.min().unwrap_or(NOTHING_FOUND))
}

/// All placements of one graph beside the best bound, and their rows.
fn report(about: &About<'_>, rows: &[Run]) -> (Report, Vec<Value>) {
    let outcomes = rows.iter().filter_map(|(_, row)| row.as_ref().ok());
    let bounds = outcomes.map(|(outcome, _)| finite(&about.case.problem, outcome));
    let bound = bounds.clone().map(|bound| bound.value).max().unwrap_or(Time::ZERO);
    let arithmetic = Arithmetic::of_best(bounds.map(|bound| (bound.value, Arithmetic::of(&bound.witness))));
    let placements: Vec<Value> = rows.iter().map(|one| row(about, one, (bound, arithmetic))).collect();
    let found = rows.iter().filter_map(|(name, row)| Some((row.as_ref().ok()?.0.value?, name)));
    let mut report = about.head();
    report.extend(json!({
        "best_bound_ps": bound,
        "arithmetic": arithmetic,
        "best": found.min_by_key(|(time, _)| *time).map(|(_, name)| name),
        "placements": placements,
    }));
    report.line("lower bound", format_args!("{bound}{}", arithmetic.remark()));
    let columns = "placement, transfers = transfer_ps, gap % = gap_percent, on chip % = on_chip_percent, \
                   off-chip bytes = off_chip_traffic, inference = inference_ps, claim";
    report.table(&placements, columns);
    for row in placements.iter().filter(|row| row["reason"].is_string()) {
        let [name, reason] = ["placement", "reason"].map(|key| row[key].as_str().unwrap_or_default());
        report.push(&format!("\n{name}: {reason}\n"));
    }
    (report, placements)
}

/// A placement measured against the best bound of all.
fn row(about: &About<'_>, (name, row): &Run, (bound, arithmetic): (Time, Arithmetic)) -> Value {
    let (outcome, seconds) = match row {
        Ok((outcome, seconds)) => (outcome, *seconds),
        Err(error) => {
            return json!({
                "placement": name, "claim": "unknown", "stop": "", "transfer_ps": null, "transfer_seconds": null,
                "lower_bound_ps": 0, "bound_reason": "", "arithmetic": Arithmetic::Exact, "gap_percent": null,
                "on_chip_percent": null, "tensors_on_chip": null, "off_chip_traffic": null, "inference_ps": null,
                "inference_seconds": null, "nodes": 0, "seconds": 0.0, "reason": error.to_string(),
            });
        }
    };
    let mut row = about.placement(name, outcome, seconds);
    let gap = |time: Time| gap_percent(time.get().into(), bound.get().into());
    row["gap_percent"] = json!(outcome.value.and_then(gap));
    if outcome.value == Some(bound) {
        (row["claim"], row["arithmetic"]) = (json!(Claim::Optimal), json!(arithmetic));
    }
    row
}
