//! A partial layout as an order of the placed buffers, in which every buffer can move.

use super::contacts::Contacts;
use crate::offsets::search::valley::{Span, lifespans};
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Maximum fraction by which the cost of an offset is increased at random.
const NOISE: f64 = 1.0;

/// Number of sections over which the importance of holes falls by a factor of e, in average lifespans.
const FADE: f64 = 1.5;

/// The placed buffers, the order of those that conflict, and the range of offsets of each.
///
/// The `floor` of a buffer is its lowest offset if all buffers below it lie as low as possible. Its `ceiling`
/// is its highest offset if all buffers above it lie as high as possible and end at or below the target.
#[derive(Debug)]
pub(super) struct Partial {
    /// The sections and the size of each buffer, in ascending order of start.
    pub spans: Arc<[Span]>,
    /// The size of each buffer and, if it is placed, its lowest and its highest offset.
    places: Vec<Place>,
    /// The conflicting buffers of each buffer.
    conflicts: Vec<Vec<u32>>,
    /// The highest end that a buffer may have.
    pub target: i32,
    contacts: Contacts,
    /// The placed buffers that conflict with the buffer to insert, in ascending order of their ends if they
    /// lie as low as possible.
    ends: Vec<Mark>,
    /// Those of these buffers that are in the way of some offset but not of 0, in ascending order of the
    /// offset above which they are in the way.
    begins: Vec<Mark>,
    /// Per buffer in the way of some offset: the cost of removing it. Zero for all others.
    costs: Vec<f64>,
    /// The offsets at which no buffer is in the way.
    free: Vec<i32>,
    /// The importance of a hole that remains for some sections, at most 1.
    importance: Vec<f64>,
    queue: Queue,
}

/// A buffer and the range of its offsets. The values are stored side by side because most uses need all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    size: i32,
    floor: i32,
    ceiling: i32,
    placed: bool,
}

impl Place {
    /// Returns the end of the buffer if it lies as low as possible.
    fn low_end(&self) -> i32 {
        self.floor + self.size
    }

    /// Returns the end of the buffer if it lies as high as possible.
    fn high_end(&self) -> i32 {
        self.ceiling + self.size
    }
}

/// A key in the upper 32 bits, usually an offset, and a buffer in the lower ones. Integers are sorted faster
/// than pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mark(u64);

impl Mark {
    fn new(key: u32, b: u32) -> Self {
        Self(u64::from(key) << 32 | u64::from(b))
    }

    fn offset(self) -> i32 {
        (self.0 >> 32) as i32
    }

    fn buffer(self) -> u32 {
        self.0 as u32
    }
}

/// The buffers whose floors or ceilings may have to change, each with the key by which it is popped, the
/// highest first.
#[derive(Debug)]
struct Queue {
    heap: BinaryHeap<Mark>,
    queued: Vec<bool>,
}

impl Queue {
    fn push(&mut self, key: u32, b: u32) {
        if !std::mem::replace(&mut self.queued[b as usize], true) {
            self.heap.push(Mark::new(key, b));
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let b = self.heap.pop()?.buffer();
        self.queued[b as usize] = false;
        Some(b)
    }
}

impl Partial {
    /// Creates a partial layout without buffers. The time is O(n + c) for n buffers and c conflicts.
    pub fn new(spans: Arc<[Span]>) -> Self {
        let n = spans.len();
        let mut conflicts: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (b, span) in spans.iter().enumerate().filter(|(_, span)| span.size > 0) {
            let later = spans[b + 1..].iter().zip(b + 1..).take_while(|(other, _)| other.start < span.end);
            for (_, other) in later.filter(|(other, _)| other.size > 0) {
                conflicts[b].push(other as u32);
                conflicts[other].push(b as u32);
            }
        }
        Self {
            places: spans.iter().map(|span| Place { size: span.size as i32, ..Place::default() }).collect(),
            conflicts,
            target: 0,
            contacts: Contacts::new(Arc::clone(&spans)),
            ends: Vec::new(),
            begins: Vec::new(),
            costs: vec![0.0; n],
            free: Vec::new(),
            importance: importance(&spans),
            queue: Queue { heap: BinaryHeap::new(), queued: vec![false; n] },
            spans,
        }
    }

