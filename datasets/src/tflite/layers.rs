//! Shape rules of layers: windows over spatial dimensions, matrices, recurrent cells, and blocks of spatial
//! dimensions.
//!
//! The spatial dimensions lie between the batch and the channels. A window has `ceil(extent / stride)`
//! positions along a dimension if it may extend over the edge (`SAME`). Otherwise (`VALID`), it has
//! `(extent - reach + stride) / stride` positions, where `reach` is the extent of the dilated window.

use super::operation::{Made, Operation};
use super::schema::{Field, options};
use crate::operators::extent;
use crate::operators::value::{Reason, count, misfit, show};

/// Returns the facts about the outputs; `None` if this module has no rule for the operator.
pub(super) fn infer(op: &Operation) -> Option<Result<Made, Reason>> {
    Some(match op.call.kind {
        "CONV_2D" => conv_2d(op),
        "DEPTHWISE_CONV_2D" => depthwise(op),
        "CONV_3D" => conv_3d(op),
        "TRANSPOSE_CONV" | "CONV_3D_TRANSPOSE" => transposed(op),
        "AVERAGE_POOL_2D" | "L2_POOL_2D" | "MAX_POOL_2D" => pool(op),
        "RESIZE_BILINEAR" | "RESIZE_NEAREST_NEIGHBOR" => resize(op),
        "SPACE_TO_DEPTH" | "DEPTH_TO_SPACE" => depth_and_space(op),
        "SPACE_TO_BATCH_ND" | "BATCH_TO_SPACE_ND" => batch_and_space(op),
        "FULLY_CONNECTED" => fully_connected(op),
        "BATCH_MATMUL" => batch_matmul(op),
        "RFFT2D" => rfft(op),
        "SVDF" => svdf(op),
        "RNN" | "UNIDIRECTIONAL_SEQUENCE_RNN" => rnn(op),
        "BIDIRECTIONAL_SEQUENCE_RNN" => both_rnn(op),
        "LSTM" if op.call.inputs.len() == 5 => basic_lstm(op),
        "LSTM" | "UNIDIRECTIONAL_SEQUENCE_LSTM" => lstm(op),
        "BIDIRECTIONAL_SEQUENCE_LSTM" => both_lstm(op),
        _ => return None,
    })
}

/// Option fields of one spatial dimension: stride and dilation.
type Steps = (Field, Option<Field>);

/// Returns the number of positions of a window along a dimension.
fn places(op: &Operation, padding: Field, steps: Steps, length: u64, filter: u64) -> Result<u64, Reason> {
    let stride = i128::from(op.options.int(steps.0));
    let dilation = steps.1.map_or(1, |field| i128::from(op.options.int(field)));
    if stride < 1 || dilation < 1 || filter < 1 {
        return misfit(format!("window {filter}, stride {stride} and dilation {dilation} must be positive"));
    }
    let length = i128::from(length);
    let reach = (i128::from(filter) - 1) * dilation + 1;
    match op.options.int(padding) {
        0 => extent((length + stride - 1) / stride, "an extent"),
        1 => extent((length - reach + stride) / stride, "an extent"),
        other => misfit(format!("padding {other} is not known")),
    }
}

fn misfits<T>(weights: &[u64], input: &[u64]) -> Result<T, Reason> {
    misfit(format!("weights {} do not fit input {}", show(weights), show(input)))
}

/// Infers a 2-D convolution. The dimensions of the weights are outputs, height, width, and inputs per group.
fn conv_2d(op: &Operation) -> Result<Made, Reason> {
    use options::{CONV_DILATION_H, CONV_DILATION_W, CONV_PADDING, CONV_STRIDE_H, CONV_STRIDE_W};
    let (input, weights) = (op.ranked::<4>(0)?, op.ranked::<4>(1)?);
    let ([n, h, w, c], [units, height, width, group]) = (*input, *weights);
    if group == 0 || c % group != 0 {
        return misfits(weights, input);
    }
    let h = places(op, CONV_PADDING, (CONV_STRIDE_H, Some(CONV_DILATION_H)), h, height)?;
    let w = places(op, CONV_PADDING, (CONV_STRIDE_W, Some(CONV_DILATION_W)), w, width)?;
    op.one([n, h, w, units])
}

