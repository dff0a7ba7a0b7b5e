//! Fills, writes and reads records of runs, with one run per row.
//!
//! Every run of `bench` and `sweep` is one [`Record`], which contains the question, the result, and the
//! machine. Its fields are columns. [`attempt`](mod@crate::attempt) and [`external`](crate::external)
//! complete records, [`Columns`] writes them, [`CsvFile`] reads them, and [`analysis`](crate::analysis)
//! groups them.

mod columns;
mod failures;
mod file;
mod outcome;
mod rank;
mod settle;
mod trace;

pub use columns::{Columns, Extras, MEASURED, metrics};
pub use failures::{Failures, failures, lines};
pub use file::{CsvFile, RecordError, read};
pub use rank::rank;
pub use settle::settle;
pub(crate) use settle::{Known, Place, known};
pub use trace::{
    Event, Improvements, Recorder, RunKey, TraceRow, number_runs, of_process, runs, trace_rows, write_trace,
};

use crate::machine::{Machine, timestamp};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::posed::Subject;
use plimsoll_model::{Bytes, load};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// The current version of the columns. Before version 5, the column `run` of `bench` contained the
/// repetition, `decide` was a flag, and `value` was named `peak`. Files of all versions can be read.
pub const SCHEMA_VERSION: u32 = 5;

/// The name of the file with records in the folder of a benchmark or sweep.
pub const ROWS: &str = "rows.csv";
/// The name of the file with traces.
pub const TRACE: &str = "trace.csv";
/// The name of the folder with layouts.
pub const LAYOUTS: &str = "layouts";

/// Returns true if a file of a record exists outside of the folder of the record, because its path contains a
/// symbolic link. A record from a stranger could show or copy any file that way.
pub fn leads_out(path: &Path, folder: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let places = path.canonicalize().ok().zip(folder.canonicalize().ok());
    places.is_some_and(|(path, folder)| !path.starts_with(folder))
}

/// Returns the path of a layout, relative to the folder of its record. In a sweep, the name is the number of
/// the run.
pub fn layout_of(name: impl std::fmt::Display) -> String {
    format!("{LAYOUTS}/{name}.csv")
}

fn one<T: From<u8>>() -> T {
    1.into()
}

fn bytes() -> String {
    "bytes".to_owned()
}

/// One attempted run. The fields are the columns, in this order. A column is empty if it does not apply or
/// was not stored. Values and bounds are in `unit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Number of the line from which the record was read, counted from 1.
    #[serde(skip)]
    pub line: u64,
    /// Number of the run among all runs of its algorithm on its instance, counted from 1 across seeds and
    /// limits. Traces use the same number.
    #[serde(skip)]
    pub nth: u64,
    /// The version of the columns, which is [`SCHEMA_VERSION`] in new files.
    pub schema_version: u32,
    /// Number of the run in its sweep or benchmark, counted from 0.
    pub run: u64,
    /// In sweeps, a hash of the instance, the algorithm, the parameters, the seed, the repetition and the
    /// limits.
    pub key: String,
    /// The suite, path or family of the instance.
    pub suite: String,
    /// Name of the instance.
    pub instance: String,
    /// SHA-256 of the instance or graph in its canonical form, as Plimsoll writes it.
    pub sha256: String,
    /// The name of the problem, such as `offsets`, `split-buffers`, `shared-objects` or `orders`.
    pub problem: String,
    /// Unit of `value`, of bounds and of `capacity`: `bytes`, `picoseconds` or `relations`.
    #[serde(default = "bytes")]
    pub unit: String,
    /// The [`Terms`](plimsoll::posed::Terms) of the question, as `KEY=VALUE` pairs separated by spaces.
    pub terms: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// The kind of the algorithm: `heuristic`, `exact` or `external`.
    pub kind: String,
    /// Number of threads that the run may use.
    #[serde(default = "one")]
    pub threads: usize,
    /// The capacity to decide: `file`, `load` or a number. Older files contain `true` and do not store the
    /// capacity. The column is empty if the value is optimised.
    pub decide: String,
    /// The capacity to decide, or the capacity that is part of the question (spilling). For an external
    /// planner, this is the capacity on its command line.
    pub capacity: Option<u64>,
    /// The time limit, in seconds.
    pub time_limit: Option<f64>,
    /// The node limit. The algorithm defines the meaning of a node.
    pub node_limit: Option<u64>,
    /// The seed of all random choices.
    pub seed: u64,
    /// Number of the run among equal runs, counted from 1. In `bench`, runs that differ only in their seeds
    /// count as equal.
    #[serde(default = "one")]
    pub repetition: u64,
    /// `done`, `skipped` (the algorithm declined the question), `failed`, `refused` (the checker rejected the
    /// answer), `unreadable` (the instance cannot be read), `crashed` (the process crashed), `killed` (the
    /// run exceeded its time limit), or `out-of-memory`.
    pub status: String,
    /// The solution status, which states what is proved.
    pub claim: String,
    /// The value of the best solution.
    #[serde(alias = "peak")]
    pub value: Option<u64>,
    /// The bound that the run proved. It is a lower bound, or an upper bound if the unit is `relations`.
    pub lower_bound: Option<u64>,
    /// The verdict of the checker: `valid`, `refused`, or empty if there was nothing to check.
    pub verdict: String,
    /// An error message, or a message of an external program.
    pub error: String,
    /// The termination reason, such as `completed`, `target`, `time-limit` or `node-limit`.
    pub stop: String,
    /// The reason why the bound holds.
    pub bound_witness: String,
    /// The arithmetic in which the bound was proved: `exact` or `floating-point`.
    pub arithmetic: String,
    /// The best bound of all runs on the same instance and problem, with the same terms.
    pub best_bound: Option<u64>,
    /// The distance of the value from `best_bound`, in percent of the bound.
    pub gap_percent: Option<f64>,
    /// Number of buffers, if the subject is an instance.
    pub buffers: Option<usize>,
    /// Number of operators, if the subject is a graph.
    pub operators: Option<usize>,
    /// Load in bytes, if the subject is an instance.
    pub load: Option<u64>,
    /// Wall-clock time of the algorithm alone or of the whole process, in seconds.
    pub seconds: Option<f64>,
    /// Whether `seconds` is the time of a process from its start to its end.
    pub whole_process: bool,
    /// Self-reported wall-clock time in seconds, from the end of reading the instance to the answer.
    pub own_seconds: Option<f64>,
    /// The resolution of `own_seconds`, in seconds: the value of one unit in the last digit that an
    /// external program printed.
    pub own_resolution: Option<f64>,
    /// The times of the phases, as `name=seconds` pairs separated by spaces. `to-best` is the time until the
    /// run found its value.
    pub phases: String,
    /// The counters of the algorithm, as `name=number` pairs separated by spaces.
    pub counters: String,
    /// Number of nodes. The algorithm defines the meaning of a node.
    pub nodes: Option<u64>,
    /// Peak resident memory of the process during the run, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Resident memory of the process before the run, in bytes.
    pub resident_bytes: Option<u64>,
    /// Commit of the sources.
    pub commit: String,
    /// Whether tracked sources differed from `commit`: `true`, `false` or `unknown`.
    pub dirty: String,
    /// Version of plimsoll, or of the external program.
    pub version: String,
    /// The compiler of the build.
    pub rustc: String,
    /// The Cargo profile of the build.
    pub profile: String,
    /// Model name of the processor.
    pub cpu: String,
    /// Number of hardware threads of the machine.
    pub cores: usize,
    /// End of the run, in UTC.
    pub timestamp: String,
    /// Command line of an external program.
    pub params: String,
    /// The claim of an external program, or `contradicted` if a valid solution disproves it.
    pub claimed: String,
    /// The lower bound that an external program claims.
    pub claimed_bound: Option<u64>,
    /// What an accepted proof or a confirmed witness proves: `optimal`, `infeasible` or `bound`. The column
    /// is empty if nothing is certified. This column and the following four are stored only on request.
    pub certified: String,
    /// The evidence for `certified`: `proof` (a proof that the checker accepted) or `witness` (a witness that
    /// was recomputed).
    pub certified_by: String,
    /// Length of the proof in bytes.
    pub proof_bytes: Option<u64>,
    /// Time to derive and to write the proof, in seconds. It is not part of `seconds`.
    pub proof_seconds: Option<f64>,
    /// Time to check the proof, in seconds. It is not part of `seconds`.
    pub check_seconds: Option<f64>,
    /// Improvements over time, as `seconds:event:value:bound` separated by spaces. This column is stored only
    /// on request.
    pub trace: String,
    /// Path of the layout, relative to the folder of the record. A sweep stores layouts only on request. A
    /// benchmark stores the best layout of each question.
    pub layout: String,
}

