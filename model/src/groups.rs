//! Rigid groups: buffers at given distances from each other.
//!
//! A statement places one buffer a number of bytes above another one. Every buffer has at most one statement,
//! so the statements form trees. The buffers of a tree form a *rigid group*. Their offsets follow from the
//! *base* of the group, which is the offset of the root of the tree. The root is the lowest member, because
//! distances are never negative.

use crate::buffer::Buffer;
use crate::instance_error::InstanceError;
use crate::units::{BufferId, Bytes};
use plimsoll_support::gcd;
use std::collections::BTreeMap;

/// The largest distance and the largest alignment of a group, in bytes.
const LIMIT: u64 = i64::MAX as u64;

/// A statement: `upper` lies `distance` bytes above `lower`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Above {
    pub upper: BufferId,
    pub lower: BufferId,
    pub distance: Bytes,
}

/// Buffers that lie at given distances above a common base.
///
/// The base is an address. It is at least 0, and equals [`residue`](Self::residue) modulo
/// [`alignment`](Self::alignment). A layout respects the group if every member lies at the base plus its
/// distance.
///
/// Some member has distance 0, unless the instance is a part of another one that lacks the lowest members.
/// Such a part may also contain groups of one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RigidGroup {
    members: Vec<(BufferId, Bytes)>,
    alignment: Bytes,
    residue: Bytes,
    extent: Bytes,
}

impl RigidGroup {
    fn new(members: Vec<(BufferId, Bytes)>, alignment: u64, residue: u64, buffers: &[Buffer]) -> Self {
        let sized = members.iter().map(|&(id, distance)| (&buffers[id.index()], distance.get()));
        let sized = sized.filter(|(buffer, _)| !buffer.is_empty());
        // If a sum is too large, `checked_ceiling` refuses the instance.
        let ends = sized.map(|(buffer, distance)| distance.saturating_add(buffer.size().get()));
        let extent = Bytes::new(ends.max().unwrap_or(0));
        Self { members, alignment: Bytes::new(alignment), residue: Bytes::new(residue), extent }
    }

    /// Returns the members, each with its distance from the base in bytes, by ascending distance, then id.
    pub fn members(&self) -> &[(BufferId, Bytes)] {
        &self.members
    }

    /// Returns the number of bytes of which the base is a multiple, except for the
    /// [`residue`](Self::residue): the least common multiple of the alignments of the members. It is at
    /// least 1.
    pub fn alignment(&self) -> Bytes {
        self.alignment
    }

    /// Returns the base modulo the [`alignment`](Self::alignment), in bytes. This is the lowest possible
    /// base.
    pub fn residue(&self) -> Bytes {
        self.residue
    }

    /// Returns the highest end of a member of non-zero size, in bytes above the base.
    pub fn extent(&self) -> Bytes {
        self.extent
    }

    /// Returns the lowest possible base at or above `from`; `None` on overflow.
    #[inline]
    pub fn base_from(&self, from: Bytes) -> Option<Bytes> {
        let above = Bytes::new(from.get().saturating_sub(self.residue.get()));
        above.align_up(self.alignment)?.checked_add(self.residue)
    }

    /// Returns true if a layout with the given base respects the alignments of the members.
    pub(crate) fn is_base(&self, base: Bytes) -> bool {
        base.get() % self.alignment.get() == self.residue.get()
    }

    /// Returns the group without conditions on the base that the multiples of `grain` meet. `grain` divides
    /// the distances, the residue, and the alignment unless the alignment divides it.
    pub(crate) fn on_grain(mut self, grain: u64) -> Self {
        if grain.is_multiple_of(self.alignment.get()) {
            (self.alignment, self.residue) = (Bytes::new(1), Bytes::ZERO);
        }
        self
    }

    /// Returns the alignment to which the group amounts if it has one member and is no other constraint.
    pub(crate) fn as_alignment(&self) -> Option<(BufferId, Bytes)> {
        match *self.members {
            [(id, Bytes::ZERO)] if self.residue == Bytes::ZERO => Some((id, self.alignment)),
            _ => None,
        }
    }
}

