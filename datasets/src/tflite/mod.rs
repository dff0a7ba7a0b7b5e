//! Models of `TFLite` (`.tflite`): `FlatBuffers` with identifier `TFL3`, schema version 3.
//!
//! # What becomes of what
//! - Subgraph 0 is the body. Subgraphs run by `IF`, `WHILE`, `CALL_ONCE`, `CALL` and by `StableHLO` reductions, sorts,
//!   scatters, cases, loops and composites become regions of that operator, one copy for each use; regions are called
//!   like the subgraph, or after its part (`then`, `else`, `case`, `cond`, `body`, `init`). Subgraphs that nothing runs
//!   (other signatures) are left out. `STABLEHLO_CUSTOM_CALL` is not looked into.
//! - Tensors take `ceil(elements x bits / 8)` bytes: types below a byte are packed. Values in a buffer, in this file or
//!   another, make a weight; `is_variable` makes a state. Tensors of one buffer, type and shape are one weight, and
//!   copies of a subgraph share weights and states, for the runtime keeps them once. Sparse weights count as stored.
//!   What nothing makes or reads is left out: quantisation parameters of LSTMs ("intermediates"), scales of blocks; but
//!   variables, which the runtime keeps all the same.
//! - Tensors and operators keep the order of the file. Operators have no names there; an optional operand of -1 is
//!   skipped.
//! - Strings, resources and variants have no size (constants do), nor have shapes with negative extents.
//!   `has_rank = false` with an empty shape is read as a scalar, because older files say nothing else of scalars;
//!   where a file says it of other tensors, that is an assumption.
//! - Memory that kernels ask for while they run is nowhere in the file, so [`Operator::scratch`] is zero.
//!
//! # Options
//! The file has every shape, and none is inferred again. A free dimension (-1 in `shape_signature`) has the extent it
//! has in `shape`. Another batch multiplies the first dimension of each tensor that the file leaves free there, and
//! is refused if an input's is not free; what does not follow is listed in [`Import::assumed`]. Named dimensions and
//! other input shapes are refused.
//!
//! # Damage
//! The verifier of the `flatbuffers` crate goes first. Time and memory are bounded by the length of the file, and
//! copies of subgraphs by a constant.
//!
//! Source: `schema.fbs` of `TFLite`, version 3d (2025); sharing and memory as its interpreter has them.
//!
//! [`Operator::scratch`]: plimsoll_model::graph::Operator::scratch

mod build;
mod flex;
mod given;
mod infer;
mod layers;
mod model;
mod operator;
mod parts;
mod reader;
mod schema;
mod shapes;
mod size;

use crate::import::{Import, ImportError, ImportOptions};
use std::path::Path;

/// True where bytes begin like a model of this format.
pub(crate) fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(schema::IDENTIFIER)
}

/// Reads a model; `origin` gives the graph its name and is named in errors. O(length of the file).
///
/// # Errors
/// See [`ImportError`]; nothing is read from disk, so never [`ImportError::Io`].
pub fn read_tflite(origin: &Path, bytes: &[u8], options: &ImportOptions) -> Result<Import, ImportError> {
    let model = model::read(origin, bytes)?;
    build::Conversion::new(origin, &model, options)?.run()
}
