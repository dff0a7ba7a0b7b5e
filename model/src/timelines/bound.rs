//! Lower bounds on the makespan of every timeline.
//!
//! Let c, l, w, A be the computing times, transfer times, weights and activations, m the number of channels,
//! and C the capacity.
//! - **compute**: the sum of c.
//! - **transfers**: operator k starts when the weights of all operators up to it have been fetched. This
//!   takes at least 1/m of the sum of l up to k, and at least the largest of them. The operators from k on
//!   compute after that. The bound is the maximum over k. The first k gives "first transfer, then compute",
//!   the last "all transfers, then the rest".
//! - **memory**: let operator h end at E(h). Weights of later operators whose transfer begins before E(h) lie
//!   in on-chip memory beside A(h) and w(h). They have at most C - A(h) - w(h) bytes. The rest of the weights
//!   of operators h+1 to k is fetched between E(h) and the start of k. This takes at least 1/m of its
//!   transfer time. The rest is minimised by a fractional knapsack: weights in ascending order, because the
//!   setup latency weighs most on the smallest. Weights that do not fit on their own remain whole, and take
//!   at least their own time. For all k at once, the weights held beside h save at most the best choice among
//!   all weights behind h. The bound is the longest path over all pairs h < k, combined with the two other
//!   bounds. The first argument is used with at most [`WINDOW`] weights between h and k, the second always.
//!
//! If the processor copies, weights arrive in either way, and the bounds allow for both. Let p be the copy
//! times.
//! - **transfers**: before operator k starts, the processor has computed all earlier operators and copied
//!   some of the weights up to k. The other weights take 1/m of their transfer times. The earliest end
//!   results from a fractional split that copies weights with the largest l / p.
//! - **memory**: the rest takes at least min(l, p) each, with m + 1 in place of m.

use super::prefix_sums::PrefixSums;
use super::problem::TimelineProblem;
use crate::bound::{BoundError, LowerBound, Reason};
use crate::time::Time;
use crate::units::OperatorId;
use serde::Serialize;
use std::fmt;

/// The number of weights considered behind each operator by the memory bound.
const WINDOW: usize = 48;

/// The reason for a lower bound on the makespan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum TimeWitness {
    /// All operators compute sequentially.
    Compute,
    /// All transfers up to this operator, then all computations from it on.
    Transfers { operator: OperatorId },
    /// Weights that do not fit beside these operators are fetched after them. Ascending.
    Memory { operators: Vec<OperatorId> },
    /// This operator does not fit in on-chip memory with its own weights, so no timeline exists.
    TooLarge { operator: OperatorId },
    /// A completed search.
    Search { solver: String },
}

impl Reason for TimeWitness {
    fn solver(&self) -> Option<&str> {
        match self {
            Self::Search { solver } => Some(solver),
            _ => None,
        }
    }
}

impl fmt::Display for TimeWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compute => f.write_str("all computations"),
            Self::Transfers { operator } => {
                write!(f, "all transfers up to operator {operator}, then all computations from it on")
            }
            Self::Memory { operators } => {
                write!(f, "what does not fit beside {} operators is fetched after them", operators.len())
            }
            Self::TooLarge { operator } => {
                write!(f, "operator {operator} does not fit on chip with its weights")
            }
            Self::Search { solver } => write!(f, "completed search by {solver}"),
        }
    }
}

/// A lower bound on the makespan of every timeline, with its witness.
pub type TimeBound = LowerBound<Time, TimeWitness>;

/// The bound by the sum of all computing times. O(n).
pub fn compute_bound(problem: &TimelineProblem) -> TimeBound {
    let value = problem.operators().iter().map(|one| one.compute).sum();
    LowerBound { value, witness: TimeWitness::Compute }
}

/// The number of parallel fetchers: the channels, and the processor if it copies.
pub(super) fn fetchers(problem: &TimelineProblem) -> u64 {
    u64::from(problem.dma().channels) + u64::from(problem.copy_rate().is_some())
}

