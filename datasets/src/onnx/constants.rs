//! Constants as the file holds them.

use super::proto;
use crate::operators::element::Element;
use crate::operators::value::{FOLD_LIMIT, Fact, Reason, Value, count, extents, misfit, show};

/// What a constant of the file is: type, shape, and its elements where they are few.
///
/// # Errors
/// Extents below zero, an unknown type, data of another length than the shape says.
pub fn read_tensor(tensor: &proto::Tensor) -> Result<Fact, Reason> {
    let element = Element::of(tensor.data_type)
        .ok_or_else(|| format!("element type {} is not known", tensor.data_type))?;
    let shape = extents(&tensor.dims)?;
    let fact = Fact::new(Some(element), shape);
    if tensor.data_location != 0 {
        return Ok(fact);
    }
    if let (false, Some(bits)) = (tensor.raw_data.is_empty(), element.bits) {
        let held = tensor.raw_data.len() as u64;
        let bytes = fact.size(None)?;
        // Some writers give elements below a byte a byte each.
        let loose = if bits < 8 { fact.shape.as_deref().and_then(count) } else { None };
        if held != bytes && Some(held) != loose {
            let shape = show(fact.shape.as_deref().unwrap_or_default());
            return misfit(format!(
                "{held} bytes of data, but {shape} of type {} take {bytes}",
                element.name
            ));
        }
    }
    let few = fact.shape.as_deref().and_then(count).is_some_and(|count| count <= FOLD_LIMIT);
    let value = if few { elements(tensor, element) } else { None };
    Ok(fact.with(value))
}

/// The elements, of types that shapes are computed with.
fn elements(tensor: &proto::Tensor, element: Element) -> Option<Value> {
    let raw = &tensor.raw_data;
    if raw.is_empty() {
        let small = || Value::Ints(tensor.int32_data.iter().map(|&i| i64::from(i)).collect());
        return Some(match element.name {
            "float32" => Value::Floats(tensor.float_data.iter().map(|&f| f64::from(f)).collect()),
            "float64" => Value::Floats(tensor.double_data.clone()),
            "int64" => Value::Ints(tensor.int64_data.clone()),
            "uint32" | "uint64" => {
                Value::Ints(tensor.uint64_data.iter().map(|&u| i64::try_from(u).ok()).collect::<Option<_>>()?)
            }
            "int32" | "int16" | "int8" | "uint16" | "uint8" | "bool" => small(),
            _ => return None,
        });
    }
    Value::read(raw, element)
}