    /// Returns the lowest offset of each placed buffer.
    pub fn floors(&self) -> impl Iterator<Item = i32> {
        self.places.iter().map(|place| place.floor)
    }

    /// Returns the peak if all placed buffers lie at their lowest offsets.
    pub fn peak(&self) -> i32 {
        self.places.iter().filter(|place| place.placed).map(Place::low_end).max().unwrap_or(0)
    }

    /// Places all buffers in ascending order of the given offsets. Buffers of size 0 are omitted.
    pub fn restore(&mut self, offsets: &[i32]) {
        self.place_all(0..offsets.len() as u32, offsets);
    }

    /// Sets a target, and updates the ceilings of all placed buffers.
    pub fn retarget(&mut self, target: i32) {
        self.target = target;
        let floors: Vec<i32> = self.floors().collect();
        let all = 0..floors.len() as u32;
        let placed: Vec<u32> = all.filter(|&b| self.places[b as usize].placed).collect();
        self.place_all(placed.into_iter(), &floors);
    }

    /// Replaces the placed buffers by the given ones, in ascending order of their offsets.
    fn place_all(&mut self, buffers: impl Iterator<Item = u32>, offsets: &[i32]) {
        let mut order: Vec<u32> = buffers.filter(|&b| self.places[b as usize].size > 0).collect();
        order.sort_by_key(|&b| offsets[b as usize]);
        self.contacts.clear();
        self.places.iter_mut().for_each(|place| place.placed = false);
        for &b in &order {
            self.contacts.add_on_top(b);
            self.places[b as usize].placed = true;
            self.places[b as usize].floor = self.lowest(b);
        }
        for &b in order.iter().rev() {
            self.places[b as usize].ceiling = self.highest(b);
        }
    }

    /// Draws three placed buffers at random whose floors exceed their ceilings, and returns the buffer with
    /// the lowest weight. Returns `None` if there is no such buffer.
    pub fn excess(&self, weight: &[f64], rng: &mut Xoshiro256PlusPlus) -> Option<u32> {
        let over = |b: &u32| {
            let Place { floor, ceiling, placed, .. } = self.places[*b as usize];
            placed && floor > ceiling
        };
        let all: Vec<u32> = (0..self.places.len() as u32).filter(over).collect();
        let draws = [(); 3].map(|()| rng.random_range(0..all.len().max(1)));
        let drawn = draws.into_iter().filter_map(|at| all.get(at).copied());
        drawn.min_by(|&a, &b| weight[a as usize].total_cmp(&weight[b as usize]))
    }

    /// Removes a placed buffer.
    pub fn remove(&mut self, b: u32) {
        self.places[b as usize].placed = false;
        self.contacts.remove(b);
        self.refresh(&[b], None);
    }

    /// Inserts a buffer at the offset where the removal of the buffers in its way costs least, and appends
    /// the removed buffers to `removed`. `cost` returns the cost of a buffer.
    pub fn insert(
        &mut self,
        b: u32,
        cost: impl Fn(u32) -> f64,
        rng: &mut Xoshiro256PlusPlus,
        removed: &mut Vec<u32>,
    ) {
        let offset = self.place(b, cost, rng);
        let highest = offset + self.places[b as usize].size;
        let before = removed.len();
        let below = self.ends.partition_point(|end| end.offset() <= offset);
        for other in self.ends[below..].iter().map(|end| end.buffer()) {
            if self.places[other as usize].ceiling < highest {
                self.places[other as usize].placed = false;
                self.contacts.remove(other);
                removed.push(other);
            }
        }
        // Buffers that end at or below the offset go below the new one, the highest of them next to it.
        self.contacts.add(b, self.ends[..below].iter().rev().map(|end| end.buffer()));
        self.places[b as usize].placed = true;
        self.refresh(&removed[before..], Some((b, offset)));
    }

