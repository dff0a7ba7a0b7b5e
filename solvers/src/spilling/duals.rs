//! A lower bound on the cost of a cover from multipliers of its rows.
//!
//! Each row has a dual multiplier `m` of at least 0. For every choice of items that
//! satisfies all rows,
//!
//! ```text
//! cost >= sum of m * excess over all rows + sum of min(0, cost - sum of m * weight) over all items
//! ```
//!
//! The term of an item is its *reduced* cost. It counts if the item is spilled, and is 0 if the item stays,
//! so the bound also applies to partial choices. Subgradient ascent looks for good multipliers in floating
//! point. The bound is then computed in integers, so every bound is valid.
//!
//! **Source.** Lagrangian relaxation (Fisher 1981); in decision diagrams: Bergman, Cire, van Hoeve 2015.

use plimsoll_model::Budget;

/// Number of bits after the binary point of multipliers and reduced costs.
const BITS: u32 = 20;
/// Maximum numbers of iterations, and of row entries visited in all iterations.
const ITERATIONS: usize = 400;
const MOST_VISITS: usize = 1 << 25;
/// Number of iterations without a better bound after which the steps are halved.
const PATIENCE: usize = 12;
/// The steps aim at a bound that is higher than the best one by this factor.
const AHEAD: f64 = 2.0;

/// Reduced costs, as integers with [`BITS`] bits after the binary point.
pub(super) struct Duals {
    /// The bound before any item is decided, without the terms of the items.
    pub base: i128,
    /// Per item: its reduced cost.
    pub reduced: Vec<i128>,
    /// Per item: the sum of the negative reduced costs from this item on.
    tail: Vec<i128>,
}

impl Duals {
    /// Looks for multipliers. Each row is given by its excess and its items with their weights. `least` is a
    /// known bound. O(i e) for i iterations and e row entries.
    pub fn of<'a>(
        costs: &[Option<u64>],
        rows: impl Iterator<Item = (u128, &'a [(usize, u64)])>,
        least: u64,
        watch: &mut Budget,
    ) -> Self {
        let rows: Vec<Priced> = rows.filter_map(|(excess, items)| Priced::of(excess, items)).collect();
        let entries = rows.iter().map(|row| row.items.len()).sum::<usize>().max(1);
        let most = costs.iter().flatten().sum::<u64>() as f64;
        let mut multipliers = vec![0f64; rows.len()];
        let mut best = (f64::NEG_INFINITY, multipliers.clone());
        let (mut scale, mut since) = (1f64, 0);
        for _ in 0..ITERATIONS.min(MOST_VISITS / entries) {
            let (value, gradient) = relaxed(costs, &rows, &multipliers);
            if value > best.0 {
                best = (value, multipliers.clone());
                since = 0;
            } else {
                since += 1;
            }
            let length: f64 = gradient.iter().map(|part| part * part).sum();
            let missing = AHEAD * best.0.max(least as f64) - value;
            if watch.spend(1).is_some() || length < 1e-9 || missing < 0.5 || scale < 1e-3 {
                break;
            }
            if since == PATIENCE {
                (scale, since) = (scale / 2.0, 0);
                multipliers.clone_from(&best.1);
                continue;
            }
            for (multiplier, part) in multipliers.iter_mut().zip(&gradient) {
                *multiplier = (*multiplier + scale * missing / length * part).clamp(0.0, most);
            }
        }
        Self::exact(costs, &rows, &best.1)
    }

    /// Computes the bound of multipliers in integers.
    fn exact(costs: &[Option<u64>], rows: &[Priced], multipliers: &[f64]) -> Self {
        let one = f64::from(1u32 << BITS);
        let whole = |cost: &Option<u64>| i128::from(cost.unwrap_or(0)) << BITS;
        let mut reduced: Vec<i128> = costs.iter().map(whole).collect();
        let mut base = 0;
        for (row, multiplier) in rows.iter().zip(multipliers) {
            // The multiplier of one unit of weight. A multiplier is less than 2^63, so sums do not overflow.
            let unit = (multiplier / row.excess as f64 * one) as i128;
            base += unit * row.excess;
            for &(item, weight) in &row.items {
                reduced[item] -= unit * weight;
            }
        }
        for (reduced, cost) in reduced.iter_mut().zip(costs) {
            // An item that must stay is never spilled.
            *reduced = if cost.is_none() { 0 } else { *reduced };
        }
        let mut tail = vec![0; reduced.len() + 1];
        for at in (0..reduced.len()).rev() {
            tail[at] = tail[at + 1] + reduced[at].min(0);
        }
        Self { base, reduced, tail }
    }

    /// Returns a lower bound on the total cost of all choices in which the reduced costs of the items before
    /// `item` and [`Duals::base`] add up to `sum`.
    pub fn bound(&self, sum: i128, item: usize) -> u64 {
        let all = sum + self.tail[item];
        u64::try_from((all + (1 << BITS) - 1) >> BITS).unwrap_or(0)
    }
}

/// A row in which no weight exceeds the excess: spilling more than the excess is of no use.
struct Priced {
    excess: i128,
    items: Vec<(usize, i128)>,
}

impl Priced {
    fn of(excess: u128, items: &[(usize, u64)]) -> Option<Self> {
        let excess = i128::try_from(excess).ok().filter(|&excess| excess > 0)?;
        let items = items.iter().map(|&(item, weight)| (item, i128::from(weight).min(excess))).collect();
        Some(Self { excess, items })
    }
}

/// Returns the bound of multipliers, and for each row by which share of its excess the cheapest choice of
/// items falls short. Multipliers apply to rows divided by their excess.
fn relaxed(costs: &[Option<u64>], rows: &[Priced], multipliers: &[f64]) -> (f64, Vec<f64>) {
    let mut reduced: Vec<f64> = costs.iter().map(|cost| cost.map_or(f64::MAX, |cost| cost as f64)).collect();
    for (row, multiplier) in rows.iter().zip(multipliers).filter(|one| *one.1 > 0.0) {
        let unit = multiplier / row.excess as f64;
        row.items.iter().for_each(|&(item, weight)| reduced[item] -= unit * weight as f64);
    }
    let value = multipliers.iter().sum::<f64>() + reduced.iter().map(|cost| cost.min(0.0)).sum::<f64>();
    let missing = |row: &Priced| {
        let gone = row.items.iter().filter(|&&(item, _)| reduced[item] < 0.0).map(|item| item.1);
        1.0 - gone.sum::<i128>() as f64 / row.excess as f64
    };
    (value, rows.iter().map(missing).collect())
}
