//! A partial layout to which buffers are added one by one.

use super::blocks::{Blocks, Hull, Placed};
use super::fit::Fit;
use super::scan::Scan;
use crate::ranks::Ranks;
use plimsoll_model::{Budget, BufferId, Bytes, Instance, Layout, RigidGroup, Stop, common_base};

/// The value that marks a buffer without an offset. Valid offsets are far smaller (see
/// [`Instance::ceiling`]).
const UNPLACED: u64 = u64::MAX;

/// The reason why a placement was abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abandoned {
    /// The peak would reach the given limit.
    Peak,
    /// The budget is exhausted.
    Budget(Stop),
}

/// The properties of a buffer that a scan needs.
#[derive(Clone, Copy, Debug)]
struct Item {
    size: u64,
    alignment: u64,
    hull: Hull,
    /// Whether the buffer has exclusions or its lifespan has gaps, so that overlapping hulls do not imply a
    /// conflict.
    intricate: bool,
    separated: bool,
}

/// A partial layout in which the fixed buffers are always placed.
///
/// It is created once per instance and reused with [`Arrangement::reset`]. Thousands of orders can thus be
/// tried without preparing the instance again. Memory is linear in the number of buffers.
#[derive(Clone, Debug)]
pub struct Arrangement<'a> {
    instance: &'a Instance,
    items: Vec<Item>,
    offsets: Vec<u64>,
    blocks: Blocks,
    placed: usize,
    peak: u64,
}

impl<'a> Arrangement<'a> {
    /// Creates an arrangement in which only the fixed buffers are placed. O(n log n) for n buffers.
    pub fn new(instance: &'a Instance) -> Self {
        let mut arrangement = Self {
            instance,
            items: items(instance),
            offsets: Vec::new(),
            blocks: Blocks::default(),
            placed: 0,
            peak: 0,
        };
        arrangement.reset();
        arrangement
    }

    /// Removes all buffers except the fixed ones. O(n) for n buffers.
    pub fn reset(&mut self) {
        self.blocks.clear();
        self.offsets.clear();
        self.offsets.resize(self.instance.len(), UNPLACED);
        (self.placed, self.peak) = (0, 0);
        for (id, buffer) in self.instance.ids().zip(self.instance.buffers()) {
            if let Some(offset) = buffer.fixed() {
                self.put(id, offset);
            }
        }
    }

    /// Returns the offset of a buffer in bytes, if it is placed.
    pub fn offset(&self, id: BufferId) -> Option<Bytes> {
        let offset = self.offsets[id.index()];
        (offset != UNPLACED).then_some(Bytes::new(offset))
    }

    /// Returns the highest end of a placed buffer, in bytes.
    pub fn peak(&self) -> Bytes {
        Bytes::new(self.peak)
    }

    /// Returns the layout if every buffer is placed.
    pub fn layout(&self) -> Option<Layout> {
        (self.placed == self.offsets.len())
            .then(|| Layout::new(self.offsets.iter().copied().map(Bytes::new).collect()))
    }

    /// Returns the offset that `fit` chooses for a buffer among the offsets at or above `from` at which the
    /// buffer ends below `below`. Returns `None` if there is no such offset.
    ///
    /// The arrangement does not change. O(n + d log n) in the worst case, for n buffers and d separations
    /// of this buffer.
    pub fn find(&self, id: BufferId, fit: Fit, from: Bytes, below: Option<Bytes>) -> Option<Bytes> {
        let item = self.items[id.index()];
        let below = below.map_or(u64::MAX, Bytes::get);
        let mut scan = Scan::new(item.size, item.alignment, fit, from.get(), below);
        // Separated buffers conflict regardless of their hulls, so they are merged into the scan as a second
        // sorted stream.
        let apart = if item.separated { self.separated(id) } else { Vec::new() };
        let mut apart = apart.iter().peekable();
        for (head, block) in self.blocks.iter() {
            while let Some(&&(offset, end)) = apart.peek()
                && offset <= head.first
            {
                scan.meet(offset, end);
                apart.next();
            }
            if scan.is_settled(head.first) {
                return scan.answer().map(Bytes::new);
            }
            let hull = head.hull;
            let apart_in_time = hull.lower >= item.hull.upper || item.hull.lower >= hull.upper;
            if apart_in_time || scan.is_above(head.top) {
                continue;
            }
            block.meet(item.hull, |placed| {
                while let Some(&&(offset, end)) = apart.peek()
                    && offset <= placed.offset
                {
                    scan.meet(offset, end);
                    apart.next();
                }
                if scan.is_settled(placed.offset) {
                    return true;
                }
                let other = BufferId::new(placed.id);
                let certain = !item.intricate && !self.items[other.index()].intricate;
                (certain || self.instance.conflict(id, other)) && scan.meet(placed.offset, placed.end)
            });
        }
        for &(offset, end) in apart {
            scan.meet(offset, end);
        }
        scan.answer().map(Bytes::new)
    }

