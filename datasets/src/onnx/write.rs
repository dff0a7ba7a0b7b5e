//! Changes the order of the nodes in a file, and the metadata properties of its model.
//!
//! The messages are not decoded and re-encoded, so fields that this importer does not know are preserved.
//! Nodes exchange places within their graph, so the length of the graph does not change.

use super::proto::{self, Field, field};
use crate::import::ImportProblem;
use plimsoll_model::graph::{Graph, Operator};
use plimsoll_model::{OperatorId, RegionId, TensorId};
use prost::Message;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Field numbers of `onnx.proto`.
const MODEL_GRAPH: u64 = 7;
const MODEL_PROPERTY: u64 = 14;
const GRAPH_NODE: u64 = 1;
const NODE_ATTRIBUTE: u64 = 5;
const ATTRIBUTE_GRAPH: u64 = 6;
const ATTRIBUTE_GRAPHS: u64 = 11;

/// A field: its number, the range of all its bytes, and the range of its contents.
struct Span {
    number: u64,
    whole: Range<usize>,
    inner: Option<Range<usize>>,
}

/// Returns the fields of the message at this place.
fn spans(bytes: &[u8], message: Range<usize>) -> Result<Vec<Span>, ImportProblem> {
    let mut spans = Vec::new();
    let mut at = message.start;
    while at < message.end {
        let rest = &bytes[at..message.end];
        let parsed: Option<Field<'_>> = field(rest);
        let (number, payload, after) =
            parsed.ok_or_else(|| ImportProblem::Damaged(format!("no valid protobuf field at byte {at}")))?;
        let end = message.end - after.len();
        let inner = payload.map(|payload| end - payload.len()..end);
        spans.push(Span { number, whole: at..end, inner });
        at = end;
    }
    Ok(spans)
}

/// Returns the places of the contents of all fields with this number.
fn parts(bytes: &[u8], message: Range<usize>, number: u64) -> Result<Vec<Range<usize>>, ImportProblem> {
    let spans = spans(bytes, message)?;
    Ok(spans.into_iter().filter(|span| span.number == number).filter_map(|span| span.inner).collect())
}

/// Returns the file with the nodes of each graph in the order of its region. A node without a planned
/// operator, such as a constant, comes before its first consumer.
///
/// # Errors
/// If the file is damaged, or does not contain exactly one graph.
pub(crate) fn reordered(
    bytes: &[u8],
    graph: &Graph,
    orders: &[Vec<OperatorId>],
) -> Result<Vec<u8>, ImportProblem> {
    let mut changed = bytes.to_vec();
    let graphs = parts(bytes, 0..bytes.len(), MODEL_GRAPH)?;
    let [message] = graphs.as_slice() else {
        let reason = format!("there are {} graph fields", graphs.len());
        return Err(ImportProblem::Unsupported { what: "a model without exactly one graph".into(), reason });
    };
    let model = proto::Model::decode(bytes::Bytes::copy_from_slice(bytes));
    let model = model.map_err(|why| ImportProblem::Damaged(format!("not an ONNX model: {why}")))?;
    if let Some(body) = &model.graph {
        Arrange { graph, orders }.graph(&mut changed, message.clone(), body, Graph::BODY)?;
    }
    Ok(changed)
}

struct Arrange<'a> {
    graph: &'a Graph,
    orders: &'a [Vec<OperatorId>],
}

impl Arrange<'_> {
    /// Rearranges the nodes of a graph and, recursively, of the graphs in its nodes. The decoder limits the
    /// depth of nesting, so the recursion is bounded.
    fn graph(
        &self,
        bytes: &mut [u8],
        message: Range<usize>,
        decoded: &proto::Graph,
        region: RegionId,
    ) -> Result<(), ImportProblem> {
        let fields = spans(bytes, message.clone())?;
        let nodes: Vec<&Span> = fields.iter().filter(|span| span.number == GRAPH_NODE).collect();
        let order = &self.orders[region.index()];
        let made = |id: &OperatorId| {
            let operator: &Operator = self.graph.operator(*id);
            operator.outputs.iter().map(move |&tensor| (name_in_file(self.graph, tensor), operator))
        };
        let makers: HashMap<&str, &Operator> = order.iter().flat_map(made).collect();
        for (node, span) in decoded.node.iter().zip(&nodes) {
            let operator = node.output.iter().find_map(|name| makers.get(name.as_str()));
            if let (Some(operator), Some(inner)) = (operator, &span.inner) {
                self.bodies(bytes, inner.clone(), node, &operator.regions)?;
            }
        }
        let names = order.iter().flat_map(made).map(|(name, _)| name);
        let mut next = arranged(decoded, names).into_iter();
        let mut rearranged = Vec::with_capacity(message.len());
        for span in &fields {
            let from =
                if span.number == GRAPH_NODE { next.next().and_then(|at| nodes.get(at)) } else { None };
            rearranged.extend_from_slice(&bytes[from.map_or(&span.whole, |node| &node.whole).clone()]);
        }
        bytes[message].copy_from_slice(&rearranged);
        Ok(())
    }

    /// Rearranges the bodies of a node.
    fn bodies(
        &self,
        bytes: &mut [u8],
        node: Range<usize>,
        decoded: &proto::Node,
        regions: &[RegionId],
    ) -> Result<(), ImportProblem> {
        let mut places = Vec::new();
        for attribute in parts(bytes, node, NODE_ATTRIBUTE)? {
            for number in [ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS] {
                places.extend(parts(bytes, attribute.clone(), number)?);
            }
        }
        if places.len() == regions.len() && places.len() == decoded.bodies().count() {
            for ((place, (_, body)), &region) in places.into_iter().zip(decoded.bodies()).zip(regions) {
                self.graph(bytes, place, body, region)?;
            }
        }
        Ok(())
    }
}

