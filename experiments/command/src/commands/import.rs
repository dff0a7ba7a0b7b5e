//! `plimsoll import`: reads a model, summarises it and writes it as a graph.

use crate::args::ModelArgs;
use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::output;
use crate::report::{self, Printed, Text, cells, size};
use clap::Args;
use plimsoll::datasets::Import;
use plimsoll::model::graph::{Graph, Role, Tensor, write_dot, write_graph};
use plimsoll::model::{Bytes, OperatorId, TensorId};
use plimsoll_lab::report::{Basis, human};
use plimsoll_support::contents::has_suffix;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct ImportArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Write the graph as JSON (format plimsoll-graph, version 1)
    #[arg(long, short, value_name = "GRAPH.json", value_parser = format::JSON.file())]
    output: Option<PathBuf>,
    /// Write the graph as DOT, for Graphviz
    #[arg(long, value_name = "FILE.dot", value_parser = format::DOT.file())]
    dot: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Command for ImportArgs {
    const NAME: &str = "import";
    const ABOUT: &str = "Read a model and summarise its operators, tensors and weights";
    const TASK: Task = Task::Model;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate squeezenet --out net.json && plimsoll import net.json",
            "Summarise a graph; models (.onnx, .tflite) are read in the same way",
        ),
        (
            "plimsoll import net.json --output graph.json && plimsoll order graph.json",
            "Write a model as a graph for other commands",
        ),
    ];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &ImportArgs) -> Result<u8, Failure> {
    output::check_targets(&[&args.output, &args.dot], &args.model.files())?;
    let import = args.model.read()?;
    if let Some(path) = &args.output {
        output::write_file(path, |file| write_graph(&import.graph, file))?;
    }
    if let Some(path) = &args.dot {
        output::write_file(path, |file| write_dot(&import.graph, file))?;
    }
    report::print(&report(&import, &args.model.model), args.json)?;
    Ok(ANSWERED)
}

/// The report on a graph.
#[derive(Serialize)]
struct ImportReport<'a> {
    graph: &'a str,
    operators: usize,
    tensors: usize,
    regions: usize,
    bytes: BTreeMap<&'static str, Bytes>,
    /// Number of multiply-accumulates and elementary operations of the operators whose cost is known.
    cost: u64,
    cost_unknown: usize,
    inputs: Vec<End<'a>>,
    outputs: Vec<End<'a>>,
    kinds: Vec<KindRow<'a>>,
    #[serde(flatten)]
    basis: Basis,
    /// Tensors whose size rests on a declared shape.
    declared_tensors: &'a [String],
    /// Tensors whose size rests on a bound or an option.
    assumed_tensors: &'a [String],
    /// How to state unknown shapes.
    #[serde(skip)]
    hint: &'static str,
}

/// An input or output of the graph.
#[derive(Serialize)]
struct End<'a> {
    name: &'a str,
    element: Option<&'a str>,
    shape: Option<&'a [u64]>,
    bytes: Bytes,
}

/// The operators of one kind.
#[derive(Serialize)]
struct KindRow<'a> {
    kind: &'a str,
    operators: usize,
    /// Bytes of the weights that they read; a weight that is read twice counts twice.
    weight_bytes: u64,
    output_bytes: u64,
}