/// Returns the lowest base, from `base` on, that all members of a rigid group accept. `next` returns the
/// lowest base at or above a given one that a member accepts, or `None` if there is none. Each member can
/// only raise the base, which is valid once all have accepted it in succession.
#[inline]
pub fn common_base<M, B: Copy + PartialEq>(
    members: &[M],
    mut base: B,
    mut next: impl FnMut(&M, B) -> Option<B>,
) -> Option<B> {
    let mut agreed = 0;
    for member in members.iter().cycle() {
        let raised = next(member, base)?;
        agreed = if raised == base { agreed + 1 } else { 0 };
        base = raised;
        if agreed == members.len() {
            break;
        }
    }
    Some(base)
}

/// The rigid groups of an instance. Without groups, it allocates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RigidGroups(Option<Box<Tables>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Tables {
    groups: Vec<RigidGroup>,
    /// For each buffer, its group and its distance from the base.
    places: Vec<Option<(u32, Bytes)>>,
}

impl RigidGroups {
    /// Returns true if there are no groups.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns all groups.
    pub fn all(&self) -> &[RigidGroup] {
        self.0.as_ref().map_or(&[], |tables| &tables.groups)
    }

    /// Returns the group of a buffer, as a position in [`all`](Self::all), and the distance of the buffer
    /// from the base in bytes. Returns `None` for buffers outside all groups.
    #[inline]
    pub fn of(&self, id: BufferId) -> Option<(usize, Bytes)> {
        let (group, distance) = (*self.0.as_ref()?.places.get(id.index())?)?;
        Some((group as usize, distance))
    }

    /// Returns the groups of `count` buffers. The groups are disjoint.
    pub(crate) fn new(groups: Vec<RigidGroup>, count: usize) -> Self {
        if groups.is_empty() {
            return Self::default();
        }
        let mut places = vec![None; count];
        for (at, group) in (0u32..).zip(&groups) {
            for &(id, distance) in &group.members {
                places[id.index()] = Some((at, distance));
            }
        }
        Self(Some(Box::new(Tables { groups, places })))
    }

    /// Computes the groups, including those with fixed members. O(n log n) for n buffers.
    ///
    /// # Errors
    /// The first error found: a cycle, a distance or an alignment that is too large, or alignments that
    /// exclude each other.
    pub(crate) fn of_statements(buffers: &[Buffer], above: &[Above]) -> Result<Self, InstanceError> {
        if above.is_empty() {
            return Ok(Self::default());
        }
        let mut members: BTreeMap<BufferId, Vec<(Bytes, BufferId)>> = BTreeMap::new();
        let places = places(buffers, above)?;
        for (at, &(root, distance)) in places.iter().enumerate().filter_map(|(at, p)| Some((at, p.as_ref()?)))
        {
            members.entry(root).or_default().push((distance, BufferId::at(at)));
        }
        let mut groups = Vec::with_capacity(members.len());
        for mut own in members.into_values() {
            own.sort_unstable();
            let own: Vec<_> = own.into_iter().map(|(distance, id)| (id, distance)).collect();
            let (alignment, residue) = condition(buffers, &own)?;
            groups.push(RigidGroup::new(own, alignment, residue, buffers));
        }
        Ok(Self::new(groups, buffers.len()))
    }

    /// Fixes all members of each group with a fixed member.
    ///
    /// # Errors
    /// The first error found: fixed offsets that contradict a distance, an offset that would be negative or
    /// too large, or a fixed offset that is not aligned.
    pub(crate) fn fix(&self, buffers: &mut [Buffer]) -> Result<(), InstanceError> {
        for group in self.all() {
            let fixed =
                |&(id, distance): &(BufferId, Bytes)| Some((id, distance, buffers[id.index()].fixed()?));
            let Some((id, distance, offset)) = group.members.iter().find_map(fixed) else { continue };
            let names = |a: BufferId, b: BufferId| [a, b].map(|id| buffers[id.index()].name().to_owned());
            let Some(base) = offset.get().checked_sub(distance.get()) else {
                let lowest = group.members[0].0;
                let [name, lowest_name] = names(id, lowest);
                return Err(InstanceError::BelowZero {
                    buffer: id,
                    name,
                    offset,
                    lowest,
                    lowest_name,
                    distance,
                });
            };
            for &(member, distance) in &group.members {
                let Some(place) = Bytes::new(base).checked_add(distance) else {
                    return Err(too_large(buffers, member, distance, u128::from(base)));
                };
                let (own, [name, other_name]) = (&buffers[member.index()], names(member, id));
                let (alignment, stated) = (own.alignment(), own.fixed());
                if let Some(offset) = stated.filter(|&offset| offset != place) {
                    let (buffer, other) = (member, id);
                    return Err(InstanceError::FixedApart { buffer, name, offset, place, other, other_name });
                }
                if !place.get().is_multiple_of(alignment.get()) {
                    let (buffer, offset) = (member, place);
                    return Err(InstanceError::FixedMisaligned { buffer, name, offset, alignment });
                }
            }
            for &(member, distance) in &group.members {
                let place = Bytes::new(base + distance.get());
                buffers[member.index()].set_fixed(Some(place));
            }
        }
        Ok(())
    }