    /// Returns the address ranges of the placed buffers that are separated from `id`, ascending.
    fn separated(&self, id: BufferId) -> Vec<(u64, u64)> {
        let partners = self.instance.separations().of(id).iter();
        let mut ranges: Vec<(u64, u64)> = partners
            .filter_map(|&other| {
                let offset = self.offset(other)?.get();
                Some((offset, offset + self.items[other.index()].size))
            })
            .collect();
        ranges.sort_unstable();
        ranges
    }

    /// Places a buffer at an offset that [`Arrangement::find`] returned, or that is otherwise known to be
    /// free.
    ///
    /// # Panics
    /// If the buffer is already placed.
    pub fn put(&mut self, id: BufferId, offset: Bytes) {
        let (item, offset) = (self.items[id.index()], offset.get());
        assert_eq!(self.offsets[id.index()], UNPLACED, "buffer {id} is placed twice");
        let end = offset + item.size;
        self.offsets[id.index()] = offset;
        self.blocks.insert(Placed { id: id.get(), offset, end }, item.hull);
        self.placed += 1;
        self.peak = self.peak.max(end);
    }

    /// Returns the lowest base of a rigid group at which all members fit and end below `below`. Returns
    /// `None` if there is no such base.
    fn base(&self, group: &RigidGroup, below: Option<Bytes>) -> Option<Bytes> {
        common_base(group.members(), group.residue(), |&(member, distance), base| {
            let found = self.find(member, Fit::First, base.checked_add(distance)?, below)?;
            group.base_from(Bytes::new(found.get() - distance.get()))
        })
    }

    /// Places a buffer where `fit` chooses, or all members of its rigid group at the lowest base that fits.
    /// Returns `None` if a buffer would not end below `below`.
    fn put_any(&mut self, id: BufferId, fit: Fit, below: Option<Bytes>) -> Option<()> {
        let instance = self.instance;
        if let Some((group, _)) = instance.groups().of(id) {
            let group = &instance.groups().all()[group];
            let base = self.base(group, below)?;
            for &(member, distance) in group.members() {
                self.put(member, base.checked_add(distance)?);
            }
        } else {
            let offset = self.find(id, fit, Bytes::ZERO, below)?;
            self.put(id, offset);
        }
        Some(())
    }

    /// Resets the arrangement, places every buffer in the given order, and returns the peak in bytes. Every
    /// buffer counts as one node. A rigid group is placed when its first member is due, at the lowest base
    /// at which all members fit, whatever `fit` is.
    ///
    /// # Errors
    /// [`Abandoned`] if the peak would reach `below` or the budget is exhausted. The arrangement is then
    /// partial.
    ///
    /// # Panics
    /// If `order` is not a permutation of the buffers.
    pub fn run(
        &mut self,
        order: &[BufferId],
        fit: Fit,
        below: Option<Bytes>,
        budget: &mut Budget,
    ) -> Result<Bytes, Abandoned> {
        assert_eq!(order.len(), self.instance.len(), "an order contains every buffer once");
        self.reset();
        if below.is_some_and(|below| self.peak() >= below) {
            return Err(Abandoned::Peak);
        }
        for &id in order {
            if let Some(stop) = budget.tick() {
                return Err(Abandoned::Budget(stop));
            }
            // Fixed buffers and members of rigid groups may be placed already.
            if self.offset(id).is_none() {
                self.put_any(id, fit, below).ok_or(Abandoned::Peak)?;
            }
        }
        assert_eq!(self.placed, order.len(), "an order contains every buffer once");
        Ok(self.peak())
    }
}

