//! Attempts runs in worker processes, several of them in parallel.
//!
//! Runs are isolated. A worker process serves one run at a time, and a run that crashes, hangs or exhausts
//! its memory still becomes a row.

use super::peers::{Peered, ask_peer};
use super::process::{Question, Worker};
use super::worker::Job;
use crate::experiment::{Experiment, ExperimentError, Opened, Run, Shard, Store};
use crate::machine::{Machine, timestamp};
use crate::row::{Failures, Row, Status, failures};
use plimsoll::interrupt;
use plimsoll::posed::Subject;
use plimsoll_model::Offsets;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// Additional time for a run if the sweep proves bounds, as a multiple of the time limit. One time limit is
/// for the proof, and the others are for the check of the proof.
const PROOF_STAGES: u32 = 4;

/// The parameters for running a sweep.
pub struct Start<'a> {
    /// The folder of the rows. If it does not exist, it is created. Otherwise, the sweep in it is resumed.
    pub out: &'a Path,
    /// The part of the sweep to run.
    pub shard: Option<Shard>,
    /// Number of parallel runs.
    pub jobs: usize,
    /// The command that starts a worker.
    pub worker: &'a [OsString],
    /// The function that is called for every row, with the row, the number of rows so far, and the number of
    /// runs.
    pub progress: &'a (dyn Fn(&Row, u64, u64) + Sync),
}

/// The result of running a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Number of runs of the sweep, or of the shard.
    pub runs: u64,
    /// Number of runs that already had rows.
    pub kept: u64,
    /// Length in bytes of a truncated row that was removed, or 0.
    pub torn: u64,
    /// Number of rows by status.
    pub statuses: BTreeMap<Status, u64>,
    /// The algorithms with failed runs, and their errors.
    pub failures: Vec<Failures>,
    /// Wall-clock time of this call, in seconds.
    pub seconds: f64,
    /// Total time of the algorithms in this call, in seconds.
    pub busy: f64,
    /// Number of runs without a row because of a [request to stop](plimsoll::interrupt). A repeated call
    /// attempts these runs.
    pub open: u64,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Report {
    /// Returns the overhead per attempted run in seconds, or `None` if no run was attempted. The total
    /// overhead is the wall-clock time multiplied by the number of jobs, minus the time of the algorithms.
    pub fn overhead(&self, jobs: usize) -> Option<f64> {
        let made = self.runs - self.kept - self.open;
        (made > 0).then(|| (self.seconds * jobs as f64 - self.busy).max(0.0) / made as f64)
    }
}

/// The state shared by all jobs.
struct Shared<'a> {
    experiment: &'a Experiment,
    start: &'a Start<'a>,
    machine: Machine,
    pending: Vec<usize>,
    next: AtomicUsize,
    stop: AtomicBool,
    state: Mutex<State>,
    runs: u64,
}

struct State {
    store: Store,
    there: u64,
    busy: f64,
}

/// Attempts all runs without a row. If this process is killed, repeating the call resumes the sweep. On a
/// [request to stop](plimsoll::interrupt), active runs end without a row.
///
/// # Errors
/// [`ExperimentError`] if the folder contains another sweep or cannot be written, or if no worker starts. A
/// failing run is not an error; it gets a row.
pub fn run_in_workers(experiment: &Experiment, start: &Start<'_>) -> Result<Report, ExperimentError> {
    let machine = Machine::here();
    let Opened { store, has, torn, notes } = Store::open(start.out, experiment, start.shard, &machine)?;
    let own = |run: &&Run| start.shard.is_none_or(|shard| shard.has(run.index));
    let runs = experiment.runs.iter().filter(own).count() as u64;
    let missing = |run: &&Run| !has[run.index as usize];
    let pending: Vec<usize> =
        experiment.runs.iter().filter(own).filter(missing).map(|run| run.index as usize).collect();
    let kept = runs - pending.len() as u64;
    let began = Instant::now();
    let jobs = start.jobs.clamp(1, pending.len().max(1));
    let state = Mutex::new(State { store, there: kept, busy: 0.0 });
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let shared = Shared { experiment, start, machine, pending, next, stop, state, runs };
    let results: Vec<Result<(), ExperimentError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(|| shared.job())).collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|end| end.unwrap_or_else(|_| Err(ExperimentError::Worker("a job panicked".to_owned()))))
            .collect()
    });
    let seconds = began.elapsed().as_secs_f64();
    let Shared { state, .. } = shared;
    let State { store, there, busy } = state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(error) = results.into_iter().find_map(Result::err) {
        store.close()?;
        return Err(error);
    }
    let open = runs - there;
    let rows = if open > 0 { store.close()? } else { store.finish(start.shard.is_none())? };
    let mut statuses = BTreeMap::new();
    for row in &rows {
        *statuses.entry(row.status).or_insert(0) += 1;
    }
    let failures = failures(&rows);
    Ok(Report { runs, kept, torn, statuses, failures, seconds, busy, open, notes })
}