/// The minimum time to fetch the weights of an operator, or `None` without weights.
pub(super) fn quickest(problem: &TimelineProblem, at: usize) -> Option<Time> {
    let load = problem.load(at)?;
    Some(problem.copy(at).map_or(load, |copy| copy.min(load)))
}

/// The minimum time to fetch the weights of an operator, rounded down to whole picoseconds.
fn quickest_down(problem: &TimelineProblem, at: usize) -> Time {
    let (dma, weights) = (problem.dma(), problem.operators()[at].weights.get());
    let bare = Time::at_rate_down(weights, dma.bandwidth).unwrap_or_default();
    let copy = problem.copy_rate().and_then(|rate| Time::at_rate_down(weights, rate));
    (dma.startup + bare).min(copy.unwrap_or(Time::MAX))
}

/// The earliest start of every operator due to channels and copies: all weights up to it have been fetched.
/// O(n), with copies O(n^2).
fn fetched(problem: &TimelineProblem) -> Vec<Time> {
    let channels = u64::from(problem.dma().channels);
    if problem.copy_rate().is_some() {
        return fetched_or_copied(problem);
    }
    let (mut sum, mut longest) = (0u64, 0u64);
    let earliest = |at| {
        let load = problem.load(at).unwrap_or_default().get();
        (sum, longest) = (sum + load, longest.max(load));
        Time::new(sum.div_ceil(channels).max(longest))
    };
    (0..problem.len()).map(earliest).collect()
}

/// The earliest starts if weights may be copied: the fractional split described in the module documentation.
fn fetched_or_copied(problem: &TimelineProblem) -> Vec<Time> {
    let channels = u128::from(problem.dma().channels);
    let times = |at: usize| Some((problem.load(at)?.get(), problem.copy(at)?.get()));
    let mut order: Vec<(usize, u64, u64)> =
        (0..problem.len()).filter_map(|at| times(at).map(|(load, copy)| (at, load, copy))).collect();
    let ratio = |a: u64, b: u64| u128::from(a) * u128::from(b);
    order.sort_by(|a, b| ratio(b.1, a.2).cmp(&ratio(a.1, b.2)));
    let (mut loads, mut computed, mut longest) = (0u128, 0u128, 0u64);
    let earliest = |last: usize| {
        loads += u128::from(problem.load(last).unwrap_or_default().get());
        longest = longest.max(quickest(problem, last).unwrap_or_default().get());
        let (mut processor, mut left) = (computed, loads);
        for &(_, load, copy) in order.iter().filter(|(at, ..)| *at <= last) {
            let (load, copy) = (u128::from(load), u128::from(copy));
            if (processor + copy) * channels > left.saturating_sub(load) {
                // The part of this weight that makes both end together, rounded down to keep a lower bound.
                let missing = left.saturating_sub(processor * channels);
                processor += copy * missing / (copy * channels + load).max(1);
                break;
            }
            (processor, left) = (processor + copy, left - load);
        }
        computed += u128::from(problem.operators()[last].compute.get());
        Time::new(u64::try_from(processor).unwrap_or(u64::MAX).max(longest))
    };
    (0..problem.len()).map(earliest).collect()
}

/// The maximum over k of all transfers up to operator k, then all computations from k on. Returns `None`
/// without weights. O(n).
pub fn transfer_bound(problem: &TimelineProblem) -> Option<TimeBound> {
    let mut rest = Time::ZERO;
    let mut best: Option<(Time, usize)> = None;
    for (at, start) in fetched(problem).into_iter().enumerate().rev() {
        rest = rest + problem.operators()[at].compute;
        if problem.load(at).is_some() && best.is_none_or(|(value, _)| start + rest >= value) {
            best = Some((start + rest, at));
        }
    }
    best.map(|(value, at)| LowerBound {
        value,
        witness: TimeWitness::Transfers { operator: OperatorId::at(at) },
    })
}

