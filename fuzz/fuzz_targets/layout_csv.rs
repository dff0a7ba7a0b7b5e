#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::layout_csv;

fuzz_target!(|data: &[u8]| layout_csv(data));
