//! Reads constants that are stored in the file.

use super::proto;
use crate::operators::element::Element;
use crate::operators::value::{FOLD_LIMIT, Fact, Reason, Value, count, extents, misfit, show};

/// Reads a constant of the file: its type, its shape and, if there are few, its elements.
///
/// # Errors
/// If an extent is negative, the type is unknown, or the length of the data does not match the shape.
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
        // Some writers use a byte per element for types smaller than a byte.
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

/// Returns the elements, if the type occurs in shape computations.
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

pub fn read_constant(node: &proto::Node) -> Result<Fact, Reason> {
    let Some(attribute) = node.attribute.iter().find(|attribute| attribute.name.contains("value")) else {
        return misfit("it has no value");
    };
    let list = |element, value: Value| Fact::new(Some(element), [value.len() as u64]).with(Some(value));
    let one = |element, value: Value| Fact::new(Some(element), []).with(Some(value));
    match attribute.name.as_str() {
        "value_int" => Ok(one(Element::INT64, Value::Ints(vec![attribute.i.unwrap_or(0)]))),
        "value_ints" => Ok(list(Element::INT64, Value::Ints(attribute.ints.clone()))),
        "value_string" => Ok(Fact::new(Some(Element::STRING), [])),
        "value_strings" => Ok(Fact::new(Some(Element::STRING), [attribute.strings.len() as u64])),
        "value_float" => Ok(one(Element::FLOAT32, Value::Floats(vec![attribute.f.unwrap_or(0.0).into()]))),
        "value_floats" => {
            let floats = attribute.floats.iter().map(|&f| f64::from(f)).collect();
            Ok(list(Element::FLOAT32, Value::Floats(floats)))
        }
        _ => match (&attribute.t, &attribute.sparse_tensor) {
            (Some(tensor), _) => read_tensor(tensor),
            (None, Some(sparse)) => read_sparse(sparse),
            (None, None) => misfit(format!("{} is not a value with a size", attribute.name)),
        },
    }
}

/// Reads a sparse constant: its shape, and the size of the stored data in bytes.
pub fn read_sparse(sparse: &proto::SparseTensor) -> Result<Fact, Reason> {
    let (Some(values), Some(indices)) = (&sparse.values, &sparse.indices) else {
        return misfit("values or indices are missing");
    };
    let (values, indices) = (read_tensor(values)?, read_tensor(indices)?);
    let bytes = values.size(None)?.checked_add(indices.size(None)?).ok_or("more than 2^63 - 1 bytes")?;
    let shape = extents(&sparse.dims)?;
    Ok(Fact { bytes: Some(bytes), ..Fact::new(values.element, shape) })
}
