//! Sweeps over time to find conflicting buffers that share addresses.
//!
//! The addresses in use at the current step are kept in *layers*. Each layer is a set of disjoint ranges in
//! ascending order. When an interval of a buffer begins, the ranges of the buffer are checked for overlaps
//! with the ranges in every layer. Each range of the buffer then enters the first layer in which it overlaps
//! no other range, and leaves that layer when the interval ends. A valid layout without exclusions needs
//! only one layer. A buffer with gaps enters and leaves several times. Separated pairs are few and are
//! compared one by one.
//!
//! Unless the limit on the number of pairs is reached, the result and its order are the same as if all pairs
//! were compared. A test checks this. O(l (k + p) log n) for l layers and n buffers, with k intervals in
//! total and p pairs that overlap or are separated.

use super::conflict::conflict;
use crate::instance::Instance;
use crate::units::{BufferId, Step};
use std::collections::{BTreeMap, BTreeSet};

/// A set of disjoint address ranges in use. It maps the start of each range to its end and the id of its
/// buffer.
type Layer = BTreeMap<u64, (u64, u32)>;

/// Returns at most `limit` conflicting pairs whose address ranges overlap. The pairs are in ascending order,
/// each with the smaller id first.
///
/// `ranges` contains the start and the end of every range of every buffer.
pub(super) fn overlaps<R: AsRef<[(u64, u64)]>>(
    instance: &Instance,
    ranges: &[R],
    limit: usize,
) -> Vec<(u32, u32)> {
    let mut found = BTreeSet::new();
    for (a, b) in instance.separations().iter() {
        if found.len() < limit && overlap(ranges, a.get(), b.get()) && conflict(instance, a, b) {
            found.insert((a.get(), b.get()));
        }
    }
    let mut layers: Vec<Layer> = Vec::new();
    for (_, begins, id) in events(instance, ranges) {
        if begins {
            enter(instance, ranges, &mut layers, id, &mut found, limit);
        } else {
            leave(ranges, &mut layers, id);
        }
        if found.len() >= limit {
            break;
        }
    }
    found.into_iter().collect()
}

fn overlap<R: AsRef<[(u64, u64)]>>(ranges: &[R], a: u32, b: u32) -> bool {
    let (a, b) = (ranges[a as usize].as_ref(), ranges[b as usize].as_ref());
    a.iter().any(|a| b.iter().any(|b| a.0.max(b.0) < a.1.min(b.1)))
}

/// Returns the starts and ends of all lifespan intervals in ascending order, without buffers that occupy no
/// address. At the same step, ends come first, because intervals are half-open.
fn events<R: AsRef<[(u64, u64)]>>(instance: &Instance, ranges: &[R]) -> Vec<(Step, bool, u32)> {
    let mut events = Vec::with_capacity(2 * instance.len());
    for (id, buffer) in instance.ids().zip(instance.buffers()) {
        if ranges[id.index()].as_ref().iter().any(|(start, end)| start < end) {
            for part in buffer.lifespan().intervals() {
                events.push((part.lower, true, id.get()));
                events.push((part.upper, false, id.get()));
            }
        }
    }
    events.sort_unstable();
    events
}

/// Compares a buffer with all live buffers, then adds it to the layers.
fn enter<R: AsRef<[(u64, u64)]>>(
    instance: &Instance,
    ranges: &[R],
    layers: &mut Vec<Layer>,
    id: u32,
    found: &mut BTreeSet<(u32, u32)>,
    limit: usize,
) {
    for &(start, end) in ranges[id as usize].as_ref().iter().filter(|(start, end)| start < end) {
        if !enter_range(instance, layers, (start, end, id), found, limit) {
            return;
        }
    }
}

