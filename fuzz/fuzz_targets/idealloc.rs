#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::idealloc;

fuzz_target!(|data: &[u8]| idealloc(data));
