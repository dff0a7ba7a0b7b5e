//! `plimsoll import`: reads a model, says what is in it, writes it as a graph.

use crate::args::ModelArgs;
use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::output;
use clap::Args;
use plimsoll::datasets::Import;
use plimsoll::model::graph::{Graph, Role, write_dot, write_graph};
use plimsoll::model::{OperatorId, TensorId};
use plimsoll_lab::report::Basis;
use plimsoll_lab::report::table::{Align, Table};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct ImportArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Write the graph, a JSON file (format plimsoll-graph, version 1)
    #[arg(long, short, value_name = "GRAPH.json", value_parser = format::JSON.file())]
    output: Option<PathBuf>,
    /// Write a picture for Graphviz
    #[arg(long, value_name = "FILE.dot", value_parser = format::DOT.file())]
    dot: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

pub fn main(args: &ImportArgs) -> Result<u8, Failure> {
    output::check_targets(&[&args.output, &args.dot], &[&args.model.model])?;
    let import = args.model.read()?;
    if let Some(path) = &args.output {
        output::write_file(path, |file| write_graph(&import.graph, file))?;
    }
    if let Some(path) = &args.dot {
        output::write_file(path, |file| write_dot(&import.graph, file))?;
    }
    let report = Report::new(&import);
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.text())?;
    }
    Ok(ANSWERED)
}

/// What is printed of a graph.
#[derive(Debug, Serialize)]
struct Report {
    graph: String,
    operators: usize,
    tensors: usize,
    regions: usize,
    /// Sum of bytes per role.
    bytes: BTreeMap<&'static str, u64>,
    /// Multiply-accumulates and elementary operations, where known.
    cost: u64,
    /// Operators of unknown cost.
    cost_unknown: usize,
    inputs: Vec<Interface>,
    outputs: Vec<Interface>,
    kinds: Vec<KindRow>,
    #[serde(flatten)]
    basis: Basis,
    /// Names of tensors whose size rests on a shape that the file declares.
    declared_tensors: Vec<String>,
    /// Names of those whose size rests on a bound or an option.
    assumed_tensors: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Interface {
    name: String,
    element: Option<String>,
    shape: Option<Vec<u64>>,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct KindRow {
    kind: String,
    operators: usize,
    /// Bytes of the weights they read themselves; a weight read twice counts twice.
    weight_bytes: u64,
    /// Bytes they make.
    output_bytes: u64,
}

impl Report {
    fn new(import: &Import) -> Self {
        let graph = &import.graph;
        let roles = [Role::Activation, Role::Weight, Role::Input, Role::Output, Role::State];
        let interface = |id: &TensorId| {
            let tensor = graph.tensor(*id);
            Interface {
                name: tensor.name.clone(),
                element: tensor.element.clone(),
                shape: tensor.shape.clone(),
                bytes: tensor.bytes.get(),
            }
        };
        let body = graph.region(Graph::BODY);
        let costs = || graph.operators().iter().filter(|operator| operator.regions.is_empty());
        Self {
            graph: graph.name().to_owned(),
            operators: graph.operators().len(),
            tensors: graph.tensors().len(),
            regions: graph.regions().len(),
            bytes: roles.map(|role| (role.as_str(), graph.bytes(role).get())).into(),
            cost: costs().filter_map(|operator| operator.cost).fold(0, u64::saturating_add),
            cost_unknown: costs().filter(|operator| operator.cost.is_none()).count(),
            inputs: body.inputs.iter().map(interface).collect(),
            outputs: body.outputs.iter().map(interface).collect(),
            kinds: kinds(graph),
            basis: Basis::of(import),
            declared_tensors: import.sizes.declared.clone(),
            assumed_tensors: import.sizes.assumed.clone(),
        }
    }

    fn text(&self) -> String {
        use std::fmt::Write as _;
        let mut text = format!(
            "{}: {} operators, {} tensors, {} regions\n",
            self.graph, self.operators, self.tensors, self.regions
        );
        let bytes = |role: Role| self.bytes[role.as_str()];
        let _ = writeln!(
            text,
            "bytes        weights {}, activations {}, inputs {}, outputs {}, states {}",
            bytes(Role::Weight),
            bytes(Role::Activation),
            bytes(Role::Input),
            bytes(Role::Output),
            bytes(Role::State)
        );
        let unknown = match self.cost_unknown {
            0 => String::new(),
            count => format!(" ({count} operators unknown)"),
        };
        let _ = writeln!(text, "arithmetic   {}{unknown}", self.cost);
        for (what, list) in [("input", &self.inputs), ("output", &self.outputs)] {
            for one in list {
                let element = one.element.as_deref().unwrap_or("?");
                let shape = one.shape.as_ref().map_or_else(
                    || "?".to_owned(),
                    |shape| {
                        let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
                        if extents.is_empty() { "scalar".to_owned() } else { extents.join("x") }
                    },
                );
                let _ = writeln!(text, "{what:<12} {} {element} {shape}, {} bytes", one.name, one.bytes);
            }
        }
        text.push_str(&self.basis.text());
        let mut table = Table::new([
            ("kind", Align::Left),
            ("operators", Align::Right),
            ("weight bytes", Align::Right),
            ("output bytes", Align::Right),
        ]);
        for row in &self.kinds {
            let numbers = [row.operators as u64, row.weight_bytes, row.output_bytes];
            let [operators, weights, outputs] = numbers.map(|number| number.to_string());
            table.row([row.kind.clone(), operators, weights, outputs]);
        }
        text.push('\n');
        text.push_str(&table.text());
        text
    }
}

/// One row per kind of operator, the most frequent first.
fn kinds(graph: &Graph) -> Vec<KindRow> {
    let mut rows: BTreeMap<&str, KindRow> = BTreeMap::new();
    for (at, operator) in graph.operators().iter().enumerate() {
        let row = rows.entry(&operator.kind).or_insert_with(|| KindRow {
            kind: operator.kind.clone(),
            operators: 0,
            weight_bytes: 0,
            output_bytes: 0,
        });
        row.operators += 1;
        if operator.regions.is_empty() {
            row.weight_bytes += graph.weight_bytes(OperatorId::at(at)).get();
        }
        row.output_bytes += operator.outputs.iter().map(|&t| graph.tensor(t).bytes.get()).sum::<u64>();
    }
    let mut rows: Vec<KindRow> = rows.into_values().collect();
    rows.sort_by(|a, b| b.operators.cmp(&a.operators).then_with(|| a.kind.cmp(&b.kind)));
    rows
}
