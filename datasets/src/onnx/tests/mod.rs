//! Tests on tiny models that are built in code.

mod errors;
mod flow;
mod functions;
mod loops;
mod open;
mod operators;
mod random;
mod regions;
mod seeds;
mod shapes;
mod sources;
mod write;

use super::proto::{
    Attribute, Dimension, Graph, Model, Node, OperatorSet, Shape, Tensor, TensorType, Type, ValueInfo,
};
use crate::import::{Import, ImportError, ImportOptions};
use crate::model_file::read_onnx;
use crate::operators::element::Element;
use prost::Message;
use std::path::Path;

pub fn ints(name: &str, list: &[i64]) -> Attribute {
    Attribute { name: name.to_owned(), ints: list.to_vec(), ..Attribute::default() }
}

pub fn int(name: &str, i: i64) -> Attribute {
    Attribute { name: name.to_owned(), i: Some(i), ..Attribute::default() }
}

pub fn text(name: &str, text: &'static str) -> Attribute {
    Attribute { name: name.to_owned(), s: Some(text.as_bytes().into()), ..Attribute::default() }
}

pub fn texts(name: &str, list: &[&'static str]) -> Attribute {
    let strings = list.iter().map(|text| text.as_bytes().into()).collect();
    Attribute { name: name.to_owned(), strings, ..Attribute::default() }
}

pub fn body(name: &str, graph: Graph) -> Attribute {
    Attribute { name: name.to_owned(), g: Some(Box::new(graph)), ..Attribute::default() }
}

pub fn tensor(name: &str, dims: &[i64], list: &[i64]) -> Tensor {
    let (dims, int64_data) = (dims.to_vec(), list.to_vec());
    Tensor { name: name.to_owned(), data_type: 7, dims, int64_data, ..Tensor::default() }
}

pub fn floats(name: &str, dims: &[i64], list: &[f32]) -> Tensor {
    let (dims, float_data) = (dims.to_vec(), list.to_vec());
    Tensor { name: name.to_owned(), data_type: 1, dims, float_data, ..Tensor::default() }
}

/// Parses a value info such as `float16:Nx3x?`: an element type and extents, which may be names or unknown.
/// The default type is `float32`.
pub fn info(name: &str, kind: &str) -> ValueInfo {
    let (element, dims) = kind.split_once(':').unwrap_or(("float32", kind));
    let elem_type = Element::named(element).unwrap().code;
    let dim = |dim: &str| match dim.parse() {
        Ok(value) => Dimension { value: Some(value), param: None },
        Err(_) => Dimension { value: None, param: Some(dim.to_owned()).filter(|name| name != "?") },
    };
    let dim = dims.split('x').filter(|dim| !matches!(*dim, "" | "scalar")).map(dim).collect();
    let shape = Some(Shape { dim }).filter(|_| dims != "*");
    let kind = Type { tensor: Some(TensorType { elem_type, shape }), ..Type::default() };
    ValueInfo { name: name.to_owned(), r#type: Some(kind) }
}

/// Returns a node, as in `node("Add", "a b", "c", [])`. `_` stands for an absent operand.
pub fn node(kind: &str, inputs: &str, outputs: &str, attribute: impl Into<Vec<Attribute>>) -> Node {
    let list = |text: &str| text.split(' ').map(|name| name.trim_matches('_').to_owned()).collect();
    let input = if inputs.is_empty() { Vec::new() } else { list(inputs) };
    let (op_type, name, attribute) = (kind.to_owned(), outputs.to_owned(), attribute.into());
    Node { op_type, name, input, output: list(outputs), attribute, ..Node::default() }
}

pub fn graph(inputs: &[(&str, &str)], nodes: impl Into<Vec<Node>>, outputs: &str) -> Graph {
    let output = outputs.split(' ').map(|name| ValueInfo { name: name.to_owned(), r#type: None }).collect();
    let input = inputs.iter().map(|(name, kind)| info(name, kind)).collect();
    Graph { name: "g".to_owned(), node: nodes.into(), input, output, ..Graph::default() }
}

pub fn model(graph: Graph) -> Model {
    let opset_import = vec![OperatorSet { domain: String::new(), version: 17 }];
    Model { graph: Some(graph), opset_import, ..Model::default() }
}

pub fn read(model: &Model, options: &ImportOptions) -> Result<Import, ImportError> {
    read_onnx(Path::new("m.onnx"), &model.encode_to_vec(), options)
}

pub fn import(graph: Graph) -> Import {
    read(&model(graph), &ImportOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn error(graph: Graph) -> String {
    read(&model(graph), &ImportOptions::default()).unwrap_err().to_string()
}

/// Returns the element type and the shape of a tensor, as in `float32:1x3`.
pub fn shown(import: &Import, name: &str) -> String {
    let tensor = import.graph.tensors().iter().find(|tensor| tensor.name == name).unwrap();
    let shape = tensor.shape.as_deref().map_or("?".to_owned(), crate::operators::value::show);
    format!("{}:{shape}", tensor.element.as_deref().unwrap_or("?"))
}

/// Returns a graph of one operator. A domain and a dot may precede the operator's name. Types of inputs are
/// written as for [`info`]. `=1,2` stands for a constant list of integers, `#3` for one integer, `~1,2` for
/// a list of floating-point numbers, and an empty string for an absent input. The graph returns the first
/// `outputs` outputs of the operator.
pub fn operator(kind: &str, inputs: &[&str], attributes: &[Attribute], outputs: usize) -> Graph {
    let (mut input, mut initializer, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for (at, kind) in inputs.iter().enumerate() {
        let name = format!("i{at}");
        let (mark, list) = kind.split_at(usize::from(!kind.is_empty()));
        match mark {
            "=" | "#" => {
                let list: Vec<i64> = list.split(',').filter_map(|i| i.parse().ok()).collect();
                let dims = if mark == "#" { vec![] } else { vec![list.len() as i64] };
                initializer.push(tensor(&name, &dims, &list));
            }
            "~" => {
                let list: Vec<f32> = list.split(',').map(|i| i.parse().unwrap()).collect();
                initializer.push(floats(&name, &[list.len() as i64], &list));
            }
            "" => {}
            _ => input.push(info(&name, kind)),
        }
        names.push(if kind.is_empty() { "_".to_owned() } else { name });
    }
    let made: Vec<String> = (0..outputs).map(|at| format!("o{at}")).collect();
    let mut one = node(kind, &names.join(" "), &made.join(" "), attributes);
    if let Some((domain, kind)) = kind.rsplit_once('.') {
        (one.domain, one.op_type) = (domain.to_owned(), kind.to_owned());
    }
    let output = made.iter().map(|name| ValueInfo { name: name.clone(), r#type: None }).collect();
    Graph { name: "g".to_owned(), node: vec![one], input, output, initializer, ..Graph::default() }
}

pub fn made(kind: &str, inputs: &[&str], attributes: &[Attribute], outputs: usize) -> String {
    let graph = operator(kind, inputs, attributes, outputs);
    match read(&model(graph), &ImportOptions::default()) {
        Ok(import) => {
            let outputs: Vec<String> = (0..outputs).map(|at| shown(&import, &format!("o{at}"))).collect();
            outputs.join(" ")
        }
        Err(error) => error.to_string(),
    }
}
