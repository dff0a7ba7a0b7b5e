//! Sizing rules for optional values and sequences of tensors.
//!
//! The fact about an optional value is the fact about its content; an empty optional value has 0 bytes. The
//! fact about a sequence contains the facts about its tensors.

use super::call::{Call, Facts, axis, extent};
use super::element::Element;
use super::fold::{position, scalar};
use super::value::{Fact, Reason, Value, extents, misfit, show, unknown};
use std::rc::Rc;

/// Maximum number of tensors in a tracked sequence. Longer sequences are reported as unknown.
const LENGTH_LIMIT: u64 = 1024;

/// Infers the output of `Optional` and `OptionalGetElement`. Wrapping and unwrapping do not change the fact.
pub fn optional(call: &Call) -> Facts {
    match call.input(0) {
        Some(fact) if fact.element.is_some() || fact.items.is_some() => {
            Ok(vec![Fact { value: fact.value.clone(), ..fact.clone() }])
        }
        Some(_) => unknown("the type of its input is not known"),
        None => Ok(vec![Fact::sequence([])]),
    }
}

/// Infers the output of `OptionalHasElement`. The Boolean result is a constant if the operator has no input.
pub fn has_element(call: &Call) -> Facts {
    if call.inputs.len() > 1 {
        return misfit(format!("expected one input, found {}", call.inputs.len()));
    }
    let there = if call.input(0).is_some() { None } else { Some(Value::Ints(vec![0])) };
    Ok(vec![Fact::new(Some(Element::BOOL), []).with(there)])
}

fn items<'a>(call: &Call<'a>, at: usize) -> Result<&'a [Rc<Fact>], Reason> {
    let fact = call.input(at).ok_or_else(|| format!("input {at} is missing"))?;
    fact.items.as_deref().ok_or_else(|| Reason::unknown("the tensors of its sequence are not known"))
}

/// Returns the fact about input `at`, without values, for use as an element of a sequence.
fn held(call: &Call, at: usize) -> Result<Rc<Fact>, Reason> {
    let fact = call.input(at).ok_or_else(|| format!("input {at} is missing"))?;
    if fact.shape.is_none() && fact.bytes.is_none() {
        return unknown("the shape of one of its tensors is not known");
    }
    Ok(Rc::new(fact.clone().variable()))
}

pub fn construct(call: &Call) -> Facts {
    let items: Vec<Rc<Fact>> = (0..call.inputs.len()).map(|at| held(call, at)).collect::<Result<_, _>>()?;
    Ok(vec![Fact::sequence(items)])
}

/// Infers the output of `SequenceEmpty`.
pub fn empty(call: &Call) -> Facts {
    if !call.inputs.is_empty() {
        return misfit(format!("expected no inputs, found {}", call.inputs.len()));
    }
    Ok(vec![Fact::sequence([])])
}

/// Returns a fact that holds for each of these tensors. If all facts are equal, it is their common fact.
/// Otherwise, it is the fact about the largest tensor, as an upper bound.
fn any(items: &[Rc<Fact>]) -> Result<Fact, Reason> {
    let first = items.first().ok_or("the sequence is empty")?;
    if items.iter().all(|item| item == first) {
        return Ok(Fact::clone(first));
    }
    let mut largest = (0, first);
    for item in items {
        largest = Some((item.size(None)?, item)).filter(|other| other.0 > largest.0).unwrap_or(largest);
    }
    Ok(Fact::clone(largest.1).bounded())
}

/// Replaces the fact about every tensor by the common fact that [`any`] returns, because the positions of the
/// tensors are not known.
fn shuffled(items: &[Rc<Fact>]) -> Result<Vec<Rc<Fact>>, Reason> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let one = Rc::new(any(items)?);
    Ok(items.iter().map(|_| Rc::clone(&one)).collect())
}

/// Infers the output of `SequenceInsert`. The operator appends the tensor if no position is given.
pub fn insert(call: &Call) -> Facts {
    let mut list = items(call, 0)?.to_vec();
    if list.len() as u64 >= LENGTH_LIMIT {
        return unknown(format!("the sequence has more than {LENGTH_LIMIT} tensors"));
    }
    let one = held(call, 1)?;
    if call.input(2).is_none() {
        list.push(one);
        return Ok(vec![Fact::sequence(list)]);
    }
    let Ok(given) = call.int(2) else {
        list.push(one);
        return Ok(vec![Fact::sequence(shuffled(&list)?)]);
    };
    // A negative position counts from the end. The tensor is inserted before the one at that position.
    let places = list.len() as u64 + u64::from(given >= 0);
    let at = position(given, places).ok_or_else(|| outside(given, &list))?;
    list.insert(at, one);
    Ok(vec![Fact::sequence(list)])
}

