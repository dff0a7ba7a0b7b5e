//! Lower bounds on the makespan of every timeline.
//!
//! Let c and l be the computing times and transfer times of the operators, and w and A the bytes of their
//! weights and activations. Let m be the number of channels and C the capacity.
//! - **Compute**: the sum of c.
//! - **Transfers**: operator k starts when the weights of all operators up to k have been fetched. Fetching
//!   them takes at least 1/m of the sum of l up to k, and at least the largest of these l. The operators from
//!   k on compute after this time. The bound is the maximum over k of this time plus these computations. For
//!   the first k, the bound covers the first transfer and all computations. For the last k, the bound covers
//!   all transfers and the last computation.
//! - **Memory**: let operator h end at E(h). Consider the weights of later operators. Those whose transfers
//!   begin before E(h) are in on-chip memory together with A(h) and w(h), so together they have at most C -
//!   A(h) - w(h) bytes. The remaining weights of operators h+1 to k are fetched between E(h) and the start of
//!   k, which takes at least 1/m of their transfer time. A fractional knapsack minimises this transfer time.
//!   It keeps the smallest weights in memory, because the setup latency gives them the longest transfer time
//!   per byte. Weights that do not fit beside h even on their own are fetched completely between E(h) and the
//!   start of k, which takes at least the longest of their transfer times. A second argument covers all k at
//!   once: the weights that are in memory while h computes save at most as much time as the best choice among
//!   all weights after h. The bound is the longest path over all pairs h < k, combined with the two other
//!   bounds. The first argument is applied only if at most [`WINDOW`] weights lie between h and k; the second
//!   is always applied.
//!
//! If the processor copies weights, each weight is either transferred or copied, and the bounds allow for
//! both. Let p be the copy times.
//! - **Transfers**: before operator k starts, the processor has computed all earlier operators and copied
//!   some of the weights up to k. The other weights take 1/m of their transfer times. The earliest end is
//!   reached by a fractional split that copies the weights with the largest l / p.
//! - **Memory**: the remaining weights take at least min(l, p) each, with m + 1 in place of m.

use super::prefix_sums::PrefixSums;
use super::problem::TimelineProblem;
use crate::bound::{BoundError, LowerBound, Reason};
use crate::time::Time;
use crate::units::OperatorId;
use serde::Serialize;
use std::fmt;

/// The maximum number of later weights that the first argument of the memory bound considers for each
/// operator.
const WINDOW: usize = 48;

/// The reason for a lower bound on the makespan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants explain their fields")]
pub enum TimeWitness {
    /// All operators compute sequentially.
    Compute,
    /// All transfers up to this operator, followed by all computations from this operator on.
    Transfers { operator: OperatorId },
    /// Weights that do not fit into on-chip memory beside one of these operators are fetched after it. The
    /// operators are ascending.
    Memory { operators: Vec<OperatorId> },
    /// This operator does not fit into on-chip memory together with its weights, so no timeline exists.
    TooLarge { operator: OperatorId },
    /// A completed search by the exact solver `solver`.
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

impl TimeWitness {
    /// Describes the witness as text with the operator names of `problem`.
    pub fn in_words(&self, problem: &TimelineProblem) -> String {
        self.with_names(|id| match problem.operators().get(id.index()) {
            Some(operator) => format!("'{}'", operator.name),
            None => format!("operator number {id}"),
        })
    }

    fn with_names(&self, name: impl Fn(OperatorId) -> String) -> String {
        match self {
            Self::Compute => "all computations".to_owned(),
            Self::Transfers { operator } => {
                format!("all transfers up to {}, then all computations from it on", name(*operator))
            }
            Self::Memory { operators } => {
                format!("what does not fit beside {} operators is fetched after them", operators.len())
            }
            Self::TooLarge { operator } => {
                format!("{} does not fit on chip with its weights", name(*operator))
            }
            Self::Search { solver } => format!("completed search by {solver}"),
        }
    }
}

impl fmt::Display for TimeWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_names(|id| format!("operator {id}")))
    }
}

/// A lower bound on the makespan of every timeline, with its witness.
pub type TimeBound = LowerBound<Time, TimeWitness>;

/// Returns the sum of all computing times as a bound. O(n) for n operators.
pub fn compute_bound(problem: &TimelineProblem) -> TimeBound {
    let value = problem.operators().iter().map(|one| one.compute).sum();
    LowerBound { value, witness: TimeWitness::Compute }
}

/// Returns the number of parallel fetchers: the channels, plus the processor if it copies weights.
pub(super) fn fetchers(problem: &TimelineProblem) -> u64 {
    u64::from(problem.dma().channels) + u64::from(problem.copy_rate().is_some())
}

/// Returns the minimum time to fetch the weights of an operator; `None` if it has no weights.
pub(super) fn quickest(problem: &TimelineProblem, at: usize) -> Option<Time> {
    let load = problem.load(at)?;
    Some(problem.copy(at).map_or(load, |copy| copy.min(load)))
}

/// Returns the minimum time to fetch the weights of an operator, rounded down to whole picoseconds.
fn quickest_down(problem: &TimelineProblem, at: usize) -> Time {
    let (dma, weights) = (problem.dma(), problem.operators()[at].weights.get());
    let bare = Time::at_rate_down(weights, dma.bandwidth).unwrap_or_default();
    let copy = problem.copy_rate().and_then(|rate| Time::at_rate_down(weights, rate));
    (dma.startup + bare).min(copy.unwrap_or(Time::MAX))
}

/// Returns, for every operator, the earliest start that channels and copies allow. By then, all weights up to
/// the operator have been fetched. O(n) for n operators; O(n^2) if the processor copies weights.
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

