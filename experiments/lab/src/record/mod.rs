//! Records: one run per row, from the algorithm to the CSV file and back.
//!
//! Every run of `bench` and `sweep` is one [`Record`]: the question, the result, and the machine. Fields are
//! columns. Records are completed by [`attempt`](mod@crate::attempt) and [`external`](crate::external),
//! written with [`Columns`], read with [`CsvFile`] and grouped by [`analysis`](crate::analysis).

mod columns;
mod failures;
mod file;
mod outcome;
mod rank;
mod settle;
mod trace;

pub use columns::{Columns, MEASURED, metrics};
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
use std::time::Duration;

/// The current version of the columns. Before version 5, `run` of `bench` was the repetition, `decide` was a
/// flag, and `value` was named `peak`. Files of all versions can be read.
pub const SCHEMA_VERSION: u32 = 5;

/// The file of records in the folder of a benchmark or sweep.
pub const ROWS: &str = "rows.csv";
/// The file of traces.
pub const TRACE: &str = "trace.csv";
/// The folder of layouts.
pub const LAYOUTS: &str = "layouts";

/// The path of the layout of a run, relative to the folder of its record.
pub fn layout_of(run: u64) -> String {
    format!("{LAYOUTS}/{run}.csv")
}

fn one<T: From<u8>>() -> T {
    1.into()
}

fn bytes() -> String {
    "bytes".to_owned()
}

/// One attempted run. Fields are columns, in this order. A column that does not apply or was not stored is
/// empty. Values and bounds are in `unit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Line number in the file it was read from, from 1.
    #[serde(skip)]
    pub line: u64,
    /// Number of the run among those of its algorithm on its instance, from 1, across seeds and limits.
    /// Traces use the same number.
    #[serde(skip)]
    pub nth: u64,
    /// The version of the columns: [`SCHEMA_VERSION`] when written.
    pub schema_version: u32,
    /// Number of the run in its sweep or benchmark, from 0.
    pub run: u64,
    /// Hash of instance, algorithm, parameters, seed, repetition and limits; sweeps only.
    pub key: String,
    /// Suite, path or family of the instance.
    pub suite: String,
    /// Name of the instance.
    pub instance: String,
    /// SHA-256 of the instance or graph, in the canonical form that Plimsoll writes.
    pub sha256: String,
    /// The problem: `offsets`, `split-buffers`, `shared-objects`, `orders`, ...
    pub problem: String,
    /// Unit of `value`, of bounds and of `capacity`: `bytes`, `picoseconds`, `relations`.
    #[serde(default = "bytes")]
    pub unit: String,
    /// Further terms of the question, `KEY=VALUE` separated by blanks: see [`Terms`](plimsoll::posed::Terms).
    pub terms: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// The kind of the algorithm: `heuristic`, `exact` or `external`.
    pub kind: String,
    /// Number of threads that the run may use.
    #[serde(default = "one")]
    pub threads: usize,
    /// `file`, `load` or a number where a capacity is decided; `true` in older files, which do not store the
    /// capacity. Empty where the value is optimised.
    pub decide: String,
    /// The capacity to decide, or the capacity that is part of the question (spilling); for an external, the
    /// capacity it was given.
    pub capacity: Option<u64>,
    /// The time limit, seconds.
    pub time_limit: Option<f64>,
    /// The node limit; the algorithm defines what a node is.
    pub node_limit: Option<u64>,
    /// Seed of all randomness.
    pub seed: u64,
    /// Number among equal runs, from 1; in `bench` also across seeds.
    #[serde(default = "one")]
    pub repetition: u64,
    /// `done`, `skipped` (declined), `failed`, `refused` (by the checker), `unreadable` (instance), `crashed`
    /// (process), `killed` (exceeded its time limit), `out-of-memory`.
    pub status: String,
    /// The solution status: what is proved.
    pub claim: String,
    /// The value of the best solution.
    #[serde(alias = "peak")]
    pub value: Option<u64>,
    /// The bound that the run proved: a lower bound, for relations an upper bound.
    pub lower_bound: Option<u64>,
    /// The verdict of the checker: `valid`, `refused`, or empty where there was nothing to check.
    pub verdict: String,
    /// An error message, or a message of an external program.
    pub error: String,
    /// The termination reason: `completed`, `target`, `time-limit`, `node-limit`, ...
    pub stop: String,
    /// The reason why the bound holds.
    pub bound_witness: String,
    /// The arithmetic in which the bound was proved: `exact` or `floating-point`.
    pub arithmetic: String,
    /// The best bound of all runs on the same instance and problem.
    pub best_bound: Option<u64>,
    /// The distance of the value from `best_bound`, percent of the bound.
    pub gap_percent: Option<f64>,
    /// Number of buffers of an instance.
    pub buffers: Option<usize>,
    /// Number of operators of a graph.
    pub operators: Option<usize>,
    /// Load of an instance, bytes.
    pub load: Option<u64>,
    /// Wall-clock seconds, of the algorithm alone or of the whole process.
    pub seconds: Option<f64>,
    /// True where `seconds` covers a process from its start to its end.
    pub whole_process: bool,
    /// Wall-clock seconds from the end of reading the instance to the answer, by the clock of the algorithm.
    pub own_seconds: Option<f64>,
    /// One unit of the last digit that an external program printed of `own_seconds`, seconds.
    pub own_resolution: Option<f64>,
    /// Seconds per phase, `name=seconds` separated by blanks.
    pub phases: String,
    /// Counters of the algorithm, `name=number` separated by blanks.
    pub counters: String,
    /// Number of nodes; the algorithm defines what a node is.
    pub nodes: Option<u64>,
    /// Highest resident memory of the process during the run, bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Resident memory of the process before the run, bytes.
    pub resident_bytes: Option<u64>,
    /// Commit of the sources.
    pub commit: String,
    /// Whether the sources differed from that commit.
    pub dirty: String,
    /// Version of the command, or of the external program.
    pub version: String,
    /// The compiler of the build.
    pub rustc: String,
    /// The Cargo profile of the build.
    pub profile: String,
    /// Model name of the processor.
    pub cpu: String,
    /// Number of hardware threads of the machine.
    pub cores: usize,
    /// End of the run, UTC.
    pub timestamp: String,
    /// Command line of a process.
    pub params: String,
    /// The claim of an external program; `contradicted` where a valid solution disproves it.
    pub claimed: String,
    /// The lower bound that an external program claims.
    pub claimed_bound: Option<u64>,
    /// Improvements over time, `seconds:event:value:bound` separated by blanks; stored only on request.
    pub trace: String,
    /// Path of the layout, relative to the folder of the record; stored only on request.
    pub layout: String,
}

impl Record {
    /// A record with build and machine set.
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

    /// Sets the instance, with its capacity as the one to decide, or the graph.
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

    /// Whether a capacity is decided instead of a value optimised.
    pub fn decides(&self) -> bool {
        !self.decide.is_empty()
    }

    /// The time limit as a duration.
    pub fn time(&self) -> Option<Duration> {
        self.time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok())
    }

    /// The arithmetic in which the bound was proved; for older files derived from the solver named in the
    /// witness.
    pub fn arithmetic(&self) -> Arithmetic {
        let known = [Arithmetic::Exact, Arithmetic::FloatingPoint];
        let named = known.into_iter().find(|one| one.as_str() == self.arithmetic);
        named.unwrap_or_else(|| Arithmetic::of_words(&self.bound_witness))
    }
}
