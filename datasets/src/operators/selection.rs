//! Sizing rules for operators that select elements. The number of selected elements is given or depends on
//! data.

use super::call::{Call, Facts, axis, extent, product, ranked};
use super::fold::best;
use super::value::{Fact, Value, gather_positions, strides, unknown};
use crate::operators::element::Element;
use std::collections::BTreeMap;

/// Infers the output of `OneHot`. The output has one more dimension, whose extent is the number of classes.
pub fn one_hot(call: &Call) -> Facts {
    let indices = call.shape(0)?;
    let depth = match call.value(1) {
        Some(value) => value.floats().first().copied().ok_or("the depth is empty")?,
        None => return unknown("it depends on a depth that is not a constant"),
    };
    let at = axis(call.attr("axis").unwrap_or(-1), indices.len() + 1)?;
    let depth = extent(depth as i128, "the depth")?;
    let mut shape = indices.to_vec();
    shape.insert(at, depth);
    let of = strides(indices);
    let marked = || {
        let (Value::Ints(list), values) = (call.value(0)?, call.value(2)?) else { return None };
        let own = |d: usize| if d < at { d } else { d - 1 };
        let chosen = gather_positions(&shape, |d, index| if d == at { 0 } else { index * of[own(d)] })?;
        let class = gather_positions(&shape, |d, index| if d == at { index } else { 0 })?;
        let hits = |i: usize| super::fold::position(list[chosen[i]], depth) == Some(class[i]);
        let order: Vec<usize> = (0..chosen.len()).map(|i| usize::from(hits(i))).collect();
        (values.len() == 2).then(|| values.pick(&order))
    };
    let value = marked();
    Ok(vec![Fact::new(call.element(2), shape).with(value)])
}

/// Infers the outputs of `TopK`: the `k` largest or smallest elements along an axis, and their indices.
pub fn top_k(call: &Call) -> Facts {
    let from = ranked(call.shape(0)?, 1)?;
    let at = axis(call.attr("axis").unwrap_or(-1), from.len())?;
    let k = match (call.attr("k"), call.int(1)) {
        (Some(k), _) | (None, Ok(k)) => k,
        // If `k` is unknown, the extent of the axis is an upper bound.
        (None, Err(reason)) if reason.misfit => return Err(reason),
        (None, Err(_)) => {
            let places = Fact::new(Some(Element::INT64), from).bounded();
            return Ok(vec![Fact::new(call.element(0), from).bounded(), places]);
        }
    };
    let mut shape = from.to_vec();
    shape[at] = extent(k.into(), "k")?;
    let (value, places) = best(call, from, at, shape[at] as usize).unzip();
    let places = Fact::new(Some(Element::INT64), shape.clone()).with(places);
    Ok(vec![Fact::new(call.element(0), shape).with(value), places])
}

/// Infers the output of `NonZero`. The output contains the indices of the nonzero elements. The upper bound
/// assumes that all elements are nonzero.
pub fn non_zero(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    // A scalar is treated as a one-element list.
    let shape: &[u64] = if shape.is_empty() { &[1] } else { shape };
    let rank = shape.len() as u64;
    let Some(value) = call.value(0) else {
        return Ok(vec![Fact::new(Some(Element::INT64), [rank, product(shape)?]).bounded()]);
    };
    let (of, list) = (strides(shape), value.floats());
    let at: Vec<usize> = (0..list.len()).filter(|&i| list[i] != 0.0).collect();
    let index = |d: usize, i: usize| (i / of[d] % shape[d] as usize) as i64;
    let positions = (0..shape.len()).flat_map(|d| at.iter().map(move |&i| (d, i))).map(|(d, i)| index(d, i));
    let fact = Fact::new(Some(Element::INT64), [rank, at.len() as u64]);
    Ok(vec![fact.with(Some(Value::Ints(positions.collect())))])
}

