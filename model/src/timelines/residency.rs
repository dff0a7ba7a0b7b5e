//! Resident weights: weights that stay in on-chip memory instead of being fetched at each use.
//!
//! Resident blocks occupy the highest addresses in all segments. If the machine keeps weights from run to
//! run, the blocks are already present. Otherwise, all of them are fetched before the program begins. This
//! preload is part of the time of the program.
//!
//! # A bound over all choices
//! Let C be the capacity and A the largest activations. Resident weights must leave space for the activations
//! of every operator, so they have at most `C - A` bytes. For each operator of a segment, a fractional
//! knapsack of that size therefore limits the transfer time that any choice can save in the segment before
//! the operator starts. In the same way, a knapsack over a whole control path limits the transfer time that
//! any choice can save on the path. Both give a bound, and [`residency_bound`] is at least the larger one.
//!
//! If the processor copies weights, it counts as one more channel, and each weight is fetched in the faster
//! way. If weights do not stay from run to run, a third bound takes the time of the preload into account. If
//! there are at most ten blocks, a bound is computed for every set of resident blocks.

use super::bound::{compute_bound, fetchers, memory_bound_from, quickest, time_bound};
use super::machine::Machine;
use super::prefix_sums::PrefixSums;
use super::problem::{TimedOperator, TimelineProblem};
use super::program::{OverlapError, OverlapProgram, OverlapSegment, WeightBlock};
use super::resident::{Preload, Residency};
use super::timeline::{Slot, Span};
use crate::time::Time;
use crate::units::Bytes;
use std::collections::HashSet;

impl OverlapProgram {
    /// Returns the program in which the given blocks are resident, instead of those that are resident now.
    /// The time is linear in the size of the program.
    ///
    /// # Errors
    /// [`OverlapError::Resident`] if the blocks do not fit into on-chip memory. Even without an error,
    /// segments may lack space for their operators.
    ///
    /// # Panics
    /// If a block does not exist, or if `machine` is not the machine of the program.
    pub fn with_resident(&self, machine: &Machine, chosen: &[usize]) -> Result<Self, OverlapError> {
        let mut blocks = chosen.to_vec();
        blocks.sort_unstable();
        blocks.dedup();
        let align = u128::from(machine.alignment.get());
        let sizes = blocks.iter().map(|&at| u128::from(self.blocks[at].bytes.get()).next_multiple_of(align));
        let too_much = || OverlapError::Resident { bytes: sizes.clone().sum(), capacity: machine.capacity };
        let mut end = machine.capacity.get();
        let mut slots = Vec::with_capacity(blocks.len());
        for size in sizes.clone() {
            let size = u64::try_from(size).map_err(|_| too_much())?;
            let top = end.checked_sub(size).ok_or_else(too_much)?;
            end = top - top % machine.alignment.get();
            slots.push(Slot { offset: Bytes::new(end), size: Bytes::new(size) });
        }
        let ceiling = if blocks.is_empty() { machine.capacity } else { Bytes::new(end) };
        let loads = if machine.resident_weights { Vec::new() } else { self.loads(machine, &blocks)? };
        let preload = loads.iter().map(|load| load.span.end).max().unwrap_or(Time::ZERO);
        let bytes = Bytes::new(machine.capacity.get() - ceiling.get());
        let mut program = self.clone();
        for segment in &mut program.segments {
            segment.problem = self.fetching(segment, &blocks, ceiling)?;
        }
        program.residency = Residency { blocks, slots, ceiling, bytes, preload, loads };
        program.share_parity();
        Ok(program)
    }

    /// Returns the problem of a segment without the transfers of resident blocks. The capacity of this
    /// problem is `ceiling`.
    fn fetching(
        &self,
        segment: &OverlapSegment,
        resident: &[usize],
        ceiling: Bytes,
    ) -> Result<TimelineProblem, OverlapError> {
        let old = &segment.problem;
        let operators = old.operators().iter().zip(&segment.blocks).map(|(operator, block)| {
            let weights = match *block {
                Some(block) if resident.binary_search(&block).is_err() => self.blocks[block].bytes,
                _ => Bytes::ZERO,
            };
            TimedOperator { weights, ..operator.clone() }
        });
        old.with(operators.collect(), ceiling)
            .map_err(|source| OverlapError::Segment { segment: old.name().to_owned(), source })
    }

