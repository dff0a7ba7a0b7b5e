//! Experiments: many runs of algorithms on many inputs.
//!
//! | part | purpose |
//! |---|---|
//! | [`Experiment`] | lists the inputs, the tasks and all runs in order, each with a stable key |
//! | [`Input`] | an instance or graph, or the reason why there is none |
//! | [`Task`] | an algorithm with the parameters of its runs |
//! | [`Store`] | the folder of an experiment: appends rows, resumes, sorts and cross-checks them |
//! | [`Manifest`] | describes the experiment in a file next to the rows, and finds differences |
//! | [`merge()`] | joins shards |
//!
//! The command `bench` builds an experiment from its options, `sweep` reads one from a file
//! ([`sweep`](crate::sweep)), and the Python function `bench` builds one from its arguments. The
//! [executors](crate::executor) attempt the runs.

mod error;
mod input;
mod manifest;
mod merge;
mod readme;
mod store;
mod task;

pub use error::ExperimentError;
pub use input::{Input, Unready};
pub use manifest::{InputRecord, MANIFEST, Manifest, ModelRecord, Shard};
pub use merge::{Merge, merge};
pub use readme::explain;
pub(crate) use store::{ARRAY_SCRIPT, check_own};
pub use store::{Opened, Store};
pub use task::Task;

use crate::external::External;
use crate::machine::Machine;
use crate::row::{Columns, Decide, Extras, Row, Status, Unit};
use manifest::{AlgorithmRecord, Resolved};
use plimsoll::posed::{Terms, profile, takes};
use plimsoll_model::Bytes;
use plimsoll_support::hexadecimal;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::time::Duration;

/// Number of hexadecimal digits of a key.
const KEY: usize = 32;
/// The error message of a run that is skipped because it must decide a capacity but has none.
const NO_CAPACITY: &str = "the instance has no capacity to decide";

/// A run of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The number of the run in the experiment, counted from 0.
    pub index: u64,
    /// The index of the input in [`Experiment::inputs`].
    pub input: usize,
    /// The index of the task in [`Experiment::tasks`].
    pub task: usize,
    /// The seed of all random choices.
    pub seed: u64,
    /// Number of the run among equal runs, counted from 1.
    pub repetition: u64,
    /// The time limit, if there is one.
    pub time: Option<Duration>,
    /// The node limit, if there is one.
    pub nodes: Option<u64>,
    /// The key that distinguishes the run from all others.
    pub key: String,
}

impl Run {
    /// Returns the runs of a task on one input, without numbers and keys.
    fn of(owner: &Task, input: usize, task: usize) -> impl Iterator<Item = Self> {
        let limits = owner.times.iter().flat_map(|time| owner.nodes.iter().map(move |nodes| (*time, *nodes)));
        let seeded = limits.flat_map(|limits| owner.seeds.iter().map(move |seed| (limits, *seed)));
        let repeated = seeded.flat_map(|seeded| (1..=owner.repetitions).map(move |nth| (seeded, nth)));
        repeated.map(move |(((time, nodes), seed), repetition)| Self {
            index: 0,
            input,
            task,
            seed,
            repetition,
            time,
            nodes,
            key: String::new(),
        })
    }
}

/// Inputs, tasks, and all runs in order.
#[derive(Debug)]
pub struct Experiment {
    /// The name of the file that describes the experiment, or the command.
    pub name: String,
    /// The instances and graphs.
    pub inputs: Vec<Input>,
    /// The algorithms with their parameters.
    pub tasks: Vec<Task>,
    /// The external planners among the tasks.
    pub peers: Vec<External>,
    /// All runs, ordered by input, task, time limit, node limit, seed and repetition.
    pub runs: Vec<Run>,
    /// The groups of optional columns to record.
    pub extras: Extras,
    /// The metrics to keep, or `None` for all.
    pub metrics: Option<Vec<String>>,
    /// Time beyond the time limit after which a run counts as hung.
    pub grace: Duration,
    /// Limit on the resident memory of a run, in bytes.
    pub memory: Option<u64>,
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            name: String::new(),
            inputs: Vec::new(),
            tasks: Vec::new(),
            peers: Vec::new(),
            runs: Vec::new(),
            extras: Extras::default(),
            metrics: None,
            grace: Duration::from_secs(10),
            memory: None,
        }
    }
}

impl Experiment {
    /// Creates an experiment, and lists its runs.
    pub fn new(name: &str, inputs: Vec<Input>, tasks: Vec<Task>) -> Self {
        let mut own = Self { name: name.to_owned(), inputs, tasks, ..Self::default() };
        own.list_runs();
        own
    }