/// Returns the error for a position outside the sequence.
fn outside(at: i64, list: &[Rc<Fact>]) -> Reason {
    format!("position {at} lies outside a sequence of {} tensors", list.len()).into()
}

/// Infers the output of `SequenceErase`. The operator removes the last tensor if no position is given.
pub fn erase(call: &Call) -> Facts {
    let mut list = items(call, 0)?.to_vec();
    let given = if call.input(1).is_some() { call.int(1) } else { Ok(-1) };
    if let Ok(given) = given {
        list.remove(position(given, list.len() as u64).ok_or_else(|| outside(given, &list))?);
    } else {
        list = shuffled(&list)?;
        list.pop();
    }
    Ok(vec![Fact::sequence(list)])
}

/// Infers the output of `SequenceAt`. If the position is not a constant, the fact holds for every tensor of
/// the sequence.
pub fn at(call: &Call) -> Facts {
    let list = items(call, 0)?;
    let fact = match call.int(1) {
        Ok(given) => {
            Fact::clone(&list[position(given, list.len() as u64).ok_or_else(|| outside(given, list))?])
        }
        Err(_) => any(list)?,
    };
    Ok(vec![fact])
}

pub fn length(call: &Call) -> Facts {
    Ok(vec![scalar(Element::INT64, items(call, 0)?.len() as i64)])
}

/// Infers the output of `SplitToSequence`. Without an input that gives the lengths, every part has extent 1
/// along the axis.
pub fn split(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let at = axis(call.attr("axis").unwrap_or(0), shape.len())?;
    let length = shape[at];
    let equal = |size: u64| -> Result<Vec<u64>, Reason> {
        let count = length.div_ceil(size);
        if count > LENGTH_LIMIT {
            return unknown(format!("the sequence has more than {LENGTH_LIMIT} tensors"));
        }
        Ok((0..count).map(|i| size.min(length - i * size)).collect())
    };
    let (sizes, keep) = match call.input(1) {
        None => (equal(1)?, call.attr("keepdims").unwrap_or(1) != 0),
        Some(fact) if fact.shape.as_deref().is_some_and(<[u64]>::is_empty) => {
            (equal(extent(call.int(1)?.into(), "the size of a part")?.max(1))?, true)
        }
        Some(_) => (extents(call.ints(1)?)?, true),
    };
    let total: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
    if total != u128::from(length) && !call.bound(0) {
        return misfit(format!("parts {sizes:?} do not add up to extent {length}"));
    }
    let part = |size: u64| {
        let mut part = shape.to_vec();
        if keep {
            part[at] = size;
        } else {
            part.remove(at);
        }
        Rc::new(Fact::new(call.element(0), part))
    };
    let mut parts: Vec<Rc<Fact>> = Vec::with_capacity(sizes.len());
    for (i, &size) in sizes.iter().enumerate() {
        let same = parts.last().filter(|_| sizes[i - 1] == size).cloned();
        parts.push(same.unwrap_or_else(|| part(size)));
    }
    Ok(vec![Fact::sequence(parts)])
}

/// Infers the output of `ConcatFromSequence`. The operator concatenates tensors along an axis, or stacks them
/// along a new one.
pub fn concat(call: &Call) -> Facts {
    let list = items(call, 0)?;
    let Some(first) = list.first() else { return misfit("the sequence is empty") };
    let of =
        |fact: &Fact| fact.shape.clone().ok_or_else(|| Reason::unknown("the shape of a tensor is not known"));
    let mut shape = of(first)?;
    let new = call.attr("new_axis").unwrap_or(0) != 0;
    let at = axis(call.attr("axis").ok_or("the axis is missing")?, shape.len() + usize::from(new))?;
    for item in &list[1..] {
        let other = of(item)?;
        let fits =
            other.len() == shape.len() && (0..shape.len()).all(|i| (i == at && !new) || other[i] == shape[i]);
        if !fits && !call.bound(0) {
            return misfit(format!(
                "shapes {} and {} do not fit along axis {at}",
                show(&shape),
                show(&other)
            ));
        }
        if !new {
            shape[at] =
                extent(i128::from(shape[at]) + i128::from(*other.get(at).unwrap_or(&0)), "an extent")?;
        }
    }
    if new {
        shape.insert(at, list.len() as u64);
    }
    Ok(vec![Fact::new(first.element, shape).with(None::<Value>)])
}
