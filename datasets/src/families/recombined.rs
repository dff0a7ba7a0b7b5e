//! Instances whose live bytes are the same at all steps. They are not derived from a packing, so a layout at
//! the load may not exist.

use crate::error::GenerateError;
use crate::family::Params;
use crate::rows::{Generated, PlainBuffer};
use plimsoll_model::Bytes;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;

/// The sizes of the first buffers, in units.
const SIZES: std::ops::RangeInclusive<u64> = 3..=17;

/// Generates an instance that starts with `alive` buffers of 3 to 17 units. Between two steps, every live
/// buffer continues with a probability of `continue` percent. The bytes of those that end are divided at
/// random among new buffers: as many as ended, one more, or one fewer, but at least one.
///
/// The live bytes are the same at every step. O(n log n) for n buffers.
pub(super) fn recombined(params: &Params, seed: u64) -> Result<Generated, GenerateError> {
    let (alive, steps) = (params.at_least("alive", 1)?, params.at_least("steps", 1)?);
    let (share, unit) = (params.percent("continue")?, params.at_least("unit", 1)?);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut live: Vec<(u64, u64)> = (0..alive).map(|_| (0, rng.random_range(SIZES))).collect();
    let units: u64 = live.iter().map(|&(_, size)| size).sum();
    let mut rows = Vec::new();
    for step in 1..steps {
        let (kept, ended): (Vec<_>, Vec<_>) =
            live.into_iter().partition(|_| rng.random_range(0..100) < share);
        rows.extend(ended.iter().map(|&(lower, size)| PlainBuffer { lower, upper: step, size: size * unit }));
        live = kept;
        if !ended.is_empty() {
            let count = ended.len() as u64 + rng.random_range(0..=2) - 1;
            let total = ended.iter().map(|&(_, size)| size).sum();
            live.extend(cut(total, count, &mut rng).into_iter().map(|size| (step, size)));
        }
    }
    rows.extend(live.into_iter().map(|(lower, size)| PlainBuffer { lower, upper: steps, size: size * unit }));
    rows.sort_by_key(|row| (row.lower, row.upper));
    Ok(Generated { at_least: Some(Bytes::new(units * unit)), ..Generated::plain(rows.into_iter()) })
}

/// Cuts `total` >= 1 units into `count` parts, where `count` is clamped to the range from 1 to `total`. All
/// divisions into nonempty parts are equally likely.
fn cut(total: u64, count: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<u64> {
    let mut ends = BTreeSet::from([total]);
    while (ends.len() as u64) < count.clamp(1, total) {
        ends.insert(rng.random_range(1..=total));
    }
    let mut from = 0;
    ends.into_iter().map(|end| end - std::mem::replace(&mut from, end)).collect()
}