/// Infers a depthwise convolution. The dimensions of the weights are 1, height, width and outputs.
fn depthwise(op: &Operation) -> Result<Made, Reason> {
    use options::{
        DEPTHWISE_DILATION_H, DEPTHWISE_DILATION_W, DEPTHWISE_PADDING, DEPTHWISE_STRIDE_H, DEPTHWISE_STRIDE_W,
    };
    let (input, weights) = (op.ranked::<4>(0)?, op.ranked::<4>(1)?);
    let ([n, h, w, c], [_, height, width, units]) = (*input, *weights);
    if c == 0 || units % c != 0 {
        return misfits(weights, input);
    }
    let h = places(op, DEPTHWISE_PADDING, (DEPTHWISE_STRIDE_H, Some(DEPTHWISE_DILATION_H)), h, height)?;
    let w = places(op, DEPTHWISE_PADDING, (DEPTHWISE_STRIDE_W, Some(DEPTHWISE_DILATION_W)), w, width)?;
    op.one([n, h, w, units])
}

/// Infers a 3-D convolution. The dimensions of the weights are depth, height, width, inputs and outputs.
fn conv_3d(op: &Operation) -> Result<Made, Reason> {
    let (input, weights) = (op.ranked::<5>(0)?, op.ranked::<5>(1)?);
    if input[4] != weights[3] {
        return misfits(weights, input);
    }
    let steps = [
        (options::CONV_3D_STRIDE_D, Some(options::CONV_3D_DILATION_D)),
        (options::CONV_3D_STRIDE_H, Some(options::CONV_3D_DILATION_H)),
        (options::CONV_3D_STRIDE_W, Some(options::CONV_3D_DILATION_W)),
    ];
    let mut shape = *input;
    for (at, steps) in steps.into_iter().enumerate() {
        shape[at + 1] = places(op, options::CONV_3D_PADDING, steps, input[at + 1], weights[at])?;
    }
    shape[4] = weights[4];
    op.one(shape)
}

/// Infers a transposed convolution. An input gives the output shape. A convolution over the output must have
/// as many positions as the data.
fn transposed(op: &Operation) -> Result<Made, Reason> {
    let (shape, weights, input) = (op.extents(0)?, op.shape(1)?, op.shape(2)?);
    if shape.len() != input.len() || weights.len() != input.len() || shape.first() != input.first() {
        return misfit(format!(
            "shape {}, which input 0 gives, does not fit input {}",
            show(&shape),
            show(input)
        ));
    }
    if op.call.kind == "TRANSPOSE_CONV" {
        let steps = [options::TRANSPOSE_STRIDE_H, options::TRANSPOSE_STRIDE_W];
        for (at, step) in steps.into_iter().enumerate().map(|(at, step)| (at + 1, (step, None))) {
            let stands = places(op, options::TRANSPOSE_PADDING, step, shape[at], weights[at])?;
            if stands != input[at] {
                return misfit(format!("extent {} implies input {stands}, not {}", shape[at], input[at]));
            }
        }
    }
    op.one(shape)
}

fn pool(op: &Operation) -> Result<Made, Reason> {
    use options::{POOL_HEIGHT, POOL_PADDING, POOL_STRIDE_H, POOL_STRIDE_W, POOL_WIDTH};
    let [n, h, w, c] = *op.ranked(0)?;
    let size = |field| u64::try_from(op.options.int(field)).unwrap_or(0);
    let h = places(op, POOL_PADDING, (POOL_STRIDE_H, None), h, size(POOL_HEIGHT))?;
    let w = places(op, POOL_PADDING, (POOL_STRIDE_W, None), w, size(POOL_WIDTH))?;
    op.one([n, h, w, c])
}

fn resize(op: &Operation) -> Result<Made, Reason> {
    let ([n, _, _, c], size) = (*op.ranked(0)?, op.extents(1)?);
    match *size {
        [h, w] => op.one([n, h, w, c]),
        _ => misfit(format!("{} sizes are given for 2 dimensions", size.len())),
    }
}

fn depth_and_space(op: &Operation) -> Result<Made, Reason> {
    let [n, h, w, c] = *op.ranked(0)?;
    let down = op.call.kind == "SPACE_TO_DEPTH";
    let field = if down { options::SPACE_BLOCK } else { options::DEPTH_BLOCK };
    let block = extent(op.int(field).into(), "the block size")?;
    let times = |a: u64, b: u64| extent(i128::from(a) * i128::from(b), "an extent");
    let square = times(block, block)?;
    let whole = |a: u64, b: u64| b > 0 && a.is_multiple_of(b);
    match down {
        true if whole(h, block) && whole(w, block) => op.one([n, h / block, w / block, times(c, square)?]),
        false if whole(c, square) => op.one([n, times(h, block)?, times(w, block)?, c / square]),
        _ => misfit(format!("blocks of {block} do not fit input {}", show(&[n, h, w, c]))),
    }
}

