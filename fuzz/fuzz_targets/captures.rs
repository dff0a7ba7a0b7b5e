#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::captures;

fuzz_target!(|data: &[u8]| captures(data));
