//! The checker: it recomputes everything from the definitions and reports every violation.
//!
//! The checker shares no code with the algorithms. It tests conflicts interval by interval and pair by pair,
//! and recomputes peaks from offsets and sizes. For more than [`ALL_PAIRS`] buffers, it [sweeps](sweep) over
//! time instead of comparing all pairs. The sweep finds the same pairs, but reports at most
//! [`MOST_OVERLAPS`] of them.
//!
//! A layout is *valid* if
//! - every buffer has one offset, which is a multiple of the alignment of the buffer;
//! - every buffer with a fixed offset lies at that offset;
//! - every buffer that must lie at a distance above another one does so;
//! - no two conflicting buffers share an address;
//! - every buffer of non-zero size ends within the 64-bit address space, and not above the capacity of the
//!   instance if there is one.

pub(crate) mod conflict;
mod sweep;

use crate::instance::{Buffer, Instance};
use crate::offsets::{Layout, Piece, PoolPlan, SplitLayout};
use crate::units::{BufferId, Bytes, OperatorId, PoolId};
use crate::words::byte_count;
use conflict::conflict;

/// A violation of the rules for a valid answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum Violation {
    #[error("the answer has {given} entries, but there are {expected} buffers")]
    Count { given: usize, expected: usize },
    #[error("buffer '{name}' lies at offset {offset}, which is not a multiple of its alignment {alignment}")]
    Misaligned { buffer: BufferId, name: String, offset: Bytes, alignment: Bytes },
    #[error("buffer '{name}' lies at {offset}, but is fixed at {fixed}")]
    Moved { buffer: BufferId, name: String, offset: Bytes, fixed: Bytes },
    /// A distance in a rigid group differs from the required one.
    #[error(
        "buffer '{name}' lies at {offset} and '{lower_name}' at {lower_offset}, but '{name}' must lie {} above \
         '{lower_name}'", byte_count(*.required)
    )]
    Distance {
        buffer: BufferId,
        name: String,
        offset: Bytes,
        lower: BufferId,
        lower_name: String,
        lower_offset: Bytes,
        required: Bytes,
    },
    /// The problem gives no meaning to rigid groups.
    #[error("the instance has rigid groups (column 'above'), which have no meaning for {problem}")]
    Groups { problem: &'static str },
    #[error(
        "buffers '{a_name}' at [{}, {}) and '{b_name}' at [{}, {}) conflict and share {}",
        .a_range.0, .a_range.1, .b_range.0, .b_range.1, byte_count(*.shared)
    )]
    Overlap {
        a: BufferId,
        a_name: String,
        a_range: (Bytes, Bytes),
        b: BufferId,
        b_name: String,
        b_range: (Bytes, Bytes),
        shared: Bytes,
    },
    #[error("buffer '{name}' ends at {end}, beyond the capacity of {capacity} bytes")]
    OverCapacity { buffer: BufferId, name: String, end: Bytes, capacity: Bytes },
    #[error("buffer '{name}' of {size} bytes at {offset} exceeds the address space")]
    OutOfRange { buffer: BufferId, name: String, offset: Bytes, size: Bytes },
    /// The buffer is spilled, but must stay in on-chip memory.
    #[error("buffer '{name}' is spilled, but must stay in on-chip memory")]
    MayNotLeave { buffer: BufferId, name: String },
    /// The lengths of the pieces do not add up to the size of the buffer.
    #[error("the pieces of buffer '{name}' hold {given} bytes in total instead of {size}")]
    PieceSum { buffer: BufferId, name: String, given: u128, size: Bytes },
    /// Two pieces of a buffer share addresses, or a piece is empty.
    #[error("pieces {first} and {second} of buffer '{name}' overlap or are empty")]
    Pieces { buffer: BufferId, name: String, first: usize, second: usize },
    #[error("the order contains operator {operator}, but there are only {operators} operators")]
    NoSuchOperator { operator: OperatorId, operators: usize },
    /// The operator is not in the order.
    #[error("operator '{name}' is missing from the order")]
    OperatorMissing { operator: OperatorId, name: String },
    /// The operator occurs more than once in the order.
    #[error("operator '{name}' runs at step {first} and again at step {second}")]
    OperatorTwice { operator: OperatorId, name: String, first: usize, second: usize },
    /// The operator does not run after an operator that it depends on.
    #[error(
        "operator '{after_name}' runs at step {after_step}, \
         but must run after operator '{before_name}', which runs at step {before_step}"
    )]
    Precedence {
        before: OperatorId,
        before_name: String,
        before_step: usize,
        after: OperatorId,
        after_name: String,
        after_step: usize,
    },
    #[error("buffer '{name}' is in shared object {pool}, but there are only {pools} shared objects")]
    NoSuchPool { buffer: BufferId, name: String, pool: PoolId, pools: usize },
    #[error("buffer '{name}' of {size} bytes does not fit into shared object {pool} of {space} bytes")]
    PoolTooSmall { buffer: BufferId, name: String, size: Bytes, pool: PoolId, space: Bytes },
    #[error("buffers '{a_name}' and '{b_name}' conflict, but are both in shared object {pool}")]
    PoolConflict { a: BufferId, a_name: String, b: BufferId, b_name: String, pool: PoolId },
    /// The total size of the objects exceeds the capacity.
    #[error("the shared objects have {total} bytes in total, more than the capacity of {capacity}")]
    TotalOverCapacity { total: Bytes, capacity: Bytes },
    /// The total size of the objects exceeds 2^63 - 1 bytes, the limit of sums of sizes.
    #[error("the sizes of the shared objects add up to more than 2^63 - 1 bytes")]
    TotalOutOfRange,
    /// The peak or total differs from the value stated in the answer.
    #[error("the answer states {claimed} bytes, but needs {actual}")]
    Value { claimed: Bytes, actual: Bytes },
}

