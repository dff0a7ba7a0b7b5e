//! Shape rules of operators that split, slice and combine tensors.

use super::operation::{Made, Operation, int, ints};
use super::schema::options;
use crate::operators::value::{Fact, Reason, Value, gather_positions, misfit, show, strides};
use crate::operators::{Share, axis, extent, first_of};

/// Returns the facts about the outputs; `None` if this module has no rule for the operator.
pub(super) fn infer(op: &Operation) -> Option<Result<Made, Reason>> {
    Some(match op.call.kind {
        "CONCATENATION" => {
            let all: Vec<usize> = (0..op.call.inputs.len()).collect();
            op.onnx_parts("Concat", &all, vec![int("axis", op.int(options::CONCAT_AXIS))])
        }
        "SPLIT" => split(op),
        "SPLIT_V" => split_v(op),
        "PACK" => pack(op),
        "UNPACK" => unpack(op),
        "GATHER" => gather(op),
        "SLICE" => slice(op),
        "STRIDED_SLICE" => strided_slice(op),
        "EMBEDDING_LOOKUP" => rows(op, 1),
        "HASHTABLE_LOOKUP" => rows(op, 2),
        "SEGMENT_SUM" => segments(op),
        "UNSORTED_SEGMENT_MAX"
        | "UNSORTED_SEGMENT_MIN"
        | "UNSORTED_SEGMENT_PROD"
        | "UNSORTED_SEGMENT_SUM" => unsorted_segments(op),
        "DILATE" => dilate(op),
        "REDUCE_WINDOW" => reduce_window(op),
        _ => return None,
    })
}

/// Splits into equal parts. The axis is the first input.
fn split(op: &Operation) -> Result<Made, Reason> {
    let (shape, parts) = (op.shape(1)?, op.call.outputs as u64);
    let at = axis(op.call.int(0)?, shape.len())?;
    if parts == 0 || shape[at] % parts != 0 {
        return misfit(format!("extent {} cannot be cut into {parts} equal parts", shape[at]));
    }
    op.onnx_parts("Split", &[1], vec![int("axis", at as i64)])
}

/// Splits into parts of the listed sizes. One size may be -1, which stands for the remaining extent.
fn split_v(op: &Operation) -> Result<Made, Reason> {
    let shape = op.shape(0)?;
    let at = axis(op.call.int(2)?, shape.len())?;
    let mut sizes = op.call.ints(1)?.to_vec();
    let known: i128 = sizes.iter().filter(|&&size| size >= 0).map(|&size| i128::from(size)).sum();
    if let Some(rest) = sizes.iter_mut().find(|size| **size == -1) {
        *rest = extent(i128::from(shape[at]) - known, "the remaining extent")?.cast_signed();
    }
    op.onnx_parts("Split", &[0], vec![int("axis", at as i64), ints("split", sizes)])
}

/// Stacks tensors along a new dimension.
fn pack(op: &Operation) -> Result<Made, Reason> {
    let rank = op.shape(0)?.len() + 1;
    let at = axis(op.int(options::PACK_AXIS), rank)?;
    let longer = |input: usize| {
        let mut shape = op.shape(input)?.to_vec();
        if shape.len() + 1 != rank {
            return misfit(format!("shapes {} and {} differ", show(op.shape(0)?), show(&shape)));
        }
        shape.insert(at, 1);
        let value = op.call.input(input).and_then(|fact| fact.value.clone());
        Ok(Fact { value, ..op.fact(shape) })
    };
    let facts: Vec<Fact> = (0..op.call.inputs.len()).map(longer).collect::<Result<_, _>>()?;
    op.onnx_parts_of("Concat", &facts, vec![int("axis", at as i64)])
}

