//! Reruns recorded runs and compares the results. The compared columns do not depend on time, so they must
//! be equal.
//!
//! Runs that stopped at their time limit and runs of external programs are not repeatable, so only their
//! instances are compared. All other runs are rerun and compared column by column. An instance that was
//! derived from a model is derived again under the terms in the row.

use crate::executor::Named;
use crate::experiment::{InputRecord, ModelRecord};
use crate::row::{CsvFile, Extras, Row, RowError, Status, difference};
use crate::suite::{Case, Reading, SuiteError, cases, sha256};
use plimsoll::posed::{PROBLEMS, Subject, algorithm, instance, is_on_instances};
use plimsoll::{NameError, Registry};
use plimsoll_datasets::ImportOptions;
use plimsoll_model::graph::Graph;
use plimsoll_model::{Bytes, Stop};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

/// Factor by which the time limit of a rerun is multiplied, so that a slower machine can reproduce the
/// results.
const PATIENCE: f64 = 10.0;

/// The columns that a comparison needs.
const NEEDED: [&str; 7] = ["suite", "instance", "sha256", "problem", "algorithm", "seed", "status"];

/// The compared columns that a sweep can omit.
const COMPARED: [&str; 6] = ["stop", "witness", "buffers", "load", "counters", "nodes"];

/// The compared columns of a repeated run.
const RESULTS: [&str; 11] = [
    "status",
    "claim",
    "stop",
    "witness",
    "counters",
    "certified",
    "certified_by",
    "value",
    "lower_bound",
    "nodes",
    "proof_bytes",
];

/// Reads a record. Missing columns are empty.
///
/// # Errors
/// [`RowError`] with the line number, also for a truncated last line. If `metrics` of a sweep omits a
/// compared column, the error names the column and the key.
pub fn read_rows(path: &Path) -> Result<Vec<Row>, RowError> {
    let file = CsvFile::read(path)?;
    file.require(&NEEDED)?;
    if let Some(column) = COMPARED.into_iter().find(|column| !file.has(column)) {
        let reason = format!(
            "missing column '{column}', which is compared; record it with the key `metrics` of the sweep"
        );
        return Err(file.wrong(1, reason));
    }
    let rows = file.rows()?;
    if file.torn > 0 {
        let line = rows.last().map_or(1, |row| row.line) + 1;
        return Err(file.wrong(line, format!("the line is truncated after {} bytes", file.torn)));
    }
    Ok(rows)
}

/// The selection of the rows that are rerun.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Maximum recorded time of a row that is rerun, in seconds: the time of the run plus the times to derive
    /// and to check its proof.
    pub slowest: f64,
    /// Of the rows within the maximum time, only every `every`-th is rerun.
    pub every: usize,
}

/// The result of comparing a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The run was repeated, and all compared columns are equal.
    Same,
    /// The run was not repeated. The text states the reason.
    Left(&'static str),
    /// A column differs.
    Differs {
        /// The name of the column.
        column: &'static str,
        /// The recorded value.
        recorded: String,
        /// The value that the current code produces.
        today: String,
    },
}

/// A row and the result of its comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Line of the file in which the row begins, counted from 1.
    pub line: u64,
    /// The name of the instance.
    pub instance: String,
    /// The name of the algorithm.
    pub algorithm: String,
    /// The result of the comparison.
    pub verdict: Verdict,
}

/// Reruns rows with the current code and compares the results. Rows are not rerun if they belong to corpora
/// that are not available, or to files that do not exist. If a sweep wrote the rows, `inputs` are the inputs
/// in its manifest. Their import options override those of `reading`.
///
/// # Errors
/// [`SuiteError`] if a suite of the rows is unknown or cannot be read.
pub fn recheck(
    rows: &[Row],
    inputs: &[InputRecord],
    registry: &Registry,
    effort: Effort,
    reading: &Reading,
) -> Result<Vec<Finding>, SuiteError> {
    let models: BTreeMap<[&str; 3], &ModelRecord> = inputs
        .iter()
        .filter_map(|input| Some(([&*input.suite, &*input.name, &*input.sha256], input.model.as_ref()?)))
        .collect();
    let mut suites: BTreeMap<(&str, &ImportOptions), Cases> = BTreeMap::new();
    let mut findings = Vec::new();
    let mut chosen = 0;
    for row in rows {
        let times = [row.seconds, row.proof_seconds, row.check_seconds];
        let quick = times.into_iter().flatten().sum::<f64>() <= effort.slowest;
        chosen += usize::from(quick);
        let verdict = if !quick {
            Verdict::Left("slow")
        } else if !chosen.is_multiple_of(effort.every.max(1)) {
            Verdict::Left("not chosen")
        } else {
            let model = models.get(&[row.suite.as_str(), &row.instance, &row.sha256]);
            let name = model.map_or(&row.instance, |model| &model.name);
            let key = (row.suite.as_str(), model.map_or(&reading.import, |model| &model.import));
            let cases = match suites.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(suite(key, reading)?),
            };
            match cases {
                Err(reason) => Verdict::Left(reason),
                Ok(cases) => check_row(row, cases.get(name), registry),
            }
        };
        let (instance, algorithm) = (row.instance.clone(), row.algorithm.clone());
        findings.push(Finding { line: row.line, instance, algorithm, verdict });
    }
    Ok(findings)
}