impl Violation {
    /// Returns the verdict on an answer with violations: `too large` if it only exceeds the capacity, and
    /// otherwise `invalid`. O(n) for n violations.
    pub fn verdict(violations: &[Self]) -> &'static str {
        let is_size = |one: &Self| matches!(one, Self::OverCapacity { .. } | Self::TotalOverCapacity { .. });
        if violations.iter().all(is_size) { "too large" } else { "invalid" }
    }
}

fn name(buffer: &Buffer) -> String {
    buffer.name().to_string()
}

fn count(given: usize, expected: usize) -> Option<Violation> {
    (given != expected).then_some(Violation::Count { given, expected })
}

/// The maximum number of buffers for which all pairs are compared. For more buffers, the sweep finds the
/// overlapping pairs.
const ALL_PAIRS: usize = 4_096;

/// The maximum number of overlapping pairs that the sweep lists. A longer list would not help to diagnose an
/// invalid layout.
const MOST_OVERLAPS: usize = 10_000;

/// Returns all violations of a layout. The list is empty if the layout is valid.
///
/// For more than 4,096 buffers, at most 10,000 overlapping pairs are listed. For n buffers with k intervals
/// each, the time is O(n^2 k^2) if n is at most 4,096. For larger n, the time is O(n k log n) if there are
/// few exclusions.
pub fn check_layout(instance: &Instance, layout: &Layout) -> Vec<Violation> {
    let placed: Vec<Option<Bytes>> = layout.offsets().iter().copied().map(Some).collect();
    check_placed(instance, &placed)
}

/// Checks the buffers that have an offset and ignores the others.
pub(crate) fn check_placed(instance: &Instance, placed: &[Option<Bytes>]) -> Vec<Violation> {
    if let Some(violation) = count(placed.len(), instance.len()) {
        return vec![violation];
    }
    let mut violations = Vec::new();
    // An empty range shares no address with any other.
    let mut ranges = vec![[(0, 0)]; instance.len()];
    for (id, (b, offset)) in instance.ids().zip(instance.buffers().iter().zip(placed)) {
        if let Some(offset) = *offset {
            check_place(instance, id, b, offset, &mut violations);
            ranges[id.index()] = [(offset.get(), offset.get().saturating_add(b.size().get()))];
            violations.extend(distance(instance, id, offset, placed));
        }
    }
    let overlaps = if instance.len() <= ALL_PAIRS {
        overlaps(instance, &ranges)
    } else {
        sweep::overlaps(instance, &ranges, MOST_OVERLAPS)
    };
    violations.extend(overlaps.into_iter().map(|pair| overlap(instance, &ranges, pair)));
    violations
}

