//! How much arithmetic an operator does.

use super::Call;
use super::algebra::recurrence;
use crate::operators::value::{Fact, count};

/// Multiply-accumulates of convolutions, matrix products and recurrent cells; for other operators the elements of the
/// first output; 0 for views. None where shapes are not known, or beyond 64 bits.
///
/// | operator | multiply-accumulates |
/// |---|---|
/// | `Conv` and variants | elements of the output x weights per output channel |
/// | `ConvTranspose` | elements of the input x weights per input channel |
/// | `MatMul`, `Gemm` and variants | elements of the output x length of the sums |
/// | `LSTM`, `GRU`, `RNN` | steps x batch x directions x gates (4, 3, 1) x hidden x (input + hidden) |
/// | `Attention` | queries x keys x (width of keys + width of values), per batch and head |
pub fn cost(call: &Call, outputs: &[Fact]) -> Option<u64> {
    let shape = |at: usize| call.shape(at).ok();
    let output = outputs.first()?.shape.as_deref();
    let made = || count(output?);
    let per_channel = |weights: &[u64]| count(weights.get(1..)?);
    match call.kind {
        "Conv" | "ConvInteger" | "DeformConv" => made()?.checked_mul(per_channel(shape(1)?)?),
        "QLinearConv" => made()?.checked_mul(per_channel(shape(3)?)?),
        "ConvTranspose" => count(shape(0)?)?.checked_mul(per_channel(shape(1)?)?),
        "MatMul" | "MatMulInteger" | "QLinearMatMul" => made()?.checked_mul(*shape(0)?.last()?),
        "Gemm" => {
            let [rows, columns] = *shape(0)? else { return None };
            made()?.checked_mul(if call.attr("transA").unwrap_or(0) != 0 { rows } else { columns })
        }
        kind @ ("LSTM" | "GRU" | "RNN") => {
            let (steps, batch, directions, hidden) = recurrence(call).ok()?;
            let gates = match kind {
                "LSTM" => 4,
                "GRU" => 3,
                _ => 1,
            };
            let width = shape(0)?.last()?.checked_add(hidden)?;
            count(&[steps.max(1), batch, directions, gates, hidden, width])
        }
        "Attention" => {
            let keys = outputs.get(1)?.shape.as_deref()?;
            let values = outputs.get(2)?.shape.as_deref()?;
            let scores = count(outputs.get(3)?.shape.as_deref()?)?;
            scores.checked_mul(keys.last()?.checked_add(*values.last()?)?)
        }
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity" => Some(0),
        "Einsum" | "If" | "Loop" | "Scan" => None,
        _ => made(),
    }
}