/// Records the conflicting buffers that overlap one range of a buffer, then adds the range to a layer. The
/// ranges of one buffer may overlap. Returns false once the limit is reached.
fn enter_range(
    instance: &Instance,
    layers: &mut Vec<Layer>,
    (start, end, id): (u64, u64, u32),
    found: &mut BTreeSet<(u32, u32)>,
    limit: usize,
) -> bool {
    let mut home = None;
    for (at, layer) in layers.iter().enumerate() {
        let mut free = true;
        // Disjoint ranges in ascending order of start are also in ascending order of end.
        for (_, &(_, other)) in layer.range(..end).rev().take_while(|&(_, &(to, _))| to > start) {
            free = false;
            if other == id {
                continue;
            }
            let pair = (id.min(other), id.max(other));
            let (a, b) = (BufferId::new(pair.0), BufferId::new(pair.1));
            if conflict(instance, a, b) {
                found.insert(pair);
                if found.len() >= limit {
                    return false;
                }
            }
        }
        if free && home.is_none() {
            home = Some(at);
        }
    }
    let home = home.unwrap_or_else(|| {
        layers.push(Layer::new());
        layers.len() - 1
    });
    layers[home].insert(start, (end, id));
    true
}

fn leave<R: AsRef<[(u64, u64)]>>(ranges: &[R], layers: &mut Vec<Layer>, id: u32) {
    for &(start, _) in ranges[id as usize].as_ref().iter().filter(|(start, end)| start < end) {
        for layer in layers.iter_mut() {
            if layer.get(&start).is_some_and(|&(_, owner)| owner == id) {
                layer.remove(&start);
                break;
            }
        }
    }
    while layers.last().is_some_and(Layer::is_empty) {
        layers.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Buffer, InstanceBuilder};
    use crate::lifespan::{Interval, Lifespan};
    use proptest::prelude::*;

    fn pairs(instance: &Instance, ranges: &[Vec<(u64, u64)>]) -> Vec<(u32, u32)> {
        let ids = 0..instance.len() as u32;
        let all = ids.clone().flat_map(|a| ids.clone().map(move |b| (a, b)));
        all.filter(|&(a, b)| a < b && overlap(ranges, a, b))
            .filter(|&(a, b)| conflict(instance, BufferId::new(a), BufferId::new(b)))
            .collect()
    }

    type Raw = (u64, Vec<(u64, u64)>, Vec<u64>);

    /// Generates random buffers with up to three intervals and three ranges each, and random pairs of these
    /// buffers.
    fn raw() -> impl Strategy<Value = (Vec<Raw>, Vec<(usize, usize, bool)>)> {
        let intervals = prop::collection::vec((0u64..30, 1u64..6), 1..4);
        (
            prop::collection::vec((1u64..12, intervals, prop::collection::vec(0u64..60, 1..4)), 0..24),
            prop::collection::vec((0usize..24, 0usize..24, any::<bool>()), 0..40),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_sweep_agrees_with_the_comparison_of_all_pairs((buffers, listed) in raw()) {
            let mut builder = InstanceBuilder::new("t");
            let mut ranges = Vec::new();
            for (at, (size, parts, offsets)) in buffers.iter().enumerate() {
                let mut from = 0;
                let parts = parts.iter().map(|&(gap, duration)| {
                    let part = Interval::new(from + gap, from + gap + duration);
                    from = part.upper.get() + 1;
                    part
                });
                let lifespan = Lifespan::from_intervals(parts).unwrap();
                builder = builder.buffer(Buffer::new(at.to_string(), *size, lifespan));
                ranges.push(offsets.iter().map(|offset| (*offset, offset + size)).collect::<Vec<_>>());
            }
            let mut taken = BTreeSet::new();
            for (a, b, separate) in listed {
                if a < b && b < buffers.len() && taken.insert((a, b)) {
                    builder = if separate { builder.separate(a, b) } else { builder.exclude(a, b) };
                }
            }
            let instance = builder.build().unwrap();
            let expected = pairs(&instance, &ranges);
            prop_assert_eq!(overlaps(&instance, &ranges, usize::MAX), expected.clone());
            let some = overlaps(&instance, &ranges, 3);
            prop_assert_eq!(some.len(), expected.len().min(3));
            prop_assert!(some.iter().all(|pair| expected.contains(pair)));
        }
    }
}
