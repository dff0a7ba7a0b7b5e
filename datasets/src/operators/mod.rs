//! One rule per operator: from what is known of the inputs to what is known of the outputs.
//!
//! Shapes are complete or unknown: free dimensions have their values before inference starts. Small integers and
//! floating-point numbers are followed as values through the operators that compute shapes
//! ([`FOLD_LIMIT`](value::FOLD_LIMIT) elements at most).
//!
//! Operators that share a rule stand in one row of a table; `plimsoll list operators` prints all of them.
//!
//! # Bounds
//!
//! Where an extent depends on data but has an upper bound, the bound is taken and the fact says so ([`Fact::bound`]). What is
//! computed from such a tensor is bounded as well, and no values are followed through it: extents that are bounds are no
//! constants. Rules are monotone in the extents of their inputs, or give no fact.
//!
//! # Strings
//!
//! An element of a string tensor counts [`STRING_BYTES`](element::STRING_BYTES): the object that ONNX Runtime holds per element
//! on 64-bit platforms. Longer texts lie outside of the tensor and are not counted.
//!
//! # Sequences
//!
//! A sequence holds the bytes of its tensors; an optional value is what it holds.

mod algebra;
mod call;
mod container;
mod cost;
pub mod element;
mod elementwise;
mod fold;
mod learning;
mod legacy;
mod microsoft;
mod movement;
mod quantized;
mod rules;
mod selection;
mod sharing;
mod text;
mod training;
mod transformer;
pub mod value;
mod window;

pub use call::{Attribute, Call, Facts, axis, extent};
pub use cost::cost;
pub use rules::{KnownOperator, known_operators};
pub use sharing::{Share, shares};

use element::Element;
use rules::{ANY, Rule, Sizing, find, knows, rule};
use value::{Fact, Reason, unknown};

/// True where there is a rule for an operator; ONNX's own domain is empty.
pub fn is_known(domain: &str, kind: &str) -> bool {
    find(domain, kind).is_some()
}

/// What is known of the outputs of a plain operator.
///
/// # Errors
/// Why the outputs cannot be sized, for people.
pub fn infer(call: &Call) -> Facts {
    let (kind, domain) = (call.kind, call.domain);
    let Some(rule) = find(domain, kind) else {
        return unknown(match domain {
            "" => format!("operator {kind} is not known"),
            _ if knows(domain) => format!("operator {kind} of domain {domain} is not known"),
            _ => format!("operators of domain {domain} are not known"),
        });
    };
    if rule.sizing == Sizing::Opaque {
        return unknown("nothing that the file contains says how large its outputs are");
    }
    if !call.bounded() {
        return (rule.infer)(call);
    }
    // Extents that are bounds need not fit what they would have to fit.
    let facts = (rule.infer)(call).map_err(|reason| Reason {
        text: format!("{} (an input has extents that depend on data)", reason.text),
        misfit: false,
    })?;
    // The rank is known all the same.
    let exact = domain.is_empty() && matches!(kind, "Shape" | "Size");
    Ok(facts.into_iter().map(|fact| Fact { bound: !exact, ..fact.variable() }).collect())
}