/// The cases of a suite by name, or the reason why its rows cannot be rerun.
type Cases = Result<BTreeMap<String, Case>, &'static str>;

fn suite((name, import): (&str, &ImportOptions), reading: &Reading) -> Result<Cases, SuiteError> {
    match cases(name, &Reading { import: import.clone(), ..reading.clone() }) {
        Ok(cases) => Ok(Ok(cases.into_iter().map(|case| (case.name.clone(), case)).collect())),
        Err(SuiteError::NoCorpora(_)) => Ok(Err("no corpora")),
        Err(SuiteError::Unknown(path)) if path.contains('/') => Ok(Err("no such file or folder")),
        Err(error) => Err(error),
    }
}

fn check_row(row: &Row, case: Option<&Case>, registry: &Registry) -> Verdict {
    let made = match case.map(|case| &case.subject) {
        Some(Ok(Subject::Graph(graph))) if is_on_instances(&row.problem) => Some(made(row, graph)),
        _ => None,
    };
    let subject = match made.as_ref().map(Result::as_ref) {
        Some(Err(_)) if [Status::Unreadable, Status::Skipped].contains(&row.status) => {
            return Verdict::Left("no instance, as recorded");
        }
        Some(Err(why)) => return differs("instance", &row.instance, why),
        Some(Ok(subject)) => Some(Ok(subject)),
        None => case.map(|case| case.subject.as_ref()),
    };
    let subject = match subject {
        Some(Ok(_)) if row.status == Status::Unreadable => {
            return differs("status", row.status.as_str(), "readable");
        }
        Some(Err(_)) if row.status == Status::Unreadable => return Verdict::Left("unreadable, as recorded"),
        Some(Ok(subject)) => subject,
        Some(Err(error)) => return differs("instance", &row.instance, &error.to_string()),
        None => return differs("instance", &row.instance, "no instance of that name"),
    };
    if let Some(differing) = subject_differs(row, subject) {
        return differing;
    }
    if row.is_external() {
        return Verdict::Left("external program");
    }
    let capacity = row.capacity.map(Bytes::new);
    match subject {
        Subject::Instance(instance) if instance.capacity() != capacity => {
            rerun(row, &Subject::Instance(instance.clone().with_capacity(capacity)), registry)
        }
        _ => rerun(row, subject, registry),
    }
}

/// Derives the instance from a model under the terms of a row.
fn made(row: &Row, graph: &Graph) -> Result<Subject, String> {
    instance(graph, &row.terms).map(Subject::Instance).map_err(|error| error.to_string())
}

fn subject_differs(row: &Row, subject: &Subject) -> Option<Verdict> {
    let hash = sha256(subject);
    let today = Row::default().about(&row.suite, subject, &hash);
    let columns = match subject {
        Subject::Instance(_) => &["sha256", "buffers", "load"][..],
        Subject::Graph(_) => &["sha256"],
    };
    first_difference(columns, row, &today)
}

/// Repeats a run if that is possible, and compares the results.
fn rerun(row: &Row, subject: &Subject, registry: &Registry) -> Verdict {
    if !PROBLEMS.contains(&row.problem.as_str()) {
        return differs("problem", &row.problem, "no problem of that name");
    }
    match algorithm(registry, &[&row.problem], &row.algorithm) {
        Some(Ok(_)) => {}
        Some(Err(NameError::Excluded(_))) => return Verdict::Left("not in this build"),
        _ => return differs("algorithm", &row.algorithm, "no algorithm of that name"),
    }
    if row.stop == Some(Stop::TimeLimit) {
        return Verdict::Left("ended by its time limit");
    }
    if row.decides() && row.capacity.is_none() {
        return Verdict::Left("nothing to decide");
    }
    let asked = Row {
        problem: row.problem.clone(),
        algorithm: row.algorithm.clone(),
        terms: row.terms.clone(),
        threads: row.threads,
        seed: row.seed,
        decide: row.decide,
        capacity: row.capacity,
        time_limit: row.time_limit.map(|limit| limit * PATIENCE),
        node_limit: row.node_limit,
        ..Row::default()
    };
    let extras = Extras { proofs: row.certified.is_some(), ..Extras::default() };
    let today = Named { registry, subject, asked, extras, keep: None }.attempt();
    first_difference(&RESULTS, row, &today).unwrap_or(Verdict::Same)
}