/// The weights left to fetch after an operator for the operators behind it, considered one at a time.
struct Rest {
    /// The bytes of weights that fit in on-chip memory beside the operator.
    space: u128,
    /// The weights so far, ascending, with their fetch times. Times are rounded down: rounded up, they would
    /// not grow more slowly than weights, so another choice could leave less.
    items: Vec<(u64, u64)>,
}

impl Rest {
    fn after(problem: &TimelineProblem, at: usize) -> Self {
        let one = &problem.operators()[at];
        let free = problem.capacity().get().saturating_sub(one.activations.get());
        Self { space: u128::from(free.saturating_sub(one.weights.get())), items: Vec::new() }
    }

    /// Adds the weights of one more operator. Returns the minimum time to fetch the rest of all weights so
    /// far.
    fn with(&mut self, problem: &TimelineProblem, next: usize, channels: u64) -> u64 {
        let (weights, load) = (problem.operators()[next].weights.get(), quickest_down(problem, next));
        let at = self.items.partition_point(|&(other, _)| other < weights);
        self.items.insert(at, (weights, load.get()));
        let (mut space, mut left, mut longest) = (self.space, 0u64, 0u64);
        for &(weights, load) in &self.items {
            if u128::from(weights) > self.space {
                // Does not fit even on its own.
                (left, longest) = (left + load, longest.max(load));
                continue;
            }
            let taken = space.min(u128::from(weights));
            space -= taken;
            // Rounded down to keep a lower bound.
            left += (u128::from(load) * (u128::from(weights) - taken) / u128::from(weights)) as u64;
        }
        left.div_ceil(channels).max(longest)
    }
}

/// Per operator: the maximum transfer time of weights behind it that fit beside it together. O(n log n).
///
/// These are the smallest weights that fit and a part of the next, because the setup latency weighs most on
/// the smallest. The time is at most that of the largest weights of the same number.
fn saved(problem: &TimelineProblem) -> Vec<u64> {
    let weight = |at: usize| problem.operators()[at].weights.get();
    let mut ranked = problem.weighted();
    ranked.sort_by_key(|&at| weight(at));
    let mut ranks = vec![0; problem.len()];
    for (rank, &at) in ranked.iter().enumerate() {
        ranks[at] = rank;
    }
    let mut sums = PrefixSums::<3>::new(ranked.len());
    let mut saved = vec![0; problem.len()];
    for at in (0..problem.len()).rev() {
        let one = &problem.operators()[at];
        let free = problem.capacity().get().saturating_sub(one.activations.get());
        let space = u128::from(free.saturating_sub(one.weights.get()));
        let alone = ranked.partition_point(|&other| u128::from(weight(other)) <= space);
        let (rank, [bytes, mut time, count]) = sums.prefix(|rank, sums| rank <= alone && sums[0] <= space);
        if rank < alone {
            // The next weight that fits on its own lies behind this operator too, otherwise the prefix would
            // be longer.
            let next = ranked[rank];
            let load = problem.load(next).unwrap_or_default().get();
            let part = u128::from(load) * (space - bytes);
            time += part.div_ceil(u128::from(weight(next)));
        }
        let (_, [_, all, most]) = sums.prefix(|rank, _| rank <= alone);
        let (_, [_, small, _]) = sums.prefix(|rank, sums| rank <= alone && sums[2] <= most - count);
        // All transfers of a problem fit 63 bits in total.
        saved[at] = time.min(all - small) as u64;
        if let Some(load) = problem.load(at) {
            sums.add(ranks[at], [one.weights.get(), load.get(), 1]);
        }
    }
    saved
}

/// The longest path described in the module documentation. O(n (log n + WINDOW^2)).
pub fn memory_bound(problem: &TimelineProblem) -> TimeBound {
    memory_bound_from(problem, fetched(problem))
}

