//! Derives instances from given ones without changing the load: either the slack below the load is filled
//! with further buffers, or buffers are joined end to end.

use crate::derive::rebuilt;
use crate::error::{GenerateError, at_least};
use plimsoll_model::{Buffer, BufferId, Instance, Lifespan, LoadProfile};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;

/// The percentage of the steps at which less than one unit must be free for filling to end.
pub const FULL_PERCENT: u64 = 99;

/// Keeps all buffers and fills the slack below the load with further buffers. Their durations and sizes are
/// drawn from those of the instance and cut to the slack. Their sizes are multiples of `unit` bytes; the
/// default unit is the [grain](Instance::grain). Filling ends once less than one unit is free at 99 % of
/// the steps between the first and the last.
///
/// The load does not change. The capacity is dropped, since a layout within it need not exist. The same
/// instance, unit and seed give the same result. O(m (m + s)) for m new buffers and s intervals with constant
/// live bytes. If the instance has n buffers, each new buffer after the first 10 n completely fills the slack
/// at one step or more. Therefore, m is at most 10 n plus the number of steps.
///
/// # Errors
/// [`GenerateError`] for a unit of 0, or if the sizes exceed the address space.
///
/// # Panics
/// Never: every new buffer is live at the step that was drawn.
pub fn refilled(instance: &Instance, unit: Option<u64>, seed: u64) -> Result<Instance, GenerateError> {
    let unit = unit.unwrap_or(instance.grain().get());
    at_least("unit", unit, 1)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let shapes: Vec<(u64, u64)> = instance
        .buffers()
        .iter()
        .filter(|b| !b.is_empty() && b.size().get() > 0)
        .map(|b| (b.lifespan().duration(), b.size().get()))
        .collect();
    let mut slack = Slack::below_load(instance, unit);
    let ids: Vec<BufferId> = instance.ids().collect();
    let name = format!("{}-refilled-{seed}", instance.name());
    let mut builder = rebuilt(instance, &ids, name, |id| instance.buffer(id).lifespan().clone());
    let mut prefix = "fill".to_owned();
    while instance.buffers().iter().any(|b| b.name().starts_with(&prefix)) {
        prefix.push('-');
    }
    for draw in 0.. {
        let Some(step) = slack.open_step(&mut rng) else { break };
        let free = slack.at(step);
        let (Some(&(duration, _)), Some(&(_, size))) = (shapes.choose(&mut rng), shapes.choose(&mut rng))
        else {
            break;
        };
        let drawn = if draw < 10 * shapes.len() { (size / unit).max(1) * unit } else { free };
        let size = drawn.min(free);
        let (least, most) = slack.run(step, size);
        let lower = step.saturating_sub(rng.random_range(0..duration)).max(least);
        let upper = lower.saturating_add(duration).min(most);
        slack.take(lower, upper, size);
        let lifespan = Lifespan::single(lower, upper).expect("the interval contains the step");
        builder = builder.buffer(Buffer::new(format!("{prefix}{draw}"), size, lifespan));
    }
    Ok(builder.capacity(None).build()?)
}

/// The free bytes below the load over time, in whole units.
struct Slack {
    /// The free bytes from each key, which is a step, up to the next key. The last key is the end of all
    /// lifespans.
    free: BTreeMap<u64, u64>,
    unit: u64,
}

impl Slack {
    fn below_load(instance: &Instance, unit: u64) -> Self {
        let profile = LoadProfile::of(instance);
        let load = profile.peak().0.get();
        let mut free = BTreeMap::new();
        let whole = |free: u64| free / unit * unit;
        for &(interval, bytes) in profile.pieces() {
            free.insert(interval.lower.get(), whole(load - bytes.get()));
            // A later piece that begins here overwrites the entry; otherwise no buffer is live here.
            free.insert(interval.upper.get(), whole(load));
        }
        Self { free, unit }
    }