/// Infers the output of `Compress`. The operator selects the slices or elements for which a condition holds.
pub fn compress(call: &Call) -> Facts {
    let (data, condition) = (call.shape(0)?, ranked(call.shape(1)?, 1)?);
    let along = call.attr("axis").map(|at| axis(at, data.len())).transpose()?;
    let length = along.map_or_else(|| product(data), |at| Ok(data[at]))?;
    let kept = |count: u64| match along {
        Some(at) => {
            let mut shape = data.to_vec();
            shape[at] = count;
            shape
        }
        None => vec![count],
    };
    let Some(Value::Ints(list)) = call.value(1) else {
        return Ok(vec![Fact::new(call.element(0), kept(length.min(condition[0]))).bounded()]);
    };
    let at: Vec<usize> = (0..list.len()).filter(|&i| list[i] != 0 && (i as u64) < length).collect();
    let shape = kept(at.len() as u64);
    let of = strides(data);
    let picked = || {
        let offset = |d: usize, index: usize| match along {
            Some(along) if d == along => at[index] * of[d],
            Some(_) => index * of[d],
            None => at[index],
        };
        Some(call.value(0)?.pick(&gather_positions(&shape, offset)?))
    };
    let value = picked();
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Infers the outputs of `Unique`. The first output contains the distinct elements. For each of them, the
/// second output contains the index of its first occurrence, and the fourth the number of its occurrences.
/// The third output contains, for each input element, the index of its value in the first output.
pub fn unique(call: &Call) -> Facts {
    let data = call.shape(0)?;
    let index = |length| Fact::new(Some(Element::INT64), [length]);
    if let Some(at) = call.attr("axis") {
        let length = data[axis(at, data.len())?];
        let kept = index(length).bounded();
        return Ok(vec![Fact::new(call.element(0), data).bounded(), kept.clone(), index(length), kept]);
    }
    let length = product(data)?;
    let flat = |values: Vec<i64>| index(values.len() as u64).with(Some(Value::Ints(values)));
    let Some(Value::Ints(list)) = call.value(0) else {
        let kept = index(length).bounded();
        return Ok(vec![Fact::new(call.element(0), [length]).bounded(), kept.clone(), index(length), kept]);
    };
    // Per value: the index of its first occurrence, and the number of occurrences.
    let mut known: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for (at, &one) in list.iter().enumerate() {
        known.entry(one).or_insert((at as i64, 0)).1 += 1;
    }
    let mut kept: Vec<(i64, (i64, i64))> = known.into_iter().collect();
    if call.attr("sorted").unwrap_or(1) == 0 {
        kept.sort_unstable_by_key(|&(_, (first, _))| first);
    }
    let places: BTreeMap<i64, i64> = kept.iter().zip(0..).map(|(&(one, _), place)| (one, place)).collect();
    let inverse = flat(list.iter().map(|one| places[one]).collect());
    let column = |part: fn(&(i64, (i64, i64))) -> i64| flat(kept.iter().map(part).collect());
    let values = Fact { element: call.element(0), ..column(|one| one.0) };
    Ok(vec![values, column(|one| one.1.0), inverse, column(|one| one.1.1)])
}

/// Infers the output of `NonMaxSuppression`. The output contains the indices of the batch, the class and the
/// box for every selected box. An input limits the number of boxes per batch and class.
pub fn suppression(call: &Call) -> Facts {
    let (boxes, scores) = (ranked(call.shape(0)?, 3)?, ranked(call.shape(1)?, 3)?);
    let (batches, classes, count) = (scores[0], scores[1], boxes[1].min(scores[2]));
    // By default, no box is selected.
    let most = match (call.input(2), call.int(2)) {
        (None, _) => 0,
        (Some(_), Ok(most)) => most.max(0).cast_unsigned(),
        (Some(_), Err(_)) => count,
    };
    let rows = product(&[batches, classes, count.min(most)])?;
    Ok(vec![Fact::new(Some(Element::INT64), [rows, 3]).bounded()])
}
