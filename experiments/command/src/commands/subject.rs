//! The instance of `solve`, `verify`, `compare` and `audit`: a CSV file, or a model whose operators run in
//! file order.

use super::choose;
use crate::args::{InstanceArgs, LivenessArgs, OpenArgs};
use crate::failure::Failure;
use crate::input::{input_file, quoted};
use crate::report::{Printed, Text, capacity, pinned, pins, size};
use clap::{Args, ValueEnum};
use plimsoll::branches::ordered_program;
use plimsoll::datasets::{Import, import_file, is_model};
use plimsoll::graphs::GraphRun;
use plimsoll::model::csv::Pins;
use plimsoll::model::graph::{Graph, LivenessOptions};
use plimsoll::model::program::ProgramOptions;
use plimsoll::model::{Bytes, Instance, Layout, Setup, Step, Witness, load};
use plimsoll::run::Limits;
use plimsoll_lab::report::{Basis, human};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// An instance or a model, with options for reading it.
#[derive(Args, Debug)]
pub struct SubjectArgs {
    /// Instance (.csv), graph (.json) or model (.onnx, .tflite); the operators of a graph or model run in the
    /// order of the file
    #[arg(index = 1, value_parser = input_file())]
    pub instance: PathBuf,
    #[command(flatten)]
    input: InstanceArgs,
    #[command(flatten)]
    import: OpenArgs,
    #[command(flatten)]
    liveness: LivenessArgs,
}

/// An instance and its origin.
#[derive(Clone)]
pub struct Subject {
    pub instance: Instance,
    /// The offsets in the CSV file, if every buffer has one.
    pub plan: Option<Layout>,
    /// The origin of the capacity: the file name or an option.
    capacity_from: Option<&'static str>,
    model: Option<FromModel>,
}

/// The model from which an instance was derived.
#[derive(Clone)]
struct FromModel {
    basis: Basis,
    graph: Graph,
    liveness: LivenessOptions,
    /// What happens at each step, with the names of operators.
    steps: Vec<String>,
}

impl SubjectArgs {
    /// Returns the files that the command reads. Outputs must not overwrite them.
    pub fn files(&self) -> Vec<&Path> {
        [Some(&self.instance), self.import.scratch.as_ref()]
            .into_iter()
            .flatten()
            .map(AsRef::as_ref)
            .collect()
    }

    /// Reads the instance, or derives it from the model. `pins` is the default meaning of offsets in a CSV
    /// file, as for [`InstanceArgs::read`].
    pub fn read(&self, pins: Pins) -> Result<Subject, Failure> {
        self.read_for(pins, false)
    }

    /// Like [`SubjectArgs::read`]. `is_for_code` is true if code uses the offsets of a layout.
    pub fn read_for(&self, pins: Pins, is_for_code: bool) -> Result<Subject, Failure> {
        let path = &self.instance;
        if !is_model(path) {
            if self.has_model_options() {
                let message = "options for models are not allowed with a CSV instance";
                return Err(Failure::input(message).about(path));
            }
            return self.read_csv(path, pins);
        }
        if self.input.no_capacity || self.input.endpoints.is_some() || self.input.offsets.is_some() {
            let message = "--no-capacity, --endpoints and --offsets are allowed only with a CSV instance";
            return Err(Failure::input(message).about(path));
        }
        let (import, _) = self.import()?;
        let liveness = self.liveness.options_of(&import, is_for_code);
        let subject = Subject::of_model(import, liveness);
        let subject = subject.map_err(|failure| failure.about(path))?;
        let capacity = self.input.capacity.map(Bytes::new);
        let instance = subject.instance.with_capacity(capacity);
        Ok(Subject { capacity_from: self.input.capacity_from(&instance), instance, ..subject })
    }

    /// Reads a CSV instance, with the same options.
    pub fn read_csv(&self, path: &Path, pins: Pins) -> Result<Subject, Failure> {
        let noted = self.input.read(path, pins)?;
        let capacity_from = self.input.capacity_from(&noted.value);
        Ok(Subject { plan: noted.plan, capacity_from, ..Subject::of(noted.value) })
    }

    /// Reads the model. Returns it with the options for its liveness analysis.
    pub fn import(&self) -> Result<(Import, LivenessOptions), Failure> {
        let import = import_file(&self.instance, &self.import.options()?).map_err(Failure::input)?;
        Ok((import, self.liveness.options()))
    }

    /// Returns the file and, if they are given, the options `--endpoints` and `--offsets` as arguments of
    /// another command, quoted for a shell.
    pub fn quoted(&self) -> String {
        let endpoints = self.input.endpoints.and_then(|how| how.to_possible_value());
        let offsets = self.input.offsets.and_then(|how| how.to_possible_value());
        let given = [("endpoints", endpoints), ("offsets", offsets)];
        given.iter().fold(quoted(&self.instance), |text, (option, value)| match value {
            Some(value) => format!("{text} --{option} {}", value.get_name()),
            None => text,
        })
    }

    /// Returns true if options for models are given.
    pub fn has_model_options(&self) -> bool {
        !self.import.is_default() || self.liveness.options() != LivenessOptions::default()
    }
}

