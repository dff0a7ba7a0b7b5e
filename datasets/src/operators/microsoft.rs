//! Sizing rules for operators of `com.microsoft`, and for operators on blocked channels of
//! `com.microsoft.nchwc`.
//!
//! Names and semantics follow ONNX Runtime's documentation of contributed operators.

use super::call::{Call, Facts, axis, extent, product, ranked};
use super::element::Element;
use super::rules::{ANY, Rule, rule};
use super::value::{Fact, Reason, extents, misfit, unknown};
use super::{algebra, elementwise, fold, movement, quantized, selection, text, transformer, window};

const MICROSOFT: &str = "com.microsoft";
const BLOCKED: &str = "com.microsoft.nchwc";

const fn ours(kinds: &'static str, infer: fn(&Call) -> Facts) -> Rule {
    rule(kinds, infer).of(MICROSOFT)
}

const fn blocked(kinds: &'static str, infer: fn(&Call) -> Facts) -> Rule {
    rule(kinds, infer).of(BLOCKED)
}

pub(super) const RULES: &[Rule] = &[
    ours(
        "Gelu FastGelu QuickGelu BiasGelu BiasAdd ScaledSiLU GatedAdd QLinearLeakyRelu QLinearSigmoid SampleOp",
        elementwise::like_first,
    )
    .over(1),
    ours(
        "BiasSoftmax QLinearSoftmax GroupNorm GatedRMSNorm Inverse LongformerAttention RotaryEmbedding MRotaryEmbedding MoE \
         QMoE",
        elementwise::like_first,
    ),
    ours("QuantizeLinear", quantized::quantize).over(1),
    ours("DequantizeLinear", quantized::dequantize).over(1),
    ours("QuantizeWithOrder", |call| other_type(call, Some(Element::INT8))),
    ours("DequantizeWithOrder", |call| other_type(call, call.attr_element("to")?)),
    ours("QuantizeBFP DequantizeBFP EPContext Snpe Tokenizer", text::split).opaque(),
    ours("QLinearAdd QLinearMul", quantized::binary),
    ours("MulInteger", quantized::multiply),
    ours("QLinearWhere", quantized::choose),
    ours("QLinearConcat", quantized::concat),
    ours("QLinearConv", quantized::conv),
    ours("QLinearAveragePool NhwcMaxPool", |call| window::anywhere(call, window::pool)),
    ours("QLinearGlobalAveragePool", |call| window::anywhere(call, window::global_pool)),
    ours("QLinearReduceMean ReduceSumInteger", quantized::reduce),
    ours("QGemm", |call| algebra::gemm(call, 3, call.element(8).or(Some(Element::FLOAT32)))),
    ours("MatMulInteger16", quantized::product16),
    ours("MatMulIntegerToFloat", |call| algebra::mat_mul(call, 1, call.element(2))),
    ours("DynamicQuantizeMatMul GemmFastGelu", |call| algebra::mat_mul(call, 1, call.element(0))),
    ours("FusedMatMul FusedMatMulActivation TransposeMatMul", fused_product),
    ours("SparseToDenseMatMul", fused_product),
    ours("FusedGemm", |call| algebra::gemm(call, 1, call.element(0))),
    ours("GemmFloat8", |call| {
        algebra::gemm(call, 1, call.attr_element("dtype")?.or(Some(Element::FLOAT32)))
    }),
    ours("MatMulNBits MatMulBnb4 MatMulNBitsQLoRA", packed_product),
    ours("MatMulNBitsMlp", packed_product),
    ours("MatMulFpQ4", shaped_product),
    ours("FusedConv", |call| window::conv(call, 1, call.element(0))),
    ours("NhwcConv NhwcFusedConv", |call| window::conv_channels_last(call, 1, call.element(0))),
    ours("ConvTransposeWithDynamicPads", window::conv_transpose),
    ours("MaxpoolWithMask", window::pool),
    ours("GridSample", window::grid_sample),
    ours("CropAndResize", window::crop_and_resize),
    ours("Attention DecoderMaskedSelfAttention", |call| transformer::projected(call, 4, 0)),
    ours("QAttention", |call| transformer::projected(call, 8, 3)),
    ours("PackedAttention", transformer::packed_attention),
    ours("PackedMultiHeadAttention", transformer::packed_heads),
    ours("MultiHeadAttention", |call| transformer::heads(call, 6, call.input(8).is_some())),
    ours("DecoderMaskedMultiHeadAttention", |call| {
        transformer::heads(call, 5, call.attr("past_present_share_buffer").unwrap_or(0) != 0)
    })
    .bounded(),
    ours("GroupQueryAttention SparseAttention", transformer::grouped).bounded(),
    ours("PagedAttention", transformer::paged),
    ours("DecoderAttention", transformer::decoder).bounded(),
    ours("LinearAttention", transformer::linear_attention),
    ours("EmbedLayerNormalization", |call| transformer::embedded(call, 2)),
    ours("QEmbedLayerNormalization", |call| transformer::embedded(call, 8)),
    ours("SkipLayerNormalization SkipSimplifiedLayerNormalization", transformer::skip_norm),
    ours("SkipGroupNorm", transformer::all_like_first),
    ours("GemmaRotaryEmbedding", transformer::gemma_rotary),
    ours("RelativePositionBias", transformer::position_bias),
    ours("GatedRelativePositionBias", transformer::gated_bias),
    ours("RemovePadding", transformer::remove_padding).bounded(),
    ours("RestorePadding", transformer::restore_padding),
    ours("BeamSearch WhisperBeamSearch", transformer::beam_search).bounded(),
    ours("GreedySearch Sampling", transformer::greedy_search),
    ours("BiasDropout", |call| masked(call, Some(Element::BOOL), false)),
    ours("BitmaskDropout BitmaskBiasDropout", |call| masked(call, Some(Element::UINT32), true)),
    ours("BiasSplitGelu", halved),
    ours("SwiGLU", |call| if call.input(1).is_some() { elementwise::like_first(call) } else { halved(call) }),
    ours("ComplexMul ComplexMulConj", elementwise::stretched).over(ANY),
    ours("CDist", distances),
    ours("IsAllFinite", |_| Ok(vec![Fact::new(Some(Element::BOOL), [])])),
    ours("Rfft", |call| fourier(call, false)),
    ours("Irfft", |call| fourier(call, true)),
    ours("Trilu", fold::triangle),
    ours("Unique", selection::unique).bounded(),
    ours("Pad", movement::pad),
    ours("Range", elementwise::range),
    ours("ExpandDims", expand_dims),
    ours("GatherND", movement::gather_nd),
    ours("MurmurHash3", |call| {
        let signed = call.attr("positive") == Some(0);
        other_type(call, Some(if signed { Element::INT32 } else { Element::UINT32 }))
    }),
    ours("NGramRepeatBlock", |call| Ok(vec![Fact::new(call.element(1), call.shape(1)?)])),
    ours("WordConvEmbedding", |call| {
        let (words, filters) = (ranked(call.shape(0)?, 1)?, ranked(call.shape(1)?, 1)?);
        Ok(vec![Fact::new(call.element(1), [words[0], filters[0]])])
    }),
    ours("TorchEmbedding", |call| {
        let (table, indices) = (ranked(call.shape(0)?, 1)?, call.shape(1)?);
        Ok(vec![Fact::new(call.element(0), [indices, &table[table.len() - 1..]].concat())])
    }),
    ours("UnfoldTensor", unfold),
    ours("DynamicTimeWarping", warping).bounded(),
    ours("BifurcationDetector", text::split).opaque(),
    ours("AttnLSTM DynamicQuantizeLSTM", algebra::recurrent),
    blocked("Conv", window::conv_blocked),
    blocked("MaxPool AveragePool", window::pool),
    blocked("GlobalMaxPool GlobalAveragePool", window::global_pool),
    blocked("ReorderInput", reorder_input).bounded(),
    blocked("ReorderOutput", reorder_output),
    blocked("Upsample", enlarged),
];

