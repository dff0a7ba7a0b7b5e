//! Graphs whose operators own regions: conditionals nested, unbalanced and sharing, loops, mixtures.
//!
//! Regions follow the conventions of [`Graph::flow`](plimsoll_model::graph::Graph::flow): `If` and `Case`
//! read tensors of the regions around theirs (as in ONNX); `IF`, `CALL` and `WHILE` hand copies over (as in
//! `TFLite`); the body of a `Loop` is given the number of the trip and the condition before what it carries.

mod branches;
mod loops;
mod maker;
mod mix;

pub(super) use branches::{nested, shared, unbalanced};
pub(super) use loops::loops;
pub(super) use mix::mix;