fn unpack(op: &Operation) -> Result<Made, Reason> {
    let shape = op.shape(0)?;
    let at = axis(op.int(options::UNPACK_AXIS), shape.len())?;
    if shape[at] != op.call.outputs as u64 {
        return misfit(format!("extent {} does not match {} outputs", shape[at], op.call.outputs));
    }
    if op.call.outputs == 0 {
        return Ok(Vec::new().into());
    }
    let mut made = op.onnx_parts("Split", &[0], vec![int("axis", at as i64)])?;
    for shape in made.facts.iter_mut().filter_map(|fact| fact.shape.as_mut()) {
        shape.remove(at);
    }
    Ok(made)
}

/// Selects slices by index, separately for each element of a batch if there are batch dimensions.
fn gather(op: &Operation) -> Result<Made, Reason> {
    let (data, indices) = (op.shape(0)?, op.shape(1)?);
    let batch = op.int(options::GATHER_BATCH);
    let along = axis(op.int(options::GATHER_AXIS), data.len())?;
    if batch == 0 {
        return Ok(op.onnx("Gather", &[0, 1], vec![int("axis", along as i64)])?.into());
    }
    let batch = if batch < 0 { batch + indices.len() as i64 } else { batch };
    let batch = usize::try_from(batch).ok().filter(|&batch| batch <= along && batch <= indices.len());
    let Some(batch) = batch.filter(|&batch| data[..batch] == indices[..batch]) else {
        return misfit(format!("indices {} do not fit data {}", show(indices), show(data)));
    };
    op.one([&data[..along], &indices[batch..], &data[along + 1..]].concat())
}

/// Selects a row of a table for each index. `HASHTABLE_LOOKUP` also returns which keys were found.
fn rows(op: &Operation, table: usize) -> Result<Made, Reason> {
    let ([number], table) = (op.ranked(0)?, op.shape(table)?);
    let row = table.get(1..).ok_or("the table is a scalar")?;
    Ok(vec![op.fact([&[*number], row].concat()), op.fact([*number])].into())
}

/// Infers `SLICE`. A size of -1 extends the slice to the end. The start affects the shape only in this case.
fn slice(op: &Operation) -> Result<Made, Reason> {
    const WHY: &str = "the size of the slice";
    let from = op.shape(0)?;
    let Some(Value::Ints(sizes)) = op.call.value(2) else {
        return Ok(Made::at_most(vec![op.fact(from)], WHY));
    };
    if sizes.len() != from.len() {
        return misfit(format!("{} sizes are given for {} dimensions", sizes.len(), from.len()));
    }
    let Some(Value::Ints(begins)) = op.call.value(1) else {
        let size = |(&size, &extent): (&i64, &u64)| u64::try_from(size).unwrap_or(extent);
        let fact = op.fact(sizes.iter().zip(from).map(size).collect::<Vec<_>>());
        return Ok(if sizes.contains(&-1) { Made::at_most(vec![fact], WHY) } else { vec![fact].into() });
    };
    if begins.len() != from.len() {
        return misfit(format!("{} start indices are given for {} dimensions", begins.len(), from.len()));
    }
    let mut ends = Vec::with_capacity(from.len());
    for ((&begin, &size), &extent_) in begins.iter().zip(sizes).zip(from) {
        let end = if size == -1 { i128::from(extent_) } else { i128::from(begin) + i128::from(size) };
        if begin < 0 || end < begin.into() || end > extent_.into() {
            return misfit(format!("a slice of {size} from {begin} on exceeds extent {extent_}"));
        }
        ends.push(end as i64);
    }
    op.onnx_parts("Slice", &[0], vec![ints("starts", begins.clone()), ints("ends", ends)])
}

/// The part of a strided slice that concerns one dimension.
struct Cut {
    extent: u64,
    /// First index, step and number of indices. The number is an upper bound unless `exact` is true.
    start: i128,
    step: i128,
    count: u64,
    exact: bool,
    /// True if the dimension is omitted from the result.
    shrunk: bool,
}

impl Cut {
    const fn whole(extent: u64) -> Self {
        Self { extent, start: 0, step: 1, count: extent, exact: true, shrunk: false }
    }
}