/// Infers `SPACE_TO_BATCH_ND` and `BATCH_TO_SPACE_ND`. The first operator pads the spatial dimensions and
/// moves blocks of them into the batch. The second moves them back and crops the result.
fn batch_and_space(op: &Operation) -> Result<Made, Reason> {
    let (input, blocks, edges) = (op.shape(0)?, op.extents(1)?, op.extents(2)?);
    let down = op.call.kind == "SPACE_TO_BATCH_ND";
    let fits = (3..=4).contains(&input.len())
        && blocks.len() + 2 == input.len()
        && edges.len() == 2 * blocks.len()
        && !blocks.contains(&0);
    if !fits {
        return misfit(format!("blocks {} do not fit input {}", show(&blocks), show(input)));
    }
    let all = extent(blocks.iter().map(|&block| i128::from(block)).product(), "the number of blocks")?;
    let mut shape = input.to_vec();
    shape[0] = match down {
        true => extent(i128::from(input[0]) * i128::from(all), "the batch")?,
        false if input[0] % all == 0 => input[0] / all,
        false => return misfit(format!("a batch of {} is not a multiple of {all} blocks", input[0])),
    };
    for (at, &block) in blocks.iter().enumerate() {
        let (length, block) = (i128::from(input[at + 1]), i128::from(block));
        let edge = i128::from(edges[2 * at]) + i128::from(edges[2 * at + 1]);
        if down && (length + edge) % block != 0 {
            return misfit(format!("extent {} is not a multiple of block {block}", length + edge));
        }
        let length = if down { (length + edge) / block } else { length * block - edge };
        shape[at + 1] = extent(length, "an extent")?;
    }
    op.one(shape)
}

/// Infers a fully connected layer. The dimensions of the weights are units and inputs. Unless an option keeps
/// the dimensions of the data, the data are read as rows with one element per input, and surplus elements are
/// not read.
fn fully_connected(op: &Operation) -> Result<Made, Reason> {
    let (input, weights) = (op.shape(0)?, op.ranked::<2>(1)?);
    let [units, width] = *weights;
    let total = count(input).ok_or("its input has more than 2^64 elements")?;
    if width == 0 {
        return misfits(weights, input);
    }
    let shape = match input.split_last() {
        Some((&last, outer)) if op.options.is(options::KEEP_NUM_DIMS) => {
            if last != width {
                return misfits(weights, input);
            }
            [outer, &[units]].concat()
        }
        _ => vec![total / width, units],
    };
    // For some weight formats, a second output contains the input in another order.
    Ok(vec![op.fact(shape), op.fact(input)].into())
}

fn batch_matmul(op: &Operation) -> Result<Made, Reason> {
    let matrices = |at: usize, field| {
        let mut shape = op.shape(at)?.to_vec();
        let rank = shape.len();
        if rank < 2 {
            return misfit(format!("shape {} is not a matrix", show(&shape)));
        }
        if op.options.is(field) {
            shape.swap(rank - 2, rank - 1);
        }
        Ok(op.fact(shape))
    };
    let both = [matrices(0, options::ADJ_X)?, matrices(1, options::ADJ_Y)?];
    Ok(op.onnx_of("MatMul", &both, Vec::new())?.into())
}

/// Infers `RFFT2D`. The last dimension of the output contains the frequencies that are not negative.
fn rfft(op: &Operation) -> Result<Made, Reason> {
    let mut shape = op.shape(0)?.to_vec();
    let rank = shape.len();
    match (op.extents(1)?.as_slice(), rank) {
        (&[height, width], 2..) => {
            shape[rank - 2] = height;
            shape[rank - 1] = width / 2 + 1;
            op.one(shape)
        }
        (lengths, _) => misfit(format!("lengths {} do not fit input {}", show(lengths), show(&shape))),
    }
}

/// Checks that a persistent tensor has as many elements as a tensor with these extents. The runtime does not
/// enlarge persistent tensors.
fn state(op: &Operation, at: usize, extents: &[u64]) -> Result<(), Reason> {
    if op.call.input(at).is_some() && count(op.shape(at)?) != count(extents) {
        let name = op.call.names.get(at).copied().unwrap_or_default();
        return misfit(format!(
            "state '{name}' is {}, but must have the size of {}",
            show(op.shape(at)?),
            show(extents)
        ));
    }
    Ok(())
}