/// ONNX's own operators, and old ones that runtimes still know.
const RULES: &[Rule] = &[
    // Functions of one element at a time, which keep the type; further inputs are parameters.
    rule(
        "Relu Sigmoid Tanh Clip LeakyRelu Elu Selu Celu ThresholdedRelu HardSigmoid HardSwish Softplus Softsign Gelu Mish \
         Swish Abs Neg Exp Log Sqrt Reciprocal Floor Ceil Round Sign Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh \
         Atanh Shrink BitwiseNot Affine ImageScaler ParametricSoftplus Scale ScaledTanh",
        elementwise::same,
    )
    .over(1),
    // Like the first input, but each element depends on others.
    rule(
        "Softmax LogSoftmax Hardmax LRN InstanceNormalization GroupNormalization MeanVarianceNormalization LpNormalization \
         RMSNormalization CumProd ReverseSequence Scatter TensorScatter RotaryEmbedding",
        elementwise::like_first,
    ),
    rule("MemcpyFromHost MemcpyToHost", elementwise::like_first),
    rule("GRUUnit", elementwise::like_first),
    rule("CumSum", fold::cumulated),
    rule("Trilu", fold::triangle),
    rule("ScatterElements", fold::scatter_elements),
    rule("ScatterND", fold::scatter_nd),
    rule(
        "Add Sub Mul Div Pow Mod Min Max Sum Mean PRelu BitShift BitwiseAnd BitwiseOr BitwiseXor Equal Less Greater \
         LessOrEqual GreaterOrEqual And Or Xor SwiGLU",
        elementwise::stretched,
    )
    .over(ANY),
    rule("Not IsNaN IsInf", elementwise::test).over(1),
    rule("Cast CastLike", elementwise::cast).over(1),
    rule("BitCast", elementwise::bit_cast),
    rule("Where", elementwise::choose).over(3),
    rule("Expand", elementwise::expand),
    rule("Dropout", elementwise::dropout),
    rule("Range", elementwise::range),
    rule("Reshape", movement::reshape).view(),
    rule("Flatten", movement::flatten).view(),
    rule("Squeeze", movement::squeeze).view(),
    rule("Unsqueeze", movement::unsqueeze).view(),
    rule("Identity", movement::identity).view(),
    rule("Shape", movement::shape),
    rule("Size", movement::size),
    rule("ConstantOfShape", movement::constant_of_shape),
    rule("Transpose", movement::transpose),
    rule("Concat", movement::concat),
    rule("Split", movement::split).bounded(),
    rule("Slice DynamicSlice", movement::slice).bounded(),
    rule("Gather", movement::gather),
    rule("GatherElements", fold::gather_elements),
    rule("GatherND", movement::gather_nd),
    rule("Tile", movement::tile),
    rule("Pad", movement::pad),
    rule("CenterCropPad", movement::center_crop_pad),
    rule("DepthToSpace SpaceToDepth", movement::depth_and_space),
    rule("Resize Upsample", movement::resize),
    rule("OneHot", selection::one_hot),
    rule("TopK", selection::top_k).bounded(),
    rule("NonZero", selection::non_zero).bounded(),
    rule("Compress", selection::compress).bounded(),
    rule("Unique", selection::unique).bounded(),
    rule("NonMaxSuppression", selection::suppression).bounded(),
    rule("Conv DeformConv", |call| window::conv(call, 1, call.element(0))),
    rule("ConvInteger", |call| window::conv(call, 1, Some(Element::INT32))),
    rule("QLinearConv", |call| window::conv(call, 3, call.element(7))),
    rule("ConvTranspose", window::conv_transpose),
    rule("CausalConvWithState", window::causal_conv),
    rule("Col2Im", window::col2im),
    rule("MaxPool AveragePool LpPool", window::pool),
    rule("GlobalMaxPool GlobalAveragePool GlobalLpPool", window::global_pool),
    rule("MaxUnpool", window::max_unpool),
    rule("MaxRoiPool RoiAlign", window::roi_pool),
    rule("GridSample", window::grid_sample),
    rule("AffineGrid", window::affine_grid),
    rule("MatMul", |call| algebra::mat_mul(call, 1, call.element(0))),
    rule("MatMulInteger", |call| algebra::mat_mul(call, 1, Some(Element::INT32))),
    rule("QLinearMatMul", |call| algebra::mat_mul(call, 3, call.element(7))),
    rule("Gemm", |call| algebra::gemm(call, 1, call.element(0))),
    rule("Einsum", algebra::einsum),
    rule("Det", algebra::det),
    rule("BatchNormalization", algebra::batch_norm),
    rule("LayerNormalization SimplifiedLayerNormalization", algebra::layer_norm),
    rule("Attention", algebra::attention),
    rule("LinearAttention", transformer::linear_attention),
    rule("ArgMax ArgMin", algebra::arg),
    rule(
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum \
         ReduceSumSquare",
        algebra::reduce,
    )
    .bounded(),
    rule("LSTM GRU RNN", algebra::recurrent),
    rule("QuantizeLinear", quantized::quantize).over(1),
    rule("DequantizeLinear", quantized::dequantize).over(1),
    rule("DynamicQuantizeLinear", quantized::dynamic_quantize),
    rule("STFT", algebra::stft),
    rule("DFT", algebra::dft),
    rule("HannWindow HammingWindow BlackmanWindow", algebra::window),
    rule("MelWeightMatrix", algebra::mel_weights),
    rule("RandomNormal RandomUniform RandomNormalLike RandomUniformLike Bernoulli", algebra::random),
    rule("Multinomial", algebra::multinomial),
    rule("EyeLike", algebra::eye_like),
    rule("Crop", legacy::crop),
    rule("GivenTensorFill", legacy::given_tensor_fill),
    rule("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", training::loss),
    rule("Adagrad Adam Momentum", training::optimizer).of("ai.onnx.preview.training"),
    rule("Gradient", training::gradient).of("ai.onnx.preview.training"),
    rule("StringConcat", text::concat),
    rule("StringSplit", text::split).opaque(),
    rule("StringNormalizer", text::normalize).bounded(),
    rule("RegexFullMatch", text::full_match),
    rule("TfIdfVectorizer", text::tf_idf),
    rule("ImageDecoder", text::split).opaque(),
    rule("Optional OptionalGetElement", container::optional).view(),
    rule("OptionalHasElement", container::has_element),
    rule("SequenceConstruct", container::construct),
    rule("SequenceEmpty", container::empty),
    rule("SequenceInsert", container::insert),
    rule("SequenceErase", container::erase),
    rule("SequenceAt", container::at).bounded(),
    rule("SequenceLength", container::length),
    rule("SplitToSequence", container::split),
    rule("ConcatFromSequence", container::concat),
];

/// What others may make otherwise of an operator.
pub fn doubt(call: &Call) -> Option<String> {
    match (call.domain, call.kind) {
        ("", "MaxPool" | "AveragePool" | "LpPool") => window::pool_doubt(call),
        _ => None,
    }
}