/// Compares all pairs and returns those that conflict and share addresses. The pairs are in ascending order,
/// each with the smaller id first.
fn overlaps(instance: &Instance, ranges: &[[(u64, u64); 1]]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for (i, &[(start, end)]) in ranges.iter().enumerate() {
        for (j, &[(other_start, other_end)]) in ranges.iter().enumerate().skip(i + 1) {
            if start.max(other_start) < end.min(other_end)
                && conflict(instance, BufferId::at(i), BufferId::at(j))
            {
                found.push((i as u32, j as u32));
            }
        }
    }
    found
}

fn overlap(instance: &Instance, ranges: &[[(u64, u64); 1]], (a, b): (u32, u32)) -> Violation {
    let range = |id: u32| ranges[id as usize][0];
    let bytes = |(start, end): (u64, u64)| (Bytes::new(start), Bytes::new(end));
    let shared = range(a).1.min(range(b).1) - range(a).0.max(range(b).0);
    let (a, b) = (BufferId::new(a), BufferId::new(b));
    Violation::Overlap {
        a,
        a_name: name(instance.buffer(a)),
        a_range: bytes(range(a.get())),
        b,
        b_name: name(instance.buffer(b)),
        b_range: bytes(range(b.get())),
        shared: Bytes::new(shared),
    }
}

/// Checks the distance of a buffer from the buffer above which it must lie, if that one is placed.
fn distance(
    instance: &Instance,
    buffer: BufferId,
    offset: Bytes,
    placed: &[Option<Bytes>],
) -> Option<Violation> {
    let (lower, required) = instance.above(buffer)?;
    let lower_offset = placed[lower.index()]?;
    let wanted = u128::from(lower_offset.get()) + u128::from(required.get());
    let [name, lower_name] = [buffer, lower].map(|id| name(instance.buffer(id)));
    (u128::from(offset.get()) != wanted).then_some(Violation::Distance {
        buffer,
        name,
        offset,
        lower,
        lower_name,
        lower_offset,
        required,
    })
}

/// Checks the alignment, the fixed offset and the end of one buffer.
fn check_place(
    instance: &Instance,
    buffer: BufferId,
    b: &Buffer,
    offset: Bytes,
    violations: &mut Vec<Violation>,
) {
    if !offset.get().is_multiple_of(b.alignment().get()) {
        let alignment = b.alignment();
        violations.push(Violation::Misaligned { buffer, name: name(b), offset, alignment });
    }
    if let Some(fixed) = b.fixed()
        && fixed != offset
    {
        violations.push(Violation::Moved { buffer, name: name(b), offset, fixed });
    }
    match (offset.checked_add(b.size()), instance.capacity()) {
        // A buffer of size 0 cannot end above the capacity.
        _ if b.size() == Bytes::ZERO => {}
        (None, _) => {
            let size = b.size();
            violations.push(Violation::OutOfRange { buffer, name: name(b), offset, size });
        }
        (Some(end), Some(capacity)) if end > capacity => {
            violations.push(Violation::OverCapacity { buffer, name: name(b), end, capacity });
        }
        _ => {}
    }
}

