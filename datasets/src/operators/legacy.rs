//! Sizing rules for operators that were experimental before version 10 and that runtimes still load.

use super::call::{Call, Facts, extent, ranked};
use super::value::{Fact, extents, misfit, unknown};

/// Infers the output of `Crop`. The operator removes a border (left, top, right, bottom) from the spatial
/// dimensions. If `scale` is present, it is the size of the output.
pub fn crop(call: &Call) -> Facts {
    let shape = ranked(call.shape(0)?, 4)?;
    let Some(&[left, top, right, bottom]) = call.attr_ints("border") else {
        return misfit("the border does not have four numbers");
    };
    let plane = match call.attr_ints("scale") {
        Some(&[height, width]) => [height.into(), width.into()],
        _ => [
            i128::from(shape[2]) - i128::from(top) - i128::from(bottom),
            i128::from(shape[3]) - i128::from(left) - i128::from(right),
        ],
    };
    let [height, width] = plane;
    let plane = [extent(height, "the height")?, extent(width, "the width")?];
    Ok(vec![Fact::new(call.element(0), [&shape[..2], &plane].concat())])
}

/// Infers the output of `GivenTensorFill`. The shape of the output is an attribute, the values of the input,
/// or the shape of the input.
pub fn given_tensor_fill(call: &Call) -> Facts {
    let mut shape = match call.attr_ints("shape") {
        Some(list) if !list.is_empty() => extents(list)?,
        _ if call.attr("input_as_shape").unwrap_or(0) != 0 => match call.value(0) {
            Some(value) => extents(&value.floats().iter().map(|&f| f as i64).collect::<Vec<_>>())?,
            None => return unknown("it depends on the values of input 0, which is not a small constant"),
        },
        _ => call.shape(0)?.to_vec(),
    };
    shape.extend(extents(call.attr_ints("extra_shape").unwrap_or_default())?);
    Ok(vec![Fact::new(call.element(0).or(Some(super::element::Element::FLOAT32)), shape)])
}
