//! `--compare`: runs every algorithm of a problem on one question and compares the results with the best
//! proven bound.

use crate::args::EffortArgs;
use crate::failure::{Failure, NOTHING_FOUND, code};
use crate::output;
use crate::report::Report;
use plimsoll::Registry;
use plimsoll::model::Value as _;
use plimsoll::model::graph::Graph;
use plimsoll::posed::Posed;
use plimsoll::run::Limits;
pub use plimsoll_lab::executor::Stops;
use plimsoll_lab::executor::compare_on;
use plimsoll_lab::machine::Machine;
use plimsoll_lab::row::{Columns, Row, Status, Unit};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Returns a record with the columns that all runs on a graph share: those that describe the graph, this
/// build and this machine.
pub fn about(graph: &Graph) -> Row {
    Row {
        instance: graph.name().to_owned(),
        operators: Some(graph.operators().len()),
        ..Row::on(&Machine::here())
    }
}

/// Runs every algorithm on a question, each with fresh limits from `limits`, and returns their cross-checked
/// records. Algorithms that do not support the question have no record. `about` contains the columns that all
/// records share.
pub fn compare<P: Posed>(
    registry: &Registry,
    question: &P::Question<'_>,
    about: &Row,
    (effort, stops): (EffortArgs, Stops),
    limits: impl Fn() -> Limits,
) -> Result<Vec<Row>, Failure> {
    let asked = Row {
        threads: effort.threads,
        seed: effort.seed,
        repetition: 1,
        time_limit: effort.limits_each().time.map(|time| time.as_secs_f64()),
        node_limit: effort.node_limit,
        ..about.clone()
    };
    let mut records = compare_on::<P>(P::entries(registry), question, &asked, limits, stops);
    records.retain(|record| record.status != Status::Skipped);
    match records.iter().find(|record| !record.is_done()) {
        Some(wrong) => Err(Failure::internal(format!("{}: {}", wrong.algorithm, wrong.error))),
        None => Ok(records),
    }
}

/// Writes the records to `output`, if given, and prints them, best first for each set of terms. Returns the
/// exit code of the best claim.
pub fn print<P: Posed>(
    mut report: Report,
    records: &[Row],
    output: Option<&PathBuf>,
    is_json: bool,
) -> Result<u8, Failure> {
    if let Some(path) = output {
        output::late(output::write_file(path, |file| {
            file.write_all(Columns::all().file(records).as_bytes())
        }));
    }
    let (value, bound) = if Unit::of::<P::Value>() == Unit::Picoseconds {
        ("value_ps", "bound_ps")
    } else {
        ("value", "bound")
    };
    let mut sorted: Vec<&Row> = records.iter().collect();
    sorted
        .sort_by_key(|record| (&record.terms, record.value.is_none(), record.value.map(P::Value::of_number)));
    let row = |record: &&Row| {
        let mut row = json!({
            "terms": record.terms,
            "algorithm": record.algorithm,
            "kind": record.kind,
            value: record.value,
            "gap_percent": record.gap_percent,
            bound: record.lower_bound,
            "claim": record.claim,
            "arithmetic": record.arithmetic(),
            "seconds": record.seconds,
        });
        for (_, figure) in P::FIGURES {
            row[*figure] = json!(record.counter(figure));
        }
        row
    };
    let rows: Vec<Value> = sorted.iter().map(row).collect();
    let terms = if records.iter().any(|record| record.terms != records[0].terms) { "terms, " } else { "" };
    let figures: String =
        P::FIGURES.iter().flat_map(|(heading, figure)| [*heading, " = ", *figure, ", "]).collect();
    report.table(
        &rows,
        &format!(
            "{terms}algorithm, kind, {} = {value}, gap % = gap_percent, own bound = {bound}, {figures}claim, time = seconds",
            P::VALUE
        ),
    );
    for record in sorted.iter().filter(|record| !record.error.is_empty()) {
        report.push(&format!("\n{}: {}\n", record.algorithm, record.error));
    }
    report.extend(json!({ "problem": P::NAME, "unit": P::Value::UNIT, "rows": records }));
    report.print(is_json)?;
    Ok(records.iter().filter_map(|row| row.claim).map(code).min().unwrap_or(NOTHING_FOUND))
}
