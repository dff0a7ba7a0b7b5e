//! Runs built-in algorithms with the parameters and limits of a record.

use crate::machine::{MemoryMeter, resident};
use crate::proofs::certified;
use crate::record::{Extras, Record, Recorder};
use plimsoll::Registry;
use plimsoll::posed::{Asked, Posed, Subject, Terms, Visitor, visit};
use plimsoll::run::Limits;
use plimsoll_model::{Bytes, Entry, Observer, Setup, Value, interrupt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum time for which a measured run waits for abandoned solvers of earlier runs.
const SETTLING: Duration = Duration::from_secs(10);
/// The error message of a run that is skipped because it must decide a capacity but has none.
pub const NO_CAPACITY: &str = "the instance has no capacity to decide";

/// Runs an algorithm on a question within limits, and measures the memory of the run. The record `asked`
/// contains the seed and the number of threads. `extras` determine whether the record contains the trace and
/// whether the bound is certified. The proof of a bound is subject to the same limits, but its time does not
/// count towards the time of the run. Returns the completed record, and the solution if there is one.
pub fn attempt<P: Posed>(
    entry: &'static Entry<P>,
    question: &P::Question<'_>,
    asked: Record,
    limits: Limits,
    extras: Extras,
) -> (Record, Option<P::Solution>) {
    let (problem, unit) = (P::NAME.to_owned(), P::Value::UNIT.to_owned());
    let asked = Record { problem, unit, capacity: P::capacity_of(question).or(asked.capacity), ..asked };
    if asked.decides() && asked.capacity.is_none() {
        return (asked.without("skipped", NO_CAPACITY), None);
    }
    let setup = asked.setup();
    let resident_bytes = resident("self");
    settle();
    let meter = MemoryMeter::start();
    let mut recorder = Recorder::start();
    let observer: &mut dyn Observer<P> = &mut recorder;
    let run = P::ask(question, Asked { entry, setup, limits, observer, peak_memory: &mut || meter.peak() });
    let mut record = Record { resident_bytes, ..asked.answered(&run) };
    if record.status == "done" {
        let trace = recorder.finish(&record);
        let to_best = record.value.and_then(|value| trace.reached(value));
        record = record.with_time_to_best(to_best);
        if extras.trace {
            record.trace = trace.to_string();
        }
    }
    let Ok(answer) = run.result else { return (record, None) };
    if extras.proofs
        && record.status == "done"
        && let Some(provable) = P::provable(question, &answer)
    {
        record = certified(record, provable, limits);
    }
    let solution = answer.solution.filter(|_| record.status == "done");
    (record, solution)
}

/// A run on an instance or a graph. The problem, the algorithm and the terms are given by name.
pub struct Named<'a> {
    /// The registry that contains the algorithm named in `asked`.
    pub registry: &'a Registry,
    /// The instance, with the capacity to decide, or the graph.
    pub subject: &'a Subject,
    /// The question: problem, algorithm, terms, parameters and limits.
    pub asked: Record,
    /// The groups of optional columns to record.
    pub extras: Extras,
    /// The folder of the record, if solutions are stored.
    pub keep: Option<&'a Path>,
}

impl Named<'_> {
    /// Attempts the run and returns its record. The status is `failed` for an unknown problem, an unknown
    /// algorithm or invalid terms, and `skipped` if the question cannot be posed.
    pub fn attempt(mut self) -> Record {
        let problem = self.asked.problem.clone();
        visit(&problem, &mut self).unwrap_or_else(|| self.unknown())
    }

    fn unknown(&self) -> Record {
        let why = format!("unknown algorithm '{}' for {}", self.asked.algorithm, self.asked.problem);
        self.asked.clone().without("failed", &why)
    }
}

impl Visitor for Named<'_> {
    type Output = Record;

    fn visit<P: Posed>(&mut self) -> Record {
        let Some(entry) = self.registry.named::<P>(&self.asked.algorithm) else { return self.unknown() };
        let asked = self.asked.clone();
        let terms: Terms = match asked.terms.parse() {
            Ok(terms) => terms,
            Err(error) => return asked.without("failed", &error),
        };
        match P::pose(self.subject, &terms, asked.setup(), asked.limits()) {
            Err(error) => asked.without("skipped", &error),
            Ok(question) => {
                let limits = asked.limits();
                let (record, solution) = attempt::<P>(entry, &question, asked, limits, self.extras);
                match self.keep {
                    Some(folder) => record.keeping::<P>(&question, solution.as_ref(), folder),
                    None => record,
                }
            }
        }
    }
}

impl Record {
    /// Returns the seed and the number of threads in the record.
    pub fn setup(&self) -> Setup {
        Setup { seed: self.seed, threads: self.threads.max(1), ..Setup::default() }
    }

    /// Returns the limits in the record. A capacity to decide becomes the target.
    pub fn limits(&self) -> Limits {
        let target = self.capacity.filter(|_| self.decides()).map(Bytes::new);
        Limits { time: self.time(), nodes: self.node_limit, target, deadline: None }
    }
}

/// Waits until all abandoned solvers have ended, but for at most [`SETTLING`]. A request to stop ends the
/// wait. An abandoned solver would compete with the measured run for the processor.
fn settle() {
    let started = Instant::now();
    while plimsoll_solvers::abandoned() > 0 && started.elapsed() < SETTLING && !interrupt::is_requested() {
        std::thread::sleep(Duration::from_millis(5));
    }
}
