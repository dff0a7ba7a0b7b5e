//! Sizing rules for convolutions, pooling, and other operators on the spatial dimensions.
//!
//! Extents follow the formulas of the ONNX operator specification (`Conv`, `ConvTranspose`, `MaxPool`,
//! `AveragePool`).

use super::call::{Call, Facts, extent, ranked};
use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, misfit, show};

/// Kernel, strides, dilations and pads of the spatial dimensions.
struct Window {
    kernel: Vec<i128>,
    strides: Vec<i128>,
    dilations: Vec<i128>,
    /// Pads at the start of all dimensions, followed by those at the end.
    pads: Vec<i128>,
}

impl Window {
    fn new(call: &Call, kernel: Vec<i128>) -> Result<Self, Reason> {
        let rank = kernel.len();
        let list = |name: &str, length: usize, default: i128| match call.attr_ints(name) {
            Some([]) | None => Ok(vec![default; length]),
            Some(list) if list.len() == length => Ok(list.iter().map(|&i| i128::from(i)).collect()),
            Some(list) => misfit(format!("{name} has {} numbers; expected {length}", list.len())),
        };
        let (strides, dilations) = (list("strides", rank, 1)?, list("dilations", rank, 1)?);
        if let Some(bad) = kernel.iter().chain(&strides).chain(&dilations).find(|&&one| one < 1) {
            return misfit(format!(
                "kernel, strides and dilations must be positive, but one of them is {bad}"
            ));
        }
        let pads = match call.input(2) {
            Some(_) if call.kind == "ConvTransposeWithDynamicPads" => {
                call.ints(2)?.iter().map(|&i| i128::from(i)).collect()
            }
            _ => list("pads", 2 * rank, 0)?,
        };
        if pads.len() != 2 * rank {
            return misfit(format!("expected {} pads, found {}", 2 * rank, pads.len()));
        }
        Ok(Self { kernel, strides, dilations, pads })
    }

    /// Returns the extent of the dilated kernel along dimension `at`.
    fn reach(&self, at: usize) -> i128 {
        self.dilations[at] * (self.kernel[at] - 1) + 1
    }

    /// Returns the number of window positions per spatial dimension.
    fn places(&self, call: &Call, plane: &[u64]) -> Result<Vec<u64>, Reason> {
        let up = call.attr("ceil_mode") == Some(1);
        let valid = call.attr_text("auto_pad") == Some("VALID");
        let place = |(at, &length): (usize, &u64)| {
            let (length, stride, reach) = (i128::from(length), self.strides[at], self.reach(at));
            let (begin, end) = match call.attr_text("auto_pad") {
                Some("SAME_UPPER" | "SAME_LOWER") => {
                    return extent((length + stride - 1) / stride, "an extent");
                }
                _ if valid => (0, 0),
                _ => (self.pads[at], self.pads[at + plane.len()]),
            };
            let slack = length + begin + end - reach;
            let places = match slack {
                _ if up && !valid => rounded_up(slack, stride, length + begin).0,
                0.. => slack / stride + 1,
                _ => -1,
            };
            if places < 0 {
                return misfit(format!(
                    "a window of {reach} does not fit into the padded extent {}",
                    length + begin + end
                ));
            }
            extent(places, "an extent")
        };
        plane.iter().enumerate().map(place).collect()
    }
}

/// Returns the number of window positions with `ceil_mode`, as runtimes count them. Runtimes do not count a
/// window that would start in the padding at the end (at `end` or later). The formula of operator sets before
/// version 22 does count it. The flag is true if there is such a window.
fn rounded_up(slack: i128, stride: i128, end: i128) -> (i128, bool) {
    let steps = slack.div_euclid(stride) + i128::from(slack.rem_euclid(stride) != 0);
    let padding = steps * stride >= end;
    (steps + i128::from(!padding), padding)
}