    /// Schedules the preload of blocks, longest first. Each block uses the channel that becomes free first.
    /// With several channels, another assignment may take less time, by up to a quarter (Graham 1969).
    fn loads(&self, machine: &Machine, blocks: &[usize]) -> Result<Vec<Preload>, OverlapError> {
        let too_long = |at: usize| OverlapError::TooLong { operator: self.blocks[at].name.clone() };
        let mut free = vec![Time::ZERO; machine.channels as usize];
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|&nth| std::cmp::Reverse(self.blocks[blocks[nth]].bytes));
        let mut loads = Vec::with_capacity(order.len());
        for resident in order {
            let at = blocks[resident];
            let load = machine.transfer(self.blocks[at].bytes).ok_or_else(|| too_long(at))?;
            let first = free.iter_mut().enumerate().min_by_key(|(_, free)| **free);
            let (channel, free) = first.expect("a machine has a channel");
            let span = Span { start: *free, end: free.checked_add(load).ok_or_else(|| too_long(at))? };
            *free = span.end;
            loads.push(Preload { resident, channel: channel as u32, span });
        }
        Ok(loads)
    }
}

/// A fractional knapsack that is filled item by item. It determines the maximum transfer time in picoseconds
/// that a given number of bytes can save. It keeps prefix sums over the items in descending order of time per
/// byte. Adding an item and answering a query each take O(log n) time for n items.
struct Knapsack {
    ranks: Vec<usize>,
    /// Bytes and saved time of each item, by rank.
    items: Vec<(u64, u64)>,
    /// Sums of the bytes and of the saved time of the items added so far.
    sums: PrefixSums<2>,
}

impl Knapsack {
    /// Creates an empty knapsack for the given items, each a pair of bytes and saved time.
    fn new(items: &[(u64, u64)]) -> Self {
        let mut order: Vec<usize> = (0..items.len()).collect();
        let product = |a: usize, b: usize| u128::from(items[a].1) * u128::from(items[b].0);
        // Items without bytes come first, because they occupy no space.
        order.sort_by(|&a, &b| {
            let free = |at: usize| items[at].0 == 0;
            free(b).cmp(&free(a)).then_with(|| product(b, a).cmp(&product(a, b)))
        });
        let mut ranks = vec![0; items.len()];
        for (rank, &at) in order.iter().enumerate() {
            ranks[at] = rank;
        }
        let items: Vec<_> = order.iter().map(|&at| items[at]).collect();
        let sums = PrefixSums::new(items.len());
        Self { ranks, items, sums }
    }

    fn add(&mut self, item: usize) {
        let rank = self.ranks[item];
        let (bytes, saved) = self.items[rank];
        self.sums.add(rank, [bytes, saved]);
    }

    /// Returns the maximum saving within `space` bytes. It is rounded up, so that the remaining time is a
    /// lower bound.
    fn most(&self, space: u64) -> u128 {
        let space = u128::from(space);
        let (at, [bytes, saved]) = self.sums.prefix(|_, [bytes, _]| bytes <= space);
        let left = space - bytes;
        // The next item has been added, because otherwise it would be in the prefix. It is larger than the
        // remaining space.
        let part = self
            .items
            .get(at)
            .map_or(0, |&(bytes, time)| (u128::from(time) * left).div_ceil(u128::from(bytes)));
        saved + part
    }
}

/// Returns a lower bound on the time of the longest run of a program, for any choice of resident weights.
/// Returns `None` on overflow. O(n log n) for n operators. If there are at most ten blocks, the bounds of all
/// sets of blocks are computed too.
///
/// `program` must not have resident weights, and `machine` must be the machine of the program.
pub fn residency_bound(program: &OverlapProgram, machine: &Machine) -> Option<Time> {
    let bound = relaxed_bound(program, machine.resident_weights)?;
    if program.blocks().len() > FEW_BLOCKS {
        return Some(bound);
    }
    let sets = (0..1usize << program.blocks().len())
        .map(|mask| (0..program.blocks().len()).filter(|at| mask >> at & 1 == 1).collect::<Vec<usize>>());
    let of_set = |set: Vec<usize>| {
        let with = program.with_resident(machine, &set).ok()?;
        let fits = with.segments().iter().all(|segment| segment.problem.too_large().is_none());
        let times: Vec<Time> =
            with.segments().iter().map(|segment| time_bound(&segment.problem).value).collect();
        fits.then(|| with.longest(&|at| times[at]))?
    };
    Some(sets.filter_map(of_set).min().map_or(bound, |least| least.max(bound)))
}

