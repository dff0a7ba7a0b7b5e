//! The command `plimsoll` with a custom heuristic: `cargo run --release --package plimsoll-command
//! --no-default-features --example own_heuristic -- bench embedded --problems offsets`

use plimsoll::heuristics::offsets::{Abandoned, Arrangement, Fit};
use plimsoll::model::{
    Budget, BufferId, Entry, Instance, Kind, Observer, Offsets, Outcome, SolveError, Solver, Stats, Stop,
    simple_bound,
};
use std::cmp::Reverse;
use std::process::ExitCode;

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

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let about = "first fit, largest area first";
    let entry = Entry::new("largest-area", Kind::Heuristic, about, "this example", |_| LargestArea);
    let mut registry = plimsoll::registry();
    registry.register(entry)?;
    registry.install();
    Ok(plimsoll_command::main())
}