/// Returns `kernel_shape` or, if it is absent, the spatial extents of the weights.
fn kernel(call: &Call, weights: Option<&[u64]>) -> Result<Vec<i128>, Reason> {
    match (call.attr_ints("kernel_shape"), weights) {
        (Some(list), _) if !list.is_empty() => Ok(list.iter().map(|&i| i128::from(i)).collect()),
        (_, Some(plane)) => Ok(plane.iter().map(|&extent| i128::from(extent)).collect()),
        _ => misfit("the kernel's shape is missing"),
    }
}

fn same_rank(plane: &[u64], window: &Window) -> Result<(), Reason> {
    if plane.len() != window.kernel.len() {
        return misfit(format!(
            "a kernel of {} dimensions does not fit spatial dimensions {}",
            window.kernel.len(),
            show(plane)
        ));
    }
    Ok(())
}

/// Infers the output of `Conv` and its variants. The weights are input number `weights`.
pub fn conv(call: &Call, weights: usize, element: Option<Element>) -> Facts {
    convolved(call, ranked(call.shape(0)?, 2)?, ranked(call.shape(weights)?, 2)?, element)
}

/// Returns the output of a convolution. Channels are the second dimension of all shapes.
fn convolved(call: &Call, input: &[u64], weights: &[u64], element: Option<Element>) -> Facts {
    let window = Window::new(call, kernel(call, Some(&weights[2..]))?)?;
    same_rank(&input[2..], &window)?;
    let groups = extent(call.attr("group").unwrap_or(1).into(), "the number of groups")?;
    if weights[1].checked_mul(groups) != Some(input[1]) && !call.bounded() {
        return misfit(format!(
            "weights {} do not fit input {} in {groups} groups",
            show(weights),
            show(input)
        ));
    }
    let mut shape = vec![input[0], weights[0]];
    shape.extend(window.places(call, &input[2..])?);
    Ok(vec![Fact::new(element, shape)])
}

