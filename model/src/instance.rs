//! The input of the offset problem: buffers, pair constraints, and an optional capacity.

pub use crate::buffer::Buffer;
use crate::ceiling::checked_ceiling;
use crate::groups::{Above, RigidGroup, RigidGroups, collect_above};
use crate::instance_error::InstanceError;
use crate::lifespan::Lifespan;
use crate::pairs::Pairs;
use crate::pinned::{self, Pinned};
use crate::units::{BufferId, Bytes, Step};
use plimsoll_support::gcd;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Collects the parts of an [`Instance`]. [`InstanceBuilder::build`] validates all of them.
#[derive(Clone, Debug, Default)]
pub struct InstanceBuilder {
    name: String,
    buffers: Vec<Buffer>,
    separations: Vec<(usize, usize)>,
    exclusions: Vec<(usize, usize)>,
    above: Vec<(usize, usize, Bytes)>,
    capacity: Option<Bytes>,
}

impl InstanceBuilder {
    /// Creates a builder for an instance with the given name and no buffers.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a buffer. Ids are assigned in the order of insertion, from 0.
    #[must_use]
    pub fn buffer(mut self, buffer: Buffer) -> Self {
        self.buffers.push(buffer);
        self
    }

    /// Adds buffers in the order of the iterator.
    #[must_use]
    pub fn buffers(mut self, buffers: impl IntoIterator<Item = Buffer>) -> Self {
        self.buffers.extend(buffers);
        self
    }

    /// Forbids the buffers at positions `a` and `b` from sharing addresses, even if their lifespans are
    /// disjoint.
    #[must_use]
    pub fn separate(mut self, a: usize, b: usize) -> Self {
        self.separations.push((a, b));
        self
    }

    /// Allows the buffers at positions `a` and `b` to share addresses, even if their lifespans overlap.
    #[must_use]
    pub fn exclude(mut self, a: usize, b: usize) -> Self {
        self.exclusions.push((a, b));
        self
    }

    /// Requires the buffer at position `upper` to lie exactly `distance` bytes above the one at position
    /// `lower`: its offset is the offset of the lower one plus the distance. Every buffer lies above at most
    /// one other buffer. The buffers that are linked in this way form a [`RigidGroup`].
    #[must_use]
    pub fn above(mut self, upper: usize, lower: usize, distance: impl Into<Bytes>) -> Self {
        self.above.push((upper, lower, distance.into()));
        self
    }

    /// Sets the capacity: the largest peak that a layout may have. `None` removes it.
    #[must_use]
    pub fn capacity(mut self, capacity: impl Into<Option<Bytes>>) -> Self {
        self.capacity = capacity.into();
        self
    }

    /// Validates all parts and builds the instance. O(n log n + p log p) for n buffers and p pairs, and more
    /// if many excluded buffers are fixed at common addresses.
    ///
    /// # Errors
    /// The first [`InstanceError`] found.
    pub fn build(mut self) -> Result<Instance, InstanceError> {
        if u32::try_from(self.buffers.len()).is_err() {
            let count = self.buffers.len();
            return Err(InstanceError::TooMany { count });
        }
        check_buffers(&self.buffers)?;
        let separations = collect_pairs(&self.buffers, &self.separations)?;
        let exclusions = collect_pairs(&self.buffers, &self.exclusions)?;
        if let Some((a, b)) = separations.iter().find(|&(a, b)| exclusions.contains(a, b)) {
            return Err(InstanceError::Contradiction {
                buffer: a,
                name: self.buffers[a.index()].name().to_string(),
                other: b,
                other_name: self.buffers[b.index()].name().to_string(),
            });
        }
        let above = collect_above(&self.buffers, &self.above)?;
        let groups = RigidGroups::of_statements(&self.buffers, &above)?;
        groups.fix(&mut self.buffers)?;
        let ceiling = checked_ceiling(&self.buffers, &groups)?;
        let has_empty = self.buffers.iter().any(Buffer::is_empty);
        let mut instance = Instance {
            name: self.name,
            groups: groups.free(&self.buffers),
            buffers: self.buffers,
            separations,
            exclusions,
            above,
            capacity: self.capacity,
            ceiling,
            has_empty,
            contradiction: None,
            load: Known::default(),
        };
        instance.contradiction = contradiction(&instance);
        Ok(instance)
    }
}

