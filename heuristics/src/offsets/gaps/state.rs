//! A partial layout from which buffers can be removed.

use super::index::{Placed, TimeIndex};
use crate::offsets::placement::Fit;
use crate::ranks::Ranks;
use plimsoll_model::{BufferId, Instance};
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use std::borrow::Cow;

/// Maximum fraction by which the cost of an eviction is increased at random.
const NOISE: f32 = 0.2;

#[derive(Clone, Copy, Debug)]
struct Item {
    size: u64,
    alignment: u64,
    /// The area of the buffer. The cost of evicting the buffer is its area times its penalty.
    weight: f32,
    penalty: f32,
    /// Whether the buffer has exclusions or its lifespan has gaps, so that overlapping hulls do not imply a
    /// conflict.
    intricate: bool,
    separated: bool,
    fixed: bool,
}

/// A placed buffer that conflicts with the selected one.
#[derive(Clone, Copy, Debug)]
struct Rival {
    offset: u64,
    end: u64,
    id: u32,
    cost: f32,
}

#[derive(Debug)]
pub(crate) struct State<'a> {
    instance: &'a Instance,
    ranks: Cow<'a, Ranks>,
    index: TimeIndex,
    items: Vec<Item>,
    /// Placed buffers that conflict with the selected one, in ascending order of offset.
    rivals: Vec<Rival>,
    /// The end address and the cost of every rival, in ascending order of end address.
    ends: Vec<(u64, f32)>,
    /// Prefix sums of the costs of the rivals.
    sums: Vec<f64>,
    /// Number of cells and entries read so far, plus two per rival, as a measure of the time spent.
    pub work: usize,
}

impl<'a> State<'a> {
    /// Creates a state in which only the fixed buffers are placed.
    pub(crate) fn new(instance: &'a Instance, ranks: Cow<'a, Ranks>) -> Self {
        let (exclusions, separations) = (instance.exclusions(), instance.separations());
        let item = |(id, buffer): (BufferId, &plimsoll_model::Buffer)| Item {
            size: buffer.size().get(),
            alignment: buffer.alignment().get(),
            weight: buffer.size().get() as f32 * ranks.duration(id.index()) as f32,
            penalty: 1.0,
            intricate: buffer.lifespan().has_gaps() || !exclusions.of(id).is_empty(),
            separated: !separations.of(id).is_empty(),
            fixed: buffer.fixed().is_some(),
        };
        let items = instance.ids().zip(instance.buffers()).map(item).collect();
        let index = TimeIndex::new(&ranks);
        let (rivals, ends, sums) = (Vec::new(), Vec::new(), Vec::new());
        let mut state = Self { instance, ranks, index, items, rivals, ends, sums, work: 0 };
        for (id, buffer) in instance.ids().zip(instance.buffers()) {
            if let Some(offset) = buffer.fixed() {
                state.put(id.get(), offset.get());
            }
        }
        state
    }

    pub(crate) fn is_fixed(&self, id: u32) -> bool {
        self.items[id as usize].fixed
    }

    /// Returns the area of a buffer.
    pub(crate) fn weight(&self, id: u32) -> f32 {
        self.items[id as usize].weight
    }

    pub(crate) fn end(&self, id: u32) -> Option<u64> {
        self.index.get(id).map(|placed| placed.end)
    }

    pub(crate) fn offset(&self, id: u32) -> Option<u64> {
        self.index.get(id).map(|placed| placed.offset)
    }

    pub(crate) fn put(&mut self, id: u32, offset: u64) {
        let at = id as usize;
        let (end, lower, upper) = (offset + self.items[at].size, self.ranks.lower[at], self.ranks.upper[at]);
        self.index.put(Placed { offset, end, lower, upper, id });
    }

    pub(crate) fn take(&mut self, id: u32) {
        self.index.take(id);
    }

    /// Selects an unplaced buffer and finds its rivals, the conflicting placed buffers. [`State::gap`] and
    /// [`State::evict`] use the rivals.
    pub(crate) fn select(&mut self, id: u32) {
        let (at, buffer) = (id as usize, BufferId::new(id));
        let (items, instance, rivals) = (&self.items, self.instance, &mut self.rivals);
        let own = items[at];
        rivals.clear();
        let mut meet = |placed: &Placed| {
            let item = items[placed.id as usize];
            let cost = if item.fixed { f32::INFINITY } else { item.weight * item.penalty };
            rivals.push(Rival { offset: placed.offset, end: placed.end, id: placed.id, cost });
        };
        self.work += self.index.overlapping(self.ranks.lower[at], self.ranks.upper[at], |placed| {
            let certain = !own.intricate && !items[placed.id as usize].intricate;
            if certain || instance.conflict(buffer, BufferId::new(placed.id)) {
                meet(placed);
            }
        });
        if own.separated {
            let hull = |id: BufferId| instance.buffer(id).lifespan().hull();
            for &other in instance.separations().of(buffer) {
                // Buffers with overlapping hulls were found above.
                if let Some(placed) = self.index.get(other.get())
                    && !hull(buffer).intersects(hull(other))
                {
                    meet(placed);
                }
            }
        }
        self.work += 2 * self.rivals.len();
        self.rivals.sort_unstable_by_key(|rival| rival.offset);
    }

