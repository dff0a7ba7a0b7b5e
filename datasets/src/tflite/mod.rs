//! Models of `TFLite` (`.tflite`): `FlatBuffers` with identifier `TFL3`, schema version 3.
//!
//! # Mapping
//! - Subgraph 0 is the body. Subgraphs run by `IF`, `WHILE`, `CALL_ONCE`, `CALL` and by `StableHLO`
//!   reductions, sorts, scatters, cases, loops and composites become regions of that operator, one copy per
//!   use. A region has the name of its subgraph, or of its part (`then`, `else`, `case`, `cond`, `body`,
//!   `init`). Subgraphs that nothing runs (other signatures) are skipped. `STABLEHLO_CUSTOM_CALL` is opaque.
//! - Tensors take `ceil(elements x bits / 8)` bytes: types below a byte are packed. Values in a buffer, in
//!   this file or another, make a tensor a weight; `is_variable` makes it a state. Tensors with the same
//!   buffer, type and shape are one weight. Copies of a subgraph share weights and states, since the runtime
//!   keeps them once. Sparse weights count as stored. Tensors without producer and consumer are skipped, such
//!   as quantisation parameters of LSTMs ("intermediates") and scales of blocks. Variables are kept, as in
//!   the runtime.
//! - Tensors and operators keep the order of the file. Operators have no names in this format. An optional
//!   operand of -1 is skipped.
//! - Strings, resources and variants have no size unless they are constants. Shapes with negative extents
//!   have none either. An input of the model with an empty shape is a scalar, as in the interpreter. That is
//!   an assumption if the file declares `has_rank` for other tensors and not for this one.
//! - The file does not contain the memory that kernels request while they run, so [`Operator::scratch`] is
//!   zero. Custom operators may name tensors that nothing produces, as compilers for accelerators write them.
//!   These are scratch of the operator, and each operator that names one has its own.
//!
//! # Shapes
//! Shapes of inputs and constants are those of the file. All others follow from the operators, in the order
//! of the file, as the kernels of the interpreter resize their outputs. Small constants are tracked as
//! values, also through the operators that compute shapes. Subgraphs receive the inputs of their operator. If
//! branches differ, the larger result counts; values carried by a loop must keep their shapes.
//!
//! The declared shape of another tensor counts only under three conditions. No rule gives a shape (custom
//! operators, unknown values). No option has changed anything that the operator depends on. The inputs of the
//! operator have their declared shapes. Otherwise an option must give the shape, or the import fails.
//! Data-dependent shapes are taken at their maximum. Where rules and file differ, the rules count.
//! [`Import::assumed`] names the first cases of each kind, and [`Import::sizes`] counts the sources.
//!
//! | operators | shapes |
//! |---|---|
//! | element by element, convolutions, pools, matrices, recurrent cells, reductions, movements | inferred |
//! | `SEGMENT_SUM`, `SLICE`, `STRIDED_SLICE` where values are not known, `UNIQUE`, `WHERE` | bounded by their inputs |
//! | `TFLite_Detection_PostProcess` | inferred from its options |
//! | other custom operators, hash tables, variables by handle, strings, `StableHLO` beyond single elements | declared |
//!
//! # Options
//! A batch is the first dimension of every input that has one. Whole shapes of inputs may be given, with the
//! rank in the file. A free dimension of an input (-1 in `shape_signature`) has its extent in `shape`, unless
//! an option gives one. Values of inputs may be given where shapes depend on them. Dimensions have no names,
//! so options that name one are rejected. States keep their shapes: operators that need larger ones are
//! rejected, as in the interpreter.
//!
//! # Damage
//! The verifier of the `flatbuffers` crate runs first. Time and memory are bounded by the length of the file,
//! copies of subgraphs by a constant.
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

/// Returns true if the bytes begin like a model of this format.
pub(crate) fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(schema::IDENTIFIER)
}

/// Reads a model. `origin` names the graph. O(length of the file).
pub(crate) fn read(origin: &Path, bytes: &[u8], options: &ImportOptions) -> Result<Import, ImportProblem> {
    let model = model::read(bytes)?;
    let name = origin.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    build::Conversion::new(name, &model, options)?.run()
}