    /// Returns the intervals of constant slack: first step, end, free bytes.
    fn intervals(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let ends = self.free.keys().skip(1);
        self.free.iter().zip(ends).map(|((&lower, &free), &upper)| (lower, upper, free))
    }

    /// Returns a random step with a free unit, or `None` if at least [`FULL_PERCENT`] percent of the steps
    /// have no free unit.
    fn open_step(&self, rng: &mut Xoshiro256PlusPlus) -> Option<u64> {
        let open = || self.intervals().filter(|&(.., free)| free >= self.unit);
        let count: u64 = open().map(|(lower, upper, _)| upper - lower).sum();
        let all: u64 = self.intervals().map(|(lower, upper, _)| upper - lower).sum();
        if u128::from(count) * 100 <= u128::from(all) * u128::from(100 - FULL_PERCENT) {
            return None;
        }
        let mut at = rng.random_range(0..count);
        for (lower, upper, _) in open() {
            if at < upper - lower {
                return Some(lower + at);
            }
            at -= upper - lower;
        }
        None
    }

    fn at(&self, step: u64) -> u64 {
        self.free.range(..=step).next_back().map_or(0, |(_, &free)| free)
    }

    /// Returns the longest interval around `step` in which `size` bytes are free.
    fn run(&self, step: u64, size: u64) -> (u64, u64) {
        let (mut least, mut most) = (None, step);
        for (lower, upper, free) in self.intervals() {
            if free < size && upper <= step {
                least = None;
            } else if free >= size {
                least = least.or(Some(lower));
                most = upper;
            } else if lower > step {
                break;
            }
        }
        (least.unwrap_or(step), most)
    }

    fn take(&mut self, lower: u64, upper: u64, size: u64) {
        for step in [lower, upper] {
            let free = self.at(step);
            self.free.insert(step, free);
        }
        for (_, free) in self.free.range_mut(lower..upper) {
            *free -= size;
        }
    }
}

