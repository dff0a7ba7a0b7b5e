//! Attempts the runs of a sweep, several of them in parallel.

use super::SweepError;
use super::manifest::Shard;
use super::process::{Question, Worker};
use super::resolve::{Run, Sweep};
use super::store::{Opened, Store};
use super::worker::Job;
use crate::attempt::NO_CAPACITY;
use crate::external::{self, External, Whose};
use crate::machine::{Machine, timestamp};
use crate::record::{Failures, Record, failures};
use plimsoll::interrupt;
use plimsoll::plan::Plan;
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
    pub progress: &'a (dyn Fn(&Record, u64, u64) + Sync),
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
    pub statuses: BTreeMap<String, u64>,
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
    sweep: &'a Sweep,
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
/// [`SweepError`] if the folder contains another sweep or cannot be written, or if no worker starts. A
/// failing run is not an error; it gets a row.
pub fn run(sweep: &Sweep, start: &Start<'_>) -> Result<Report, SweepError> {
    let machine = Machine::here();
    let Opened { store, has, torn, notes } = Store::open(start.out, sweep, start.shard, &machine)?;
    let own = |run: &&Run| start.shard.is_none_or(|shard| shard.has(run.index));
    let runs = sweep.runs.iter().filter(own).count() as u64;
    let missing = |run: &&Run| !has[run.index as usize];
    let pending: Vec<usize> =
        sweep.runs.iter().filter(own).filter(missing).map(|run| run.index as usize).collect();
    let kept = runs - pending.len() as u64;
    let began = Instant::now();
    let jobs = start.jobs.clamp(1, pending.len().max(1));
    let state = Mutex::new(State { store, there: kept, busy: 0.0 });
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let shared = Shared { sweep, start, machine, pending, next, stop, state, runs };
    let results: Vec<Result<(), SweepError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(|| shared.job())).collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|end| end.unwrap_or_else(|_| Err(SweepError::Worker("a job panicked".to_owned()))))
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
        *statuses.entry(row.status.clone()).or_insert(0) += 1;
    }
    let failures = failures(&rows);
    Ok(Report { runs, kept, torn, statuses, failures, seconds, busy, open, notes })
}

impl Shared<'_> {
    /// Attempts pending runs until none is left.
    fn job(&self) -> Result<(), SweepError> {
        let mut worker = None;
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let over = self.stop.load(Ordering::Relaxed) || interrupt::is_requested();
            let Some(&index) = self.pending.get(at).filter(|_| !over) else {
                return Ok(());
            };
            let result = self.attempt(&mut worker, &self.sweep.runs[index]);
            if result.is_err() {
                self.stop.store(true, Ordering::Relaxed);
                return result;
            }
        }
    }

    fn attempt(&self, worker: &mut Option<Worker>, run: &Run) -> Result<(), SweepError> {
        let Some(row) = self.answer(worker, run)? else { return Ok(()) };
        let row = Record { timestamp: timestamp(), ..row };
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.store.append(&row)?;
        state.there += 1;
        state.busy += row.seconds.unwrap_or(0.0);
        (self.start.progress)(&row, state.there, self.runs);
        Ok(())
    }

    /// Returns the row of a run, or `None` if a request to stop ended it.
    fn answer(&self, slot: &mut Option<Worker>, run: &Run) -> Result<Option<Record>, SweepError> {
        let asked = self.sweep.blank(run, &self.machine);
        let input = &self.sweep.inputs[run.input];
        let subject = match &input.subject {
            Ok(subject) => subject,
            Err(why) => return Ok(Some(asked.without("unreadable", why))),
        };
        if asked.decides() && asked.capacity.is_none() {
            return Ok(Some(asked.without("skipped", NO_CAPACITY)));
        }
        if let Some(peer) = self.sweep.peer(run.task) {
            return Ok(self.ask_peer(peer, run, asked));
        }
        // A graph may have to be ordered before its question can be posed. This may take the time limit once
        // more for each region. A proof may take the time limit once more, and the check of the proof a
        // multiple of that.
        let stages = match subject {
            Subject::Graph(graph) => u32::try_from(graph.regions().len() + 1).unwrap_or(u32::MAX),
            Subject::Instance(_) => 1,
        };
        let stages = stages.saturating_add(if self.sweep.extras.proofs { PROOF_STAGES } else { 0 });
        let limit = run.time.map(|time| time.saturating_mul(stages).saturating_add(self.sweep.grace));
        let memory = self.sweep.memory;
        let mut again = true;
        loop {
            if !slot.as_mut().is_some_and(Worker::is_fit) {
                // The old worker ends before the new one starts.
                *slot = None;
                *slot = Some(Worker::start(self.start.worker)?);
            }
            let Some(worker) = slot else { return Err(SweepError::Worker("no worker".to_owned())) };
            let keep = self.sweep.extras.layouts.then(|| self.start.out.to_owned());
            let job = Job { asked: asked.clone(), extras: self.sweep.extras, keep };
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

    /// Runs an external planner in its own process group. Returns `None` if a request to stop ended it.
    fn ask_peer(&self, peer: &External, run: &Run, asked: Record) -> Option<Record> {
        let input = &self.sweep.inputs[run.input];
        let (Some(instance), Some(capacity)) = (input.instance(), self.sweep.passed_capacity(run)) else {
            return Some(asked.without("failed", "an external planner requires an instance"));
        };
        let instance = instance.clone().with_capacity(self.sweep.capacity(run));
        let whose = Whose::Foreign(Offsets::floor(&instance).value);
        let blank = asked.clone();
        let (record, layout) =
            external::answer(peer, &instance, capacity, whose, asked, self.sweep.extras.trace)?;
        let (seconds, peak) = (record.seconds, record.peak_memory_bytes);
        if let Some(bytes) = peak.filter(|&peak| self.sweep.memory.is_some_and(|most| peak > most)) {
            let why = format!("resident memory of {bytes} bytes exceeds the limit");
            return Some(Record { seconds, peak_memory_bytes: peak, ..blank.without("out-of-memory", &why) });
        }
        Some(if self.sweep.extras.layouts {
            record.keeping::<Offsets>(&&instance, layout.as_ref(), self.start.out)
        } else {
            record
        })
    }
}
