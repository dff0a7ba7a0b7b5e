//! One rule per operator: from what is known of the inputs to what is known of the outputs.
//!
//! Shapes are complete or unknown: free dimensions have their values before inference starts. Small integers and
//! floating-point numbers are followed as values through the operators that compute shapes
//! ([`FOLD_LIMIT`](value::FOLD_LIMIT) elements at most).

mod algebra;
mod call;
mod cost;
pub mod element;
mod elementwise;
mod movement;
mod sharing;
pub mod value;
mod window;

pub use call::{Attribute, Call, Facts, axis, extent};
pub use cost::cost;
pub use sharing::{Share, shares};

use element::Element;
use value::{Fact, unknown};

/// What is known of the outputs of a plain operator of ONNX's own domain.
///
/// # Errors
/// Why the outputs cannot be sized, for people.
pub fn infer(call: &Call) -> Facts {
    let kind = call.kind;
    if elementwise_unary(kind) {
        return elementwise::same(call);
    }
    if keeps_shape(kind) {
        return Ok(vec![Fact::new(call.element(0), call.shape(0)?)]);
    }
    match kind {
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Mod" | "Min" | "Max" | "Sum" | "Mean" | "PRelu"
        | "BitShift" | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "Equal" | "Less" | "Greater"
        | "LessOrEqual" | "GreaterOrEqual" | "And" | "Or" | "Xor" => elementwise::stretched(call),
        "Not" | "IsNaN" | "IsInf" => elementwise::test(call),
        "Cast" | "CastLike" => elementwise::cast(call),
        "Where" => elementwise::choose(call),
        "Expand" => elementwise::expand(call),
        "Dropout" => elementwise::dropout(call),
        "Range" => elementwise::range(call),
        "Reshape" => movement::reshape(call),
        "Flatten" => movement::flatten(call),
        "Squeeze" => movement::squeeze(call),
        "Unsqueeze" => movement::unsqueeze(call),
        "Identity" => movement::identity(call),
        "Shape" => movement::shape(call),
        "Size" => movement::size(call),
        "ConstantOfShape" => movement::constant_of_shape(call),
        "Transpose" => movement::transpose(call),
        "Concat" => movement::concat(call),
        "Split" => movement::split(call),
        "Slice" => movement::slice(call),
        "Gather" => movement::gather(call),
        "GatherElements" => movement::by_indices(call),
        "GatherND" => movement::gather_nd(call),
        "Tile" => movement::tile(call),
        "Pad" => movement::pad(call),
        "NonZero" => movement::non_zero(call),
        "DepthToSpace" | "SpaceToDepth" => movement::depth_and_space(call),
        "Resize" | "Upsample" => movement::resize(call),
        "OneHot" => movement::one_hot(call),
        "TopK" => movement::top_k(call),
        "Compress" | "Unique" => movement::by_data(call),
        "NonMaxSuppression" => algebra::suppression(call),
        "Conv" => window::conv(call, 1, call.element(0)),
        "ConvInteger" => window::conv(call, 1, Some(Element::INT32)),
        "QLinearConv" => window::conv(call, 3, call.element(7)),
        "DeformConv" => window::deform_conv(call),
        "ConvTranspose" => window::conv_transpose(call),
        "MaxPool" | "AveragePool" | "LpPool" => window::pool(call),
        "GlobalMaxPool" | "GlobalAveragePool" | "GlobalLpPool" => window::global_pool(call),
        "MaxUnpool" => window::max_unpool(call),
        "MaxRoiPool" | "RoiAlign" => window::roi_pool(call),
        "GridSample" => window::grid_sample(call),
        _ => algebraic(call),
    }
}

fn algebraic(call: &Call) -> Facts {
    match call.kind {
        "MatMul" => algebra::mat_mul(call, 1, call.element(0)),
        "MatMulInteger" => algebra::mat_mul(call, 1, Some(Element::INT32)),
        "QLinearMatMul" => algebra::mat_mul(call, 3, call.element(7)),
        "Gemm" => algebra::gemm(call),
        "Einsum" => algebra::einsum(call),
        "BatchNormalization" => algebra::batch_norm(call),
        "LayerNormalization" => algebra::layer_norm(call),
        "Attention" => algebra::attention(call),
        "ArgMax" | "ArgMin" => algebra::arg(call),
        "LSTM" | "GRU" | "RNN" => algebra::recurrent(call),
        "QuantizeLinear" => algebra::quantize(call),
        "DequantizeLinear" => algebra::dequantize(call),
        "DynamicQuantizeLinear" => algebra::dynamic_quantize(call),
        "STFT" => algebra::stft(call),
        "DFT" => algebra::dft(call),
        "HannWindow" | "HammingWindow" | "BlackmanWindow" => algebra::window(call),
        "RandomNormal" | "RandomUniform" | "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" => {
            algebra::random(call)
        }
        "EyeLike" => algebra::eye_like(call),
        kind if kind.starts_with("Reduce") => algebra::reduce(call),
        kind => unknown(format!("operator {kind} is not known")),
    }
}

/// What others may make otherwise of an operator.
pub fn doubt(call: &Call) -> Option<String> {
    match call.kind {
        "MaxPool" | "AveragePool" | "LpPool" => window::pool_doubt(call),
        _ => None,
    }
}

/// Operators whose output is like the first input, but each element depends on others.
fn keeps_shape(kind: &str) -> bool {
    matches!(
        kind,
        "Softmax"
            | "LogSoftmax"
            | "Hardmax"
            | "LRN"
            | "InstanceNormalization"
            | "GroupNormalization"
            | "MeanVarianceNormalization"
            | "LpNormalization"
            | "RMSNormalization"
            | "CumSum"
            | "CumProd"
            | "ReverseSequence"
            | "Trilu"
            | "Scatter"
            | "ScatterElements"
            | "ScatterND"
            | "TensorScatter"
            | "RotaryEmbedding"
    )
}

/// Functions of one element at a time, which keep the type; further inputs are parameters.
fn elementwise_unary(kind: &str) -> bool {
    matches!(
        kind,
        "Relu"
            | "Sigmoid"
            | "Tanh"
            | "Clip"
            | "LeakyRelu"
            | "Elu"
            | "Selu"
            | "Celu"
            | "ThresholdedRelu"
            | "HardSigmoid"
            | "HardSwish"
            | "Softplus"
            | "Softsign"
            | "Gelu"
            | "Mish"
            | "Swish"
            | "Abs"
            | "Neg"
            | "Exp"
            | "Log"
            | "Sqrt"
            | "Reciprocal"
            | "Floor"
            | "Ceil"
            | "Round"
            | "Sign"
            | "Erf"
            | "Sin"
            | "Cos"
            | "Tan"
            | "Asin"
            | "Acos"
            | "Atan"
            | "Sinh"
            | "Cosh"
            | "Asinh"
            | "Acosh"
            | "Atanh"
            | "Shrink"
            | "BitwiseNot"
            | "ImageScaler"
    )
}
