//! Schedules weight transfers that overlap with computation: `cargo run --example overlap`

use plimsoll::{Engine, datasets::graphs::GraphFamily, model::timelines::Machine};
use std::collections::BTreeMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let family = GraphFamily::named("lenet5").ok_or("no such family")?;
    let graph = family.generate(0, &BTreeMap::new())?;
    let (_, scheduled) = Engine::default().overlap(&graph, &Machine::find("generic")?)?;
    println!("makespan {}, at least {}", scheduled.makespan, scheduled.lower_bound);
    Ok(())
}
