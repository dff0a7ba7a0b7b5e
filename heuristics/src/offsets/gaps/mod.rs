//! Uses a time index to find gaps between placed buffers. Memory is linear, and no conflict graph is needed.

mod index;
mod state;

pub(crate) use state::State;

use crate::offsets::placement::Fit;
use crate::ranks::Ranks;
use plimsoll_model::{Budget, Instance, Layout, Stop};
use std::borrow::Cow;

/// Places the buffers of `order` sequentially, each into the lowest gap. All other buffers keep their offsets
/// from `others`.
///
/// Placing one of n buffers takes O(n log n) time in the worst case. Usually, it takes O(m log m) time for m
/// placed buffers that conflict with it.
///
/// # Errors
/// The termination reason if the budget is exhausted before all buffers are placed.
pub(crate) fn first_fit(
    instance: &Instance,
    ranks: &Ranks,
    others: &Layout,
    order: &[u32],
    budget: &mut Budget,
) -> Result<Layout, Stop> {
    let mut state = State::new(instance, Cow::Borrowed(ranks));
    let mut pending = vec![false; instance.len()];
    for &id in order {
        pending[id as usize] = true;
    }
    for (id, offset) in (0u32..).zip(others.offsets()) {
        if !pending[id as usize] && !state.is_fixed(id) {
            state.put(id, offset.get());
        }
    }
    for &id in order {
        if let Some(stop) = budget.tick() {
            return Err(stop);
        }
        state.select(id);
        let offset = state.gap(id, Fit::First, u64::MAX).expect("there is no limit");
        state.put(id, offset);
    }
    let offset = |id: u32| state.offset(id).expect("every buffer is placed");
    Ok(Layout::from_raw((0..instance.len() as u32).map(offset)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};

    #[test]
    fn first_fit_agrees_with_the_placement_engine() {
        for seed in 0..300 {
            let instance = small_instance(SmallParams::with_features(14, seed % 16), seed);
            let order: Vec<_> = instance.ids().collect();
            let movable = order.iter().filter(|&&id| instance.buffer(id).fixed().is_none());
            let raw: Vec<u32> = movable.map(|id| id.get()).collect();
            let (ranks, nothing) = (Ranks::of(&instance), Layout::new(Vec::new()));
            let own = first_fit(&instance, &ranks, &nothing, &raw, &mut Budget::unlimited()).unwrap();
            assert_eq!(Some(own), crate::offsets::place(&instance, &order, Fit::First, None), "seed {seed}");
        }
    }
}