/// The longest path, given earliest starts that hold in any case.
pub(super) fn memory_bound_from(problem: &TimelineProblem, mut start: Vec<Time>) -> TimeBound {
    let channels = fetchers(problem);
    let count = problem.len();
    // Per operator: the operator that determines its start, if any.
    let mut behind: Vec<Option<usize>> = vec![None; count];
    let mut end = Time::ZERO;
    let saved = saved(problem);
    let fetched: Vec<usize> = (0..count).filter(|&at| problem.load(at).is_some()).collect();
    // The operator with the largest end times channels, minus the transfer time up to it and its savings; and
    // that number.
    let mut latest: Option<(i128, usize)> = None;
    let mut work = 0;
    for at in 0..count {
        if problem.load(at).is_some() {
            // Rounded down where savings are rounded up, because neither is exactly proportional.
            work += i128::from(quickest_down(problem, at).get());
            if let Some((least, before)) = latest {
                let time = (least + work).max(0) as u128;
                let earliest = Time::new(time.div_ceil(u128::from(channels)) as u64);
                if earliest > start[at] {
                    start[at] = earliest;
                    behind[at] = Some(before);
                }
            }
        }
        if end >= start[at] {
            start[at] = end;
            behind[at] = at.checked_sub(1).filter(|_| end > Time::ZERO);
        }
        end = start[at] + problem.operators()[at].compute;
        let least = i128::from(end.get()) * i128::from(channels) - work - i128::from(saved[at]);
        latest = latest.filter(|latest| latest.0 >= least).or(Some((least, at)));
        let mut rest = Rest::after(problem, at);
        let behind_it = fetched.partition_point(|&other| other <= at);
        for &next in fetched[behind_it..].iter().take(WINDOW) {
            let left = rest.with(problem, next, channels);
            let earliest = end + Time::new(left);
            if left > 0 && earliest > start[next] {
                start[next] = earliest;
                behind[next] = Some(at);
            }
        }
    }
    let mut operators = Vec::new();
    let mut at = count.checked_sub(1);
    while let Some(here) = at {
        at = behind[here];
        operators.extend(at.filter(|&before| before + 1 < here || waits(problem, &start, before, here)));
    }
    operators.reverse();
    let operators = operators.into_iter().map(OperatorId::at).collect();
    LowerBound { value: end, witness: TimeWitness::Memory { operators } }
}

/// Returns true if an operator starts later than the one before it ends.
fn waits(problem: &TimelineProblem, start: &[Time], before: usize, here: usize) -> bool {
    start[here] > start[before] + problem.operators()[before].compute
}

/// The highest of the bounds, with the simplest witness. Takes as long as [`memory_bound`].
pub fn time_bound(problem: &TimelineProblem) -> TimeBound {
    let mut best = compute_bound(problem);
    for bound in transfer_bound(problem).into_iter().chain([memory_bound(problem)]) {
        if bound.value > best.value {
            best = bound;
        }
    }
    best
}

/// The proof that no timeline exists if some operator does not fit in on-chip memory, otherwise
/// [`time_bound`].
pub fn fitting_bound(problem: &TimelineProblem) -> TimeBound {
    match problem.too_large() {
        Some(at) => LowerBound::new(Time::MAX, TimeWitness::TooLarge { operator: OperatorId::at(at) }),
        None => time_bound(problem),
    }
}

/// Confirms a bound by recomputing it. Takes as long as [`time_bound`].
///
/// # Errors
/// The first reason why the witness does not prove the bound.
pub fn confirm_time_bound(problem: &TimelineProblem, bound: &TimeBound) -> Result<(), BoundError> {
    bound.shown_by(match &bound.witness {
        TimeWitness::Compute => compute_bound(problem).value,
        TimeWitness::Transfers { .. } => transfer_bound(problem).map_or(Time::ZERO, |bound| bound.value),
        TimeWitness::Memory { .. } => memory_bound(problem).value,
        TimeWitness::TooLarge { operator } => match operator.index() {
            at if at >= problem.len() => return Err(BoundError::BadOperator(*operator)),
            at if !problem.is_too_large(at) => return Err(BoundError::Fits),
            _ => Time::MAX,
        },
        TimeWitness::Search { solver } => return Err(BoundError::NotCheckable(solver.clone())),
    })
}