/// Converts buffers to items. Steps become 32-bit ranks, which can be compared twice as fast as steps.
fn items(instance: &Instance) -> Vec<Item> {
    let ranks = Ranks::of(instance);
    let (exclusions, separations) = (instance.exclusions(), instance.separations());
    instance
        .ids()
        .zip(instance.buffers())
        .map(|(id, buffer)| Item {
            size: buffer.size().get(),
            alignment: buffer.alignment().get(),
            hull: Hull { lower: ranks.lower[id.index()], upper: ranks.upper[id.index()] },
            intricate: buffer.lifespan().has_gaps() || !exclusions.of(id).is_empty(),
            separated: !separations.of(id).is_empty(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::{Buffer, InstanceBuilder, Lifespan, check_layout};

    /// Implements the definition. Tests every aligned offset against every placed buffer.
    fn slow_find(arrangement: &Arrangement, id: BufferId, fit: Fit) -> u64 {
        let instance = arrangement.instance;
        let (size, alignment) = (instance.buffer(id).size().get(), instance.buffer(id).alignment().get());
        let rivals: Vec<(u64, u64)> = instance
            .ids()
            .filter(|&other| instance.conflict(id, other))
            .filter_map(|other| {
                let offset = arrangement.offset(other)?.get();
                Some((offset, offset + instance.buffer(other).size().get()))
            })
            .collect();
        let free = |start: u64, end: u64| rivals.iter().all(|&(s, e)| end <= s || e <= start);
        let top = rivals.iter().map(|r| r.1).max().unwrap_or(0).next_multiple_of(alignment);
        let candidates = (0..=top).step_by(alignment as usize).filter(|&o| free(o, o + size));
        let length = |offset: u64| {
            let next = rivals.iter().map(|r| r.0).filter(|&start| start >= offset).min();
            next.map_or(u64::MAX, |next| next - offset)
        };
        // Only the starts of gaps are candidates, because a later offset would underestimate the length of
        // the gap.
        let starts = candidates.filter(|&o| o < alignment || !free(o - alignment, o + size));
        match fit {
            Fit::First => starts.min().unwrap(),
            Fit::Best => starts.min_by_key(|&o| (length(o), o)).unwrap(),
        }
    }

    #[test]
    fn find_agrees_with_the_definition() {
        for seed in 0..400 {
            let instance = small_instance(SmallParams::with_features(12, seed % 16), seed);
            for fit in [Fit::First, Fit::Best] {
                let mut arrangement = Arrangement::new(&instance);
                for id in instance.ids().filter(|&id| instance.buffer(id).fixed().is_none()) {
                    let offset = arrangement.find(id, fit, Bytes::ZERO, None).unwrap();
                    assert_eq!(offset.get(), slow_find(&arrangement, id, fit), "seed {seed} buffer {id}");
                    let end = offset.checked_add(instance.buffer(id).size()).unwrap();
                    assert_eq!(arrangement.find(id, fit, Bytes::ZERO, Some(end)).is_some(), {
                        // A lower offset can exist only under best fit, which may prefer a shorter gap at a
                        // higher offset.
                        fit == Fit::Best && slow_find(&arrangement, id, Fit::First) < offset.get()
                    });
                    arrangement.put(id, offset);
                }
                assert_eq!(check_layout(&instance, &arrangement.layout().unwrap()), []);
            }
        }
    }

    #[test]
    fn many_blocks_give_valid_layouts() {
        let buffers = (0..600u64).map(|i| {
            let lower = i * 37 % 200;
            let lifespan = Lifespan::single(lower, lower + 1 + i * 13 % 40).unwrap();
            Buffer::new(i.to_string(), 1 + i * 7919 % 97, lifespan).aligned(1 + i % 4)
        });
        let instance =
            InstanceBuilder::new("t").buffers(buffers).separate(0, 599).exclude(3, 40).build().unwrap();
        let order: Vec<BufferId> = instance.ids().collect();
        for fit in [Fit::First, Fit::Best] {
            let layout = super::super::place(&instance, &order, fit, None).unwrap();
            assert_eq!(check_layout(&instance, &layout), []);
            let peak = layout.peak(&instance);
            assert!(peak <= instance.ceiling());
            assert_eq!(super::super::place(&instance, &order, fit, Some(peak)), None);
        }
    }
}
