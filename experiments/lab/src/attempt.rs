//! Runs of our own algorithms in this process, as a record asks for them.

use crate::machine::{MemoryMeter, resident};
use crate::record::{Record, Recorder};
use plimsoll_model::run::{self, Attempt, Limits};
use plimsoll_model::{Bytes, Entry, Observer, Problem, Setup, Silent, interrupt};
use std::time::{Duration, Instant};

/// Time that a run which is measured waits for solvers that runs before it left behind.
const SETTLING: Duration = Duration::from_secs(10);
/// Why a run that has to decide a capacity is not attempted.
pub const NO_CAPACITY: &str = "the instance has no capacity to decide";

/// Runs an algorithm with the seed, threads, limits and capacity that a record states. Returns the record with what became
/// of it, traced on request, and the solution. Memory is measured.
pub fn attempt<P: Problem>(
    entry: &Entry<P>,
    input: &P::Input,
    asked: Record,
    traced: bool,
) -> (Record, Option<P::Solution>) {
    if asked.decides() && asked.capacity.is_none() {
        let problem = P::NAME.to_owned();
        return (Record { problem, ..asked.without("skipped", NO_CAPACITY) }, None);
    }
    let (setup, limits) = (asked.setup(), asked.limits());
    let resident_bytes = resident("self");
    let mut recorder = traced.then(Recorder::start);
    let attempt = match &mut recorder {
        Some(recorder) => run_measured(entry, input, setup, limits, recorder),
        None => run_measured(entry, input, setup, limits, &mut Silent),
    };
    let mut record = Record { resident_bytes, ..asked.attempted::<P>(input, &attempt) };
    if let Some(recorder) = recorder.filter(|_| record.status == "done") {
        record.trace = recorder.finish(&record);
    }
    (record, attempt.result.ok().and_then(|outcome| outcome.solution))
}

impl Record {
    /// The parameters that it states.
    pub fn setup(&self) -> Setup {
        Setup { seed: self.seed, threads: self.threads.max(1), ..Setup::default() }
    }

    /// The limits that it states.
    pub fn limits(&self) -> Limits {
        let target = self.capacity.filter(|_| self.decides()).map(Bytes::new);
        Limits { time: self.time(), nodes: self.node_limit, target, deadline: None }
    }
}

/// [`run::run`], with memory measured. Waits first for solvers that runs before left behind: they would share its processor.
fn run_measured<P: Problem>(
    entry: &Entry<P>,
    input: &P::Input,
    setup: Setup,
    limits: Limits,
    observer: &mut dyn Observer<P>,
) -> Attempt<P> {
    settle();
    let meter = MemoryMeter::start();
    run::run_measured(entry, input, setup, limits, observer, || meter.peak())
}

/// Waits until no solver that was left behind computes any more, at most [`SETTLING`].
fn settle() {
    let started = Instant::now();
    while plimsoll_solvers::abandoned() > 0 && started.elapsed() < SETTLING && !interrupt::is_requested() {
        std::thread::sleep(Duration::from_millis(5));
    }
}
