//! The operators of a file that `tflite-micro` cannot run.
//!
//! The runtime needs a kernel for every operator of every subgraph. Its kernels support few combinations of
//! element types. Layers do not support hybrid models, which multiply floating-point activations by integer
//! weights. Most kernels do not support unsigned bytes. Custom operators and operators of newer
//! schemas may have a kernel in the application, so they count as runnable.
//!
//! Sources: the resolver and the reference kernels of `tflite-micro` (2026). The tables contain only
//! combinations that the kernels reject in all versions of that year.

use super::kernels::{Node, kernel, nodes};
use super::model::Model;
use super::schema::{ELEMENTS, FLOAT32, INT4, INT8, INT16, UINT8};
use crate::import::Unrunnable;
use crate::operators::is_listed;
use std::collections::BTreeMap;

/// Operators, the positions of their activations and weights among the operands, and the supported pairs of
/// element types.
type Layer = (&'static str, usize, usize, &'static [(i8, i8)]);

/// Layers with weights.
const LAYERS: &[Layer] = &[
    (
        "CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED",
        0,
        1,
        &[(FLOAT32, FLOAT32), (INT8, INT8), (INT8, INT4), (INT16, INT8)],
    ),
    ("TRANSPOSE_CONV", 2, 1, &[(FLOAT32, FLOAT32), (INT8, INT8), (INT16, INT8)]),
    ("BATCH_MATMUL", 0, 1, &[(FLOAT32, FLOAT32), (INT8, INT8), (INT16, INT16)]),
    ("SVDF", 0, 1, &[(FLOAT32, FLOAT32), (INT8, INT8)]),
    ("UNIDIRECTIONAL_SEQUENCE_LSTM", 0, 2, &[(FLOAT32, FLOAT32), (INT8, INT8), (INT16, INT8)]),
];

/// Operators whose kernels reject unsigned bytes.
const SIGNED: &str = "ADD AVERAGE_POOL_2D CONCATENATION ELU HARD_SWISH LEAKY_RELU LOGISTIC MAX_POOL_2D MAXIMUM MEAN \
                      MINIMUM MUL PRELU RELU RELU6 RESIZE_BILINEAR SOFTMAX SPLIT SUB SUM TANH";

/// Returns the operators that the runtime cannot run, grouped by name and reason. The time is linear in the
/// size of the file.
pub(super) fn unrunnable(model: &Model) -> Vec<Unrunnable> {
    let mut found: BTreeMap<(&str, String), Vec<(usize, usize)>> = BTreeMap::new();
    for (subgraph, operator, node) in nodes(model) {
        let Some(kind) = node.kind else { continue };
        if let Some(reason) = obstacle(&node) {
            found.entry((&kind.name, reason)).or_default().push((subgraph, operator));
        }
    }
    let group = |((operator, reason), places): ((&str, String), _)| Unrunnable {
        operator: operator.to_owned(),
        reason,
        places,
    };
    found.into_iter().map(group).collect()
}

/// Returns the reason why the runtime cannot run an operator.
fn obstacle(node: &Node<'_, '_>) -> Option<String> {
    let kind = node.kind?;
    if !kind.builtin {
        return kind.name.starts_with("Flex").then(|| "it needs the kernels of TensorFlow".to_owned());
    }
    if kernel(kind).is_none() {
        return Some("the runtime has no kernel for it".to_owned());
    }
    if is_listed(SIGNED, &kind.name) && node.takes(0, &[UINT8]) {
        return Some("its kernel does not support elements of type uint8".to_owned());
    }
    let &(_, input, weights, pairs) = LAYERS.iter().find(|(names, ..)| is_listed(names, &kind.name))?;
    let pair = (node.input(input)?.element, node.input(weights)?.element);
    if pairs.contains(&pair) {
        return None;
    }
    let [input, weights] = [pair.0, pair.1].map(|element| {
        let element = usize::try_from(element).ok().and_then(|at| ELEMENTS.get(at));
        element.map_or("unknown", |element| element.name)
    });
    let hybrid = if pair.0 == FLOAT32 { " (a hybrid model)" } else { "" };
    Some(format!("its kernel does not support {input} activations with {weights} weights{hybrid}"))
}
