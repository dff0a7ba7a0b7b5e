//! Attempts runs, several at a time.

use super::SweepError;
use super::answer::Answer;
use super::inputs::Content;
use super::process::{Question, Worker};
use super::record::Shard;
use super::resolve::{Run, Sweep};
use super::rows::{SweepRow, layout_of};
use super::store::{Opened, Store};
use super::worker::Job;
use crate::external::{self, External};
use crate::machine::{Machine, timestamp};
use crate::report::failures::{Failures, failures};
use plimsoll::interrupt;
use plimsoll_model::{Bytes, Orders, Problem};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// How a sweep is run.
pub struct Start<'a> {
    /// The folder of its rows; begun where it is not there, gone on with where it is.
    pub out: &'a Path,
    /// The part of it to run.
    pub shard: Option<Shard>,
    /// Runs at a time.
    pub jobs: usize,
    /// The command that starts a worker.
    pub worker: &'a [OsString],
    /// Is told of every row: the row, how many are there, how many there will be.
    pub progress: &'a (dyn Fn(&SweepRow, u64, u64) + Sync),
}

/// How it went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Runs of the sweep, or of the shard.
    pub runs: u64,
    /// Those that had rows before.
    pub kept: u64,
    /// Bytes of a row that was cut short, cut away.
    pub torn: u64,
    /// Rows by status.
    pub statuses: BTreeMap<String, u64>,
    /// Algorithms with runs that failed, and why.
    pub failures: Vec<Failures>,
    /// Wall-clock seconds for the runs attempted now.
    pub seconds: f64,
    /// Sum of the seconds of algorithms in them.
    pub busy: f64,
    /// Runs without a row, as a [request to stop](plimsoll::interrupt) arrived before their end; the same call goes on.
    pub open: u64,
    /// What the reader should know.
    pub notes: Vec<String>,
}

impl Report {
    /// Seconds per attempted run that no algorithm took: wall-clock times jobs, less the algorithms' own.
    pub fn overhead(&self, jobs: usize) -> Option<f64> {
        let made = self.runs - self.kept - self.open;
        (made > 0).then(|| (self.seconds * jobs as f64 - self.busy).max(0.0) / made as f64)
    }
}

/// What all jobs share.
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

/// Attempts all runs that have no row yet. Where this process is killed, the same call goes on. On a
/// [request to stop](plimsoll::interrupt) the runs at work are ended without a row.
///
/// # Errors
/// [`SweepError`] where the folder is of another sweep, cannot be written, or no worker starts. What goes wrong in a run is
/// a row.
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
    /// Takes one run after the other.
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
        let Some(answer) = self.answer(worker, run)? else { return Ok(()) };
        let busy = answer.seconds.unwrap_or(0.0);
        let row = self.sweep.blank(run).on(&self.machine).answered(answer);
        let mut row = SweepRow { timestamp: timestamp(), ..row };
        if let Some(peer) = self.sweep.peer(run.task) {
            peer.version().unwrap_or_default().clone_into(&mut row.version);
        }
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.store.append(&row)?;
        state.there += 1;
        state.busy += busy;
        (self.start.progress)(&row, state.there, self.runs);
        Ok(())
    }

    /// What became of a run; nothing where a request to stop ended it.
    fn answer(&self, slot: &mut Option<Worker>, run: &Run) -> Result<Option<Answer>, SweepError> {
        let input = &self.sweep.inputs[run.input];
        let task = &self.sweep.tasks[run.task];
        let content = match &input.content {
            Ok(content) => content,
            Err(why) => return Ok(Some(Answer::without("unreadable", why))),
        };
        let capacity = self.sweep.capacity(run).map(Bytes::get);
        if task.decide.is_some() && capacity.is_none() && task.problem != Orders::NAME {
            return Ok(Some(Answer::without("skipped", "the instance has no capacity to decide")));
        }
        if let Some(peer) = self.sweep.peer(run.task) {
            return Ok(self.ask_peer(peer, run));
        }
        // Every region of a graph has the time limit for itself.
        let regions = match content {
            Content::Graph(graph) => u32::try_from(graph.regions().len()).unwrap_or(u32::MAX),
            Content::Instance { .. } => 1,
        };
        let limit = run.time.map(|time| time.saturating_mul(regions).saturating_add(self.sweep.grace));
        let memory = self.sweep.memory;
        let mut again = true;
        loop {
            if !slot.as_mut().is_some_and(Worker::is_fit) {
                // The old one is gone before the new one begins.
                *slot = None;
                *slot = Some(Worker::start(self.start.worker)?);
            }
            let Some(worker) = slot else { return Err(SweepError::Worker("none is there".to_owned())) };
            let job = Job {
                problem: task.problem.to_owned(),
                algorithm: task.algorithm.clone(),
                seed: run.seed,
                threads: task.threads,
                capacity,
                time: run.time.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
                nodes: run.nodes,
                trace: self.sweep.traces(),
                layout: self.layout(run),
            };
            let question = Question { input: run.input, name: &input.name, content, job, limit, memory };
            match worker.ask(question) {
                Ok(answer) => return Ok(Some(answer)),
                Err(lost) => {
                    *slot = None;
                    if interrupt::is_requested() {
                        return Ok(None);
                    }
                    // One that somebody ended between two runs is not this run's fault.
                    if lost.asked || !std::mem::take(&mut again) {
                        return Ok(Some(lost.answer));
                    }
                }
            }
        }
    }

    /// Where the layout of a run is kept.
    fn layout(&self, run: &Run) -> Option<PathBuf> {
        self.sweep.keeps_layouts().then(|| self.start.out.join(layout_of(run.index)))
    }

    /// Runs a binary of others, in a process group of its own; nothing where a request to stop ended it.
    fn ask_peer(&self, peer: &External, run: &Run) -> Option<Answer> {
        let (input, task) = (&self.sweep.inputs[run.input], &self.sweep.tasks[run.task]);
        let (Ok(Content::Instance { instance, .. }), Some(capacity)) = (&input.content, self.sweep.told(run))
        else {
            return Some(Answer::without("failed", "an external needs an instance"));
        };
        let instance = (**instance).clone().with_capacity(self.sweep.capacity(run));
        let (limit, seed, threads) = (run.time, run.seed, task.threads);
        let attempt = peer.run(&external::Task { instance: &instance, capacity, limit, seed, threads });
        if attempt.interrupted {
            return None;
        }
        let answer = Answer::of_peer(&instance, attempt, self.sweep.traces(), self.layout(run).as_deref());
        let above = self.sweep.memory.and_then(|most| answer.peak_memory_bytes.filter(|&peak| peak > most));
        Some(match above {
            Some(bytes) => Answer {
                seconds: answer.seconds,
                peak_memory_bytes: Some(bytes),
                ..Answer::without("out-of-memory", &format!("{bytes} bytes resident, above the limit"))
            },
            None => answer,
        })
    }
}