/// Returns the first of the given columns in which two rows differ.
fn first_difference(columns: &[&'static str], row: &Row, today: &Row) -> Option<Verdict> {
    let or_nothing = |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
    columns.iter().find_map(|&column| {
        let [recorded, today] = difference(column, row, today)?;
        Some(differs(column, &or_nothing(&recorded), &or_nothing(&today)))
    })
}

fn differs(column: &'static str, recorded: &str, today: &str) -> Verdict {
    Verdict::Differs { column, recorded: recorded.to_owned(), today: today.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::AlgorithmKind;
    use plimsoll::registry;
    use plimsoll_model::{Claim, WitnessSummary};

    const ALL: Effort = Effort { slowest: 1.0, every: 1 };

    fn rows(text: &str) -> Vec<Row> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, text).unwrap();
        read_rows(&path).unwrap()
    }

    /// Returns a row as `bench embedded` stores it.
    fn fresh(algorithm: &str) -> Row {
        let case = cases("embedded", &Reading::default()).unwrap().remove(0);
        let Ok(Subject::Instance(instance)) = case.subject else { panic!("no instance") };
        let subject = Subject::Instance(instance.with_capacity(None));
        let [problem, algorithm] = ["offsets", algorithm].map(str::to_owned);
        let blank = Row { problem, algorithm, threads: 1, ..Row::default() };
        let asked = blank.about("embedded", &subject, &sha256(&subject));
        Named { registry: &registry(), subject: &subject, asked, extras: Extras::default(), keep: None }
            .attempt()
    }

    fn verdict(row: Row) -> Verdict {
        recheck(&[row], &[], &registry(), ALL, &Reading::default()).unwrap().remove(0).verdict
    }

    fn column(row: Row) -> &'static str {
        match verdict(row) {
            Verdict::Differs { column, .. } => column,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_differing_column_is_named() {
        let row = fresh("exact");
        assert_eq!(verdict(row.clone()), Verdict::Same);
        assert_eq!(column(Row { value: row.value.map(|value| value + 1), ..row.clone() }), "value");
        assert_eq!(column(Row { lower_bound: Some(1), ..row.clone() }), "lower_bound");
        assert_eq!(column(Row { nodes: None, ..row.clone() }), "nodes");
        assert_eq!(column(Row { claim: Some(Claim::Feasible), ..row.clone() }), "claim");
        let witness = Some(WitnessSummary::combined("hope", "wishes", 3));
        assert_eq!(column(Row { witness, ..row.clone() }), "witness");
        assert_eq!(column(Row { witness: None, ..row.clone() }), "witness");
        assert_eq!(column(Row { sha256: "0".repeat(64), ..row.clone() }), "sha256");
        assert_eq!(column(Row { load: Some(1), ..row.clone() }), "load");
        assert_eq!(column(Row { instance: "absent".to_owned(), ..row.clone() }), "instance");
        assert_eq!(column(Row { algorithm: "magic".to_owned(), ..row.clone() }), "algorithm");
        assert_eq!(column(Row { problem: "knots".to_owned(), ..row }), "problem");
    }

    #[test]
    fn runs_that_depend_on_time_are_not_repeated() {
        let row = fresh("exact");
        let skipped = |row| matches!(verdict(row), Verdict::Left(_));
        assert!(skipped(Row { stop: Some(Stop::TimeLimit), value: Some(0), ..row.clone() }));
        assert!(skipped(Row { seconds: Some(2.0), value: Some(0), ..row.clone() }));
        assert!(skipped(Row {
            kind: Some(AlgorithmKind::External),
            algorithm: "external".to_owned(),
            ..row.clone()
        }));
        let two = [row.clone(), Row { line: 5, value: Some(0), ..row }];
        let findings =
            recheck(&two, &[], &registry(), Effort { every: 2, ..ALL }, &Reading::default()).unwrap();
        assert_eq!(findings[0].verdict, Verdict::Left("not chosen"));
        assert!(matches!(findings[1].verdict, Verdict::Differs { .. }) && findings[1].line == 5);
    }

    #[test]
    fn rows_with_the_compared_columns_are_read_and_others_refused() {
        let header = "stop,witness,buffers,load,counters,nodes,suite,instance,sha256,problem,algorithm,seed,schema_version,kind";
        let row = &rows(&format!("{header},status,decide\n,,,,,,a,b,c,d,e,7,6,exact,done,load\n"))[0];
        assert!(row.line == 2 && row.seed == 7 && row.decides() && row.value.is_none());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let fails = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_rows(&path).unwrap_err().to_string()
        };
        assert!(fails("graph,peak\na,1\n").contains("missing column 'suite'"));
        assert!(fails(&format!("{header},status\n,,,,,,a,b,c,d,e,x,6,exact,done\n")).contains("line 2"));
        let omitted = format!("{},status\n", header.replace("load,", ""));
        assert!(fails(&omitted).contains("missing column 'load', which is compared"));
        assert!(
            recheck(
                &[Row { suite: "none".to_owned(), ..Row::default() }],
                &[],
                &registry(),
                ALL,
                &Reading::default()
            )
            .is_err()
        );
        let gone = Row { suite: "gone/files".to_owned(), ..Row::default() };
        let findings = recheck(&[gone], &[], &registry(), ALL, &Reading::default()).unwrap();
        assert_eq!(findings[0].verdict, Verdict::Left("no such file or folder"));
    }
}
