//! Nodes in the form that the rules of operators use.

use super::constants::read_tensor;
use super::proto::{self, Node, plain};
use crate::operators::value::Fact;
use crate::operators::{Attribute, Call};

/// The call that a node makes. `opset` is the version of ONNX's own operators.
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

/// The value of an attribute, by the field that is there.
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
