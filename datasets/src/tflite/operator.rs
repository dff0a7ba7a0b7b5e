//! Properties of operators by kind: outputs that may share memory with inputs, and computational cost.
//!
//! # Sharing
//! Views are the operators whose kernels at most copy their input: `RESHAPE`, `SQUEEZE`, `EXPAND_DIMS`,
//! `BITCAST`. In-place operators are elementwise functions: element *i* of the output depends only on
//! element *i* of the operand. `SOFTMAX` (which the runtime marks as in-place, since it reads a row before
//! writing it) and updates of a slice are in-place too. The operand must have the shape and the size of the
//! output, so it must not be broadcast.
//!
//! # Cost
//! The cost of layers with weights is the number of multiply-accumulates, computed only from shapes.
//! Strides, padding and dilation affect it through the shape of the output, and multiplications by padding
//! are counted. Views cost nothing. The cost of custom operators, of operators that run subgraphs, and of the
//! other operators listed in `UNKNOWN` is unknown. All remaining operators cost one operation per output
//! element. A sparse matrix counts as a dense one.

use super::size::Measured;
use crate::operators::is_listed;
use crate::operators::value::count;
use plimsoll_model::graph::{AliasKind, Control, Handover};

/// Operators whose first output may share the memory of an operand: the kind of sharing, the positions of the
/// operands, and the operators, separated by spaces. Updates and selections can overwrite their data, but not
/// indices or the condition.
const SHARING: &[(AliasKind, &[usize], &str)] = &[
    (AliasKind::View, &[0], "BITCAST EXPAND_DIMS RESHAPE SQUEEZE STABLEHLO_RESHAPE"),
    (
        AliasKind::InPlace,
        &[0],
        "ABS CAST CEIL COS DEQUANTIZE DYNAMIC_UPDATE_SLICE ELU EXP FAKE_QUANT FLOOR GELU HARD_SWISH \
         LEAKY_RELU LOG LOGICAL_NOT LOGISTIC LOG_SOFTMAX NEG PRELU QUANTIZE RELU RELU6 RELU_0_TO_1 \
         RELU_N1_TO_1 ROUND RSQRT SIGN SIN SOFTMAX SQRT SQUARE STABLEHLO_ABS STABLEHLO_CBRT STABLEHLO_CONVERT \
         STABLEHLO_COSINE STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG \
         STABLEHLO_LOGISTIC STABLEHLO_NEGATE STABLEHLO_RSQRT STABLEHLO_TANH TANH",
    ),
    (
        AliasKind::InPlace,
        &[0, 1],
        "ADD ADD_N ATAN2 BITWISE_XOR DIV EQUAL FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL \
         LOGICAL_AND LOGICAL_OR MAXIMUM MINIMUM MUL NOT_EQUAL POW RIGHT_SHIFT SQUARED_DIFFERENCE \
         STABLEHLO_ADD STABLEHLO_AND STABLEHLO_COMPARE STABLEHLO_DIVIDE STABLEHLO_MAXIMUM STABLEHLO_MINIMUM \
         STABLEHLO_MULTIPLY STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_SHIFT_LEFT \
         STABLEHLO_SUBTRACT SUB",
    ),
    (AliasKind::InPlace, &[1, 2], "SELECT SELECT_V2 STABLEHLO_SELECT"),
];

/// Operators whose cost does not follow from shapes.
const UNKNOWN: &str = "BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN CALL CALL_ONCE DELEGATE IF \
                        STABLEHLO_CASE STABLEHLO_COMPOSITE STABLEHLO_CONVOLUTION STABLEHLO_CUSTOM_CALL \
                        STABLEHLO_DOT_GENERAL STABLEHLO_REDUCE STABLEHLO_REDUCE_WINDOW STABLEHLO_SCATTER \
                        STABLEHLO_SORT STABLEHLO_WHILE WHILE";

/// Returns the kind of sharing, and the positions of the operands whose memory the first output may share.
pub(super) fn sharing(kind: &str) -> Option<(AliasKind, &'static [usize])> {
    let row = SHARING.iter().find(|(_, _, kinds)| is_listed(kinds, kind));
    row.map(|&(how, positions, _)| (how, positions))
}

