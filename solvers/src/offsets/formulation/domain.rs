//! Offset ranges and forced orders of buffers in layouts that do not exceed a given peak.

use super::part::{Part, Rigid};
use plimsoll_model::Budget;

/// Maximum number of propagation rounds. Without this limit, bounds could approach a contradiction one unit
/// at a time.
const ROUNDS: usize = 64;

/// Bounds on offsets, and forced orders, that hold in every layout of a part with a peak of at most `upper`.
/// With symmetry breaking, they hold in at least one layout of each class of equivalent layouts.
///
/// The following rules of exact integer propagation are applied until nothing changes. Here, `rise_ij` is the
/// distance that [`Part::rise`] returns.
/// - If `low_i + rise_ij > high_j`, then `i` cannot lie below `j`, so `j` lies below `i`.
/// - A buffer below `i` raises the lower bound of `i` to the lowest possible end of that buffer. Several
///   members of one clique below `i` form a stack and raise this bound to the end of the stack.
/// - Buffers above `i` lower the upper bound of `i` in the same way.
/// - The bounds of a member of a rigid group imply those of all other members.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    /// The allowed peak, in units.
    pub upper: i64,
    /// The lowest allowed offset of each buffer, in units.
    pub low: Vec<i64>,
    /// The highest allowed offset of each buffer, in units.
    pub high: Vec<i64>,
    /// Per pair `(i, j)` of the part: `Some(true)` if `i` must lie below `j`, and `Some(false)` if it must
    /// lie above.
    pub below: Vec<Option<bool>>,
}

impl Domain {
    /// Creates the domain and propagates to a fixpoint, or until the limit on rounds or the time limit of
    /// `watch` is reached. Returns `None` if the propagation proves that no layout has a peak of at most
    /// `upper`. With `symmetry`, some equivalent layouts are excluded as in [`Domain::break_symmetry`]. A
    /// round takes O(c + s) time for c conflicts, where s is the sum of the squared clique sizes.
    pub fn new(part: &Part, upper: i64, symmetry: bool, watch: &mut Budget) -> Option<Self> {
        let mut domain = Self::plain(part, upper, symmetry)?;
        domain.propagate(part, watch).then_some(domain)
    }

    /// Creates the domain without propagation. Returns `None` if a fixed buffer ends above `upper`.
    pub fn plain(part: &Part, upper: i64, symmetry: bool) -> Option<Self> {
        let mut domain = Self {
            upper,
            low: part.fixed.iter().map(|fixed| fixed.unwrap_or(0)).collect(),
            high: (0..part.len())
                .map(|i| {
                    part.fixed[i].unwrap_or((upper - part.size[i]).div_euclid(part.align[i]) * part.align[i])
                })
                .collect(),
            below: vec![None; part.pairs.len()],
        };
        for group in &part.rigid {
            domain.tie(group);
            for (at, &(i, own)) in group.members.iter().enumerate() {
                for &(j, other) in &group.members[at + 1..] {
                    if let Some(pair) = part.pair(i, j) {
                        domain.below[pair] = Some((i < j) == (own < other));
                    }
                }
            }
        }
        if (0..part.len()).any(|i| domain.high[i] + part.size[i] > upper || domain.low[i] > domain.high[i]) {
            return None;
        }
        if symmetry {
            domain.break_symmetry(part);
        }
        Some(domain)
    }

    /// Returns `Some(true)` if `i` must lie below `j`, `Some(false)` if it must lie above, and `None` if the
    /// domain does not decide this.
    pub fn order(&self, part: &Part, i: usize, j: usize) -> Option<bool> {
        let below = self.below[part.pair(i, j)?]?;
        Some(below == (i < j))
    }