/// Infers an output with the shape of the first input and the given type.
fn other_type(call: &Call, element: Option<Element>) -> Facts {
    Ok(vec![Fact::new(element, call.shape(0)?)])
}

/// Infers the output of `FusedMatMul`. Attributes can transpose either matrix. Before the transposition,
/// other attributes can move the first dimension behind the batch dimensions, so that it becomes the last but
/// one.
fn fused_product(call: &Call) -> Facts {
    let turned = |at: usize, stack: &str, matrix: &str| -> Result<Vec<u64>, Reason> {
        let mut shape = ranked(call.shape(at)?, 1)?.to_vec();
        let rank = shape.len();
        let set = |name: &str| call.attr(name).unwrap_or(0) != 0;
        if rank >= 2 && set(stack) {
            shape[..rank - 1].rotate_left(1);
        }
        if rank >= 2 && set(matrix) {
            shape.swap(rank - 2, rank - 1);
        }
        Ok(shape)
    };
    let (a, b) = (turned(0, "transBatchA", "transA")?, turned(1, "transBatchB", "transB")?);
    Ok(vec![Fact::new(call.element(0), algebra::product_shape(call, &a, &b)?)])
}

/// Infers the outputs of `MatMulNBits` and similar operators. The second matrix is packed, and an attribute
/// gives its number of columns.
fn packed_product(call: &Call) -> Facts {
    let rows = ranked(call.shape(0)?, 1)?;
    let columns = extent(call.attr("N").ok_or("N is missing")?.into(), "the number of columns")?;
    let product = Fact::new(call.element(0), [&rows[..rows.len() - 1], &[columns]].concat());
    Ok(vec![product, Fact::new(call.element(0), rows)])
}

/// Infers the output of `MatMulFpQ4`. The second matrix is packed, and its shape is an input.
fn shaped_product(call: &Call) -> Facts {
    let matrix = extents(call.ints(2)?)?;
    Ok(vec![Fact::new(call.element(0), algebra::product_shape(call, call.shape(0)?, &matrix)?)])
}

