//! Peaks of every order heuristic on generated graphs: `orders [FAMILY[,PARAM=VALUE..] ..]`, seed 1.
//!
//! Inputs and outputs are in the arena while needed, weights are not. In MiB, with milliseconds.

use plimsoll_datasets::graphs::{GRAPH_FAMILIES, GraphFamily};
use plimsoll_heuristics::ORDERS;
use plimsoll_model::graph::{Graph, LivenessOptions};
use plimsoll_model::order::around_bound;
use plimsoll_model::{Budget, Bytes, Setup, Silent};
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.is_empty() {
        wanted = GRAPH_FAMILIES.iter().map(|family| family.name.to_owned()).collect();
    }
    for what in wanted {
        let mut pieces = what.split(',');
        let name = pieces.next().unwrap_or_default();
        let family = GraphFamily::named(name).ok_or_else(|| format!("no family '{name}'"))?;
        let mut params = BTreeMap::new();
        for piece in pieces {
            let (key, value) = piece.split_once('=').ok_or_else(|| format!("'{piece}' is no PARAM=VALUE"))?;
            params.insert(key.to_owned(), value.parse()?);
        }
        let graph = family.generate(1, &params)?;
        let problem = graph.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO)?.problem;
        let mib = |bytes: Bytes| bytes.get() as f64 / f64::from(1 << 20);
        let begun = Instant::now();
        let bound = around_bound(&problem).value;
        let time = begun.elapsed().as_millis();
        println!("{} operators {} bound {:.3} ({time} ms)", graph.name(), problem.len(), mib(bound));
        for entry in ORDERS {
            let solver = (entry.build)(Setup::default());
            let begun = Instant::now();
            let outcome = solver.solve(&problem, &mut Budget::unlimited(), &mut Silent)?;
            let time = begun.elapsed().as_millis();
            let peak = outcome.value.unwrap_or(Bytes::ZERO);
            println!("  {:<14} {:>14.3} {:<9} {time:>6} ms", entry.name, mib(peak), outcome.claim);
        }
    }
    Ok(())
}
