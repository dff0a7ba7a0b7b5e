//! The few that live longest first, packed tightly; everybody else on top of them.
//!
//! In the trace of a server a handful of buffers live for most of the run and hold most of the memory, and a million short
//! ones come and go between them. Filling valleys with all at once leaves gaps between the long ones that last for ever. So
//! the longest are packed on their own, by an [ejection search](EjectionSearch) on a small instance, and valleys are
//! filled from the upper edge of that.

use crate::ejection::EjectionSearch;
use crate::ranks::Ranks;
use crate::valley::{Skyline, ValleyWeights, envelope, fill, scores, valley_fit};
use plimsoll_model::{Budget, BufferId, Instance, InstanceBuilder, Layout, Stop, simple_bound};

/// At most so many are packed on their own, and one in so many.
const MOST_LONG: usize = 5_000;
const ONE_IN: usize = 500;

/// They must hold at least this share of all steps alive; otherwise nothing is gained.
const LEAST_SHARE: f64 = 0.3;

/// Buffers put by the ejection search, per long buffer.
const PUTS: u64 = 30;

/// A layout with the longest buffers at the bottom; `None` where no few buffers hold much of the time, where a buffer is fixed
/// or separated, or where the budget ends first. The ejection search takes at most a quarter of the time left.
pub fn long_first(instance: &Instance, seed: u64, budget: &mut Budget) -> Option<Layout> {
    if instance.has_fixed() || !instance.separations().is_empty() {
        return None;
    }
    let ranks = Ranks::of(instance);
    let long = longest(&ranks)?;
    let layout = pack(instance, &long, seed, budget).ok()?;
    let tops: Vec<u64> = long
        .iter()
        .zip(layout.offsets())
        .map(|(&id, offset)| offset.get() + instance.buffer(BufferId::new(id)).size().get())
        .collect();
    let skyline = Skyline::over(&envelope(&ranks, &long, &tops));
    let placed: Vec<(u32, u64)> =
        long.iter().copied().zip(layout.offsets().iter().map(|o| o.get())).collect();
    let scores = scores(instance, ValleyWeights::default());
    fill(instance, &ranks, &scores, skyline, &placed, budget).ok()
}

/// The longest buffers, ascending, where they hold enough of the time.
fn longest(ranks: &Ranks) -> Option<Vec<u32>> {
    let count = (ranks.lower.len() / ONE_IN).min(MOST_LONG);
    if count < 2 {
        return None;
    }
    let mut ids: Vec<u32> = (0..ranks.lower.len() as u32).collect();
    let duration = |id: &u32| ranks.duration(*id as usize);
    ids.select_nth_unstable_by_key(count, |id| (std::cmp::Reverse(duration(id)), *id));
    let all: f64 = ids.iter().map(|id| f64::from(duration(id))).sum();
    ids.truncate(count);
    let own: f64 = ids.iter().map(|id| f64::from(duration(id))).sum();
    ids.sort_unstable();
    (own >= LEAST_SHARE * all).then_some(ids)
}

/// A low layout of the long buffers alone.
fn pack(instance: &Instance, long: &[u32], seed: u64, budget: &mut Budget) -> Result<Layout, Stop> {
    let buffers = long.iter().map(|&id| instance.buffer(BufferId::new(id)).clone());
    let own = InstanceBuilder::new("long").buffers(buffers).build().expect("a part of an instance is one");
    let start = valley_fit(&own, ValleyWeights::default(), budget)?;
    let time = budget.time_left().map(|left| left / 4);
    let mut part = budget.part(Some(PUTS * long.len() as u64), time);
    let bound = simple_bound(&own).value;
    let (better, _) = EjectionSearch::new(seed).improve(&own, &start, bound, &mut part, |_, _| {});
    match budget.spend(part.nodes()) {
        Some(stop) => Err(stop),
        None => Ok(better.map_or(start, |(layout, _)| layout)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::Family;
    use plimsoll_model::check_layout;

    #[test]
    fn layouts_are_valid() {
        for seed in 0..2 {
            let instance = Family::named("trace").unwrap().make(100_000, seed).unwrap();
            let mut budget = Budget::unlimited();
            let layout = long_first(&instance, seed, &mut budget).expect("few hold most of the time");
            assert_eq!(check_layout(&instance, &layout), []);
        }
        let plain = Family::named("uniform").unwrap().make(2000, 1).unwrap();
        assert_eq!(long_first(&plain, 1, &mut Budget::unlimited()), None);
    }
}