impl Shared<'_> {
    /// Attempts pending runs until none is left.
    fn job(&self) -> Result<(), ExperimentError> {
        let mut worker = None;
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let over = self.stop.load(Ordering::Relaxed) || interrupt::is_requested();
            let Some(&index) = self.pending.get(at).filter(|_| !over) else {
                return Ok(());
            };
            let result = self.attempt(&mut worker, &self.experiment.runs[index]);
            if result.is_err() {
                self.stop.store(true, Ordering::Relaxed);
                return result;
            }
        }
    }

    fn attempt(&self, worker: &mut Option<Worker>, run: &Run) -> Result<(), ExperimentError> {
        let Some(row) = self.answer(worker, run)? else { return Ok(()) };
        let row = Row { timestamp: timestamp(), ..row };
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.there += 1;
        state.busy += row.seconds.unwrap_or(0.0);
        (self.start.progress)(&row, state.there, self.runs);
        state.store.append(row)?;
        Ok(())
    }

    /// Returns the row of a run, or `None` if a request to stop ended it.
    fn answer(&self, slot: &mut Option<Worker>, run: &Run) -> Result<Option<Row>, ExperimentError> {
        let asked = match self.experiment.asked(run, &self.machine) {
            Ok(asked) => asked,
            Err(row) => return Ok(Some(*row)),
        };
        let input = &self.experiment.inputs[run.input];
        if self.experiment.tasks[run.task].peer.is_some() {
            let Some(Peered { row, instance, layout }) = ask_peer(self.experiment, run, asked) else {
                return Ok(None);
            };
            let kept = self.experiment.extras.layouts && instance.is_some();
            return Ok(Some(match instance.filter(|_| kept) {
                Some(instance) => row.keeping::<Offsets>(&&instance, layout.as_ref(), self.start.out),
                None => row,
            }));
        }
        let Ok(subject) = &input.subject else {
            return Ok(Some(asked.without(Status::Failed, "the input is not ready")));
        };
        // A graph may have to be ordered before its question can be posed. This may take the time limit once
        // more for each region. A proof may take the time limit once more, and the check of the proof a
        // multiple of that.
        let stages = match subject {
            Subject::Graph(graph) => u32::try_from(graph.regions().len() + 1).unwrap_or(u32::MAX),
            Subject::Instance(_) => 1,
        };
        let stages = stages.saturating_add(if self.experiment.extras.proofs { PROOF_STAGES } else { 0 });
        let limit = run.time.map(|time| time.saturating_mul(stages).saturating_add(self.experiment.grace));
        let memory = self.experiment.memory;
        let mut again = true;
        loop {
            if !slot.as_mut().is_some_and(Worker::is_fit) {
                // The old worker ends before the new one starts.
                *slot = None;
                *slot = Some(Worker::start(self.start.worker)?);
            }
            let Some(worker) = slot else { return Err(ExperimentError::Worker("no worker".to_owned())) };
            let keep = self.experiment.extras.layouts.then(|| self.start.out.to_owned());
            let job = Job { asked: asked.clone(), extras: self.experiment.extras, keep };
            let question = Question { input: run.input, name: &input.name, subject, job, limit, memory };
            match worker.ask(question) {
                Ok(answer) => return Ok(Some(answer)),
                Err(lost) => {
                    *slot = None;
                    if interrupt::is_requested() {
                        return Ok(None);
                    }
                    // If the worker ended between two runs, this run has not failed. It is retried once.
                    if lost.asked || !std::mem::take(&mut again) {
                        return Ok(Some(lost.answer));
                    }
                }
            }
        }
    }
}
