//! Assigns transfers to two channels without regard to memory.
//!
//! If all buffers fit into on-chip memory at once, an exchange argument shows that each channel may fetch
//! without idling, in the order of the operators. Only the assignment to channels remains. For each operator,
//! let a and b be the work of the two channels up to and including its transfer, and t the computing time
//! from it on. A makespan M is attainable if and only if some assignment meets the following condition for
//! each operator: the channel that fetches for it has at most M - t of work up to this transfer.
//!
//! The sum a + b is fixed, so `a` alone describes the state. For each operator, the set of all values
//! of a from which the rest is feasible is computed as a bitset, from the last operator to the first.
//! Rounding transfer times and limits down to units is a relaxation, so a makespan that is infeasible in
//! units is indeed infeasible.

use super::node::Case;
use plimsoll_model::Budget;
use plimsoll_support::gcd;

/// A bitset of the feasible values for the work of channel 0 up to an operator, in units.
#[derive(Clone, Debug, Default)]
struct Set {
    words: Vec<u64>,
}

impl Set {
    fn contains(&self, work: i64) -> bool {
        let word = usize::try_from(work / 64).ok().and_then(|at| self.words.get(at));
        work >= 0 && word.is_some_and(|word| word >> (work % 64) & 1 == 1)
    }

    /// Subtracts `by` from the values of `other` and adds those results that lie between `lower` and
    /// `upper`, inclusive.
    fn add(&mut self, other: &Self, by: i64, lower: i64, upper: i64) {
        if lower > upper || self.words.is_empty() {
            return;
        }
        let (from, shift) = (by as usize / 64, by % 64);
        let others = other.words.get(from..).unwrap_or_default();
        let (first, last) = (lower as usize / 64, (upper as usize / 64).min(self.words.len() - 1));
        for at in first..=last {
            let word = |at: usize| others.get(at).copied().unwrap_or(0);
            let mut bits = word(at) >> shift;
            if shift > 0 {
                bits |= word(at + 1) << (64 - shift);
            }
            if at == first {
                bits &= u64::MAX << (lower % 64);
            }
            if at == upper as usize / 64 {
                bits &= u64::MAX >> (63 - upper % 64);
            }
            self.words[at] |= bits;
        }
    }
}

/// The part of a problem from an operator on, with the times at which the two channels are free.
pub(super) struct Pair<'a> {
    case: &'a Case<'a>,
    /// Operators whose weights remain to be fetched, in ascending order.
    rest: &'a [usize],
    /// Per operator: the total computing time of this operator and all later operators.
    tails: &'a [u64],
    free: [u64; 2],
    /// Picoseconds per unit.
    pub unit: u64,
    /// Number of bits per set.
    width: i64,
}

/// Returns, for each operator, the total computing time of this operator and all later operators.
pub(super) fn tails(case: &Case<'_>) -> Vec<u64> {
    let mut tails: Vec<u64> = case
        .compute
        .iter()
        .rev()
        .scan(0, |sum, time| {
            *sum += time;
            Some(*sum)
        })
        .collect();
    tails.reverse();
    tails
}

/// Returns the greatest common divisor of all transfer times.
pub(super) fn grain(case: &Case<'_>) -> u64 {
    case.load.iter().copied().fold(0, gcd).max(1)
}

/// Maximum total number of bits of the sets for a bound. These sets are computed repeatedly and not stored.
const BOUND_BITS: u64 = 1 << 30;

/// Maximum total number of bits of the sets that are stored. [`MOST_WIDTH`] is the maximum number of bits of
/// one set.
const MOST_BITS: u64 = 1 << 30;
const MOST_WIDTH: u64 = 1 << 22;

/// Number of words of computed sets that are charged as one node.
const WORDS: u64 = 50_000;

impl<'a> Pair<'a> {
    /// Creates the problem of all transfers, in units that are coarse enough for a fast decision.
    pub fn whole(case: &'a Case<'a>, tails: &'a [u64]) -> Self {
        let most = (BOUND_BITS / (case.weighted.len() as u64 + 1)).clamp(64, MOST_WIDTH);
        Self::with(case, tails, &case.weighted, [0; 2], most)
    }

    /// Creates the problem of the remaining transfers, for the construction of a timeline. Units are exact
    /// if the sets then have at most [`MOST_BITS`] bits in total.
    pub fn after(case: &'a Case<'a>, tails: &'a [u64], rest: &'a [usize], free: [u64; 2]) -> Self {
        let sum: u64 = rest.iter().map(|&at| case.load[at]).sum();
        let grain = grain(case);
        let most = MOST_BITS / (rest.len() as u64 + 1);
        let most = if sum / grain < most { most } else { most.min(MOST_WIDTH) };
        Self::with(case, tails, rest, free, most)
    }

