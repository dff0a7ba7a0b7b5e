#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::certificate_json;

fuzz_target!(|data: &[u8]| certificate_json(data));
