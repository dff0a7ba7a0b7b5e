//! Finds a layout with the lowest peak and prints the proof: `cargo run --example solve`

use plimsoll::model::csv::{ReadOptions, read_instance};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = "id,lower,upper,size\na,0,4,4\nb,0,2,4\nc,2,4,4\n";
    let instance = read_instance("tiny", rows.as_bytes(), ReadOptions::default())?;
    let answer = plimsoll::solve(&instance)?;
    let (peak, proof) = (answer.value.unwrap_or_default(), answer.lower_bound.witness);
    println!("{}: peak {peak} bytes, {proof}", answer.claim);
    Ok(())
}