/// Returns the violations of a layout of split buffers. The list is empty if the layout is valid.
///
/// The pieces of a buffer must be nonempty and disjoint, and their lengths must add up to its size. Each
/// piece must start at a multiple of the alignment. A fixed buffer must be one piece at its fixed offset. For
/// more than 4,096 buffers, at most 10,000 overlapping pairs of buffers are examined. Rigid groups are
/// refused.
pub fn check_split_buffers(instance: &Instance, layout: &SplitLayout) -> Vec<Violation> {
    let pieces = layout.pieces();
    if let Some(violation) = count(pieces.len(), instance.len()) {
        return vec![violation];
    }
    if instance.has_groups() {
        return vec![Violation::Groups { problem: "split buffers" }];
    }
    let mut violations = Vec::new();
    for (buffer, (b, own)) in instance.ids().zip(instance.buffers().iter().zip(pieces)) {
        let given: u128 = own.iter().map(|p| u128::from(p.length.get())).sum();
        if given != u128::from(b.size().get()) {
            let size = b.size();
            violations.push(Violation::PieceSum { buffer, name: name(b), given, size });
        }
        let apart = are_apart(own);
        for (first, piece) in own.iter().enumerate() {
            if piece.length == Bytes::ZERO {
                violations.push(Violation::Pieces { buffer, name: name(b), first, second: first });
            }
            for (second, other) in own.iter().enumerate().skip(first + 1).filter(|_| !apart) {
                if piece.start.max(other.start) < piece.end().min(other.end()) {
                    violations.push(Violation::Pieces { buffer, name: name(b), first, second });
                }
            }
            let (offset, alignment) = (piece.start, b.alignment());
            if offset.get() % alignment.get() != 0 {
                violations.push(Violation::Misaligned { buffer, name: name(b), offset, alignment });
            }
            if let Some(fixed) = b.fixed()
                && (own.len() != 1 || offset != fixed)
            {
                violations.push(Violation::Moved { buffer, name: name(b), offset, fixed });
            }
            if let Some(capacity) = instance.capacity()
                && piece.end() > capacity
            {
                let end = piece.end();
                violations.push(Violation::OverCapacity { buffer, name: name(b), end, capacity });
            }
        }
    }
    for (i, j) in meetings(instance, pieces) {
        let (a, b) = (BufferId::at(i), BufferId::at(j));
        for x in &pieces[i] {
            for y in &pieces[j] {
                let (low, high) = (x.start.max(y.start), x.end().min(y.end()));
                if low < high && conflict(instance, a, b) {
                    violations.push(Violation::Overlap {
                        a,
                        a_name: name(instance.buffer(a)),
                        a_range: (x.start, x.end()),
                        b,
                        b_name: name(instance.buffer(b)),
                        b_range: (y.start, y.end()),
                        shared: Bytes::new(high.get() - low.get()),
                    });
                }
            }
        }
    }
    violations
}

/// Returns the pairs of buffers whose pieces may overlap, in ascending order, each with the smaller id
/// first. For at most [`ALL_PAIRS`] buffers, these are all pairs whose address ranges, from the lowest piece
/// to the highest, overlap. For more buffers, these are the conflicting pairs found by the sweep.
fn meetings(instance: &Instance, pieces: &[Vec<Piece>]) -> Vec<(usize, usize)> {
    if pieces.len() > ALL_PAIRS {
        let range = |piece: &Piece| (piece.start.get(), piece.end().get());
        let ranges: Vec<Vec<(u64, u64)>> = pieces.iter().map(|own| own.iter().map(range).collect()).collect();
        let found = sweep::overlaps(instance, &ranges, MOST_OVERLAPS);
        return found.into_iter().map(|(a, b)| (a as usize, b as usize)).collect();
    }
    let hull = |own: &Vec<Piece>| {
        (own.iter().map(|piece| piece.start).min(), own.iter().map(|piece| piece.end()).max())
    };
    let hulls: Vec<_> = pieces.iter().map(hull).collect();
    let meet = |&(i, j): &(usize, usize)| hulls[i].1 > hulls[j].0 && hulls[j].1 > hulls[i].0;
    let pairs = (0..pieces.len()).flat_map(|i| (i + 1..pieces.len()).map(move |j| (i, j)));
    pairs.filter(meet).collect()
}

/// Returns true if no two pieces share an address.
fn are_apart(pieces: &[Piece]) -> bool {
    let mut sorted: Vec<&Piece> = pieces.iter().collect();
    sorted.sort_unstable_by_key(|piece| (piece.start, piece.end()));
    sorted.windows(2).all(|pair| pair[0].end() <= pair[1].start)
}