/// The maximum number of blocks for which a bound is computed for every set.
const FEW_BLOCKS: usize = 10;

/// Returns the best of the bounds that do not enumerate sets of blocks. `stays` is true if resident weights
/// stay from run to run.
fn relaxed_bound(program: &OverlapProgram, stays: bool) -> Option<Time> {
    let segments = program.segments();
    let problems = || segments.iter().map(|segment| &segment.problem);
    let activations = problems().map(|problem| problem.activations().get()).max().unwrap_or(0);
    let capacity = problems().map(|problem| problem.capacity().get()).max().unwrap_or(0);
    let space = capacity.saturating_sub(activations);
    let each: Vec<Time> = segments.iter().map(|segment| segment_bound(segment, space)).collect();
    let by_segments = program.longest(&|at| each[at])?;
    // Every control path gives a valid bound. The path with the most fetch time is probably a long one.
    let loads = |problem: &TimelineProblem| (0..problem.len()).filter_map(|at| quickest(problem, at)).sum();
    let sums: Vec<Time> = problems().map(loads).collect();
    let mut runs = vec![0u64; sums.len()];
    let mut all = Time::ZERO;
    for at in program.path(&|at| sums[at], MOST_SEGMENTS) {
        runs[at] += 1;
        all = all.checked_add(sums[at])?;
    }
    let mut items = Vec::with_capacity(program.blocks().len());
    for block in program.blocks() {
        let uses = block.uses.iter().map(|&(segment, _)| runs[segment]).sum::<u64>();
        let load = block.uses.first().and_then(|&(segment, at)| quickest(&segments[segment].problem, at));
        let fetches = uses.saturating_sub(u64::from(!stays));
        items.push((block.bytes.get(), load.unwrap_or_default().get().checked_mul(fetches)?));
    }
    let beside = |block: &WeightBlock| {
        let uses = block.uses.iter();
        let activations =
            uses.map(|&(segment, at)| segments[segment].problem.operators()[at].activations.get());
        activations.max().unwrap_or(0)
    };
    let beside: Vec<u64> = program.blocks().iter().map(beside).collect();
    let saved = most_saved(&items, &beside, capacity, space);
    let channels = problems().map(fetchers).max().unwrap_or(1);
    let bound = by_segments.max(left(all, saved, channels));
    if stays { Some(bound) } else { Some(bound.max(fetched_before(program)?)) }
}

/// Returns a lower bound on the time of the longest run if resident weights are fetched before the run
/// begins.
///
/// With one channel, a block that is used once need not be resident: fetching it at the start of its segment
/// takes the same time. With several channels, the preload can fetch in parallel the blocks that segments
/// fetch sequentially, so this argument does not apply. Therefore, either no block is resident, or at least
/// one block to which the argument does not apply is fetched before all computations.
fn fetched_before(program: &OverlapProgram) -> Option<Time> {
    let segments = program.segments();
    let none = program.longest(&|at| time_bound(&segments[at].problem).value)?;
    let runs = program.runs();
    let in_turn = segments.iter().all(|segment| segment.problem.dma().channels == 1);
    let several = program.blocks().iter().filter(|block| {
        let uses = block.uses.iter().fold(0u64, |sum, &(segment, _)| sum.saturating_add(runs[segment]));
        uses > 1 || !in_turn
    });
    let load = |block: &WeightBlock| {
        let &(segment, at) = block.uses.first()?;
        segments[segment].problem.load(at)
    };
    let Some(least) = several.filter_map(load).min() else { return Some(none) };
    let some = program.longest(&|at| compute_bound(&segments[at].problem).value)?.checked_add(least)?;
    Some(none.min(some))
}