    /// Lists the runs: every task on every input that it accepts. Returns the indices of the first two runs
    /// that are equal, the later one first, if there are any.
    pub fn list_runs(&mut self) -> Option<(usize, usize)> {
        let mut runs: Vec<Run> = Vec::new();
        for input in 0..self.inputs.len() {
            for task in (0..self.tasks.len()).filter(|&task| self.go_together(input, task)) {
                for mut run in Run::of(&self.tasks[task], input, task) {
                    run.index = runs.len() as u64;
                    run.key = self.key(&run);
                    runs.push(run);
                }
            }
        }
        self.runs = runs;
        let mut seen: HashMap<&str, usize> = HashMap::with_capacity(self.runs.len());
        let mut keys = self.runs.iter().map(|run| run.key.as_str()).enumerate();
        keys.find_map(|(at, key)| Some((at, seen.insert(key, at)?)))
    }

    /// Returns the columns of the rows.
    pub fn columns(&self) -> Columns {
        Columns::of(self.metrics.as_deref(), self.extras).unwrap_or_else(Columns::all)
    }

    /// Returns the row of a run that is about to start.
    ///
    /// # Errors
    /// The row of a run that cannot start, because there is no input or no capacity to decide.
    pub fn asked(&self, run: &Run, machine: &Machine) -> Result<Row, Box<Row>> {
        let asked = self.blank(run, machine);
        match &self.inputs[run.input].subject {
            Err(Unready::Unreadable(why)) => Err(Box::new(asked.without(Status::Unreadable, why))),
            Err(Unready::NotPosed(why)) => Err(Box::new(asked.without(Status::Skipped, why))),
            Ok(_) if asked.decides() && self.capacity(run).is_none() => {
                Err(Box::new(asked.without(Status::Skipped, NO_CAPACITY)))
            }
            Ok(_) => Ok(asked),
        }
    }

