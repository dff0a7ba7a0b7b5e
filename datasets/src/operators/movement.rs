//! Sizing rules for operators that move elements or change the shape.

use super::call::{Call, Facts, axes, axis, extent, product, ranked};
use super::fold::{joined, padded, spread, tuples};
use crate::operators::element::Element;
use crate::operators::value::{
    Fact, Reason, Value, extents, gather_positions, misfit, show, strides, unknown,
};

/// Returns the fact about the first input in another shape with the same number of elements.
fn reshaped(call: &Call, shape: Vec<u64>) -> Vec<Fact> {
    let value = call.input(0).and_then(|fact| fact.value.clone());
    vec![Fact { value, ..Fact::new(call.element(0), shape) }]
}

/// Infers the output of `Reshape`. 0 keeps an extent (unless `allowzero` is set), and -1 stands for the
/// remaining extent.
pub fn reshape(call: &Call) -> Facts {
    let from = call.shape(0)?;
    let wanted = call.ints_or_attr(1, "shape")?.ok_or("input 1 is missing")?;
    let keep_zero = call.attr("allowzero") == Some(1);
    let mut shape = Vec::with_capacity(wanted.len());
    let mut rest = None;
    for (at, &dim) in wanted.iter().enumerate() {
        shape.push(match dim {
            0 if !keep_zero => *from.get(at).ok_or_else(|| {
                format!("the 0 at position {at} refers to a dimension that {} does not have", show(from))
            })?,
            -1 if rest.is_none() => {
                rest = Some(at);
                1
            }
            _ => extent(dim.into(), "an extent")?,
        });
    }
    let (total, known) = (product(from)?, product(&shape)?);
    if let Some(at) = rest {
        // An upper bound on the number of elements is rounded down to whole rows.
        if known == 0 || (total % known != 0 && !call.bound(0)) {
            return misfit(format!("{} elements are not a multiple of {known}", show(from)));
        }
        shape[at] = total / known;
    } else if total != known && !call.bound(0) {
        return misfit(format!("shape {} cannot be read as {}", show(from), show(&shape)));
    }
    Ok(reshaped(call, shape))
}

/// Infers the output of `Flatten`. The output has two dimensions: the product of the extents before the axis,
/// and that of the rest.
pub fn flatten(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let at = match call.attr("axis").unwrap_or(1) {
        at if at == shape.len() as i64 => shape.len(),
        at => axis(at, shape.len())?,
    };
    Ok(reshaped(call, vec![product(&shape[..at])?, product(&shape[at..])?]))
}

/// Infers the output of `Squeeze`. The operator removes dimensions of extent 1.
pub fn squeeze(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let gone = match call.ints_or_attr(1, "axes")? {
        Some(list) => axes(&list, shape.len())?,
        None => shape.iter().map(|&extent| extent == 1).collect(),
    };
    if let Some(at) = (0..shape.len()).find(|&at| gone[at] && shape[at] != 1).filter(|_| !call.bound(0)) {
        return misfit(format!("dimension {at} of {} is squeezed but has extent {}", show(shape), shape[at]));
    }
    Ok(reshaped(
        call,
        shape.iter().zip(&gone).filter(|&(_, &gone)| !gone).map(|(&extent, _)| extent).collect(),
    ))
}

/// Infers the output of `Unsqueeze`. The operator inserts dimensions of extent 1.
pub fn unsqueeze(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let list = call.ints_or_attr(1, "axes")?.ok_or("the axes are missing")?;
    let new = axes(&list, shape.len() + list.len())?;
    if new.iter().filter(|&&new| new).count() != list.len() {
        return misfit("an axis is named twice".to_owned());
    }
    let mut rest = shape.iter().copied();
    Ok(reshaped(call, new.iter().map(|&new| if new { 1 } else { rest.next().unwrap_or(1) }).collect()))
}

pub fn identity(call: &Call) -> Facts {
    Ok(reshaped(call, call.shape(0)?.to_vec()))
}

/// Infers the output of `Shape`. The output contains the extents from `start` to `end`.
pub fn shape(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let bound = |value: i64| {
        let rank = shape.len() as i64;
        (if value < 0 { value.saturating_add(rank) } else { value }).clamp(0, rank) as usize
    };
    let (start, end) = (bound(call.attr("start").unwrap_or(0)), bound(call.attr("end").unwrap_or(i64::MAX)));
    let part: Vec<i64> = shape[start..end.max(start)].iter().map(|&extent| extent as i64).collect();
    Ok(vec![Fact::new(Some(Element::INT64), [part.len() as u64]).with(Some(Value::Ints(part)))])
}

