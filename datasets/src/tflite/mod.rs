//! Models of `TFLite` (`.tflite`): `FlatBuffers` with identifier `TFL3`, schema version 3.
//!
//! # Mapping
//! - Subgraph 0 is the body. The following operators run subgraphs: `IF`, `WHILE`, `CALL_ONCE`, `CALL`, and
//!   `StableHLO` reductions, sorts, scatters, cases, loops and composites. Such a subgraph becomes a region
//!   of the operator, one copy per use. A region has the name of its subgraph or of its part (`then`, `else`,
//!   `case`, `cond`, `body`, `init`). Subgraphs that no operator runs (other signatures) are skipped.
//!   `STABLEHLO_CUSTOM_CALL` is opaque.
//! - Tensors occupy `ceil(elements x bits / 8)` bytes: types smaller than a byte are packed. A tensor with
//!   values in a buffer, in this file or another, is a weight. A tensor with `is_variable` is a state.
//!   Tensors with the same buffer, type and shape are one weight. Copies of a subgraph share weights and
//!   states, since the runtime stores them once. Sparse weights have the size of the stored data. Tensors
//!   that have neither a producer nor a consumer are skipped, such as quantisation parameters of LSTMs
//!   ("intermediates") and scales of blocks. As in the runtime, variables are not skipped.
//! - Tensors and operators keep the order of the file. Operators have no names in this format. An optional
//!   operand of -1 is omitted.
//! - Strings, resources and variants have no size unless they are constants. Tensors with negative extents
//!   have no size. An input of the model with an empty shape is a scalar, as in the interpreter. This is
//!   reported as an assumption if the file declares `has_rank` for other tensors and not for this one.
//! - An offline plan of the file is read. Addresses that compiled code may contain become segments of the
//!   graph, and a note reports the plan.
//! - The file does not contain the memory that kernels request while they run. [`Operator::scratch`] is the
//!   memory given by [`ImportOptions::scratch`], and otherwise zero. Compilers for accelerators write
//!   custom operators that refer to tensors that nothing produces. These tensors are scratch memory. Each
//!   operator that refers to such a tensor has its own copy.
//!
//! # Shapes
//! Shapes of inputs and constants are taken from the file. All other shapes follow from the operators, in the
//! order of the file, as the kernels of the interpreter resize their outputs. The values of small constants
//! are tracked, also through the operators that compute shapes. Subgraphs receive the inputs of their
//! operator. If branches differ, the larger result is used. If a loop changes the shapes of carried values,
//! it is inferred once per iteration, and each tensor gets its largest size. The condition must then be known
//! in every iteration, as for a counter that is compared with a constant. Otherwise,
//! [`ImportOptions::trips`] must give the number of iterations.
//!
//! The declared shape of an output of an operator is used only if three conditions hold. First, no rule gives
//! a shape (custom operators, unknown values). Second, options have not changed anything on which the
//! operator depends. Third, the inputs of the operator have their declared shapes. Otherwise, an option must
//! give the shape, or the import fails. If a shape depends on data, its maximum is used. If a rule and the
//! file differ, the rule takes precedence. [`Import::assumed`] lists the first cases of each kind, and
//! [`Import::sizes`] lists the sources of the sizes.
//!
//! | operators | shapes |
//! |---|---|
//! | elementwise operators, convolutions, pools, matrices, recurrent cells, reductions, movements | inferred |
//! | `SEGMENT_SUM`, `SLICE`, `STRIDED_SLICE` if values are unknown; `UNIQUE`, `WHERE` | bounded by their inputs |
//! | `TFLite_Detection_PostProcess` | inferred from its options |
//! | other custom operators, hash tables, variables by handle, strings, `StableHLO` except elementwise operators | declared |
//!
//! # Options
//! The batch is the first dimension of every input that has at least one dimension. Shapes of inputs may be
//! given; they must have the rank declared in the file. A free dimension of an input (-1 in
//! `shape_signature`) has its extent in `shape`, unless an option gives one. Values of inputs may be given if
//! shapes depend on them. Dimensions have no names, so options that refer to a dimension by name are
//! rejected. States keep their shapes: operators that need larger ones are rejected, as in the interpreter.
//!
//! # Damage
//! The verifier of the `flatbuffers` crate runs first. Time and memory are linear in the length of the
//! file, apart from copies of subgraphs, whose total size is limited by a constant.
//!
//! Source: `schema.fbs` of `TFLite`, version 3d (2025). Sharing and memory follow its interpreter.
//!
//! [`Operator::scratch`]: plimsoll_model::graph::Operator::scratch

mod build;
mod flex;
mod flow;
mod given;
mod infer;
mod kernels;
mod known;
mod layers;
mod micro;
mod model;
mod operation;
mod operator;
mod parts;
mod persistent;
mod plan;
mod reader;
mod runnable;
mod schema;
mod shapes;
mod size;
mod stated;
mod write;

use crate::import::{Import, ImportOptions, ImportProblem};
pub use kernels::Pointers;
pub use micro::{MICRO_ALIGNMENT, MicroArena, Shares};
pub use persistent::MicroOverhead;
pub(crate) use persistent::reference_scratch;
use std::path::Path;
pub(crate) use write::{offsets, reordered, with_offsets};

/// Returns true if bytes 4 to 7 are the identifier of this format.
pub(crate) fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(schema::IDENTIFIER)
}

/// Reads a model. `origin` names the graph. The time is linear in the length of the file.
pub(crate) fn read(origin: &Path, bytes: &[u8], options: &ImportOptions) -> Result<Import, ImportProblem> {
    let model = model::read(bytes)?;
    let name = origin.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    build::Conversion::new(name, &model, options)?.run()
}