    /// Returns the errors of the inputs that could not be read, each once.
    pub fn unreadable<'a>(&'a self) -> Vec<&'a str> {
        let unreadable = |input: &'a Input| match &input.subject {
            Err(Unready::Unreadable(why)) => Some(why.as_str()),
            _ => None,
        };
        let mut errors: Vec<&str> = self.inputs.iter().filter_map(unreadable).collect();
        let mut seen = HashSet::new();
        errors.retain(|error| seen.insert(*error));
        errors
    }

    /// Returns true if the problem of a task accepts the kind of an input and may be posed on that input.
    pub(crate) fn go_together(&self, input: usize, task: usize) -> bool {
        let (problem, input) = (self.tasks[task].problem, &self.inputs[input]);
        takes(problem, input.kind) && (input.problems.is_empty() || input.problems.contains(&problem))
    }

    /// Returns a hash of everything that distinguishes a run from others, including the name of the instance.
    fn key(&self, run: &Run) -> String {
        let (input, task) = (&self.inputs[run.input], &self.tasks[run.task]);
        let time = run.time.map_or_else(|| "-".to_owned(), |time| time.as_nanos().to_string());
        let nodes = run.nodes.map_or_else(|| "-".to_owned(), |nodes| nodes.to_string());
        let memory = self.memory.map_or_else(|| "-".to_owned(), |memory| memory.to_string());
        let (threads, seed, repetition) =
            (task.threads.to_string(), run.seed.to_string(), run.repetition.to_string());
        let capacity = self.capacity(run).map(|capacity| capacity.to_string());
        let decided = task.decide.map_or_else(String::new, |decide| decide.to_string());
        let terms = self.terms(run).to_string();
        let mut parts: Vec<&str> = vec![
            &input.suite,
            &input.name,
            &input.sha256,
            task.problem,
            &task.algorithm,
            &threads,
            &decided,
            &seed,
            &repetition,
            &time,
            &nodes,
            &memory,
        ];
        // The following properties are omitted from the key of a run that lacks them.
        parts.extend(capacity.as_deref());
        parts.extend(Some(terms.as_str()).filter(|terms| !terms.is_empty()));
        let line = self.peer(run.task).map(External::line);
        parts.extend(line.as_deref());
        parts.extend(self.peer(run.task).and_then(External::version));
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut key = hexadecimal(&hasher.finalize());
        key.truncate(KEY);
        key
    }

    /// Returns the key of a run, or `None` if it depends on a version whose command did not run.
    pub fn known_key<'a>(&self, run: &'a Run) -> Option<&'a str> {
        let is_skipped = self.peer(run.task).is_some_and(External::is_version_skipped);
        (!is_skipped).then_some(&run.key)
    }

    /// Returns the external planner of a task, if it has one.
    pub(crate) fn peer(&self, task: usize) -> Option<&External> {
        self.tasks[task].peer.map(|peer| &self.peers[peer])
    }

    /// Returns the capacity passed to an external planner. If the run decides a capacity, the planner gets
    /// this capacity. Otherwise it gets the capacity in the file or, if there is none, the load. If no
    /// capacity is decided, layouts that exceed the passed capacity are also accepted.
    pub(crate) fn passed_capacity(&self, run: &Run) -> Option<Bytes> {
        let input = &self.inputs[run.input];
        let decides = self.tasks[run.task].decide.is_some();
        if decides { self.capacity(run) } else { input.capacity().or(input.load) }
    }

    /// Returns a description of a run.
    pub fn describe(&self, run: &Run) -> String {
        let (input, task) = (&self.inputs[run.input], &self.tasks[run.task]);
        let mut text = format!("{} {} by {} ({})", input.suite, input.name, task.algorithm, task.problem);
        let mut add = |name: &str, value: String| {
            let _ = write!(text, ", {name} {value}");
        };
        add("seed", run.seed.to_string());
        add("repetition", run.repetition.to_string());
        if !self.terms(run).is_empty() {
            add("terms", self.terms(run).to_string());
        }
        if task.threads != 1 {
            add("threads", task.threads.to_string());
        }
        if let Some(decide) = task.decide {
            add("decide", decide.to_string());
        }
        if let Some(time) = run.time {
            add("time", format!("{} s", time.as_secs_f64()));
        }
        if let Some(nodes) = run.nodes {
            add("nodes", nodes.to_string());
        }
        text
    }

    /// Returns the terms of a run. They are the terms of the algorithm or, for an instance derived from a
    /// model, the terms of the input.
    pub(crate) fn terms(&self, run: &Run) -> &Terms {
        let (input, task) = (&self.inputs[run.input], &self.tasks[run.task]);
        if input.terms.is_empty() { &task.terms } else { &input.terms }
    }

    /// Returns the capacity that a run decides, if it decides one and the capacity is known.
    pub(crate) fn capacity(&self, run: &Run) -> Option<Bytes> {
        let input = &self.inputs[run.input];
        match self.tasks[run.task].decide? {
            Decide::File => input.capacity(),
            Decide::Load => input.load,
            Decide::Bytes(bytes) => input.instance().map(|_| Bytes::new(bytes)),
        }
    }

    /// Returns the row of a run that has not been attempted yet.
    pub(crate) fn blank(&self, run: &Run, machine: &Machine) -> Row {
        let (input, task) = (&self.inputs[run.input], &self.tasks[run.task]);
        let peer = self.peer(run.task);
        let row = Row::on(&peer.map_or_else(|| machine.clone(), |peer| peer.machine(machine)));
        let row = match &input.subject {
            Ok(subject) => row.sized(subject),
            Err(_) => row,
        };
        Row {
            run: run.index,
            key: run.key.clone(),
            suite: input.suite.clone(),
            instance: input.name.clone(),
            sha256: input.sha256.clone(),
            problem: task.problem.to_owned(),
            unit: unit(task.problem),
            terms: self.terms(run).clone(),
            algorithm: task.algorithm.clone(),
            kind: Some(task.kind),
            threads: task.threads,
            decide: task.decide,
            capacity: match peer {
                Some(peer) if !peer.is_own() => self.passed_capacity(run).map(Bytes::get),
                _ => self.capacity(run).map(Bytes::get),
            },
            time_limit: run.time.map(|time| time.as_secs_f64()),
            node_limit: run.nodes,
            seed: run.seed,
            repetition: run.repetition,
            load: input.load.map(Bytes::get),
            params: peer.map(External::line).unwrap_or_default(),
            ..row
        }
    }

    /// Returns the resolved sweep, which is stored in the manifest or compared with it.
    pub fn resolved(&self) -> Resolved {
        let mut hasher = Sha256::new();
        for run in &self.runs {
            hasher.update(&run.key);
        }
        let decides = self.tasks.iter().any(|task| task.decide == Some(Decide::File));
        Resolved {
            inputs: self
                .inputs
                .iter()
                .map(|input| InputRecord {
                    suite: input.suite.clone(),
                    name: input.name.clone(),
                    sha256: input.sha256.clone(),
                    capacity: input.capacity().filter(|_| decides).map(Bytes::get),
                    terms: input.terms.clone(),
                    model: input.model.clone(),
                })
                .collect(),
            algorithms: self
                .tasks
                .iter()
                .enumerate()
                .map(|(at, task)| AlgorithmRecord {
                    problem: task.problem.to_owned(),
                    name: task.algorithm.clone(),
                    external: self.peer(at).filter(|peer| !peer.is_own()).map(External::line),
                    version: self.peer(at).and_then(External::version).map(str::to_owned),
                    terms: task.terms.clone(),
                    threads: task.threads,
                    decide: task.decide,
                    time: task.times.iter().map(|time| time.map(|time| time.as_secs_f64())).collect(),
                    nodes: task.nodes.clone(),
                    seeds: task.seeds.clone(),
                    repetitions: task.repetitions,
                })
                .collect(),
            metrics: self.metrics.clone(),
            trace: self.extras.trace,
            layouts: self.extras.layouts,
            proofs: self.extras.proofs,
            grace: self.grace.as_secs_f64(),
            memory: self.memory,
            runs: self.runs.len() as u64,
            keys: hexadecimal(&hasher.finalize()),
        }
        .normal()
    }
}

/// Returns the unit of the values of a problem.
fn unit(problem: &str) -> Unit {
    profile(problem).and_then(|own| own.unit.parse().ok()).unwrap_or_default()
}
