//! Resolves a sweep file into a list of runs.

use super::SweepError;
use super::file::{RawSweep, Source};
use super::input::Input;
use super::inputs::inputs;
use super::lists::Capacity;
use super::manifest::{AlgorithmRecord, InputRecord, Resolved};
use super::tasks::{Task, tasks};
use crate::external::{External, VersionCommands};
use crate::machine::Machine;
use crate::record::{Columns, Extras, Record, metrics};
use plimsoll::posed::{Subject, SubjectKind, is_on_instances, profile};
use plimsoll_model::{Bytes, hexadecimal, interrupt};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Default time beyond the time limit after which a run counts as hung and is killed.
const GRACE: Duration = Duration::from_secs(10);
/// Maximum number of runs of a sweep, which bounds the memory for the list of runs.
const MOST_RUNS: u64 = 10_000_000;
/// Number of hexadecimal digits of a key.
const KEY: usize = 32;

/// The byte positions in the file of the entries that define the inputs and the tasks.
struct Places {
    inputs: Vec<usize>,
    tasks: Vec<usize>,
}

impl Places {
    /// Returns the position of the entry to which the error about a duplicate run refers. If the inputs of
    /// the two runs come from different entries, this is the later of these entries. Otherwise it is the
    /// later of the entries of their algorithms.
    fn of(&self, run: &Run, first: &Run) -> usize {
        let (own, other) = (self.inputs[run.input], self.inputs[first.input]);
        if own == other { self.tasks[run.task].max(self.tasks[first.task]) } else { own.max(other) }
    }
}

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The number of the run in the sweep, counted from 0.
    pub index: u64,
    /// The index of the input in [`Sweep::inputs`].
    pub input: usize,
    /// The index of the task in [`Sweep::tasks`].
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

/// A resolved sweep: inputs, tasks, and all runs in order.
#[derive(Debug)]
pub struct Sweep {
    /// The name of the sweep file.
    pub file: String,
    /// The instances and graphs.
    pub inputs: Vec<Input>,
    /// The algorithms with their parameters.
    pub tasks: Vec<Task>,
    /// The external planners among the tasks.
    pub peers: Vec<External>,
    /// All runs, ordered by input, task, time limit, node limit, seed and repetition.
    pub runs: Vec<Run>,
    /// The columns of the rows.
    pub columns: Columns,
    /// The groups of optional columns to record.
    pub extras: Extras,
    /// The metrics that the sweep file lists, or `None` if it lists none.
    metrics: Option<Vec<String>>,
    /// Time beyond the time limit after which a run counts as hung.
    pub grace: Duration,
    /// Limit on the resident memory of a run, in bytes.
    pub memory: Option<u64>,
}

impl Sweep {
    /// Reads a sweep file and resolves its contents. Paths in the file are relative to `folder`. Every input
    /// is read or generated. With [`VersionCommands::Skip`], no command of the file runs. The versions of
    /// external planners are then unknown, and so are the [keys](Self::known_key) of their runs.
    ///
    /// # Errors
    /// [`SweepError`] with the file, the line, the key and the value. An instance that cannot be read is not
    /// an error. Its rows have the status `unreadable`.
    pub fn read(path: &Path, folder: &Path, commands: VersionCommands) -> Result<Self, SweepError> {
        let source = Source::open(path, folder)?;
        let raw = source.parse()?;
        let mut found: Vec<Input> = Vec::new();
        let mut places = Places { inputs: Vec::new(), tasks: Vec::new() };
        for (at, entry) in raw.instances.get_ref().iter().enumerate() {
            let start = entry.span().start;
            found.extend(inputs(&source, start, at + 1, entry.get_ref())?);
            // A suite that was interrupted is incomplete.
            if interrupt::is_requested() {
                return Err(SweepError::Interrupted);
            }
            places.inputs.resize(found.len(), start);
        }
        let mut peers = Vec::new();
        let tasks = tasks((&source, &raw), commands, &mut places.tasks, &mut peers)?;
        let empty = [
            ("instances", found.is_empty(), raw.instances.span()),
            ("algorithms", tasks.is_empty(), raw.algorithms.span()),
        ];
        if let Some((list, _, span)) = empty.into_iter().find(|(_, is_empty, _)| *is_empty) {
            return Err(source.wrong(span.start, &format!("{list}: the list is empty")));
        }
        let columns = columns(&source, &raw)?;
        let extras = columns.extras();
        let grace = match raw.limits.grace.as_ref().map(|grace| (grace.get_ref().0.as_slice(), grace.span()))
        {
            None => GRACE,
            Some((&[one], _)) => one,
            Some((_, span)) => {
                let message = "limits.grace: expected one number of seconds, not a list";
                return Err(source.wrong(span.start, message));
            }
        };
        if let Some(memory) = raw.limits.memory.as_ref().filter(|memory| memory.get_ref().0 == 0) {
            let message = "limits.memory is 0; omit it for no limit";
            return Err(source.wrong(memory.span().start, message));
        }
        let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let metrics = raw.metrics.map(|names| names.into_iter().map(toml::Spanned::into_inner).collect());
        let memory = raw.limits.memory.map(|memory| memory.get_ref().0);
        let mut sweep = Self {
            file,
            inputs: found,
            tasks,
            peers,
            runs: Vec::new(),
            columns,
            extras,
            metrics,
            grace,
            memory,
        };
        sweep.nothing_idle(&places).map_err(|(at, message)| source.wrong(at, &message))?;
        sweep.not_too_many(&places).map_err(|(at, message)| source.wrong(at, &message))?;
        sweep.enumerate(&places).map_err(|(at, message)| source.wrong(at, &message))?;
        Ok(sweep)
    }