fn report<'a>(import: &'a Import, model: &Path) -> ImportReport<'a> {
    let graph = &import.graph;
    let body = graph.region(Graph::BODY);
    let end = |id: &TensorId| {
        let Tensor { name, element, shape, bytes, .. } = graph.tensor(*id);
        End { name, element: element.as_deref(), shape: shape.as_deref(), bytes: *bytes }
    };
    let roles = [
        ("activation", Role::Activation),
        ("input", Role::Input),
        ("output", Role::Output),
        ("state", Role::State),
        ("weight", Role::Weight),
    ];
    let costs = || graph.operators().iter().filter(|operator| operator.regions.is_empty());
    ImportReport {
        graph: graph.name(),
        operators: graph.operators().len(),
        tensors: graph.tensors().len(),
        regions: graph.regions().len(),
        bytes: roles.map(|(name, role)| (name, graph.bytes(role))).into(),
        cost: costs().filter_map(|operator| operator.cost).fold(0, u64::saturating_add),
        cost_unknown: costs().filter(|operator| operator.cost.is_none()).count(),
        inputs: body.inputs.iter().map(end).collect(),
        outputs: body.outputs.iter().map(end).collect(),
        kinds: kinds(graph),
        basis: Basis::of(import),
        declared_tensors: &import.sizes.declared,
        assumed_tensors: &import.sizes.assumed,
        hint: if has_suffix(model, &["json"]) {
            "(the members `element` and `shape` of a tensor set its type and shape; plans need only the size in bytes)"
        } else {
            "(--input-shape and --dim set shapes; plans need only the size in bytes)"
        },
    }
}

impl Printed for ImportReport<'_> {
    fn print(&self, text: &mut Text) {
        let [operators, tensors, regions] =
            [(self.operators, "operator"), (self.tensors, "tensor"), (self.regions, "region")]
                .map(|(number, noun)| human::count(number, noun));
        text.push(&format!("{}: {operators}, {tensors}, {regions}\n", self.graph));
        let [weights, activations, inputs, outputs, states] =
            ["weight", "activation", "input", "output", "state"].map(|role| size(self.bytes[role]));
        let edges = format_args!("inputs {inputs}, outputs {outputs}, states {states}");
        text.line("bytes", format_args!("weights {weights}, activations {activations}, {edges}"));
        let unknown = match self.cost_unknown {
            0 => String::new(),
            unknown => format!(" ({} unknown)", human::count(unknown, "operator")),
        };
        text.line("arithmetic", format_args!("{}{unknown}", self.cost));
        for (what, list) in [("input", &self.inputs), ("output", &self.outputs)] {
            for end in list {
                text.line(what, end);
            }
        }
        if self.inputs.iter().chain(&self.outputs).any(|one| one.element.is_none() || one.shape.is_none()) {
            text.line("", self.hint);
        }
        text.push(&self.basis.text());
        let row = |one: &KindRow<'_>| cells![one.kind, one.operators, one.weight_bytes, one.output_bytes];
        text.table(&["kind", "operators", "weight bytes", "output bytes"], self.kinds.iter().map(row));
    }
}

impl Display for End<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, bytes, shape) = (self.name, crate::report::bytes(self.bytes), self.shape.map(extents));
        match (self.element, shape) {
            (Some(element), Some(shape)) => write!(f, "{name} {element} {shape}, {bytes}"),
            (Some(element), None) => write!(f, "{name} {element}, {bytes}, shape unknown"),
            (None, Some(shape)) => write!(f, "{name} {shape}, {bytes}, element type unknown"),
            (None, None) => write!(f, "{name}, {bytes}, element type and shape unknown"),
        }
    }
}

fn extents(shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    if extents.is_empty() { "scalar".to_owned() } else { extents.join("x") }
}

/// Returns one row per operator kind, the most frequent first.
fn kinds(graph: &Graph) -> Vec<KindRow<'_>> {
    let mut rows: BTreeMap<&str, KindRow<'_>> = BTreeMap::new();
    for (at, operator) in graph.operators().iter().enumerate() {
        let kind = operator.kind.as_str();
        let empty = KindRow { kind, operators: 0, weight_bytes: 0, output_bytes: 0 };
        let row = rows.entry(kind).or_insert(empty);
        row.operators += 1;
        if operator.regions.is_empty() {
            row.weight_bytes += graph.weight_bytes(OperatorId::at(at)).get();
        }
        row.output_bytes += operator.outputs.iter().map(|&t| graph.tensor(t).bytes.get()).sum::<u64>();
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.operators));
    rows
}
