//! Instances derived from other instances: with fewer buffers, or with reversed time.

use crate::error::{GenerateError, share};
use plimsoll_model::{BufferId, Instance, InstanceBuilder, Interval, Lifespan, Step};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Keeps each buffer with the given probability, and every constraint between kept buffers. The same
/// instance, probability and seed give the same result. A layout of the original, restricted to the kept
/// buffers, is a layout of the result. O(n log n) for n buffers.
///
/// # Errors
/// [`GenerateError::NoShare`] for a probability outside the range 0 to 1.
///
/// # Panics
/// Never: a part of a valid instance is valid.
pub fn thinned(instance: &Instance, keep_probability: f64, seed: u64) -> Result<Instance, GenerateError> {
    share("keep_probability", keep_probability)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let kept: Vec<BufferId> = instance.ids().filter(|_| rng.random_bool(keep_probability)).collect();
    let name = format!("{}-thinned-{seed}", instance.name());
    let same = |id| instance.buffer(id).lifespan().clone();
    Ok(rebuilt(instance, &kept, name, same).build()?)
}

/// Returns the same problem with reversed time. It has the same layouts. O(n log n) for n buffers.
///
/// # Panics
/// Never: the mirror image of a valid instance is valid.
pub fn reversed(instance: &Instance) -> Instance {
    let end = instance.buffers().iter().map(|b| b.lifespan().hull().upper.get()).max().unwrap_or(0);
    let ids: Vec<BufferId> = instance.ids().collect();
    let mirrored = |step: Step| end - step.get();
    let backwards = |id| {
        let lifespan = instance.buffer(id).lifespan();
        if lifespan.is_empty() {
            return Lifespan::empty_at(mirrored(lifespan.hull().lower));
        }
        let parts = lifespan.intervals().iter();
        let parts = parts.map(|part| Interval::new(mirrored(part.upper), mirrored(part.lower)));
        Lifespan::from_intervals(parts).expect("mirrored parts stay apart")
    };
    let name = format!("{}-reversed", instance.name());
    rebuilt(instance, &ids, name, backwards).build().expect("taken from a valid instance")
}

/// Returns a builder with the buffers `kept` (in ascending order), all constraints between them, and the
/// capacity. Kept members of a rigid group keep their distances, even if the members between them are
/// removed. `change` returns the new lifespan of a buffer.
pub(crate) fn rebuilt(
    instance: &Instance,
    kept: &[BufferId],
    name: String,
    change: impl Fn(BufferId) -> Lifespan,
) -> InstanceBuilder {
    let buffers = kept.iter().map(|&id| instance.buffer(id).clone().during(change(id)));
    let mut builder = InstanceBuilder::new(name).buffers(buffers).capacity(instance.capacity());
    let place = |id: BufferId| kept.binary_search(&id).ok();
    for (a, b) in instance.separations().iter() {
        if let (Some(a), Some(b)) = (place(a), place(b)) {
            builder = builder.separate(a, b);
        }
    }
    for (a, b) in instance.exclusions().iter() {
        if let (Some(a), Some(b)) = (place(a), place(b)) {
            builder = builder.exclude(a, b);
        }
    }
    for group in instance.groups().all() {
        let members: Vec<(usize, u64)> =
            group.members().iter().filter_map(|&(id, low)| Some((place(id)?, low.get()))).collect();
        for pair in members.windows(2) {
            builder = builder.above(pair[1].0, pair[0].0, pair[1].1 - pair[0].1);
        }
    }
    builder
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SmallParams, small_instance};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn thinning_keeps_conflicts(buffers in 0usize..12, mask in 0u64..16, groups: bool, seed: u64, keep in 0.0..=1.0f64) {
            let whole = small_instance(SmallParams { groups, ..SmallParams::with_features(buffers, mask) }, seed);
            let part = thinned(&whole, keep, seed).unwrap();
            let origin: Vec<BufferId> = part
                .buffers()
                .iter()
                .map(|b| whole.ids().find(|&id| whole.buffer(id) == b).unwrap())
                .collect();
            for a in part.ids() {
                for b in part.ids() {
                    let before = whole.conflict(origin[a.index()], origin[b.index()]);
                    prop_assert_eq!(part.conflict(a, b), before);
                    let before = whole.distance(origin[a.index()], origin[b.index()]);
                    prop_assert!(a == b || part.distance(a, b) == before);
                }
            }
        }

        #[test]
        fn reversing_keeps_conflicts_and_undoes_itself(buffers in 0usize..12, mask in 0u64..16, seed: u64) {
            let t = small_instance(SmallParams::with_features(buffers, mask), seed);
            let back = reversed(&t);
            for a in t.ids() {
                for b in t.ids() {
                    prop_assert_eq!(t.conflict(a, b), back.conflict(a, b));
                }
            }
            // Reversing drops the steps before the first buffer.
            let first = t.buffers().iter().map(|b| b.lifespan().hull().lower.get()).min();
            let twice = reversed(&back);
            if first == Some(0) {
                prop_assert_eq!(twice.buffers(), t.buffers());
            }
        }
    }

    #[test]
    fn extremes() {
        let t = small_instance(SmallParams::with_features(9, 15), 4);
        assert_eq!(thinned(&t, 1.0, 1).unwrap().buffers(), t.buffers());
        assert!(thinned(&t, 0.0, 1).unwrap().is_empty());
        assert_eq!(
            thinned(&t, -0.5, 1).unwrap_err().to_string(),
            "keep_probability is -0.5, but must lie between 0 and 1"
        );
    }
}