/// Returns the maximum time that resident items can save. An item is a pair of its bytes and the time that it
/// saves. O(n log n) for n items.
///
/// If not all items are resident, let m be the largest item that is not resident. While m is in on-chip
/// memory, all resident items are there too, together with the activations of the operator of m. The
/// resident items therefore have at most `capacity - beside(m) - bytes(m)` bytes, where `beside(m)` is the
/// size of these activations. All items larger than m are resident. A fractional knapsack chooses among the
/// smaller ones. The result is the maximum over all m, and over the case that all items are resident.
fn most_saved(items: &[(u64, u64)], beside: &[u64], capacity: u64, space: u64) -> u128 {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&at| items[at].0);
    // The totals over the items that are larger than the current one.
    let mut larger = items.iter().map(|&(bytes, _)| u128::from(bytes)).sum::<u128>();
    let mut larger_saved = items.iter().map(|&(_, saved)| u128::from(saved)).sum::<u128>();
    let mut most = if larger <= u128::from(space) { larger_saved } else { 0 };
    let mut smaller = Knapsack::new(items);
    for at in order {
        let (bytes, saved) = items[at];
        (larger, larger_saved) = (larger - u128::from(bytes), larger_saved - u128::from(saved));
        let own = capacity.saturating_sub(beside[at]).saturating_sub(bytes).min(space);
        if let Some(rest) = u128::from(own).checked_sub(larger) {
            most = most.max(larger_saved + smaller.most(rest as u64));
        }
        smaller.add(at);
    }
    most
}

/// Returns the time to fetch the remaining weights on the given number of channels.
fn left(all: Time, saved: u128, channels: u64) -> Time {
    let left = u128::from(all.get()).saturating_sub(saved).div_ceil(u128::from(channels.max(1)));
    Time::new(u64::try_from(left).unwrap_or(u64::MAX))
}

/// The maximum number of segments of a control path that the knapsack over the path includes.
const MOST_SEGMENTS: usize = 100_000;

/// Returns a lower bound on the time of one segment, for any choice of resident weights with at most `space`
/// bytes in total.
///
/// Before operator k starts, the weights up to k that do not stay in memory have been fetched. Weights held
/// for later operators, resident or not, must fit into on-chip memory together with the current operator, as
/// in [`memory_bound`](super::memory_bound). Repeated weights are counted once.
fn segment_bound(segment: &OverlapSegment, space: u64) -> Time {
    let mut seen = HashSet::new();
    let operators = segment.problem.operators().iter().zip(&segment.blocks).map(|(one, block)| {
        let again = block.is_some_and(|block| !seen.insert(block));
        TimedOperator { weights: if again { Bytes::ZERO } else { one.weights }, ..one.clone() }
    });
    let problem = segment.problem.with(operators.collect(), segment.problem.capacity());
    let problem = problem.expect("fewer transfers cannot exceed the limits");
    let load = |at| quickest(&problem, at).unwrap_or_default();
    let items: Vec<(u64, u64)> =
        (0..problem.len()).map(|at| (problem.operators()[at].weights.get(), load(at).get())).collect();
    let mut knapsack = Knapsack::new(&items);
    let mut fetched = Time::ZERO;
    let starts = (0..problem.len()).map(|at| {
        fetched = fetched + load(at);
        knapsack.add(at);
        left(fetched, knapsack.most(space), fetchers(&problem))
    });
    let starts = starts.collect();
    memory_bound_from(&problem, starts).value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knapsack_takes_the_most_time_per_byte_first() {
        let mut knapsack = Knapsack::new(&[(10, 20), (5, 50), (0, 3), (4, 4)]);
        assert_eq!(knapsack.most(100), 0);
        (0..4).for_each(|item| knapsack.add(item));
        assert_eq!([0, 5, 10, 15, 19, 100].map(|space| knapsack.most(space)), [3, 53, 63, 73, 77, 77]);
        assert_eq!((knapsack.most(2), knapsack.most(6)), (23, 55));
        assert_eq!(Knapsack::new(&[]).most(5), 0);
        assert_eq!(Knapsack::new(&[(0, 0), (3, 0), (0, 0), (1, 7), (0, 4)]).most(0), 0);
    }

    #[test]
    fn fetched_weights_need_space_of_their_own() {
        let (items, beside) = ([(10, 100), (10, 100), (4, 30)], [2, 2, 2]);
        assert_eq!(most_saved(&items, &beside, 26, 24), 230);
        // If both items of 10 bytes are resident, there is no space to fetch the item of 4 bytes. If one of
        // them is resident, 3 bytes remain while the other is in memory.
        assert_eq!(most_saved(&items, &beside, 25, 23), 100 + 23);
        assert_eq!(most_saved(&items, &beside, 22, 20), 100);
        // Four bytes of one item of 10 bytes fit while the other is in memory.
        assert_eq!(most_saved(&items, &beside, 16, 14), 40);
        assert_eq!(most_saved(&[], &[], 5, 5), 0);
    }
}
