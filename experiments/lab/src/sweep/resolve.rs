//! Resolves a sweep file into an experiment.

use super::file::{RawSweep, Source};
use super::inputs::inputs;
use super::tasks::tasks;
use crate::experiment::{Experiment, ExperimentError, Input, Run, Task};
use crate::external::VersionCommands;
use crate::row::{Columns, Extras, metrics};
use plimsoll::posed::{SubjectKind, is_on_instances, takes};
use plimsoll_support::interrupt;
use std::path::Path;

/// Maximum number of runs of a sweep, which bounds the memory for the list of runs.
const MOST_RUNS: u64 = 10_000_000;

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

/// Reads a sweep file and resolves its contents. Paths in the file are relative to `folder`. Every input
/// is read or generated. With [`VersionCommands::Skip`], no command of the file runs. The versions of
/// external planners are then unknown, and so are the [keys](Experiment::known_key) of their runs.
///
/// # Errors
/// [`ExperimentError`] with the file, the line, the key and the value. An instance that cannot be read is not
/// an error. Its rows have the status `unreadable`.
pub fn read(path: &Path, folder: &Path, commands: VersionCommands) -> Result<Experiment, ExperimentError> {
    let source = Source::open(path, folder)?;
    let raw = source.parse()?;
    let mut found: Vec<Input> = Vec::new();
    let mut places = Places { inputs: Vec::new(), tasks: Vec::new() };
    for (at, entry) in raw.instances.get_ref().iter().enumerate() {
        let start = entry.span().start;
        found.extend(inputs(&source, start, at + 1, entry.get_ref())?);
        // A suite that was interrupted is incomplete.
        if interrupt::is_requested() {
            return Err(ExperimentError::Interrupted);
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
    let extras = columns(&source, &raw)?.extras();
    let grace = match raw.limits.grace.as_ref().map(|grace| (grace.get_ref().0.as_slice(), grace.span())) {
        None => Experiment::default().grace,
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
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let metrics = raw.metrics.map(|names| names.into_iter().map(toml::Spanned::into_inner).collect());
    let memory = raw.limits.memory.map(|memory| memory.get_ref().0);
    let mut experiment =
        Experiment { name, inputs: found, tasks, peers, runs: Vec::new(), extras, metrics, grace, memory };
    let wrong = |(at, message): (usize, String)| source.wrong(at, &message);
    nothing_idle(&experiment, &places).map_err(wrong)?;
    not_too_many(&experiment, &places).map_err(wrong)?;
    if let Some((later, first)) = experiment.list_runs() {
        let [run, other] = [later, first].map(|at| &experiment.runs[at]);
        let message = format!("run {later} duplicates run {first}: {}", experiment.describe(run));
        return Err(source.wrong(places.of(run, other), &message));
    }
    Ok(experiment)
}

/// Checks that the list of runs is not too long, before it is created.
fn not_too_many(experiment: &Experiment, places: &Places) -> Result<(), (usize, String)> {
    let mut runs = 0u64;
    for (at, task) in experiment.tasks.iter().enumerate() {
        let inputs = (0..experiment.inputs.len()).filter(|&input| experiment.go_together(input, at)).count();
        let own = task.count().and_then(|each| each.checked_mul(inputs as u64));
        runs =
            own.and_then(|own| runs.checked_add(own)).filter(|&runs| runs <= MOST_RUNS).ok_or_else(|| {
                let (inputs, seeds, repetitions) =
                    (experiment.inputs.len(), task.seeds.len(), task.repetitions);
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

/// Checks that every input and every algorithm has at least one run.
fn nothing_idle(experiment: &Experiment, places: &Places) -> Result<(), (usize, String)> {
    let solved = |problem: &&str| experiment.tasks.iter().any(|task| task.problem == *problem);
    for (input, place) in experiment.inputs.iter().zip(&places.inputs) {
        if let Some(problem) = input.problems.iter().find(|problem| !solved(problem)) {
            let message = format!("as: no algorithm in this file solves {problem}");
            return Err((*place, message));
        }
    }
    let (inputs, tasks) = (0..experiment.inputs.len(), 0..experiment.tasks.len());
    if let Some(idle) =
        inputs.clone().find(|&input| !tasks.clone().any(|task| experiment.go_together(input, task)))
    {
        let Input { suite, name, kind, .. } = &experiment.inputs[idle];
        let message = format!("{suite} '{name}': no algorithm accepts this {kind}");
        return Err((places.inputs[idle], message));
    }
    if let Some(idle) =
        tasks.clone().find(|&task| !inputs.clone().any(|input| experiment.go_together(input, task)))
    {
        let Task { problem, algorithm, .. } = &experiment.tasks[idle];
        let missing = if takes(problem, SubjectKind::Graph) { "graph" } else { "instance" };
        let hint = if is_on_instances(problem)
            && experiment.inputs.iter().any(|input| input.kind == SubjectKind::Graph)
        {
            format!("; as = \"{problem}\" derives instances from models")
        } else {
            String::new()
        };
        let message = format!("algorithm '{algorithm}' ({problem}): there is no {missing} to run on{hint}");
        return Err((places.tasks[idle], message));
    }
    Ok(())
}

fn columns(source: &Source, raw: &RawSweep) -> Result<Columns, ExperimentError> {
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
