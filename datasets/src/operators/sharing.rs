//! Which outputs may share the memory of which inputs.

use super::elementwise::trains;
use super::{Call, elementwise_unary};

/// How the first output may use an input's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// The same elements in the same order: nothing is computed.
    View(usize),
    /// Each element is made from the one in the same place, if shapes and bytes are equal.
    Over(usize),
}

/// What the kind of an operator allows. Whether shapes and bytes fit is for the caller to say.
pub fn shares(call: &Call) -> Vec<Share> {
    let kind = call.kind;
    let all = |range: std::ops::Range<usize>| range.map(Share::Over).collect();
    match kind {
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity" => vec![Share::View(0)],
        "Dropout" if !trains(call) => vec![Share::View(0)],
        "Dropout" => vec![Share::Over(0)],
        // The caller makes a view of it where the type stays.
        "Cast" | "CastLike" | "Not" | "IsNaN" | "IsInf" | "QuantizeLinear" | "DequantizeLinear" => all(0..1),
        "BatchNormalization" if call.attr("training_mode").unwrap_or(0) == 0 => all(0..1),
        "Where" => all(0..3),
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Mod" | "Min" | "Max" | "Sum" | "Mean" | "PRelu"
        | "BitShift" | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "Equal" | "Less" | "Greater"
        | "LessOrEqual" | "GreaterOrEqual" | "And" | "Or" | "Xor" => all(0..call.inputs.len()),
        kind if elementwise_unary(kind) => all(0..1),
        _ => Vec::new(),
    }
}
