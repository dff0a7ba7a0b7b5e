#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::torch_snapshot;

fuzz_target!(|data: &[u8]| torch_snapshot(data));