fn check_buffers(buffers: &[Buffer]) -> Result<(), InstanceError> {
    for (i, b) in buffers.iter().enumerate() {
        let (buffer, name) = (BufferId::at(i), || b.name().to_string());
        if !b.is_empty() && b.lifespan().is_empty() {
            let step = b.lifespan().hull().lower;
            return Err(InstanceError::NeverLive { buffer, name: name(), size: b.size(), step });
        }
        if b.alignment() == Bytes::ZERO {
            return Err(InstanceError::ZeroAlignment { buffer, name: name() });
        }
        if let Some(offset) = b.fixed()
            && offset.get() % b.alignment().get() != 0
        {
            return Err(InstanceError::FixedMisaligned {
                buffer,
                name: name(),
                offset,
                alignment: b.alignment(),
            });
        }
    }
    let mut by_name: Vec<BufferId> = (0..buffers.len()).map(BufferId::at).collect();
    by_name.sort_by(|a, b| (&buffers[a.index()].name(), a).cmp(&(&buffers[b.index()].name(), b)));
    let twin = by_name
        .windows(2)
        .filter(|w| buffers[w[0].index()].name() == buffers[w[1].index()].name())
        .min_by_key(|w| w[1]);
    match twin {
        Some(w) => Err(InstanceError::DuplicateName {
            first: w[0],
            second: w[1],
            name: buffers[w[0].index()].name().to_string(),
        }),
        None => Ok(()),
    }
}

fn collect_pairs(buffers: &[Buffer], pairs: &[(usize, usize)]) -> Result<Pairs, InstanceError> {
    let mut collected = Pairs::default();
    for &(a, b) in pairs {
        let count = buffers.len();
        if let Some(index) = [a, b].into_iter().find(|&index| index >= count) {
            return Err(InstanceError::UnknownBuffer { index, count });
        }
        if a == b {
            return Err(InstanceError::SelfPair {
                buffer: BufferId::at(a),
                name: buffers[a].name().to_string(),
            });
        }
        collected.insert(BufferId::at(a), BufferId::at(b));
    }
    Ok(collected)
}

/// Finds two conflicting buffers that overlap in every layout, because both are fixed or because of their
/// distance in a rigid group. No layout exists if there is such a pair. Fixed buffers come first. Among
/// several pairs, the one whose lower buffer has the lowest offset is returned.
fn contradiction(instance: &Instance) -> Option<[BufferId; 2]> {
    let fixed = instance.ids().filter_map(|id| Some((id, instance.buffer(id).fixed()?)));
    overlap(instance, fixed)
        .or_else(|| instance.groups.all().iter().find_map(|g| overlap(instance, g.members().iter().copied())))
}

/// Finds two conflicting buffers that overlap at the given addresses.
fn overlap(instance: &Instance, placed: impl Iterator<Item = (BufferId, Bytes)>) -> Option<[BufferId; 2]> {
    let pinned = |(id, start): (BufferId, Bytes)| {
        let buffer = instance.buffer(id);
        let (start, live) = (start.get(), buffer.lifespan().intervals());
        (!buffer.is_empty()).then(|| Pinned { start, end: start + buffer.size().get(), id, live })
    };
    let mut placed: Vec<Pinned<'_>> = placed.filter_map(pinned).collect();
    placed.sort_by_key(|one| (one.start, one.id));
    let places: HashMap<BufferId, usize> = placed.iter().enumerate().map(|(at, one)| (one.id, at)).collect();
    let partners = |a: BufferId| instance.separations.of(a).iter().map(move |&b| (a, b));
    let separated = placed.iter().flat_map(|one| partners(one.id)).filter(|(a, b)| a < b);
    let separated = separated.filter_map(|(a, b)| Some((*places.get(&a)?, *places.get(&b)?)));
    pinned::contradiction(&placed, separated, |a, b| instance.conflict(a, b))
}

