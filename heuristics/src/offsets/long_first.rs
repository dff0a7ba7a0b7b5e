//! Packs the few buffers with the longest lifespans tightly and places all others on top of them.
//!
//! In an allocation trace of a server, a few buffers are live for most of the run and occupy most of the
//! memory. A million other buffers have short lifespans. If valley fit places all buffers at once, it leaves
//! gaps between the long buffers, and these gaps persist to the end. Therefore, the longest buffers are
//! packed separately by an [ejection search](Ejection) on a small instance. Valley fit then starts from
//! the upper edge of this packing.

use crate::offsets::ejection::Ejection;
use crate::offsets::valley::{Skyline, ValleyWeights, envelope, fill, scores, valley_fit};
use crate::ranks::Ranks;
use plimsoll_model::{Budget, BufferId, Instance, InstanceBuilder, Layout, Stop, simple_bound};

/// Maximum number of buffers that are packed separately.
const MOST_LONG: usize = 5_000;
/// Inverse of the maximum fraction of the buffers that are packed separately.
const ONE_IN: usize = 500;

/// Minimum share of the long buffers in the total duration of all buffers. Below this share, the method
/// does not pay off.
const LEAST_SHARE: f64 = 0.3;

/// Maximum number of placements of the ejection search per long buffer.
const PUTS: u64 = 30;

/// Returns a layout with the longest buffers at the bottom.
///
/// Returns `None` if a buffer is fixed or separated, if there are too few buffers, or if the budget is
/// exhausted first. The result is also `None` if the share of the longest buffers in the total duration is
/// too small. The ejection search uses at most a quarter of the remaining time.
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

/// Returns the ids of the longest buffers in ascending order if they account for a large enough share of the
/// total duration of all buffers.
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

/// Returns a layout of only the long buffers, with a low peak.
fn pack(instance: &Instance, long: &[u32], seed: u64, budget: &mut Budget) -> Result<Layout, Stop> {
    let buffers = long.iter().map(|&id| instance.buffer(BufferId::new(id)).clone());
    let own =
        InstanceBuilder::new("long").buffers(buffers).build().expect("a subset of an instance is valid");
    let start = valley_fit(&own, ValleyWeights::default(), budget)?;
    let time = budget.time_share(0.25);
    let mut part = budget.part(Some(PUTS * long.len() as u64), time);
    let bound = simple_bound(&own).value;
    let mut best = start.clone();
    Ejection::new(&own, &start, seed).run(bound, &mut part, |layout, _| best = layout.clone());
    match budget.spend(part.nodes()) {
        Some(stop) => Err(stop),
        None => Ok(best),
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
            let layout =
                long_first(&instance, seed, &mut budget).expect("few buffers hold most of the live steps");
            assert_eq!(check_layout(&instance, &layout), []);
        }
        let plain = Family::named("uniform").unwrap().make(2000, 1).unwrap();
        assert_eq!(long_first(&plain, 1, &mut Budget::unlimited()), None);
    }
}
