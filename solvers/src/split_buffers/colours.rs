//! Weighted colouring by column generation: the minimum number of addresses if buffers may be split.
//!
//! The buffers that use an address form a *stable* set: no two of them conflict. The linear program minimises
//! the total multiplicity of stable sets such that every buffer gets its bytes. Multiplicities may be
//! fractional. The dual program assigns a multiplier to every buffer such that the multipliers of every
//! stable set add up to at most one. [`heaviest`] solves the pricing problem (Gilmore and Gomory 1961).
//!
//! Any multipliers give a lower bound: the weighted demand divided by the weight of the heaviest stable set
//! (Farley 1990). The floating-point simplex only proposes multipliers. They are rounded to integers before
//! use, so bounds depend only on integer arithmetic.
//!
//! Multiplicities are rounded down, and the shortfall is coloured separately. The result usually exceeds the
//! bound by at most a few units, and meets it if the multiplicities are integral. A unit is a byte if no
//! buffer is aligned.

use super::stable::{Effort, heaviest};
use plimsoll_model::Budget;
use plimsoll_support::{BitMatrix, ones};

/// Maximum number of buffers. For n buffers, the inverse of the basis takes 8 n^2 bytes.
pub(crate) const COLOUR_BUFFERS: usize = 1_200;

/// The fixed-point representation of the multiplier one.
const ONE: u64 = 1 << 32;

/// The relative amount by which the weight of a set must exceed one before the set enters the basis.
const TOLERANCE: f64 = 1e-9;

/// Node limit for solving one pricing problem. The search ends earlier if it finds a set heavier than
/// [`CLEARLY_MORE`].
const PRICING_NODES: u64 = 1_000;
const CLEARLY_MORE: u64 = ONE + ONE / 16;

/// Number of pivots between two attempts at rounding the multiplicities.
const LOOK: u64 = 200;

/// Stable sets, each with the number of consecutive memory units that it uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Colouring {
    /// The members and the number of units of each set.
    pub classes: Vec<(Vec<usize>, u64)>,
}

impl Colouring {
    /// Returns the total number of units.
    pub fn total(&self) -> u64 {
        self.classes.iter().map(|class| class.1).sum()
    }
}

/// The simplex basis: stable sets, the inverse of their matrix, and their multiplicities.
struct Basis {
    n: usize,
    sets: Vec<Vec<usize>>,
    /// The rows of the inverse, one per set of the basis.
    inverse: Vec<f64>,
    used: Vec<f64>,
}

impl Basis {
    /// Creates the basis of singletons.
    fn alone(demands: &[u64]) -> Self {
        let n = demands.len();
        let mut inverse = vec![0.0; n * n];
        for at in 0..n {
            inverse[at * n + at] = 1.0;
        }
        let used = demands.iter().map(|&demand| demand as f64).collect();
        Self { n, sets: (0..n).map(|at| vec![at]).collect(), inverse, used }
    }

    /// Returns the dual multiplier of each vertex.
    fn multipliers(&self) -> Vec<f64> {
        let mut multipliers = vec![0.0; self.n];
        for row in self.inverse.chunks_exact(self.n.max(1)) {
            multipliers.iter_mut().zip(row).for_each(|(multiplier, value)| *multiplier += value);
        }
        multipliers
    }

    /// Adds a set to the basis and removes another. Returns false if this is numerically unsafe.
    fn enter(&mut self, set: Vec<usize>) -> bool {
        let n = self.n;
        let column: Vec<f64> = self
            .inverse
            .chunks_exact(n)
            .map(|row| set.iter().map(|&vertex| row[vertex]).sum::<f64>())
            .collect();
        let ratio = |at: usize| self.used[at].max(0.0) / column[at];
        let leaving = (0..n).filter(|&at| column[at] > 1e-7).min_by(|&a, &b| {
            // Ties are broken in favour of the largest pivot.
            ratio(a).total_cmp(&ratio(b)).then(column[b].total_cmp(&column[a]))
        });
        let Some(leaving) = leaving else { return false };
        let step = ratio(leaving);
        let pivot: Vec<f64> = self.inverse[leaving * n..(leaving + 1) * n]
            .iter()
            .map(|value| value / column[leaving])
            .collect();
        for (at, row) in self.inverse.chunks_exact_mut(n).enumerate() {
            if at == leaving {
                row.copy_from_slice(&pivot);
            } else if column[at].abs() > 1e-12 {
                row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= column[at] * pivot);
            }
        }
        for (used, value) in self.used.iter_mut().zip(&column) {
            *used -= step * value;
        }
        self.used[leaving] = step;
        self.sets[leaving] = set;
        true
    }
}

