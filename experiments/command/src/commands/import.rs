//! `plimsoll import`: reads a model, summarises it and writes it as a graph.

use crate::args::ModelArgs;
use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::output;
use crate::report::{Report, size};
use clap::Args;
use plimsoll::datasets::Import;
use plimsoll::model::contents::has_suffix;
use plimsoll::model::graph::{Graph, Role, Tensor, write_dot, write_graph};
use plimsoll::model::{OperatorId, TensorId};
use plimsoll_lab::report::{Basis, human};
use serde_json::{Value, json};
use std::collections::BTreeMap;
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

pub fn main(args: &ImportArgs) -> Result<u8, Failure> {
    output::check_targets(&[&args.output, &args.dot], &args.model.files())?;
    let import = args.model.read()?;
    if let Some(path) = &args.output {
        output::write_file(path, |file| write_graph(&import.graph, file))?;
    }
    if let Some(path) = &args.dot {
        output::write_file(path, |file| write_dot(&import.graph, file))?;
    }
    report(&import, &args.model.model).print(args.json)?;
    Ok(ANSWERED)
}

/// Returns the report on a graph.
fn report(import: &Import, model: &Path) -> Report {
    let graph = &import.graph;
    let body = graph.region(Graph::BODY);
    let interface = |id: &TensorId| {
        let Tensor { name, element, shape, bytes, .. } = graph.tensor(*id);
        json!({ "name": name, "element": element, "shape": shape, "bytes": bytes })
    };
    let roles = [Role::Activation, Role::Input, Role::Output, Role::State, Role::Weight];
    let [activations, inputs, outputs, states, weights] = roles.map(|role| graph.bytes(role));
    let costs = || graph.operators().iter().filter(|operator| operator.regions.is_empty());
    let (basis, kinds) = (Basis::of(import), kinds(graph));
    let mut report = Report::new(json!({
        "graph": graph.name(),
        "operators": graph.operators().len(),
        "tensors": graph.tensors().len(),
        "regions": graph.regions().len(),
        "bytes": {
            "activation": activations, "input": inputs, "output": outputs, "state": states, "weight": weights,
        },
        // Number of multiply-accumulates and elementary operations of the operators whose cost is known.
        "cost": costs().filter_map(|operator| operator.cost).fold(0, u64::saturating_add),
        "cost_unknown": costs().filter(|operator| operator.cost.is_none()).count(),
        "inputs": body.inputs.iter().map(interface).collect::<Vec<_>>(),
        "outputs": body.outputs.iter().map(interface).collect::<Vec<_>>(),
        "kinds": kinds,
    }));
    // Tensors whose size rests on a declared shape, and tensors whose size rests on a bound or an option.
    let (declared, assumed) = (&import.sizes.declared, &import.sizes.assumed);
    report.extend(json!(basis));
    report.extend(json!({ "declared_tensors": declared, "assumed_tensors": assumed }));
    let (name, operators) = (graph.name(), graph.operators().len());
    let (tensors, regions) = (graph.tensors().len(), graph.regions().len());
    let [operators, tensors, regions] = [(operators, "operator"), (tensors, "tensor"), (regions, "region")]
        .map(|(number, noun)| human::count(number, noun));
    report.push(&format!("{name}: {operators}, {tensors}, {regions}\n"));
    let [activations, inputs, outputs, states, weights] =
        [activations, inputs, outputs, states, weights].map(size);
    let edges = format_args!("inputs {inputs}, outputs {outputs}, states {states}");
    report.line("bytes", format_args!("weights {weights}, activations {activations}, {edges}"));
    let unknown = costs().any(|operator| operator.cost.is_none());
    report.show("arithmetic", if unknown { "{cost} ({cost_unknown operator} unknown)" } else { "{cost}" });
    ends(graph, model, &mut report);
    report.push(&basis.text());
    report.table(&kinds, "kind, operators, weight bytes = weight_bytes, output bytes = output_bytes");
    report
}

/// Adds one line per input and output of the graph. If some types or shapes are unknown, adds a line on how
/// to state them.
fn ends(graph: &Graph, model: &Path, report: &mut Report) {
    let body = graph.region(Graph::BODY);
    for (what, list) in [("input", &body.inputs), ("output", &body.outputs)] {
        for &id in list {
            let Tensor { name, element, shape, bytes, .. } = graph.tensor(id);
            let bytes = crate::report::bytes(*bytes);
            let shape = shape.as_deref().map(extents);
            report.line(
                what,
                match (element, shape) {
                    (Some(element), Some(shape)) => format!("{name} {element} {shape}, {bytes}"),
                    (Some(element), None) => format!("{name} {element}, {bytes}, shape unknown"),
                    (None, Some(shape)) => format!("{name} {shape}, {bytes}, element type unknown"),
                    (None, None) => format!("{name}, {bytes}, element type and shape unknown"),
                },
            );
        }
    }
    let is_unknown = |id: &TensorId| graph.tensor(*id).element.is_none() || graph.tensor(*id).shape.is_none();
    if body.inputs.iter().chain(&body.outputs).any(is_unknown) {
        let is_graph = has_suffix(model, &["json"]);
        report.line(
            "",
            if is_graph {
                "(the members `element` and `shape` of a tensor set its type and shape; plans need only the size in bytes)"
            } else {
                "(--input-shape and --dim set shapes; plans need only the size in bytes)"
            },
        );
    }
}

fn extents(shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    if extents.is_empty() { "scalar".to_owned() } else { extents.join("x") }
}

/// Returns one row per operator kind, the most frequent first. A row contains the number of operators, the
/// bytes of the weights that they read (a weight that is read twice counts twice), and the bytes of their
/// outputs.
fn kinds(graph: &Graph) -> Vec<Value> {
    let mut rows: BTreeMap<&str, (usize, u64, u64)> = BTreeMap::new();
    for (at, operator) in graph.operators().iter().enumerate() {
        let (operators, weights, outputs) = rows.entry(&operator.kind).or_default();
        *operators += 1;
        if operator.regions.is_empty() {
            *weights += graph.weight_bytes(OperatorId::at(at)).get();
        }
        *outputs += operator.outputs.iter().map(|&t| graph.tensor(t).bytes.get()).sum::<u64>();
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, (operators, ..))| std::cmp::Reverse(*operators));
    let row = |(kind, (operators, weights, outputs))| json!({ "kind": kind, "operators": operators, "weight_bytes": weights, "output_bytes": outputs });
    rows.into_iter().map(row).collect()
}
