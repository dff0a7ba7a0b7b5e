//! Chooses the weights that stay resident on chip.

use super::Prefetch;
use plimsoll_model::timelines::{OverlapProgram, Time};
use plimsoll_model::{Budget, Bytes, Solver};

/// A measure of the benefit of resident weights. Blocks with the most benefit per byte come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// The time of the saved transfers, including the setup latency. Small weights with many uses therefore
    /// come first.
    Transfers,
    /// The time for which operators wait for the weights under `prefetch`. Ties are broken by the time of the
    /// saved transfers.
    Waiting,
}

impl Worth {
    /// All measures.
    pub const ALL: [Self; 2] = [Self::Transfers, Self::Waiting];
}

/// Returns the weight blocks of a program in descending order of benefit per byte, except blocks that save no
/// transfer.
///
/// The program must have no resident weights. If `stays` is set, resident weights remain on chip between
/// runs. Otherwise, each of them is still fetched once per run of the program. O(n log n) for n uses of
/// blocks, plus one run of `prefetch`.
pub fn residents(program: &OverlapProgram, worth: Worth, stays: bool) -> Vec<usize> {
    let runs = program.runs();
    let waits = match worth {
        Worth::Transfers => Vec::new(),
        Worth::Waiting => waiting(program),
    };
    // Per block: the waiting time and the time of the saved transfers, the bytes, and the index.
    let mut ranked: Vec<([u128; 2], u128, usize)> = Vec::with_capacity(program.blocks().len());
    for (at, block) in program.blocks().iter().enumerate() {
        let Some(&(segment, position)) = block.uses.first() else { continue };
        let load = program.segments()[segment].problem.load(position).unwrap_or_default();
        let uses: u64 = block.uses.iter().fold(0, |sum, &(segment, _)| sum.saturating_add(runs[segment]));
        let saved = u128::from(load.get()) * u128::from(uses.saturating_sub(u64::from(!stays)));
        let waited = block.uses.iter().map(|&(segment, position)| {
            let wait = waits.get(segment).and_then(|segment: &Vec<Time>| segment.get(position));
            u128::from(wait.copied().unwrap_or_default().get()) * u128::from(runs[segment])
        });
        if saved > 0 && block.bytes > Bytes::ZERO {
            ranked.push(([waited.fold(0, u128::saturating_add), saved], u128::from(block.bytes.get()), at));
        }
    }
    // The blocks are sorted by benefit per byte. If sums or products saturate, the order is still well
    // defined.
    let product = |a: u128, b: u128| a.saturating_mul(b);
    ranked.sort_by(|(a, a_bytes, a_at), (b, b_bytes, b_at)| {
        let by = |nth: usize| product(b[nth], *a_bytes).cmp(&product(a[nth], *b_bytes));
        by(0).then(by(1)).then(a_at.cmp(b_at))
    });
    ranked.into_iter().map(|(_, _, at)| at).collect()
}

/// Returns the blocks that fit into `space` bytes, chosen greedily in the given order. Sizes are rounded up
/// to the alignment.
pub fn fitting(program: &OverlapProgram, order: &[usize], space: Bytes, alignment: Bytes) -> Vec<usize> {
    let mut left = space.get();
    let mut chosen = Vec::new();
    for &at in order {
        let Some(size) = program.blocks()[at].bytes.align_up(alignment) else { continue };
        if let Some(rest) = left.checked_sub(size.get()) {
            left = rest;
            chosen.push(at);
        }
    }
    chosen
}

/// Returns candidate sets of blocks that stay resident within a capacity, the empty set first.
///
/// There is one set for every combination of a size threshold and a share. The `shares` are in eighths, and
/// duplicate sets are omitted. Each set contains all blocks above its threshold. The other blocks are tried
/// in the given order, and those that fit into the share of the remaining space are added. The remaining
/// space excludes the size of the largest of the other blocks, which may still have to be fetched.
pub fn resident_sets(
    program: &OverlapProgram,
    order: &[usize],
    capacity: Bytes,
    alignment: Bytes,
    shares: &[u64],
) -> Vec<Vec<usize>> {
    let rounded = |at: usize| program.blocks()[at].bytes.align_up(alignment).map_or(u64::MAX, Bytes::get);
    let problems = program.segments().iter().map(|segment| segment.problem.activations().get());
    let free = capacity.get().saturating_sub(problems.max().unwrap_or(0));
    let mut by_size: Vec<usize> = order.to_vec();
    by_size.sort_by_key(|&at| std::cmp::Reverse(rounded(at)));
    let mut sets = vec![Vec::new()];
    let (mut kept, mut next) = (0u64, 0);
    for _ in 0..SIZES {
        // The largest block that is still fetched.
        let passing = by_size.get(next).map_or(0, |&at| rounded(at));
        let Some(space) = free.checked_sub(kept).and_then(|space| space.checked_sub(passing)) else { break };
        for share in shares {
            let space = (u128::from(space) * u128::from(*share) / 8) as u64;
            let mut set: Vec<usize> = by_size[..next].to_vec();
            let smaller: Vec<usize> = order.iter().copied().filter(|at| !set.contains(at)).collect();
            set.extend(fitting(program, &smaller, Bytes::new(space), alignment));
            set.sort_unstable();
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        while next < by_size.len() && rounded(by_size[next]) == passing {
            kept = kept.saturating_add(passing);
            next += 1;
        }
        if passing == 0 {
            break;
        }
    }
    sets
}

/// Maximum number of size thresholds. All blocks above a threshold stay resident.
const SIZES: usize = 6;

/// Returns how long each operator of every segment waits for its weights under `prefetch`. The list is empty
/// for a segment without a timeline.
fn waiting(program: &OverlapProgram) -> Vec<Vec<Time>> {
    let of = |segment: &plimsoll_model::timelines::OverlapSegment| {
        let found = Prefetch.solution(&segment.problem, &mut Budget::unlimited());
        let Some(timeline) = found.ok().flatten() else { return Vec::new() };
        let mut end = Time::ZERO;
        let mut waits = Vec::with_capacity(timeline.computations.len());
        for span in &timeline.computations {
            waits.push(span.start.saturating_sub(end));
            end = span.end;
        }
        waits
    };
    program.segments().iter().map(of).collect()
}
