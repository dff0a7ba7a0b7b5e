//! Reruns recorded runs and compares the results. The compared columns do not depend on time, so they must
//! be equal.
//!
//! Runs that stopped at their time limit and runs of external programs are not repeatable, so only their
//! instances are compared. All other runs are rerun and compared column by column. An instance that was
//! derived from a model is derived again under the terms in the row. The reruns are an
//! [`Experiment`].

use crate::executor::run_here;
use crate::experiment::{Experiment, Input, InputRecord, ModelRecord, Run, Task, Unready};
use crate::row::{CsvFile, Decide, Extras, Row, RowError, Status, difference};
use crate::suite::{Reading, SuiteError, cases};
use plimsoll::posed::{PROBLEMS, Subject, SubjectKind, Terms, algorithm, is_on_instances};
use plimsoll::{NameError, Registry};
use plimsoll_datasets::ImportOptions;
use plimsoll_model::{Bytes, Instance, Stop};
use std::collections::BTreeMap;
use std::path::Path;

/// Factor by which the time limit of a rerun is multiplied, so that a slower machine can reproduce the
/// results.
const PATIENCE: u32 = 10;

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
/// in its manifest. Their import options override those of `reading`. A [request to stop](plimsoll::interrupt)
/// ends the reruns.
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
    let models = inputs
        .iter()
        .filter_map(|input| Some(([&*input.suite, &*input.name, &*input.sha256], input.model.as_ref()?)));
    let mut again = Again {
        reading,
        models: models.collect(),
        suites: BTreeMap::new(),
        derived: BTreeMap::new(),
        experiment: Experiment { name: "recheck".to_owned(), ..Experiment::default() },
    };
    let mut verdicts = Vec::with_capacity(rows.len());
    let mut chosen = 0;
    for (at, row) in rows.iter().enumerate() {
        let times = [row.seconds, row.proof_seconds, row.check_seconds];
        let quick = times.into_iter().flatten().sum::<f64>() <= effort.slowest;
        chosen += usize::from(quick);
        verdicts.push(if !quick {
            Verdict::Left("slow")
        } else if !chosen.is_multiple_of(effort.every.max(1)) {
            Verdict::Left("not chosen")
        } else {
            let input = again.input(row)?;
            let planned = input.and_then(|input| again.plan(at, row, input, registry));
            planned.err().unwrap_or(Verdict::Left("interrupted"))
        });
    }
    for today in again.rows(rows, registry) {
        let at = today.run as usize;
        verdicts[at] = first_difference(&RESULTS, &rows[at], &today).unwrap_or(Verdict::Same);
    }
    let finding = |(row, verdict): (&Row, Verdict)| {
        let (instance, algorithm) = (row.instance.clone(), row.algorithm.clone());
        Finding { line: row.line, instance, algorithm, verdict }
    };
    Ok(rows.iter().zip(verdicts).map(finding).collect())
}

/// The inputs of a suite by name, as indices into the experiment, or the reason why its rows cannot be rerun.
type Suite = Result<BTreeMap<String, usize>, &'static str>;

