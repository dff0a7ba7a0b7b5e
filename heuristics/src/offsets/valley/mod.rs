//! Valley fit, which fills the valleys of the skyline. It places a million buffers in seconds.
//!
//! **Definition.** The *skyline* is the upper edge of the placed buffers over time. A *valley* is a segment
//! of it that is lower than both neighbours. The candidates for a valley are the longest unplaced buffers
//! whose lifespans lie within it. Durations are compared by their binary logarithms (see [`candidates`]). The
//! candidate with the highest score is placed on the floor of the valley. If no buffer fits, the valley is
//! raised to its lower wall, and the space below stays empty. The search continues at a nearby valley instead
//! of the lowest one, which improves locality.
//!
//! ```text
//! bytes        ┌──┐                the valley is between p and q; a fits and is placed,
//!    ┌────┐    │  │                but b extends beyond it and is placed later
//!    │ p  │ aa │q │
//!    │    │____│  │    b: ──────
//!    └────┴────┴──┴─▶ steps
//! ```
//!
//! The score is `duration * size^s * heat^h`, where heat is the maximum of the live bytes during the lifespan
//! (see [`Heat`]). By default, s is 0.5 and h is 0 (see [`ValleyWeights`]).
//!
//! **Invariants.** The layout is valid. A buffer with gaps counts as live throughout its hull, and the
//! buffers of excluded pairs count as conflicting. The skyline starts at the upper edge of the fixed buffers.
//! Separated buffers are placed last, each into its lowest gap.
//!
//! **Complexity.** For n buffers, the preparation takes O(n log n) time. Placing a buffer or raising a valley
//! usually takes O(log n) time. The memory is O(n).
//!
//! **Source.** This project. The idea of valleys is from Burke, Kendall, Whitwell: A new placement heuristic
//! for the orthogonal stock-cutting problem, 2004. In the original problem, pieces may also move
//! horizontally.

mod candidates;
mod skyline;

use crate::offsets::buffer_orders::log2;
use crate::offsets::gaps::first_fit;
use crate::offsets::heat::Heat;
use crate::ranks::Ranks;
use candidates::Candidates;
use plimsoll_model::{Budget, BufferId, Bytes, Instance, Layout, Stop};
pub(crate) use skyline::{Skyline, envelope};

/// The exponents in the score of buffers for a valley. The exponent of the duration is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValleyWeights {
    /// Exponent of the size.
    pub size: f64,
    /// Exponent of the maximum of the live bytes during the lifespan.
    pub heat: f64,
}

impl Default for ValleyWeights {
    fn default() -> Self {
        Self { size: 0.5, heat: 0.0 }
    }
}

/// Computes a layout by valley fit. A node is one placed buffer.
///
/// # Errors
/// The termination reason if the budget is exhausted before all buffers are placed.
pub fn valley_fit(instance: &Instance, weights: ValleyWeights, budget: &mut Budget) -> Result<Layout, Stop> {
    if let (Some(stop), false) = (budget.check(), instance.is_empty()) {
        return Err(stop);
    }
    let ranks = Ranks::of(instance);
    let scores = scores(instance, weights);
    // For a million buffers, each of these steps takes a few tenths of a second.
    if let (Some(stop), false) = (budget.check(), instance.is_empty()) {
        return Err(stop);
    }
    let top = |id: u32, offset: u64| offset + instance.buffer(BufferId::new(id)).size().get();
    let fixed: Vec<(u32, u64)> =
        instance.ids().filter_map(|id| Some((id.get(), instance.buffer(id).fixed()?.get()))).collect();
    let tops: Vec<u64> = fixed.iter().map(|&(id, offset)| top(id, offset)).collect();
    let ids: Vec<u32> = fixed.iter().map(|&(id, _)| id).collect();
    let skyline = Skyline::over(&envelope(&ranks, &ids, &tops));
    let separated = separated(instance, &scores);
    let placed: Vec<(u32, u64)> = fixed.into_iter().chain(separated.iter().map(|&id| (id, 0))).collect();
    let layout = fill(instance, &ranks, &scores, skyline, &placed, budget)?;
    if separated.is_empty() { Ok(layout) } else { first_fit(instance, &ranks, &layout, &separated, budget) }
}