    /// Fixes the order of some pairs. At least one layout of each class of equivalent layouts remains.
    ///
    /// *Twins* are conflicting buffers that are neither fixed nor in a rigid group, have equal size and
    /// alignment, and otherwise have the same neighbours. Swapping their offsets preserves the peak, so the
    /// twin with the lower id may be required to lie below the other. *Mirror*: if no buffer is fixed,
    /// aligned to more than one unit, or in a rigid group, turning a layout upside down preserves the peak.
    /// The order of one pair may therefore be fixed. That pair must not contain a twin. Sorting the twins
    /// after mirroring then does not change the order of the pair.
    fn break_symmetry(&mut self, part: &Part) {
        let mut has_twin = vec![false; part.len()];
        for (at, &(i, j)) in part.pairs.iter().enumerate() {
            let others = |a: usize, b: usize| part.neighbours[a].iter().filter(move |&&k| k != b);
            let twins = part.size[i] == part.size[j]
                && part.align[i] == part.align[j]
                && part.fixed[i].is_none()
                && part.fixed[j].is_none()
                && part.rigid_of[i].is_none()
                && part.rigid_of[j].is_none()
                && part.neighbours[i].len() == part.neighbours[j].len()
                && others(i, j).eq(others(j, i));
            if twins {
                (has_twin[i], has_twin[j]) = (true, true);
                self.below[at] = Some(true);
            }
        }
        if !part.mirrors() {
            return;
        }
        // Choose the pair that constrains most: large buffers with many neighbours.
        let weight = |i: usize| i128::from(part.size[i]) * part.neighbours[i].len() as i128;
        let free = part.pairs.iter().enumerate().filter(|(_, (i, j))| !has_twin[*i] && !has_twin[*j]);
        let best = free.max_by_key(|&(at, &(i, j))| (weight(i) + weight(j), std::cmp::Reverse(at)));
        if let Some((at, _)) = best {
            self.below[at] = Some(true);
        }
    }

    /// Propagates until nothing changes or a limit is reached. Returns false if the domain is empty.
    fn propagate(&mut self, part: &Part, watch: &mut Budget) -> bool {
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (at, &(i, j)) in part.pairs.iter().enumerate() {
                if self.below[at].is_none() {
                    let under = self.low[i] + part.rise(i, j) <= self.high[j];
                    let over = self.low[j] + part.rise(j, i) <= self.high[i];
                    match (under, over) {
                        (false, false) => return false,
                        (true, true) => continue,
                        _ => self.below[at] = Some(under),
                    }
                    changed = true;
                }
                let (a, b) = if self.below[at] == Some(true) { (i, j) } else { (j, i) };
                changed |= self.lift(part, b, self.low[a] + part.rise(a, b));
                changed |= self.press(part, a, self.high[b] - part.rise(a, b));
            }
            for clique in &part.cliques {
                // The bounds derived so far are valid.
                if watch.tick().is_some() {
                    return true;
                }
                changed |= self.stack(part, clique);
            }
            for group in &part.rigid {
                changed |= self.tie(group);
            }
            if (0..part.len()).any(|i| self.low[i] > self.high[i]) {
                return false;
            }
            if !changed {
                break;
            }
        }
        true
    }

    /// Tightens the bounds of each member of a clique, given the other members that must lie below or above
    /// it. Returns true if a bound changed.
    fn stack(&mut self, part: &Part, clique: &[usize]) -> bool {
        let mut changed = false;
        for &j in clique {
            let (mut under, mut over) = (0, 0);
            let (mut floor, mut ceiling) = (i64::MAX, i64::MIN);
            for &i in clique.iter().filter(|&&i| i != j) {
                match self.order(part, i, j) {
                    Some(true) => {
                        under += part.size[i];
                        floor = floor.min(self.low[i]);
                    }
                    Some(false) => {
                        over += part.size[i];
                        ceiling = ceiling.max(self.high[i] + part.size[i]);
                    }
                    None => {}
                }
            }
            if under > 0 {
                changed |= self.lift(part, j, floor + under);
            }
            if over > 0 {
                changed |= self.press(part, j, ceiling - over - part.size[j]);
            }
        }
        changed
    }

    /// Derives the bounds of all members of a rigid group from each other. Returns true if a bound changed.
    fn tie(&mut self, group: &Rigid) -> bool {
        let members = || group.members.iter();
        let low = members().map(|&(i, distance)| self.low[i] - distance).max().unwrap_or(0);
        let high = members().map(|&(i, distance)| self.high[i] - distance).min().unwrap_or(0);
        let (low, high) = (group.base_from(low), group.base_to(high));
        let mut changed = false;
        for &(i, distance) in &group.members {
            let range = (low + distance, high + distance);
            changed |= (self.low[i], self.high[i]) != range;
            (self.low[i], self.high[i]) = range;
        }
        changed
    }

    fn lift(&mut self, part: &Part, i: usize, floor: i64) -> bool {
        let higher = floor > self.low[i];
        if higher {
            // This cannot overflow because alignments and offsets are far below the limits of `i64`. If a
            // fixed buffer is raised, its domain is empty, which [`Domain::propagate`] detects.
            self.low[i] = floor.div_euclid(part.align[i]) * part.align[i];
            if self.low[i] < floor {
                self.low[i] += part.align[i];
            }
        }
        higher
    }

    fn press(&mut self, part: &Part, i: usize, ceiling: i64) -> bool {
        let lower = ceiling < self.high[i];
        if lower {
            self.high[i] = ceiling.div_euclid(part.align[i]) * part.align[i];
        }
        lower
    }
}