/// Returns all violations of a shared-object plan. The list is empty if the plan is valid.
///
/// Each buffer must fit into its object, no two buffers in one object may conflict, and the total size of the
/// objects must not exceed the capacity. Alignments and fixed offsets concern addresses and do not apply. For
/// more than 4,096 buffers, at most 10,000 conflicting pairs are listed. Rigid groups are refused.
pub fn check_shared_objects(instance: &Instance, plan: &PoolPlan) -> Vec<Violation> {
    let assignment = plan.assignment();
    if let Some(violation) = count(assignment.len(), instance.len()) {
        return vec![violation];
    }
    if instance.has_groups() {
        return vec![Violation::Groups { problem: "shared objects" }];
    }
    let mut violations = Vec::new();
    let together = if instance.len() > ALL_PAIRS {
        // Buffers in the same object share the object's number as their address.
        let place = |pool: &PoolId| [(pool.index() as u64, pool.index() as u64 + 1)];
        sweep::overlaps(instance, &assignment.iter().map(place).collect::<Vec<_>>(), MOST_OVERLAPS)
    } else {
        let pairs = (0..assignment.len()).flat_map(|i| (i + 1..assignment.len()).map(move |j| (i, j)));
        let share = pairs.filter(|&(i, j)| assignment[i] == assignment[j]);
        let share = share.filter(|&(i, j)| conflict(instance, BufferId::at(i), BufferId::at(j)));
        share.map(|(i, j)| (i as u32, j as u32)).collect()
    };
    for (i, &pool) in assignment.iter().enumerate() {
        let (buffer, b) = (BufferId::at(i), &instance.buffers()[i]);
        let Some(&space) = plan.sizes().get(pool.index()) else {
            let pools = plan.sizes().len();
            violations.push(Violation::NoSuchPool { buffer, name: name(b), pool, pools });
            continue;
        };
        if b.size() > space {
            let size = b.size();
            violations.push(Violation::PoolTooSmall { buffer, name: name(b), size, pool, space });
        }
        let from = together.partition_point(|&(a, _)| (a as usize) < i);
        for &(_, other) in together[from..].iter().take_while(|&&(a, _)| a as usize == i) {
            let other = BufferId::new(other);
            violations.push(Violation::PoolConflict {
                a: buffer,
                a_name: name(b),
                b: other,
                b_name: name(instance.buffer(other)),
                pool,
            });
        }
    }
    let total = plan.total();
    if total > PoolPlan::MOST {
        violations.push(Violation::TotalOutOfRange);
    } else if let Some(capacity) = instance.capacity()
        && total > capacity
    {
        violations.push(Violation::TotalOverCapacity { total, capacity });
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::InstanceBuilder;
    use crate::lifespan::Lifespan;
    use crate::offsets::Piece;

    fn instance() -> Instance {
        let buffer = |name: &str, size: u64, lower: u64, upper: u64| {
            Buffer::new(name, size, Lifespan::single(lower, upper).unwrap())
        };
        InstanceBuilder::new("t")
            .buffer(buffer("a", 4, 0, 4).aligned(4))
            .buffer(buffer("b", 2, 2, 6))
            .buffer(buffer("c", 4, 4, 8).fixed_at(2))
            .capacity(Bytes::new(8))
            .build()
            .unwrap()
    }

    #[test]
    fn a_valid_layout_has_no_violation() {
        assert_eq!(check_layout(&instance(), &Layout::from_raw([4, 0, 2])), []);
    }

    #[test]
    fn every_violation_is_found_and_numbered() {
        let found = check_layout(&instance(), &Layout::from_raw([6, 7, 3]));
        assert!(matches!(found[0], Violation::Misaligned { buffer, .. } if buffer.index() == 0));
        assert!(matches!(found[1], Violation::OverCapacity { end, .. } if end.get() == 10));
        assert!(matches!(found[2], Violation::OverCapacity { end, .. } if end.get() == 9));
        assert!(matches!(found[3], Violation::Moved { fixed, .. } if fixed.get() == 2));
        assert!(matches!(found[4], Violation::Overlap { shared, .. } if shared.get() == 2));
        assert_eq!(found.len(), 5);
        let short = check_layout(&instance(), &Layout::from_raw([0]));
        assert!(matches!(short[..], [Violation::Count { given: 1, expected: 3 }]));
        let out = check_layout(&instance(), &Layout::from_raw([4, u64::MAX, 2]));
        assert!(matches!(out[..], [Violation::OutOfRange { .. }]));
    }

    /// Checks many copies of a small instance, shifted in time, so that the sweep is used. The layout is
    /// checked first intact and then damaged.
    #[test]
    fn large_layouts_are_swept_with_the_same_answers() {
        let copies = ALL_PAIRS / 3 + 1;
        let buffers = (0..copies as u64).flat_map(|copy| {
            [("a", 4, 0, 4), ("b", 2, 2, 6), ("c", 4, 4, 8)].map(|(name, size, lower, upper)| {
                let lifespan = Lifespan::single(8 * copy + lower, 8 * copy + upper).unwrap();
                Buffer::new(format!("{name}{copy}"), size, lifespan)
            })
        });
        let large = InstanceBuilder::new("t").buffers(buffers).build().unwrap();
        let mut offsets: Vec<u64> = [4, 0, 2].repeat(copies);
        assert_eq!(check_layout(&large, &Layout::from_raw(offsets.iter().copied())), []);
        offsets[301] = 3;
        offsets[602] = 1;
        let found = check_layout(&large, &Layout::from_raw(offsets));
        let pairs: Vec<(usize, usize)> = found
            .iter()
            .map(|violation| match violation {
                Violation::Overlap { a, b, .. } => (a.index(), b.index()),
                other => panic!("{other}"),
            })
            .collect();
        assert_eq!(pairs, [(300, 301), (301, 302), (601, 602)]);
        let all_at_once = check_layout(&large, &Layout::from_raw(vec![0; 3 * copies]));
        assert_eq!(all_at_once.len(), 2 * copies);
    }

    #[test]
    fn shared_objects_are_checked() {
        let t = instance();
        let pool = |ids: [u32; 3]| ids.map(PoolId::new).to_vec();
        let good = PoolPlan::fitted(&t, pool([0, 1, 0]), Bytes::new(1));
        assert_eq!(check_shared_objects(&t, &good), []);
        assert_eq!(good.total().get(), 6);
        let bad = PoolPlan::fitted(&t, pool([0, 0, 1]), Bytes::new(1));
        assert!(matches!(check_shared_objects(&t, &bad)[..], [Violation::PoolConflict { .. }]));
        let small = PoolPlan::new(pool([0, 1, 0]), vec![Bytes::new(3), Bytes::new(2)]);
        assert_eq!(check_shared_objects(&t, &small).len(), 2);
        let missing = PoolPlan::new(pool([0, 1, 9]), vec![Bytes::new(4), Bytes::new(2)]);
        assert!(matches!(check_shared_objects(&t, &missing)[..], [Violation::NoSuchPool { .. }]));
        let huge = PoolPlan::new(pool([0, 1, 0]), [4, 2, 1 << 63].map(Bytes::new).to_vec());
        assert_eq!(check_shared_objects(&t, &huge), [Violation::TotalOutOfRange]);
        assert_eq!(Violation::verdict(&[Violation::TotalOutOfRange]), "invalid");
    }

    #[test]
    fn split_buffers_are_checked() {
        let t = InstanceBuilder::new("t")
            .buffer(Buffer::new("a", 4, Lifespan::single(0, 2).unwrap()))
            .buffer(Buffer::new("b", 2, Lifespan::single(1, 3).unwrap()))
            .build()
            .unwrap();
        let piece = |start, length| Piece { start: Bytes::new(start), length: Bytes::new(length) };
        let good = SplitLayout::new(vec![vec![piece(0, 1), piece(3, 3)], vec![piece(1, 2)]]);
        assert_eq!(check_split_buffers(&t, &good), []);
        let bad = SplitLayout::new(vec![vec![piece(0, 2), piece(1, 1)], vec![piece(1, 2)]]);
        let found = check_split_buffers(&t, &bad);
        assert!(found.iter().any(|v| matches!(v, Violation::PieceSum { given: 3, .. })));
        assert!(found.iter().any(|v| matches!(v, Violation::Pieces { .. })));
        assert!(found.iter().any(|v| matches!(v, Violation::Overlap { .. })));
    }
}
