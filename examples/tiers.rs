//! Assigns every tensor to a memory of a machine: `cargo run --example tiers`

use plimsoll::{Engine, datasets::graphs::GraphFamily, model::tiers::TierMachine};
use std::collections::BTreeMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let family = GraphFamily::named("lenet5").ok_or("no such family")?;
    let graph = family.generate(0, &BTreeMap::new())?;
    let (_, outcome) = Engine::default().tiers(&graph, &TierMachine::find("generic")?)?;
    println!("{}: transfers take {}", outcome.claim, outcome.value.ok_or("no plan")?);
    Ok(())
}
