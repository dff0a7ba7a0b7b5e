#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::dsa_json;

fuzz_target!(|data: &[u8]| dsa_json(data));
