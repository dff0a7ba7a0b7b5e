//! Converts nodes to the form that operator rules use.

use super::constants::read_tensor;
use super::proto::{self, Node, plain};
use crate::operators::value::Fact;
use crate::operators::{Attribute, Call};

/// Converts a node to a call. `opset` is the version of the standard ONNX operators.
pub fn call<'a>(node: &'a Node, inputs: Vec<Option<&'a Fact>>, opset: i64) -> Call<'a> {
    Call {
        kind: &node.op_type,
        domain: if plain(&node.domain) { "" } else { &node.domain },
        attributes: node.attribute.iter().map(|own| (own.name.as_str(), value(own))).collect(),
        inputs,
        names: node.input.iter().map(String::as_str).collect(),
        outputs: node.output.len(),
        opset,
    }
}

/// Returns the value of an attribute, whose type follows from the field that is present.
fn value(attribute: &proto::Attribute) -> Attribute<'_> {
    if let Some(value) = attribute.i {
        return Attribute::Int(value);
    }
    if let Some(value) = attribute.f {
        return Attribute::Floats(vec![value].into());
    }
    if let Some(text) = attribute.s.as_ref().and_then(|text| std::str::from_utf8(text).ok()) {
        return Attribute::Text(text);
    }
    if let Some(tensor) = &attribute.t {
        return Attribute::Constant(read_tensor(tensor));
    }
    if !attribute.strings.is_empty() {
        return Attribute::Texts(attribute.strings.len());
    }
    match attribute.floats.as_slice() {
        [] => Attribute::Ints(attribute.ints.as_slice().into()),
        floats => Attribute::Floats(floats.into()),
    }
}