    /// Returns the errors of the inputs that could not be read, each once.
    pub fn unreadable(&self) -> Vec<&str> {
        let mut errors: Vec<&str> =
            self.inputs.iter().filter_map(|input| input.subject.as_ref().err()).map(String::as_str).collect();
        let mut seen = HashSet::new();
        errors.retain(|error| seen.insert(*error));
        errors
    }

    /// Checks that the list of runs is not too long, before it is created.
    fn not_too_many(&self, places: &Places) -> Result<(), (usize, String)> {
        let mut runs = 0u64;
        for (at, task) in self.tasks.iter().enumerate() {
            let inputs = (0..self.inputs.len()).filter(|&input| self.go_together(input, at)).count();
            let own = task.count().and_then(|each| each.checked_mul(inputs as u64));
            runs = own.and_then(|own| runs.checked_add(own)).filter(|&runs| runs <= MOST_RUNS).ok_or_else(|| {
                let (inputs, seeds, repetitions) = (self.inputs.len(), task.seeds.len(), task.repetitions);
                let message = format!(
                    "with algorithm '{}' ({}) the sweep has more than {MOST_RUNS} runs: {inputs} instances, \
                     {seeds} seeds, {repetitions} repetitions",
                    task.algorithm, task.problem
                );
                (places.tasks[at], message)
            })?;
        }
        Ok(())
    }

    /// Creates the list of runs. Duplicate runs are errors.
    fn enumerate(&mut self, places: &Places) -> Result<(), (usize, String)> {
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
        let mut seen: HashMap<&str, &Run> = HashMap::with_capacity(runs.len());
        for run in &runs {
            if let Some(first) = seen.insert(&run.key, run) {
                let (index, other, text) = (run.index, first.index, self.describe(run));
                let message = format!("run {index} duplicates run {other}: {text}");
                return Err((places.of(run, first), message));
            }
        }
        self.runs = runs;
        Ok(())
    }

    /// Returns true if the problem of a task accepts the kind of an input and may be posed on that input.
    fn go_together(&self, input: usize, task: usize) -> bool {
        let (problem, input) = (self.tasks[task].problem, &self.inputs[input]);
        takes(problem, input.kind) && (input.problems.is_empty() || input.problems.contains(&problem))
    }

