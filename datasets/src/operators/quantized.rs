//! Sizing rules for quantisation and operators on quantised tensors. Scales and zero points are inputs,
//! interleaved with the tensors that they describe.

use super::call::{Call, Facts, axes, axis, broadcast, extent};
use super::element::Element;
use super::value::{Fact, Reason, misfit, show};
use super::{algebra, window};

/// Infers the output of `QuantizeLinear`. The output has the type of the zero point. Without a zero point, an
/// attribute gives the type, and the default is `uint8`.
pub fn quantize(call: &Call) -> Facts {
    let to = call.element(2).or(call.attr_element("output_dtype")?).unwrap_or(Element::UINT8);
    Ok(vec![Fact::new(Some(to), call.shape(0)?)])
}

/// Infers the output of `DequantizeLinear`. The output has the type that an attribute gives, or by default
/// the type of the scale.
pub fn dequantize(call: &Call) -> Facts {
    let to = call.attr_element("output_dtype")?.or(call.element(1));
    Ok(vec![Fact::new(to, call.shape(0)?)])
}

/// Infers the outputs of `DynamicQuantizeLinear`. Further outputs are the scale and the zero point.
pub fn dynamic_quantize(call: &Call) -> Facts {
    let scalar = |element| Fact::new(Some(element), []);
    let data = Fact::new(Some(Element::UINT8), call.shape(0)?);
    Ok(vec![data, scalar(Element::FLOAT32), scalar(Element::UINT8)])
}

/// Returns the shape to which inputs `first` and `other` are broadcast.
fn pair(call: &Call, first: usize, other: usize) -> Result<Vec<u64>, Reason> {
    broadcast(call, call.shape(first)?, call.shape(other)?)
}

pub fn binary(call: &Call) -> Facts {
    Ok(vec![Fact::new(call.element(0), pair(call, 0, 3)?)])
}

pub fn multiply(call: &Call) -> Facts {
    Ok(vec![Fact::new(Some(Element::INT32), pair(call, 0, 2)?)])
}

/// Infers the output of `QLinearWhere`.
pub fn choose(call: &Call) -> Facts {
    let shape = broadcast(call, &pair(call, 1, 4)?, call.shape(0)?)?;
    Ok(vec![Fact::new(call.element(1), shape)])
}

/// Infers the output of `QLinearConcat`. The scale and the zero point of the output come first. They are
/// followed by every input with its own scale and zero point.
pub fn concat(call: &Call) -> Facts {
    let mut shape = call.shape(2)?.to_vec();
    let at = axis(call.attr("axis").unwrap_or(0), shape.len())?;
    for input in (5..call.inputs.len()).step_by(3) {
        let other = call.shape(input)?;
        let fits = other.len() == shape.len() && (0..shape.len()).all(|i| i == at || other[i] == shape[i]);
        if !fits {
            return misfit(format!("shapes {} and {} do not fit along axis {at}", show(&shape), show(other)));
        }
        shape[at] = extent(i128::from(shape[at]) + i128::from(other[at]), "an extent")?;
    }
    Ok(vec![Fact::new(call.element(1), shape)])
}

/// Infers the output of `QLinearReduceMean` and `ReduceSumInteger`. The axes are an attribute.
pub fn reduce(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let gone = match call.attr_ints("axes").unwrap_or_default() {
        [] => vec![true; shape.len()],
        list => axes(list, shape.len())?,
    };
    let element = match call.kind {
        "ReduceSumInteger" if call.element(0) == Some(Element::INT8) => Some(Element::INT32),
        "ReduceSumInteger" => Some(Element::UINT32),
        _ => call.element(0),
    };
    let shape = algebra::kept(shape, &gone, call.attr("keepdims").unwrap_or(1) != 0);
    Ok(vec![Fact::new(element, shape)])
}

/// Infers the output of `QLinearConv` of `com.microsoft`. Channels may be the last dimension.
pub fn conv(call: &Call) -> Facts {
    if window::channels_last(call) {
        return window::conv_channels_last(call, 3, call.element(7));
    }
    window::conv(call, 3, call.element(7))
}

/// Infers the output of `MatMulInteger16`.
pub fn product16(call: &Call) -> Facts {
    let unsigned = |at: usize| call.element(at).is_some_and(|element| element.name == "uint16");
    let element = if unsigned(0) && unsigned(1) { Element::UINT32 } else { Element::INT32 };
    algebra::mat_mul(call, 1, Some(element))
}