/// The reruns of rows as an experiment, with one task and one run per row.
struct Again<'a> {
    reading: &'a Reading,
    /// How the models of a sweep were read: by suite, name and hash.
    models: BTreeMap<[&'a str; 3], &'a ModelRecord>,
    suites: BTreeMap<(&'a str, &'a ImportOptions), Suite>,
    /// The instances that were derived from a graph under terms.
    derived: BTreeMap<(usize, &'a Terms), usize>,
    experiment: Experiment,
}

impl<'a> Again<'a> {
    /// Returns the index of the input of a row, or the verdict if there is none.
    fn input(&mut self, row: &'a Row) -> Result<Result<usize, Verdict>, SuiteError> {
        let model = self.models.get(&[row.suite.as_str(), &row.instance, &row.sha256]).copied();
        let name = model.map_or(&row.instance, |model| &model.name);
        let key = (row.suite.as_str(), model.map_or(&self.reading.import, |model| &model.import));
        if !self.suites.contains_key(&key) {
            let suite = self.suite(key)?;
            self.suites.insert(key, suite);
        }
        let found = match &self.suites[&key] {
            Err(reason) => return Ok(Err(Verdict::Left(reason))),
            Ok(names) => names.get(name).copied(),
        };
        let Some(at) = found else {
            return Ok(Err(differs("instance", &row.instance, "no instance of that name")));
        };
        let all = &mut self.experiment.inputs;
        if all[at].kind == SubjectKind::Instance || !is_on_instances(&row.problem) {
            return Ok(Ok(at));
        }
        Ok(Ok(*self.derived.entry((at, &row.terms)).or_insert_with(|| {
            all.push(all[at].derived(&row.terms));
            all.len() - 1
        })))
    }

    fn suite(&mut self, (name, import): (&str, &ImportOptions)) -> Result<Suite, SuiteError> {
        let found = match cases(name, &Reading { import: import.clone(), ..self.reading.clone() }) {
            Ok(found) => found,
            Err(SuiteError::NoCorpora(_)) => return Ok(Err("no corpora")),
            Err(SuiteError::Unknown(path)) if path.contains('/') => return Ok(Err("no such file or folder")),
            Err(error) => return Err(error),
        };
        let names = (self.experiment.inputs.len()..).zip(&found).map(|(at, case)| (case.name.clone(), at));
        let names = names.collect();
        self.experiment.inputs.extend(found.into_iter().map(Input::from_case));
        Ok(Ok(names))
    }

    /// Adds the run of a row, or returns the verdict if the input differs or the run is not repeated.
    fn plan(&mut self, at: usize, row: &Row, input: usize, registry: &Registry) -> Result<(), Verdict> {
        let own = &self.experiment.inputs[input];
        let columns = match &own.subject {
            Ok(_) if row.status == Status::Unreadable => {
                return Err(differs("status", row.status.as_str(), "readable"));
            }
            Ok(Subject::Instance(_)) => &["sha256", "buffers", "load"][..],
            Ok(Subject::Graph(_)) => &["sha256"],
            Err(Unready::Unreadable(_)) if row.status == Status::Unreadable => {
                return Err(Verdict::Left("unreadable, as recorded"));
            }
            Err(Unready::NotPosed(_)) if [Status::Unreadable, Status::Skipped].contains(&row.status) => {
                return Err(Verdict::Left("no instance, as recorded"));
            }
            Err(Unready::Unreadable(why) | Unready::NotPosed(why)) => {
                return Err(differs("instance", &row.instance, why));
            }
        };
        let buffers = own.instance().map(Instance::len);
        let load = own.load.map(Bytes::get);
        let today = Row { sha256: own.sha256.clone(), buffers, load, ..Row::default() };
        if let Some(differing) = first_difference(columns, row, &today) {
            return Err(differing);
        }
        if row.is_external() {
            return Err(Verdict::Left("external program"));
        }
        let Some(&problem) = PROBLEMS.iter().find(|problem| **problem == row.problem) else {
            return Err(differs("problem", &row.problem, "no problem of that name"));
        };
        let facts = match algorithm(registry, &[problem], &row.algorithm) {
            Some(Ok(facts)) => facts,
            Some(Err(NameError::Excluded(_))) => return Err(Verdict::Left("not in this build")),
            _ => return Err(differs("algorithm", &row.algorithm, "no algorithm of that name")),
        };
        if row.stop == Some(Stop::TimeLimit) {
            return Err(Verdict::Left("ended by its time limit"));
        }
        if row.decides() && row.capacity.is_none() {
            return Err(Verdict::Left("nothing to decide"));
        }
        let (time, nodes) = (row.time().map(|time| time.saturating_mul(PATIENCE)), row.node_limit);
        let (seed, repetition, task) = (row.seed, row.repetition, self.experiment.tasks.len());
        self.experiment.tasks.push(Task {
            problem,
            algorithm: row.algorithm.clone(),
            kind: facts.kind.into(),
            peer: None,
            threads: row.threads,
            terms: row.terms.clone(),
            // The recorded capacity, which may differ from that in the file today.
            decide: row.decide.and(row.capacity).map(Decide::Bytes),
            times: vec![time],
            nodes: vec![nodes],
            seeds: vec![seed],
            repetitions: 1,
        });
        let key = row.key.clone();
        let run = Run { index: at as u64, input, task, seed, repetition, time, nodes, key };
        self.experiment.runs.push(run);
        Ok(())
    }

    /// Attempts the planned runs. The bounds of those rows that were certified are certified again.
    fn rows(mut self, rows: &[Row], registry: &Registry) -> Vec<Row> {
        let certified = |run: &Run| rows[run.index as usize].certified.is_some();
        let (with, without) = std::mem::take(&mut self.experiment.runs).into_iter().partition(certified);
        let mut found = Vec::new();
        for (runs, proofs) in [(without, false), (with, true)] {
            self.experiment.runs = runs;
            self.experiment.extras = Extras { proofs, ..Extras::default() };
            run_here(&self.experiment, registry, &mut found);
        }
        found
    }
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
    use plimsoll::run::Limits;
    use plimsoll_model::{Claim, Offsets, Setup, WitnessSummary};

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
        let registry = registry();
        let entry = registry.find::<Offsets>(algorithm).unwrap();
        let task = Task::of(entry, Setup::default(), Limits::default());
        let experiment = Experiment::new("bench", vec![Input::from_case(case)], vec![task]);
        crate::executor::rows(&experiment, &registry).remove(0)
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