    /// Returns the offset for a buffer at which the removal of the buffers in its way costs least. Of several
    /// offsets without cost, chooses the one that adds least to the holes.
    ///
    /// Suppose that the buffer begins at some offset. Conflicting buffers that can end at or below this
    /// offset go below the new buffer. Those that can begin at or above its end go above it. All others are
    /// in the way.
    fn place(&mut self, b: u32, cost: impl Fn(u32) -> f64, rng: &mut Xoshiro256PlusPlus) -> i32 {
        let own = self.places[b as usize].size;
        let (mut sum, mut count) = (0.0, 0);
        self.ends.clear();
        self.begins.clear();
        self.free.clear();
        for &other in &self.conflicts[b as usize] {
            let place = self.places[other as usize];
            if !place.placed {
                continue;
            }
            // The other buffer is in the way of offsets above `low` and below `end`.
            let (low, end) = (place.ceiling - own, place.low_end());
            self.ends.push(Mark::new(end as u32, other));
            let cost = if low < end { cost(other) } else { 0.0 };
            self.costs[other as usize] = cost;
            if low >= end {
                continue;
            }
            if low < 0 {
                (sum, count) = (sum + cost, count + 1);
            } else {
                self.begins.push(Mark::new(low as u32, other));
            }
        }
        self.ends.sort_unstable();
        self.begins.sort_unstable();
        let highest = self.target - own;
        let (mut ended, mut begun, mut offset) = (0, 0, 0);
        let (mut least, mut best) = (f64::INFINITY, None);
        while offset <= highest {
            while let Some(end) = self.ends.get(ended).filter(|end| end.offset() <= offset) {
                let cost = self.costs[end.buffer() as usize];
                if cost > 0.0 {
                    (sum, count) = (sum - cost, count - 1);
                }
                ended += 1;
            }
            while let Some(begin) = self.begins.get(begun).filter(|begin| begin.offset() < offset) {
                let cost = self.costs[begin.buffer() as usize];
                (sum, count, begun) = (sum + cost, count + 1, begun + 1);
            }
            if count == 0 {
                self.free.push(offset);
            } else if sum < least && self.free.is_empty() {
                // Noise only increases costs, so higher sums need none.
                let cost = sum.max(0.0) * (1.0 + NOISE * rng.random::<f64>());
                if cost < least {
                    (least, best) = (cost, Some(offset));
                }
            }
            match self.ends.get(ended) {
                Some(end) => offset = end.offset(),
                None => break,
            }
        }
        let offset = match self.free[..] {
            [] => best,
            [only] => Some(only),
            [..] => self.fewest_holes(b),
        };
        offset.expect("the target is at least the load")
    }

    /// Returns the free offset at which a buffer adds least to the holes before its start and after its end,
    /// in O(d + f log d) for d conflicting buffers and f free offsets.
    ///
    /// If two neighbours end at different sections, there is a hole next to one of them until the other one
    /// ends. The fewer holes there are, the larger they are, and the better later buffers fit in. The same
    /// holds for starts.
    fn fewest_holes(&self, b: u32) -> Option<i32> {
        let own = self.spans[b as usize];
        let ends = self.live(|span| (span.start <= own.start).then(|| span.end - own.start));
        let starts = self.live(|span| (span.end >= own.end).then(|| own.end - span.start));
        let new = self.importance[(own.end - own.start) as usize];
        let added = |live: &[(i32, f64)], offset: i32| {
            let at = live.partition_point(|&(end, _)| end <= offset);
            let below = at.checked_sub(1).map_or(1.0, |below| live[below].1);
            let above = live.get(at).map_or(1.0, |above| above.1);
            (below - new).abs() + (above - new).abs() - (below - above).abs()
        };
        let holes = self.free.iter().map(|&offset| (added(&ends, offset) + added(&starts, offset), offset));
        holes.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|found| found.1)
    }

    /// Returns the ends, in units, of the conflicting buffers for which `rest` returns a number of sections,
    /// each with the importance of a hole that remains for that number. The order is that of `ends`.
    fn live(&self, rest: impl Fn(&Span) -> Option<u32>) -> Vec<(i32, f64)> {
        let ends = self.ends.iter().map(|end| (end.offset(), &self.spans[end.buffer() as usize]));
        ends.filter_map(|(end, span)| Some((end, self.importance[rest(span)? as usize]))).collect()
    }

    /// Returns the floor of a buffer, given those of the buffers below it.
    fn lowest(&self, b: u32) -> i32 {
        self.contacts.below(b).map(|other| self.places[other as usize].low_end()).max().unwrap_or(0)
    }

