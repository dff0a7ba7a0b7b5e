//! Orders the operators of a graph for the lowest peak, region by region: `cargo run --example order`

use plimsoll::{Engine, datasets::graphs::GraphFamily};
use std::collections::BTreeMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let family = GraphFamily::named("inception").ok_or("no such family")?;
    let graph = family.generate(0, &BTreeMap::new())?;
    for region in Engine::default().order(&graph)? {
        println!("{}: {} bytes, {} in file order", region.outcome.claim, region.peak, region.file_peak);
    }
    Ok(())
}
