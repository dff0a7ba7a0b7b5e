#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::onnx_model;

fuzz_target!(|data: &[u8]| onnx_model(data));