/// Infers `SVDF`. The inputs are the data, the weights for features, the weights for time, the bias and the
/// state.
fn svdf(op: &Operation) -> Result<Made, Reason> {
    let (input, features) = (op.ranked::<2>(0)?, op.ranked::<2>(1)?);
    let ([batch, width], [filters, inputs]) = (*input, *features);
    let rank = u64::try_from(op.options.int(options::SVDF_RANK)).unwrap_or(0);
    if rank == 0 || filters % rank != 0 || width != inputs {
        return misfits(features, input);
    }
    let [_, memory] = *op.ranked(2)?;
    state(op, 4, &[batch, memory, filters])?;
    op.one([batch, filters / rank])
}

/// Returns the batch size, and all dimensions of the data except the last.
fn sequence<'c>(op: &Operation<'c>, time_major: bool) -> Result<(u64, &'c [u64]), Reason> {
    let input = op.shape(0)?;
    match *input {
        [batch, _] => Ok((batch, &input[..1])),
        [x, y, _] => Ok((if time_major { y } else { x }, &input[..2])),
        _ => misfit(format!("shape {} has neither two nor three dimensions", show(input))),
    }
}

/// Infers a recurrent cell. The inputs are the data, the weights, the recurrent weights, the bias and the
/// state.
fn rnn(op: &Operation) -> Result<Made, Reason> {
    let (batch, outer) = sequence(op, op.options.is(options::SEQUENCE_RNN_TIME_MAJOR))?;
    let [units, _] = *op.ranked(1)?;
    state(op, 4, &[batch, units])?;
    op.one([outer, &[units]].concat())
}

/// Infers a bidirectional recurrent cell. The inputs are the data, followed by the weights, recurrent
/// weights, bias and state of each direction.
fn both_rnn(op: &Operation) -> Result<Made, Reason> {
    let (batch, outer) = sequence(op, op.options.is(options::RNN_TIME_MAJOR))?;
    let ([forward, _], [backward, _]) = (*op.ranked(1)?, *op.ranked(5)?);
    state(op, 4, &[batch, forward])?;
    state(op, 8, &[batch, backward])?;
    both(op, options::RNN_MERGE, outer, forward, backward)
}

/// Concatenates the outputs of both directions, or returns them as two tensors.
fn both(op: &Operation, merge: Field, outer: &[u64], forward: u64, backward: u64) -> Result<Made, Reason> {
    let width = |units: u64| [outer, &[units]].concat();
    if op.options.is(merge) {
        return op.one(width(extent(i128::from(forward) + i128::from(backward), "an extent")?));
    }
    Ok(vec![op.fact(width(forward)), op.fact(width(backward))].into())
}

/// Infers a basic LSTM cell. The inputs are the data, the output of the previous step, the weights, the bias,
/// and the cell state of the previous step. The outputs are the output, the cell state, and two scratch
/// tensors of the kernel.
fn basic_lstm(op: &Operation) -> Result<Made, Reason> {
    let ([batch, width], [_, depth]) = (*op.ranked(0)?, *op.ranked(1)?);
    state(op, 1, &[batch, depth])?;
    state(op, 4, &[batch, depth])?;
    let (both, gates) = (i128::from(width) + i128::from(depth), 4 * i128::from(depth));
    let (both, gates) = (extent(both, "an extent")?, extent(gates, "an extent")?);
    let output = op.fact([batch, depth]);
    Ok(vec![output.clone(), output, op.fact([batch, both]), op.fact([batch, gates])].into())
}

/// Infers a full LSTM cell. The relevant inputs are 0 (data), 4 and 8 (weights and recurrent weights), 18
/// (output of the previous step) and 19 (cell state of the previous step).
fn lstm(op: &Operation) -> Result<Made, Reason> {
    let (batch, outer) = sequence(op, op.options.is(options::SEQUENCE_LSTM_TIME_MAJOR))?;
    let ([cells, _], [_, units]) = (*op.ranked(4)?, *op.ranked(8)?);
    state(op, 18, &[batch, units])?;
    state(op, 19, &[batch, cells])?;
    op.one([outer, &[units]].concat())
}

/// Infers a bidirectional LSTM cell. The weights of the forward direction have the same positions as in
/// [`lstm`], and those of the backward direction begin at input 18. The states are inputs 35 and 36
/// (forward), and 37 and 38 (backward).
fn both_lstm(op: &Operation) -> Result<Made, Reason> {
    let (batch, outer) = sequence(op, op.options.is(options::LSTM_TIME_MAJOR))?;
    let ([cells, _], [_, forward]) = (*op.ranked(4)?, *op.ranked(8)?);
    let ([back_cells, _], [_, backward]) = (*op.ranked(21)?, *op.ranked(25)?);
    for (at, units) in [(35, forward), (36, cells), (37, backward), (38, back_cells)] {
        state(op, at, &[batch, units])?;
    }
    both(op, options::LSTM_MERGE, outer, forward, backward)
}
