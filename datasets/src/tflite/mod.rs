//! Models of `TFLite` (`.tflite`): `FlatBuffers` with identifier `TFL3`, schema version 3.
//!
//! # What becomes of what
//! - Subgraph 0 is the body. Subgraphs run by `IF`, `WHILE`, `CALL_ONCE`, `CALL` and by `StableHLO`
//!   reductions, sorts, scatters, cases, loops and composites become regions of that operator, one copy for
//!   each use; regions are called like the subgraph, or after its part (`then`, `else`, `case`, `cond`,
//!   `body`, `init`). Subgraphs that nothing runs (other signatures) are left out. `STABLEHLO_CUSTOM_CALL` is
//!   not looked into.
//! - Tensors take `ceil(elements x bits / 8)` bytes: types below a byte are packed. Values in a buffer, in
//!   this file or another, make a weight; `is_variable` makes a state. Tensors of one buffer, type and shape
//!   are one weight, and copies of a subgraph share weights and states, for the runtime keeps them once.
//!   Sparse weights count as stored. What nothing makes or reads is left out: quantisation parameters of
//!   LSTMs ("intermediates"), scales of blocks; but variables, which the runtime keeps all the same.
//! - Tensors and operators keep the order of the file. Operators have no names there; an optional operand of
//!   -1 is skipped.
//! - Strings, resources and variants have no size (constants do), nor have shapes with negative extents. An
//!   input of the model with an empty shape is a scalar, as the interpreter has it; an assumption where the
//!   file says `has_rank` of other tensors and not of this one.
//! - Memory that kernels ask for while they run is nowhere in the file, so [`Operator::scratch`] is zero.
//!   Custom operators may name tensors that nothing makes, as compilers for accelerators write them: these
//!   are the operator's scratch, and each operator that names one has it for itself.
//!
//! # Shapes
//! Shapes of inputs and constants are those of the file; all others follow from the operators, in the order
//! of the file, as the kernels of the interpreter resize their outputs. Constants of few elements are
//! followed as values, also through the operators that compute shapes. Subgraphs are given what their
//! operator reads: branches that differ give the larger result, and what a loop carries must keep its shape.
//!
//! What the file declares of other tensors counts only where no rule tells a shape (custom operators, values
//! that are not known), no option has changed anything that the operator depends on, and its inputs have the
//! shapes that the file declares. Otherwise the import is refused, or an option gives the shape. Shapes that
//! data decide are taken at their largest. Where rules and file differ, rules count. [`Import::assumed`]
//! names the first of each, and
//! [`Import::sizes`] counts what rests on what.
//!
//! | operators | shapes |
//! |---|---|
//! | element by element, convolutions, pools, matrices, recurrent cells, reductions, movements | inferred |
//! | `SEGMENT_SUM`, `SLICE`, `STRIDED_SLICE` where values are not known, `UNIQUE`, `WHERE` | bounded by their inputs |
//! | `TFLite_Detection_PostProcess` | inferred from its options |
//! | other custom operators, hash tables, variables by handle, strings, `StableHLO` beyond single elements | declared |
//!
//! # Options
//! A batch is the first dimension of every input that has one; whole shapes of inputs may be given, of the
//! rank in the file. A free dimension of an input (-1 in `shape_signature`) has the extent it has in `shape`,
//! unless an option gives one. Values of inputs may be given where shapes depend on them. Dimensions have no
//! names, so options that name one are refused. States keep their shapes: operators that would need larger
//! ones are refused, as the interpreter does.
//!
//! # Damage
//! The verifier of the `flatbuffers` crate goes first. Time and memory are bounded by the length of the file,
//! and copies of subgraphs by a constant.
//!
//! Source: `schema.fbs` of `TFLite`, version 3d (2025); sharing and memory as its interpreter has them.
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

/// True where bytes begin like a model of this format.
pub(crate) fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(schema::IDENTIFIER)
}

/// Reads a model; `origin` gives the graph its name. O(length of the file).
pub(crate) fn read(origin: &Path, bytes: &[u8], options: &ImportOptions) -> Result<Import, ImportProblem> {
    let model = model::read(bytes)?;
    let name = origin.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    build::Conversion::new(name, &model, options)?.run()
}
