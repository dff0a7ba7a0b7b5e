//! Counts the arithmetic operations of an operator.

use super::Call;
use super::algebra::recurrence;
use crate::operators::value::{Fact, count};

/// Returns the number of multiply-accumulates of a convolution, a matrix product, a recurrent cell or an
/// attention operator. Returns 0 for a view, and the number of elements of the first output for most other
/// operators. Returns `None` for `Einsum` and for operators with bodies, or if shapes are unknown, or if
/// the count does not fit into 64 bits.
///
/// | operator | multiply-accumulates |
/// |---|---|
/// | `Conv` and variants | elements of the output x weights per output channel |
/// | `ConvTranspose` | elements of the input x weights per input channel |
/// | `MatMul`, `Gemm` and variants | elements of the output x length of the sums |
/// | `LSTM`, `GRU`, `RNN` | steps x batch x directions x gates (4, 3, 1) x hidden x (input + hidden) |
/// | `Attention` | queries x keys x (width of keys + width of values), per batch and head |
/// | attention in `com.microsoft` | as for `Attention`; if the operator projects its inputs, plus elements of the input x columns of the weights |
pub fn cost(call: &Call, outputs: &[Fact]) -> Option<u64> {
    let shape = |at: usize| call.shape(at).ok();
    let output = outputs.first()?.shape.as_deref();
    let made = || count(output?);
    let per_channel = |weights: &[u64]| count(weights.get(1..)?);
    match call.kind {
        "Conv" | "ConvInteger" | "DeformConv" | "FusedConv" | "NhwcConv" | "NhwcFusedConv" => {
            made()?.checked_mul(per_channel(shape(1)?)?)
        }
        "QLinearConv" => made()?.checked_mul(per_channel(shape(3)?)?),
        "ConvTranspose" | "ConvTransposeWithDynamicPads" => {
            count(shape(0)?)?.checked_mul(per_channel(shape(1)?)?)
        }
        "MatMul"
        | "MatMulInteger"
        | "QLinearMatMul"
        | "MatMulInteger16"
        | "MatMulIntegerToFloat"
        | "DynamicQuantizeMatMul"
        | "GemmFastGelu"
        | "MatMulNBits"
        | "MatMulBnb4"
        | "MatMulNBitsQLoRA"
        | "MatMulNBitsMlp"
        | "MatMulFpQ4"
        | "LinearClassifier"
        | "LinearRegressor" => {
            // The matrix product of a classifier yields its scores, which are the last output.
            let product = outputs.last()?.shape.as_deref().filter(|_| call.kind == "LinearClassifier");
            product.map_or_else(made, count)?.checked_mul(*shape(0)?.last()?)
        }
        "FusedMatMul" | "FusedMatMulActivation" | "TransposeMatMul" | "SparseToDenseMatMul" => {
            made()?.checked_mul(inner_length(call)?)
        }
        "Gemm" | "FusedGemm" | "GemmFloat8" | "QGemm" => {
            let [rows, columns] = *shape(0)? else { return None };
            made()?.checked_mul(if call.attr("transA").unwrap_or(0) != 0 { rows } else { columns })
        }
        kind @ ("LSTM" | "GRU" | "RNN" | "DynamicQuantizeLSTM" | "AttnLSTM") => {
            let (steps, batch, directions, hidden) = recurrence(call).ok()?;
            let gates = match kind {
                "GRU" => 3,
                "RNN" => 1,
                _ => 4,
            };
            let width = shape(0)?.last()?.checked_add(hidden)?;
            count(&[steps.max(1), batch, directions, gates, hidden, width])
        }
        "Attention" if call.domain.is_empty() => {
            let keys = outputs.get(1)?.shape.as_deref()?;
            let values = outputs.get(2)?.shape.as_deref()?;
            let scores = count(outputs.get(3)?.shape.as_deref()?)?;
            scores.checked_mul(keys.last()?.checked_add(*values.last()?)?)
        }
        "Attention" | "QAttention" | "PackedAttention" => {
            // The projection comes first, then the scores and the weighted sums over all keys.
            let projected = count(shape(0)?)?.checked_mul(*shape(1)?.get(1)?)?;
            let keys = outputs.get(1).and_then(|present| present.shape.as_deref()?.get(3).copied());
            let keys = keys.or_else(|| shape(0)?.get(1).copied())?;
            projected.checked_add(made()?.checked_mul(keys)?.checked_mul(2)?)
        }
        "MultiHeadAttention" | "DecoderMaskedMultiHeadAttention" | "GroupQueryAttention" => {
            let keys = outputs.get(1).and_then(|present| present.shape.as_deref()?.get(2).copied());
            made()?.checked_mul(keys.or_else(|| shape(0)?.get(1).copied())?)?.checked_mul(2)
        }
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity" => Some(0),
        "Einsum" | "If" | "Loop" | "Scan" => None,
        _ => made(),
    }
}

/// Returns the length of the inner dimension of a `FusedMatMul`.
fn inner_length(call: &Call) -> Option<u64> {
    let a = call.shape(0).ok()?;
    let set = |name: &str| call.attr(name).unwrap_or(0) != 0;
    if !set("transA") || a.len() < 2 {
        return a.last().copied();
    }
    Some(if set("transBatchA") { a[0] } else { a[a.len() - 2] })
}
