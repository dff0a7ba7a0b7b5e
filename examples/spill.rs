//! Chooses the buffers to spill if they do not all fit on chip: `cargo run --example spill`

use plimsoll::{Engine, model::Bytes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = plimsoll::datasets::pisarchyk_lee().instance.with_capacity(Some(Bytes::new(60)));
    let outcome = Engine::default().spill(&instance)?;
    let spill = outcome.solution.ok_or("no choice fits")?;
    let names: Vec<&str> = spill.spilled().map(|id| instance.buffer(id).name()).collect();
    println!("{}: {} bytes moved, spilled {names:?}", outcome.claim, outcome.value.unwrap_or_default());
    Ok(())
}