/// Joins buffers end to end: if a buffer ends at the step at which another of the same size and alignment
/// begins, one buffer replaces both. A chain of such buffers becomes one buffer. If there are several
/// candidates, the seed decides. Buffers with a fixed offset, a separation, an exclusion or a rigid group are
/// kept as they are.
///
/// The load does not change. The optimum cannot be smaller than before. Every layout of the result becomes a
/// layout of the original if all parts of a joined buffer get its offset. The capacity is dropped, since a
/// layout within it need not exist. O(n log n) for n buffers.
///
/// # Panics
/// Never: joining adjacent lifespans gives a valid instance.
pub fn welded(instance: &Instance, seed: u64) -> Instance {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let is_free = |id: BufferId| {
        let b = instance.buffer(id);
        let pairs = [instance.separations(), instance.exclusions()];
        let is_free = b.fixed().is_none() && instance.groups().of(id).is_none();
        is_free && !b.is_empty() && pairs.iter().all(|pairs| pairs.of(id).is_empty())
    };
    let mut order: Vec<BufferId> = instance.ids().filter(|&id| is_free(id)).collect();
    order.shuffle(&mut rng);
    order.sort_by_key(|&id| instance.buffer(id).lifespan().hull().lower);
    // The last members of chains, by the step at which they end, size and alignment.
    let mut open: BTreeMap<_, Vec<BufferId>> = BTreeMap::new();
    let mut head: Vec<BufferId> = instance.ids().collect();
    for id in order {
        let b = instance.buffer(id);
        let hull = b.lifespan().hull();
        let key = |step| (step, b.size(), b.alignment());
        if let Some(before) = open.get_mut(&key(hull.lower)).and_then(Vec::pop) {
            head[id.index()] = head[before.index()];
        }
        open.entry(key(hull.upper)).or_default().push(id);
    }
    let mut parts: BTreeMap<BufferId, Vec<BufferId>> = BTreeMap::new();
    for id in instance.ids() {
        parts.entry(head[id.index()]).or_default().push(id);
    }
    let kept: Vec<BufferId> = parts.keys().copied().collect();
    let name = format!("{}-welded-{seed}", instance.name());
    let whole = |id| {
        let parts = parts[&id].iter().flat_map(|&part| instance.buffer(part).lifespan().intervals());
        let empty = instance.buffer(id).lifespan();
        Lifespan::from_intervals(parts.copied()).unwrap_or_else(|_| empty.clone())
    };
    let builder = rebuilt(instance, &kept, name, whole).capacity(None);
    builder.build().expect("joined lifespans do not overlap")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SmallParams, small_instance};
    use plimsoll_model::load;
    use plimsoll_model::{InstanceBuilder, Interval};
    use proptest::prelude::*;

    /// Returns the sum of the live bytes over all steps.
    fn area(instance: &Instance) -> u128 {
        LoadProfile::of(instance)
            .pieces()
            .iter()
            .map(|&(interval, bytes)| u128::from(interval.duration()) * u128::from(bytes.get()))
            .sum()
    }

    proptest! {
        #[test]
        fn filling_keeps_buffers_and_load(buffers in 0usize..12, mask in 0u64..16, seed: u64, unit in 1u64..5) {
            let origin = small_instance(SmallParams::with_features(buffers, mask), seed);
            let full = refilled(&origin, Some(unit), seed).unwrap();
            prop_assert_eq!(&full, &refilled(&origin, Some(unit), seed).unwrap());
            prop_assert_eq!(&full.buffers()[..buffers], origin.buffers());
            prop_assert_eq!(load(&full).0, load(&origin).0);
            let (mut open, mut all) = (0, 0);
            let pieces = LoadProfile::of(&full);
            for &(interval, bytes) in pieces.pieces() {
                let is_open = load(&full).0.get() - bytes.get() >= unit;
                open += if is_open { interval.duration() } else { 0 };
                all += interval.duration();
            }
            prop_assert!(open * 100 <= all);
            prop_assert!(full.buffers()[buffers..].iter().all(|b| b.size().get().is_multiple_of(unit)));
        }

        #[test]
        fn welding_keeps_the_load_at_every_step(buffers in 0usize..12, mask in 0u64..16, seed: u64) {
            let origin = small_instance(SmallParams::with_features(buffers, mask), seed);
            let joined = welded(&origin, seed);
            prop_assert_eq!(&joined, &welded(&origin, seed));
            prop_assert_eq!(LoadProfile::of(&joined), LoadProfile::of(&origin));
            prop_assert_eq!(area(&joined), area(&origin));
            prop_assert!(joined.len() <= origin.len());
        }
    }

    fn plain(rows: &[(u64, u64, u64)]) -> Instance {
        let buffers = rows.iter().enumerate().map(|(at, &(lower, upper, size))| {
            Buffer::new(format!("b{at}"), size, Lifespan::single(lower, upper).unwrap())
        });
        InstanceBuilder::new("plain").buffers(buffers).build().unwrap()
    }

    #[test]
    fn chains_become_one_buffer() {
        let joined = welded(&plain(&[(4, 9, 3), (0, 2, 3), (2, 4, 3), (4, 6, 2), (10, 11, 3)]), 1);
        let lives: Vec<_> = joined.buffers().iter().map(|b| (b.lifespan().hull(), b.size().get())).collect();
        let expected = [(0, 9, 3), (4, 6, 2), (10, 11, 3)];
        let life = |&(lower, upper, size): &(u64, u64, u64)| (Interval::new(lower, upper), size);
        assert_eq!(lives, expected.iter().map(life).collect::<Vec<_>>());
    }

    #[test]
    fn a_unit_of_zero_is_refused_and_names_stay_unique() {
        let origin = plain(&[(0, 9, 8), (3, 5, 4)]);
        assert!(refilled(&origin, Some(0), 1).is_err());
        let twice = refilled(&refilled(&origin, Some(4), 1).unwrap(), Some(1), 2).unwrap();
        assert_eq!(load(&twice).0, load(&origin).0);
    }
}