/// Returns the separated buffers without a fixed offset, in descending order of score.
fn separated(instance: &Instance, scores: &[f32]) -> Vec<u32> {
    if instance.separations().is_empty() {
        return Vec::new();
    }
    let movable =
        |id: &BufferId| !instance.separations().of(*id).is_empty() && instance.buffer(*id).fixed().is_none();
    let mut ids: Vec<u32> = instance.ids().filter(movable).map(BufferId::get).collect();
    ids.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]).then(a.cmp(&b)));
    ids
}

/// Returns the logarithm of the score of every buffer.
pub(crate) fn scores(instance: &Instance, weights: ValleyWeights) -> Vec<f32> {
    let heat = (weights.heat != 0.0).then(|| Heat::of(instance));
    let score = |buffer: &plimsoll_model::Buffer| {
        let lifespan = buffer.lifespan();
        let hot = heat.as_ref().map_or(0.0, |heat| weights.heat * log2(heat.during(lifespan).load.get()));
        (hot + weights.size * log2(buffer.size().get()) + log2(lifespan.hull().duration())) as f32
    };
    instance.buffers().iter().map(score).collect()
}

/// Fills the valleys of a skyline with all buffers except those in `placed`, which keep the given offsets.
pub(crate) fn fill(
    instance: &Instance,
    ranks: &Ranks,
    scores: &[f32],
    mut skyline: Skyline,
    placed: &[(u32, u64)],
    budget: &mut Budget,
) -> Result<Layout, Stop> {
    let mut candidates = Candidates::new(ranks, scores);
    let mut offsets = vec![Bytes::ZERO; instance.len()];
    for &(id, offset) in placed {
        candidates.remove(ranks, id);
        offsets[id as usize] = Bytes::new(offset);
    }
    let mut watch = budget.without_node_limit();
    let (mut left, mut at) = (instance.len() - placed.len(), 0);
    while left > 0 {
        let valley = skyline.descend(at);
        let Some(id) = candidates.best(valley.lower, valley.upper) else {
            if let Some(stop) = watch.tick() {
                return Err(stop);
            }
            at = skyline.raise(valley).expect("an unplaced buffer fits within the borders");
            continue;
        };
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        candidates.remove(ranks, id);
        let buffer = instance.buffer(BufferId::new(id));
        let offset = valley.floor.next_multiple_of(buffer.alignment().get());
        offsets[id as usize] = Bytes::new(offset);
        let (lower, upper) = (ranks.lower[id as usize], ranks.upper[id as usize]);
        at = skyline.place(valley, lower, upper, offset + buffer.size().get());
        left -= 1;
    }
    Ok(Layout::new(offsets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{IntervalParams, LifeLaw, SmallParams, random_intervals, small_instance};
    use plimsoll_model::check_layout;

    #[test]
    fn layouts_are_valid_for_all_features() {
        for seed in 0..400 {
            let instance = small_instance(SmallParams::with_features(14, seed % 16), seed);
            for heat in [0.0, 4.0] {
                let weights = ValleyWeights { heat, ..ValleyWeights::default() };
                let layout = valley_fit(&instance, weights, &mut Budget::unlimited()).unwrap();
                assert_eq!(check_layout(&instance, &layout), [], "seed {seed}");
            }
        }
    }

    #[test]
    fn large_layouts_are_valid_and_low() {
        for disorder in [0.0, 0.1, 1.0] {
            let lives = LifeLaw::Stack { disorder };
            let params = IntervalParams { lives, ..IntervalParams::with_buffers(3000) };
            let instance = random_intervals(params, 1).unwrap();
            let layout = valley_fit(&instance, ValleyWeights::default(), &mut Budget::unlimited()).unwrap();
            assert_eq!(check_layout(&instance, &layout), []);
            let (load, peak) = (plimsoll_model::load(&instance).0.get(), layout.peak(&instance).get());
            assert!(peak as f64 <= 1.2 * load as f64, "{disorder}: {peak} over {load}");
        }
    }
}