    /// Returns the groups without fixed members, after [`fix`](Self::fix).
    pub(crate) fn free(&self, buffers: &[Buffer]) -> Self {
        let is_free = |group: &&RigidGroup| buffers[group.members[0].0.index()].fixed().is_none();
        Self::new(self.all().iter().filter(is_free).cloned().collect(), buffers.len())
    }

    /// Returns the groups restricted to some buffers. `place` maps each buffer to its position among them,
    /// or to `usize::MAX`; `buffers` are those buffers. The conditions on the bases remain.
    pub(crate) fn restricted(&self, place: &[usize], buffers: &[Buffer]) -> Self {
        let groups = self.all().iter().filter_map(|group| {
            let kept = group.members.iter().filter(|(id, _)| place[id.index()] != usize::MAX);
            let kept: Vec<_> =
                kept.map(|&(id, distance)| (BufferId::at(place[id.index()]), distance)).collect();
            let (alignment, residue) = (group.alignment.get(), group.residue.get());
            (!kept.is_empty()).then(|| RigidGroup::new(kept, alignment, residue, buffers))
        });
        Self::new(groups.collect(), buffers.len())
    }

    /// Returns statements that place each member above the next lower one of its group, in ascending order.
    pub(crate) fn statements(&self) -> Vec<Above> {
        let pairs = self.all().iter().flat_map(|group| group.members.windows(2));
        let above = |pair: &[(BufferId, Bytes)]| Above {
            upper: pair[1].0,
            lower: pair[0].0,
            distance: Bytes::new(pair[1].1.get() - pair[0].1.get()),
        };
        let mut statements: Vec<Above> = pairs.map(above).collect();
        statements.sort_unstable_by_key(|above| above.upper);
        statements
    }
}

/// Checks the statements `(upper, lower, distance)` and sorts them by the upper buffer.
pub(crate) fn collect_above(
    buffers: &[Buffer],
    stated: &[(usize, usize, Bytes)],
) -> Result<Vec<Above>, InstanceError> {
    let mut collected = Vec::with_capacity(stated.len());
    for &(upper, lower, distance) in stated {
        let count = buffers.len();
        if let Some(index) = [upper, lower].into_iter().find(|&index| index >= count) {
            return Err(InstanceError::UnknownBuffer { index, count });
        }
        collected.push(Above { upper: BufferId::at(upper), lower: BufferId::at(lower), distance });
    }
    collected.sort_by_key(|above| above.upper);
    match collected.windows(2).find(|pair| pair[0].upper == pair[1].upper) {
        Some(pair) => Err(InstanceError::AboveTwo {
            buffer: pair[0].upper,
            name: buffers[pair[0].upper.index()].name().to_owned(),
            lower: [pair[0].lower, pair[1].lower].map(|id| buffers[id.index()].name().to_owned()),
        }),
        None => Ok(collected),
    }
}

/// Returns, for each buffer of a group, the root of its tree and its distance from the root.
fn places(buffers: &[Buffer], above: &[Above]) -> Result<Vec<Option<(BufferId, Bytes)>>, InstanceError> {
    let mut below: Vec<Option<&Above>> = vec![None; buffers.len()];
    let mut places: Vec<Option<(BufferId, Bytes)>> = vec![None; buffers.len()];
    let mut is_lower = vec![false; buffers.len()];
    for one in above {
        below[one.upper.index()] = Some(one);
        is_lower[one.lower.index()] = true;
    }
    for at in (0..buffers.len()).filter(|&at| is_lower[at] && below[at].is_none()) {
        places[at] = Some((BufferId::at(at), Bytes::ZERO));
    }
    for first in above {
        let (mut path, mut at) = (Vec::new(), first.upper);
        while places[at.index()].is_none() {
            let one = below[at.index()].expect("a buffer below no other has a place");
            // A path that follows more statements than there are has reached a cycle.
            if path.len() == above.len() {
                let name = |id: BufferId| buffers[id.index()].name().to_owned();
                let (buffer, other) = (one.upper, one.lower);
                let (name, other_name) = (name(buffer), name(other));
                return Err(InstanceError::AboveItself { buffer, name, other, other_name });
            }
            path.push(one);
            at = one.lower;
        }
        for one in path.into_iter().rev() {
            let (root, distance) = places[one.lower.index()].expect("the path ends at a place");
            let sum = u128::from(distance.get()) + u128::from(one.distance.get());
            let Some(sum) = u64::try_from(sum).ok().filter(|&sum| sum <= LIMIT) else {
                return Err(too_large(buffers, one.upper, one.distance, u128::from(distance.get())));
            };
            places[one.upper.index()] = Some((root, Bytes::new(sum)));
        }
    }
    Ok(places)
}

