//! Sizing rules for elementwise operators, with and without broadcasting.

use super::call::{Call, Facts, broadcast};
use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, Value, gather_positions, misfit, strides};

/// Infers an output with the shape and the type of the first input. Small integer and floating-point
/// constants are folded.
pub fn same(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let value = call.value(0).and_then(|value| unary(call, value));
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Infers an output with the shape and the type of the first input. Constants are not folded, because an
/// output element can depend on several input elements.
pub fn like_first(call: &Call) -> Facts {
    Ok(vec![Fact::new(call.element(0), call.shape(0)?)])
}

pub fn bit_cast(call: &Call) -> Facts {
    let to = call.attr_element("to")?.ok_or("the type to cast to is not given")?;
    Ok(vec![Fact::new(Some(to), call.shape(0)?)])
}

/// Infers an output with Boolean elements and the shape of the only input.
pub fn test(call: &Call) -> Facts {
    let value = match (call.kind, call.value(0)) {
        ("Not", Some(Value::Ints(list))) => {
            Some(Value::Ints(list.iter().map(|&i| i64::from(i == 0)).collect()))
        }
        _ => None,
    };
    Ok(vec![Fact::new(Some(Element::BOOL), call.shape(0)?).with(value)])
}

fn unary(call: &Call, value: &Value) -> Option<Value> {
    let kind = call.kind;
    match value {
        Value::Ints(list) => {
            let function = |&i: &i64| match kind {
                "Neg" => i.checked_neg(),
                "Abs" => i.checked_abs(),
                "Relu" => Some(i.max(0)),
                "Sign" => Some(i.signum()),
                "BitwiseNot" => Some(!i).filter(|_| call.element(0) == Some(Element::INT64)),
                "Clip" => {
                    let limit = |at: usize, missing: i64| match call.input(at) {
                        Some(_) => call.int(at).ok(),
                        None => Some(missing),
                    };
                    Some(i.max(limit(1, i64::MIN)?).min(limit(2, i64::MAX)?))
                }
                _ => None,
            };
            list.iter().map(function).collect::<Option<_>>().map(Value::Ints)
        }
        Value::Floats(list) => {
            let function = |&f: &f64| match kind {
                "Neg" => Some(-f),
                "Abs" => Some(f.abs()),
                "Ceil" => Some(f.ceil()),
                "Floor" => Some(f.floor()),
                "Round" => Some(f.round_ties_even()),
                "Sqrt" => Some(f.sqrt()),
                "Reciprocal" => Some(f.recip()),
                "Relu" => Some(f.max(0.0)),
                "Exp" => Some(f.exp()),
                "Log" => Some(f.ln()),
                "Clip" => {
                    let limit = |at: usize, name: &str, missing: f64| match call.input(at) {
                        Some(_) => call.value(at)?.floats().first().copied(),
                        None => Some(
                            call.attr_floats(name)
                                .and_then(|list| list.first().copied())
                                .map_or(missing, f64::from),
                        ),
                    };
                    Some(f.max(limit(1, "min", f64::NEG_INFINITY)?).min(limit(2, "max", f64::INFINITY)?))
                }
                _ => None,
            };
            list.iter().map(function).collect::<Option<_>>().map(Value::Floats)
        }
    }
}

pub fn cast(call: &Call) -> Facts {
    let to = if call.kind == "CastLike" { call.element(1) } else { call.attr_element("to")? };
    let to = to.ok_or("the type to cast to is not given")?;
    let value = call.value(0).and_then(|value| convert(value, to));
    Ok(vec![Fact::new(Some(to), call.shape(0)?).with(value)])
}

fn convert(value: &Value, to: Element) -> Option<Value> {
    match value {
        _ if to.name == "bool" => {
            let list = value.floats();
            Some(Value::Ints(list.iter().map(|&f| i64::from(f != 0.0)).collect()))
        }
        Value::Ints(list) if to.is_integer() => Some(Value::Ints(list.iter().map(|&i| cut(i, to)).collect())),
        Value::Floats(list) if to.is_integer() => {
            let whole = |&f: &f64| (f.abs() < 9e15).then_some(cut(f.trunc() as i64, to));
            list.iter().map(whole).collect::<Option<_>>().map(Value::Ints)
        }
        _ if matches!(to.name, "float32" | "float64") => Some(Value::Floats(value.floats())),
        _ => None,
    }
}

/// Truncates an integer to the lowest bits that fit into type `to`, as type conversions do.
fn cut(i: i64, to: Element) -> i64 {
    let (Some(range), Some(bits)) = (to.range(), to.bits.filter(|&bits| bits < 64)) else { return i };
    let low = i128::from(i).rem_euclid(1 << bits);
    let signed = if range.contains(&low) { low } else { low - (1 << bits) };
    signed as i64
}

/// Infers an output with the shape to which all inputs are broadcast.
pub fn stretched(call: &Call) -> Facts {
    let kind = call.kind;
    let element = match kind {
        "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual" | "And" | "Or" | "Xor" => {
            Some(Element::BOOL)
        }
        _ => call.element(0).or(call.element(1)),
    };
    let mut shape = call.shape(0)?.to_vec();
    // Before version 7, the attribute `broadcast` requested broadcasting of the second input to the shape of
    // the first.
    if call.attr("broadcast").is_none() {
        for at in 1..call.inputs.len() {
            shape = broadcast(call, &shape, call.shape(at)?)?;
        }
    }
    let value = match call.inputs.len() {
        1 => call.value(0).filter(|_| matches!(kind, "Min" | "Max" | "Sum" | "Mean")).cloned(),
        _ => several(call, kind, &shape),
    };
    Ok(vec![Fact::new(element, shape).with(value)])
}

/// Returns the elements of a constant input, broadcast to `shape`.
fn stretch(call: &Call, at: usize, shape: &[u64]) -> Option<Value> {
    let (from, value) = (call.shape(at).ok()?, call.value(at)?);
    let (strides, skip) = (strides(from), shape.len().checked_sub(from.len())?);
    // Older versions can broadcast along an axis given by an attribute. That is not supported here.
    if from.iter().zip(&shape[skip..]).any(|(&own, &wanted)| own != wanted && own != 1) {
        return None;
    }
    let offset = |dimension: usize, index: usize| match dimension.checked_sub(skip) {
        Some(own) if from[own] != 1 => index * strides[own],
        _ => 0,
    };
    Some(value.pick(&gather_positions(shape, offset)?))
}

/// Infers the output of `Expand`. The operator broadcasts input 0 with the shape in input 1.
pub fn expand(call: &Call) -> Facts {
    let wanted = crate::operators::value::extents(call.ints(1)?)?;
    let shape = broadcast(call, call.shape(0)?, &wanted)?;
    let value = stretch(call, 0, &shape);
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Computes the result for two constants, or for more if the operator is variadic.
fn several(call: &Call, kind: &str, shape: &[u64]) -> Option<Value> {
    let step = if kind == "Sum" { "Add" } else { kind };
    let first = stretch(call, 0, shape)?;
    (1..call.inputs.len()).try_fold(first, |so_far, at| binary(call, step, so_far, stretch(call, at, shape)?))
}

fn binary(call: &Call, kind: &str, a: Value, b: Value) -> Option<Value> {
    match (a, b) {
        (Value::Ints(a), Value::Ints(b)) => {
            let signed = signed_remainder(call);
            let both = a.iter().zip(&b).map(|(&x, &y)| whole(kind, x, y, signed));
            both.collect::<Option<_>>().map(Value::Ints)
        }
        (a, b) => {
            let (a, b) = (a.floats(), b.floats());
            if let Some(test) = comparison(kind) {
                let both = a.iter().zip(&b).map(|(x, y)| i64::from(x.partial_cmp(y).is_some_and(test)));
                return Some(Value::Ints(both.collect()));
            }
            let both = a.iter().zip(&b).map(|(&x, &y)| match kind {
                "Add" => Some(x + y),
                "Sub" => Some(x - y),
                "Mul" => Some(x * y),
                "Div" => Some(x / y),
                "Min" => Some(x.min(y)),
                "Max" => Some(x.max(y)),
                "Pow" => Some(x.powf(y)),
                "Mod" if signed_remainder(call) => Some(x % y),
                _ => None,
            });
            both.collect::<Option<_>>().map(Value::Floats)
        }
    }
}

fn signed_remainder(call: &Call) -> bool {
    call.attr("fmod") == Some(1)
}

fn comparison(kind: &str) -> Option<fn(std::cmp::Ordering) -> bool> {
    Some(match kind {
        "Equal" => std::cmp::Ordering::is_eq,
        "Less" => std::cmp::Ordering::is_lt,
        "Greater" => std::cmp::Ordering::is_gt,
        "LessOrEqual" => std::cmp::Ordering::is_le,
        "GreaterOrEqual" => std::cmp::Ordering::is_ge,
        _ => return None,
    })
}

fn whole(kind: &str, x: i64, y: i64, signed_remainder: bool) -> Option<i64> {
    if let Some(test) = comparison(kind) {
        return Some(i64::from(test(x.cmp(&y))));
    }
    match kind {
        "Add" => x.checked_add(y),
        "Sub" => x.checked_sub(y),
        "Mul" => x.checked_mul(y),
        // Division truncates towards zero, as in hardware.
        "Div" => x.checked_div(y),
        "Mod" if signed_remainder => x.checked_rem(y),
        "Mod" => {
            let remainder = x.checked_rem(y)?;
            Some(if remainder != 0 && (remainder < 0) != (y < 0) { remainder + y } else { remainder })
        }
        "Min" => Some(x.min(y)),
        "Max" => Some(x.max(y)),
        "Pow" => x.checked_pow(u32::try_from(y).ok()?),
        "And" => Some(i64::from(x != 0 && y != 0)),
        "Or" => Some(i64::from(x != 0 || y != 0)),
        "Xor" => Some(i64::from((x != 0) != (y != 0))),
        "BitwiseAnd" => Some(x & y),
        "BitwiseOr" => Some(x | y),
        "BitwiseXor" => Some(x ^ y),
        _ => None,
    }
}

pub fn choose(call: &Call) -> Facts {
    let shape = broadcast(call, &broadcast(call, call.shape(0)?, call.shape(1)?)?, call.shape(2)?)?;
    let element = call.element(1).or(call.element(2));
    let pick = || -> Option<Value> {
        let Value::Ints(condition) = stretch(call, 0, &shape)? else { return None };
        let (yes, no) = (stretch(call, 1, &shape)?, stretch(call, 2, &shape)?);
        let at = |i: usize| if condition[i] != 0 { i } else { condition.len() + i };
        let at: Vec<usize> = (0..condition.len()).map(at).collect();
        Some(Value::chain(&[&yes, &no])?.pick(&at))
    };
    let value = pick();
    Ok(vec![Fact::new(element, shape).with(value)])
}

/// Infers the outputs of `Dropout`. The first output has the shape and the type of the input. The second is a
/// mask of the same shape.
pub fn dropout(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    // Before version 10, the mask had the type of the input.
    let mask = if call.opset < 10 { call.element(0) } else { Some(Element::BOOL) };
    let value = if trains(call) { None } else { call.value(0).cloned() };
    Ok(vec![Fact::new(call.element(0), shape).with(value), Fact::new(mask, shape)])
}

/// Returns true unless dropout is known to be inactive.
pub fn trains(call: &Call) -> bool {
    if call.opset < 7 {
        return call.attr("is_test").unwrap_or(0) == 0;
    }
    call.input(2).is_some() && call.ints(2).map_or(true, |list| list.iter().any(|&i| i != 0))
}

/// Infers the output of `Range`. The output contains the numbers from `start` up to, but excluding, `limit`.
pub fn range(call: &Call) -> Facts {
    let scalar = |at: usize| -> Result<f64, Reason> {
        // In `com.microsoft`, the step is optional.
        if at == 2 && call.input(2).is_none() {
            return Ok(1.0);
        }
        let value = call.value(at).ok_or_else(|| {
            Reason::unknown(format!("it depends on the value of input {at}, which is not a constant"))
        })?;
        value.floats().first().copied().ok_or_else(|| format!("input {at} is empty").into())
    };
    let (start, limit, delta) = (scalar(0)?, scalar(1)?, scalar(2)?);
    let steps = ((limit - start) / delta).ceil().max(0.0);
    if !steps.is_finite() || steps > 9e15 {
        return misfit(format!("a range from {start} to {limit} by {delta} has no end"));
    }
    let shape = vec![steps as u64];
    let value = match (call.value(0), call.value(2)) {
        (Some(Value::Ints(start)), Some(Value::Ints(delta))) if steps <= 4096.0 => {
            let one = |i: i64| start[0].checked_add(delta[0].checked_mul(i)?);
            (0..steps as i64).map(one).collect::<Option<_>>().map(Value::Ints)
        }
        (Some(Value::Floats(_)), Some(Value::Floats(_))) if steps <= 4096.0 => {
            Some(Value::Floats((0..steps as i64).map(|i| start + delta * i as f64).collect()))
        }
        _ => None,
    };
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}
