//! Plans the memory of a model: `cargo run --example plan [MODEL.onnx|MODEL.tflite|GRAPH.json]`

use plimsoll::datasets::{ImportOptions, graphs::GraphFamily, import_file};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = match std::env::args_os().nth(1) {
        Some(path) => import_file(path.as_ref(), &ImportOptions::default())?.graph,
        None => GraphFamily::named("resnet18").ok_or("no such family")?.generate(0, &[].into())?,
    };
    let found = plimsoll::plan(&graph)?;
    println!("arena {} bytes, at least {}: {}", found.plan.peak, found.plan.bound, found.plan.witness);
    Ok(())
}