/// The best results so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub colouring: Option<Colouring>,
    /// Lower bound on the number of units.
    pub bound: u64,
}

/// Assigns to every vertex as many units as `demands` requires. The search ends when the bound is met, when
/// the program is solved and its solution is rounded, or when the budget runs out. `bound` must be a proved
/// lower bound. One node of the budget is one priced column, which takes O(n^2) time for n vertices in
/// addition to the pricing.
pub(crate) fn colour(compatible: &BitMatrix, demands: &[u64], bound: u64, budget: &mut Budget) -> Found {
    let mut found = Found { colouring: None, bound };
    let mut basis = Basis::alone(demands);
    relax(compatible, demands, &mut basis, &mut found, budget);
    let met = |found: &Found| found.colouring.as_ref().is_some_and(|best| best.total() <= found.bound);
    if !met(&found) && budget.check().is_none() {
        let dived = dive(compatible, demands, &basis, budget);
        offer(&mut found, dived);
    }
    found
}

/// Solves the linear program. Raises the bound on the way and occasionally tries rounded multiplicities.
fn relax(compatible: &BitMatrix, demands: &[u64], basis: &mut Basis, found: &mut Found, budget: &mut Budget) {
    let mut pivots = 0;
    while budget.tick().or_else(|| budget.check()).is_none() {
        let multipliers: Vec<u64> = basis
            .multipliers()
            .iter()
            .map(|multiplier| (multiplier.clamp(0.0, 2.0) * ONE as f64) as u64)
            .collect();
        let effort = Effort { nodes: PRICING_NODES, enough: CLEARLY_MORE, budget: &mut *budget };
        let priced = heaviest(compatible, &multipliers, effort);
        found.bound = found.bound.max(farley(demands, &multipliers, priced.upper));
        let dear = priced.weight as f64 > ONE as f64 * (1.0 + TOLERANCE);
        let met = |found: &Found| found.colouring.as_ref().is_some_and(|best| best.total() <= found.bound);
        if pivots % LOOK == 0 {
            offer(found, rounded(compatible, demands, basis, budget));
        }
        if !dear || met(found) || !basis.enter(priced.members) {
            break;
        }
        pivots += 1;
    }
    offer(found, rounded(compatible, demands, basis, budget));
}

/// Fixes the integral parts of multiplicities, or one unit of the set with the greatest multiplicity, and
/// solves the program again for the rest. Repeats this until no demand remains.
fn dive(compatible: &BitMatrix, demands: &[u64], basis: &Basis, budget: &mut Budget) -> Colouring {
    let mut left = demands.to_vec();
    let mut colouring = Colouring::default();
    whole(compatible, &mut left, &mut colouring.classes, basis, true);
    while left.iter().any(|&units| units > 0) {
        let open: Vec<usize> = (0..left.len()).filter(|&at| left[at] > 0).collect();
        let mut part = BitMatrix::new(open.len(), open.len());
        for (a, &one) in open.iter().enumerate() {
            let with = open.iter().enumerate().filter(|&(_, &other)| compatible.get(one, other));
            for (b, _) in with {
                part.set(a, b);
            }
        }
        let mut units: Vec<u64> = open.iter().map(|&at| left[at]).collect();
        let mut basis = Basis::alone(&units);
        let mut found = Found::default();
        relax(&part, &units, &mut basis, &mut found, budget);
        let mut classes = Vec::new();
        let bound = found.bound;
        match found.colouring {
            // The colouring is optimal, or no time remains for a better one.
            Some(rest) if rest.total() <= bound || budget.check().is_some() => {
                classes = rest.classes;
                units.fill(0);
            }
            _ => whole(&part, &mut units, &mut classes, &basis, true),
        }
        open.iter().zip(&units).for_each(|(&at, &units)| left[at] = units);
        let classes = classes.into_iter();
        colouring
            .classes
            .extend(classes.map(|(set, units)| (set.iter().map(|&at| open[at]).collect(), units)));
    }
    colouring
}