    fn with(case: &'a Case<'a>, tails: &'a [u64], rest: &'a [usize], free: [u64; 2], most: u64) -> Self {
        let sum: u64 = rest.iter().map(|&at| case.load[at]).sum();
        let grain = grain(case);
        let unit = grain * (sum / grain).div_ceil(most).max(1);
        Self { case, rest, tails, free, unit, width: (sum / unit) as i64 + 1 }
    }

    /// Returns true if the unit divides every transfer time, so nothing is rounded.
    pub fn is_exact(&self) -> bool {
        self.unit == grain(self.case)
    }

    fn load(&self, at: usize) -> i64 {
        (self.case.load[at] / self.unit) as i64
    }

    /// Returns the maximum work, in units, that a channel may have done when it has fetched the weights of an
    /// operator. The result is negative if the channel cannot fetch them in time.
    fn limit(&self, makespan: u64, at: usize, channel: usize) -> i64 {
        let left = i128::from(makespan) - i128::from(self.tails[at]) - i128::from(self.free[channel]);
        left.div_euclid(i128::from(self.unit)) as i64
    }

    /// Returns the sets for a makespan: one before each remaining operator, and one after the last operator.
    /// If `all` is false, returns only the first set.
    fn sets(&self, makespan: u64, all: bool) -> Vec<Set> {
        let mut sum: i64 = self.rest.iter().map(|&at| self.load(at)).sum();
        let words = (self.width as usize).div_ceil(64);
        let mut sets = vec![Set { words: vec![u64::MAX; words] }];
        for &at in self.rest.iter().rev() {
            let next = sets.last().expect("there is a set after the last operator");
            let load = self.load(at);
            let before = sum - load;
            let mut set = Set { words: vec![0; words] };
            // Either channel 0 or channel 1 fetches within its limit.
            set.add(next, load, 0, before.min(self.limit(makespan, at, 0) - load));
            set.add(next, 0, (sum - self.limit(makespan, at, 1)).max(0), before);
            sum = before;
            if all {
                sets.push(set);
            } else {
                sets = vec![set];
            }
        }
        sets.reverse();
        sets
    }

    /// Returns false only if no timeline has at most this makespan.
    pub fn meets(&self, makespan: u64) -> bool {
        self.sets(makespan, false)[0].contains(0)
    }

    /// Returns a lower bound on the makespan, between `lower` and `upper`. It is the best bound that the sets
    /// prove, unless the budget runs out first.
    pub fn least(&self, mut lower: u64, mut upper: u64, budget: &mut Budget) -> u64 {
        let mut middle = lower;
        while lower < upper && budget.spend(self.multiplier()).is_none() {
            if self.meets(middle) {
                upper = middle;
            } else {
                lower = middle + 1;
            }
            middle = lower + upper.saturating_sub(lower) / 2;
        }
        lower
    }

    /// Returns the number of nodes charged for the sets of one makespan.
    pub fn multiplier(&self) -> u64 {
        self.rest.len() as u64 * (self.width as u64).div_ceil(64) / WORDS + 1
    }

    /// Returns the [`Steps`] for a makespan, or `None` if it is not attainable.
    pub fn steps(&self, makespan: u64) -> Option<Steps> {
        let sets = self.sets(makespan, true);
        let loads: Vec<i64> = self.rest.iter().map(|&at| self.load(at)).collect();
        let limits =
            self.rest.iter().map(|&at| [0, 1].map(|channel| self.limit(makespan, at, channel))).collect();
        sets[0].contains(0).then_some(Steps { unit: self.unit, sets, loads, limits })
    }
}

/// A rule that determines which channel may fetch next so that the rest remains feasible.
pub(super) struct Steps {
    /// Picoseconds per unit.
    pub unit: u64,
    sets: Vec<Set>,
    loads: Vec<i64>,
    limits: Vec<[i64; 2]>,
}

impl Steps {
    /// Returns the work of both channels after `channel` has fetched for the operator at `position`. Returns
    /// `None` if the rest is then infeasible.
    pub fn after(&self, position: usize, works: [i64; 2], channel: usize) -> Option<[i64; 2]> {
        let mut works = works;
        works[channel] += self.loads[position];
        let fits = works[channel] <= self.limits[position][channel];
        (fits && self.sets[position + 1].contains(works[0])).then_some(works)
    }
}
