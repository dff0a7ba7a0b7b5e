//! All tests of this crate in one binary: every further one would link the whole crate once more. Only `families` stays
//! apart, which reads the high-water mark of its process.

mod control_graphs;
mod corpora;
mod dsa;
mod fuzz_smoke;
mod graphs;
mod hashes;
mod onnx;
mod structure;
mod tflite;
mod tflite_shapes;
mod tflite_writer;
mod zoo;