/// The input of the offset problem. It is validated and immutable.
///
/// Two buffers *conflict* if they may not share an address. They conflict if they are separated, or if their
/// lifespans intersect and the pair is not excluded. A buffer of size 0 conflicts with no other buffer.
///
/// The members of a [`RigidGroup`] lie at given distances from each other. If one of them is fixed, all of
/// them are, and they form no group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    name: String,
    buffers: Vec<Buffer>,
    separations: Pairs,
    exclusions: Pairs,
    /// All statements about distances, also those about fixed buffers.
    above: Vec<Above>,
    groups: RigidGroups,
    capacity: Option<Bytes>,
    ceiling: Bytes,
    has_empty: bool,
    pub(crate) contradiction: Option<[BufferId; 2]>,
    pub(crate) load: Known<(Bytes, Step)>,
}

/// A value that is computed from the instance on demand. It does not take part in comparisons.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known<T>(pub OnceLock<T>);

impl<T> PartialEq for Known<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Known<T> {}

impl Instance {
    /// Builds an instance from sizes and a conflict relation, as in the mutex table of the memory-planning
    /// patent.
    ///
    /// Buffer `i` has the lifespan `[i, i+1)`, so the order of the list is the order in time. Each edge
    /// becomes a separation, so the conflict relation equals `edges`.
    ///
    /// # Errors
    /// The first [`InstanceError`] found.
    ///
    /// # Panics
    /// Never: each lifespan has one step.
    pub fn from_conflicts(
        name: impl Into<String>,
        buffers: impl IntoIterator<Item = (String, Bytes)>,
        edges: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, InstanceError> {
        let mut builder = InstanceBuilder::new(name);
        for (step, (name, size)) in (0u64..).zip(buffers) {
            let lifespan = Lifespan::single(step, step + 1).expect("one step is not empty");
            builder = builder.buffer(Buffer::new(name, size, lifespan));
        }
        edges.into_iter().fold(builder, |builder, (a, b)| builder.separate(a, b)).build()
    }

    /// Returns the name of the instance, used in tables and files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all buffers, indexed by id.
    #[inline]
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Returns the buffer with the given id.
    #[inline]
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.index()]
    }

    /// Returns the number of buffers.
    #[inline]
    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Returns true if there are no buffers.
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Returns all buffer ids in ascending order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = BufferId> + ExactSizeIterator + use<> {
        (0..self.buffers.len()).map(BufferId::at)
    }

    /// Returns the pairs of buffers that may not share addresses, whatever their lifespans.
    pub fn separations(&self) -> &Pairs {
        &self.separations
    }

    /// Returns the pairs of buffers that may share addresses, whatever their lifespans.
    pub fn exclusions(&self) -> &Pairs {
        &self.exclusions
    }

    /// Returns the rigid groups without fixed members.
    pub fn groups(&self) -> &RigidGroups {
        &self.groups
    }

    /// Returns true if there are rigid groups without fixed members.
    #[inline]
    pub fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Returns the buffer above which a buffer must lie, and the distance in bytes, as given to
    /// [`InstanceBuilder::above`]. The buffers may be fixed. O(log n) for n such statements.
    pub fn above(&self, upper: BufferId) -> Option<(BufferId, Bytes)> {
        let at = self.above.binary_search_by_key(&upper, |above| above.upper).ok()?;
        Some((self.above[at].lower, self.above[at].distance))
    }

    /// Returns true if some buffer must lie at a given distance above another one.
    pub fn has_above(&self) -> bool {
        !self.above.is_empty()
    }

    /// Returns the number of bytes by which the offset of `b` exceeds that of `a` in every layout, if the
    /// two are members of one rigid group.
    pub fn distance(&self, a: BufferId, b: BufferId) -> Option<i64> {
        let ((one, low), (other, high)) = (self.groups.of(a)?, self.groups.of(b)?);
        (one == other).then(|| high.get().cast_signed() - low.get().cast_signed())
    }

    /// Returns the largest peak that a layout may have, in bytes; `None` if it is not limited.
    pub fn capacity(&self) -> Option<Bytes> {
        self.capacity
    }

    /// Returns the instance with another capacity.
    #[must_use]
    pub fn with_capacity(mut self, capacity: Option<Bytes>) -> Self {
        self.capacity = capacity;
        self
    }

    /// Returns the instance with another name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Returns the instance without fixed offsets. The rigid groups remain.
    ///
    /// # Panics
    /// Never: without fixed offsets, the buffers need less memory.
    #[must_use]
    pub fn freed(mut self) -> Self {
        for buffer in &mut self.buffers {
            buffer.set_fixed(None);
        }
        if self.has_above() {
            self.groups = RigidGroups::of_statements(&self.buffers, &self.above).expect("as at first");
        }
        self.contradiction = contradiction(&self);
        self.ceiling = checked_ceiling(&self.buffers, &self.groups).expect("the ceiling does not rise");
        self
    }

    /// Returns the instance with other buffers, pairs and groups. The caller guarantees that the buffers have
    /// the same names, sizes, fixed offsets and distances as before, that no two of them conflict that did
    /// not, and that they do not need more memory.
    ///
    /// # Panics
    /// If the buffers need more memory.
    pub(crate) fn with_constraints(
        &self,
        buffers: Vec<Buffer>,
        separations: Pairs,
        exclusions: Pairs,
        groups: RigidGroups,
    ) -> Self {
        Self {
            name: self.name.clone(),
            ceiling: checked_ceiling(&buffers, &groups).expect("the ceiling does not rise"),
            buffers,
            separations,
            exclusions,
            above: self.above.clone(),
            groups,
            capacity: self.capacity,
            has_empty: self.has_empty,
            contradiction: self.contradiction,
            load: Known::default(),
        }
    }

    /// Returns the instance with rigid groups, of which it has none.
    pub(crate) fn with_groups(mut self, groups: RigidGroups) -> Self {
        if !groups.is_empty() {
            self.ceiling = checked_ceiling(&self.buffers, &groups).expect("a part needs no more");
            self.above = groups.statements();
            self.groups = groups;
            self.contradiction = contradiction(&self);
        }
        self
    }

    /// Returns an upper bound on the optimal peak, in bytes. The bound is large enough for a layout in which
    /// all buffers and groups are aligned and laid end to end above the highest end of a fixed buffer. The
    /// value fits into `i64`, so sums that do not exceed it never overflow. Unless there is a
    /// [contradiction](Self::contradiction), there is a layout with at most this peak.
    pub fn ceiling(&self) -> Bytes {
        self.ceiling
    }

    /// Returns true if any buffer has size 0.
    #[inline]
    pub fn has_empty(&self) -> bool {
        self.has_empty
    }

    /// Returns the ceiling plus one byte. A lower bound with this value proves that no layout exists.
    pub(crate) fn beyond(&self) -> Bytes {
        Bytes::new(self.ceiling.get() + 1)
    }

    /// Returns the smaller of the capacity and the [ceiling](Self::ceiling), in bytes. A lower bound above
    /// this value proves that the instance is infeasible.
    pub fn limit(&self) -> Bytes {
        self.capacity.map_or(self.ceiling, |capacity| capacity.min(self.ceiling))
    }

    /// Returns true if `a` and `b` may not share an address. A buffer does not conflict with itself.
    #[inline]
    pub fn conflict(&self, a: BufferId, b: BufferId) -> bool {
        if a == b || self.has_empty && (self.buffer(a).is_empty() || self.buffer(b).is_empty()) {
            return false;
        }
        let live_together = self.buffers[a.index()].lifespan().intersects(self.buffers[b.index()].lifespan());
        if live_together { !self.exclusions.contains(a, b) } else { self.separations.contains(a, b) }
    }

    /// Returns true if every lifespan is a single interval and there are no separations, exclusions or rigid
    /// groups. Two buffers of non-zero size then conflict if and only if they are live at a common step.
    pub fn is_interval(&self) -> bool {
        self.groups.is_empty()
            && self.separations.is_empty()
            && self.exclusions.is_empty()
            && !self.buffers.iter().any(|b| b.lifespan().has_gaps())
    }

    /// Returns true if any buffer or any base of a rigid group has an alignment above one byte.
    pub fn has_alignment(&self) -> bool {
        self.buffers.iter().any(|b| b.alignment().get() > 1)
            || self.groups.all().iter().any(|group| group.alignment().get() > 1)
    }

    /// Returns true if any buffer has a fixed offset.
    pub fn has_fixed(&self) -> bool {
        self.buffers.iter().any(|b| b.fixed().is_some())
    }

    /// Returns the greatest common divisor of all sizes, alignments above 1, fixed offsets, and distances in
    /// rigid groups, in bytes. It is at least 1.
    ///
    /// There is an optimal layout in which all offsets are multiples of the grain: rounding all offsets of
    /// any optimal layout down to multiples of the grain keeps it valid.
    pub fn grain(&self) -> Bytes {
        let above_one = |alignment: Bytes| if alignment.get() == 1 { 0 } else { alignment.get() };
        let of_group = |g: u64, group: &RigidGroup| {
            let g = gcd(gcd(g, above_one(group.alignment())), group.residue().get());
            group.members().iter().fold(g, |g, (_, distance)| gcd(g, distance.get()))
        };
        let grain = self.groups.all().iter().fold(0, of_group);
        let grain = self.buffers.iter().fold(grain, |g, b| {
            let g = gcd(gcd(g, b.size().get()), b.fixed().map_or(0, Bytes::get));
            gcd(g, above_one(b.alignment()))
        });
        Bytes::new(grain.max(1))
    }

    /// Returns the sum of all sizes in bytes, which is the peak if no memory is shared.
    pub fn total_size(&self) -> Bytes {
        Bytes::new(self.buffers.iter().map(|b| b.size().get()).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::{LowerBound, Witness};
    use crate::offsets::verify_bound;

    fn buffer(name: &str, size: u64, lower: u64, upper: u64) -> Buffer {
        Buffer::new(name, size, Lifespan::single(lower, upper).unwrap())
    }

    #[test]
    fn conflict_follows_lifespans_separations_and_exclusions() {
        let instance = InstanceBuilder::new("t")
            .buffer(buffer("a", 1, 0, 4))
            .buffer(buffer("b", 1, 2, 6))
            .buffer(buffer("c", 1, 6, 8))
            .buffer(buffer("d", 1, 0, 8))
            .separate(0, 2)
            .exclude(0, 1)
            .build()
            .unwrap();
        let conflict = |a, b| instance.conflict(BufferId::at(a), BufferId::at(b));
        assert!(!conflict(0, 1) && !conflict(1, 0), "exclusive");
        assert!(conflict(0, 2) && conflict(2, 0), "separated");
        assert!(!conflict(1, 2), "disjoint in time");
        assert!(conflict(1, 3) && !conflict(3, 3));
        assert!(!instance.is_interval());
    }

    #[test]
    fn bad_input_is_named() {
        let never = Buffer::new("a", 1, Lifespan::empty_at(4));
        let never = InstanceBuilder::new("t").buffer(never).build();
        assert!(matches!(never, Err(InstanceError::NeverLive { .. })));
        let twice = InstanceBuilder::new("t")
            .buffers([buffer("a", 1, 0, 1), buffer("b", 1, 0, 1), buffer("a", 1, 0, 1)])
            .build();
        let Err(InstanceError::DuplicateName { first, second, .. }) = twice else { panic!("{twice:?}") };
        assert_eq!((first.index(), second.index()), (0, 2));
        let off = InstanceBuilder::new("t").buffer(buffer("a", 1, 0, 1).aligned(8).fixed_at(12)).build();
        assert!(matches!(off, Err(InstanceError::FixedMisaligned { .. })));
        let huge = InstanceBuilder::new("t")
            .buffers([buffer("a", u64::MAX / 2, 0, 1), buffer("b", u64::MAX / 2, 2, 3)])
            .build();
        assert!(matches!(huge, Err(InstanceError::TotalOverflow { .. })));
        let both = InstanceBuilder::new("t")
            .buffers([buffer("a", 1, 0, 1), buffer("b", 1, 0, 1)])
            .separate(0, 1)
            .exclude(1, 0)
            .build();
        assert!(matches!(both, Err(InstanceError::Contradiction { .. })));
    }

    #[test]
    fn fixed_offsets_that_cannot_be_kept_are_a_proof() {
        let build = |buffers: [Buffer; 3]| InstanceBuilder::new("t").buffers(buffers).build().unwrap();
        let plain = || buffer("plain", 8, 0, 9);
        let of = |instance: &Instance| {
            let bound = instance.contradiction()?;
            assert_eq!(verify_bound(instance, &bound), Ok(()));
            assert!(bound.value > instance.ceiling() && bound.value > instance.limit());
            let Witness::Contradiction { buffers } = bound.witness else { panic!("{bound:?}") };
            Some(buffers.iter().map(|id| id.index()).collect::<Vec<_>>())
        };
        let fixed = |name, lower, upper, at: u64| buffer(name, 8, lower, upper).fixed_at(at);
        assert_eq!(of(&build([fixed("a", 1, 3, 10), plain(), fixed("b", 0, 2, 4)])), Some(vec![0, 2]));
        assert_eq!(of(&build([fixed("a", 1, 3, 12), plain(), fixed("b", 0, 2, 4)])), None, "side by side");
        assert_eq!(of(&build([fixed("a", 2, 3, 10), plain(), fixed("b", 0, 2, 4)])), None, "one by one");
        let inside = buffer("b", 0, 0, 9).fixed_at(4);
        assert_eq!(of(&build([fixed("a", 0, 3, 0), plain(), inside])), None, "no byte");
        let wrong = |buffers: &[u32]| {
            let buffers = buffers.iter().copied().map(BufferId::new).collect();
            let t = build([fixed("a", 1, 3, 10), plain(), fixed("b", 0, 2, 4)]);
            verify_bound(&t, &LowerBound::new(t.beyond(), Witness::Contradiction { buffers }))
        };
        for buffers in [&[][..], &[0], &[0, 0], &[0, 1], &[0, 1, 2], &[7], &[0, 7]] {
            assert!(wrong(buffers).is_err(), "{buffers:?}");
        }
    }

    #[test]
    fn buffers_of_size_zero_conflict_with_nothing_and_count_nothing() {
        let instance = InstanceBuilder::new("t")
            .buffer(buffer("a", 8, 0, 4))
            .buffer(buffer("z", 0, 0, 4).aligned(1 << 63))
            .buffer(buffer("far", 0, 2, 3).fixed_at(u64::MAX))
            .buffer(Buffer::new("never", 0, Lifespan::empty_at(2)))
            .separate(0, 1)
            .build()
            .unwrap();
        assert!(instance.has_empty() && instance.contradiction().is_none());
        for (a, b) in instance.ids().flat_map(|a| instance.ids().map(move |b| (a, b))).filter(|(a, b)| a != b)
        {
            assert!(
                !instance.conflict(a, b) && !crate::offsets::check::conflict::conflict(&instance, a, b),
                "{a} {b}"
            );
        }
        assert_eq!((instance.ceiling().get(), instance.total_size().get()), (9, 8));
    }

    #[test]
    fn the_largest_size_is_the_limit() {
        let largest = i64::MAX as u64;
        let build = |buffer: Buffer| InstanceBuilder::new("t").buffer(buffer).build();
        assert_eq!(build(buffer("a", largest, 0, 1)).unwrap().ceiling().get(), largest);
        let refused = |buffer: Buffer| build(buffer).unwrap_err().to_string();
        let text = "buffer 'a': size 9223372036854775808 is too large; the buffers up to this one, aligned and laid \
                    end to end, need 9223372036854775808 bytes, but at most 9223372036854775807 (2^63 - 1) are allowed";
        assert_eq!(refused(buffer("a", largest + 1, 0, 1)), text);
        assert!(
            refused(buffer("a", largest, 0, 1).aligned(2)).contains("size 9223372036854775807 is too large")
        );
    }

    #[test]
    fn grain_divides_everything() {
        let instance = InstanceBuilder::new("t")
            .buffer(buffer("a", 12, 0, 1).aligned(4))
            .buffer(buffer("b", 8, 0, 1).fixed_at(16))
            .build()
            .unwrap();
        assert_eq!(instance.grain().get(), 4);
    }
}
