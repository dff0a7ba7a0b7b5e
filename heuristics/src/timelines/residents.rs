//! Which weights to keep on chip.

use super::Prefetch;
use plimsoll_model::timelines::{OverlapProgram, Time};
use plimsoll_model::{Budget, Bytes, Solver};

/// What makes weights worth their room on chip: most of it per byte comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// Time of the transfers saved, start-up included, so that small weights that are used often come first.
    Transfers,
    /// Time that operators wait for them under `prefetch`, transfers saved breaking ties.
    Waiting,
}

impl Worth {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Transfers, Self::Waiting];
}

/// Blocks of weights of a program where none stay, those worth most per byte first; those that save nothing are left out.
/// `stays` says that they are on chip from run to run: else each is still fetched once. O(n log n) and one `prefetch`.
pub fn residents(program: &OverlapProgram, worth: Worth, stays: bool) -> Vec<usize> {
    let runs = program.runs();
    let waits = match worth {
        Worth::Transfers => Vec::new(),
        Worth::Waiting => waiting(program),
    };
    // Waiting, transfers saved and bytes of each.
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
    // Per byte. Where runs are so many that sums or products saturate, an order nevertheless.
    let product = |a: u128, b: u128| a.saturating_mul(b);
    ranked.sort_by(|(a, a_bytes, a_at), (b, b_bytes, b_at)| {
        let by = |nth: usize| product(b[nth], *a_bytes).cmp(&product(a[nth], *b_bytes));
        by(0).then(by(1)).then(a_at.cmp(b_at))
    });
    ranked.into_iter().map(|(_, _, at)| at).collect()
}

/// Of blocks in this order those that fit into so many bytes, each rounded up to the alignment.
pub fn fitting(program: &OverlapProgram, order: &[usize], room: Bytes, alignment: Bytes) -> Vec<usize> {
    let mut left = room.get();
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

/// Sets of blocks worth keeping in a capacity, the empty one first: for some sizes, all larger blocks and, in this order, as many
/// of the others as `shares` (in eighths) of the room allow that is left beside the largest block that still comes and goes.
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
        // The largest that still comes and goes.
        let passing = by_size.get(next).map_or(0, |&at| rounded(at));
        let Some(room) = free.checked_sub(kept).and_then(|room| room.checked_sub(passing)) else { break };
        for share in shares {
            let room = (u128::from(room) * u128::from(*share) / 8) as u64;
            let mut set: Vec<usize> = by_size[..next].to_vec();
            let smaller: Vec<usize> = order.iter().copied().filter(|at| !set.contains(at)).collect();
            set.extend(fitting(program, &smaller, Bytes::new(room), alignment));
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

/// Sizes of blocks above which all stay, the largest first.
const SIZES: usize = 6;

/// Per segment and operator: how long it waits for its weights under `prefetch`; nothing where that finds no timeline.
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
