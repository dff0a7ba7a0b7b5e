//! Constant folding of small tensors through operators that select, scatter, sum and compare elements.

use super::call::{Call, Facts, axis, ranked};
use super::value::{Fact, Value, gather_positions, strides};
use crate::operators::element::Element;

/// Converts an index, which counts from the end if it is negative, to a position in a dimension of extent
/// `extent`. Returns `None` if the index is out of range.
pub fn position(index: i64, extent: u64) -> Option<usize> {
    let extent = i64::try_from(extent).ok()?;
    let from_start = if index < 0 { index.checked_add(extent)? } else { index };
    (0..extent).contains(&from_start).then_some(from_start as usize)
}

fn whole<'a>(call: &Call<'a>, at: usize) -> Option<&'a [i64]> {
    match call.value(at)? {
        Value::Ints(list) => Some(list),
        Value::Floats(_) => None,
    }
}

/// Returns a position in a tensor of shape `within` for each element of `shape`. The index of this position
/// along dimension `at` comes from `indices`; all other indices are those of the element.
fn along(shape: &[u64], within: &[u64], at: usize, indices: &[i64]) -> Option<Vec<usize>> {
    let of = strides(within);
    let inside = |(d, (x, y)): (usize, (&u64, &u64))| d == at || x <= y;
    if shape.len() != within.len() || !shape.iter().zip(within).enumerate().all(inside) {
        return None;
    }
    let flat = gather_positions(shape, |d, index| if d == at { 0 } else { index * of[d] })?;
    let chosen = indices.iter().map(|&index| Some(position(index, within[at])? * of[at]));
    flat.into_iter().zip(chosen).map(|(flat, chosen)| Some(flat + chosen?)).collect()
}

