//! Graphs whose operators own regions: conditionals (nested, unbalanced, sharing inputs), loops and mixtures.
//!
//! Regions follow the conventions of [`Graph::flow`](plimsoll_model::graph::Graph::flow). `If` and `Case`
//! capture tensors of enclosing regions (as in ONNX); `IF`, `CALL` and `WHILE` pass copies (as in `TFLite`).
//! The body of a
//! `Loop` gets the iteration number and the condition before the loop-carried values.

mod branches;
mod loops;
mod maker;
mod mix;

pub(super) use branches::{nested, shared, unbalanced};
pub(super) use loops::loops;
pub(super) use mix::mix;