/// Returns the earliest starts if weights may be copied, computed with the fractional split described in the
/// module documentation.
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
                // Copy only a fraction of this weight, so that processor and channels end together. Rounding
                // down preserves the lower bound.
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

/// Returns the maximum over k of the time of all transfers up to operator k plus all computations from k on.
/// Returns `None` if no operator has weights. O(n) for n operators; O(n^2) if the processor copies weights.
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

/// The weights that remain to be fetched after an operator. The weights of later operators are added in
/// order.
struct Rest {
    /// The bytes of weights that fit into on-chip memory together with the operator.
    space: u128,
    /// The weights added so far in ascending order, with their fetch times. Times are rounded down. If they
    /// were rounded up, the time per byte could rise with the size, and another choice could leave less
    /// time.
    items: Vec<(u64, u64)>,
}

impl Rest {
    fn after(problem: &TimelineProblem, at: usize) -> Self {
        let one = &problem.operators()[at];
        let free = problem.capacity().get().saturating_sub(one.activations.get());
        Self { space: u128::from(free.saturating_sub(one.weights.get())), items: Vec::new() }
    }

    /// Adds the weights of one more operator. Some of the weights added so far may not fit. Returns the
    /// minimum time to fetch the part that does not fit.
    fn with(&mut self, problem: &TimelineProblem, next: usize, channels: u64) -> u64 {
        let (weights, load) = (problem.operators()[next].weights.get(), quickest_down(problem, next));
        let at = self.items.partition_point(|&(other, _)| other < weights);
        self.items.insert(at, (weights, load.get()));
        let (mut space, mut left, mut longest) = (self.space, 0u64, 0u64);
        for &(weights, load) in &self.items {
            if u128::from(weights) > self.space {
                // This weight does not fit even on its own.
                (left, longest) = (left + load, longest.max(load));
                continue;
            }
            let taken = space.min(u128::from(weights));
            space -= taken;
            // Rounding down preserves the lower bound.
            left += (u128::from(load) * (u128::from(weights) - taken) / u128::from(weights)) as u64;
        }
        left.div_ceil(channels).max(longest)
    }
}

/// Returns, for each operator, the maximum total transfer time of later weights that fit into on-chip memory
/// together with the operator. O(n log n) for n operators.
///
/// The smallest weights that fit, and a fraction of the next one, save the most time, because the setup
/// latency gives the smallest weights the longest transfer time per byte. No other set of weights that
/// fits contains more whole weights. The result is therefore also limited to the total time of that many
/// weights, taken from the largest that fit on their own.
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
            // The next weight that fits on its own is also after this operator. Otherwise the prefix would be
            // longer.
            let next = ranked[rank];
            let load = problem.load(next).unwrap_or_default().get();
            let part = u128::from(load) * (space - bytes);
            time += part.div_ceil(u128::from(weight(next)));
        }
        let (_, [_, all, most]) = sums.prefix(|rank, _| rank <= alone);
        let (_, [_, small, _]) = sums.prefix(|rank, sums| rank <= alone && sums[2] <= most - count);
        // The transfer times of a problem add up to less than 2^63 picoseconds.
        saved[at] = time.min(all - small) as u64;
        if let Some(load) = problem.load(at) {
            sums.add(ranks[at], [one.weights.get(), load.get(), 1]);
        }
    }
    saved
}

/// Returns the memory bound: the longest path described in the module documentation. O(n (log n + WINDOW^2))
/// for n operators, plus O(n^2) if the processor copies weights.
pub fn memory_bound(problem: &TimelineProblem) -> TimeBound {
    memory_bound_from(problem, fetched(problem))
}

/// Returns the longest path for given earliest starts that are valid for every timeline.
pub(super) fn memory_bound_from(problem: &TimelineProblem, mut start: Vec<Time>) -> TimeBound {
    let channels = fetchers(problem);
    let count = problem.len();
    // Per operator: the operator that determines its start, if any.
    let mut behind: Vec<Option<usize>> = vec![None; count];
    let mut end = Time::ZERO;
    let saved = saved(problem);
    let fetched: Vec<usize> = (0..count).filter(|&at| problem.load(at).is_some()).collect();
    // For an operator that ends at e, let d be e times the number of channels, minus the transfer time up to
    // the operator, minus its savings. `latest` is the largest d, with its operator.
    let mut latest: Option<(i128, usize)> = None;
    let mut work = 0;
    for at in 0..count {
        if problem.load(at).is_some() {
            // Transfer times are rounded down and savings are rounded up, because neither is exactly
            // proportional to bytes.
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

/// Returns true if operator `here` starts later than operator `before` ends.
fn waits(problem: &TimelineProblem, start: &[Time], before: usize, here: usize) -> bool {
    start[here] > start[before] + problem.operators()[before].compute
}

/// Returns the highest of the bounds, with the simplest witness. The complexity is that of [`memory_bound`].
pub fn time_bound(problem: &TimelineProblem) -> TimeBound {
    let mut best = compute_bound(problem);
    for bound in transfer_bound(problem).into_iter().chain([memory_bound(problem)]) {
        if bound.value > best.value {
            best = bound;
        }
    }
    best
}

/// If some operator does not fit into on-chip memory, returns the proof that no timeline exists. Otherwise,
/// returns [`time_bound`].
pub fn fitting_bound(problem: &TimelineProblem) -> TimeBound {
    match problem.too_large() {
        Some(at) => LowerBound::new(Time::MAX, TimeWitness::TooLarge { operator: OperatorId::at(at) }),
        None => time_bound(problem),
    }
}

/// Confirms a bound by recomputing it. The complexity is that of [`time_bound`].
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
