#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_datasets::fuzzing::inductor_graph;

fuzz_target!(|data: &[u8]| inductor_graph(data));