fn offer(found: &mut Found, colouring: Colouring) {
    if found.colouring.as_ref().is_none_or(|best| colouring.total() < best.total()) {
        found.colouring = Some(colouring);
    }
}

/// Returns Farley's bound: the weighted demand divided by `dearest`, rounded up. `dearest` must be an upper
/// bound on the weight of every stable set.
fn farley(demands: &[u64], multipliers: &[u64], dearest: u64) -> u64 {
    let cost: u128 = demands
        .iter()
        .zip(multipliers)
        .map(|(&demand, &multiplier)| u128::from(demand) * u128::from(multiplier))
        .sum();
    if dearest == 0 { 0 } else { u64::try_from(cost.div_ceil(u128::from(dearest))).unwrap_or(0) }
}

/// Rounds the multiplicities of the basis down and colours the shortfall with heavy stable sets.
fn rounded(compatible: &BitMatrix, demands: &[u64], basis: &Basis, budget: &mut Budget) -> Colouring {
    let mut left = demands.to_vec();
    let mut classes = Vec::new();
    whole(compatible, &mut left, &mut classes, basis, false);
    while left.iter().any(|&units| units > 0) {
        let set = heaviest(compatible, &left, Effort::nodes(20, budget)).members;
        let units = set.iter().map(|&vertex| left[vertex]).min().unwrap_or(0);
        take(compatible, &mut left, &mut classes, set, units);
    }
    Colouring { classes }
}

/// Uses the sets of the basis with their multiplicities rounded down. If all are zero and `at_least_one` is
/// true, uses the set with the greatest multiplicity once.
fn whole(
    compatible: &BitMatrix,
    left: &mut [u64],
    classes: &mut Vec<(Vec<usize>, u64)>,
    basis: &Basis,
    at_least_one: bool,
) {
    let mut by_use: Vec<usize> = (0..basis.n).collect();
    by_use.sort_by(|&a, &b| basis.used[b].total_cmp(&basis.used[a]).then(a.cmp(&b)));
    let before = classes.len();
    for at in by_use {
        let used = basis.used[at].max(0.0);
        let whole = if (used - used.round()).abs() < 1e-4 { used.round() } else { used.floor() };
        let first = at_least_one && classes.len() == before;
        let units = (whole as u64).max(u64::from(first));
        let needed = basis.sets[at].iter().map(|&vertex| left[vertex]).max().unwrap_or(0);
        take(compatible, left, classes, basis.sets[at].clone(), units.min(needed));
    }
}

/// Assigns a number of units to a set. Other buffers that can share these units are added to the set.
fn take(
    compatible: &BitMatrix,
    left: &mut [u64],
    classes: &mut Vec<(Vec<usize>, u64)>,
    mut set: Vec<usize>,
    units: u64,
) {
    if units == 0 {
        return;
    }
    let mut open = vec![u64::MAX; left.len().div_ceil(64)];
    for &vertex in &set {
        open.iter_mut().zip(compatible.row(vertex)).for_each(|(word, row)| *word &= row);
    }
    let mut others: Vec<usize> = ones(&open).filter(|&at| at < left.len() && left[at] > 0).collect();
    others.sort_by_key(|&at| (std::cmp::Reverse(left[at]), at));
    for other in others {
        if set.iter().all(|&member| compatible.get(member, other)) {
            set.push(other);
        }
    }
    for &vertex in &set {
        left[vertex] = left[vertex].saturating_sub(units);
    }
    classes.push((set, units));
}
