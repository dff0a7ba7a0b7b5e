//! The upper bound on the optimal peak of an instance.

use crate::buffer::Buffer;
use crate::groups::RigidGroups;
use crate::instance_error::InstanceError;
use crate::units::{BufferId, Bytes};

/// A buffer or a rigid group, as it occurs in a layout in which all of them lie end to end.
struct Unit {
    /// The position of the buffer with the largest part in the unit.
    at: usize,
    needed: u128,
    ceiling: u128,
}

impl Unit {
    /// Returns a range of addresses with space for `size` bytes at a multiple of `alignment`, or at a given
    /// residue. The alignment moves the start up by less than the alignment.
    fn new(at: usize, size: Bytes, alignment: Bytes) -> Self {
        let (size, alignment) = (u128::from(size.get()), u128::from(alignment.get()));
        let ceiling = size.next_multiple_of(alignment) + alignment;
        Self { at, needed: size + alignment - 1, ceiling }
    }
}

/// Returns the buffers of non-zero size that are in no group, and the groups with such buffers. A group
/// counts as at least the buffers in it, so that the total of all sizes does not overflow. It also never
/// increases if fixed offsets or members are removed.
fn units(buffers: &[Buffer], groups: &RigidGroups) -> Vec<Unit> {
    let alone = |at: usize| {
        let buffer = &buffers[at];
        (!buffer.is_empty()).then(|| Unit::new(at, buffer.size(), buffer.alignment()))
    };
    let mut units: Vec<Unit> =
        (0..buffers.len()).filter(|&at| groups.of(BufferId::at(at)).is_none()).filter_map(alone).collect();
    for group in groups.all() {
        let members: Vec<Unit> = group.members().iter().filter_map(|(id, _)| alone(id.index())).collect();
        let Some(at) = members.iter().max_by_key(|one| one.needed).map(|one| one.at) else { continue };
        let whole = Unit::new(at, group.extent(), group.alignment());
        units.push(Unit {
            at,
            needed: whole.needed.max(members.iter().map(|one| one.needed).sum()),
            ceiling: whole.ceiling.max(members.iter().map(|one| one.ceiling).sum()),
        });
    }
    units.sort_by_key(|unit| unit.at);
    units
}

/// Computes [`Instance::ceiling`](crate::Instance::ceiling): all buffers and all rigid groups are laid end to
/// end, each aligned, above the highest end of a fixed buffer. The total must fit into `i64`, so that no sum
/// computed by an algorithm can overflow.
pub(crate) fn checked_ceiling(buffers: &[Buffer], groups: &RigidGroups) -> Result<Bytes, InstanceError> {
    let limit = Bytes::new(i64::MAX as u64);
    let sized = buffers.iter().enumerate().filter(|(_, b)| !b.is_empty());
    let fixed_end = |b: &Buffer| Some(u128::from(b.fixed()?.get()) + u128::from(b.size().get()));
    let highest = sized.filter_map(|(at, b)| Some((fixed_end(b)?, at))).max_by_key(|&(end, _)| end);
    let mut needed = highest.map_or(0, |(end, _)| end);
    let mut ceiling = needed;
    let mut last = highest.map(|(_, at)| at);
    for unit in units(buffers, groups) {
        if needed > u128::from(limit.get()) {
            break;
        }
        needed += unit.needed;
        ceiling += unit.ceiling;
        last = Some(unit.at);
    }
    match last {
        Some(at) if needed > u128::from(limit.get()) => Err(overflow(buffers, groups, at, needed, limit)),
        _ => Ok(Bytes::new(u64::try_from(ceiling).unwrap_or(u64::MAX).min(limit.get()))),
    }
}

/// Creates the error for a total that exceeds the limit when the buffer at position `at` is added.
fn overflow(
    buffers: &[Buffer],
    groups: &RigidGroups,
    at: usize,
    needed: u128,
    limit: Bytes,
) -> InstanceError {
    let b = &buffers[at];
    let distance = groups.of(BufferId::at(at)).map(|(_, distance)| distance);
    // The last entry with the largest value is reported, so a tie with the size is reported as an error in
    // the size.
    let parts = [
        (distance.unwrap_or_default(), "above"),
        (b.alignment(), "alignment"),
        (b.fixed().unwrap_or_default(), "offset"),
        (b.size(), "size"),
    ];
    let largest = parts.into_iter().max_by_key(|&(value, _)| value);
    let (value, column) = largest.expect("there are four");
    InstanceError::TotalOverflow {
        buffer: BufferId::at(at),
        name: b.name().to_string(),
        column,
        value,
        needed,
        limit,
    }
}