/// Returns the offset problem of a model whose operators run in file order, and what happens at each step.
fn in_file_order(import: &Import, liveness: LivenessOptions) -> Result<(Instance, Vec<String>), Failure> {
    let graph = &import.graph;
    let order = choose::named(&plimsoll::registry().orders, "as-in-file", "order")?;
    let run = GraphRun { liveness, order, setup: Setup::default(), limits: Limits::default() };
    let run = run.with_final_order();
    if graph.regions().len() > 1 {
        let options = ProgramOptions { liveness: run.liveness, ..ProgramOptions::default() };
        let program = ordered_program(graph, &run, options)?.program;
        let steps = (0..program.points().len() as u64).map(|step| program.at(Step::new(step)));
        return Ok((program.instance().clone(), steps.collect()));
    }
    let regions = run.order(graph)?;
    let body = regions.last().ok_or_else(|| Failure::internal("the graph has no body"))?;
    let instance = body.storages.problem.instance(&body.order, liveness.align).map_err(Failure::input)?;
    Ok((instance, body.steps(graph)))
}

/// Adds what happens at the step of a witness to `words`, the description of the witness. `steps` is empty
/// for a CSV instance.
pub fn at_step(words: String, witness: &Witness, steps: &[String]) -> String {
    let Witness::Load { step } = witness else { return words };
    match usize::try_from(step.get()).ok().and_then(|step| steps.get(step)) {
        Some(at) => format!("{words}, {at}"),
        None => words,
    }
}

impl Subject {
    /// Creates the subject of an instance without a model.
    pub fn of(instance: Instance) -> Self {
        Self { instance, plan: None, capacity_from: None, model: None }
    }

    /// Creates the subject of a model whose operators run in file order.
    pub fn of_model(import: Import, liveness: LivenessOptions) -> Result<Self, Failure> {
        let (instance, steps) = in_file_order(&import, liveness)?;
        let basis = Basis::of(&import);
        let model = FromModel { basis, graph: import.graph, liveness, steps };
        Ok(Self { model: Some(model), ..Self::of(instance) })
    }

    /// Returns the graph of the model, and the options of its liveness analysis.
    pub fn graph(&self) -> Option<(&Graph, LivenessOptions)> {
        self.model.as_ref().map(|model| (&model.graph, model.liveness))
    }

    /// Returns the part of a report about the instance and the model, if there is one.
    pub fn about(&self) -> About<'_> {
        let instance = &self.instance;
        About {
            basis: self.model.as_ref().map(|model| &model.basis),
            order: self.model.as_ref().map(|_| "as-in-file"),
            pinned: pinned(instance),
            rigid_groups: instance.groups().all().len(),
            capacity_from: self.capacity_from,
            plan_in_file: self.plan.as_ref().map(|_| pinned(instance) == 0),
            subject: self,
        }
    }

    /// Returns true if the instance comes from a model.
    pub fn is_model(&self) -> bool {
        self.model.is_some()
    }

    /// Adds what happens at the step of a witness to the description of the witness.
    pub fn explained(&self, words: String, witness: &Witness) -> String {
        at_step(words, witness, self.model.as_ref().map(|model| &model.steps[..]).unwrap_or_default())
    }
}

/// The part of a report about the instance and the model from which it was derived.
#[derive(Serialize)]
pub struct About<'a> {
    #[serde(flatten)]
    basis: Option<&'a Basis>,
    /// The order of the operators of a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    /// Number of buffers with fixed offsets.
    pinned: usize,
    rigid_groups: usize,
    capacity_from: Option<&'static str>,
    /// True if the offsets in the file fix nothing, because every buffer has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_in_file: Option<bool>,
    #[serde(skip)]
    subject: &'a Subject,
}

impl Printed for About<'_> {
    fn print(&self, text: &mut Text) {
        let Subject { instance, model, .. } = self.subject;
        if let Some(FromModel { basis, graph, .. }) = model {
            text.push(&basis.text());
            let operators = human::count(graph.operators().len(), "operator");
            let operators = match graph.regions().len() {
                1 => operators,
                regions => format!("{operators} in {regions} regions"),
            };
            text.line("model", format_args!("{operators}, in the order of the file"));
            text.line("", "`plimsoll plan` also searches for the best order");
        }
        let (name, buffers) = (instance.name(), human::count(instance.len(), "buffer"));
        // With exclusions, the load may exceed the peak.
        let note = if instance.exclusions().is_empty() { "" } else { " (not a bound, due to exclusions)" };
        let limit = instance.capacity().map_or_else(String::new, |limit| capacity(limit, self.capacity_from));
        let load = size(load(instance).0);
        text.line("instance", format_args!("{name}: {buffers}, load {load}{note}{limit}"));
        if self.pinned > 0 {
            text.line("pinned", pins(self.pinned, instance.len()));
        }
        let groups = instance.groups().all();
        if !groups.is_empty() {
            let members: usize = groups.iter().map(|group| group.members().len()).sum();
            let (groups, members) = (human::count(groups.len(), "group"), human::count(members, "buffer"));
            text.line("rigid", format_args!("{groups} of {members} at given distances"));
        }
        if self.plan_in_file == Some(true) {
            text.line("offsets", "read as a plan, because every buffer has one; they fix nothing");
        }
    }
}