/// Returns the indices of all nodes. The producers of `names` come first, in the order of `names`, each
/// preceded by the nodes on which it depends. The remaining nodes follow. The time is linear in the size of
/// the graph.
fn arranged<'n>(graph: &proto::Graph, names: impl Iterator<Item = &'n str>) -> Vec<usize> {
    let outputs = graph.node.iter().enumerate();
    let outputs = outputs.flat_map(|(at, node)| node.output.iter().map(move |name| (name.as_str(), at)));
    let makers: HashMap<&str, usize> = outputs.filter(|(name, _)| !name.is_empty()).collect();
    let wanted: Vec<usize> = names.filter_map(|name| makers.get(name).copied()).collect();
    let (mut order, mut entered) = (Vec::with_capacity(graph.node.len()), HashSet::new());
    for start in wanted.into_iter().chain(0..graph.node.len()) {
        let mut todo = vec![(start, false)];
        while let Some((at, ready)) = todo.pop() {
            if ready {
                order.push(at);
            } else if entered.insert(at) {
                todo.push((at, true));
                let mut reads = Vec::new();
                collect_reads(&graph.node[at], &mut reads);
                let before: Vec<usize> = reads.iter().filter_map(|name| makers.get(name).copied()).collect();
                todo.extend(before.into_iter().rev().map(|at| (at, false)));
            }
        }
    }
    order
}

/// Collects the names that a node and the graphs inside it read.
fn collect_reads<'n>(node: &'n proto::Node, names: &mut Vec<&'n str>) {
    names.extend(node.input.iter().map(String::as_str));
    for (_, body) in node.bodies() {
        for node in &body.node {
            collect_reads(node, names);
        }
        names.extend(body.output.iter().map(|info| info.name.as_str()));
    }
}

/// Returns the name of a tensor in its file, without the number that makes it unique in the graph.
pub(crate) fn name_in_file(graph: &Graph, id: TensorId) -> &str {
    let name = &graph.tensor(id).name;
    name.strip_suffix(&format!("~{id}")).unwrap_or(name)
}

/// A metadata property.
#[derive(Clone, PartialEq, prost::Message)]
struct Property {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// A message that adds properties to the model of a file when it is appended to the file.
#[derive(Clone, PartialEq, prost::Message)]
struct Properties {
    #[prost(message, repeated, tag = "14")]
    properties: Vec<Property>,
}

/// Returns the file with these metadata properties added to the model. They replace properties with the
/// same keys.
///
/// # Errors
/// If the file is damaged.
pub(crate) fn with_properties(bytes: &[u8], properties: &[(&str, String)]) -> Result<Vec<u8>, ImportProblem> {
    let mut changed = Vec::with_capacity(bytes.len());
    for span in spans(bytes, 0..bytes.len())? {
        let old = span.inner.filter(|_| span.number == MODEL_PROPERTY);
        let old = old.and_then(|inner| Property::decode(&bytes[inner]).ok());
        if !old.is_some_and(|old| properties.iter().any(|(key, _)| *key == old.key)) {
            changed.extend_from_slice(&bytes[span.whole]);
        }
    }
    let properties =
        properties.iter().map(|(key, value)| Property { key: (*key).to_owned(), value: value.clone() });
    Properties { properties: properties.collect() }
        .encode(&mut changed)
        .map_err(|why| ImportProblem::Damaged(why.to_string()))?;
    Ok(changed)
}