/// Returns the error for a buffer that lies `distance` bytes above an address, at a place that is too large.
fn too_large(buffers: &[Buffer], buffer: BufferId, distance: Bytes, from: u128) -> InstanceError {
    InstanceError::TotalOverflow {
        buffer,
        name: buffers[buffer.index()].name().to_owned(),
        column: "above",
        value: distance,
        needed: from + u128::from(distance.get()),
        limit: Bytes::new(LIMIT),
    }
}

/// Returns the alignment and the residue of the base of a group. Each member demands that the base plus its
/// distance is a multiple of its alignment. The conditions are combined one by one, as in the Chinese
/// remainder theorem.
fn condition(buffers: &[Buffer], members: &[(BufferId, Bytes)]) -> Result<(u64, u64), InstanceError> {
    let (mut alignment, mut residue) = (1u64, 0u64);
    for (at, &(id, distance)) in members.iter().enumerate() {
        let own = buffers[id.index()].alignment().get();
        let wanted = (own - distance.get() % own) % own;
        let common = gcd(alignment, own);
        if residue % common != wanted % common {
            return Err(alignments_exclude(buffers, &members[..at], id, distance));
        }
        let [step, modulus, common] = [alignment, own, common].map(u128::from);
        let combined = step * (modulus / common);
        if combined > u128::from(LIMIT) {
            let (name, limit) = (buffers[id.index()].name().to_owned(), Bytes::new(LIMIT));
            let (column, value, needed) = ("alignment", Bytes::new(own), combined);
            return Err(InstanceError::TotalOverflow { buffer: id, name, column, value, needed, limit });
        }
        // The residue plus a number of steps equals `wanted` modulo the alignment of the member.
        let missing = (u128::from(wanted) + modulus - u128::from(residue) % modulus) / common;
        let modulus = modulus / common;
        let steps = missing % modulus * inverse(step / common % modulus, modulus) % modulus;
        residue = (u128::from(residue) + step * steps) as u64;
        alignment = combined as u64;
    }
    Ok((alignment, residue))
}

/// Returns the multiplicative inverse of `value` modulo `modulus`. The two are coprime.
fn inverse(value: u128, modulus: u128) -> u128 {
    let (mut a, mut b) = (value as i128, modulus as i128);
    let (mut x, mut y) = (1i128, 0i128);
    while b != 0 {
        let quotient = a / b;
        (a, b) = (b, a - quotient * b);
        (x, y) = (y, x - quotient * y);
    }
    x.rem_euclid(modulus as i128) as u128
}

/// Returns the error for a member whose alignment excludes that of an earlier member. If several conditions
/// modulo some numbers exclude each other, two of them do.
fn alignments_exclude(
    buffers: &[Buffer],
    earlier: &[(BufferId, Bytes)],
    id: BufferId,
    distance: Bytes,
) -> InstanceError {
    let alignment = buffers[id.index()].alignment();
    let excludes = |&&(other, lower): &&(BufferId, Bytes)| {
        let common = gcd(alignment.get(), buffers[other.index()].alignment().get());
        !(distance.get() - lower.get()).is_multiple_of(common)
    };
    let &(other, lower) = earlier.iter().find(excludes).unwrap_or(&earlier[0]);
    InstanceError::AlignmentsExclude {
        buffer: id,
        name: buffers[id.index()].name().to_owned(),
        other,
        other_name: buffers[other.index()].name().to_owned(),
        alignments: Box::new([alignment, buffers[other.index()].alignment()]),
        distance: Bytes::new(distance.get() - lower.get()),
    }
}
