//! Converts a sized program to a graph.

use super::program::{Program, Slot, Step};
use super::proto::plain;
use crate::operators::element::Element;
use crate::operators::value::effective;
use crate::operators::{Share, offset_of};
use plimsoll_model::graph::{Alias, AliasKind, Graph, GraphBuilder, GraphError, Operator, Tensor};
use plimsoll_model::{Bytes, OperatorId, RegionId, TensorId};
use std::collections::HashSet;

/// Builds the graph. Tensors and operators keep their ids.
///
/// # Errors
/// [`GraphError`] if the program is not a valid graph, for example because of cycles or tensors with two
/// producers.
pub fn graph(name: &str, program: &Program, float: Option<Element>) -> Result<Graph, GraphError> {
    let mut builder = GraphBuilder::new(name);
    for slot in &program.slots {
        builder.tensor(tensor(slot, float));
    }
    block(&mut builder, program, 0, Graph::BODY);
    builder.build()
}

fn tensor(slot: &Slot, float: Option<Element>) -> Tensor {
    let mut tensor = Tensor::new(slot.name, slot.bytes.unwrap_or(0), slot.role);
    tensor.element = slot.fact.element.map(|element| effective(element, float).name.to_owned());
    tensor.shape.clone_from(&slot.fact.shape);
    tensor
}

/// Adds the steps of a block to a region. Recursion is safe because name resolution limits the depth of
/// nesting.
fn block(builder: &mut GraphBuilder, program: &Program, at: usize, region: RegionId) {
    let block = &program.blocks[at];
    let ids = |list: &[usize]| list.iter().map(|&tensor| TensorId::at(tensor)).collect::<Vec<_>>();
    for step in &block.steps {
        let id = builder.operator(region, operator(program, step));
        debug_assert_eq!(id, OperatorId::at(step.id), "numbers in messages are those of the graph");
        for &inner in &step.blocks {
            let region = builder.region(id, program.blocks[inner].name);
            self::block(builder, program, inner, region);
        }
    }
    builder.interface(region, ids(&block.inputs), ids(&block.outputs));
}

fn operator(program: &Program, step: &Step) -> Operator {
    let ids = |list: &[Option<usize>]| {
        list.iter().flatten().map(|&tensor| TensorId::at(tensor)).collect::<Vec<_>>()
    };
    let kind = &step.node.op_type;
    let kind = if plain(&step.node.domain) { kind.clone() } else { format!("{}.{kind}", step.node.domain) };
    let mut operator =
        Operator::new(&step.node.name, kind).reads(ids(&step.inputs)).makes(ids(&step.outputs));
    operator.cost = step.cost;
    operator.handovers = super::flow::handovers(program, step);
    let mut shared = HashSet::new();
    for share in &step.shares {
        let alias = alias(program, step, share);
        operator.aliases.extend(alias.filter(|one| one.input != one.output && shared.insert(*one)));
    }
    operator
}

/// Returns the alias for an input and an output that may share memory, or `None` if their sizes do not fit.
fn alias(program: &Program, step: &Step, share: &Share) -> Option<Alias> {
    let (input, output, kind, first) = match *share {
        Share::View(at) => (at, 0, AliasKind::View, 0),
        Share::Over(at) => (at, 0, AliasKind::InPlace, 0),
        Share::Part { input, output, first } => (input, output, AliasKind::Part, first),
    };
    let input = step.inputs.get(input).copied().flatten()?;
    let output = step.outputs.get(output).copied().flatten()?;
    let (from, to) = (&program.slots[input], &program.slots[output]);
    let offset = if kind == AliasKind::Part {
        let [from, to] = [from, to].map(|slot| Some((slot.bytes?, slot.fact.shape.as_deref()?)));
        offset_of(first, [from?, to?])?
    } else {
        from.fits(to, kind).then_some(0)?
    };
    let (input, output) = (TensorId::at(input), TensorId::at(output));
    Some(Alias { input, output, kind, offset: Bytes::new(offset) })
}
