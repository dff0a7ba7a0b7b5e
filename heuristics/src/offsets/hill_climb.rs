//! Hill climbing over orders, as in TVM's unified static memory planner.
//!
//! **Definition.** A state is an order, and its value is the peak of its [first-fit](crate::offsets::place) placement.
//! The initial order is by descending size. Ties are broken in favour of the buffer with more conflicts. A
//! move selects a buffer `x` that ends at the peak, and a buffer that precedes `x` in the order. The second
//! buffer conflicts with `x` or with a buffer `y` that precedes and conflicts with `x`. In the latter case,
//! the second buffer also precedes `y`. The move swaps the positions of the two selected buffers. An order of
//! equal or lower peak is accepted. A worse one is accepted with a probability that starts at one half and
//! falls linearly to zero over the attempts.
//!
//! **Invariants.** Every state decodes to a valid layout. The best layout is stored separately from the
//! current one.
//!
//! **Complexity.** Each attempt needs one placement and O(n) conflict tests for n buffers. There are 500
//! attempts, or fewer on large instances: the attempts place at most four million buffers in total. Memory
//! is linear.
//!
//! **Source.** Apache TVM, USMP `hill_climb`, from its published description.

use crate::offsets::buffer_orders::conflict_counts;
use crate::offsets::placement::{Abandoned, Arrangement, Fit};
use plimsoll_model::{Budget, BufferId, Instance, Layout, Offsets, Stop, Tracker};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::cmp::Reverse;

/// Maximum number of buffers that all attempts of a run place.
const PLACEMENTS: u64 = 4_000_000;

/// Runs at most the given number of attempts. A node is one placed buffer.
pub(crate) fn climb(
    (attempts, seed): (u32, u64),
    instance: &Instance,
    budget: &mut Budget,
    run: &mut Tracker<Offsets>,
) -> Result<(), Stop> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order = start(instance, &mut budget.without_node_limit())?;
    let mut arrangement = Arrangement::new(instance);
    let mut current = decode(&mut arrangement, &order, budget)?;
    run.offer(current.clone());
    let affordable = PLACEMENTS / instance.len().max(1) as u64;
    let attempts = attempts.min(u32::try_from(affordable).unwrap_or(u32::MAX));
    for attempt in 0..attempts {
        if let Some(stop) = run.enough(budget) {
            return Err(stop);
        }
        let Some((early, late)) = pick(instance, &order, &current, &mut rng) else {
            return Ok(());
        };
        order.swap(early, late);
        let next = decode(&mut arrangement, &order, budget)?;
        let worse = next.peak(instance) > current.peak(instance);
        if worse && rng.random_range(0..2 * attempts) >= attempts - attempt {
            order.swap(early, late);
        } else {
            run.offer(next.clone());
            current = next;
        }
    }
    Ok(())
}

fn start(instance: &Instance, watch: &mut Budget) -> Result<Vec<BufferId>, Stop> {
    let conflicts = conflict_counts(instance, watch)?;
    let mut order: Vec<BufferId> = instance.ids().collect();
    order.sort_by_key(|&id| (Reverse(instance.buffer(id).size()), Reverse(conflicts[id.index()])));
    Ok(order)
}

fn decode(arrangement: &mut Arrangement, order: &[BufferId], budget: &mut Budget) -> Result<Layout, Stop> {
    match arrangement.run(order, Fit::First, None, budget) {
        Err(Abandoned::Budget(stop)) => Err(stop),
        Err(Abandoned::Peak) | Ok(_) => {
            Ok(arrangement.layout().expect("a run without a limit places every buffer"))
        }
    }
}

/// Returns two positions to swap. Returns `None` if no movable buffer ends at the peak, or if the chosen
/// buffer conflicts with no movable buffer that precedes it.
fn pick(
    instance: &Instance,
    order: &[BufferId],
    layout: &Layout,
    rng: &mut Xoshiro256PlusPlus,
) -> Option<(usize, usize)> {
    let peak = layout.peak(instance);
    let movable = |&at: &usize| instance.buffer(order[at]).fixed().is_none();
    let highest: Vec<usize> = (0..order.len())
        .filter(movable)
        .filter(|&at| layout.offset(order[at]).checked_add(instance.buffer(order[at]).size()) == Some(peak))
        .collect();
    let before = |late: usize| -> Vec<usize> {
        (0..late).filter(movable).filter(|&at| instance.conflict(order[at], order[late])).collect()
    };
    let late = *choose(&highest, rng)?;
    let neighbours = before(late);
    let near = *choose(&neighbours, rng)?;
    let further = before(near);
    // Half of the moves use a neighbour of `near` instead of `near` itself, if there is one.
    let early = if rng.random_bool(0.5) { choose(&further, rng).copied().unwrap_or(near) } else { near };
    Some((early, late))
}

fn choose<'a, T>(list: &'a [T], rng: &mut Xoshiro256PlusPlus) -> Option<&'a T> {
    if list.is_empty() { None } else { list.get(rng.random_range(0..list.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::report::anytime;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::Silent;

    #[test]
    fn climbing_is_never_worse_than_the_start() {
        for seed in 0..100 {
            let instance = small_instance(SmallParams::with_features(10, seed % 16), seed);
            let solve = |attempts| {
                let solver = anytime("hill-climb", move |i, b, run| climb((attempts, seed), i, b, run));
                solver.solve(&instance, &mut Budget::unlimited(), &mut Silent).unwrap().value
            };
            assert!(solve(100) <= solve(0));
        }
    }
}
