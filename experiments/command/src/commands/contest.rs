//! `--compare`: runs every algorithm of a problem on one question and compares the results with the best
//! proven bound.

use crate::args::EffortArgs;
use crate::failure::{Failure, NOTHING_FOUND, code};
use crate::output;
use crate::report::{self, Cell, Printed, Text, cells};
use plimsoll::Registry;
use plimsoll::datasets::Import;
use plimsoll::model::Value as _;
use plimsoll::model::graph::Graph;
use plimsoll::model::timelines::Time;
use plimsoll::posed::Posed;
use plimsoll::run::Limits;
pub use plimsoll_lab::executor::Stops;
use plimsoll_lab::executor::compare_on;
use plimsoll_lab::machine::Machine;
use plimsoll_lab::report::{Basis, human};
use plimsoll_lab::row::{AlgorithmKind, Columns, Row, Status, Unit};
use serde::Serialize;
use std::marker::PhantomData;
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

/// The head of a report on a graph.
#[derive(Serialize)]
pub struct Head<'a> {
    pub graph: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<&'a str>,
    #[serde(flatten)]
    pub basis: Basis,
    #[serde(skip)]
    pub operators: usize,
}

impl<'a> Head<'a> {
    /// Returns the head of a report on the graph of an import.
    pub fn of(import: &'a Import) -> Self {
        let (graph, basis) = (&import.graph, Basis::of(import));
        Self { graph: graph.name(), patterns: None, units: None, basis, operators: graph.operators().len() }
    }
}

impl Printed for Head<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        text.line("graph", format_args!("{}: {}", self.graph, human::count(self.operators, "operator")));
    }
}

/// The report on a comparison: what `head` describes, and one record per run.
#[derive(Serialize)]
struct Contest<'a, H, P> {
    #[serde(flatten)]
    head: H,
    problem: &'static str,
    unit: &'static str,
    rows: &'a [Row],
    #[serde(skip)]
    of: PhantomData<P>,
}

impl<H: Printed, P: Posed> Printed for Contest<'_, H, P> {
    /// Lists the records, best first for each set of terms.
    fn print(&self, text: &mut Text) {
        self.head.print(text);
        let mut sorted: Vec<&Row> = self.rows.iter().collect();
        sorted.sort_by_key(|row| (&row.terms, row.value.is_none(), row.value.map(P::Value::of_number)));
        let has_terms = sorted.iter().any(|row| row.terms != sorted[0].terms);
        let terms = has_terms.then_some("terms").into_iter();
        let columns = terms.chain(["algorithm", "kind", P::VALUE, "gap %", "own bound"]);
        let columns = columns.chain(P::FIGURES.iter().map(|(heading, _)| *heading)).chain(["claim", "time"]);
        let is_time = Unit::of::<P::Value>() == Unit::Picoseconds;
        let value =
            |value: Option<u64>| if is_time { value.map(Time::new).into() } else { Cell::from(value) };
        let cells = |row: &&Row| {
            let (kind, gap) = (row.kind.map(AlgorithmKind::as_str), Cell::percent(row.gap_percent));
            let claim = row.claim.map(|claim| row.arithmetic().mark(claim));
            let terms = has_terms.then(|| row.terms.to_string().into()).into_iter();
            let own = cells![&row.algorithm, kind, value(row.value), gap, value(row.lower_bound)];
            let figures = P::FIGURES.iter().map(|(_, figure)| row.counter(figure).into());
            let end = cells![claim, row.seconds.map(Cell::seconds)];
            terms.chain(own).chain(figures).chain(end).collect::<Vec<Cell>>()
        };
        text.table(&columns.collect::<Vec<_>>(), sorted.iter().map(cells));
        for row in sorted.iter().filter(|row| !row.error.is_empty()) {
            text.push(&format!("\n{}: {}\n", row.algorithm, row.error));
        }
    }
}

/// Writes the records to `output`, if given, and prints them after `head`. Returns the exit code of the best
/// claim.
pub fn print<P: Posed>(
    head: impl Printed,
    records: &[Row],
    output: Option<&PathBuf>,
    is_json: bool,
) -> Result<u8, Failure> {
    if let Some(path) = output {
        output::late(output::write_file(path, |file| {
            file.write_all(Columns::all().file(records).as_bytes())
        }));
    }
    let of = PhantomData::<P>;
    report::print(&Contest { head, problem: P::NAME, unit: P::Value::UNIT, rows: records, of }, is_json)?;
    Ok(records.iter().filter_map(|row| row.claim).map(code).min().unwrap_or(NOTHING_FOUND))
}
