#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../proof/tests/fuzz/body.rs"]
mod body;

fuzz_target!(|data: &[u8]| body::order_proof_text(data));
