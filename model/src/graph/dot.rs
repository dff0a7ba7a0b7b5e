//! Writes a graph for Graphviz.

use super::{Graph, Role};
use crate::units::{OperatorId, RegionId, TensorId};
use std::io::{self, Write};

/// Writes a graph in the DOT language.
///
/// Operators are boxes, regions inside the body are frames, and inputs and outputs are ellipses. Tensors are
/// edges labelled with their names and sizes in bytes. Weights and states are not drawn, but each operator
/// is labelled with the total size of the weights that it reads.
///
/// # Errors
/// Any error from the writer.
pub fn write_dot(graph: &Graph, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "digraph {} {{", quoted(graph.name()))?;
    writeln!(output, "  node [shape=box, fontname=\"Helvetica\"];")?;
    writeln!(output, "  edge [fontname=\"Helvetica\", fontsize=10];")?;
    region(graph, Graph::BODY, output)?;
    for at in 0..graph.tensors().len() {
        edges(graph, TensorId::at(at), output)?;
    }
    writeln!(output, "}}")
}

/// Writes the operators of a region and of the regions that they own. Each region except the body has a
/// frame. An explicit stack replaces recursion, because regions can be deeply nested.
fn region(graph: &Graph, root: RegionId, output: &mut dyn Write) -> io::Result<()> {
    enum Item {
        Region(RegionId),
        Operator(OperatorId),
        Close,
    }
    let mut todo = vec![Item::Region(root)];
    while let Some(item) = todo.pop() {
        match item {
            Item::Close => writeln!(output, "}}")?,
            Item::Region(id) => {
                let region = graph.region(id);
                if id != Graph::BODY {
                    writeln!(output, "subgraph cluster_{id} {{ label={};", quoted(&region.name))?;
                    todo.push(Item::Close);
                }
                let given = region.inputs.iter().filter(|t| graph.tensor(**t).role == Role::Input);
                for tensor in given {
                    let name = quoted(&graph.tensor(*tensor).name);
                    writeln!(output, "  t{tensor} [shape=ellipse, label={name}];")?;
                }
                todo.extend(region.operators.iter().rev().map(|&id| Item::Operator(id)));
            }
            Item::Operator(id) => {
                let operator = graph.operator(id);
                let weights = graph.weight_bytes(id).get();
                let weights = if weights > 0 { format!("\nweights {weights}") } else { String::new() };
                let label = quoted(&format!("{}\n{}{weights}", operator.kind, operator.name));
                writeln!(output, "  o{id} [label={label}];")?;
                todo.extend(operator.regions.iter().rev().map(|&id| Item::Region(id)));
            }
        }
    }
    Ok(())
}

fn edges(graph: &Graph, id: TensorId, output: &mut dyn Write) -> io::Result<()> {
    let tensor = graph.tensor(id);
    let from = match (graph.producer(id), tensor.role) {
        (Some(producer), _) => format!("o{producer}"),
        (None, Role::Input) => format!("t{id}"),
        (None, _) => return Ok(()),
    };
    for consumer in graph.consumers(id) {
        let label = quoted(&format!("{} ({})", tensor.name, tensor.bytes));
        writeln!(output, "  {from} -> o{consumer} [label={label}];")?;
    }
    if tensor.role == Role::Output {
        writeln!(output, "  t{id} [shape=ellipse, label={}];", quoted(&tensor.name))?;
        writeln!(output, "  {from} -> t{id} [label=\"{}\"];", tensor.bytes)?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