/// Infers the output of `ConvTranspose`. The output has the extents that a convolution would reduce to those
/// of the input. `SAME` crops each output extent to the input extent times the stride, and never pads it.
pub fn conv_transpose(call: &Call) -> Facts {
    let (input, weights) = (ranked(call.shape(0)?, 2)?, ranked(call.shape(1)?, 2)?);
    let window = Window::new(call, kernel(call, Some(&weights[2..]))?)?;
    let plane = &input[2..];
    same_rank(plane, &window)?;
    let groups = extent(call.attr("group").unwrap_or(1).into(), "the number of groups")?;
    let channels = extent(i128::from(weights[1]) * i128::from(groups), "the number of channels")?;
    let mut shape = vec![input[0], channels];
    if let Some(list) = call.attr_ints("output_shape").filter(|list| !list.is_empty()) {
        let list = crate::operators::value::extents(list)?;
        shape.extend(&list[list.len().saturating_sub(plane.len())..]);
        if shape.len() != input.len() {
            return misfit(format!("output_shape {} does not fit input {}", show(&list), show(input)));
        }
        return Ok(vec![Fact::new(call.element(0), shape)]);
    }
    let more = call.attr_ints("output_padding").unwrap_or_default();
    for (at, &length) in plane.iter().enumerate() {
        let (stride, length) = (window.strides[at], i128::from(length));
        let more = i128::from(more.get(at).copied().unwrap_or(0));
        let full = stride * (length - 1) + more + window.reach(at);
        shape.push(extent(
            match call.attr_text("auto_pad") {
                Some("SAME_UPPER" | "SAME_LOWER") => full.min(length * stride),
                Some("VALID") => full,
                _ => full - window.pads[at] - window.pads[at + plane.len()],
            },
            "an extent",
        )?);
    }
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the outputs of pooling operators. `MaxPool` can also return the positions of the maxima.
pub fn pool(call: &Call) -> Facts {
    let input = ranked(call.shape(0)?, 2)?;
    let window = Window::new(call, kernel(call, None)?)?;
    same_rank(&input[2..], &window)?;
    let mut shape = input[..2].to_vec();
    shape.extend(window.places(call, &input[2..])?);
    Ok(vec![Fact::new(call.element(0), shape.clone()), Fact::new(Some(Element::INT64), shape)])
}

/// Returns a warning about a pooling operator with `ceil_mode`: before version 22, the formula of the
/// operator set counts positions that runtimes omit.
pub fn pool_doubt(call: &Call) -> Option<String> {
    if call.opset >= 22
        || call.attr("ceil_mode") != Some(1)
        || call.attr_text("auto_pad").is_some_and(|t| t != "NOTSET")
    {
        return None;
    }
    let plane = call.shape(0).ok()?.get(2..)?;
    let window = Window::new(call, kernel(call, None).ok()?).ok()?;
    let more = plane.iter().zip(0..window.kernel.len()).any(|(&length, at)| {
        let (begin, end) = (window.pads[at], window.pads[at + window.kernel.len()]);
        let end_of_data = i128::from(length) + begin;
        rounded_up(end_of_data + end - window.reach(at), window.strides[at], end_of_data).1
    });
    more.then(|| {
        format!(
            "the formula of operator set {} counts a window that starts in the padding; as in runtimes, it is not counted",
            call.opset
        )
    })
}

/// Infers the output of global pooling: every extent after the channels becomes 1.
pub fn global_pool(call: &Call) -> Facts {
    let mut shape = ranked(call.shape(0)?, 2)?.to_vec();
    shape[2..].fill(1);
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the output of `MaxUnpool`. The operator moves the maxima back to their original positions.
pub fn max_unpool(call: &Call) -> Facts {
    if call.input(2).is_some() {
        return Ok(vec![Fact::new(call.element(0), crate::operators::value::extents(call.ints(2)?)?)]);
    }
    let input = ranked(call.shape(0)?, 2)?;
    let window = Window::new(call, kernel(call, None)?)?;
    same_rank(&input[2..], &window)?;
    let plane = input.len() - 2;
    let mut shape = input[..2].to_vec();
    for (at, &length) in input[2..].iter().enumerate() {
        let pads = window.pads[at] + window.pads[at + plane];
        let full = window.strides[at] * (i128::from(length) - 1) + window.kernel[at] - pads;
        shape.push(extent(full, "an extent")?);
    }
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the output of `MaxRoiPool` and `RoiAlign`. Both operators pool over regions of interest.
pub fn roi_pool(call: &Call) -> Facts {
    let (input, regions) = (ranked(call.shape(0)?, 4)?, ranked(call.shape(1)?, 1)?);
    let (height, width) = match call.attr_ints("pooled_shape") {
        Some(&[height, width]) => (height, width),
        _ => (call.attr("output_height").unwrap_or(1), call.attr("output_width").unwrap_or(1)),
    };
    let (height, width) = (extent(height.into(), "the height")?, extent(width.into(), "the width")?);
    Ok(vec![Fact::new(call.element(0), [regions[0], input[1], height, width])])
}

/// Infers the output of `GridSample`. The operator samples the input at the points of a grid.
pub fn grid_sample(call: &Call) -> Facts {
    let (input, grid) = (ranked(call.shape(0)?, 3)?, ranked(call.shape(1)?, 3)?);
    let shape = [&input[..2], &grid[1..grid.len() - 1]].concat();
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Returns true if channels are the last dimension.
pub fn channels_last(call: &Call) -> bool {
    call.kind.starts_with("Nhwc") || call.attr("channels_last").unwrap_or(0) != 0
}

/// Moves the last dimension of a shape, the channels, to the second position.
fn channels_second(shape: &[u64]) -> Vec<u64> {
    let mut shape = shape.to_vec();
    if shape.len() > 2 {
        shape[1..].rotate_right(1);
    }
    shape
}

/// Moves the channels of all shapes back to the last position.
fn back(mut facts: Vec<Fact>) -> Vec<Fact> {
    for shape in facts.iter_mut().filter_map(|fact| fact.shape.as_mut()).filter(|shape| shape.len() > 2) {
        shape[1..].rotate_left(1);
    }
    facts
}

/// Applies a rule for channels in the second position to an operator whose first input may have them last.
pub fn anywhere(call: &Call, rule: fn(&Call) -> Facts) -> Facts {
    if !channels_last(call) {
        return rule(call);
    }
    let input = Fact::new(call.element(0), channels_second(ranked(call.shape(0)?, 3)?));
    let (attributes, names) = (call.attributes.clone(), call.names.clone());
    let mut inputs = call.inputs.clone();
    inputs[0] = Some(&input);
    rule(&Call { attributes, inputs, names, ..*call }).map(back)
}

/// Infers the output of a convolution with the channels in the last dimension. The weights may have either
/// order: the order that fits the input is used.
pub fn conv_channels_last(call: &Call, weights: usize, element: Option<Element>) -> Facts {
    let input = channels_second(ranked(call.shape(0)?, 3)?);
    let (weights, turned) = (ranked(call.shape(weights)?, 3)?, channels_second(call.shape(weights)?));
    let fits = |weights: &[u64]| {
        let plane = call.attr_ints("kernel_shape").filter(|plane| !plane.is_empty());
        let kernel = plane.is_none_or(|plane| {
            plane
                .iter()
                .map(|&extent| i128::from(extent))
                .eq(weights[2..].iter().map(|&extent| extent.into()))
        });
        kernel
            && weights[1].checked_mul(call.attr("group").unwrap_or(1).max(0).cast_unsigned())
                == Some(input[1])
    };
    let weights = if !fits(weights) && fits(&turned) { &turned } else { weights };
    convolved(call, &input, weights, element).map(back)
}

/// Infers the output of a convolution with blocked channels. The input may have more channels than the
/// weights, to fill the last block.
pub fn conv_blocked(call: &Call) -> Facts {
    let (input, weights) = (ranked(call.shape(0)?, 2)?, ranked(call.shape(1)?, 2)?);
    let groups = call.attr("group").unwrap_or(1).max(1).cast_unsigned();
    let channels = weights[1].checked_mul(groups).ok_or("the weights have too many channels")?;
    let input = [&[input[0], channels], &input[2..]].concat();
    convolved(call, &input, weights, call.element(0))
}

/// Infers the outputs of `CausalConvWithState`. The first output has the shape of the input. The second
/// contains the last inputs, which the next call needs.
pub fn causal_conv(call: &Call) -> Facts {
    let (input, weights) = (ranked(call.shape(0)?, 3)?, ranked(call.shape(1)?, 3)?);
    let state = match call.input(3) {
        Some(_) => call.shape(3)?.to_vec(),
        None => vec![input[0], input[1], weights[2].saturating_sub(1)],
    };
    Ok(vec![Fact::new(call.element(0), input), Fact::new(call.element(0), state)])
}

/// Infers the output of `Col2Im`. The operator sums blocks into an image.
pub fn col2im(call: &Call) -> Facts {
    let columns = ranked(call.shape(0)?, 2)?;
    let image = crate::operators::value::extents(call.ints(1)?)?;
    let block = crate::operators::call::product(&crate::operators::value::extents(call.ints(2)?)?)?;
    let channels = columns[1].checked_div(block).ok_or("the block has no elements")?;
    Ok(vec![Fact::new(call.element(0), [&[columns[0], channels], image.as_slice()].concat())])
}

/// Infers the output of `AffineGrid`. The output has one point per spatial position.
pub fn affine_grid(call: &Call) -> Facts {
    let size = crate::operators::value::extents(call.ints(1)?)?;
    let [batch, _, plane @ ..] = size.as_slice() else { return misfit("the size has too few numbers") };
    Ok(vec![Fact::new(call.element(0), [&[*batch], plane, &[plane.len() as u64]].concat())])
}

/// Infers the output of `CropAndResize`. All regions are resized to the same size.
pub fn crop_and_resize(call: &Call) -> Facts {
    let (input, regions) = (ranked(call.shape(0)?, 4)?, ranked(call.shape(1)?, 1)?);
    let &[height, width] = crate::operators::value::extents(call.ints(3)?)?.as_slice() else {
        return misfit("the size does not have two numbers");
    };
    Ok(vec![Fact::new(call.element(0), [regions[0], input[1], height, width])])
}