    /// Returns the ceiling of a buffer, given those of the buffers above it.
    fn highest(&self, b: u32) -> i32 {
        let limit = self.contacts.above(b).map(|other| self.places[other as usize].ceiling).min();
        limit.unwrap_or(self.target).min(self.target) - self.places[b as usize].size
    }

    /// Updates floors and ceilings after the removal of some buffers and the insertion of another at an
    /// offset. Only buffers that such a change can reach are visited, each at most twice.
    fn refresh(&mut self, removed: &[u32], inserted: Option<(u32, i32)>) {
        self.refresh_floors(removed, inserted);
        self.refresh_ceilings(removed, inserted.map(|(b, _)| b));
    }

    /// Updates floors from bottom to top. The previous floors give the order of the buffers, except for the
    /// inserted one: buffers that could end at or below its offset precede it, and all others follow it.
    fn refresh_floors(&mut self, removed: &[u32], inserted: Option<(u32, i32)>) {
        const AFTER: u32 = 1 << 31;
        let offset = inserted.map_or(i32::MAX, |(_, offset)| offset);
        let key = |floor: i32, size: i32| {
            let group = if floor + size > offset { AFTER } else { 0 };
            !(group | floor as u32)
        };
        for &b in removed {
            let end = self.places[b as usize].low_end();
            for other in self.contacts.above(b) {
                let place = self.places[other as usize];
                if place.placed && place.floor == end {
                    self.queue.push(key(end, place.size), other);
                }
            }
        }
        if let Some((b, offset)) = inserted {
            self.queue.push(!(offset as u32), b);
        }
        while let Some(b) = self.queue.pop() {
            let floor = self.lowest(b);
            let place = &mut self.places[b as usize];
            let before = place.low_end();
            let new = inserted.is_some_and(|(inserted, _)| inserted == b);
            if floor == place.floor && !new {
                continue;
            }
            place.floor = floor;
            let end = place.low_end();
            for other in self.contacts.above(b) {
                let Place { floor, size, .. } = self.places[other as usize];
                if floor < end || floor == before {
                    self.queue.push(key(floor, size), other);
                }
            }
        }
    }

    /// Updates ceilings from top to bottom, in descending order of the updated floors.
    fn refresh_ceilings(&mut self, removed: &[u32], inserted: Option<u32>) {
        for &b in removed {
            let ceiling = self.places[b as usize].ceiling;
            for other in self.contacts.below(b) {
                let place = self.places[other as usize];
                if place.placed && place.high_end() == ceiling {
                    self.queue.push(place.floor as u32, other);
                }
            }
        }
        if let Some(b) = inserted {
            self.queue.push(self.places[b as usize].floor as u32, b);
        }
        while let Some(b) = self.queue.pop() {
            let ceiling = self.highest(b);
            let before = std::mem::replace(&mut self.places[b as usize].ceiling, ceiling);
            if ceiling == before && inserted != Some(b) {
                continue;
            }
            for other in self.contacts.below(b) {
                let place = self.places[other as usize];
                let end = place.high_end();
                if end > ceiling || end == before {
                    self.queue.push(place.floor as u32, other);
                }
            }
        }
    }
}

/// Returns the importance of holes that remain for 0, 1, 2 and so on sections: the sum of a geometric
/// sequence, scaled to a limit of 1.
fn importance(spans: &[Span]) -> Vec<f64> {
    let fade = (-(spans.len() as f64) / (FADE * lifespans(spans) as f64)).exp();
    let longest = spans.iter().map(|span| span.end - span.start).max().unwrap_or(0);
    (0..=longest as i32).map(|rest| 1.0 - fade.powi(rest)).collect()
}

#[cfg(test)]
impl Partial {
    /// Returns true if restoring the placed buffers at their floors changes nothing, and no floor exceeds its
    /// ceiling.
    pub fn is_up_to_date(&self) -> bool {
        let mut other = Self { places: self.places.clone(), ..Self::new(Arc::clone(&self.spans)) };
        other.retarget(self.target);
        let mut placed = self.places.iter().zip(&other.places).filter(|(place, _)| place.placed);
        other.contacts == self.contacts
            && placed.all(|(place, again)| place == again && place.floor <= place.ceiling)
    }
}
