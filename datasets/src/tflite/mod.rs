//! Models of `TFLite` (`.tflite`): `FlatBuffers` with identifier `TFL3`, schema version 3.
//!
//! # Mapping
//! - Subgraph 0 is the body. Subgraphs called by `IF`, `WHILE`, `CALL_ONCE`, `CALL` and by `StableHLO`
//!   reductions, sorts, scatters, cases, loops and composites become regions of that operator, one copy per
//!   use. Regions are
//!  named after
//!   the subgraph or its part (`then`, `else`, `case`, `cond`, `body`, `init`). Subgraphs without a caller
//!  (other
//!   signatures) are skipped. `STABLEHLO_CUSTOM_CALL` is opaque.
//! - Tensors take `ceil(elements x bits / 8)` bytes: types below a byte are packed. A tensor with values in a
//!   buffer, in this file or another, is a weight; `is_variable` marks a state. Tensors with the same buffer,
//!   type and
//!  shape are
//!   one weight. Copies of a subgraph share weights and states, because the runtime stores them once. Sparse
//!  weights
//!   count as stored.
//! - Tensors that no operator produces or consumes are skipped: quantisation parameters of LSTMs
//!   ("intermediates") and scales of blocks. Variables are kept, as in the runtime.
//! - Tensors and operators keep the order of the file. Operators have no names there; an optional operand of
//!   -1 is skipped.
//! - Strings, resources and variants have no size unless they are constants. Shapes with negative extents
//!   have none either. An input of the model with an empty shape is a scalar, as in the interpreter. That is
//!   an
//!  assumption if
//!   the file sets `has_rank` for other tensors and not for this one.
//! - The file does not state the memory that kernels request at run time, so [`Operator::scratch`] is zero.
//!   Custom operators may refer to tensors that no operator produces, as compilers for accelerators write
//!   them.
//!  These are
//!   the operator's scratch memory, separate for each operator that refers to one.
//!   are the operator's scratch, and each operator that names one has it for itself.
//!
//! # Shapes
//! Shapes of inputs and constants are those of the file. All others are inferred from the operators, in the
//! order of the file, as the kernels of the interpreter resize their outputs. Constants of few elements are
//! propagated as values, also through operators that compute shapes. Subgraphs get the inputs of their
//! operator. If branches differ, the larger result is used; loop-carried tensors must keep their shape.
//!
//! The declared shape of another tensor is used only if no rule gives a shape (custom operators, unknown
//! values), no option changes anything that the operator depends on, and the operator's inputs have their
//! declared shapes. Otherwise the import is rejected unless an option gives the shape. Data-dependent shapes
//! take their upper bound. If rules and file differ, the rules apply. [`Import::assumed`] names the first of
//! each kind, and [`Import::sizes`] counts the sources of sizes.
//!
//! | operators | shapes |
//! |---|---|
//! | element by element, convolutions, pools, matrices, recurrent cells, reductions, movements | inferred |
//! | `SEGMENT_SUM`, `SLICE`, `STRIDED_SLICE` where values are not known, `UNIQUE`, `WHERE` | bounded by their inputs |
//! | `TFLite_Detection_PostProcess` | inferred from its options |
//! | other custom operators, hash tables, variables by handle, strings, `StableHLO` beyond single elements | declared |
//!
//! # Options
//! A batch is the first dimension of every input that has one. Complete shapes of inputs may be given with
//! the rank of the file. A free dimension of an input (-1 in `shape_signature`) has its extent in `shape`,
//! unless an option gives one. Values of inputs may be given if shapes depend on them. Dimensions have no
//! names, so options that name one are rejected. States keep their shapes: operators that need larger ones
//! are rejected, as in the interpreter.
//!
//! # Malformed files
//! The verifier of the `flatbuffers` crate runs first. Time and memory are bounded by the length of the file,
//! and copies of subgraphs by a constant.
//!
//! Source: `schema.fbs` of `TFLite`, version 3d (2025); sharing and memory follow its interpreter.
//!
//! [`Operator::scratch`]: plimsoll_model::graph::Operator::scratch

mod build;
mod flex;
mod flow;
mod given;
mod infer;
mod known;
mod layers;
mod model;
mod operation;
mod operator;
mod parts;
mod reader;
mod schema;
mod shapes;
mod size;

use crate::import::{Import, ImportOptions, ImportProblem};
use std::path::Path;

/// Whether the bytes begin like a model of this format.
pub(crate) fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(schema::IDENTIFIER)
}

/// Reads a model. `origin` names the graph. O(length of the file).
pub(crate) fn read(origin: &Path, bytes: &[u8], options: &ImportOptions) -> Result<Import, ImportProblem> {
    let model = model::read(bytes)?;
    let name = origin.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    build::Conversion::new(name, &model, options)?.run()
}
