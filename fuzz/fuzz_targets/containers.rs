#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::containers;

fuzz_target!(|data: &[u8]| containers(data));
