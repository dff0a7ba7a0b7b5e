//! All tests of this crate in one binary, since each further binary would link the whole crate again. Only
//! `families` is separate, because it reads the high-water mark of its process.

mod captured_traces;
mod captures;
mod control_graphs;
mod corpora;
mod dsa;
mod fuzz_smoke;
mod graphs;
mod hashes;
mod onnx;
mod rewrite;
mod structure;
mod tflite;
mod tflite_loops;
mod tflite_overhead;
mod tflite_plans;
mod tflite_shapes;
mod tflite_writer;
mod zoo;
