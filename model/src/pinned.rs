//! Finds contradictory fixed offsets by a sweep over time.
//!
//! The fixed ranges that are in use at the current step are kept in *layers* of disjoint ranges. A layout
//! with consistent fixed offsets needs one layer, or several if excluded buffers share addresses.

use crate::lifespan::Interval;
use crate::units::{BufferId, Step};
use std::collections::BTreeMap;

/// Maximum number of contradictory pairs that are collected before the first one is chosen.
const MOST: usize = 1_000;

/// A buffer of non-zero size with a fixed offset, and the steps at which it is live.
pub(crate) struct Pinned<'a> {
    pub start: u64,
    pub end: u64,
    pub id: BufferId,
    pub live: &'a [Interval],
}

/// Finds two buffers that conflict and overlap. `pinned` must be in ascending order of start and id.
/// `separated` lists pairs of positions that may conflict although they are never live together. Among at
/// most [`MOST`] such pairs, the one whose lower buffer comes first is returned.
///
/// O(l (k + p) log n) for n buffers with k intervals in total, p overlapping pairs, and l layers.
pub(crate) fn contradiction(
    pinned: &[Pinned<'_>],
    separated: impl Iterator<Item = (usize, usize)>,
    conflict: impl Fn(BufferId, BufferId) -> bool,
) -> Option<[BufferId; 2]> {
    let wrong = |a: usize, b: usize| {
        let (x, y) = (&pinned[a], &pinned[b]);
        x.start < y.end && y.start < x.end && conflict(x.id, y.id)
    };
    let mut found: Vec<(usize, usize)> =
        separated.filter(|&(a, b)| wrong(a, b)).map(|(a, b)| (a.min(b), a.max(b))).take(MOST).collect();
    let mut events: Vec<(Step, bool, usize)> = Vec::with_capacity(2 * pinned.len());
    for (at, one) in pinned.iter().enumerate() {
        for part in one.live {
            events.push((part.lower, true, at));
            events.push((part.upper, false, at));
        }
    }
    events.sort_unstable();
    // Each layer maps the start of a range to its end and its position.
    let mut layers: Vec<BTreeMap<u64, (u64, usize)>> = Vec::new();
    for (_, begins, at) in events {
        let (start, end) = (pinned[at].start, pinned[at].end);
        if !begins {
            let own =
                |layer: &&mut BTreeMap<_, (u64, usize)>| layer.get(&start).is_some_and(|one| one.1 == at);
            if let Some(layer) = layers.iter_mut().find(own) {
                layer.remove(&start);
            }
            continue;
        }
        let mut home = None;
        for (number, layer) in layers.iter().enumerate() {
            let mut others = layer.range(..end).rev().take_while(|&(_, &(to, _))| to > start).peekable();
            if others.peek().is_none() {
                home = home.or(Some(number));
            }
            found.extend(
                others.map(|(_, &(_, other))| (at.min(other), at.max(other))).filter(|&(a, b)| wrong(a, b)),
            );
        }
        if found.len() >= MOST {
            break;
        }
        let home = home.unwrap_or_else(|| {
            layers.push(BTreeMap::new());
            layers.len() - 1
        });
        layers[home].insert(start, (end, at));
    }
    let (a, b) = found.into_iter().min()?;
    let (a, b) = (pinned[a].id, pinned[b].id);
    Some([a.min(b), a.max(b)])
}

#[cfg(test)]
mod tests {
    use crate::instance::{Buffer, InstanceBuilder};
    use crate::lifespan::{Interval, Lifespan};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_sweep_agrees_with_the_comparison_of_all_pairs(
            rows in prop::collection::vec((0u64..40, 0u64..5, 0u64..20, 1u64..6, 0u64..4, any::<bool>()), 0..14),
            listed in prop::collection::vec((0usize..14, 0usize..14, any::<bool>()), 0..12),
        ) {
            let mut builder = InstanceBuilder::new("t");
            for (at, &(offset, size, lower, length, gap, fixed)) in rows.iter().enumerate() {
                let mut parts = vec![Interval::new(lower, lower + length)];
                if gap > 0 {
                    let again = lower + length + gap;
                    parts.push(Interval::new(again, again + length));
                }
                let buffer = Buffer::new(at.to_string(), size, Lifespan::from_intervals(parts).unwrap());
                builder = builder.buffer(if fixed { buffer.fixed_at(offset) } else { buffer });
            }
            let mut taken = std::collections::BTreeSet::new();
            for (a, b, separate) in listed {
                if a < b && b < rows.len() && taken.insert((a, b)) {
                    builder = if separate { builder.separate(a, b) } else { builder.exclude(a, b) };
                }
            }
            let instance = builder.build().unwrap();
            let mut pairs = Vec::new();
            for (a, x) in instance.ids().zip(instance.buffers()) {
                for (b, y) in instance.ids().zip(instance.buffers()) {
                    let (Some(low), Some(high)) = (x.fixed(), y.fixed()) else { continue };
                    let overlap = low.get() < high.get() + y.size().get() && high.get() < low.get() + x.size().get();
                    if (low, a) < (high, b) && overlap && instance.conflict(a, b) {
                        pairs.push(((low, a), (high, b)));
                    }
                }
            }
            let first = pairs.into_iter().min().map(|((_, a), (_, b))| [a.min(b), a.max(b)]);
            prop_assert_eq!(instance.contradiction, first);
        }
    }
}