/// Returns how an operator runs its subgraphs. Also returns the handovers, unless they follow from the name
/// of the operator and the positions of its operands. Reducers and comparators run on single elements,
/// which are not tensors of the graph.
pub(super) fn control(kind: &str) -> (Option<Control>, Option<Vec<Handover>>) {
    match kind {
        "STABLEHLO_CASE" => (Some(Control::Branch), None),
        "STABLEHLO_WHILE" => (Some(Control::Loop), None),
        "STABLEHLO_COMPOSITE" => (Some(Control::Call), None),
        "STABLEHLO_REDUCE" | "STABLEHLO_REDUCE_WINDOW" | "STABLEHLO_SCATTER" | "STABLEHLO_SORT" => {
            (Some(Control::Loop), Some(Vec::new()))
        }
        _ => (None, None),
    }
}

/// Returns true if the sizes and shapes of an output and an operand allow this kind of sharing.
pub(super) fn fits(kind: AliasKind, operand: &Measured, output: &Measured) -> bool {
    let same_shape = operand.shape.is_some() && operand.shape == output.shape;
    operand.bytes == output.bytes && (kind == AliasKind::View || same_shape)
}

/// Shapes of the inputs and outputs of an operator; `None` if an operand is absent or its shape is unknown.
pub(super) struct Shapes<'a> {
    /// Operands, by position in the file.
    pub inputs: &'a [Option<&'a [u64]>],
    pub outputs: &'a [Option<&'a [u64]>],
    /// True if the first of two matrices is transposed.
    pub transposed: bool,
}

impl<'a> Shapes<'a> {
    fn input(&self, at: usize) -> Option<&'a [u64]> {
        self.inputs.get(at).copied().flatten()
    }

    fn made(&self) -> Option<u64> {
        let mut sum = 0u64;
        for shape in self.outputs {
            sum = sum.checked_add(count((*shape)?)?)?;
        }
        Some(sum)
    }
}

/// Returns the cost of a built-in operator, or `None` if it is unknown or exceeds 64 bits.
pub(super) fn cost(kind: &str, shapes: &Shapes) -> Option<u64> {
    match kind {
        _ if is_listed(UNKNOWN, kind) => None,
        _ if matches!(sharing(kind), Some((AliasKind::View, _))) => Some(0),
        // The weights have the dimensions [out, height, width, in], [1, height, width, out], [units, in], or
        // [depth, height, width, in, out].
        "CONV_2D" | "FULLY_CONNECTED" => shapes.made()?.checked_mul(count(shapes.input(1)?.get(1..)?)?),
        "DEPTHWISE_CONV_2D" => shapes.made()?.checked_mul(count(shapes.input(1)?.get(1..3)?)?),
        "CONV_3D" => shapes.made()?.checked_mul(count(shapes.input(1)?.get(..4)?)?),
        // Every element of the input is multiplied by a slice of the weights, whose dimensions are
        // [out, height, width, in].
        "TRANSPOSE_CONV" => count(shapes.input(2)?)?.checked_mul(count(shapes.input(1)?.get(..3)?)?),
        // The same holds for weights of [depth, height, width, out, in].
        "CONV_3D_TRANSPOSE" => count(shapes.input(2)?)?.checked_mul(count(shapes.input(1)?.get(..4)?)?),
        "BATCH_MATMUL" => {
            let left = shapes.input(0)?;
            let inner = left.len().checked_sub(if shapes.transposed { 2 } else { 1 })?;
            shapes.made()?.checked_mul(left[inner])
        }
        "SVDF" | "RNN" | "UNIDIRECTIONAL_SEQUENCE_RNN" => recurrent(shapes, 1..=2),
        // The basic kernel has one matrix for all gates.
        "LSTM" if shapes.inputs.len() == 5 => recurrent(shapes, 2..=2),
        "LSTM" | "UNIDIRECTIONAL_SEQUENCE_LSTM" => recurrent(shapes, (1..=8).chain(16..=16)),
        _ => shapes.made(),
    }
}

/// Counts each weight once per step of each sequence. Absent weights are skipped.
fn recurrent(shapes: &Shapes, weights: impl IntoIterator<Item = usize>) -> Option<u64> {
    let (_, steps) = shapes.input(0)?.split_last()?;
    let mut sum = 0u64;
    for shape in weights.into_iter().filter_map(|at| shapes.input(at)) {
        sum = sum.checked_add(count(shape)?)?;
    }
    count(steps)?.checked_mul(sum)
}
