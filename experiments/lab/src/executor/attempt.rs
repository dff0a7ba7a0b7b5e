//! Runs built-in algorithms with the parameters and limits of a row.

use crate::machine::resident;
use crate::proofs::certified;
use crate::row::{Extras, Recorder, Row, Status, Unit};
use plimsoll::Registry;
use plimsoll::posed::{Posed, Subject, Visitor, visit};
use plimsoll::run::Limits;
use plimsoll_model::{Bytes, Entry, Setup, Value};
use plimsoll_support::interrupt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum time for which a measured run waits for abandoned solvers of earlier runs.
const SETTLING: Duration = Duration::from_secs(10);

/// Runs an algorithm on a question within limits, and measures the memory of the run. The row `asked`
/// contains the seed and the number of threads. `extras` determine whether the row contains the trace and
/// whether the bound is certified. The proof of a bound is subject to the same limits, but its time does not
/// count towards the time of the run. Returns the completed row, and the solution if there is one.
pub fn attempt<P: Posed>(
    entry: &'static Entry<P>,
    question: &P::Question<'_>,
    asked: Row,
    limits: Limits,
    extras: Extras,
) -> (Row, Option<P::Solution>) {
    let (problem, unit) = (P::NAME.to_owned(), Unit::of::<P::Value>());
    let (capacity, floor) = (P::capacity_of(question).or(asked.capacity), P::floor_of(question));
    let asked = Row { problem, unit, capacity, floor: floor.map(Value::number), ..asked };
    let setup = asked.setup();
    let resident_bytes = resident("self");
    settle();
    let mut recorder = Recorder::start();
    let result = P::ask(question, (entry, setup, limits), &mut recorder);
    let mut row = Row { resident_bytes, ..asked.answered(recorder.measured(), &result) };
    if row.is_done() {
        let trace = recorder.finish(&row);
        let to_best = row.value.and_then(|value| trace.reached(value));
        row = row.with_time_to_best(to_best);
        if extras.trace {
            row.trace = trace.events;
        }
    }
    let Ok(answer) = result else { return (row, None) };
    if extras.proofs
        && row.is_done()
        && let Some(provable) = P::provable(question, &answer)
    {
        row = certified(row, provable, limits);
    }
    let solution = answer.solution.filter(|_| row.is_done());
    (row, solution)
}

/// A run on an instance or a graph. The problem, the algorithm and the terms are given by name.
pub struct Named<'a> {
    /// The registry that contains the algorithm named in `asked`.
    pub registry: &'a Registry,
    /// The instance, with the capacity to decide, or the graph.
    pub subject: &'a Subject,
    /// The question: problem, algorithm, terms, parameters and limits.
    pub asked: Row,
    /// The groups of optional columns to row.
    pub extras: Extras,
    /// The folder of the row, if solutions are stored.
    pub keep: Option<&'a Path>,
}

impl Named<'_> {
    /// Attempts the run and returns its row. The status is `failed` for an unknown problem, an unknown
    /// algorithm or invalid terms, and `skipped` if the question cannot be posed.
    pub fn attempt(mut self) -> Row {
        let problem = self.asked.problem.clone();
        let unknown = format!("unknown problem '{problem}'");
        visit(&problem, &mut self).unwrap_or_else(|| self.asked.without(Status::Failed, &unknown))
    }
}

impl Visitor for Named<'_> {
    type Output = Row;

    fn visit<P: Posed>(&mut self) -> Row {
        let asked = self.asked.clone();
        let entry = match self.registry.find::<P>(&asked.algorithm) {
            Ok(entry) => entry,
            Err(error) => return asked.without(Status::Failed, &error),
        };
        match P::pose(self.subject, &asked.terms, asked.setup(), asked.limits()) {
            Err(error) => asked.without(Status::Skipped, &error),
            Ok(question) => {
                let limits = asked.limits();
                let (row, solution) = attempt::<P>(entry, &question, asked, limits, self.extras);
                match self.keep {
                    Some(folder) => row.keeping::<P>(&question, solution.as_ref(), folder),
                    None => row,
                }
            }
        }
    }
}

impl Row {
    /// Returns the seed and the number of threads in the row.
    pub fn setup(&self) -> Setup {
        Setup { seed: self.seed, threads: self.threads.max(1), ..Setup::default() }
    }

    /// Returns the limits in the row. A capacity to decide becomes the target.
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