    /// Checks that every input and every algorithm has at least one run.
    fn nothing_idle(&self, places: &Places) -> Result<(), (usize, String)> {
        let solved = |problem: &&str| self.tasks.iter().any(|task| task.problem == *problem);
        for (input, place) in self.inputs.iter().zip(&places.inputs) {
            if let Some(problem) = input.problems.iter().find(|problem| !solved(problem)) {
                let message = format!("as: no algorithm in this file solves {problem}");
                return Err((*place, message));
            }
        }
        let (inputs, tasks) = (0..self.inputs.len(), 0..self.tasks.len());
        if let Some(idle) =
            inputs.clone().find(|&input| !tasks.clone().any(|task| self.go_together(input, task)))
        {
            let Input { suite, name, kind, .. } = &self.inputs[idle];
            let message = format!("{suite} '{name}': no algorithm accepts this {kind}");
            return Err((places.inputs[idle], message));
        }
        if let Some(idle) =
            tasks.clone().find(|&task| !inputs.clone().any(|input| self.go_together(input, task)))
        {
            let Task { problem, algorithm, .. } = &self.tasks[idle];
            let missing = if takes(problem, SubjectKind::Graph) { "graph" } else { "instance" };
            let hint = if is_on_instances(problem)
                && self.inputs.iter().any(|input| input.kind == SubjectKind::Graph)
            {
                format!("; as = \"{problem}\" derives instances from models")
            } else {
                String::new()
            };
            let message =
                format!("algorithm '{algorithm}' ({problem}): there is no {missing} to run on{hint}");
            return Err((places.tasks[idle], message));
        }
        Ok(())
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
        let decided = decided(task);
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
        parts.extend(Some(self.terms(run)).filter(|terms| !terms.is_empty()));
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
    pub(super) fn peer(&self, task: usize) -> Option<&External> {
        self.tasks[task].peer.map(|peer| &self.peers[peer])
    }

    /// Returns the capacity passed to an external planner. If the run decides a capacity, the planner gets
    /// this capacity. Otherwise it gets the capacity in the file or, if there is none, the load. If no
    /// capacity is decided, layouts that exceed the passed capacity are also accepted.
    pub(super) fn passed_capacity(&self, run: &Run) -> Option<Bytes> {
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
            add("terms", self.terms(run).to_owned());
        }
        if task.threads != 1 {
            add("threads", task.threads.to_string());
        }
        if task.decide.is_some() {
            add("decide", decided(task));
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
    fn terms(&self, run: &Run) -> &str {
        let (input, task) = (&self.inputs[run.input], &self.tasks[run.task]);
        if input.terms.is_empty() { &task.terms } else { &input.terms }
    }

    /// Returns the capacity that a run decides, if it decides one and the capacity is known.
    pub(super) fn capacity(&self, run: &Run) -> Option<Bytes> {
        let input = &self.inputs[run.input];
        match self.tasks[run.task].decide.as_ref()? {
            Capacity::File => input.capacity(),
            Capacity::Load => input.load,
            Capacity::Bytes(bytes) => input.instance().map(|_| Bytes::new(*bytes)),
        }
    }

    /// Returns the row of a run that has not been attempted yet.
    pub(super) fn blank(&self, run: &Run, machine: &Machine) -> Record {
        let (input, task) = (&self.inputs[run.input], &self.tasks[run.task]);
        let peer = self.peer(run.task);
        let (buffers, operators) = match &input.subject {
            Ok(Subject::Instance(instance)) => (Some(instance.len()), None),
            Ok(Subject::Graph(graph)) => (None, Some(graph.operators().len())),
            Err(_) => (None, None),
        };
        Record {
            run: run.index,
            key: run.key.clone(),
            suite: input.suite.clone(),
            instance: input.name.clone(),
            sha256: input.sha256.clone(),
            problem: task.problem.to_owned(),
            unit: profile(task.problem).map_or("", |own| own.unit).to_owned(),
            terms: self.terms(run).to_owned(),
            algorithm: task.algorithm.clone(),
            kind: task.kind.clone(),
            threads: task.threads,
            decide: decided(task),
            capacity: if peer.is_some() { self.passed_capacity(run) } else { self.capacity(run) }
                .map(Bytes::get),
            time_limit: run.time.map(|time| time.as_secs_f64()),
            node_limit: run.nodes,
            seed: run.seed,
            repetition: run.repetition,
            buffers,
            operators,
            load: input.load.map(Bytes::get),
            params: peer.map(External::line).unwrap_or_default(),
            version: peer
                .map_or(machine.version.as_str(), |peer| peer.version().unwrap_or_default())
                .to_owned(),
            ..Record::on(machine)
        }
    }

    /// Returns the resolved sweep, which is stored in the manifest or compared with it.
    pub fn resolved(&self) -> Resolved {
        let mut hasher = Sha256::new();
        for run in &self.runs {
            hasher.update(&run.key);
        }
        let decides = self.tasks.iter().any(|task| task.decide == Some(Capacity::File));
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
                    external: self.peer(at).map(External::line),
                    version: self.peer(at).and_then(External::version).map(str::to_owned),
                    terms: task.terms.clone(),
                    threads: task.threads,
                    decide: task.decide.as_ref().map(ToString::to_string),
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

/// Returns true if a problem can be posed on subjects of this kind.
fn takes(problem: &str, kind: SubjectKind) -> bool {
    profile(problem).is_some_and(|own| (own.takes)(kind))
}

fn decided(task: &Task) -> String {
    task.decide.as_ref().map_or_else(String::new, ToString::to_string)
}

fn columns(source: &Source, raw: &RawSweep) -> Result<Columns, SweepError> {
    let names: Option<Vec<String>> =
        raw.metrics.as_ref().map(|names| names.iter().map(|name| name.get_ref().clone()).collect());
    let columns =
        Columns::of(names.as_deref(), Extras { trace: raw.trace, layouts: raw.layouts, proofs: raw.proofs });
    columns.ok_or_else(|| {
        let known: Vec<&str> = metrics().collect();
        let mut given = raw.metrics.iter().flatten();
        let (at, bad) = given
            .find(|name| !known.contains(&name.get_ref().as_str()))
            .map_or((0, ""), |bad| (bad.span().start, bad.get_ref()));
        let known = known.join(", ");
        source.wrong(at, &format!("metrics: unknown '{bad}'; known: {known} (other columns are always kept)"))
    })
}