/// Infers `STRIDED_SLICE`. The inputs give the start, end and step per dimension. Masks mark dimensions as
/// whole, new, or removed.
fn strided_slice(op: &Operation) -> Result<Made, Reason> {
    let from = op.shape(0)?;
    let [listed] = *op.ranked(1)?;
    let marked = |mask: i64, at: usize| at < 32 && mask >> at & 1 == 1;
    let (ellipsis, new) = (op.int(options::ELLIPSIS_MASK), op.int(options::NEW_AXIS_MASK));
    let Some(listed) = usize::try_from(listed).ok().filter(|&listed| listed <= 32) else {
        return misfit(format!("there are too many start indices ({listed})"));
    };
    let added = (0..listed).filter(|&at| marked(new, at) && !marked(ellipsis, at)).count();
    let total = from.len() + added;
    let mut rest = from.iter().copied();
    let (mut cuts, mut skipped) = (Vec::with_capacity(total), 0);
    while cuts.len() < total {
        let at = cuts.len() - skipped;
        if marked(ellipsis, at) && at < listed && skipped == 0 {
            let end = (cuts.len() + 1 + total).saturating_sub(listed).clamp(cuts.len() + 1, total);
            skipped = end - cuts.len() - 1;
            cuts.extend(rest.by_ref().take(end - cuts.len()).map(Cut::whole));
        } else if marked(new, at) && at < listed {
            cuts.push(Cut::whole(1));
        } else {
            let Some(extent) = rest.next() else { return misfit("it refers to too many dimensions") };
            cuts.push(if at < listed { cut(op, at, extent)? } else { Cut::whole(extent) });
        }
    }
    let shape: Vec<u64> = cuts.iter().map(|cut| cut.count).collect();
    let inner: Vec<u64> = cuts.iter().map(|cut| cut.extent).collect();
    let exact = cuts.iter().all(|cut| cut.exact);
    let strides = strides(&inner);
    let picked = |value: &Value| {
        let offset = |dimension: usize, index: usize| {
            let cut = &cuts[dimension];
            (cut.start + cut.step * index as i128) as usize * strides[dimension]
        };
        let at = gather_positions(&shape, offset)?;
        at.iter().all(|&at| at < value.len()).then(|| value.pick(&at))
    };
    let value = op.call.value(0).filter(|_| exact && cuts.iter().all(|cut| cut.start >= 0)).and_then(picked);
    let kept: Vec<u64> = cuts.iter().filter(|cut| !cut.shrunk).map(|cut| cut.count).collect();
    let fact = op.fact(kept).with(value);
    let sized = cuts.iter().all(|cut| cut.exact || cut.shrunk);
    if !sized {
        return Ok(Made::at_most(vec![fact], "the size of the slice"));
    }
    let ranges: Vec<(i128, i128)> = cuts.iter().map(|cut| (cut.start, cut.step)).collect();
    let first = first_of(&inner, &shape, &ranges).filter(|_| exact && !op.call.bounded());
    let parts = first.map(|first| Share::Part { input: 0, output: 0, first }).into_iter().collect();
    Ok(Made { parts, ..vec![fact].into() })
}