/// Infers the output of `GatherElements`. The output has the shape of the indices.
pub fn gather_elements(call: &Call) -> Facts {
    let (data, shape) = (ranked(call.shape(0)?, 1)?, call.shape(1)?);
    let at = axis(call.attr("axis").unwrap_or(0), data.len())?;
    let picked = || Some(call.value(0)?.pick(&along(shape, data, at, whole(call, 1)?)?));
    let value = picked();
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Returns `into` with the elements at the positions `at` replaced by those of `from`.
fn placed(into: &Value, at: &[usize], from: &Value) -> Option<Value> {
    let all = Value::chain(&[into, from])?;
    let mut order: Vec<usize> = (0..into.len()).collect();
    for (update, &to) in at.iter().enumerate() {
        order[to] = into.len() + update;
    }
    (at.len() == from.len()).then(|| all.pick(&order))
}

/// Infers the output of `ScatterElements`. The output is the first input with some elements replaced.
pub fn scatter_elements(call: &Call) -> Facts {
    let data = ranked(call.shape(0)?, 1)?;
    let at = axis(call.attr("axis").unwrap_or(0), data.len())?;
    let updated = || {
        let to = along(call.shape(1).ok()?, data, at, whole(call, 1)?)?;
        placed(call.value(0)?, &to, call.value(2)?)
    };
    let value = if replaces(call) { updated() } else { None };
    Ok(vec![Fact::new(call.element(0), data).with(value)])
}

fn replaces(call: &Call) -> bool {
    call.attr_text("reduction").is_none_or(|how| how == "none")
}

/// Returns the position of the first element of each slice that a tuple of indices selects, and the length of
/// a slice. Returns `None` if `batch` is not 0 or an index is out of range.
pub fn tuples(data: &[u64], indices: &[u64], list: &[i64], batch: usize) -> Option<(Vec<usize>, usize)> {
    let width = usize::try_from(*indices.last()?).ok().filter(|&width| width > 0 && batch == 0)?;
    let of = strides(data);
    let first = |tuple: &[i64]| {
        let parts = tuple.iter().enumerate().map(|(d, &i)| Some(position(i, *data.get(d)?)? * of[d]));
        parts.sum::<Option<usize>>()
    };
    let size = super::call::product(data.get(width..)?).ok()?;
    let starts: Vec<usize> = list.chunks(width).map(first).collect::<Option<_>>()?;
    Some((starts, usize::try_from(size).ok().filter(|&size| size <= super::value::FOLD_LIMIT as usize)?))
}

pub fn spread((starts, size): (Vec<usize>, usize)) -> Option<Vec<usize>> {
    let few = starts.len().checked_mul(size)? <= super::value::FOLD_LIMIT as usize;
    few.then(|| starts.into_iter().flat_map(|start| start..start + size).collect())
}

/// Infers the output of `ScatterND`. The output is the first input with some slices replaced.
pub fn scatter_nd(call: &Call) -> Facts {
    let data = ranked(call.shape(0)?, 1)?;
    let updated = || {
        let to = spread(tuples(data, call.shape(1).ok()?, whole(call, 1)?, 0)?)?;
        placed(call.value(0)?, &to, call.value(2)?)
    };
    let value = if replaces(call) { updated() } else { None };
    Ok(vec![Fact::new(call.element(0), data).with(value)])
}

/// Infers the output of `CumSum`. The output contains prefix sums along a dimension.
pub fn cumulated(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let sums = || {
        let at = axis(call.int(1).ok()?, shape.len()).ok()?;
        let (list, step) = (whole(call, 0)?, strides(shape)[at]);
        let length = usize::try_from(shape[at]).ok()?;
        let set = |name: &str| call.attr(name).unwrap_or(0) != 0;
        let mut sums = list.to_vec();
        for start in (0..list.len()).filter(|i| i / step % length == 0) {
            let mut sum = 0i64;
            for i in 0..length {
                let i = start + step * if set("reverse") { length - 1 - i } else { i };
                let with = sum.checked_add(list[i])?;
                sums[i] = if set("exclusive") { sum } else { with };
                sum = with;
            }
        }
        Some(Value::Ints(sums))
    };
    Ok(vec![Fact::new(call.element(0), shape).with(sums())])
}

/// Infers the output of `Trilu`. The output keeps the elements on one side of a diagonal; all others are 0.
pub fn triangle(call: &Call) -> Facts {
    let shape = ranked(call.shape(0)?, 2)?;
    let kept = || {
        let diagonal = if call.input(1).is_some() { call.int(1).ok()? } else { 0 };
        let upper = call.attr("upper").unwrap_or(1) != 0;
        let (rows, columns) = (shape[shape.len() - 2] as usize, shape[shape.len() - 1] as usize);
        let inside = |i: usize| {
            let across = (i % columns) as i128 - (i / columns % rows) as i128;
            if upper { across >= i128::from(diagonal) } else { across <= i128::from(diagonal) }
        };
        Some(match call.value(0)? {
            Value::Ints(list) => {
                Value::Ints(list.iter().enumerate().map(|(i, &x)| if inside(i) { x } else { 0 }).collect())
            }
            Value::Floats(list) => Value::Floats(
                list.iter().enumerate().map(|(i, &x)| if inside(i) { x } else { 0.0 }).collect(),
            ),
        })
    };
    Ok(vec![Fact::new(call.element(0), shape).with(kept())])
}

/// Returns one group per output element of a reduction over the `gone` dimensions. A group contains the
/// positions of the input elements that are reduced to the output element, in order.
fn groups(shape: &[u64], gone: &[bool]) -> Option<Vec<Vec<usize>>> {
    let left: Vec<u64> = shape.iter().zip(gone).map(|(&x, &gone)| if gone { 1 } else { x }).collect();
    let of = strides(&left);
    let target = gather_positions(shape, |d, index| if gone[d] { 0 } else { index * of[d] })?;
    let count = super::value::count(&left).filter(|&count| count <= super::value::FOLD_LIMIT)?;
    let mut groups = vec![Vec::new(); count as usize];
    for (from, to) in target.into_iter().enumerate() {
        groups[to].push(from);
    }
    Some(groups)
}

/// Returns the result of a reduction of a constant.
pub fn reduced(call: &Call, shape: &[u64], gone: &[bool]) -> Option<Value> {
    let groups = groups(shape, gone)?;
    let each = groups.iter();
    Some(match call.value(0)? {
        Value::Ints(list) => {
            let one = |group: &Vec<usize>| {
                let mut of = group.iter().map(|&i| list[i]);
                match call.kind {
                    "ReduceSum" => of.try_fold(0i64, i64::checked_add),
                    "ReduceProd" => of.try_fold(1i64, i64::checked_mul),
                    "ReduceMax" => of.max(),
                    "ReduceMin" => of.min(),
                    "ReduceMean" if !group.is_empty() => {
                        Some(of.try_fold(0i64, i64::checked_add)? / group.len() as i64)
                    }
                    "ReduceL1" => of.try_fold(0i64, |sum, i| sum.checked_add(i.checked_abs()?)),
                    _ => None,
                }
            };
            Value::Ints(each.map(one).collect::<Option<_>>()?)
        }
        Value::Floats(list) => {
            let one = |group: &Vec<usize>| {
                let of = group.iter().map(|&i| list[i]);
                Some(match call.kind {
                    "ReduceSum" => of.sum(),
                    "ReduceProd" => of.product(),
                    "ReduceMax" if !group.is_empty() => of.fold(f64::NEG_INFINITY, f64::max),
                    "ReduceMin" if !group.is_empty() => of.fold(f64::INFINITY, f64::min),
                    "ReduceMean" if !group.is_empty() => of.sum::<f64>() / group.len() as f64,
                    _ => return None,
                })
            };
            Value::Floats(each.map(one).collect::<Option<_>>()?)
        }
    })
}

/// Returns the indices of the largest or the smallest elements of a constant along a dimension (`ArgMax`,
/// `ArgMin`).
pub fn extremes(call: &Call, shape: &[u64], gone: &[bool]) -> Option<Value> {
    let list = call.value(0)?.floats();
    let (least, last) = (call.kind == "ArgMin", call.attr("select_last_index").unwrap_or(0) != 0);
    let one = |group: &Vec<usize>| {
        let better = if least { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater };
        let mut best = 0;
        for (at, &i) in group.iter().enumerate() {
            let order = list[i].partial_cmp(&list[*group.get(best)?])?;
            if order == better || (last && order.is_eq()) {
                best = at;
            }
        }
        (!group.is_empty()).then_some(best as i64)
    };
    Some(Value::Ints(groups(shape, gone)?.iter().map(one).collect::<Option<_>>()?))
}

/// Concatenates all inputs, which must be constants, along dimension `at`. `shape` is the shape of the
/// result.
pub fn joined(call: &Call, shape: &[u64], at: usize) -> Option<Value> {
    let parts: Vec<&Value> = (0..call.inputs.len()).map(|input| call.value(input)).collect::<Option<_>>()?;
    let all = Value::chain(&parts)?;
    if at == 0 {
        return Some(all);
    }
    // The result alternates between blocks of the parts.
    let inner: u64 = super::call::product(&shape[at + 1..]).ok()?;
    let blocks = super::call::product(&shape[..at]).ok()?;
    let mut first = 0;
    let mut runs = Vec::new();
    for (input, part) in parts.iter().enumerate() {
        let run = usize::try_from(call.shape(input).ok()?.get(at)?.checked_mul(inner)?).ok()?;
        runs.push((first, run));
        first += part.len();
    }
    let order = (0..usize::try_from(blocks).ok().filter(|_| all.len() > 0)?).flat_map(|block| {
        runs.iter().flat_map(move |&(first, run)| first + block * run..first + (block + 1) * run)
    });
    let order: Vec<usize> = order.collect();
    (order.len() == all.len()).then(|| all.pick(&order))
}

/// Returns a padded constant. Negative pads remove elements.
pub fn padded(call: &Call, shape: &[u64], before: &[i64]) -> Option<Value> {
    let (from, value) = (call.shape(0).ok()?, call.value(0)?);
    if call.attr_text("mode").is_some_and(|mode| mode != "constant") || value.len() == 0 {
        return None;
    }
    let filler = match (call.value(2), value) {
        (Some(filler), _) => filler.clone(),
        (None, Value::Ints(_)) => Value::Ints(vec![0]),
        (None, Value::Floats(_)) => Value::Floats(vec![
            call.attr_floats("value").map_or(0.0, |v| v.first().copied().unwrap_or(0.0).into()),
        ]),
    };
    let all = Value::chain(&[value, &filler]).filter(|all| all.len() == value.len() + 1)?;
    let of = strides(from);
    let outside = value.len();
    let offset = |d: usize, index: usize| {
        let own = i64::try_from(index).ok().and_then(|index| index.checked_sub(before[d]));
        // Positions in the padding map to `outside`, which is larger than every position inside.
        own.and_then(|own| position(own.max(-1), from[d]).filter(|_| own >= 0))
            .map_or(outside, |own| own * of[d])
    };
    let order: Vec<usize> = gather_positions(shape, offset)?.into_iter().map(|at| at.min(outside)).collect();
    Some(all.pick(&order))
}

/// Returns the largest or smallest `k` elements of each row of a constant, and their indices. Returns `None`
/// if `at` is not the last dimension.
pub fn best(call: &Call, shape: &[u64], at: usize, k: usize) -> Option<(Value, Value)> {
    let value = call.value(0)?;
    let list = value.floats();
    let largest = call.attr("largest").unwrap_or(1) != 0;
    let mut gone = vec![false; shape.len()];
    *gone.get_mut(at)? = true;
    if at + 1 != shape.len() {
        return None;
    }
    let (mut picked, mut places) = (Vec::new(), Vec::new());
    for group in groups(shape, &gone)? {
        let mut order: Vec<usize> = (0..group.len()).collect();
        order.sort_by(|&a, &b| {
            let both = list[group[a]].total_cmp(&list[group[b]]);
            if largest { both.reverse() } else { both }
        });
        order.truncate(k);
        picked.extend(order.iter().map(|&i| group[i]));
        places.extend(order.iter().map(|&i| i as i64));
    }
    Some((value.pick(&picked), Value::Ints(places)))
}

pub fn scalar(element: Element, value: i64) -> Fact {
    Fact::new(Some(element), []).with(Some(Value::Ints(vec![value])))
}