/// Infers the output of `Size`. The output is the number of elements.
pub fn size(call: &Call) -> Facts {
    let count = product(call.shape(0)?)?;
    Ok(vec![Fact::new(Some(Element::INT64), []).with(Some(Value::Ints(vec![count as i64])))])
}

/// Infers the output of `ConstantOfShape`. Every element has the same value, by default 0 of type `float32`.
pub fn constant_of_shape(call: &Call) -> Facts {
    let shape = extents(call.ints(0)?)?;
    let one = call.attr_constant("value")?.cloned();
    let zero = Some(Value::Floats(vec![0.0]));
    let one = one.unwrap_or_else(|| Fact::new(Some(Element::FLOAT32), [1]).with(zero));
    let filled = |value: &Value| Some(value.pick(&gather_positions(&shape, |_, _| 0)?));
    let value = one.value.as_deref().filter(|value| value.len() == 1).and_then(filled);
    Ok(vec![Fact::new(one.element, shape).with(value)])
}

/// Infers the output of `Transpose`. The operator permutes the dimensions; the default reverses their order.
pub fn transpose(call: &Call) -> Facts {
    let from = call.shape(0)?;
    let permutation: Vec<usize> = match call.attr_ints("perm") {
        Some(list) => list.iter().map(|&at| axis(at, from.len())).collect::<Result<_, _>>()?,
        None => (0..from.len()).rev().collect(),
    };
    let mut sorted = permutation.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..from.len()) {
        return misfit(format!("{permutation:?} is not a permutation of {} dimensions", from.len()));
    }
    let shape: Vec<u64> = permutation.iter().map(|&at| from[at]).collect();
    let strides = strides(from);
    let moved = |value: &Value| {
        Some(
            value
                .pick(&gather_positions(&shape, |dimension, index| index * strides[permutation[dimension]])?),
        )
    };
    let value = call.value(0).and_then(moved);
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Infers the output of `Concat`. As in runtimes, empty inputs need not match the others.
pub fn concat(call: &Call) -> Facts {
    let shapes: Vec<&[u64]> =
        (0..call.inputs.len()).map(|input| call.shape(input)).collect::<Result<_, _>>()?;
    let first = shapes.iter().find(|shape| !shape.contains(&0)).or(shapes.first());
    let mut shape = first.ok_or("input 0 is missing")?.to_vec();
    let at = axis(call.attr("axis").unwrap_or(1), shape.len())?;
    let mut length = 0;
    for other in shapes {
        let loose = call.bounded() || other.contains(&0);
        let fits = |i: usize| i == at || other[i] == shape[i] || loose;
        if other.len() != shape.len() || !(0..shape.len()).all(fits) {
            return misfit(format!("shapes {} and {} do not fit along axis {at}", show(&shape), show(other)));
        }
        for i in (0..shape.len()).filter(|_| call.bounded()) {
            shape[i] = shape[i].max(other[i]);
        }
        length += i128::from(other[at]);
    }
    shape[at] = extent(length, "an extent")?;
    let value = joined(call, &shape, at);
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Infers the outputs of `Split`. Without given lengths, the parts along the axis are equal, except that the
/// last may be smaller.
pub fn split(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let at = axis(call.attr("axis").unwrap_or(0), shape.len())?;
    let parts = call.outputs as u64;
    let sizes = if let Ok(list) = call.ints_or_attr(1, "split") {
        list.map(|list| extents(&list)).transpose()?
    } else {
        return Ok(vec![Fact::new(call.element(0), shape).bounded(); call.outputs]);
    };
    let sizes = if let Some(sizes) = sizes {
        sizes
    } else {
        let parts =
            call.attr("num_outputs").map_or(Ok(parts), |n| extent(n.into(), "the number of parts"))?;
        let each = shape[at].div_ceil(parts.max(1));
        (0..parts.min(call.outputs as u64)).map(|i| each.min(shape[at].saturating_sub(i * each))).collect()
    };
    let total: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
    if total != u128::from(shape[at]) && !call.bound(0) {
        return misfit(format!("parts {sizes:?} do not add up to extent {}", shape[at]));
    }
    let strides = strides(shape);
    let mut from = 0usize;
    let part = |&size: &u64| {
        let mut part = shape.to_vec();
        part[at] = size;
        let picked = |value: &Value| {
            let first = from.wrapping_mul(strides[at]);
            let at = gather_positions(&part, |dimension, index| index * strides[dimension])?;
            Some(value.pick(&at.into_iter().map(|i| i + first).collect::<Vec<_>>()))
        };
        let value = call.value(0).and_then(picked);
        from = from.wrapping_add(size as usize);
        Fact::new(call.element(0), part).with(value)
    };
    Ok(sizes.iter().map(part).collect())
}

/// The shape of a slice and, for each dimension, the first selected index and the step.
pub(super) type Selection = (Vec<u64>, Vec<(i128, i128)>);

/// Infers the output of `Slice`. The operator selects a range of indices, with a step, along each of the
/// given dimensions.
pub fn slice(call: &Call) -> Facts {
    let from = call.shape(0)?;
    let Some((shape, plan)) = selection(call)? else {
        return Ok(vec![Fact::new(call.element(0), from).bounded()]);
    };
    let strides = strides(from);
    let picked = |value: &Value| {
        // Positions are small and not negative, because each lies inside the constant.
        let offset = |dimension: usize, index: usize| {
            let (start, step) = plan[dimension];
            (start + step * index as i128) as usize * strides[dimension]
        };
        Some(value.pick(&gather_positions(&shape, offset)?))
    };
    let value = call.value(0).and_then(picked);
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Returns the elements that `Slice` selects. Returns `None` if starts or ends are not constant: the shape of
/// the input is then an upper bound.
pub(super) fn selection(call: &Call) -> Result<Option<Selection>, Reason> {
    let from = call.shape(0)?;
    let (starts, ends) = match (call.ints_or_attr(1, "starts"), call.ints_or_attr(2, "ends")) {
        (Ok(starts), Ok(ends)) => {
            (starts.ok_or("the starts are missing")?, ends.ok_or("the ends are missing")?)
        }
        _ => return Ok(None),
    };
    let along = call.ints_or_attr(3, "axes")?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = call.ints_or_attr(4, "steps")?.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || along.len() != starts.len() || steps.len() != starts.len() {
        return misfit("starts, ends, axes and steps differ in length".to_owned());
    }
    let mut shape = from.to_vec();
    let mut plan: Vec<(i128, i128)> = vec![(0, 1); from.len()];
    for (i, &dimension) in along.iter().enumerate() {
        let at = axis(dimension, from.len())?;
        let (length, step) = (i128::from(from[at]), i128::from(steps[i]));
        let absolute = |value: i64| i128::from(value) + if value < 0 { length } else { 0 };
        let (start, count) = match step {
            0 => return misfit("a step is 0".to_owned()),
            1.. => {
                let (start, end) = (absolute(starts[i]).clamp(0, length), absolute(ends[i]).clamp(0, length));
                // If the start counts from the end and the end from the start, a shorter dimension gives a
                // longer slice.
                let from_end = call.bound(0) && starts[i] < 0 && ends[i] >= 0;
                let count = if from_end {
                    i128::from(ends[i]).min(-i128::from(starts[i])).min(length)
                } else {
                    end - start
                };
                (start, (count + step - 1).div_euclid(step))
            }
            _ => {
                // If the dimension is empty, `start` and `end` are -1, so the slice is empty.
                let start = absolute(starts[i]).clamp((length - 1).min(0), length - 1);
                let end = absolute(ends[i]).clamp(-1, length - 1);
                let count = if call.bound(0) { length } else { start - end };
                (start, (count - step - 1).div_euclid(-step))
            }
        };
        shape[at] = extent(count.max(0), "an extent")?;
        plan[at] = (start, step);
    }
    Ok(Some((shape, plan)))
}

/// Infers the output of `Gather`. The operator selects slices along an axis by index.
pub fn gather(call: &Call) -> Facts {
    let (data, indices) = (ranked(call.shape(0)?, 1)?, call.shape(1)?);
    let at = axis(call.attr("axis").unwrap_or(0), data.len())?;
    let shape = [&data[..at], indices, &data[at + 1..]].concat();
    let value = match (call.value(0), call.value(1)) {
        (Some(value), Some(Value::Ints(list))) => {
            let length = data[at] as i64;
            let position = |&i: &i64| {
                let i = if i < 0 { i + length } else { i };
                (0..length).contains(&i).then_some(i as usize)
            };
            let list: Vec<usize> =
                list.iter().map(position).collect::<Option<_>>().ok_or("an index lies outside the data")?;
            let (from, inner) = (strides(data), strides(indices));
            let ranks = indices.len();
            let place = |flat: usize, index: usize, dimension: usize| flat + index * inner[dimension];
            let of = strides(&shape);
            let positions = gather_positions(&shape, |_, _| 0).map(|zero| {
                (0..zero.len())
                    .map(|flat| {
                        let index = |d: usize| flat / of[d] % shape[d] as usize;
                        let chosen = (0..ranks).fold(0, |sum, d| place(sum, index(at + d), d));
                        let before: usize = (0..at).map(|d| index(d) * from[d]).sum();
                        let after: usize = (at + 1..data.len()).map(|d| index(d - 1 + ranks) * from[d]).sum();
                        before + list[chosen] * from[at] + after
                    })
                    .collect::<Vec<_>>()
            });
            positions.map(|positions| value.pick(&positions))
        }
        _ => None,
    };
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Infers the output of `GatherND`. The operator selects slices by tuples of indices.
pub fn gather_nd(call: &Call) -> Facts {
    let (data, indices) = (ranked(call.shape(0)?, 1)?, ranked(call.shape(1)?, 1)?);
    let batch = call.attr("batch_dims").unwrap_or(0);
    let last = indices[indices.len() - 1];
    let from = extent(i128::from(batch) + i128::from(last), "the number of indexed dimensions")?;
    if from > data.len() as u64 || batch < 0 {
        return misfit(format!("indices of length {last} do not fit data {}", show(data)));
    }
    let shape = [&indices[..indices.len() - 1], &data[from as usize..]].concat();
    let picked = || {
        let Value::Ints(list) = call.value(1)? else { return None };
        Some(call.value(0)?.pick(&spread(tuples(data, indices, list, batch as usize)?)?))
    };
    let value = picked();
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Infers the output of `Tile`. Input 1 contains the number of repetitions per dimension.
pub fn tile(call: &Call) -> Facts {
    let from = call.shape(0)?;
    let repeats = extents(call.ints(1)?)?;
    if repeats.len() != from.len() {
        return misfit(format!("{} repeats are given for {} dimensions", repeats.len(), from.len()));
    }
    let times =
        |(&extent_, &times): (&u64, &u64)| extent(i128::from(extent_) * i128::from(times), "an extent");
    let shape: Vec<u64> = from.iter().zip(&repeats).map(times).collect::<Result<_, _>>()?;
    let strides = strides(from);
    let repeated = |value: &Value| {
        let offset = |dimension: usize, index: usize| index % from[dimension] as usize * strides[dimension];
        Some(value.pick(&gather_positions(&shape, offset)?))
    };
    let value = call.value(0).and_then(repeated);
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Infers the output of `Pad`. The operator adds elements at the ends of every dimension, or removes them if
/// the pad is negative.
pub fn pad(call: &Call) -> Facts {
    let from = call.shape(0)?;
    let pads = match call.attr_ints("paddings") {
        Some(list) => list.to_vec(),
        None => call.ints_or_attr(1, "pads")?.ok_or("the pads are missing")?,
    };
    let along: Vec<usize> = match call.input(3) {
        Some(_) => call.ints(3)?.iter().map(|&at| axis(at, from.len())).collect::<Result<_, _>>()?,
        None => (0..from.len()).collect(),
    };
    if pads.len() != 2 * along.len() {
        return misfit(format!("{} pads are given for {} dimensions", pads.len(), along.len()));
    }
    let mut shape = from.to_vec();
    let mut before = vec![0; from.len()];
    for (i, &at) in along.iter().enumerate() {
        let padded = i128::from(from[at]) + i128::from(pads[i]) + i128::from(pads[i + along.len()]);
        shape[at] = extent(padded, "an extent")?;
        before[at] = pads[i];
    }
    let value = padded(call, &shape, &before);
    Ok(vec![Fact::new(call.element(0), shape).with(value)])
}

/// Infers the output of `CenterCropPad`. The operator crops or pads some dimensions to the extents that an
/// input gives.
pub fn center_crop_pad(call: &Call) -> Facts {
    let mut shape = call.shape(0)?.to_vec();
    let wanted = extents(call.ints(1)?)?;
    let along: Vec<usize> = match call.attr_ints("axes") {
        Some(list) => list.iter().map(|&at| axis(at, shape.len())).collect::<Result<_, _>>()?,
        None => (0..shape.len()).collect(),
    };
    if wanted.len() != along.len() {
        return misfit(format!("{} extents are given for {} dimensions", wanted.len(), along.len()));
    }
    for (&at, &extent) in along.iter().zip(&wanted) {
        shape[at] = extent;
    }
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the output of `DepthToSpace` and `SpaceToDepth`. The operators move blocks of channels into the
/// spatial dimensions, or back.
pub fn depth_and_space(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let [n, c, h, w] = *shape else {
        return misfit(format!("shape {} does not have four dimensions", show(shape)));
    };
    let block = extent(call.attr("blocksize").unwrap_or(0).into(), "the block size")?.max(1);
    let square = block.checked_mul(block).ok_or("the block size is too large")?;
    let scaled = |extent_: u64, by: u64| extent(i128::from(extent_) * i128::from(by), "an extent");
    let shape = if call.kind == "DepthToSpace" {
        [n, c / square, scaled(h, block)?, scaled(w, block)?]
    } else {
        [n, scaled(c, square)?, h / block, w / block]
    };
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the output of `Resize` and `Upsample`. Either the sizes or the scale factors are given.
pub fn resize(call: &Call) -> Facts {
    let from = call.shape(0)?;
    let old = call.kind == "Upsample" || call.inputs.len() == 2;
    let along: Vec<usize> = match call.attr_ints("axes") {
        Some(list) => list.iter().map(|&at| axis(at, from.len())).collect::<Result<_, _>>()?,
        None => (0..from.len()).collect(),
    };
    let mut shape = from.to_vec();
    let given = |at: usize| call.input(at).is_some_and(|fact| fact.shape.as_deref() != Some(&[0]));
    if !old && given(3) {
        let sizes = extents(call.ints(3)?)?;
        if sizes.len() != along.len() {
            return misfit(format!("{} sizes are given for {} dimensions", sizes.len(), along.len()));
        }
        return kept_ratio(call, from, &along, &sizes);
    }
    let scales: Vec<f64> = match call.attr_floats("scales") {
        Some(list) => list.iter().map(|&f| f64::from(f)).collect(),
        None => match call.value(if old { 1 } else { 2 }) {
            Some(value) => value.floats(),
            None => return unknown("it depends on scales that are not a small constant"),
        },
    };
    if scales.len() != along.len() {
        return misfit(format!("{} scales are given for {} dimensions", scales.len(), along.len()));
    }
    for (&at, &scale) in along.iter().zip(&scales) {
        let scaled = (from[at] as f64 * scale).floor();
        if !(0.0..9e15).contains(&scaled) {
            return misfit(format!("an extent would be {scaled}"));
        }
        shape[at] = scaled as u64;
    }
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Returns the shape for given sizes. With an aspect-ratio policy, all dimensions are scaled by the same
/// factor: the smallest or the largest of the requested factors.
fn kept_ratio(call: &Call, from: &[u64], along: &[usize], sizes: &[u64]) -> Facts {
    if call.bound(0) && call.attr_text("keep_aspect_ratio_policy").is_some_and(|policy| policy != "stretch") {
        return unknown("its factor depends on data");
    }
    let mut shape = from.to_vec();
    let factors = || along.iter().zip(sizes).map(|(&at, &size)| size as f64 / from[at] as f64);
    let factor = match call.attr_text("keep_aspect_ratio_policy") {
        Some("not_larger") => Some(factors().fold(f64::INFINITY, f64::min)),
        Some("not_smaller") => Some(factors().fold(0.0, f64::max)),
        _ => None,
    };
    for (&at, &size) in along.iter().zip(sizes) {
        shape[at] = match factor {
            Some(factor) => {
                let scaled = (factor * from[at] as f64).round();
                if !(0.0..9e15).contains(&scaled) {
                    return misfit(format!("an extent would be {scaled}"));
                }
                scaled as u64
            }
            None => size,
        };
    }
    Ok(vec![Fact::new(call.element(0), shape)])
}
