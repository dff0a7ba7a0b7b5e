//! Registers a custom heuristic and compares it with all others:
//! `cargo run --package plimsoll-lab --example own_heuristic`

use plimsoll::Engine;
use plimsoll::heuristics::offsets::{Abandoned, Arrangement, Fit};
use plimsoll::model::{
    Budget, BufferId, Entry, Instance, Kind, Observer, Offsets, Outcome, SolveError, Solver, Stats, Stop,
    simple_bound,
};
use plimsoll_lab::executor::compare;
use plimsoll_lab::report::summary::ranked;
use std::cmp::Reverse;
use std::time::Duration;

/// First fit in order of descending area (bytes times steps).
struct LargestArea;

impl Solver<Offsets> for LargestArea {
    fn name(&self) -> &'static str {
        "largest-area"
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        _: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        let mut order: Vec<BufferId> = instance.ids().collect();
        order.sort_by_key(|id| Reverse(instance.buffer(*id).area()));
        let mut arrangement = Arrangement::new(instance);
        let ended = arrangement.run(&order, Fit::First, None, budget);
        let stop = if let Err(Abandoned::Budget(stop)) = ended { stop } else { Stop::Completed };
        Ok(Outcome::of(instance, arrangement.layout(), simple_bound(instance), stop, Stats::default()))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut engine = Engine::default().with_time_limit(Duration::from_secs(1));
    let about = "first fit, largest area first";
    let entry = Entry::new("largest-area", Kind::Heuristic, about, "this example", |_| LargestArea);
    engine.registry.register(entry)?;
    let instances = plimsoll::datasets::worked_examples().into_iter().map(|worked| worked.instance);
    let rows = compare::<Offsets>(&engine, instances);
    print!("{}", ranked(&rows));
    Ok(())
}