    /// Returns the offset of the gap that `fit` chooses for the selected buffer, among the gaps in which the
    /// buffer ends at or below `limit`. Returns `None` if there is no such gap.
    pub(crate) fn gap(&self, id: u32, fit: Fit, limit: u64) -> Option<u64> {
        let Item { size, alignment, .. } = self.items[id as usize];
        let (mut floor, mut tightest) = (0u64, None);
        for rival in &self.rivals {
            if rival.end <= floor {
                continue;
            }
            if floor + size > limit {
                break;
            }
            if rival.offset >= floor + size {
                let length = rival.offset - floor;
                if tightest.is_none_or(|(least, _)| length < least) {
                    tightest = Some((length, floor));
                }
                if fit == Fit::First || length == size {
                    break;
                }
            }
            floor = rival.end.next_multiple_of(alignment);
        }
        tightest.map(|(_, offset)| offset).or((floor + size <= limit).then_some(floor))
    }

    /// Increases the penalty of the selected buffer by one, places the buffer at the cheapest offset, and
    /// evicts the rivals in its way. Returns false if the buffer is larger than `limit`, or if every offset
    /// collides with a fixed buffer. The buffer is then not placed.
    pub(crate) fn evict(
        &mut self,
        id: u32,
        limit: u64,
        rng: &mut Xoshiro256PlusPlus,
        evicted: &mut Vec<u32>,
    ) -> bool {
        self.items[id as usize].penalty += 1.0;
        let Some(offset) = self.cheapest(id, limit, rng) else {
            return false;
        };
        let end = offset + self.items[id as usize].size;
        for at in 0..self.rivals.len() {
            let rival = self.rivals[at];
            if rival.offset < end && offset < rival.end {
                self.take(rival.id);
                evicted.push(rival.id);
            }
        }
        self.put(id, offset);
        true
    }

    /// Returns the offset with the lowest cost, or `None` if there is none. The costs include random noise of
    /// at most the fraction [`NOISE`]. The candidates are offset zero and the offsets directly above a rival,
    /// directly below a rival, or directly below the limit.
    ///
    /// For any other offset, some candidate collides with the same rivals or with a subset of them.
    fn cheapest(&mut self, id: u32, limit: u64, rng: &mut Xoshiro256PlusPlus) -> Option<u64> {
        let Item { size, alignment, .. } = self.items[id as usize];
        let highest = limit.checked_sub(size)? / alignment * alignment;
        self.ends.clear();
        self.ends.extend(self.rivals.iter().map(|rival| (rival.end, rival.cost)));
        self.ends.sort_unstable_by_key(|&(end, _)| end);
        self.sums.clear();
        self.sums.push(0.0);
        let (mut sum, mut fixed) = (0.0, 0usize);
        for rival in &self.rivals {
            // Fixed rivals are counted separately, because infinite costs cannot be subtracted.
            if rival.cost.is_finite() {
                sum += f64::from(rival.cost);
            }
            self.sums.push(sum);
            fixed += usize::from(!rival.cost.is_finite());
        }
        let any_fixed = fixed > 0;
        let mut best: Option<(f64, u64)> = None;
        let (mut begun, mut over, mut cost_over) = (0, 0, 0.0);
        let (mut above, mut below) = (0, 0);
        let mut next = Some(0);
        while let Some(offset) = next {
            while begun < self.rivals.len() && self.rivals[begun].offset < offset + size {
                begun += 1;
            }
            while over < self.ends.len() && self.ends[over].0 <= offset {
                if self.ends[over].1.is_finite() {
                    cost_over += f64::from(self.ends[over].1);
                }
                over += 1;
            }
            let cost = (self.sums[begun] - cost_over).max(0.0);
            if best.is_none_or(|(least, _)| cost < least) && !(any_fixed && self.blocked(offset, size)) {
                let cost = cost * f64::from(1.0 + NOISE * rng.random::<f32>());
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, offset));
                }
            }
            // The next candidate is the lowest one above this offset.
            let mut higher = u64::MAX;
            while let Some(&(end, _)) = self.ends.get(above) {
                let place = end.next_multiple_of(alignment);
                if place > offset {
                    higher = place;
                    break;
                }
                above += 1;
            }
            while let Some(rival) = self.rivals.get(below) {
                let place = rival.offset.saturating_sub(size) / alignment * alignment;
                if place > offset {
                    higher = higher.min(place);
                    break;
                }
                below += 1;
            }
            next = if higher < highest { Some(higher) } else { (offset < highest).then_some(highest) };
        }
        best.map(|(_, offset)| offset)
    }

    /// Returns true if a fixed rival overlaps these addresses.
    fn blocked(&self, offset: u64, size: u64) -> bool {
        let in_the_way = |rival: &&Rival| rival.offset < offset + size && offset < rival.end;
        self.rivals.iter().filter(in_the_way).any(|rival| !rival.cost.is_finite())
    }
}