impl Record {
    /// Creates a record that contains the build, the machine and the current time.
    pub fn on(machine: &Machine) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            unit: bytes(),
            commit: machine.commit.clone(),
            dirty: machine.dirty.clone(),
            version: machine.version.clone(),
            rustc: machine.rustc.clone(),
            profile: machine.profile.clone(),
            cpu: machine.cpu.clone(),
            cores: machine.cores,
            timestamp: timestamp(),
            ..Self::default()
        }
    }

    /// Sets the instance or the graph. The capacity of an instance becomes the capacity to decide.
    #[must_use]
    pub fn about(self, suite: &str, subject: &Subject, sha256: &str) -> Self {
        let named = Self {
            suite: suite.to_owned(),
            instance: subject.name().to_owned(),
            sha256: sha256.to_owned(),
            ..self
        };
        match subject {
            Subject::Instance(instance) => Self {
                buffers: Some(instance.len()),
                load: Some(load(instance).0.get()),
                capacity: instance.capacity().map(Bytes::get),
                ..named
            },
            Subject::Graph(graph) => Self { operators: Some(graph.operators().len()), ..named },
        }
    }

    /// Sets the status and the error of a run without an answer.
    #[must_use]
    pub fn without(self, status: &str, error: &(impl ToString + ?Sized)) -> Self {
        Self { status: status.to_owned(), error: error.to_string(), ..self }
    }

    /// Returns true if a capacity is decided, and false if a value is optimised.
    pub fn decides(&self) -> bool {
        !self.decide.is_empty()
    }

    /// Returns true if the run claims to have proved that its value is optimal or that the capacity is
    /// infeasible.
    pub fn is_proved(&self) -> bool {
        matches!(self.claim.as_str(), "optimal" | "infeasible")
    }

    /// Returns true if a proof or a witness certifies that the value is optimal or that the capacity is
    /// infeasible.
    pub fn is_certified(&self) -> bool {
        matches!(self.certified.as_str(), "optimal" | "infeasible")
    }

    /// Returns the time limit as a duration.
    pub fn time(&self) -> Option<Duration> {
        self.time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok())
    }

    /// Returns the arithmetic in which the bound was proved. It is exact if a proof or a witness certifies
    /// the bound. In older files, it is derived from the solver that the witness names.
    pub fn arithmetic(&self) -> Arithmetic {
        if !self.certified.is_empty() {
            return Arithmetic::Exact;
        }
        let known = [Arithmetic::Exact, Arithmetic::FloatingPoint];
        let named = known.into_iter().find(|one| one.as_str() == self.arithmetic);
        named.unwrap_or_else(|| Arithmetic::of_words(&self.bound_witness))
    }
}
