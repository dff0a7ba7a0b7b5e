//! Fuses the operators of a graph, region by region: `cargo run --example fuse`

use plimsoll::{Engine, datasets::graphs::GraphFamily, model::fusion::Patterns};
use std::collections::BTreeMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let family = GraphFamily::named("resnet18").ok_or("no such family")?;
    let graph = family.generate(0, &BTreeMap::new())?;
    for region in Engine::default().fuse(&graph, &Patterns::find("default")?)? {
        println!("{}: {} relations optimised", region.outcome.claim, region.coverage);
    }
    Ok(())
}