/// Returns the slice of a dimension with extent `length`, from position `at` of the inputs and the masks.
fn cut(op: &Operation, at: usize, length: u64) -> Result<Cut, Reason> {
    let given = |input: usize| match op.call.value(input) {
        Some(Value::Ints(list)) => list.get(at).copied(),
        _ => None,
    };
    let marked = |field| op.int(field) >> at & 1 == 1;
    let shrunk = marked(options::SHRINK_AXIS_MASK);
    let size = i128::from(length);
    let one = Cut { extent: length, start: 0, step: 1, count: 1, exact: false, shrunk };
    let Some(step) = given(3).map(i128::from) else {
        return Ok(if shrunk { one } else { Cut { count: length, ..one } });
    };
    if step == 0 {
        return misfit("a step is 0");
    }
    let clamp = |index: i128| if step > 0 { index.clamp(0, size) } else { index.clamp(-1, size - 1) };
    let from_end = |index: i128| if index < 0 { index + size } else { index };
    let start = if marked(options::BEGIN_MASK) {
        Some(if step > 0 { 0 } else { size - 1 })
    } else {
        given(1).map(|begin| clamp(from_end(begin.into())))
    };
    if shrunk {
        return Ok(Cut { start: start.unwrap_or(0), exact: start.is_some(), ..one });
    }
    let places = |start: i128, end: i128| {
        let count = if step > 0 { (end - start + step - 1) / step } else { (start - end - step - 1) / -step };
        count.max(0)
    };
    let most = extent((size + step.abs() - 1) / step.abs(), "an extent")?;
    let end = if marked(options::END_MASK) {
        Some(if step > 0 { size } else { -1 })
    } else {
        let shift = if op.options.is(options::SLICE_OFFSET) { start } else { Some(0) };
        given(2).zip(shift).map(|(end, shift)| {
            let end = i128::from(end) + shift;
            clamp(from_end(end))
        })
    };
    Ok(match start.zip(end) {
        Some((start, end)) => {
            Cut { start, step, count: extent(places(start, end), "an extent")?, exact: true, ..one }
        }
        None => Cut { count: most, ..one },
    })
}

/// Infers `SEGMENT_SUM`. The last identifier determines the number of rows. Identifiers start at 0 and
/// increase by at most 1.
fn segments(op: &Operation) -> Result<Made, Reason> {
    let (row, [ids]) = (op.shape(0)?.get(1..).ok_or("the data are a scalar")?, op.ranked(1)?);
    let Some(Value::Ints(list)) = op.call.value(1) else {
        return Ok(Made::at_most(vec![op.fact([&[*ids], row].concat())], "the number of segments"));
    };
    let last = list.last().copied().unwrap_or(-1);
    op.one([&[extent(i128::from(last) + 1, "the number of segments")?], row].concat())
}

/// Infers the unsorted segment operators. An input gives the number of segments. This number replaces the
/// leading dimensions of the data, which are the dimensions of the identifiers.
fn unsorted_segments(op: &Operation) -> Result<Made, Reason> {
    let (data, ids) = (op.shape(0)?, op.shape(1)?);
    let Some(row) = data.get(ids.len()..) else {
        return misfit(format!("identifiers {} do not fit data {}", show(ids), show(data)));
    };
    op.one([&[extent(op.call.int(2)?.into(), "the number of segments")?], row].concat())
}

/// Inserts gaps between elements.
fn dilate(op: &Operation) -> Result<Made, Reason> {
    let (shape, steps) = (op.shape(0)?, op.call.ints(1)?);
    if steps.len() != shape.len() || steps.iter().any(|&step| step < 1) {
        return misfit(format!("dilations {steps:?} do not fit shape {}", show(shape)));
    }
    let spread = |(&length, &step): (&u64, &i64)| match length {
        0 => Ok(0),
        _ => extent((i128::from(length) - 1) * i128::from(step) + 1, "an extent"),
    };
    op.one(shape.iter().zip(steps).map(spread).collect::<Result<Vec<_>, _>>()?)
}

/// Reduces windows without padding. Inputs give their steps and dilations.
fn reduce_window(op: &Operation) -> Result<Made, Reason> {
    let shape = op.shape(0)?;
    let (window, steps, dilations) = (op.call.ints(2)?, op.call.ints(3)?, op.call.ints(4)?);
    if [window, steps, dilations].iter().any(|list| list.len() != shape.len() || list.iter().any(|&i| i < 1))
    {
        return misfit(format!("window {window:?} does not fit shape {}", show(shape)));
    }
    let places = |at: usize| {
        let reach = (i128::from(window[at]) - 1) * i128::from(dilations[at]) + 1;
        let slack = i128::from(shape[at]) - reach;
        if slack < 0 { Ok(0) } else { extent(slack / i128::from(steps[at]) + 1, "an extent") }
    };
    op.one((0..shape.len()).map(places).collect::<Result<Vec<_>, _>>()?)
}
