#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::tflite_model;

fuzz_target!(|data: &[u8]| tflite_model(data));
