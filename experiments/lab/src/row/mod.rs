//! Fills, writes and reads rows, each of which describes one run.
//!
//! Every run of an experiment is one [`Row`], which contains the question, the result, and the machine. Its
//! fields are the columns of `rows.csv`. The [executors](crate::executor) complete rows, [`Columns`] writes
//! them, [`CsvFile`] reads them, and [`analysis`](crate::analysis) groups them.

mod cell;
mod columns;
mod failures;
mod file;
mod outcome;
mod settle;
mod trace;
mod words;

pub(crate) use columns::difference;
pub use columns::{Columns, Extras, MEASURED, metrics};
pub use failures::{Failures, failures, lines};
pub use file::{CsvFile, RowError, read};
pub use settle::settle;
pub(crate) use settle::{Known, Place, known};
pub use trace::{Event, Improvements, Measured, Recorder, of_process, write_trace};
pub use words::{AlgorithmKind, Certified, Claimed, Decide, Evidence, Happening, Status, Unit};

use crate::machine::{Machine, timestamp};
use plimsoll::arithmetic::Arithmetic;
use plimsoll::posed::{Subject, Terms};
use plimsoll_model::{Claim, Stop, WitnessSummary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The version of the columns. Files of other versions are refused.
pub const SCHEMA_VERSION: u32 = 6;

/// The name of the file with rows in the folder of an experiment.
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

/// One attempted run. The fields are the columns, in this order. A column is empty if it does not apply or
/// was not stored. Values and bounds are in `unit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Number of the line from which the row was read, counted from 1.
    #[serde(skip)]
    pub line: u64,
    /// The version of the columns, which is [`SCHEMA_VERSION`].
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
    /// The name of the problem, such as `offsets`, `split-buffers`, `shared-objects` or `orders`. Like the
    /// name of the algorithm, it is empty if the instance is unreadable and no algorithm was named.
    pub problem: String,
    /// Unit of `value`, of bounds and of `capacity`.
    pub unit: Unit,
    /// The terms of the question.
    pub terms: Terms,
    /// Name of the algorithm.
    pub algorithm: String,
    /// The kind of the algorithm.
    pub kind: Option<AlgorithmKind>,
    /// Number of threads that the run may use.
    pub threads: usize,
    /// Which capacity is decided, or `None` if the value is optimised.
    pub decide: Option<Decide>,
    /// The capacity to decide, or the capacity that is part of the question (spilling). For an external
    /// planner, this is the capacity on its command line.
    pub capacity: Option<u64>,
    /// The time limit, in seconds.
    pub time_limit: Option<f64>,
    /// The node limit. The algorithm defines the meaning of a node.
    pub node_limit: Option<u64>,
    /// The seed of all random choices.
    pub seed: u64,
    /// Number of the run among equal runs, counted from 1.
    pub repetition: u64,
    /// How the run ended.
    pub status: Status,
    /// The solution status, which states what is proved.
    pub claim: Option<Claim>,
    /// The value of the best solution, which the checker accepted.
    pub value: Option<u64>,
    /// The bound that the run proved. It is a lower bound, or an upper bound if the unit is `relations`.
    pub lower_bound: Option<u64>,
    /// An error message, or a message of an external program.
    pub error: String,
    /// The termination reason.
    pub stop: Option<Stop>,
    /// The reason why the bound holds.
    pub witness: Option<WitnessSummary>,
    /// The arithmetic in which the bound was proved.
    pub arithmetic: Option<Arithmetic>,
    /// The bound that is known before any algorithm runs, if there is one. For offsets, it is the load or the
    /// end of a fixed buffer.
    pub floor: Option<u64>,
    /// The best bound of all runs on the same instance and problem, with the same terms, and of `floor`.
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
    /// The times of the phases in seconds. `to-best` is the time until the run found its value.
    pub phases: BTreeMap<String, f64>,
    /// The counters of the algorithm.
    pub counters: BTreeMap<String, u64>,
    /// Number of nodes. The algorithm defines the meaning of a node.
    pub nodes: Option<u64>,
    /// Peak resident memory of the process during the run, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Resident memory of the process before the run, in bytes.
    pub resident_bytes: Option<u64>,
    /// The build and the machine. For an external program, the version is that of the program.
    #[serde(flatten)]
    pub machine: Machine,
    /// End of the run, in UTC.
    pub timestamp: String,
    /// Command line of an external program.
    pub params: String,
    /// The claim of an external program.
    pub claimed: Option<Claimed>,
    /// The lower bound that an external program claims.
    pub claimed_bound: Option<u64>,
    /// What an accepted proof or a confirmed witness proves. This column and the following four are stored
    /// only on request.
    pub certified: Option<Certified>,
    /// The evidence for `certified`.
    pub certified_by: Option<Evidence>,
    /// Length of the proof in bytes.
    pub proof_bytes: Option<u64>,
    /// Time to derive and to write the proof, in seconds. It is not part of `seconds`.
    pub proof_seconds: Option<f64>,
    /// Time to check the proof, in seconds. It is not part of `seconds`.
    pub check_seconds: Option<f64>,
    /// Improvements over time. This column is stored only on request.
    pub trace: Vec<Event>,
    /// Path of the layout, relative to the folder of the record. A sweep stores layouts only on request. A
    /// benchmark stores the best layout of each question.
    pub layout: String,
}

impl Row {
    /// Creates a row that contains the build, the machine and the current time.
    pub fn on(machine: &Machine) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            machine: machine.clone(),
            threads: 1,
            repetition: 1,
            timestamp: timestamp(),
            ..Self::default()
        }
    }

    /// Sets the number of buffers or operators.
    #[must_use]
    pub fn sized(self, subject: &Subject) -> Self {
        match subject {
            Subject::Instance(instance) => Self { buffers: Some(instance.len()), ..self },
            Subject::Graph(graph) => Self { operators: Some(graph.operators().len()), ..self },
        }
    }

    /// Sets the status and the error of a run without an answer.
    #[must_use]
    pub fn without(self, status: Status, error: &(impl ToString + ?Sized)) -> Self {
        Self { status, error: error.to_string(), ..self }
    }

    /// Returns true if the run ended with a checked result.
    pub fn is_done(&self) -> bool {
        self.status == Status::Done
    }

    /// Returns true if the algorithm is an external program.
    pub fn is_external(&self) -> bool {
        self.kind == Some(AlgorithmKind::External)
    }

    /// Returns true if a capacity is decided, and false if a value is optimised.
    pub fn decides(&self) -> bool {
        self.decide.is_some()
    }

    /// Returns true if the run claims to have proved that its value is optimal or that the capacity is
    /// infeasible.
    pub fn is_proved(&self) -> bool {
        self.claim.is_some_and(Claim::is_proved)
    }

    /// Returns true if a proof or a witness certifies that the value is optimal or that the capacity is
    /// infeasible.
    pub fn is_certified(&self) -> bool {
        matches!(self.certified, Some(Certified::Optimal | Certified::Infeasible))
    }

    /// Returns the value if the run is done.
    pub fn valid_value(&self) -> Option<u64> {
        self.value.filter(|_| self.is_done())
    }

    /// Returns the time limit as a duration.
    pub fn time(&self) -> Option<Duration> {
        self.time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok())
    }

    /// Returns the arithmetic in which the bound was proved. It is exact if a proof or a witness certifies
    /// the bound.
    pub fn arithmetic(&self) -> Arithmetic {
        if self.certified.is_some() { Arithmetic::Exact } else { self.arithmetic.unwrap_or_default() }
    }
}
