#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::instance_csv;

fuzz_target!(|data: &[u8]| instance_csv(data));
