//! Graphs whose operators own regions: conditionals (nested, unbalanced, with shared inputs), loops, and
//! mixtures.
//!
//! Regions follow the conventions of [`Graph::flow`](plimsoll_model::graph::Graph::flow). `If` and `Case`
//! read tensors of the enclosing regions, as in ONNX. `IF`, `CALL` and `WHILE` pass copies, as in `TFLite`.
//! The body of a `Loop` receives the iteration number and the condition before the carried values.

mod branches;
mod loops;
mod maker;
mod mix;

pub(super) use branches::{nested, shared, unbalanced};
pub(super) use loops::loops;
pub(super) use mix::mix;