/// Infers an output with the shape of the input, except that the last extent is halved.
fn halved(call: &Call) -> Facts {
    let mut shape = ranked(call.shape(0)?, 1)?.to_vec();
    let last = shape.len() - 1;
    shape[last] /= 2;
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers two outputs: one with the shape and the type of the input, and a mask with one element or one bit
/// per input element.
fn masked(call: &Call, mask: Option<Element>, bits: bool) -> Facts {
    let shape = call.shape(0)?;
    let mask = if bits { Fact::new(mask, [product(shape)?.div_ceil(32)]) } else { Fact::new(mask, shape) };
    Ok(vec![Fact::new(call.element(0), shape), mask])
}

/// Infers the output of `CDist`. The output has one distance per pair of rows.
fn distances(call: &Call) -> Facts {
    let (a, b) = (ranked(call.shape(0)?, 2)?, ranked(call.shape(1)?, 2)?);
    Ok(vec![Fact::new(call.element(0), [a[0], b[0]])])
}

/// Infers the output of `Rfft` and `Irfft`. The last dimension contains the real and the imaginary part.
/// Unless `onesided` is 0, only half of the frequencies are stored.
fn fourier(call: &Call, back: bool) -> Facts {
    let mut shape = ranked(call.shape(0)?, 1)?.to_vec();
    let half = call.attr("onesided").unwrap_or(1) != 0;
    if back {
        shape.pop();
    }
    let Some(last) = shape.last_mut() else { return misfit("its input has too few dimensions") };
    match (half, back) {
        (true, false) => *last = *last / 2 + 1,
        (true, true) => *last = extent(2 * (i128::from(*last) - 1), "the length")?,
        (false, _) => {}
    }
    if !back {
        shape.push(2);
    }
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the output of `ExpandDims`. The operator inserts a dimension of extent 1.
fn expand_dims(call: &Call) -> Facts {
    let mut shape = call.shape(0)?.to_vec();
    let at = axis(call.int(1)?, shape.len() + 1)?;
    shape.insert(at, 1);
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the output of `UnfoldTensor`. The elements of each window along a dimension form a new last
/// dimension.
fn unfold(call: &Call) -> Facts {
    let mut shape = ranked(call.shape(0)?, 1)?.to_vec();
    let at = axis(call.attr("dim").unwrap_or(-1), shape.len())?;
    let size = extent(call.attr("size").ok_or("the size is missing")?.into(), "the size")?;
    let step = extent(call.attr("step").unwrap_or(1).into(), "the step")?.max(1);
    let Some(slack) = shape[at].checked_sub(size) else {
        return misfit(format!("windows of {size} do not fit into the extent {}", shape[at]));
    };
    shape[at] = slack / step + 1;
    shape.push(size);
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the output of `DynamicTimeWarping`. The number of steps of a path is at most the number of rows
/// plus the number of columns.
fn warping(call: &Call) -> Facts {
    let shape = ranked(call.shape(0)?, 2)?;
    let sides = &shape[shape.len() - 2..];
    let steps = extent(i128::from(sides[0]) + i128::from(sides[1]), "the number of steps")?;
    Ok(vec![Fact::new(Some(Element::INT32), [2, steps]).bounded()])
}

/// Infers the output of `ReorderInput`. The number of channels is rounded up to whole blocks of 8 or 16,
/// depending on the processor; the bound assumes 16.
fn reorder_input(call: &Call) -> Facts {
    let shape = ranked(call.shape(0)?, 3)?;
    let last = call.attr("channels_last").unwrap_or(0) != 0;
    let (channels, plane) =
        if last { (shape[shape.len() - 1], &shape[1..shape.len() - 1]) } else { (shape[1], &shape[2..]) };
    let channels = extent(i128::from(channels.div_ceil(16)) * 16, "the number of channels")?;
    Ok(vec![Fact::new(call.element(0), [&[shape[0], channels], plane].concat()).bounded()])
}

/// Infers the output of `ReorderOutput`. An attribute gives the number of channels.
fn reorder_output(call: &Call) -> Facts {
    let shape = ranked(call.shape(0)?, 3)?;
    let channels = extent(call.attr("channels").unwrap_or(0).into(), "the number of channels")?;
    let (batch, plane) = ([shape[0]], &shape[2..]);
    let shape = if call.attr("channels_last").unwrap_or(0) != 0 {
        [&batch, plane, &[channels]].concat()
    } else {
        [&batch, &[channels], plane].concat()
    };
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the output of `Upsample` with integer factors.
fn enlarged(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let Some(scales) = call.attr_ints("scales").filter(|scales| scales.len() == shape.len()) else {
        return unknown("it does not have one scale per dimension");
    };
    let one = |(&x, &by): (&u64, &i64)| extent(i128::from(x) * i128::from(by), "an extent");
    Ok(vec![Fact::new(call.element(0), shape.iter().zip(scales).map(one).collect::<Result<Vec<_>, _>>()?)])
}
