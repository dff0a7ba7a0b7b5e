//! Finds a layout with the lowest peak, and prints the offsets and the proof: `cargo run --example solve`

use plimsoll::model::{Buffer, InstanceBuilder, Lifespan};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = InstanceBuilder::new("tiny");
    for (name, lower, upper, bytes) in [("a", 0, 4, 4), ("b", 0, 2, 4), ("c", 2, 4, 4)] {
        builder = builder.buffer(Buffer::new(name, bytes, Lifespan::single(lower, upper)?));
    }
    let instance = builder.build()?;
    let answer = plimsoll::solve(&instance)?;
    println!("{}: {}", answer.claim, answer.lower_bound.witness);
    for (id, offset) in instance.ids().zip(answer.solution.ok_or("no layout")?.offsets()) {
        println!("{} at offset {offset}", instance.buffer(id).name());
    }
    Ok(())
}
